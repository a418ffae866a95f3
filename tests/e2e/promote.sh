#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sums that are promoted after any number of elements of K, fewer and more than a stage has: right on the simulator under
# every schedule; one wait and one addition of each register for each promotion, and none for fast(..).
#   promote.sh DSLC SCRATCH FILE      [DEVICE=cuda:0]
set -eu
dslc=$1 scratch=$2 file=$3
. "${0%/*}/turns.sh"
rm -rf "$scratch"
mkdir -p "$scratch"
fail()
{
	echo "promote: $*"
	exit 1
}

# The loops over K of the PTX: additions and waits of registers, of 64 x 64 elements a warpgroup.
costs()
{
	adds=$1 waits=$2
	shift 2
	"$dslc" -S -o "$scratch/ptx" "$@"
	got="$(grep -c 'add.rn.f32' "$scratch/ptx" || true) $(grep -c 'wgmma.wait_group' "$scratch/ptx")"
	[ "$got" = "$adds $waits" ] || fail "$*: additions and waits are $got, not $adds $waits"
}

run()
{
	simulate "$file" --numbers=both "$@" --size M=72,N=72,K=400,ldd=80 --device "${DEVICE:-sim}" >"$scratch/out" 2>&1 ||
		{ echo "$*:"; cat "$scratch/out"; exit 1; }
	grep -q "integers: D: 5184 elements .*equal in every bit" "$scratch/out" || { cat "$scratch/out"; fail "$*"; }
}

run
run -DE=32 -DP=on
run -DE=96 -DR=none
run -DbK=32 -DP=on
run -DE=384 -DR=none -DP=on
run -DE=256 -DR=pingpong -DP=on
run -DbK=64 -DE=160 -DCM=2

costs 32 1 "$file"
costs 64 2 "$file" -DE=64
costs 128 4 "$file" -DE=32
costs 64 2 "$file" -DE=96
costs 32 2 "$file" -DE=256
costs 32 2 "$file" -DbK=32

# What is not said is every 128; what is fast is not promoted.
"$dslc" -S -o "$scratch/said.ptx" "$file"
sed 's/promote(mm(sA, sB), every E)/mm(sA, sB)/' "$file" >"$scratch/plain.gemm"
"$dslc" -S -o "$scratch/plain.ptx" "$scratch/plain.gemm"
same() { grep -v '^//\|\.file\|\.loc\|^$' "$1" >"$1.same"; }
same "$scratch/said.ptx"
same "$scratch/plain.ptx"
cmp "$scratch/said.ptx.same" "$scratch/plain.ptx.same" || fail "plain is not every 128"
sed 's/promote(mm(sA, sB), every E)/fast(mm(sA, sB))/' "$file" >"$scratch/fast.gemm"
costs 0 2 "$scratch/fast.gemm"

# explain says how often, and why not as seldom as asked.
says()
{
	"$dslc" explain "$@" >"$scratch/out"
	grep -qF "$words" "$scratch/out" || { cat "$scratch/out"; fail "explain $*: no '$words'"; }
}
words='acc takes the sums of 128 elements of K, in f32: its mma keeps few bits of a sum' says "$file"
words='acc takes the sums of 384 elements of K, in f32' says "$file" -DE=384
words='acc takes the sums of 128 elements of K, in f32' says "$file" -DbK=32
