#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# docs/verification.md shows what dslc check says of a kernel changed by hand: its commands say that.
#   page.sh DSLC ROOT SCRATCH
set -eu
dslc=$1 root=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
awk '/^dslc check k.ir/ { f = 1 } f && /^```/ { n++; next } f && n == 2 { print }' \
	"$root/docs/verification.md" >page
[ "$(wc -l <page)" -gt 10 ] || { echo "the page has no example"; exit 1; }
args=$(sed -n 's/^dslc \(--emit=ir .*\) -o k.ir.*/\1/p' "$root/docs/verification.md")
# shellcheck disable=SC2086
(cd "$root" && "$dslc" -q $args -o "$scratch/whole.ir")
awk '/mbar.arrive/ && ++n == 2 { next } { print }' whole.ir >k.ir
cmp -s whole.ir k.ir && { echo "nothing was removed"; exit 1; }
code=0
"$dslc" check k.ir >out 2>&1 || code=$?
[ $code = 1 ] || { echo "exit code $code"; exit 1; }
sed '/^$/,$d' out | diff page -

# What --explain=verify claims is what the page says, word by word.
tr -s ' \n' '  ' <"$root/docs/verification.md" >flat
"$dslc" --explain=verify | awk '/^- / { printf "\n" } /^$/ { printf "\n" } { printf "%s ", $0 }' |
	sed -n 's/  */ /g; s/ *$//; s/^- //p' >claims
[ "$(wc -l <claims)" -ge 20 ] || { echo "few claims"; exit 1; }
while IFS= read -r claim; do
	grep -qF -- "$claim" flat || { echo "not on the page: $claim"; exit 1; }
done <claims
