#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Nothing grows past what can be read: no function above 45 lines, no line above 100 columns (tables,
# .def, may be wide). What is longer is named below, with its own bound and the reason; what is no
# longer so long leaves the list.
#   size.sh ROOT
set -eu
cd "$1"
longer='
driver/explain/facts.c take 60: a case for each op that is told of
tests/check/random_run.c advance 50: a case for each step
tests/check/stepper_run.c step 75: a case for each step
tests/check/stepper_trace_op.c trace_step 60: a case for each op
tests/fuzz/ir_mutants.c change_number 50: a case for each change
'
find base layout ir frontend passes verify codegen runtime sim check driver examples tests -path tests/lint/bad -prune -o \
	\( -name '*.[chly]' -o -name '*.def' \) -print 2>/dev/null | sort | xargs awk -v longer="$longer" '
BEGIN {
	n = split(longer, row, "\n")
	for (i = 1; i <= n; i++) {
		split(row[i], part, ": ")
		key = part[1]
		sub(/ [0-9]+$/, "", key)
		limit[key] = substr(part[1], length(key) + 2)
	}
}

function width(line,   n, i)
{
	n = 0
	for (i = 1; i <= length(line); i++)
		n = substr(line, i, 1) == "\t" ? n + 8 - n % 8 : n + 1
	return n
}

function complain(what)
{
	printf "%s\n", what
	bad = 1
}

# bound(key, lines, usual, what): whether what is called key may have so many lines
function bound(key, lines, usual, what,   most)
{
	most = key in limit ? limit[key] : usual
	if (lines > most)
		complain(what lines " lines, " most " allowed")
	if (key in limit && lines <= usual)
		complain(what lines " lines: size.sh need not name it")
}

FNR == 1 { start = 0 }

length($0) > 50 && FILENAME !~ /\.def$/ && width($0) > 100 {
	complain(FILENAME ":" FNR ": " width($0) " columns, 100 allowed")
}

match($0, /^[a-zA-Z][^=]*\(/) { name = substr($0, RSTART, RLENGTH) }

/^\{/ {
	start = FNR
	match(name, /[A-Za-z0-9_]+\(/)
	name = substr(name, RSTART, RLENGTH - 1)
}

/^\}/ && start {
	bound(FILENAME " " name, FNR - start - 1, 45, FILENAME ":" start ": function of ")
	start = 0
}

END { exit bad }
'
