#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sources that people read are formatted: those of examples/, those that the documents name, and each program, a block with a line
# "kernel NAME(...", of README.md, docs/*.md and docs/book/*.md; but for docs/explain.md, which shows what explain prints.
#   format.sh DSLC ROOT SCRATCH
set -eu
dslc=$1 root=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$root"

# blocks FILE: each block of the file that is a program becomes SCRATCH/FILE.N.gemm
blocks()
{
	awk -v stem="$scratch/$(echo "$1" | tr / -)" '
/^```/ { open = !open; if (!open && program) { printf "%s", text >(stem "." ++n ".gemm") } text = ""; program = 0; next }
open { text = text $0 "\n"; program = program || /^kernel [a-z_]*\(/ }' "$1"
}

for page in README.md docs/*.md docs/book/*.md; do
	[ "$page" = docs/explain.md ] || blocks "$page"
done
# shellcheck disable=SC2046
set -- $(find "$scratch" examples tests/e2e/loops tests/e2e/registers tests/gpu -name '*.gemm')
[ $# -ge 20 ] || { echo "only $# programs were found"; exit 1; }
"$dslc" fmt --check "$@" || { echo "are not formatted: dslc fmt"; exit 1; }
