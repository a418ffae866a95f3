#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# An example in a comment (an arrow between blanks: "  ->  ") stands on a line of its own, set in
# by two blanks or more, or begins the line; it is not joined to the prose around it. The comment at the
# head of a file begins with the name of that file, if with any.
#   comments.sh ROOT
set -eu
cd "$1"
find base layout ir frontend passes verify codegen runtime sim check driver examples tests -path tests/lint/bad -prune -o \
	-name '*.[chly]' -print 2>/dev/null | sort | xargs awk '
FNR == 1 { open = 0 }

/^\/\*/ { open = 1 }

FNR < 4 && /^\/\* [a-z0-9_\/]*\.[chly] - / && FILENAME !~ "/" $2 "$" {
	printf "%s:%d: the head of another file: %s\n", FILENAME, FNR, $0
	bad = 1
}

open && /  ->|->  / && !/^ \*  / && !/^ \* ->/ && !/^\/\*.*\*\/$/ {
	printf "%s:%d: an example within prose: %s\n", FILENAME, FNR, $0
	bad = 1
}

/\*\// { open = 0 }

END { exit bad }
'
