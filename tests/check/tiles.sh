#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Masks that tiles decide, of clusters and boxes of many shapes, are what they are for numbers.
#   tiles.sh DSLC TILES TESTS SCRATCH
set -eu
dslc=$1 tiles=$2 tests=$3 scratch=$4
rm -rf "$scratch"
mkdir -p "$scratch"
for shape in "2 1 3 1" "1 2 1 3" "2 2 3 1" "2 2 3 2" "3 1 2 1" "4 1 1 3" "2 2 5 3" "2 1 5 2" "3 1 2 2"; do
	# shellcheck disable=SC2086
	set -- $shape
	"$dslc" -q --emit=ir --verify=off -o "$scratch/$1-$2-$3-$4.ir" "$tests/e2e/boxes.gemm" \
		-DW=1 -DbM=64 -DCM="$1" -DCN="$2" -DBM="$3" -DBN="$4"
done
"$tests/check/pattern.sh" "$tests/check/patterns/cluster_way_open.edit" >"$scratch/open.ir"
"$tiles" "$scratch"/*.ir
