#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Bad epilogues that strangers would write: at least 40 different messages, each with its line, its
# column and a remedy.
#   epilogues.sh DSLC FILE.gemm...
set -eu
dslc=$1 bad=0
shift
all=$(mktemp) && trap 'rm -f "$all" "$all".*' EXIT
for file; do
	"$dslc" --diagnostics=json --stop-after=frontend -o /dev/null "$file" 2>>"$all" && { echo "$file: no error"; bad=1; }
done
grep '"severity":"error"' "$all" >"$all.errors"
! grep -v -e '"line":[1-9][0-9]*,"column":[1-9].*"help":".' "$all.errors" || { echo "no place, or no remedy"; bad=1; }
sed 's/.*"message":"\(.*\)","file".*/\1/' "$all.errors" | sort -u >"$all.messages"
count=$(wc -l <"$all.messages")
[ "$count" -ge 40 ] || { echo "only $count messages"; bad=1; }
exit $bad
