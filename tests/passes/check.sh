#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh DSLC FILECHECK HOW FILE: runs one pass alone, or a few, on the IR in FILE: --only=PASS, --stop-after=PASS.
# The file holds FileCheck lines.
set -u
dslc=$1 filecheck=$2 how=$3 file=$4
out=$(mktemp) && trap 'rm -f "$out"' EXIT
fail() { echo "$file: $1"; cat "$out"; exit 1; }

"$dslc" "$how" --emit=ir -o - "$file" >"$out" || fail "a pass failed"
"$filecheck" --input-file="$out" "$file" || fail "the text differs"
