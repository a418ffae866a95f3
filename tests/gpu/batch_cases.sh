#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Batches for a machine with a GPU, built where ptxas is:
#   batch_cases.sh DSLC ROOT OUT
#     OUT/works.txt          WORK L M N K LABEL CUBIN: beside torch.bmm, for against_torch.py
#     OUT/works/LABEL.cubin
set -eu
dslc=$1 root=$2 out=$3
rm -rf "$out/works"
mkdir -p "$out/works"
: >"$out/works.txt"

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
