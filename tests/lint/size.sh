#!/bin/sh
# Nothing grows past what can be read: no file above 900 lines, no function above 80, no line
# above 100 columns (tables, .def, may be wide).
#   size.sh ROOT
set -eu
cd "$1"
find ir frontend passes codegen runtime driver python examples tests -path tests/lint/bad -prune -o \
	\( -name '*.[chly]' -o -name '*.def' \) -print 2>/dev/null | sort | xargs awk '
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

function file_end()
{
	if (lines > 900)
		complain(file ": " lines " lines, 900 allowed")
}

FNR == 1 {
	file_end()
	file = FILENAME
	start = 0
}

{ lines = FNR }

length($0) > 50 && FILENAME !~ /\.def$/ && width($0) > 100 {
	complain(FILENAME ":" FNR ": " width($0) " columns, 100 allowed")
}

/^\{/ { start = FNR }

/^\}/ && start {
	if (FNR - start - 1 > 80)
		complain(FILENAME ":" start ": function of " FNR - start - 1 " lines, 80 allowed")
	start = 0
}

END {
	file_end()
	exit bad
}
'
