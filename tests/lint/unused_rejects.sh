#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# unused.sh rejects what nothing uses: its bad tree is compiled, and each complaint expected.
#   unused_rejects.sh LINT CC
set -eu
lint=$1 cc=$2
tree=$lint/bad/unused
build=$(mktemp -d) && trap 'rm -rf "$build"' EXIT
for source in ir/a.c ir/b.c tests/ir/a.c; do
	folder=$build/${source%/*}/CMakeFiles/x.dir
	mkdir -p "$folder"
	"$cc" -c -o "$folder/${source##*/}.o" "$tree/$source"
done
got=$("$lint/unused.sh" "$tree" "$build") && { echo "accepted"; exit 1; }
echo "$got" | diff - "$tree/expected"
