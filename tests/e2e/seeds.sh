#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The program of docs/seeds.md that spells every object out is right, and what it says of the buffer of a store is what the schedule may say.
#   seeds.sh DSLC FOLDER SCRATCH     [DEVICE=cuda:0]
set -eu
dslc=$1 folder=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
"$dslc" run "$folder/spelled.gemm" --size "$(sed -n '1s/^.*sizes: //p' "$folder/spelled.gemm")" --device "${DEVICE:-sim}"
sed -e 's/.*smem *sD.*//' -e 's/.*tma *stD.*//' -e 's/.*pipeline ep.*//' -e 's/inflight 1;/inflight 1; subtile 64; staging 2;/' "$folder/spelled.gemm" >"$scratch/clauses.gemm"
"$dslc" -S "$folder/spelled.gemm" -o "$scratch/a.ptx"
"$dslc" -S "$scratch/clauses.gemm" -o "$scratch/b.ptx"
sed -e '/^\/\//d' -e '/\.file/d' "$scratch/a.ptx" >"$scratch/a"
sed -e '/^\/\//d' -e '/\.file/d' "$scratch/b.ptx" | cmp - "$scratch/a"
