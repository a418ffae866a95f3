#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Cubins of an older ptxas (12.9) on a machine with a GPU: the examples and their schedules compile with it, load
# and give the right result. A PASS or FAIL line each; the exit code is the number of those that failed.
#   ptxas12.sh DSLC PTXAS ROOT
set -u
dslc=$1 ptxas=$2 root=$3
"$ptxas" --version | tail -n 2
failed=0

# try NAME ARGS...
try()
{
	name=$1
	shift
	if said=$("$dslc" run "$@" --ptxas-path="$ptxas" --device cuda:0 2>&1); then
		echo "PASS  $name: $(echo "$said" | tail -n 1)"
	else
		echo "FAIL  $name"
		echo "$said" | sed 's/^/      /'
		failed=$((failed + 1))
	fi
}

size=M=1000,N=1032,K=520
for n in 64 128 256; do
	try "gemm, N tile $n" "$root/examples/gemm/gemm.gemm" -DbN=$n --size $size
done
# The schedules of dslc bench, each as a file of its own.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
grep -v '^#' "$root/examples/gemm/schedules.txt" | while IFS= read -r line; do
	block=${line#*schedule}
	defines=${line#*:}
	defines=${defines%%schedule*}
	sed "s/^    schedule .*/    schedule$(echo "$block" | sed 's,/,\\/,g')/" "$root/examples/gemm/gemm.gemm" \
		>"$scratch/${line%%:*}.gemm"
	echo "$defines" >"$scratch/${line%%:*}.defines"
done
for file in "$scratch"/*.gemm; do
	# shellcheck disable=SC2046
	try "$(basename "$file" .gemm)" "$file" $(cat "${file%.gemm}.defines") --size $size
done
try product "$root/examples/with-cmake/product.gemm" --size M=500,N=520,K=264
echo "$failed failed"
exit $failed
