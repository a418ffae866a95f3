#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The PTX of an .ir file, against the CHECK lines in it.
#   check.sh TOOL FILECHECK FILE.ir
set -eu
out=$("$1" "$3")
printf '%s\n' "$out" | "$2" "$3"
