#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tiles gathered by indices under every schedule: each is verified, and right on the simulator where
# no size is a multiple of a tile, and one index in sixteen is none of the tensor's.  [DEVICE=cuda:0 EVERY=1]
#   gather.sh DSLC FILE SCRATCH HOW...   HOW: scatter: rows of D too (_swap: under swap); rows of a, of b, of both (ab); of bytes (a8), of rows that are a
#   distance apart (lda), 64 bytes wide (narrow, two swizzles wide), by indices of each matrix of a batch (batch); by TMA, a box for each row (boxes, boxes_b, boxes_batch,
#   boxes_c: beside a source, whose ring has the last of the warps that bring rows, and behind another ring; boxes_types: of other elements, of rows that are a
#   distance apart, under swap)
set -eu
dslc=$1 file=$2 scratch=$3
shift 3
rm -rf "$scratch"
mkdir -p "$scratch"
a='s/B : bf16 (N,K)/B : bf16 (N,K)/'
b='s/B : bf16 (N,K)/cols : s32 (N), B : bf16 (O,K)/; s/gB\[n,k\]/gB[cols[n],k]/'
plain='s/A : bf16 (Q,K)/A : bf16 (M,K)/; s/rows : s32 (M), //; s/rows\[m\]/m/g'
batch='s/A : bf16 (Q,K)/A : bf16 (Q,K)/; s/s32 (M)/s32 (L,M):(M,1)/; s/B : bf16 (N,K):(K,1)/B : bf16 (L,N,K):(N*K,K,1)/
s/D : out bf16 (M,N):(N,1)/D : out bf16 (L,M,N):(M*N,N,1)/; s|B / (bN|B / (1,bN|; s|D / (bM|D / (1,bM|; s/(m,n) in/(l,m,n) in/
s/rows\[m\]/rows[l,m]/g; s/gB\[n/gB[l,n/; s/gD\[m/gD[l,m/'
boxes='s/pipeline ab(4) { sA, sB }/tma ld = load(A, sA); pipeline ab(4) { sA via ld, sB }/'
boxes_b='s/pipeline ab(4) { sA, sB }/tma ld = load(B, sB); pipeline ab(4) { sA, sB via ld }/'
bytes='s/A : bf16/A : e4m3/; s/B : bf16/B : e4m3/; s/,16>(bf16, bf16/,32>(e4m3, e4m3/; s/sA : bf16/sA : e4m3/; s/sB : bf16/sB : e4m3/; s/K % 8/K % 16/'
f16='s/A : bf16/A : f16/; s/B : bf16/B : f16/; s/(bf16, bf16/(f16, f16/; s/sA : bf16/sA : f16/; s/sB : bf16/sB : f16/'
tf32='s/A : bf16/A : tf32/; s/B : bf16/B : tf32/; s/,16>(bf16, bf16/,8>(tf32, tf32/; s/sA : bf16/sA : tf32/; s/sB : bf16/sB : tf32/; s/K % 8/K % 4/; s/bK = 64/bK = 32/'
swap='s/bM = 64 \* W, bN = 64/bM = 64, bN = 64 * W/; s/<64,bN,/<64,bM,/; s/schedule {/& swap;/'
lda='s/(Q,K):(K,1)/(Q,K):(lda,1)/; s/K % 8/lda % 8 == 0, K % 8/'
. "${0%/*}/turns.sh"
try()
{
	simulate "$scratch/k.gemm" "$@" --size "$sizes" --device "${DEVICE:-sim}" >"$scratch/out" 2>&1 &&
		grep -q 'gemm: right' "$scratch/out" || { echo "$how $*:"; cat "$scratch/out"; exit 1; }
}
# What threads do not copy, where the program says so.
by_boxes()
{
	sed "$change" "$file" >"$scratch/k.gemm"
	"$dslc" -S "$scratch/k.gemm" "$@" -o "$scratch/k.ptx"
	! grep -q 'cp.async.cg' "$scratch/k.ptx" && grep -q 'multicast::cluster' "$scratch/k.ptx" || { echo "$how $*: copies of threads"; exit 1; }
	"$dslc" explain "$scratch/k.gemm" "$@" >"$scratch/explained.gemm" 2>/dev/null
	grep -q ": boxes 64: a box of TMA for each row that rows names, " "$scratch/explained.gemm" || { echo "$how $*: not explained"; exit 1; }
	"$dslc" -S "$scratch/explained.gemm" -o "$scratch/again.ptx"
	sed '/^.\.loc/d; /^.\.file/d' "$scratch/again.ptx" >"$scratch/again"
	sed '/^.\.loc/d; /^.\.file/d' "$scratch/k.ptx" | cmp - "$scratch/again"
}
for how; do
	sizes=M=200,N=72,K=328,Q=300 more=
	case $how in
	boxes)
		change=$boxes by_boxes -DR=cooperative -DCN=2
		try -DR=pingpong -DP=on -DCN=2
		try -DR=cooperative -DCN=2 -DCM=2 -DP=on -DbK=128 -DS=2
		try -DR=cooperative -DW=3 -DCN=4
		every try -DR=cooperative -DP=dynamic -DW=1
		every try -DR=cooperative -DW=1 -DS=2
		sizes=M=130,N=65,K=8,Q=0 try -DR=cooperative -DCN=2
		sizes=M=130,N=65,K=0,Q=9
		every try -DR=cooperative -DCN=2
		continue ;;
	boxes_b)
		sed "$plain; $b; $boxes_b" "$file" >"$scratch/k.gemm"
		sizes=M=200,N=72,K=328,O=300 try -DR=cooperative -DCM=2
		continue ;;
	boxes_c)
		sed "$boxes; "'s/D : out bf16/C : bf16 (M,N):(N,1), D : out bf16/; s/K % 8 == 0/K % 8 == 0, N % 8 == 0/; s/<- bf16(acc)/<- bf16(acc + gC[m,n])/
s|gD = D / (bM,bN)|gD = D / (bM,bN), gC = C / (bM,bN)|' "$file" >"$scratch/k.gemm"
		try -DR=cooperative -DP=dynamic
		every try -DR=pingpong -DP=on
		sed 's/pipeline ab(4) { sA, sB }/tma ld = load(A, sA); pipeline pb(4) { sB } pipeline pa(4) { sA via ld }/' "$file" >"$scratch/k.gemm"
		try -DR=cooperative
		"$dslc" -q --stop-after=roles --emit=ir "$scratch/k.gemm" -DR=cooperative -o "$scratch/k.ir"
		[ "$(grep -c 'load.rows.* warps=4' "$scratch/k.ir")" = 4 ] || { echo "$how: rows of a later ring have fewer warps"; exit 1; }
		continue ;;
	boxes_types)
		sed "$boxes; $bytes; s/bK = 64/bK = 128/" "$file" >"$scratch/k.gemm"
		sizes=M=200,N=72,K=336,Q=300 try -DR=pingpong -DP=on
		sizes=M=130,N=65,K=16,Q=9 try -DR=cooperative -DCN=2
		sed "$boxes; $f16" "$file" >"$scratch/k.gemm"
		try -DR=pingpong -DP=on -DCN=2
		sed "$boxes; $tf32" "$file" >"$scratch/k.gemm"
		sizes=M=200,N=72,K=324,Q=300 try -DR=cooperative -DP=on -DCN=2
		sed "$boxes; $lda" "$file" >"$scratch/k.gemm"
		sizes=M=200,N=72,K=328,Q=300,lda=344 try -DR=pingpong -DP=on -DCN=2
		sed "$boxes; $swap" "$file" >"$scratch/k.gemm"
		try -DR=cooperative -DCN=2
		every try -DR=pingpong -DP=on
		continue ;;
	boxes_batch)
		sed "$batch; $boxes" "$file" >"$scratch/k.gemm"
		sizes=L=2,M=200,N=72,K=328,Q=300 try -DR=pingpong -DP=on -DCN=2
		continue ;;
	esac
	case $how in
	b) change="$plain; $b" sizes=M=200,N=72,K=328,O=300 ;;
	ab) change=$b sizes=M=200,N=72,K=328,Q=70,O=300 ;;
	a8) change=$bytes sizes=M=200,N=72,K=336,Q=300 ;;
	lda) change=$lda sizes=M=200,N=72,K=328,Q=300,lda=344 ;;
	narrow) change=$a more=-DbK=32 ;;
	wide) change=$a more=-DbK=128 ;;
	batch) change=$batch sizes=L=2,M=200,N=72,K=328,Q=300 ;;
	scatter) change=$a sizes=M=200,N=73,K=328,Q=300,T=250 more=-Wno-N0401 ;;
	scatter_even) change='s/K % 8/N % 2 == 0, K % 8/; s/bf16 (T,N)/f32 (T,N)/; s/bf16(acc)/acc/' sizes=M=300,N=74,K=328,Q=300,T=250 more=-Wno-N0401 ;;
	scatter_swap)
		change='s/bM = 128, bN = 64/bM = 64, bN = 128/; s/<64,bN,/<64,bM,/; s/schedule {/& swap;/; s/s32 (M), D/s32 (M), w : f32 (M), D/; s/bf16(acc)/bf16(acc * w[m])/'
		sizes=M=100,N=137,K=72,Q=300,T=250 more=-Wno-N0401
		;;
	*) change=$a ;;
	esac
	sed "$change" "$file" >"$scratch/k.gemm"
	"$dslc" -S "$scratch/k.gemm" $more -o "$scratch/k.ptx"
	grep -q "cp.async.cg.shared.global .*, 16" "$scratch/k.ptx" || { echo "$how: no copies of 16 bytes"; exit 1; }
	case $how in b) said='sB: cp.async bytes 16: cols names the rows of B,' ;; *) said='sA: cp.async bytes 16: rows names the rows of A,' ;; esac
	"$dslc" explain "$scratch/k.gemm" $more >"$scratch/explained" 2>/dev/null
	grep -q "$said" "$scratch/explained" || { echo "$how: not explained: $said"; exit 1; }
	try $more -DR=none -DS=3
	try $more -DR=cooperative -DP=on -DS=3
	case $how in a) try -DR=cooperative -DW=3 ;; scatter_swap) try $more -DR=pingpong -DP=dynamic; continue ;; scatter) try $more -DR=pingpong -DP=on; try $more -DR=cooperative -DCM=2; continue ;; *) continue ;; esac
	every try -DR=none -DP=on -DS=2
	every try -DR=cooperative -DS=2
	try -DR=pingpong -DP=on
	try -DR=cooperative -DCM=2
	sizes=M=1,N=1,K=8,Q=1 try -DR=cooperative
	sizes=M=130,N=65,K=8,Q=0 try -DR=cooperative
	sizes=M=130,N=65,K=0,Q=9 try -DR=none
done
