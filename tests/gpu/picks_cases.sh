#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the cost model likes best, built where ptxas is, for tests/gpu/picks.py on a machine with a GPU:
#   picks_cases.sh BUILD ROOT OUT SIZES [COUNT] [FIXED]
# SIZES has a line "M N K" each; COUNT (5) kernels for each are built. FIXED has lines "M N K LABEL DEFINE;DEFINE.." of further kernels.
#   OUT/picks.txt         M N K LABEL CUBIN; LABEL: 1, 2 .., or that of FIXED
#   OUT/picks.tsv         M N K LABEL, the estimate in us, and the defines
#   OUT/picks/*.cubin
set -eu
build=$1 root=$2 out=$3 sizes=$4 count=${5:-5} fixed=${6:-/dev/null}
mkdir -p "$out/picks"
sed 's/^\([0-9]*\)[ 	]*\([0-9]*\)[ 	]*\([0-9]*\).*/M=\1,N=\2,K=\3/' "$sizes" |
	"$build/tests/gpu/picks_list" "$root/tests/gpu/picks.gemm" "$count" >"$out/list.tsv"
{
	awk -F '\t' -v OFS='\t' '{
		gsub(/[MNK]=/, "", $1); gsub(/,/, "\t", $1)
		if ($1 != before) rank = 0
		before = $1
		defines = $3
		for (i = 4; i <= NF; i++) defines = defines "|" $i
		print $1, ++rank, $2, defines
	}' "$out/list.tsv"
	awk -v OFS='\t' '{ d = $5; for (i = 6; i <= NF; i++) d = d " " $i; print $1, $2, $3, $4, 0, d }' "$fixed"
} >"$out/picks.tsv"
cut -f 6 "$out/picks.tsv" | sort -u >"$out/kernels"
make_one()
{
	cubin=$out/picks/$(echo "$1" | md5sum | cut -c 1-12).cubin
	[ -s "$cubin" ] && return
	set -f
	IFS='|'
	set -- $1
	unset IFS
	for define; do
		set -- "$@" "-D$define"
		shift
	done
	"$build/dslc" -q "$root/tests/gpu/picks.gemm" "$@" -o "$cubin" 2>>"$out/log" || echo "refused: $*" >>"$out/log"
}
half()
{
	awk -v n="$1" 'NR % 2 == n' "$out/kernels" | while read -r kernel; do make_one "$kernel"; done
}
half 0 & half 1
wait
while IFS='	' read -r m n k label us defines; do
	name=picks/$(echo "$defines" | md5sum | cut -c 1-12).cubin
	[ -s "$out/$name" ] && echo "$m $n $k $label $name"
done <"$out/picks.tsv" | sort -s -k 1,3 >"$out/picks.txt"
echo "$(grep -c . "$out/picks.txt") kernels and sizes, $(ls "$out/picks" | wc -l) cubins"
