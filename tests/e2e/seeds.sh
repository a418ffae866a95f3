#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The programs of docs/seeds.md: proved and assembled without a message, and right on the simulator; the first under the schedules
# of all the others.
#   seeds.sh DSLC FOLDER SCRATCH
set -eu
dslc=$1 folder=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
fail()
{
	echo "$*"
	cat "$scratch/out" "$scratch/err"
	exit 1
}
# FILE: its first line says the sizes
holds()
{
	: >"$scratch/out"
	"$dslc" "$1" -o "$scratch/k.cubin" >"$scratch/out" 2>"$scratch/err" || fail "$1: refused"
	"$dslc" run "$1" --size "$(sed -n '1s/^.*sizes: //p' "$1")" --device ${DEVICE:-sim} >"$scratch/out" 2>>"$scratch/err" || fail "$1: wrong"
	[ ! -s "$scratch/err" ] || fail "$1: a message"
}
for file in "$folder"/*.gemm; do
	holds "$file"
done
for schedule in "roles none; stages 4;" "cluster (2,1); roles cooperative; persistent group(8);" \
	"cluster (2,1); roles pingpong; persistent group(8);" "roles cooperative; split_k 4;"; do
	sed -e "s/schedule {.*/schedule { $schedule }/" -e 's/bN = 256/bN = 128/' "$folder/first.gemm" >"$scratch/first.gemm"
	holds "$scratch/first.gemm"
done
# What the buffer of a store says is what the schedule may say.
sed -e 's/.*smem *sD.*//' -e 's/.*tma *stD.*//' -e 's/.*pipeline ep.*//' -e 's/inflight 1;/inflight 1; subtile 64; staging 2;/' "$folder/spelled.gemm" >"$scratch/clauses.gemm"
"$dslc" -S "$folder/spelled.gemm" -o "$scratch/a.ptx"
"$dslc" -S "$scratch/clauses.gemm" -o "$scratch/b.ptx"
sed -e '/^\/\//d' -e '/\.file/d' "$scratch/a.ptx" >"$scratch/a"
sed -e '/^\/\//d' -e '/\.file/d' "$scratch/b.ptx" | cmp - "$scratch/a" || fail "another kernel"
