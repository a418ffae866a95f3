#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes the output and the pictures that docs/explain.md and docs/layouts.md show. The test
# driver.explain says when they are old; then, from the root of the project:
#   tools/explain-page.sh build/dev/dslc docs
set -eu
dslc=$1 docs=$2
root=$(cd "$(dirname "$0")/.." && pwd)
page=$(mktemp) text=$(mktemp) loads=$(mktemp)
trap 'rm -f "$page" "$text" "$loads"' EXIT
"$dslc" explain "$root/examples/gemm/gemm.gemm" -o "$text"
"$dslc" explain "$root/tests/e2e/schedules.gemm" -DR=pingpong -DP=on -DbN=256 -DbM=64 -DW=1 \
	--svg "$docs/explain.svg"
"$dslc" layout --svg "$docs/layout.svg" 'Sw<2,3,3> o (8,32):(32,1)' >/dev/null
"$dslc" explain "$root/tests/e2e/schedules.gemm" -DCM=2 -DCN=2 |
	sed -n '/^\/\/:   loads/,/^\/\/:   stores/p' | sed '$d' >"$loads"
[ -s "$loads" ]
awk -v text="$text" -v loads="$loads" '
	/^This is `dslc explain/ { shown = 1 }
	/^`dslc explain .* -DCM=/ { shown = 1; text = loads }
	/^```/ && shown == 2 { shown = 0 }
	shown < 2 { print }
	/^```/ && shown == 1 {
		while ((getline line <text) > 0)
			print line
		shown = 2
	}
' "$docs/explain.md" >"$page"
cat "$page" >"$docs/explain.md"
