#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tiles whose columns no swizzle divides leave by TMA all the same, in as many columns at a time as are said here,
# right on the simulator: whole rows, odd ones, under every schedule.
#   columns.sh DSLC FILE SCRATCH      [DEVICE=cuda:0]
set -eu
dslc=$1 file=$2 scratch=$3
. "${0%/*}/turns.sh"
rm -rf "$scratch"
mkdir -p "$scratch"
fail() { echo "$name $*:"; cat "$scratch/out"; exit 1; }

# COLUMNS SIZES -D...
run()
{
	columns=$1 sizes=$2
	shift 2
	"$dslc" explain -q "$scratch/$name.gemm" "$@" >"$scratch/out" 2>&1 || fail "$@"
	grep -q "stores .*TMA box ($columns,64) of $name, fastest mode first, swizzle 0" "$scratch/out" || fail "$@: no $columns columns"
	simulate "$scratch/$name.gemm" "$@" --size "$sizes" --device "${DEVICE:-sim}" >"$scratch/out" 2>&1 || fail "$@"
}

whole=M=136,N=344,K=40,ldc=344,ldd=352 odd=M=70,N=345,K=40,ldc=352,ldd=345
name=bf16
cp "$file" "$scratch/$name.gemm"
run 8 M=70,N=24,K=40,ldc=24,ldd=24 -DbN=8
run 8 $odd -DbN=40 -DT=16
run 8 M=70,N=64,K=40,ldc=64,ldd=64 -DbN=64 -DT=8
run 24 $whole -DbN=24 -DR=none -DP=on
run 24 $odd -DbN=72 -DR=pingpong -DP=on -DW=1 -DbM=64
run 72 $whole -DbN=72 -DT=72 -DP=on
run 56 $odd -DbN=168 -DR=none
run 56 $whole -DbN=168 -DR=pingpong -DP=on -DW=1 -DbM=64
run 88 $odd -DbN=176 -DT=88 -DCM=2
name=e4m3
sed 's/out bf16/out e4m3/; s/bf16(acc/e4m3(acc/' "$file" >"$scratch/$name.gemm"
run 48 $whole -DbN=48
run 112 $odd -DbN=112 -DT=112 -DR=pingpong -DP=on -DW=1 -DbM=64
name=bf16
sed 's/ subtile T;//' "$file" >"$scratch/$name.gemm"
run 88 $whole -DbN=88
"$dslc" explain -q "$scratch/$name.gemm" -DbN=88 | grep -q "subtile 88; .*//: rows of an odd number of 16 bytes" || fail "the reason"
