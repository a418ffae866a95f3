#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Operands that TMA cannot take where they lie, for a machine with a GPU, built where ptxas is:
#   ways_cases.sh DSLC ROOT OUT
#     OUT/ways/TYPE.cubin    D = A B^T with lda, ldb, ldd, of operands of 8, 16 and 32 bits: for ways.py
#     OUT/works.txt          lines of the works odd, odd_lda and odd_once are added, for against_torch.py
set -eu
dslc=$1 root=$2 out=$3
rm -rf "$out/ways"
mkdir -p "$out/ways"

# NAME TA TB TC TD K PRODUCT VALUE -D...
build()
{
	name=$1 ta=$2 tb=$3 tc=$4 td=$5 k=$6 product=$7 value=$8
	shift 8
	sed -e "s/bN,32>/bN,$k>/; s/\<TA\>/$ta/g; s/\<TB\>/$tb/g; s/\<TC\>/$tc/g; s/\<TD\>/$td/g" \
		-e "s/PRODUCT/$product/; s/VALUE/$value/; s/K % 16 == 0, //" \
		-e 's/(M,K):(K,1)/(M,K):(lda,1)/; s/(N,K):(K,1)/(N,K):(ldb,1)/' "$root/tests/e2e/types.gemm" >"$out/ways/$name.gemm"
	"$dslc" -q "$out/ways/$name.gemm" "$@" -o "$out/ways/$name.cubin"
	rm "$out/ways/$name.gemm"
}
mm='mm(sA, sB)'
build e4m3 e4m3 e4m3 f32 bf16 32 "fast($mm)" "bf16(acc)" -DR=pingpong -DP=on
build s8 s8 s8 s32 s32 32 "$mm" acc -DR=cooperative -DCM=2
build tf32 tf32 tf32 f32 f32 8 "$mm" acc -DbK=32
label()
{
	name=$1
	shift
	build "$name" bf16 bf16 f32 bf16 16 "$mm" "bf16(acc)" -DbK=64 "$@"
	for work in "odd 4095 4097 4099" "odd 4096 4096 4100" "odd_lda 4096 4096 4096" "odd_lda 8192 8192 8192" "odd_once 4096 4096 4096"; do
		echo "$work $name ways/$name.cubin" >>"$out/works.txt"
	done
}
label ping_128 -DR=pingpong -DP=on -DS=6
label ping_192 -DR=pingpong -DP=on -DS=4 -DbN=192
label ping_128_c2x1 -DR=pingpong -DP=on -DS=6 -DCM=2
label coop_256x128_c2x1 -DR=cooperative -DP=on -DS=4 -DbM=256 -DbN=128 -DCM=2
label coop_256 -DR=cooperative -DP=on -DS=4 -DbN=256
