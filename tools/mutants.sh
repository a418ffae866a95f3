#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes the table of mutants into tests/check/mutants.md, between its two marks; takes some minutes.
#   mutants.sh BUILD
set -eu
build=$1
root=$(cd "$(dirname "$0")/.." && pwd)
doc=$root/tests/check/mutants.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$root/tests/check/mutate.sh" "$build/dslc" "$build/tests/check/check_mutate" \
	"$root" "$scratch/ir" all >"$scratch/table"
{
	sed '/^<!-- mutants -->$/q' "$doc"
	echo
	tail -n 1 "$scratch/table" | sed "s/ mutants, 0 failed/ mutants of $(ls "$scratch/ir" | grep -c "\.ir\$") kernels:/"
	echo
	echo '| change | of | refuted | harmless | because |'
	echo '|---|---|---|---|---|'
	grep '^|' "$scratch/table"
	echo
	sed -n '/^<!-- end of mutants -->$/,$p' "$doc"
} >"$scratch/doc"
cat "$scratch/doc" >"$doc"
