#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The include arrows between the rooms, read from the text; the build enforces the same by
# include directories, and neither knows of the other.
#   includes.sh ROOT        prints each forbidden include as file:line: room may not include header
set -eu
cd "$1"
find base layout ir frontend passes verify codegen runtime sim check driver python -name '*.[chly]' -o -name '*.def' 2>/dev/null |
	sort | xargs awk '
function public(header)
{
	return header ~ /^(base\/(base|ptrmap)\.h|layout\/(layout|ix|banks)\.h|ir\/(ir|schedule)\.h|(base|layout|ir)\/[a-z_]*\.def)$/ ||
		header ~ /^(frontend\/frontend|passes\/passes|verify\/check|codegen\/(codegen|json|spawn)|check\/problem|driver\/dslc)\.h$/ ||
		header ~ /^runtime\/((dsl|desc|kdesc|elem|number|tensors|gpu|cost)\.h|(costs|elems|variants)\.def)$|^sim\/watch\.h$/ || header ~ /^(frontend\/words|(passes|verify)\/([a-z]*\/)?[a-z_]*)\.def$/
}

function allowed(from, to, header)
{
	if (from == to)
		return 1
	if ((from ~ /^(layout|ir)$/ && header == "base/ctx.h") || (from == "sim" && header ~ /^runtime\/(rt\.h|device_ops\.def)$/) ||
	    (from == "ir" && header == "runtime/held.def"))
		return 1
	if (public(header) && from == "python")
		return to == "driver" || to == "runtime"
	if (header ~ /^runtime\/(elem\.h|elems\.def|number\.h|swizzle\.h|swizzles\.def)$/ && from ~ /^(ir|frontend|passes|verify|codegen)$/)
		return 1
	if (!public(header) || to == "driver")
		return 0
	if (from == "driver")
		return 1
	if (from == "sim")
		return to == "runtime"
	if (from == "check")
		return to ~ /^(base|layout|ir|runtime)$/
	if (from == "layout")
		return to == "base"
	if (from == "ir")
		return to ~ /^(base|layout)$/
	if (from == "codegen" && header ~ /^runtime\/(kdesc\.h|cost\.h|variants\.def)$/)
		return 1
	return to ~ /^(base|layout|ir)$/ && from ~ /^(frontend|passes|verify|codegen)$/
}

function complain(what)
{
	printf "%s:%d: %s\n", FILENAME, FNR, what
	bad = 1
}

{
	room = FILENAME
	sub(/\/.*/, "", room)
}

/^[ \t]*#[ \t]*include[ \t]*["<]/ {
	system_form = $0 ~ /</
	header = $0
	sub(/^[^"<]*["<]/, "", header)
	sub(/[">].*/, "", header)
	target = header
	sub(/\/.*/, "", target)
	if (header ~ /(^|\/)\.\.\//)
		complain("no include may climb: " header)
	else if (target ~ /^(base|layout|ir|frontend|passes|verify|codegen|runtime|sim|check|driver|python)$/ && header ~ /\// &&
		 !allowed(room, target, header))
		complain(room " may not include " header)
	else if (header ~ /^llvm/ && room != "codegen")
		complain("only codegen may include " header)
	else if (header == "cuda.h" && room != "runtime")
		complain("only runtime may include " header)
	else if (system_form && header ~ /^(base|layout|ir|frontend|passes|verify|codegen|runtime|sim|check|driver)\//)
		complain("project headers take quotes: " header)
}

END { exit bad }
'
