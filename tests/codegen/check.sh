#!/bin/sh
# What codegen makes of an .ir file, against the CHECK lines in it.
#   check.sh TOOL FILECHECK ptx|manifest FILE.ir
set -eu
out=$("$1" "$3" "$4")
printf '%s\n' "$out" | "$2" "$4"
