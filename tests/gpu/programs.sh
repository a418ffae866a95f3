#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The programs of tests/e2e under every schedule, compiled where the GPU is and run on it, against the reference interpreter:
# loops, registers, ranks, types, majors, promoted sums, copies by threads, groups of rows, exchanged operands, the programs of docs/seeds.md, kernels without an mma, examples of epilogues, and the outputs of tests/sim. A line for each; what fails prints what it said.
#   programs.sh DSLC ROOT SCRATCH [REGEX]      of all jobs those whose name matches
set -eu
dslc=$1 e2e=$2/tests/e2e scratch=$3 wanted=${4:-.}
export DEVICE="${DEVICE:-cuda:0}" EVERY=1
rm -rf "$scratch"
mkdir -p "$scratch"
# NAME COMMAND...: a job
job()
{
	name=$1
	shift
	echo "$name" | grep -qE "$wanted" || return 0
	printf '%s\n' "\"\$@\" >$scratch/$name.out 2>&1 && echo '$name: right' || { echo '$name: WRONG'; cat $scratch/$name.out; exit 1; }" >"$scratch/$name.sh"
	echo "sh $scratch/$name.sh $*" >>"$scratch/jobs"
}
for file in "$e2e"/loops/*.gemm; do
	job "loops.$(basename "$file" .gemm)" "$e2e/loops.sh" "$dslc" "$file"
done
sed -n 's/^e2e_registers(\(.*\) \(.*\))/\1 \2/p' "$e2e/CMakeLists.txt" >"$scratch/registers"
while read -r name sizes; do
	job "registers.$name" "$e2e/registers.sh" "$dslc" "$scratch/r.$name" "$e2e/registers/$name.gemm" "$sizes"
done <"$scratch/registers"
sed -n 's/^sim_output(\([^ ]*\) \([^ ]*\) \([^ )]*\)\([^)]*\))/\1 \2 \3 0\4/p' "$e2e/../sim/CMakeLists.txt" >"$scratch/outputs"
while read -r name file flags; do
	# shellcheck disable=SC2086
	job "outputs.$name" "$e2e/../sim/outputs.sh" "$dslc" "$e2e/../sim/outputs/$file.gemm" $flags
done <"$scratch/outputs"
sed -n 's/^e2e_plain(\([^ ]*\) \(.*\))/\1 \2/p' "$e2e/CMakeLists.txt" >"$scratch/plain"
while read -r name sizes; do
	job "plain.$name" "$e2e/plain.sh" "$dslc" "$scratch/p.$name" "$e2e/plain/$name.gemm" "$sizes"
done <"$scratch/plain"
for how in $(sed -n 's/^foreach(how \(.*\))$/\1/p' "$e2e/CMakeLists.txt" | head -n 1); do
	job "copies.$how" "$e2e/copies.sh" "$dslc" "$e2e/copies.gemm" "$scratch/c.$how" "$how"
done
for how in a b ab a8 lda narrow wide batch boxes boxes_b boxes_batch boxes_c scatter scatter_even scatter_swap; do
	case $how in scatter*) file=scatter ;; *) file=gather ;; esac
	job "gather.$how" "$e2e/gather.sh" "$dslc" "$e2e/$file.gemm" "$scratch/g.$how" "$how"
done
for target in sm_80 sm_86 sm_89 sm_90; do
	job "targets.$target" "$e2e/targets.sh" "$dslc" "$e2e" "$scratch/t.$target" "$target"
done
# The examples of epilogues by their host program, where that is beside dslc.
host=$(dirname "$dslc")/epilogues_host
for file in "$e2e"/../../examples/epilogues/*.gemm; do
	[ ! -x "$host" ] || job "epilogues.$(basename "$file" .gemm)" "$e2e/epilogues.sh" "$dslc" "$host" "$file" "$scratch"
done
job seeds "$e2e/seeds.sh" "$dslc" "$e2e/seeds" "$scratch/seeds"
for part in roles clusters types layouts epilogues; do
	job "swap.$part" "$e2e/swap.sh" "$dslc" "$scratch/w.$part" "$e2e/swap.gemm" "$part"
done
for what in gemm up down sums masked along swap clusters sizes; do
	job "grouped.$what" "$e2e/grouped.sh" "$dslc" "$e2e/grouped" "$scratch/g.$what" "$what"
done
job ranks "$e2e/ranks.sh" "$dslc" "$e2e/ranks" "$scratch/k"
job types "$e2e/types.sh" "$dslc" "$scratch/t" "$e2e/types.gemm"
job majors "$e2e/majors.sh" "$dslc" "$scratch/m" "$e2e/majors.gemm"
for set in schedules types epilogues; do
	job "split.$set" "$e2e/split.sh" "$dslc" "$2" "$scratch/s.$set" "$set"
done
job promote "$e2e/promote.sh" "$dslc" "$scratch/p" "$e2e/promote.gemm"
# All that docs/types.md says, in four parts, and each conversion of each pattern, with what pack_tool.sh gathers beside dslc.
table=$(dirname "$dslc")/types_table
for part in 0/4 1/4 2/4 3/4; do
	[ ! -x "$table" ] || job "walk.${part%/4}" python3 "$e2e/types_walk.py" "$dslc" "$table" "$scratch/w${part%/4}" all "$DEVICE" "$part"
done
conversions=$(dirname "$dslc")/test_e2e_conversions
[ ! -x "$conversions" ] || job conversions env "DSL_TEST_DEVICE=$DEVICE" "$conversions"
xargs -P "$(nproc)" -I{} sh -c '{}' <"$scratch/jobs"
