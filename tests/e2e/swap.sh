#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The rows of B as M of the mma: proved, assembled without a message, and right on the simulator, for few rows of A, residues
# of all sizes, every role, cluster, type and layout. Where tiles suit both, the program without `swap` is right, too: of
# integers both are equal in every bit to one reference.
# Programs of several register tiles follow with their bodies as they are; what cannot is in bad/swap-*.gemm.
#   swap.sh DSLC SCRATCH FILE PART      [DEVICE=cuda:0]
set -eu
dslc=$1 scratch=$2 file=$3 part=$4
. "${0%/*}/turns.sh"
rm -rf "$scratch"
mkdir -p "$scratch"
ran=0
# SIZES FLAGS...
run()
{
	sizes=$1
	shift
	simulate "$scratch/k.gemm" "$@" --size "$sizes" --device "${DEVICE:-sim}" >"$scratch/out" 2>"$scratch/err" ||
		{ echo "$part $sizes $*:"; cat "$scratch/err" "$scratch/out"; exit 1; }
	ran=$((ran + 1))
}
# A B SUM K: types and depth of the mma
types()
{
	sed -e "s/A : bf16/A : $1/; s/B : bf16/B : $2/; s/,16>(bf16, bf16, f32)/,$4>($1, $2, $3)/; s/sA : bf16/sA : $1/; s/sB : bf16/sB : $2/" \
		-e "s/acc : f32/acc : $3/" "$file" >"$scratch/k.gemm"
}

case $part in
roles)
	cp "$file" "$scratch/k.gemm"
	run M=1,N=200,K=136 -DbM=8 -DR=none
	run M=7,N=72,K=72 -DbM=8 -DP=on
	run M=16,N=200,K=136 -DR=none -DP=on -DW=1
	run M=16,N=200,K=77 -DI=0 -DbK=32 -DS=8
	run M=33,N=201,K=136 -DbM=40 -DR=pingpong -DP=on -DbN=64 -DW=1
	run M=33,N=200,K=136 -DbM=48 -DaN=16 -DbN=192 -DW=3
	run M=50,N=328,K=136 -DbM=32 -DR=pingpong -DP=on
	run M=5,N=72,K=600 -DS=16 -DbK=16 -DbN=64 -DW=1 -DR=none -DP=on
	run M=5,N=72,K=600 -DS=16 -DbK=16 -DbN=64 -DW=1 -DI=3
	run M=5,N=72,K=600 -DS=13 -DbK=16 -DbN=64 -DW=1 -DR=pingpong -DP=on
	# stages that are derived: more of small slots, and with swap
	sed -i 's/ab(S)/ab/' "$scratch/k.gemm"
	for want in "12 -DT=on" "8 -DT=off -DbM=128 -DbK=32" "16 -DT=off -DbM=64 -DbN=32 -DW=1"; do
		"$dslc" explain "$scratch/k.gemm" ${want#* } -DaN=16 | grep -q "pipeline ab(${want%% *}) " || { echo "stages: not $want"; exit 1; }
	done
	[ $ran = 10 ]
	;;
clusters)
	cp "$file" "$scratch/k.gemm"
	run M=16,N=200,K=136 -DCN=2
	run M=33,N=456,K=136 -DbM=32 -DaN=8 -DCN=2 -DX=slice -DP=on
	run M=33,N=200,K=136 -DbM=24 -DCM=2 -DX=leader -DR=none -DW=1
	run M=33,N=200,K=136 -DCM=2 -DCN=2 -DR=pingpong -DP=on
	[ $ran = 4 ]
	;;
types)
	for t in "f16 f16 f32 16" "f16 f16 f16 16" "tf32 tf32 f32 8" "e4m3 e5m2 f32 32" "e5m2 e4m3 f16 32"; do
		types $t
		run M=7,N=136,K=80 -DbM=8
	done
	types s8 u8 s32 32
	run M=33,N=136,K=80
	sed -i -e 's/D : out bf16/D : out s32/; s/gD\[m,n\] <- .*/gD[m,n] <- acc;/; s/, bias : .* D : / , D : /; s/gC = C[^)]*), //' "$scratch/k.gemm"
	for t in on off; do
		run M=65,N=136,K=80 --numbers=both -DbM=64 -DaN=32 -DW=1 -DT=$t
		grep -q "normal: D: .* equal in every bit" "$scratch/out" || { cat "$scratch/out"; exit 1; }
	done
	[ $ran = 8 ]
	;;
layouts)
	sed -e 's/D : out bf16 (M,N):(N,1)/D : out f32 (M,N):(1,M)/; s/<- bf16(/<- f32(/' "$file" >"$scratch/k.gemm"
	run M=16,N=136,K=72
	sed -e 's/A : bf16 (M,K):(K,1)/A : bf16 (M,K):(1,M)/; s/B : bf16 (N,K):(K,1)/B : bf16 (N,K):(1,N)/' -e 's/D : out bf16/D : out e4m3/; s/<- bf16(/<- e4m3(/' "$file" >"$scratch/k.gemm"
	run M=16,N=136,K=72
	sed -e 's/: bf16 (M,N):(N,1)/: bf16 (M,N):(ld,1)/; s/D : out bf16 (M,N):(N,1))/D : out bf16 (M,N):(ld,1)) where ld % 8 == 0, ld >= N/' "$file" >"$scratch/k.gemm"
	run M=7,N=203,K=77,ld=208
	# matrices of a batch, whose mode comes first or last
	sed -e 's/: \(out \)\{0,1\}bf16 (\(.\),\(.\)):(\(.\),1)/: \1bf16 (L,\2,\3):(\2*\3,\4,1)/g; s/ \/ (/ \/ (1,/g; s/\(g[ABCD]\)\[/\1[l,/g; s/(m,n) in/(l,m,n) in/' \
		"$file" >"$scratch/k.gemm"
	run L=2,M=9,N=136,K=72
	sed -e 's/: \(out \)\{0,1\}bf16 (\(.\),\(.\)):(\(.\),1)/: \1bf16 (\2,\3,L):(\4,1,\2*\3)/g; s/ \/ (\(b.\),\(b.\))/ \/ (\1,\2,1)/g; s/\(g[ABCD]\[.,.\)]/\1,l]/g; s/in gA\[m\]/in gA[m,_,l]/; s/(m,n) in/(m,n,l) in/' \
		"$file" >"$scratch/k.gemm"
	run L=2,M=9,N=136,K=72 -DCN=2
	[ $ran = 5 ]
	;;
epilogues)
	while read -r name sizes; do
		sed 's/schedule {/& swap;/' "$(dirname "$file")/registers/$name.gemm" >"$scratch/k.gemm"
		run $sizes -DbN=128
	done <<-'EOF'
		gated M=9,N=72,K=72
		two_outputs M=9,N=72,K=72
		scaled M=9,N=72,K=136
		joined M=136,N=200,K=72
		in_place M=9,N=200,K=72,ld=203
		in_place_lines M=9,N=200,K=72,ld=208 -DR=cooperative -DP=on
		columns M=136,N=136,K=72 -DR=cooperative
		edges M=136,N=136,K=72
		vectors M=9,N=72,K=136 -DR=cooperative
		scalars L=2,M=9,N=72,K=72
		columns_whole K=72,T=2,H=2 -DR=cooperative -DP=on
		blocks M=9,N=72,K=264,KB=5,NB=2 -DR=cooperative
	EOF
	# weights in registers: rows of B alone may be
	for weights in weights,3 weights_e4m3,5 weights_zeros,9 weights_s4,3 weights_u4,5 weights_e2m1,9; do
		sed -E -e 's/kernel weights\((Q : [a-z0-9]* \(M,K\):\(K,1\)), (B : [a-z0-9]* \(N,K\):\(K,1\))/kernel weights(\2, \1/; s/schedule \{/& swap;/' \
			-e 's/D : out (b?f16) \(M,N\):\(1,M\)/D : out \1 (N,M):(M,1)/; s/gD = D \/ \(bM,bN\)/gD = D \/ (bN,bM)/; s/for \(m,n\)/for (n,m)/' \
			-e 's/mm.C\(bM,bN\)/mm.C(bN,bM)/; s/mm\((.*), sB\);/mm(sB, \1);/; s/gD\[m,n\]/gD[n,m]/' \
			"$(dirname "$file")/registers/${weights%,*}.gemm" >"$scratch/k.gemm"
		run "M=136,N=7,K=264,KB=${weights#*,}" -DR=cooperative -DP=on
	done
	[ $ran = 18 ]
	;;
esac
