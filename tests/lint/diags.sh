#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every message the compiler can give is seen by some test: each code of base/diags*.def stands in
# a file under tests/.
#   diags.sh ROOT
set -eu
cd "$1"
status=0
codes=$(sed -n 's/^DIAG(\([A-Z][0-9]*\),.*/\1/p' base/diags*.def)
[ -n "$codes" ] || { echo "base/diags*.def: no codes"; exit 1; }
for code in $codes; do
	grep -rqw "$code" tests --exclude-dir=lint ||
		{ echo "$code: no test expects it"; status=1; }
done
[ -z "$(echo "$codes" | sort | uniq -d)" ] ||
	{ echo "code twice: $(echo "$codes" | sort | uniq -d)"; status=1; }
exit $status
