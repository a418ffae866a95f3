#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# dslc explain says why each thread loads what an epilogue reads of a tensor, and is silent where TMA brings it.
#   explain_source.sh DSLC SCRATCH FILE     FILE has C : bf16 (M,N):(N,1)
set -eu
dslc=$1 scratch=$2 file=$3
rm -rf "$scratch"
mkdir -p "$scratch"

# LAYOUT TEXT: C of that layout is explained so; no TEXT: not at all
explained()
{
	sed -e "s/C : bf16 (M,N):(N,1)/C : bf16 (M,N):$1/" "$file" >"$scratch/in.gemm"
	"$dslc" explain "$scratch/in.gemm" >"$scratch/out"
	got=$(sed -n 's/^\/\/: *\(C by each thread: .*\)/\1/p' "$scratch/out")
	[ "$got" = "$2" ] || { echo "$1: $got"; exit 1; }
}
explained "(N,1)" ""
explained "(1,4096)" ""
explained "(1,M)" "C by each thread: not by TMA: only the launch knows whether TMA takes its columns"
explained "(1002,1)" "C by each thread: not by TMA: its strides are not multiples of 16 bytes"
