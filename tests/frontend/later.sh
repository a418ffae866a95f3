#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What is not built yet says what is: in its help, or in the sentence, "mma_sync; wgmma is".
#   later.sh DSLC FILE.gemm...
set -eu
dslc=$1 bad=0
shift
said=$(mktemp) && trap 'rm -f "$said"' EXIT
"$dslc" --diagnostics=json --stop-after=frontend "$@" 2>&1 >/dev/null | grep '"code":"E0301"' >"$said"
! grep -v -e '"help":' -e '; [^"]* \(is\|are\)' "$said" || { echo "what is built?"; bad=1; }
found=$(wc -l <"$said")
[ "$found" -gt 20 ] || { echo "only $found messages"; bad=1; }
exit $bad
