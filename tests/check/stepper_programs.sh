#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Programs under several schedules, each under two of three by turns, or all with EVERY=1, as it stands: what the verifier proves,
# the stepper finds right.
#   stepper_programs.sh DSLC MUTANTS SCRATCH FILE...     [EVERY=1]
set -eu
dslc=$1 mutants=$2 scratch=$3
shift 3
rm -rf "$scratch"
mkdir -p "$scratch"
turn=0
for file; do
	for schedule in "none -DR=none" "pingpong -DR=pingpong -DP=on" "cluster -DR=cooperative -DCM=2" ""; do
		turn=$((turn + 1))
		[ -n "$schedule" ] || continue
		[ "${EVERY:-0}" = 1 ] || [ $((turn % 3)) != 0 ] || continue
		"$dslc" -q -Wno-N0401 --emit=ir -o "$scratch/$(basename "$file" .gemm)-${schedule%% *}.ir" "$file" ${schedule#* }
	done
done
for kernel in "$scratch"/*.ir; do
	"$mutants" -u "$kernel" >"$scratch/said" 2>&1 && grep -q " 1 proved" "$scratch/said" || {
		cat "$scratch/said"
		exit 1
	}
done
