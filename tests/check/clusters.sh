#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Clusters of every shape are proved, and their mutants refuted; few: of two kernels one mutant in three.
#   clusters.sh DSLC MUTATE SCHEDULES.gemm SCRATCH few|all
set -eu
dslc=$1 mutate=$2 schedules=$3 scratch=$4 how_many=$5
file=$schedules
rm -rf "$scratch"
mkdir -p "$scratch"
proved()
{
	"$dslc" check "$file" "$@" >"$scratch/out" 2>&1
	grep -q ': verified[: ]' "$scratch/out" && [ "$(wc -l <"$scratch/out")" -eq 1 ] && return
	echo "$*:" && cat "$scratch/out" && exit 1
}
shapes="2,1 1,2 2,2 4,1 8,1 4,2 4,4"
[ "$how_many" = all ] || shapes="2,1 2,2" # where a sanitizer makes all slow
for shape in $shapes; do
	for how in slice leader off; do
		proved -DP=on -DR=cooperative -DCM="${shape%,*}" -DCN="${shape#*,}" -DX="$how"
	done
done
proved -DP=on -DR=pingpong -DCM=2
proved -DP=on -DR=none -DCM=2 -DCN=2
proved -DP=off -DR=cooperative -DCM=2
proved -DP=off -DR=cooperative -DCM=2 -DCN=2
proved -DP=off -DR=cooperative -DCM=16
proved -DP=off -DR=cooperative -DCM=16 -DbK=128 -DS=2
if [ "$how_many" = all ]; then
	proved -DP=on -DR=none -DCM=4 -DCN=4
	proved -DP=off -DR=cooperative -DCM=4 -DCN=4 -DW=3 -DbM=192 -DbN=64
fi
# More kinds of warps than there is room for: eight of each CTA are those of three consumers.
"$dslc" check "$(dirname "$schedules")/blend.gemm" -DP=off -DR=cooperative -DCM=4 -DCN=4 \
	-DW=3 -DbM=192 -DbN=64 >"$scratch/out" 2>&1 || [ $? = 4 ]
grep -q 'E0416.*not decided within the limit: it has more than 128 kinds of warps' "$scratch/out" || {
	cat "$scratch/out"
	exit 1
}
# More boxes in a slot: five of each of 16 CTAs.
"$dslc" check "$schedules" -DP=off -DR=cooperative -DCM=16 -DbK=80 -DS=2 >"$scratch/out" 2>&1 || [ $? = 4 ]
grep -q 'E0416.*not decided within the limit: more than 64 boxes fill a slot' "$scratch/out" || {
	cat "$scratch/out"
	exit 1
}
kernels="slice-2,1 leader-1,2 slice-2,2" which=
[ "$how_many" = all ] || { kernels=slice-2,1 && which="-e 3"; }
for kernel in $kernels; do
	shape=${kernel#*-}
	"$dslc" -q --emit=ir -o "$scratch/$kernel.ir" "$file" -DR=cooperative -DP=on \
		-DX="${kernel%-*}" -DCM="${shape%,*}" -DCN="${shape#*,}" -DbN=64 -DS=3
done
# shellcheck disable=SC2086
"$mutate" $which "$scratch"/*.ir
