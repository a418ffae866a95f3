#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# patterns.sh DSLC FILE: what dslc check says of a kernel. The file, as pattern.sh makes it, holds
# "# error CODE: text" lines, exactly the messages that must come, or "# verified", or
# "# warning W0411: text" or W0412: what comes with --unproved, and is E0415 or E0416 without.
set -u
dslc=$1 file=$2
out=$(mktemp) && trap 'rm -f "$out"' EXIT
fail() { echo "$file: $1"; cat "$out"; exit 1; }

if grep -q '^# warning W041[12]' "$file"; then
	"$dslc" check --unproved "$file" >"$out" 2>&1 || fail "--unproved does not let it pass"
	[ "$(grep -cE '(error|warning)\[' "$out")" -eq 1 ] || fail "one warning is expected"
	grep -qF -- "$(sed -nE 's/^# warning (W041[12])/warning[\1]/p' "$file")" "$out" || fail "the warning is missing"
	"$dslc" check "$file" >"$out" 2>&1
	[ $? -eq 4 ] || fail "it is not exit code 4"
	error=$(sed -n 's/^# warning W0411/error[E0415]/p; s/^# warning W0412/error[E0416]/p' "$file")
	grep -qF -- "$error" "$out" || fail "the error is missing"
	grep -q -- '--unproved compiles it all the same' "$out" || fail "no remedy is named"
	! grep -q verified "$out" || fail "it must not be verified"
	exit 0
fi
"$dslc" check "$file" >"$out" 2>&1
code=$?
if grep -q '^# verified$' "$file"; then
	[ $code -eq 0 ] && grep -q ': verified.*: no hang, no race on slots, bytes as announced' "$out" &&
		[ "$(wc -l <"$out")" -eq 1 ] || fail "it is not verified"
	exit 0
fi
expected=$(grep -c '^# error ' "$file")
[ "$expected" -gt 0 ] || fail "the file expects nothing"
[ "$(grep -cE '(error|warning)\[' "$out")" -eq "$expected" ] || fail "$expected messages are expected"
[ $code -eq 1 ] || fail "exit code $code"
! grep -q verified "$out" || fail "it must not be verified"
sed -nE 's/^# error (E[0-9]*): (.*)/error[\1]: \2/p' "$file" | while IFS= read -r line; do
	grep -qF -- "$line" "$out" || { echo "missing: $line"; exit 1; }
done || fail "a message is missing"
# What a run refutes comes with that run.
! grep -qE '^# error E041[12]: .*(no role|known|in flight|exits)' "$file" ||
	grep -q '^   IR  line  ' "$out" || fail "no timeline"
