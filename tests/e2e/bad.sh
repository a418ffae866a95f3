#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Programs that the whole compiler must refuse: each line of FILE that ends in
#   // error E0401: text | help: text
# gives exactly one error there, with that code and that text, and there are no others.
#   bad.sh DSLC FILE
set -eu
dslc=$1 file=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

code=0
"$dslc" "$file" -o "$out/cubin" >"$out/stdout" 2>"$out/err" || code=$?
fail()
{
	echo "$file: $*"
	cat "$out/err"
	exit 1
}
[ "$code" = 1 ] || [ "$code" = 3 ] || fail "dslc exits with $code"
[ ! -e "$out/cubin" ] && [ ! -s "$out/stdout" ] || fail "something was written"

sed -n 's/^\([^ ].*\):\([0-9]*\):[0-9]*: error\[\(E[0-9]*\)\]: \(.*\)/\2 \3: \4/p' "$out/err" >"$out/got"
grep -c 'error\[E' "$out/err" >"$out/count" || true
grep -n '// error ' "$file" | sed 's/^\([0-9]*\):.*\/\/ error /\1 /' >"$out/want" || true
[ -s "$out/want" ] || fail "it expects no error"
[ "$(wc -l <"$out/want")" = "$(cat "$out/count")" ] ||
	fail "$(cat "$out/count") errors, $(wc -l <"$out/want") are expected"
while read -r line rest; do
	text=${rest%% | help: *}
	awk -v line="$line" -v code="${text%%: *}:" -v text="${text#*: }" \
		'$1 == line && $2 == code && index($0, text) { found = 1 } END { exit !found }' \
		"$out/got" || fail "no '$text' at line $line"
	case $rest in
	*" | help: "*) grep -qF "help: ${rest#* | help: }" "$out/err" || fail "no help" ;;
	esac
done <"$out/want"
