#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Kernels whose sizes are numbers, or bounded, are verified under every schedule too: loops of few
# trips, of many, of a number of them.
#   sizes.sh DSLC SCHEDULES.gemm SCRATCH
set -eu
dslc=$1 file=$2 scratch=$3
mkdir -p "$scratch"
head='bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), D : out bf16 (M,N):(N,1))'
try()
{
	sed "s/$head/$1/" "$file" >"$scratch/sized.gemm"
	! cmp -s "$scratch/sized.gemm" "$file" || { echo "$file has no '$head'"; exit 1; }
	for schedule in none-off none-on cooperative-off cooperative-on pingpong-on; do
		"$dslc" check "$scratch/sized.gemm" -DR="${schedule%-*}" -DP="${schedule#*-}" \
			-DbN=96 >"$scratch/err" 2>&1 &&
			grep -q ': verified[: ]' "$scratch/err" ||
			{ echo "$1, $schedule:"; cat "$scratch/err"; exit 1; }
	done
}
try 'bf16 (1024,4096):(4096,1), B : bf16 (N,4096):(4096,1), D : out bf16 (1024,N):(N,1))'
try 'bf16 (M,8192):(8192,1), B : bf16 (N,8192):(8192,1), D : out bf16 (M,N):(N,1))'
try 'bf16 (M,256):(256,1), B : bf16 (N,256):(256,1), D : out bf16 (M,N):(N,1))'
try 'bf16 (M,64):(64,1), B : bf16 (N,64):(64,1), D : out bf16 (M,N):(N,1))'
try 'bf16 (256,K):(K,1), B : bf16 (192,K):(K,1), D : out bf16 (256,192):(192,1))'
try 'bf16 (256,256):(256,1), B : bf16 (96,256):(256,1), D : out bf16 (256,96):(96,1))'
try 'bf16 (48,K):(K,1), B : bf16 (N,K):(K,1), D : out bf16 (48,N):(N,1))'
try 'bf16 (M,K):(K,1), B : bf16 (20,K):(K,1), D : out bf16 (M,20):(ldd,1))'
try "$head where K % 64 == 0, K >= 256"
try "$head where K <= 512, M <= 128"
try "$head where K % 256 == 0"
try "$head where K % 512 == 0, K >= 1024, K <= 4096"
try "$head where K % 192 == 0, K % 256 == 64"
try "$head where K % 65536 == 0, N % 8 == 0"
try "$head where K == N"
