#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Random changes of kernels of every schedule, judged by the verifier and by the stepper.
#   stepper_mutants.sh DSLC MUTANTS ROOT SCRATCH few|all [OPTION...]      options of stepper_mutants.c
set -eu
dslc=$1 mutants=$2 root=$3 scratch=$4 how=$5
shift 5
rm -rf "$scratch"
mkdir -p "$scratch"
ir()
{
	name=$1 file=$root/tests/e2e/$2.gemm
	shift 2
	"$dslc" -q -Wno-N0401 --emit=ir -o "$scratch/$name.ir" "$file" "$@"
}

for schedule in none-off none-on cooperative-off cooperative-on pingpong-on; do
	roles=${schedule%-*} persistent=${schedule#*-}
	ir "$schedule" schedules -DR="$roles" -DP="$persistent" -DbN=96 -DS=3
	ir "$schedule-blend" blend -DR="$roles" -DP="$persistent" -DbN=96 -DS=3
	[ "$how" = all ] || continue
	ir "$schedule-40" blend -DR="$roles" -DP="$persistent" -DbN=40 -DS=2
	ir "$schedule-64" schedules -DR="$roles" -DP="$persistent" -DW=1 -DbM=64 -DbN=64 -DS=6 -DI=2
done
ir pingpong-slice schedules -DR=pingpong -DP=on -DbN=64 -DS=3 -DCM=2 -DX=slice
ir triangular loops/triangular -DR=pingpong -DP=on
ir gaps loops/gaps -DR=none
ir outer loops/outer -DR=cooperative -DI=0
if [ "$how" = all ]; then
	ir growing loops/growing -DR=pingpong -DP=on
	ir nested loops/nested -DR=none -DP=on
	ir cooperative-32 schedules -DR=cooperative -DP=on -DbN=64 -DbK=32 -DS=8
	ir cooperative-leader schedules -DR=cooperative -DP=off -DbN=64 -DS=3 -DCN=2 -DX=leader
	ir cooperative-four schedules -DR=cooperative -DP=on -DbN=64 -DS=3 -DCM=2 -DCN=2 -DX=leader
	ir pingpong-blend-slice blend -DR=pingpong -DP=on -DbN=96 -DS=3 -DCM=2
	# Registers as operands, vectors, accumulators that are added up.
	ir attention registers/attention -DR=none -DP=on
	ir attention-pingpong registers/attention -DR=pingpong -DP=on
	ir chain registers/chain -DR=cooperative -DP=off
	ir vectors registers/vectors_in_loop -DR=pingpong -DP=on
	ir blocks registers/blocks -DR=cooperative -DP=on
	ir two-outputs registers/two_outputs -DR=none -DP=off
	ir promote promote -DR=cooperative -DP=on
fi
# Small ones by hand: threads that read what TMA loads, lanes that arrive abroad, lanes that write, named barriers,
# roles that give registers back and take them.
for base in relay tokens handed signal budget; do
	cp "$root/tests/check/patterns/bases/$base.ir" "$scratch/$base.ir"
done
"$mutants" "$@" "$scratch"/*.ir
