#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# patterns.sh DSLC FILE: what dslc check says of a kernel. The file, as pattern.sh makes it, holds
# "# error CODE: text" and "# warning CODE: text" lines, exactly the messages that must come, or
# "# verified".
set -u
dslc=$1 file=$2
out=$(mktemp) && trap 'rm -f "$out"' EXIT
fail() { echo "$file: $1"; cat "$out"; exit 1; }

"$dslc" check "$file" >"$out" 2>&1
code=$?
if grep -q '^# verified$' "$file"; then
	[ $code -eq 0 ] && grep -q ': verified.*: no hang, no race on slots, bytes as announced' "$out" &&
		[ "$(wc -l <"$out")" -eq 1 ] || fail "it is not verified"
	exit 0
fi
expected=$(grep -cE '^# (error|warning) ' "$file")
[ "$expected" -gt 0 ] || fail "the file expects nothing"
[ "$(grep -cE '(error|warning)\[' "$out")" -eq "$expected" ] || fail "$expected messages are expected"
grep -q '^# error ' "$file" && want=1 || want=0
[ $code -eq $want ] || fail "exit code $code"
! grep -q verified "$out" || fail "it must not be verified"
sed -nE 's/^# (error|warning) ([EW][0-9]*): (.*)/\1[\2]: \3/p' "$file" | while IFS= read -r line; do
	grep -qF -- "$line" "$out" || { echo "missing: $line"; exit 1; }
done || fail "a message is missing"
# What a run refutes comes with that run.
! grep -qE '^# error E041[12]: .*(no role|known|in flight|exits)' "$file" ||
	grep -q '^   IR  line  ' "$out" || fail "no timeline"
