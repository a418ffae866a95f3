#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh DSLC FILECHECK PASS FILE: runs one pass alone on the IR in FILE.
# A good file holds FileCheck lines. A file under bad/ holds "# error CODE: text" lines, exactly the errors
# that must come, and "# help: text" lines that must be among the output.
set -u
dslc=$1 filecheck=$2 pass=$3 file=$4
out=$(mktemp) && trap 'rm -f "$out"' EXIT
fail() { echo "$file: $1"; cat "$out"; exit 1; }

case $file in
*/bad/*)
	"$dslc" --only="$pass" --emit=ir -o /dev/null "$file" 2>"$out"
	[ $? -eq 1 ] || fail "exit code 1 is expected"
	expected=$(grep -c '^# error ' "$file")
	[ "$expected" -gt 0 ] || fail "the file expects nothing"
	[ "$(grep -c 'error\[' "$out")" -eq "$expected" ] || fail "$expected errors are expected"
	sed -n 's/^# error \(E[0-9]*\): \(.*\)/error[\1]: \2/p; s/^# help: \(.*\)/help: \1/p' "$file" |
	while IFS= read -r line; do
		grep -qF -- "$line" "$out" || { echo "missing: $line"; exit 1; }
	done || fail "a message is missing"
	;;
*)
	"$dslc" --only="$pass" --emit=ir -o - "$file" >"$out" || fail "the pass failed"
	"$filecheck" --input-file="$out" "$file" || fail "the text differs"
	;;
esac
