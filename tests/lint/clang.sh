#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every source also compiles without a warning under clang, with the definitions, folders and warnings of the build.
#   clang.sh BUILD          generated files are left out
# What says how code is made (-f.., -O.., -g) or for which library (-D.._EXPORTS) tells no warnings apart, but would tell groups
# apart: clang starts in more time than it reads a source in, so one process reads all that have the same flags: the
# command that clang's driver would run (-###) takes several files, the driver itself runs one for each.
set -eu
cd "$1"
sed -n 's/^ *"command": "\(.*\)",\{0,1\}$/\1/p' compile_commands.json | sed 's/\\\(["\\]\)/\1/g' |
	grep -v -e "-c $1/" |
	sed -e 's/^[^ ]* /clang-22 -fsyntax-only /' -e 's/ -o [^ ]* / /' -e 's/ -c / /' \
		-e 's/ -[fOg][^ ]*//2g' -e 's/ -D[^ ]*_EXPORTS / /' | sort -u >clang_commands
[ -s clang_commands ] || { echo "no commands"; exit 1; }
awk '{
	file = $NF
	sub(/ [^ ]*$/, "")
	if (!($0 in first))
		first[$0] = file
	else
		more[$0] = more[$0] " " file
}
END {
	for (flags in first)
		printf "eval \"$(%s -### %s 2>&1 | tail -n 1)\"%s\n", flags, first[flags], more[flags]
}' clang_commands >clang_groups
xargs -P "$(nproc)" -d '\n' -n 1 sh -c <clang_groups
