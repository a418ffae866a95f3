#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Programs that the compiler takes with a note: each line of FILE that ends in
#   // note N0401: text
# gives exactly one there, there are no others, and -Wno- silences them.
#   notes.sh DSLC FILE
set -eu
dslc=$1 file=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fail()
{
	echo "$file: $*"
	cat "$out/err"
	exit 1
}
"$dslc" "$file" -o "$out/cubin" 2>"$out/err" || fail "it does not compile"
[ -s "$out/cubin" ] || fail "nothing was written"
"$dslc" -Werror "$file" -o "$out/cubin" 2>/dev/null || fail "-Werror takes a note for a warning"
grep -n '// note ' "$file" | sed 's/^\([0-9]*\):.*\/\/ note /\1 /' >"$out/want" || true
[ -s "$out/want" ] || fail "it expects no note"
[ "$(wc -l <"$out/want")" = "$(grep -cE '(note|warning|error)\[' "$out/err")" ] || fail "other messages"
while read -r line code text; do
	grep -F ":$line:" "$out/err" | grep -F "note[${code%:}]: " | grep -qF -- "$text" ||
		fail "no '$text' at line $line"
	"$dslc" "$file" "-Wno-${code%:}" --verify=off -o "$out/cubin" 2>"$out/err" && [ ! -s "$out/err" ] ||
		fail "-Wno-${code%:} does not silence it"
done <"$out/want"
