#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Copies by threads under every schedule, of A alone and of B alone under half of them each, or all with EVERY=1: each is verified, and right on the simulator where no size
# is a multiple of a tile. What copies: A and B, or one of them with the other by TMA; 16, 8 and 4
# bytes at a time; along k or along m and n.
#   copies.sh DSLC FILE SCRATCH HOW...   HOW: a, b or ab, by threads      [DEVICE=cuda:0 EVERY=1]
set -eu
dslc=$1 file=$2 scratch=$3
shift 3
rm -rf "$scratch"
mkdir -p "$scratch"
sizes=M=200,N=72,K=328
. "${0%/*}/turns.sh"
try()
{
	simulate "$scratch/k.gemm" "$@" --size "$sizes" --device "${DEVICE:-sim}" >"$scratch/out" 2>&1 &&
		grep -q 'gemm: right' "$scratch/out" || { echo "$how $*:"; cat "$scratch/out"; exit 1; }
}
for how; do
	case $how in
	a) sed 's/copy ldB = cp_async/tma ldB = load/; s/K % 2/K % 8/' "$file" ;;
	b) sed 's/copy ldA = cp_async/tma ldA = load/; s/K % 2/K % 8/' "$file" ;;
	*8) sed 's/K % 2/K % 4/' "$file" ;;
	*4) cat "$file" ;;
	*m) sed 's/:(K,1), B/:(1,M), B/; s/:(K,1), D/:(1,N), D/; s/K % 2 == 0/M % 8 == 0, N % 8 == 0/' "$file" ;;
	*) sed 's/K % 2/K % 8/' "$file" ;;
	esac >"$scratch/k.gemm"
	case $how in *8) sizes=M=200,N=72,K=324 ;; *4) sizes=M=200,N=71,K=330 ;; *m) sizes=M=200,N=72,K=327 ;; esac
	"$dslc" -S "$scratch/k.gemm" -o "$scratch/k.ptx"
	grep -q "cp.async.c[ag].shared.global .*, $(echo "$how" | sed 's/.*8$/8/; s/.*4$/4/; s/^[abm]*$/16/')," "$scratch/k.ptx" ||
		{ echo "$how: other copies"; exit 1; }
	try -DR=none
	try -DR=cooperative
	case $how in ab?) continue ;; esac
	case $how in a) of_a=try of_b="every try" ;; b) of_a="every try" of_b=try ;; *) of_a=try of_b=try ;; esac
	$of_a -DR=none -DS=2
	$of_b -DR=cooperative -DS=2
	$of_b -DR=cooperative -DP=on
	$of_a -DR=pingpong -DP=on
	try -DR=cooperative -DCM=2
	sizes=M=1,N=1,K=8 try -DR=cooperative
	sizes=M=130,N=65,K=0 try -DR=none
done
