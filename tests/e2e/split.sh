#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The k of a tile shared by CTAs of a cluster, or of the grid by workspace (split_k): proved (else it is an error), and right on the simulator against
# the reference interpreter: under each kind of schedule, for sums of each type, with epilogues that fall apart into
# chunks and such that do not, with residues along every mode, and so little K that some CTAs have none.
#   split.sh DSLC ROOT SCRATCH SET      [DEVICE=cuda:0]
set -eu
dslc=$1 root=$2 scratch=$3 set=$4
. "${0%/*}/turns.sh"
rm -rf "$scratch"
mkdir -p "$scratch"
n=0
run()
{
	file=$1 sizes=$2
	shift 2
	n=$((n + 1))
	simulate "$file" "$@" --size "$sizes" --device "${DEVICE:-sim}" --sms 16 >"$scratch/out" 2>"$scratch/err" ||
		{ echo "$file $* $sizes:"; cat "$scratch/err" "$scratch/out"; exit 1; }
	! grep -qE '(warning|error)\[' "$scratch/err" || { echo "$file $*: another message"; cat "$scratch/err"; exit 1; }
}
# A program of elsewhere with its schedule's split_k, and one tile a CTA.
split()
{
	sed "s/schedule {/schedule { split_k $2; ${3:-}/; s/persistent P;//; s/persistent;//" "$root/$1" >"$scratch/$(basename "$1")"
	grep -q "split_k $2" "$scratch/$(basename "$1")" || { echo "$1 has no schedule"; exit 1; }
	made=$scratch/$(basename "$1")
}
case $set in
schedules)
	plain=$root/tests/e2e/split/plain.gemm
	run "$plain" M=200,N=136,K=520 -DSK=8
	run "$plain" M=72,N=131,K=264 -DSK=3 -DR=none # an output that TMA does not take
	run "$plain" M=136,N=72,K=72 -DSK=4 -DCM=2 -DbN=64
	run "$plain" M=136,N=136,K=136 -DSK=4 -DCM=2 -DCN=2 -DR=none -DW=1 -DbM=64 -DbN=32
	run "$plain" M=136,N=72,K=136 -DSK=2 -DR=none -DP=on -DW=1 -DbM=64 -DbN=64
	run "$plain" M=72,N=24,K=1000 -DSK=16 -DW=1 -DbM=64 -DbN=16
	run "$plain" M=72,N=264,K=200 -DSK=5 -DCM=3 -DW=1 -DbM=64 -DbN=256 -DbK=32
	run "$plain" M=72,N=24,K=0 -DSK=2 -DW=1 -DbM=64 -DbN=16
	run "$root/tests/e2e/split/each.gemm" M=72,N=72,K=384
	for said in "4 CTAs of a cluster have a part of k each, ((K + 63) / 64 + 3) / 4 trips; 4 of them" "subtile 32; "; do
		"$dslc" explain "$plain" -DSK=4 -o - | grep -qF "$said" || { echo "explain does not say: $said"; exit 1; }
	done
	"$dslc" explain "$plain" -DSK=4 -DbN=16 -DbM=64 -DW=1 -o - | grep -qF "the first adds the others' sums to its own, 4096 bytes" ||
		{ echo "explain does not say who adds up"; exit 1; }
	;;
types)
	split tests/e2e/promote.gemm 4
	run "$made" M=136,N=72,K=720,ldd=72
	run "$made" M=72,N=72,K=400,ldd=80 -DbK=64 -DR=none # a loop in the loop that is split
	for types in "TA=s8 TB=u8 TC=s32 TD=s32" "TA=e5m2 TB=e4m3 TC=f32 TD=bf16"; do
		split tests/e2e/types.gemm 4
		for t in $types; do sed -i "s/\b${t%=*}\b/${t#*=}/g" "$made"; done
		d=$(sed -n 's/.*D : out \([a-z0-9]*\).*/\1/p' "$made")
		sed -i "s/PRODUCT/mm(sA, sB)/; s/VALUE/$d(acc)/; s/s32(acc)/acc/" "$made"
		run "$made" M=136,N=72,K=528,ldd=80 -DbN=64
	done
	run "$root/examples/weights/weights.gemm" M=136,N=16,K=640,KB=5 -DP=4 -DbK=128
	split tests/e2e/copies.gemm 2
	run "$made" M=136,N=72,K=200
	;;
epilogues)
	for program in residual in_place swiglu squares row_own bias_gelu swiglu_backward amax; do
		split examples/epilogues/$program.gemm 4
		run "$made" M=136,N=120,K=136 -DR=cooperative
	done
	;;
workspace)
	plain=$root/tests/e2e/split/plain.gemm
	run "$plain" M=200,N=136,K=520 -DX=workspace -DSK=8
	run "$plain" M=72,N=131,K=264 -DX=workspace -DSK=3 -DR=none # an output that TMA does not take
	run "$plain" M=136,N=136,K=136 -DX=workspace -DSK=5 -DCM=2 -DCN=2 -DW=1 -DbM=64 -DbN=32
	run "$plain" M=72,N=24,K=1000 -DX=workspace -DSK=32 -DW=1 -DbM=64 -DbN=16
	run "$plain" M=72,N=24,K=0 -DX=workspace -DSK=2 -DW=1 -DbM=64 -DbN=16
	# As many CTAs at a time as a tile has parts, in the order of their indices; all of them in another order.
	DEVICE=sim:seed=3,resident=4 run "$plain" M=200,N=136,K=264 -DX=workspace -DSK=4
	DEVICE=sim:seed=5,starts=7 run "$plain" M=200,N=136,K=264 -DX=workspace -DSK=4
	run "$root/tests/e2e/split/older.gemm" M=100,N=72,K=520 # sm_80
	split tests/e2e/promote.gemm 4 "sums workspace;"
	run "$made" M=136,N=72,K=400,ldd=80 -DbK=64 -DR=none
	sed "s/split_k P;/& sums workspace;/" "$root/examples/weights/weights.gemm" >"$scratch/weights.gemm"
	grep -q workspace "$scratch/weights.gemm"
	run "$scratch/weights.gemm" M=136,N=16,K=640,KB=5 -DP=4 -DbK=128
	for program in swiglu amax; do
		split examples/epilogues/$program.gemm 4 "sums workspace;"
		run "$made" M=136,N=120,K=136 -DR=cooperative
	done
	for said in "4 CTAs have a part of k each, ((K + 63) / 64 + 3) / 4 trips; 4 of them" "sums workspace; "; do
		"$dslc" explain "$plain" -DSK=4 -DX=workspace -o - | grep -qF "$said" || { echo "explain does not say: $said"; exit 1; }
	done
	# Fewer at a time than a tile has parts cannot go on; the simulator says so.
	if "$dslc" run "$plain" --size M=128,N=128,K=256 -DX=workspace -DSK=4 --device sim:resident=3 >"$scratch/out" 2>&1; then
		echo "three of four CTAs went on"
		exit 1
	fi
	grep -q "deadlock: .* all 3 clusters that run wait for what others of the grid write, 0 have ended and 1 have not started" "$scratch/out" ||
		{ cat "$scratch/out"; exit 1; }
	;;
esac
echo "$n runs"
