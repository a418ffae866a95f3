#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One file under many schedules, by -D alone: every combination compiles, is verified and assembles
# without another message, and no two give the same machine code; every second, or all with EVERY=1.
#   schedules.sh DSLC FILE SCRATCH     [EVERY=1]
set -eu
dslc=$1 file=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
n=0
try()
{
	n=$((n + 1))
	[ "${EVERY:-0}" = 1 ] || [ $((n % 2)) = 1 ] || return 0
	"$dslc" -v "$file" "$@" -o "$scratch/$n.cubin" 2>"$scratch/err" &&
		tail -n 1 "$scratch/err" | grep -q ': verified ' &&
		! grep -qE '(warning|error|note)\[' "$scratch/err" &&
		[ -s "$scratch/err" ] ||
		{ echo "$*:"; cat "$scratch/err"; exit 1; }
}
for roles in "none off" "none on" "cooperative off" "cooperative on" "pingpong on"; do
	set -- $roles
	for tile in "128 3 1" "96 4 1" "128 4 0" "64 6 2" "192 3 1"; do
		try -DR="$1" -DP="$2" $(echo "$tile" | { read -r b s i; echo "-DbN=$b -DS=$s -DI=$i"; })
	done
	try -DR="$1" -DP="$2" -DG=2 -DbK=32
	try -DR="$1" -DP="$2" -DW=1 -DbM=64 -DbN=256
	[ "$1" = pingpong ] || try -DR="$1" -DP="$2" -DW=3 -DbM=192 -DbN=160 -DS=3
	[ "$1" != pingpong ] || try -DR="$1" -DP="$2" -DW=1 -DbM=64 -DbN=208
done
[ $n -ge 40 ] || { echo "only $n schedules"; exit 1; }
same=$(cd "$scratch" && cksum -- *.cubin | awk '{print $1, $2}' | sort | uniq -d | wc -l)
[ "$same" -eq 0 ] || { echo "$same schedules gave the same file"; exit 1; }
echo "$n schedules"
