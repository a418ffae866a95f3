#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What is not built yet says what is: in its help, or in the sentence, "mma_sync; wgmma is".
#   later.sh DSLC FILE.gemm...
set -eu
dslc=$1 found=0 bad=0
shift
said=$(mktemp) && trap 'rm -f "$said"' EXIT
for file; do
	"$dslc" --diagnostics=json --stop-after=frontend -o /dev/null "$file" 2>&1 | grep '"code":"E0301"' >"$said" || continue
	found=$((found + $(wc -l <"$said")))
	! grep -v -e '"help":' -e '; [^"]* \(is\|are\)' "$said" || { echo "$file: what is built?"; bad=1; }
done
[ "$found" -gt 20 ] || { echo "only $found messages"; bad=1; }
exit $bad
