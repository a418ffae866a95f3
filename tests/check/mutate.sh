#!/bin/sh
# Every mutant of the schedules is refuted, or is in harmless.def.
# With 40 columns results are stored from registers; blend.gemm has a ring that threads read.
#   mutate.sh DSLC MUTATE DIRECTORY SCRATCH few|part|all
set -eu
dslc=$1 mutate=$2 dir=$3 scratch=$4 how=$5
rm -rf "$scratch"
mkdir -p "$scratch"
ir()
{
	name=$1 file=$dir/$2.gemm
	shift 2
	"$dslc" -q -Wno-N0401 --emit=ir -o "$scratch/$name.ir" "$file" "$@"
}
schedules="none-off none-on cooperative-off cooperative-on pingpong-on"
[ "$how" != few ] || schedules="none-off cooperative-on" # where a sanitizer makes all slow
for schedule in $schedules; do
	roles=${schedule%-*} persistent=${schedule#*-}
	ir "$schedule-96" schedules -DR="$roles" -DP="$persistent" -DbN=96 -DS=3
	[ "$persistent" = off ] || ir "$schedule-blend" blend -DR="$roles" -DP=on -DbN=96 -DS=3
	[ "$how" = all ] || continue
	ir "$schedule-blend-64" blend -DR="$roles" -DP="$persistent" -DbN=64 -DS=3
	[ "$persistent" = off ] || ir "$schedule-blend-80" blend -DR="$roles" -DP=on -DbN=80 -DS=2
	ir "$schedule-40" schedules -DR="$roles" -DP="$persistent" -DbN=40
	ir "$schedule-128" schedules -DR="$roles" -DP="$persistent" -DbN=128 -DI=0
	ir "$schedule-64" schedules -DR="$roles" -DP="$persistent" -DbN=64 -DS=6 -DI=2
	ir "$schedule-32" schedules -DR="$roles" -DP="$persistent" -DbN=64 -DbK=32 -DS=8
	ir "$schedule-1" schedules -DR="$roles" -DP="$persistent" -DW=1 -DbM=64 -DbN=208
done
"$mutate" "$scratch"/*.ir
