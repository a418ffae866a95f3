#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every source also compiles without a warning under clang, with the flags of the build.
#   clang.sh BUILD          generated files are left out
set -eu
cd "$1"
sed -n 's/^ *"command": "\(.*\)",\{0,1\}$/\1/p' compile_commands.json | sed 's/\\\(["\\]\)/\1/g' |
	grep -v -e "-c $1/" |
	sed -e 's/^[^ ]* /clang-22 -fsyntax-only /' -e 's/ -o [^ ]* / /' -e 's/ -c / /' >clang_commands
[ -s clang_commands ] || { echo "no commands"; exit 1; }
xargs -P "$(nproc)" -d '\n' -n 1 sh -c <clang_commands
