#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Loops over drawn tiles whose length is the lesser of two numbers, depends on two names or has a divisor, and short ones whose
# length sizes decide: each kernel is proved as it is, and refused with a wait left out, a release of another slot, other trips.
#   loops.sh DSLC ROOT SCRATCH
set -eu
dslc=$1 root=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
. "${0%/*}/changes.sh"
# windows.gemm with another loop, `for k in $1`, and a fact beside, and the kernel of it
with()
{
	sed "s|for k in .* {|for k in $1 {|; s|^{|where M <= 65536, N <= 65536, K <= 65536 {|" \
		"$root/tests/e2e/loops/windows.gemm" >"$scratch/p.gemm"
	kernel_of "$scratch/p.gemm" $2
}
landed='E0412]: consumer warp 0 reads %sA[0] when its load is not known to have landed'
# Under each schedule.
proved()
{
	with "$1" '-DP=dynamic -DS=2'
	for flags in '-DR=none -DP=on' '-DR=none -DP=dynamic' -DP=on '-DR=pingpong -DP=on' '-DR=pingpong -DP=dynamic'; do
		"$dslc" check -q "$scratch/p.gemm" -DS=2 $flags || exit 1
	done
}
proved '0 .. min((K + 63) / 64, m + 1)'
says 1 "$landed" '/mbar.wait %ab.full\[slot.2\]/d'
says 1 E0411 '/for t.5, fills.1/s/)) {/) + 1) {/'
says 1 E0411 '/mbar.arrive %ab.empty\[(fills/s/ + 1) % 2/) % 2/'
proved 'm * 2 .. min((K + 63) / 64, m * 2 + 2)'
says 1 "$landed" '/mbar.wait %ab.full\[slot.2\]/d'
says 1 E0411 '/for t.5, fills.1/s/)) {/) + 1) {/'
proved 'n .. m + n'
says 4 E0415 '/mbar.wait %ab.full\[slot.2\]/d'
proved 'n % 3 .. m + n % 3'
says 4 E0415 '/for t.5, fills.1/s/, m.1) {/, m.1 + 1) {/'
with 'm * 2 .. min((K + 63) / 64, m * 2 + 2)' -DP=off
says 1 "$landed" '/mbar.wait %ab.full/d'
sed 's/^{/where K % 256 == 0 {/' "$root/tests/e2e/schedules.gemm" >"$scratch/p.gemm"
kernel_of "$scratch/p.gemm" -DP=dynamic -DR=cooperative -DCM=2 -DbN=64 -DS=4
says 1 'E0411]: consumer warp 0@1 arrives at %ab.empty[2]@0 when the previous phase is not known to be over' '/mbar.arrive %ab.empty\[3\]/s/3/2/'
says 1 'E0412]: producer warp 8@1 overwrites %sA[0]@1 when its read by consumer warp 0@1 is not known to be over' 's/wgmma.wait n=1/wgmma.wait n=2/'
says 1 'E0412]: consumer warp 0@0 reads %sA[0]@0 when its load is not known to have landed' '/mbar.wait %ab.full\[slot.3\]/d'
echo "$changes changes"
