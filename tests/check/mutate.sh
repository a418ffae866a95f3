#!/bin/sh
# Every mutant of the schedules is refuted, or is in harmless.def.
#   mutate.sh DSLC MUTATE SCHEDULES.gemm SCRATCH part|all
set -eu
dslc=$1 mutate=$2 file=$3 scratch=$4 how=$5
rm -rf "$scratch"
mkdir -p "$scratch"
ir()
{
	name=$1
	shift
	"$dslc" -q --emit=ir -o "$scratch/$name.ir" "$file" "$@"
}
for schedule in none-off none-on cooperative-off cooperative-on pingpong-on; do
	roles=${schedule%-*} persistent=${schedule#*-}
	ir "$schedule-96" -DR="$roles" -DP="$persistent" -DbN=96 -DS=3
	[ "$how" = all ] || continue
	ir "$schedule-128" -DR="$roles" -DP="$persistent" -DbN=128 -DI=0
	ir "$schedule-64" -DR="$roles" -DP="$persistent" -DbN=64 -DS=6 -DI=2
	ir "$schedule-32" -DR="$roles" -DP="$persistent" -DbN=64 -DbK=32 -DS=8
	ir "$schedule-1" -DR="$roles" -DP="$persistent" -DW=1 -DbM=64 -DbN=208
done
"$mutate" "$scratch"/*.ir
