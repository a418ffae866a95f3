#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A right program that once was refused, ended in an internal error or had a wrong result: proved, assembled without a spill, and right on the
# simulator against the interpreter, once for each line "// run: OPTIONS"; or refused with the code of its line "// error: CODE".
#   found.sh DSLC FILE     [DEVICE=cuda:0]
set -eu
dslc=$1 file=$2 ran=0
code=$(sed -n 's/^\/\/ error: //p' "$file")
if [ "$code" ]; then
	! out=$("$dslc" "$file" --emit=cubin -o /dev/null 2>&1) || { echo "$file: compiled"; exit 1; }
	echo "$out" | grep -q "error\[$code\]" || { echo "$file: not $code:"; echo "$out"; exit 1; }
	exit 0
fi
sed -n 's/^\/\/ run: //p' "$file" | {
	while read -r options; do
		out=$("$dslc" run "$file" $options --device "${DEVICE:-sim}" 2>&1) || { echo "$file: $options:"; echo "$out"; exit 1; }
		ran=$((ran + 1))
	done
	[ $ran -gt 0 ]
}
