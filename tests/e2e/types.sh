#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Operands of 8 bits, floating point and integers, mixed freely, tf32, and outputs of each type: right on the simulator
# under every schedule, fast and promoted, with swizzles of 128, 64 and 32 bytes; integers in every bit, normal numbers too.
# Every second one stores rows that TMA cannot; with EVERY=1 each does so and not.
#   types.sh DSLC SCRATCH FILE      [DEVICE=cuda:0]
set -eu
dslc=$1 scratch=$2 file=$3
. "${0%/*}/turns.sh"
rm -rf "$scratch"
mkdir -p "$scratch"
number=0

# TA TB TC TD VALUE [K of an mma]
program()
{
	name=$1-$2-$4
	case $1-$3 in e4*-f32) product='fast(mm(sA, sB))' ;; *) product='mm(sA, sB)' ;; esac
	sed -e "s/bN,32>/bN,${6:-32}>/; s/\<TA\>/$1/g; s/\<TB\>/$2/g; s/\<TC\>/$3/g; s/\<TD\>/$4/g; s/PRODUCT/$product/; s/VALUE/$5/" "$file" >"$scratch/$name.gemm"
}

# NORMAL -D...: what the line about normal numbers has to say
run()
{
	says=$1
	shift
	ldd=$((208 - number % 2 * 5))
	judge "$@"
	ldd=$((411 - ldd))
	every judge "$@"
	number=$((number + 1))
}
judge()
{
	simulate "$scratch/$name.gemm" "$@" --size M=136,N=200,K=272,ldd=$ldd --device "${DEVICE:-sim}" >"$scratch/out" 2>&1 ||
		{ echo "$name $*:"; cat "$scratch/out"; exit 1; }
	grep -q "normal: D: 27200 elements .*$says" "$scratch/out" || { echo "$name $*: no '$says'"; cat "$scratch/out"; exit 1; }
}

program e4m3 e4m3 f32 f32 acc
run "within bounds" -DR=none -DbN=96 -DS=2
program e4m3 e5m2 f32 bf16 "bf16(acc)"
run "within bounds" -DR=cooperative -DP=on
program e5m2 e4m3 f32 e4m3 "e4m3(acc * 50)"
run "within bounds" -DR=pingpong -DP=on -DbK=64 -DbN=64
program e5m2 e5m2 f32 e5m2 "e5m2(acc)"
run "within bounds" -DR=cooperative -DCM=2 -DX=slice -DbK=32
program s8 s8 s32 s32 acc
run "equal in every bit" -DR=none -DP=on -DCN=2 -DX=leader -DW=1 -DbM=64
program s8 u8 s32 s8 "s8(acc)"
run "equal in every bit" -DR=cooperative -DP=on -DbN=24 -DbK=64
program u8 s8 s32 u8 "u8(acc)"
run "equal in every bit" -DR=pingpong -DP=on -DbN=64
program u8 u8 s32 bf16 "bf16(f32(acc) * 0.01)"
run "equal in every bit" -DR=none -DbN=192
program s8 s8 s32 f16 "f16(relu(f32(acc)) * 0.001)"
run "equal in every bit" -DR=cooperative -DbK=32 -DS=6
program u8 s8 s32 s16 "s16(acc)"
run "equal in every bit" -DR=cooperative -DP=on
# f32 in memory, whose low bits are random: rounded on the way in, whatever the way.
program tf32 tf32 f32 f32 acc 8
run "within bounds" -DR=none -DbN=96 -DbK=32
program tf32 tf32 f32 tf32 "tf32(acc)" 8
run "within bounds" -DR=pingpong -DP=on -DbK=16 -DbN=64
# As many columns as the program says, fewer than a tile has, in rows that TMA does not store: whole chunks are outside.
program bf16 bf16 f32 bf16 "bf16(acc)" 16
sed 's/\<N\>/72/g' "$scratch/$name.gemm" >"$scratch/fixed.gemm"
simulate "$scratch/fixed.gemm" -DR=none -DbN=208 -DW=1 -DbM=64 -DbK=64 --size M=70,K=80,ldd=73 --device "${DEVICE:-sim}" >"$scratch/out" 2>&1 ||
	{ echo "fixed:"; cat "$scratch/out"; exit 1; }
# Accumulators of f16, two of which share a register: exact up to 2048, in half the registers.
program f16 f16 f16 f16 acc 16
run "within bounds" -DR=none -DbK=64 -DbN=256
program f16 f16 f16 f32 "f32(acc)" 16
run "within bounds" -DR=pingpong -DP=on -DbK=64 -DbN=72
program e4m3 e5m2 f16 f16 "f16(relu(f32(acc)))"
run "within bounds" -DR=cooperative -DP=on -DbM=256 -DbN=256 -DS=2
program e5m2 e5m2 f16 e4m3 "e4m3(f32(acc))"
run "within bounds" -DR=cooperative -DbN=24
[ $number = 16 ]
