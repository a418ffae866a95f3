#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Quantising stores, of each type of 8 bits: by one scale and by scales of rows that are inputs, amax and the largest size
# of each row from the same pass; by a scale from the row itself, where one tile holds the row, else refused.
#   quantise.sh DSLC EXAMPLES FOLDER     [DEVICE=cuda:0]
set -eu
dslc=$1 examples=$2 folder=$3
. "${0%/*}/turns.sh"
mkdir -p "$folder"
for name in amax row_scaled row_own; do
	for type in e4m3 e5m2 s8 u8; do
		file=$folder/${name}_$type.gemm
		sed -e "s/out e4m3/out $type/; s/<- e4m3(/<- $type(/" "$examples/$name.gemm" >"$file"
		grep -q "out $type .*" "$file" && grep -q "<- $type(" "$file"
		simulate "$file" --size M=136,N=72,K=144 --device "${DEVICE:-sim}" --sms 1
	done
done
! "$dslc" "$examples/row_own.gemm" -DbN=64 -o "$folder/refused" 2>"$folder/err"
grep -q 'error\[E0306\]: an element of .most. belongs to several tiles' "$folder/err"
