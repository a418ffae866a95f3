#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bad.sh DSLC FILE [OPTION...]: dslc says of FILE exactly what its comments expect, and writes nothing
# if that holds an error. Comments begin with // or, in IR, with #:
#     // error E0201: text | help: text      of this line; several may follow each other
#     // warning@7 W0203: text               of line 7; 0: of no line of the file; alone in a line: of any
#     // error E0402: text ..                the message goes on; .. text: something stands before
#     // define bN=128                       -DbN=128
#     // no kernel                           -fsyntax-only
set -u
dslc=$1 file=$2
shift 2
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
mark='//'
case $file in *.ir) mark='#' ;; esac
# shellcheck disable=SC2013
for define in $(sed -n "s,^.*$mark define ,,p" "$file"); do
	set -- "$@" "-D$define"
done
! grep -q "$mark no kernel" "$file" || set -- "$@" -fsyntax-only

"$dslc" "$@" --color=never -o "$scratch/written" "$file" >"$scratch/out" 2>"$scratch/err"
code=$?
fail()
{
	echo "$file: $*"
	cat "$scratch/err"
	exit 1
}

awk -v mark="$mark" -v file="$file" '
function expect(line, s,   at)
{
	n++
	match(s, /^(error|warning)/)
	word[n] = substr(s, 1, RLENGTH)
	s = substr(s, RLENGTH + 1)
	if (match(s, /^@[0-9]+/)) {
		line = substr(s, 2, RLENGTH - 1)
		s = substr(s, RLENGTH + 1)
	}
	sub(/[ \r]+$/, "", s)
	at = index(s, " | help: ")
	help[n] = at ? substr(s, at + 9) : ""
	s = at ? substr(s, 1, at - 1) : s
	match(s, /^ [A-Z][0-9]+: /)
	code[n] = substr(s, 2, RLENGTH - 3)
	text[n] = substr(s, RLENGTH + 1)
	where[n] = line
}

# Whether got is what is written with ".." for what is left out.
function like(got, want,   from)
{
	from = sub(/^\.\. /, "", want)
	if (!sub(/ \.\.$/, "", want))
		return from ? substr(got, length(got) - length(want) + 1) == want : got == want
	return from ? index(got, want) : index(got, want) == 1
}

function settle(   i)
{
	if (!came)
		return
	for (i = 1; i <= n; i++)
		if (!met[i] && (where[i] == "any" || where[i] + 0 == line) && code[i] == id && word[i] == severity &&
		    like(said, text[i]) && (help[i] == "" || like(remedy, help[i]))) {
			met[i] = 1
			break
		}
	if (i > n)
		complain("not expected: " line ": " id ": " said (remedy == "" ? "" : " | help: " remedy))
	# What is not built yet: the message says what is.
	if (id == "E0301" && remedy == "" && substr(said, index(said, ":") + 1) !~ /[;:]/)
		complain("says not what is built: " said)
	came = 0
}

function complain(what)
{
	print what
	bad = 1
}

FILENAME == ARGV[1] {
	rest = $0
	alone = $0 ~ "^[ \t]*" mark
	while (match(rest, mark " (error|warning)[@ ]")) {
		rest = substr(rest, RSTART + length(mark) + 1)
		part = rest
		if (match(part, " " mark " (error|warning)[@ ]"))
			part = substr(part, 1, RSTART - 1)
		expect(alone ? "any" : FNR, part)
	}
	next
}

match($0, /(^|: )(error|warning)\[[A-Z][0-9]+\]: /) {
	settle()
	came = 1
	remedy = ""
	place = substr($0, 1, RSTART - 1)
	said = substr($0, RSTART + RLENGTH)
	id = substr($0, RSTART, RLENGTH)
	severity = id ~ /error/ ? "error" : "warning"
	gsub(/.*\[|\]: $/, "", id)
	line = 0
	if (match(place, /:[0-9]+:[0-9]+$/) && substr(place, 1, RSTART - 1) == file)
		line = substr(place, RSTART + 1) + 0
	next
}

/^ *help: / && remedy == "" {
	remedy = $0
	sub(/^ *help: /, "", remedy)
}

END {
	settle()
	for (i = 1; i <= n; i++)
		if (!met[i])
			complain("did not come: " where[i] ": " code[i] ": " text[i])
	if (!n)
		complain("nothing is expected")
	exit bad
}' "$file" "$scratch/err" || fail "other messages"
if grep -q "$mark error[@ ]" "$file"; then
	case $code in 1 | 3) ;; *) fail "dslc exits with $code" ;; esac
	if [ -e "$scratch/written" ] || [ -s "$scratch/out" ]; then fail "something was written"; fi
else
	[ $code = 0 ] || fail "dslc exits with $code"
fi
