#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A page that says what is not so fails, and says where: bad/NAME.md, whose first line has the words; all_NAME.md is a page of the book.
#   rejects.sh FOLDER SCRATCH PYTHON
set -eu
folder=$1 scratch=$2 python=$3
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
count=0
for page in "$folder"/bad/*.md; do
	words=$(sed -n '1s/^<!-- fails: \(.*\) -->$/\1/p' "$page")
	[ -n "$words" ] || { echo "$page names no words"; exit 1; }
	case $page in */all_*) all=--all ;; *) all= ;; esac
	# shellcheck disable=SC2086
	"$python" "$folder/page.py" $all "$page" >out 2>&1 && { echo "$page passes"; exit 1; }
	grep -qF "$words" out || { echo "$page does not fail with: $words"; cat out; exit 1; }
	count=$((count + 1))
done
[ $count -ge 13 ]
