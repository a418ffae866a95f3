#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# pattern.sh FILE...: the kernels of patterns, on standard output; pattern.sh FOLDER OUT: all of a
# folder, each as OUT/NAME.ir. A pattern NAME.ir is one as it stands. NAME.edit is a base with
# changes, each of which must apply at one place, or this fails:
#     # The producer does not wait.        comments and expectations, kept
#     base relay                           bases/relay.ir, or the kernel of the pattern relay, without its comments
#     @@                                   the lines after ' ' and '-' stand at one place of the
#      mbar.expect %full[slot] bytes=64    base, after that of the change before; then the lines
#     -mbar.wait %empty[slot] (phase)      of '-' go and those of '+' come
set -eu

made()
{
	case $1 in
	*.ir) cat "$1" ;;
	*) edited "$1" "$(dirname "$1")/" ;;
	esac
}

edited()
{
	awk -v folder="$2" -v script="$(realpath "$0")" -v depth="${PATTERN_DEPTH:-0}" '
function fail(what)
{
	printf "%s:%d: %s\n", FILENAME, start, what >"/dev/stderr"
	failed = 1
	exit 1
}

function read_base(name,   command, line, comments)
{
	if (depth > 3)
		fail("base " name " has a base, and so on")
	comments = 1
	command = "cd \"" folder "\" && for file in bases/" name ".ir " name ".ir " name ".edit; do " \
		"[ ! -f $file ] || { PATTERN_DEPTH=" depth + 1 " \"" script "\" ./$file; break; }; done"
	while ((command | getline line) > 0) {
		comments = comments && line ~ /^#/
		if (!comments)
			base[++n] = line
	}
	if (!n)
		fail("no base " name)
}

# Where the lines of the hunk stand: the first line, or 0.
function place(   at, i, found)
{
	for (at = 1; at + olds - 1 <= n; at++) {
		for (i = 1; i <= olds && base[at + i - 1] == old[i]; i++)
			;
		if (i <= olds)
			continue
		if (found)
			fail("the change applies at lines " found " and " at " of the base")
		found = at
	}
	return found
}

function apply(   at, i)
{
	if (!start)
		return
	if (!olds)
		fail("the change says no place")
	at = place()
	if (at < next_line)
		fail(at ? "the change stands before the one above it" : "the change does not apply")
	while (next_line < at)
		print base[next_line++]
	for (i = 1; i <= news; i++)
		print new[i]
	next_line = at + olds
	olds = news = 0
}

BEGIN { next_line = 1 }

!n && /^#/ {
	print
	next
}

!n {
	start = FNR
	if ($1 != "base" || NF != 2)
		fail("\"base NAME\" is expected")
	read_base($2)
	start = 0
	next
}

/^@@$/ {
	apply()
	start = FNR
	next
}

!start || !/^[-+ ]/ {
	start = FNR
	fail("\"@@\" or a line of a change is expected")
}

/^[- ]/ { old[++olds] = substr($0, 2) }

/^[+ ]/ { new[++news] = substr($0, 2) }

END {
	if (failed)
		exit 1
	apply()
	while (next_line <= n)
		print base[next_line++]
}' "$1"
}

if [ -d "$1" ]; then
	mkdir -p "$2"
	rm -f "$2"/*.ir
	for file in "$1"/*.edit "$1"/*.ir; do
		name=${file##*/}
		made "$file" >"$2/${name%.*}.ir"
	done
else
	for file; do
		made "$file"
	done
fi
