#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What dslc says of programs, in its output or its messages: the lines of says.txt, whose head says what they are, and of each program's file
# the lines "// ptx: TEXT", "// no ptx: TEXT" and "// explained: TEXT". Where a file says "// used in the loop", the verifier refutes
# its kernel without its first wait, and without its fences.
#   says.sh DSLC MATRIX ROOT SCRATCH
set -eu
dslc=$1 matrix=$2 root=$3 scratch=$4
here=$root/tests/matrix
rm -rf "$scratch"
mkdir -p "$scratch"
# ARGUMENTS...: what it prints, into out
say()
{
	to="-o -"
	case $1 in run | explain) to= ;; esac
	for word; do
		shift
		case $word in
		@*)
			file=$scratch/${word#@}.gemm
			[ -s "$file" ] || "$matrix" "$root" --text "${word#@}" >"$file"
			word=$file
			;;
		esac
		set -- "$@" "$word"
	done
	# shellcheck disable=SC2086
	"$dslc" "$@" $to >"$scratch/out" 2>&1 || true
}
# WHAT PATTERN [COUNT]: lines of out have it; so many
holds()
{
	got=$(grep -cE -- "$2" "$scratch/out" || true)
	if [ -n "${3:-}" ]; then [ "$got" = "$3" ]; else [ "$got" -gt 0 ]; fi || { echo "$1: $got lines with: $2"; cat "$scratch/out"; exit 1; }
}
claims=0
while IFS= read -r line; do
	case $line in '#'*) continue ;; esac
	pattern=${line#* | } count=
	# shellcheck disable=SC2086
	set -- ${line%% | *}
	case $1 in [0-9]*) count=$1 && shift ;; esac
	[ "${before:-}" = "$*" ] || say "$@"
	before=$*
	holds "$*" "$pattern" $count
	claims=$((claims + 1))
done <"$here/says.txt"
# FILE: its own lines
says()
{
	for verb in 'ptx -S' 'explained explain'; do
		grep -qE "^// (no )?${verb%% *}: " "$1" || continue
		"$dslc" "${verb#* }" "$1" -o "$scratch/out" >"$scratch/err" 2>&1
		grep -E "^// (no )?${verb%% *}: " "$1" | while read -r _ first rest; do
			case $first in
			no) ! grep -qF -- "${rest#* }" "$scratch/out" ;;
			*) grep -qF -- "$rest" "$scratch/out" ;;
			esac || { echo "$1: $first $rest"; exit 1; }
		done || exit 1
	done
}
# SED...: the kernel changed by sed is refuted
refuted()
{
	sed "$@" "$scratch/k.ir" >"$scratch/changed.ir"
	! cmp -s "$scratch/k.ir" "$scratch/changed.ir" && ! "$dslc" check "$scratch/changed.ir" >"$scratch/out" 2>&1 &&
		grep -q 'error\[E0412\]' "$scratch/out" || { echo "$file: not refuted: $*"; cat "$scratch/out"; exit 1; }
}
for file in $(sed -n '/^program/s/.* \([^ ]*\.gemm\).*/\1/p' "$here/programs.txt" | sort -u); do
	file=$root/$file
	says "$file"
	grep -q '^// used in the loop' "$file" || continue
	"$dslc" "$file" -DR=none --emit=ir -o "$scratch/k.ir"
	refuted -e '0,/wgmma.wait n=0/s//wgmma.wait n=1/'
	refuted -e '/wgmma.fence/d'
done
echo "$claims claims"
[ $claims -gt 80 ]
