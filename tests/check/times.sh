#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The kernels of the grid (tests/gpu/build_cases.sh) whose proofs take longest are proved soon. The
# bounds are wide: builds with sanitizers and busy machines pass through here too.
#   times.sh DSLC TIMES ROOT SCRATCH WIDER
set -eu
dslc=$1 times=$2 root=$3 scratch=$4 wider=$5
rm -rf "$scratch"
mkdir -p "$scratch"
# IN OUT -D...
kernel()
{
	in=$1 out=$2
	shift 2
	sed -e "s/@IN@/$in/g" -e "s/@OUT@/$out/g" -e "s/@CAST@/$([ "$out" = f32 ] || echo "$out")/" \
		-e 's/@ALONG@//' -e 's/@STRIDE@/(N,1)/' "$root/tests/gpu/case.gemm.in" >"$scratch/case.gemm"
	n=$((${n:-0} + 1))
	"$dslc" -q -Wno-N0401 --emit=ir -o "$scratch/$n.ir" "$scratch/case.gemm" -DP=on "$@"
}
kernel bf16 f32 -DR=none -DW=3 -DbN=136 -DbK=16 -DS=5 -DI=0
kernel f16 f32 -DR=pingpong -DW=3 -DbN=120 -DbK=128 -DS=2 -DI=1
kernel f16 f32 -DR=pingpong -DW=3 -DbN=104 -DbK=32 -DS=8 -DI=1
kernel bf16 bf16 -DR=cooperative -DW=1 -DbN=64 -DbK=64 -DS=4 -DI=1
kernel bf16 bf16 -DR=cooperative -DW=2 -DbN=128 -DbK=64 -DS=4 -DI=1
kernel bf16 bf16 -DR=cooperative -DW=2 -DbN=192 -DbK=32 -DS=3 -DI=1
kernel bf16 bf16 -DR=cooperative -DW=2 -DbN=128 -DbK=64 -DS=4 -DI=1 -DCM=2
kernel bf16 bf16 -DR=pingpong -DW=1 -DbN=64 -DbK=32 -DS=3 -DI=0 -DCM=4 -DCN=2
"$times" -v -r 3 -w "$wider" "$scratch"/*.ir
