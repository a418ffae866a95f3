#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Batches for a machine with a GPU, built where ptxas is:
#   batch_cases.sh DSLC ROOT OUT
#     OUT/ranks/cases.txt    NAME SMS SIZES: tests/e2e/ranks under every kind of schedule, for gpu_check
#     OUT/ranks/NAME.cubin   OUT/ranks/NAME.frontend.ir
#     OUT/works.txt          WORK L M N K LABEL CUBIN: beside torch.bmm, for against_torch.py
#     OUT/works/LABEL.cubin
set -eu
dslc=$1 root=$2 out=$3
rm -rf "$out/ranks" "$out/works"
mkdir -p "$out/ranks" "$out/works"
: >"$out/ranks/cases.txt"
: >"$out/works.txt"

# case FILE LABEL -D...: built once, for each of $sizes
case_of()
{
	file=$1 name=$1-$2
	shift 2
	"$dslc" -q -Wno-N0401 --emit=cubin,ir:frontend "$root/tests/e2e/ranks/$file.gemm" "$@" -o "$out/ranks/$name.cubin"
	for size in $sizes; do
		echo "$name 0 $size" >>"$out/ranks/cases.txt"
		echo "$name 3 $size" >>"$out/ranks/cases.txt"
	done
}
every()
{
	case_of "$1" none -DR=none
	case_of "$1" none_p -DR=none -DP=on -DCM=2
	case_of "$1" coop -DR=cooperative -DCM=2
	case_of "$1" coop_p -DR=cooperative -DP=on
	case_of "$1" ping -DR=pingpong -DP=on -DS=2
	case_of "$1" ping_c -DR=pingpong -DP=on -DCM=2 -DW=1 -DbM=64
}
sizes="L=3,M=200,N=136,K=72,sA=14400,sB=9792,sC=27200,sD=28800,ldd=144
	L=7,M=72,N=136,K=200,sA=0,sB=27200,sC=0,sD=9801,ldd=136
	L=10,M=512,N=264,K=136,sA=69632,sB=0,sC=135168,sD=135168,ldd=264
	L=2,M=72,N=132,K=72,sA=5184,sB=0,sC=0,sD=9504,ldd=132"
every batch
sizes="L=3,M=136,N=72,K=72 L=16,M=264,N=520,K=200"
every behind
sizes="X=2,Y=2,Z=2,M=136,N=72,K=72,sZ=39168,sC=144,sX=39168,sD=19584
	X=3,Y=5,Z=2,M=136,N=200,K=264,sZ=538560,sC=200,sX=272000,sD=136000"
every five
sizes="H=2,J=3,M=136,K=72,sJ=19584,sH=48,ldd=96,sD=13056"
every one_tile
echo "$(grep -c . "$out/ranks/cases.txt") cases of ranks"

work()
{
	label=$1
	shift
	"$dslc" -q "$root/tests/gpu/batch.gemm" "$@" -o "$out/works/$label.cubin"
	for size in "16 1024 1024 1024" "64 512 512 512" "8 4096 4096 512"; do
		echo "bmm $size $label works/$label.cubin" >>"$out/works.txt"
	done
	echo "bmm_one 16 1024 1024 1024 $label works/$label.cubin" >>"$out/works.txt"
}
work ping_128 -DbN=128 -DS=6
work ping_128_c2x1 -DbN=128 -DS=6 -DCM=2
work ping_192 -DbN=192
work ping_192_c2x1 -DbN=192 -DCM=2
work ping_256w1 -DbM=64 -DbN=256 -DS=4 -DW=1
work coop_256 -DR=cooperative -DbN=256
work coop_256_c2x1 -DR=cooperative -DbN=256 -DCM=2
echo "$(grep -c . "$out/works.txt") works"
