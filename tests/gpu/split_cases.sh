#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Products with few tiles or long K, whose k CTAs of a cluster share (split_k), beside those that do not:
#   split_cases.sh DSLC ROOT OUT
#     OUT/split/LABEL.cubin
#     OUT/works.txt          lines mm M N K LABEL CUBIN are added, for against_torch.py
set -eu
dslc=$1 root=$2 out=$3
rm -rf "$out/split"
mkdir -p "$out/split"

# The label says the tile, its depth and the parts: 128x128x64s8.
build()
{
	program=$1 label=$2
	shift 2
	"$dslc" -q -Wno-N0401 "$root/tests/gpu/$program.gemm" "$@" -o "$out/split/$label.cubin"
}
works()
{
	sizes=$1
	shift
	for label; do
		echo "mm $sizes $label split/$label.cubin" >>"$out/works.txt"
	done
}

for parts in 1 2 4 7 8; do
	build split "128x128x64s$parts" -DSK=$parts
done
for parts in 1 2 4; do
	build split "128x64x64s$parts" -DbN=64 -DSK=$parts
	build split "128x64x128s$parts" -DbN=64 -DbK=128 -DSK=$parts
	build split "128x256x64s$parts" -DbN=256 -DSK=$parts
	build tokens "w64x16x64s$parts" -DSK=$parts
	build tokens "w64x16x128s$parts" -DbK=128 -DSK=$parts
	build tokens "w128x16x64s$parts" -DbN=128 -DW=2 -DSK=$parts
	build tokens "w128x16x128s$parts" -DbN=128 -DW=2 -DbK=128 -DSK=$parts
	build tokens "w128x128x64s$parts" -DbN=128 -DW=2 -DbM=128 -DSK=$parts
done
build split 128x32x128s1 -DbN=32 -DbK=128
build tokens w64x128x64s2 -DbM=128 -DSK=2
build split 128x128x64s4c2 -DCM=2 -DSK=4
build split 128x256x64s2c2 -DbN=256 -DCM=2 -DSK=2
build tokens w128x16x64s2c2 -DbN=128 -DW=2 -DCN=2 -DSK=2
build tokens w128x128x64s2c2 -DbN=128 -DW=2 -DbM=128 -DCN=2 -DSK=2

works "512 512 16384" 128x128x64s1 128x128x64s4 128x128x64s7 128x128x64s8 128x64x64s4 128x128x64s4c2
works "127 4096 4096" 128x128x64s1 128x128x64s2 128x128x64s4 128x64x64s1 128x64x64s2 128x64x128s2 128x32x128s1 w64x128x64s2 w128x128x64s2 w128x128x64s4
works "2048 2048 16384" 128x128x64s1 128x128x64s2 128x256x64s1 128x256x64s2 128x256x64s2c2
works "16 8192 8192" w64x16x64s1 w64x16x64s2 w64x16x64s4 w64x16x128s1 w64x16x128s2 w128x16x64s1 w128x16x64s2 w128x16x64s4 \
	w128x16x128s1 w128x16x128s2 w128x16x128s4 w128x16x64s2c2
works "16 4096 14336" w64x16x64s1 w64x16x64s2 w128x16x64s2 w128x16x64s4 w128x16x128s4
works "128 8192 8192" w128x128x64s1 w128x128x64s2 w128x128x64s2c2
echo "$(grep -c ' split/' "$out/works.txt") works"
