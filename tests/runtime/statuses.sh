#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every status of status.def is asked for by name in some test of the runtime or the simulator, or of what both do with a compiled kernel.
#   statuses.sh ROOT
set -eu
status=0
for id in $(sed -n 's/^DSL_STATUS(\([A-Z_]*\),.*/\1/p' "$1/runtime/status.def"); do
	grep -q "DSL_$id\b" "$1"/tests/runtime/*.c "$1"/tests/sim/*.c "$1"/tests/e2e/*.c || {
		echo "no test sees DSL_$id"
		status=1
	}
done
exit $status
