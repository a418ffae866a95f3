#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every test that tests/ITEMS.md names is one of ctest's (with -C each: those too that a test of many runs by itself), every file that it names exists, and what it
# says in parentheses stands in the tests.
#   items.sh SOURCE [BUILD]      without BUILD the names are those of the file SOURCE/names
set -eu
root=$1 items=$1/tests/ITEMS.md bad=0
tab=$(mktemp) && trap 'rm -f "$tab" "$tab.names"' EXIT
if [ -n "${2:-}" ]; then
	ctest --test-dir "$2" -C each -N | sed -n 's/^ *Test *#[0-9]*: //p' >"$tab.names"
else
	cp "$root/names" "$tab.names"
fi
# line, then ( before a text that must be found, = before a name
awk -F'|' '/^\|/ && !/^\|---/ {
	text = $0
	sub(/^\|[^|]*\|/, "", text)
	open = 0
	while (match(text, /[`()]/)) {
		c = substr(text, RSTART, 1)
		text = substr(text, RSTART + 1)
		if (c == "`") {
			end = index(text, "`")
			print NR, (open ? "(" : "=") substr(text, 1, end - 1)
			text = substr(text, end + 1)
		} else {
			open = c == "("
		}
	}
}' "$items" >"$tab"
while read -r line word; do
	case $word in
	"("*) grep -rqF --exclude=ITEMS.md --exclude-dir=faults -e "${word#(}" "$root/tests" || what="nothing in tests/ says" ;;
	=*/*) [ -e "$root/${word#=}" ] || what="no file" ;;
	=*) grep -qxF -e "${word#=}" "$tab.names" || what="no test" ;;
	esac
	[ -z "${what:-}" ] || { echo "tests/ITEMS.md:$line: $what ${word#?}"; bad=1 what=; }
done <"$tab"
[ "$(wc -l <"$tab")" -gt 2 ] || { echo "tests/ITEMS.md names no tests"; bad=1; }
exit $bad
