#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Operands that TMA cannot take where they lie, which the launcher copies first: odd K, odd distances between rows, columns
# and matrices, distances that are odd numbers, each element size, each major; right on the simulator, with the same
# machine code as aligned ones.
#   ways.sh DSLC FOLDER SCRATCH      [DEVICE=cuda:0]
set -eu
dslc=$1 folder=$2 scratch=$3
. "${0%/*}/turns.sh"
rm -rf "$scratch"
mkdir -p "$scratch"
number=0

# SIZES -D...
run()
{
	sizes=$1
	shift
	simulate "$scratch/$name.gemm" "$@" --size "$sizes" --device "${DEVICE:-sim}" >"$scratch/out" 2>&1 ||
		{ echo "$name $sizes $*:"; cat "$scratch/out"; exit 1; }
	number=$((number + 1))
}

# Both 16-bit types, both majors. A distance of the contiguous extent alone, and one more.
for a in k m; do
	for b in k n; do
		name=$a$b elem=bf16 lda=137 ldb=137
		[ $a = k ] || { elem=f16; lda=131; }
		[ $b = k ] || ldb=199
		sed -e "s/bf16/$elem/g" -e 's/lda % 8 == 0, ldb % 8 == 0, //' "$folder/majors.gemm" >"$scratch/$name.gemm"
		[ $a = m ] || sed -i -e 's/(M,K):(1,lda)/(M,K):(lda,1)/' -e 's/lda >= M/lda >= K/' "$scratch/$name.gemm"
		[ $b = n ] || sed -i -e 's/(N,K):(1,ldb)/(N,K):(ldb,1)/' -e 's/ldb >= N/ldb >= K/' "$scratch/$name.gemm"
		run M=131,N=199,K=137,lda=$lda,ldb=$ldb -DR=pingpong -DP=on -DbN=64
		run M=128,N=192,K=128,lda=$((lda + 62)),ldb=200 -DR=cooperative -DCM=2 -DX=slice
	done
done

# Operands of 8 and 32 bits; rows of K elements.
types()
{
	name=$1-$2-$4
	case $1-$3 in e*-f32) product='fast(mm(sA, sB))' ;; *) product='mm(sA, sB)' ;; esac
	sed -e "s/bN,32>/bN,${6:-32}>/; s/\<TA\>/$1/g; s/\<TB\>/$2/g; s/\<TC\>/$3/g; s/\<TD\>/$4/g; s/PRODUCT/$product/; s/VALUE/$5/" \
		-e 's/K % 16 == 0, //' "$folder/types.gemm" >"$scratch/$name.gemm"
}
types e4m3 e5m2 f32 bf16 "bf16(acc)"
run M=67,N=133,K=259,ldd=133 -DR=none
types s8 u8 s32 s32 acc
run M=67,N=133,K=1,ldd=133
run M=1,N=1,K=129,ldd=1 -DR=cooperative
types tf32 tf32 f32 f32 acc 8
run M=67,N=70,K=139,ldd=70 -DbK=32

# Batches whose matrices or rows are odd distances apart; one that stands still; the tensor of the epilogue too.
name=batch
cp "$folder/ranks/batch.gemm" "$scratch/batch.gemm"
run L=3,M=131,N=135,K=71,sA=9301,sB=9585,sC=17685,sD=17685,ldd=135
run L=3,M=72,N=136,K=72,sA=5187,sB=0,sC=0,sD=9801,ldd=136 -DP=on
run L=2,M=72,N=72,K=72,sA=0,sB=5185,sC=5185,sD=5184,ldd=72 -DR=pingpong -DP=on

# A number that is no multiple of 16 bytes: of rows, of matrices.
sed 's/(N,K):(K,1)/(N,K):(101,1)/; s/(N,K):(1,ldb)/(N,K):(101,1)/; s/lda % 8 == 0, ldb % 8 == 0, //; s/, ldb >= N//' \
	"$folder/majors.gemm" >"$scratch/number.gemm"
name=number
run M=130,N=100,K=99,lda=136
sed 's/(sB,K,1)/(1004,K,1)/' "$folder/ranks/batch.gemm" >"$scratch/matrices.gemm"
name=matrices
run L=2,M=72,N=8,K=72,sA=5184,sC=576,sD=576,ldd=8

[ $number = 17 ]

# Which way and why; a where clause that settles the distance leaves the address.
says()
{
	"$dslc" explain "$1" >"$scratch/text"
	grep -qF "$2" "$scratch/text" || { echo "$1: explain does not say $2"; cat "$scratch/text"; exit 1; }
}
says "$scratch/kk.gemm" "where lda * 2 or the address of A is no multiple of 16 bytes, the launcher copies it into workspace first"
says "$folder/majors.gemm" "where the address of A is no multiple of 16 bytes, the launcher copies"
says "$scratch/matrices.gemm" "where 2008, K * 2 or the address of B is no multiple"

# Where rows may begin anywhere in a line of 128 bytes, unless a cluster shares the load or a where clause has settled it.
says "$scratch/kk.gemm" "where lda * 2 is no multiple of 128 bytes, TMA is half as fast: a cluster that shares A loads it once"
sed 's/ldb % 8/ldb % 64/; s/lda % 8/lda % 64/' "$folder/majors.gemm" >"$scratch/lines.gemm"
for quiet in "$scratch/lines.gemm" "$scratch/kk.gemm -DCM=2 -DCN=2"; do
	# shellcheck disable=SC2086
	"$dslc" explain $quiet >"$scratch/text"
	! grep "is half as fast" "$scratch/text" || exit 1
done
