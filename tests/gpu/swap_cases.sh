#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Few rows of A (tokens) by many of B (weights), for a machine with a GPU, built where ptxas is:
#   swap_cases.sh DSLC ROOT OUT      after batch_cases.sh, which begins the list
#     OUT/swap/LABEL.cubin   LABEL: rows of weights x tokens of a tile, kDEPTH, sSTAGES, cMxN a cluster, p persistent,
#                            _c where weights are constant and have a pipeline of their own
#     OUT/works.txt          lines mm M N K LABEL CUBIN, for against_torch.py: a few for each of 35 shapes
#     OUT/layers/            TOKENSxDEPTHsSTAGESxPARTS.cubin: 64 rows of weights, split_k PARTS, for layers.py
set -eu
dslc=$1 root=$2 out=$3
rm -rf "$out/swap"
mkdir -p "$out/swap" "$out/layers"
source=$root/tests/gpu/swap.gemm
sed -e 's/: constant /: /; s/pipeline a(S) { sA via tokens }/pipeline ab(S) { sA via tokens, sB via weights }/; /pipeline b(S)/d' "$source" >"$out/swap/one.gemm"

# ROWS TOKENS DEPTH STAGES CLUSTER (MxN) [p]: of constant weights, the first of a shape of others too, each built once; adds to $labels
labels=
tile()
{
	rows=$1 tokens=$2 depth=$3 stages=$4 cluster=$5 persistent=off
	label=${rows}x${tokens}k${depth}s$stages
	[ "$cluster" = 1x1 ] || label=${label}c$cluster
	[ -z "${6-}" ] || persistent=on label=${label}p
	w=1 && [ "$rows" = 64 ] || w=2
	for kind in "" _c; do
		[ -z "$labels" ] || [ "$kind" = _c ] || continue
		file=$source && [ "$kind" = _c ] || file=$out/swap/one.gemm
		labels="$labels $label$kind"
		[ -f "$out/swap/$label$kind.cubin" ] || "$dslc" -q "$file" -DW=$w -DbN="$rows" -DbM="$tokens" -DbK="$depth" -DS="$stages" \
			-DCM="${cluster%x*}" -DCN="${cluster#*x}" -DP=$persistent -o "$out/swap/$label$kind.cubin"
	done
}
# M N K
shape()
{
	for label in $labels; do
		echo "mm $1 $2 $3 $label swap/$label.cubin" >>"$out/works.txt"
	done
	labels=
}

# slots for 64 to 200 KB of weights in flight; half of that where two CTAs are to share an SM
for m in 1 8 16 32 64; do
	t=$m && [ $m -ge 8 ] || t=8
	few=8 most=16 deep=10
	[ $m -lt 32 ] || deep=9
	[ $m -lt 64 ] || { few=6 most=13 deep=6; }
	for nk in "8192 8192" "4096 14336" "6144 4096" "7168 2048"; do
		tile 64 $t 64 $most 1x1
		tile 64 $t 128 $deep 1x1
		tile 64 $t 64 $few 1x1
		tile 64 $t 128 $deep 1x2
		[ "$nk" != "8192 8192" ] || tile 128 $t 64 8 1x2
		[ $m -lt 16 ] || [ "$nk" != "4096 14336" ] || tile 64 $((t / 2)) 64 16 2x1
		shape $m $nk
	done
	tile 128 $t 64 $few 1x1
	tile 256 $t 64 5 1x1
	tile 128 $t 64 $few 1x2 p
	shape $m 28672 4096
done
tile 64 128 64 9 1x1
tile 128 64 64 9 2x1
tile 128 128 64 7 1x1
shape 128 8192 8192
tile 64 64 64 13 2x1
tile 128 32 64 11 4x1
shape 128 4096 14336
tile 128 128 64 6 1x2 p
tile 256 128 64 4 1x1
tile 128 64 64 8 2x1 p
shape 128 28672 4096
for nk in "6144 4096" "7168 2048"; do
	tile 64 128 64 9 1x1
	tile 128 64 64 9 2x1
	shape 128 $nk
done
tile 128 128 64 7 2x1
tile 64 256 64 5 1x1
shape 256 8192 8192
tile 128 64 64 9 4x1
tile 128 64 64 9 2x1
shape 256 4096 14336
tile 256 128 64 3 2x1 p
tile 128 256 64 3 1x1 p
shape 256 28672 4096
for nk in "6144 4096" "7168 2048"; do
	tile 128 128 64 7 2x1
	tile 128 64 64 9 2x1
	shape 256 $nk
done
rm "$out/swap/one.gemm"

# TOKENS, then DEPTH:STAGES of each
layers()
{
	tokens=$1
	shift
	for ring in "$@"; do
		for parts in 1 2; do
			"$dslc" -q "$source" -DbM="$tokens" -DbK="${ring%:*}" -DS="${ring#*:}" -DX=$parts \
				-o "$out/layers/${tokens}x${ring%:*}s${ring#*:}x$parts.cubin"
		done
	done
}
layers 8 64:16 128:10 128:11 256:5
layers 16 64:16 128:10 128:11 256:5
layers 64 64:13 128:6 256:3

echo "$(grep -c ' swap/' "$out/works.txt") works of swap"
