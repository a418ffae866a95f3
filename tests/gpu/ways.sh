#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Operands that TMA cannot take where they lie, on a machine with a Hopper GPU and PyTorch:
#   ways.sh DIR [RESULTS] [ROUNDS]      DIR is what pack.sh gathered
# The copies by themselves, kernels after them bit for bit (ways.py), then times beside torch and beside aligned operands (against_torch.py). The exit code is the number of parts that failed.
set -u
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../.." && pwd)
dir=$(CDPATH= cd -- "$1" && pwd)
results=${2:-results} rounds=${3:-30}
mkdir -p "$results"
results=$(CDPATH= cd -- "$results" && pwd)
failures=0

part()
{
	name=$1
	shift
	if "$@" >"$results/ways_$name.log" 2>&1; then
		echo "$name: ok"
	else
		echo "$name: FAILED"
		failures=$((failures + 1))
	fi
	tail -n 30 "$results/ways_$name.log"
}
export DSL_TEST_DEVICE=cuda:0
part copies "$dir/test_runtime_repack"
part exact python3 "$here/ways.py" "$dir"
part times python3 "$here/against_torch.py" "$dir" --rounds "$rounds" --works odd,odd_lda,odd_once --out "$results/ways.json"
! grep -q WRONG "$results/ways_times.log" || failures=$((failures + 1))
exit $failures
