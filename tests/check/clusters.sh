#!/bin/sh
# Clusters of every shape are proved, and their mutants refuted.
#   clusters.sh DSLC MUTATE SCHEDULES.gemm SCRATCH
set -eu
dslc=$1 mutate=$2 file=$3 scratch=$4
rm -rf "$scratch"
mkdir -p "$scratch"
proved()
{
	"$dslc" check "$file" "$@" >"$scratch/out" 2>&1
	grep -q ': verified: ' "$scratch/out" && [ "$(wc -l <"$scratch/out")" -eq 1 ] && return
	echo "$*:" && cat "$scratch/out" && exit 1
}
for shape in 2,1 1,2 2,2 4,1 8,1 4,2; do
	for how in slice leader off; do
		proved -DP=on -DR=cooperative -DCM="${shape%,*}" -DCN="${shape#*,}" -DX="$how"
	done
done
proved -DP=on -DR=pingpong -DCM=2
proved -DP=on -DR=none -DCM=2 -DCN=2
proved -DP=off -DR=cooperative -DCM=2
proved -DP=off -DR=cooperative -DCM=2 -DCN=2
proved -DP=off -DR=cooperative -DCM=4 -DCN=4 -DX=off
for kernel in slice-2,1 leader-1,2 slice-2,2; do
	shape=${kernel#*-}
	"$dslc" -q --emit=ir -o "$scratch/$kernel.ir" "$file" -DR=cooperative -DP=on \
		-DX="${kernel%-*}" -DCM="${shape%,*}" -DCN="${shape#*,}" -DbN=64 -DS=3
done
"$mutate" "$scratch"/*.ir
