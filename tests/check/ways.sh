#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every way that results leave and C comes is verified, under every schedule, of one size of three by turns, or of all with EVERY=1.
#   ways.sh DSLC TESTS     [EVERY=1]
set -eu
dslc=$1 tests=$2
n=0
for file in "$tests/e2e/schedules.gemm" "$tests/e2e/blend.gemm" "$tests"/sim/outputs/*.gemm; do
	for schedule in none-off none-on cooperative-off cooperative-on pingpong-on; do
		for tile in "-DbN=96 -DS=3" "-DbN=40" "-DbN=80 -DS=2 -DI=0"; do
			n=$((n + 1))
			[ "${EVERY:-0}" = 1 ] || [ $((n % 3)) = $((n / 15 % 3)) ] || continue
			said=$("$dslc" check "$file" -DR="${schedule%-*}" -DP="${schedule#*-}" $tile 2>&1) || true
			echo "$said" | grep -q ': verified[: ]' && ! echo "$said" | grep -q 'E0415' ||
				{ echo "$file $schedule $tile:"; echo "$said"; exit 1; }
		done
	done
done
[ $n -ge 90 ] || { echo "only $n kernels"; exit 1; }
