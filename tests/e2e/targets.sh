#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Programs for a target: proved, without another message, and right on the simulator: a GEMM by mma.sync under every schedule (the two targets
# that differ from sm_80 in resources and conversions alone: under one), and programs of plain.sh. Assembled (registers in memory are error E0504
# or E0507) are the GEMM as it is and with a large tile, those of f64 and tf32, and of the programs of plain.sh each third; all with EVERY=1.
#   targets.sh DSLC E2E SCRATCH TARGET      [DEVICE=cuda:0 EVERY=1]
set -eu
dslc=$1 e2e=$2 scratch=$3 target=$4
rm -rf "$scratch"
mkdir -p "$scratch"
fail()
{
	echo "$target $*"
	cat "$scratch/out"
	exit 1
}
. "${0%/*}/turns.sh"
# FILE SIZES -D...
try()
{
	file=$1 sizes=$2
	shift 2
	simulate "$file" --target="$target" "$@" --size "$sizes" --device ${DEVICE:-sim} >"$scratch/out" 2>&1 || fail "$file $*: wrong"
	! grep -E '(warning|note|error)\[' "$scratch/out" || fail "$file $*: another message"
}
# The next one is assembled.
assembled()
{
	as=${DSLC_PTXAS:-}
}
# Of the programs without an mma, which have the PTX of sm_80 on the other sm_8x, and that of plain.sh on sm_90, but for the
# target's name (and sums of two types on sm_120), those meet one of five; all with EVERY=1.
case $target in sm_80) of=1 at=0 ;; sm_86) of=5 at=0 ;; sm_89) of=5 at=1 ;; sm_90) of=5 at=2 ;; sm_120) of=5 at=4 ;; *) of=5 at=3 ;; esac
[ "${EVERY:-0}" != 1 ] || of=1 at=0
case $target in
sm_86 | sm_89) hows="cooperative:on" ;;
*) hows="none:off none:on cooperative:off cooperative:on pingpong:on" ;;
esac
for how in $hows; do
	try "$e2e/targets/gemm.gemm" M=136,N=72,K=200 -DR="${how%:*}" -DP="${how#*:}"
done
assembled
try "$e2e/targets/gemm.gemm" M=200,N=136,K=328 -DbM=128 -DbN=32 -DbK=64 -DS=2 -DW=8 -DR=cooperative
assembled
try "$e2e/targets/doubles_simple.gemm" M=72,N=40,K=41
assembled
try "$e2e/targets/doubles.gemm" M=72,N=40,K=42 -DR=cooperative -DP=on
"$dslc" -S "$e2e/targets/doubles.gemm" --target="$target" -o "$scratch/k.ptx"
case $target in sm_8*) shape=m8n8k4 ;; *) shape=m16n8k8 ;; esac
grep -q "mma.sync.aligned.$shape.row.col.f64" "$scratch/k.ptx" || fail "no $shape"
assembled
try "$e2e/targets/tf32.gemm" M=67,N=70,K=136
sed -n 's/^e2e_plain(\([^ ]*\) \([^ )]*\).*/\1 \2/p' "$e2e/CMakeLists.txt" >"$scratch/plain"
number=0
while read -r name sizes; do
	number=$((number + 1))
	[ $name = straight ] || [ $(((number - 1) % of)) = $at ] || continue
	case $target in sm_8*) ! grep -q '^// since sm_90' "$e2e/plain/$name.gemm" || continue ;; esac
	[ $((number % 3)) != 0 ] || assembled
	try "$e2e/plain/$name.gemm" "$sizes"
done <"$scratch/plain"
"$dslc" -S "$e2e/targets/gemm.gemm" --target="$target" -o "$scratch/k.ptx" >"$scratch/out" 2>&1
grep -q "^\.target $target\$" "$scratch/k.ptx" || fail "another target"
grep -q mma.sync.aligned "$scratch/k.ptx" || fail "no mma.sync"
case $target in
sm_8*) grep -q cp.async.c "$scratch/k.ptx" || fail "no cp.async" ;;
*) grep -q cp.async.bulk.tensor "$scratch/k.ptx" || fail "no TMA" ;;
esac
# What ptxas makes of a place in a cluster lies in local memory on targets without clusters.
case $target in sm_120) ! grep -q 'shared::cluster' "$scratch/k.ptx" || fail "a cluster" ;; esac
