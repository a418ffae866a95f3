#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A kernel of 3,000 operations on its result goes through all passes soon: ctest's limit on this
# test is what was a matter of minutes when passes looked through the kernel for each op.
#   large.sh DSLC ROOT
set -eu
dslc=$1 root=$2
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
awk -v n=3000 '
/gD\[m,n\] <- bf16\(acc\)/ {
	print "let x0 = acc * 0.5;"
	for (i = 1; i < n; i++)
		print "let x" i " = x" i - 1 " * 1.5;"
	sub(/acc/, "x" n - 1)
}
{ print }' "$root/examples/gemm/gemm.gemm" >"$scratch/large.gemm"
"$dslc" -q --emit=ir --verify=off -o "$scratch/large.ir" "$scratch/large.gemm"
[ "$(grep -c ' = mul ' "$scratch/large.ir")" -ge 3000 ]
