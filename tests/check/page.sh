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
# the page cuts the first line at the second thing that it says
sed '1s/; announced.*/; .../; /^$/,$d' out | diff page -

# What --explain=verify claims is what the page lists, word by word, no more and no less.
# items FIRST-AND-LAST: of a list, each item in a line, without what ends it
items()
{
	awk '/^([0-9]+\.|-) / { sub(/^([0-9]+\.|-) +/, ""); printf "%s%s", begun++ ? "\n" : "", $0; item = 1; next }
		/^ / && item { sub(/^ */, " "); printf "%s", $0; next }
		{ item = 0 }
		END { print "" }' | sed 's/  */ /g; s/[;.]*$//'
}
"$dslc" --explain=verify | items >claims
sed -n '/^## What is proved/,/^## Limits/p' "$root/docs/verification.md" | items >listed
[ "$(wc -l <claims)" -ge 20 ] || { echo "few claims"; exit 1; }
diff listed claims || { echo "the page (<) and --explain=verify (>) differ"; exit 1; }
