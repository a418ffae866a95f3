#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every mutant of the schedules is refuted, or is in harmless.def; few: of two of them one in five, where a
# sanitizer makes all slow.
# With 40 columns results are stored from registers; blend.gemm has a ring that threads read.
# Of those that are harmless one in 20 is left in SCRATCH/harmless, for simulate.c.
#   mutate.sh DSLC MUTATE ROOT SCRATCH few|part|all
# all: also the examples under every schedule, and clusters; some minutes.
set -eu
dslc=$1 mutate=$2 root=$3 scratch=$4 how=$5
rm -rf "$scratch"
mkdir -p "$scratch/harmless"
ir()
{
	name=$1 file=$2
	shift 2
	[ -f "$file" ] || file=$root/tests/e2e/$file.gemm
	"$dslc" -q -Wno-N0401 --emit=ir -o "$scratch/$name.ir" "$file" "$@"
}

# More tiles, stages and groups of one schedule.
tiles()
{
	ir "$schedule-blend-64" blend -DR="$roles" -DP="$persistent" -DbN=64 -DS=3
	[ "$persistent" = off ] || ir "$schedule-blend-80" blend -DR="$roles" -DP=on -DbN=80 -DS=2
	ir "$schedule-40" schedules -DR="$roles" -DP="$persistent" -DbN=40
	ir "$schedule-128" schedules -DR="$roles" -DP="$persistent" -DbN=128 -DI=0
	ir "$schedule-64" schedules -DR="$roles" -DP="$persistent" -DbN=64 -DS=6 -DI=2
	ir "$schedule-32" schedules -DR="$roles" -DP="$persistent" -DbN=64 -DbK=32 -DS=8
	ir "$schedule-1" schedules -DR="$roles" -DP="$persistent" -DW=1 -DbM=64 -DbN=208
}

clusters()
{
	ir "$schedule-slice" schedules -DR="$roles" -DP="$persistent" -DbN=64 -DS=3 -DCM=2 -DX=slice
	ir "$schedule-leader" schedules -DR="$roles" -DP="$persistent" -DbN=64 -DS=3 -DCN=2 -DX=leader
	ir "$schedule-blend-slice" blend -DR="$roles" -DP="$persistent" -DbN=96 -DS=3 -DCM=2
	[ "$roles" != cooperative ] ||
		ir "$schedule-four" schedules -DR="$roles" -DP="$persistent" -DbN=64 -DS=3 -DCM=2 -DCN=2 \
			-DX=leader
}

examples()
{
	words="roles $roles; persistent $persistent;"
	for file in "$root"/examples/gemm/*.gemm "$root"/examples/bias/*.gemm "$root"/examples/epilogues/*.gemm; do
		case $file in */swiglu_backward.gemm) continue ;; esac # rings that wait for each other: much is said twice
		example=$(basename "$file" .gemm)
		sed "s/^\( *schedule {\).*}/\1 $words }/" "$file" >"$scratch/$example.gemm"
		grep -qF "{ $words }" "$scratch/$example.gemm"
		ir "$schedule-$example" "$scratch/$example.gemm" -DbN=128 2>/dev/null || # too few registers
			continue
	done
}

schedules="none-off none-on cooperative-off cooperative-on pingpong-on"
[ "$how" != few ] || schedules="none-off cooperative-on"
for schedule in $schedules; do
	roles=${schedule%-*} persistent=${schedule#*-}
	ir "$schedule-96" schedules -DR="$roles" -DP="$persistent" -DbN=96 -DS=3
	[ "$persistent" = off ] || ir "$schedule-blend" blend -DR="$roles" -DP=on -DbN=96 -DS=3
	[ "$roles" = pingpong ] || ir "$schedule-constant" constant -DR="$roles" -DP="$persistent" -DbN=64 -DS=2
	[ "$how" = all ] || continue
	ir "$schedule-blend-160" blend -DR="$roles" -DP="$persistent" -DbN=160 -DS=2
	tiles
	clusters
	examples
done
for roles in cooperative pingpong; do
	[ "$how" != few ] || break
	ir "$roles-dynamic" schedules -DR="$roles" -DP=dynamic -DW=1 -DbM=64 -DbN=64 -DS=3
	[ "$how" != all ] ||
		ir "$roles-dynamic-leader" schedules -DR="$roles" -DP=dynamic -DW=1 -DbM=64 -DbN=64 -DS=3 -DCM=2 -DX=leader
done
case $how in
all) which=-a ;;
few) which="-e 5" ;;
*) which= ;;
esac
# shellcheck disable=SC2086
"$mutate" $which -w "$scratch/harmless" 20 "$scratch"/*.ir
