#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Groups of rows with weights of their own, for a machine with a GPU, built where ptxas is:
#   grouped_cases.sh DSLC ROOT OUT      after batch_cases.sh, which begins the list
#     OUT/grouped/LABEL.cubin   LABEL: roles, ROWSxCOLUMNS of a tile, sSTAGES, gTILES that share a sweep, cN CTAs of a cluster along n,
#                               one: a tile for each CTA, hN: an SM holds N CTAs, swap
#     OUT/works.txt             grouped G M N K LABEL CUBIN (all groups are of one length) and zipf, for against_torch.py
set -eu
dslc=$1 root=$2 out=$3
rm -rf "$out/grouped"
mkdir -p "$out/grouped"
labels=

# ROLES ROWS COLUMNS STAGES TILES [-D..]: built once; adds to $labels
tile()
{
	label=$1_$2x$3s$4g$5 roles=$1 rows=$2 columns=$3 stages=$4 group=$5
	shift 5
	for more in "$@"; do
		case $more in -DP=off) label=${label}one ;; -DCN=*) label=${label}c${more#*=} ;; -DCTAS=*) label=${label}h${more#*=} ;; -DSW=on) label=${label}swap ;; esac
	done
	labels="$labels $label"
	case $roles in ping) roles=pingpong ;; coop) roles=cooperative ;; esac
	[ -f "$out/grouped/$label.cubin" ] || "$dslc" -q -Wno-N0401 "$root/tests/gpu/grouped.gemm" -DR=$roles -DW=$((rows / 64)) \
		-DbN="$columns" -DS="$stages" -DGR="$group" "$@" -o "$out/grouped/$label.cubin"
}
# G M N K
shape()
{
	for label in $labels; do
		echo "grouped $1 $2 $3 $4 $label grouped/$label.cubin" >>"$out/works.txt"
		echo "zipf $1 $2 $3 $4 $label grouped/$label.cubin" >>"$out/works.txt"
	done
	labels=
}

tile ping 128 128 6 4
tile ping 128 128 6 8
tile ping 128 184 4 4
tile ping 128 192 4 4
tile coop 128 256 4 4
tile coop 128 256 4 4 -DCN=2
tile ping 128 128 6 4 -DCN=2
shape 8 4096 14336 4096
tile ping 128 128 6 4
tile ping 64 256 5 4
tile coop 128 256 4 4
tile ping 64 128 8 4
tile coop 64 128 4 4 -DP=off -DCTAS=2
tile coop 128 96 3 4 -DP=off -DCTAS=2
tile coop 64 64 6 4 -DP=off -DCTAS=2
shape 64 8192 1536 2048
tile ping 64 256 5 4
tile ping 64 128 8 4
tile coop 64 256 5 4
tile coop 64 128 4 4 -DP=off -DCTAS=2
tile coop 64 64 6 4 -DP=off -DCTAS=2
tile coop 64 128 9 4 -DP=off
tile none 64 128 9 4 -DP=off
shape 128 4096 768 2048
# Few rows each, swapped: ROLES ROWS COLUMNS STAGES [-D..]
swapped()
{
	roles=$1 rows=$2 columns=$3 stages=$4
	shift 4
	tile "$roles" "$rows" "$columns" "$stages" 4 -DSW=on -DbM="$rows" -DQ="$rows" -DW=$((columns / 64)) "$@"
}
for rows in 128 512 1024; do
	swapped coop 8 128 10
	swapped coop 16 128 10
	swapped coop 16 128 5 -DCTAS=2 -DP=off
	swapped ping 16 128 9
	tile coop 64 128 9 4
	shape 128 $rows 2048 4096
done
# Of loops over a group: COLUMNS STAGES [-D..]
along()
{
	label=along_$1s$2 columns=$1 stages=$2
	shift 2
	for more in "$@"; do
		case $more in -DW=*) label=${label}w${more#*=} ;; -DCTAS=*) label=${label}h${more#*=} ;; -DP=on) label=${label}p ;; -DCM=*) label=${label}c${more#*=} ;; -DR=pingpong) label=${label}ping ;; esac
	done
	"$dslc" -q "$root/tests/e2e/grouped/along.gemm" -DbN="$columns" -DS="$stages" "$@" -o "$out/grouped/$label.cubin"
	for size in "8 32768 4096 4096" "64 65536 2048 1536" "8 4096 4096 14336"; do
		echo "wgrad $size $label grouped/$label.cubin" >>"$out/works.txt"
		echo "wgrad_zipf $size $label grouped/$label.cubin" >>"$out/works.txt"
	done
}
along 256 4
along 96 3 -DCTAS=2
along 256 4 -DP=on
along 256 4 -DP=on -DCM=2
along 192 4 -DR=pingpong -DP=on
along 192 4 -DR=pingpong -DP=on -DCM=2

echo "$(grep -c ' grouped/' "$out/works.txt") works of groups"
