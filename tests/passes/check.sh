#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh DSLC FILECHECK PASS FILE: runs one pass alone on the IR in FILE.
# The file holds FileCheck lines.
set -u
dslc=$1 filecheck=$2 pass=$3 file=$4
out=$(mktemp) && trap 'rm -f "$out"' EXIT
fail() { echo "$file: $1"; cat "$out"; exit 1; }

"$dslc" --only="$pass" --emit=ir -o - "$file" >"$out" || fail "the pass failed"
"$filecheck" --input-file="$out" "$file" || fail "the text differs"
