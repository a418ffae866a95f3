#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A and B contiguous along K or along M, N, in all four ways and both 16-bit types: right results on the simulator
# under three of five schedules each, or all with EVERY=1, with swizzles of 128, 64 and 32 bytes, in clusters that share by slices and by leaders.
#   majors.sh DSLC SCRATCH FILE      [DEVICE=cuda:0 EVERY=1]
set -eu
dslc=$1 scratch=$2 file=$3
rm -rf "$scratch"
mkdir -p "$scratch"
. "${0%/*}/turns.sh"
run()
{
	simulate "$scratch/$name.gemm" "$@" --size "$sizes" --device "${DEVICE:-sim}" >"$scratch/out" 2>&1 ||
		{ echo "$name $*:"; cat "$scratch/out"; exit 1; }
}

of_five()
{
	case $1 in
	0) echo "-DR=none -DbN=96 -DS=2" ;;
	1) echo "-DR=cooperative -DP=on -DbN=80 -DbK=32" ;;
	2) echo "-DR=pingpong -DP=on -DbN=64 -DS=6" ;;
	3) echo "-DR=cooperative -DCM=2 -DX=slice -DbN=160 -DS=3" ;;
	4) echo "-DR=none -DP=on -DCN=2 -DX=leader -DW=1 -DbM=64" ;;
	esac
}
number=0
for a in k m; do
	for b in k n; do
		name=$a$b elem=bf16 sizes=M=136,N=200,K=136
		[ "$a$b" = kk ] || sizes=$sizes,lda=136,ldb=208
		[ "$a$b" != mk ] || elem=f16
		sed -e "s/bf16/$elem/g" "$file" >"$scratch/$name.gemm"
		[ $a = m ] || sed -i -e 's/(M,K):(1,lda)/(M,K):(lda,1)/' -e 's/lda >= M/lda >= K/' "$scratch/$name.gemm"
		[ $b = n ] || sed -i -e 's/(N,K):(1,ldb)/(N,K):(ldb,1)/' -e 's/ldb >= N/ldb >= K/' "$scratch/$name.gemm"
		sizes=M=136,N=200,K=136,lda=144,ldb=208
		for way in $(some "$number" 5); do
			run $(of_five "$way")
		done
		number=$((number + 1))
	done
done
[ $number = 4 ]
