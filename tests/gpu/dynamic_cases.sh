#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tiles that are dealt out while others are computed, beside tiles at fixed distances, for a machine with a GPU, built where ptxas is:
#   dynamic_cases.sh DSLC ROOT OUT
#     OUT/dynamic/LABEL.cubin   LABEL: ROLES_ROWSxCOLUMNS of a tile, c2: in clusters of two, on or dynamic
#     OUT/ranks/                tests/e2e under persistent dynamic at random sizes, for gpu_check
#     OUT/works.txt             WORK SIZES LABEL CUBIN, for against_torch.py: mm, triangular, zipf
set -eu
dslc=$1 root=$2 out=$3
rm -rf "$out/dynamic"
mkdir -p "$out/dynamic" "$out/ranks"

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


# FILE LABEL NAMES -D...: at N random sizes
random()
{
	file=$1 name=$2 names=$3 n=$4
	shift 4
	"$dslc" -q -Wno-N0401 --emit=cubin,ir:frontend "$root/$file" -DP=dynamic "$@" -o "$out/ranks/$name.cubin"
	awk -v name="$name" -v names="$names" -v n="$n" 'BEGIN {
		srand(length(name) * 1000 + n)
		k = split(names, at, ",")
		for (i = 0; i < n; i++) {
			line = name " " (i % 3 == 0 ? 0 : i % 3 == 1 ? 3 : 40) " "
			for (j = 1; j <= k; j++)
				line = line (j > 1 ? "," : "") at[j] "=" (at[j] == "G" ? 1 + int(rand() * 60) : 8 * int(1 + exp(rand() * 5)))
			print line
		}
	}' >>"$out/ranks/cases.txt"
}
random tests/e2e/schedules.gemm dyn-coop M,N,K 20
random tests/e2e/schedules.gemm dyn-one M,N,K 20 -DW=1 -DbM=64 -DbN=64
random tests/e2e/schedules.gemm dyn-none M,N,K 20 -DR=none
random tests/e2e/loops/triangular.gemm dyn-tri M,N,K 20
random tests/e2e/grouped/gemm.gemm dyn-grouped M,N,K,G 20
random tests/e2e/grouped/masked.gemm dyn-masked C,N,K,G 10
random tests/e2e/schedules.gemm dyn-ping M,N,K 20 -DR=pingpong
random tests/e2e/schedules.gemm dyn-pingc M,N,K 20 -DR=pingpong -DCM=2 -DCN=2
random tests/e2e/schedules.gemm dyn-coopc M,N,K 20 -DCM=2 -DX=off
random tests/e2e/schedules.gemm dyn-nonec M,N,K 10 -DR=none -DCN=2
random tests/e2e/loops/triangular.gemm dyn-trip M,N,K 20 -DR=pingpong
random tests/e2e/loops/triangular.gemm dyn-tric M,N,K 10 -DR=pingpong -DCN=2
random tests/e2e/grouped/gemm.gemm dyn-groupedp M,N,K,G 20 -DR=pingpong
random tests/e2e/grouped/gemm.gemm dyn-groupedc M,N,K,G 10 -DCM=2
