#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tiles that are dealt out while others are computed, beside tiles at fixed distances, for a machine with a GPU, built where ptxas is:
#   dynamic_cases.sh DSLC ROOT OUT
#     OUT/dynamic/LABEL.cubin   LABEL: ROLES_ROWSxCOLUMNS of a tile, c2: in clusters of two, on or dynamic
#     OUT/works.txt             WORK SIZES LABEL CUBIN, for against_torch.py: mm, triangular, zipf
set -eu
dslc=$1 root=$2 out=$3
rm -rf "$out/dynamic"
mkdir -p "$out/dynamic"

# WORK FILE LABEL -D...: under both; for each of $sizes
both()
{
	work=$1 file=$2 label=$3
	shift 3
	for turns in on dynamic; do
		name=${label}_$turns
		[ -f "$out/dynamic/$work.$name.cubin" ] ||
			"$dslc" -q -Wno-N0401 "$root/$file" -DP=$turns "$@" -o "$out/dynamic/$work.$name.cubin"
		for size in $sizes; do
			echo "$work $(echo "$size" | tr x ' ') $name dynamic/$work.$name.cubin" >>"$out/works.txt"
		done
	done
}
sizes="4096x4096x4096 8192x8192x8192 4224x4224x4096"
both mm tests/e2e/schedules.gemm coop_128x256 -DR=cooperative -DbN=256
both mm tests/e2e/schedules.gemm coop_128x256c2 -DR=cooperative -DbN=256 -DCM=2
both mm tests/e2e/schedules.gemm ping_128x128 -DR=pingpong
both mm tests/e2e/schedules.gemm ping_128x128c2 -DR=pingpong -DCM=2
sizes="8192x4096x8192 4096x4096x4096"
both triangular tests/e2e/loops/triangular.gemm coop_128x256 -DW=2 -DbM=128 -DbN=256 -DS=4
both triangular tests/e2e/loops/triangular.gemm ping_128x128 -DR=pingpong -DW=2 -DbM=128 -DbN=128 -DS=4
sizes="8x4096x14336x4096"
both zipf tests/gpu/grouped.gemm coop_128x256 -DR=cooperative -DW=2 -DbN=256 -DS=4 -DGR=4
both zipf tests/gpu/grouped.gemm ping_128x128 -DW=2 -DGR=4
both zipf tests/gpu/grouped.gemm ping_128x128c2 -DW=2 -DGR=4 -DCM=2
sizes="64x8192x1536x2048 128x4096x768x2048"
both zipf tests/gpu/grouped.gemm coop_64x128 -DR=cooperative -DW=1 -DbN=128 -DS=8 -DGR=4
