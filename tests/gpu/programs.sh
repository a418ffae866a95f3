#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Programs compiled where the GPU is and run on it, against the reference interpreter: the rows of tests/matrix, the outputs of tests/sim,
# examples of epilogues, and what docs/types.md says. A line for each; what fails prints what it said.
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
# The matrix, where its program is beside dslc.
matrix=$(dirname "$dslc")/matrix part=0
while [ -x "$matrix" ] && [ $part -lt 16 ]; do
	job "matrix.$part" "$matrix" "$2" --device "$DEVICE" --part $part/16
	part=$((part + 1))
done
sed -n 's/^sim_output(\([^ ]*\) \([^ ]*\) \([^ )]*\)\([^)]*\))/\1 \2 \3 0\4/p' "$e2e/../sim/CMakeLists.txt" >"$scratch/outputs"
while read -r name file flags; do
	# shellcheck disable=SC2086
	job "outputs.$name" "$e2e/../sim/outputs.sh" "$dslc" "$e2e/../sim/outputs/$file.gemm" $flags
done <"$scratch/outputs"
# The examples of epilogues by their host program, where that is beside dslc.
host=$(dirname "$dslc")/epilogues_host
for file in "$e2e"/../../examples/epilogues/*.gemm; do
	[ ! -x "$host" ] || job "epilogues.$(basename "$file" .gemm)" "$e2e/epilogues.sh" "$dslc" "$host" "$file" "$scratch"
done
job seeds "$e2e/seeds.sh" "$dslc" "$e2e/seeds" "$scratch/seeds"
# All that docs/types.md says, in four parts, and each conversion of each pattern, with what pack_tool.sh gathers beside dslc.
table=$(dirname "$dslc")/types_table
for part in 0/4 1/4 2/4 3/4; do
	[ ! -x "$table" ] || job "walk.${part%/4}" python3 "$e2e/types_walk.py" "$dslc" "$table" "$scratch/w${part%/4}" all "$DEVICE" "$part"
done
conversions=$(dirname "$dslc")/test_e2e_conversions
[ ! -x "$conversions" ] || job conversions env "DSL_TEST_DEVICE=$DEVICE" "$conversions"
xargs -P "$(nproc)" -I{} sh -c '{}' <"$scratch/jobs"
