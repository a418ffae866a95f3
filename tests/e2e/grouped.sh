#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Groups of rows, each program under three of five schedules, all with EVERY=1: each kernel is proved (else it is an error), and right on the simulator against the
# reference interpreter where groups are empty, shorter than a tile and longer, where ends fall or lie behind the last row,
# where there is one group, none, more than a warp looks at in one go (32), and no row.
#   grouped.sh DSLC DIR SCRATCH WHAT      WHAT: gemm, up, boxes, down, sums, masked, along, swap, split, clusters, sizes      [DEVICE=cuda:0 EVERY=1]
set -eu
dslc=$1 dir=$2 scratch=$3 what=$4
rm -rf "$scratch"
mkdir -p "$scratch"
. "${0%/*}/turns.sh"
try()
{
	file=$1 sizes=$2
	shift 2
	simulate "$dir/$file.gemm" -Wno-N0401 "$@" --size $sizes --device "${DEVICE:-sim}" --sms "${SMS:-5}" >"$scratch/out" 2>&1 &&
		grep -q ': right' "$scratch/out" || { echo "$file $* $sizes:"; cat "$scratch/out"; exit 1; }
	! grep -qE '(warning|error)\[' "$scratch/out" || { echo "$file $*: another message"; cat "$scratch/out"; exit 1; }
}
of_five()
{
	case $1 in
	0) echo "-DR=none -DP=on" ;;
	1) echo "-DR=none -DP=off" ;;
	2) echo "-DR=cooperative -DP=on" ;;
	3) echo "-DR=cooperative -DP=off" ;;
	4) echo "-DR=pingpong -DP=on" ;;
	esac
}
# TURN FILE SIZES -D...: three of the schedules, or all with EVERY=1
all()
{
	turn=$1
	shift
	for way in $(some "$turn" 5); do
		try "$@" $(of_five "$way")
	done
}
case $what in
gemm)
	"$dslc" explain "$dir/gemm.gemm" -o - 2>/dev/null | grep -q "sD -> D  TMA box (64,64,1,1) .*, clipped at its group's end" ||
		{ echo "D does not leave by TMA"; exit 1; }
	all 0 gemm M=300,N=136,K=200,G=5 && try gemm M=200,N=72,K=72,G=3 -DW=1 && try gemm M=500,N=72,K=72,G=3 -DW=3 ;;
up) all 1 up T=90,M=300,N=136,K=200,G=5 -DW=1 && try up T=90,M=300,N=136,K=72,G=3 -DR=cooperative ;;
boxes) # of X by TMA; behind a group the rows of the next, but where indices are checked
	sed 's/    pipeline ab { sX/    tma ld = load(X, sX);\n    pipeline ab { sX via ld/; s/S = 3/S = 3, CN = 1/; s/schedule {/& cluster (1,CN);/' "$dir/up.gemm" >"$scratch/up.gemm"
	"$dslc" -q --emit=ir "$scratch/up.gemm" -o "$scratch/up.ir"
	"$dslc" -q --emit=ir "$scratch/up.gemm" --check-indices -o "$scratch/checked.ir"
	ends='if (.*row.* < end'
	[ "$(grep -c "$ends" "$scratch/up.ir")" = 0 ] && [ "$(grep -c "$ends" "$scratch/checked.ir")" = 3 ] ||
		{ echo "rows behind a group are none"; exit 1; }
	dir=$scratch
	try up T=90,M=300,N=200,K=200,G=5 -DR=pingpong -DCN=2
	try up T=90,M=300,N=136,K=72,G=5 -DW=1 --check-indices
	every try up T=90,M=300,N=136,K=72,G=5 -DR=pingpong -DW=1
	every try up T=90,M=300,N=200,K=200,G=5 -DCN=2
	for sizes in T=90,M=300,N=64,K=8,G=70 T=1,M=1,N=8,K=8,G=3 T=9,M=0,N=64,K=64,G=3 T=0,M=64,N=64,K=64,G=2 T=9,M=64,N=64,K=64,G=0; do
		try up $sizes -DW=1
	done ;;
down) all 2 down T=400,M=300,N=137,K=200,G=5 ;;
sums) all 3 sums M=300,N=136,K=72,G=5,lda=80,ldc=140,lde=301 -DW=1 && try sums M=300,N=136,K=72,G=5,lda=80,ldc=140,lde=301 -DR=cooperative ;;
masked)
	all 4 masked C=200,N=136,K=200,G=7 && try masked C=300,N=72,K=72,G=3 -DW=1 -DCN=2
	for sizes in C=1,N=8,K=8,G=70 C=0,N=64,K=64,G=3 C=70,N=64,K=64,G=0 C=300,N=136,K=0,G=3; do
		try masked $sizes
	done ;;
along)
	sed 's/    pipeline ab/    copy ldA = cp_async(A, sA);\n    pipeline ab/; s/{ sA, sB }/{ sA via ldA, sB }/' "$dir/along.gemm" >"$scratch/copied.gemm"
	cp "$dir/along.gemm" "$scratch"
	dir=$scratch
	try along M=136,N=72,T=500,G=5 -DR=none
	try along M=136,N=72,T=500,G=5 -DR=cooperative -DW=1 -DCTAS=2
	try copied M=136,N=72,T=500,G=5 -DR=cooperative
	SMS=2 try along M=136,N=72,T=500,G=5 -DR=pingpong -DP=on
	SMS=2 try along M=136,N=72,T=500,G=5 -DR=none -DP=on
	SMS=2 try copied M=136,N=72,T=500,G=5 -DR=cooperative -DP=on
	for way in "-DR=none" "-DR=cooperative" "-DR=cooperative -DW=1 -DCTAS=2" "-DR=none -DP=on" "-DR=cooperative -DP=on" "-DR=pingpong -DP=on"; do
		SMS=2 every try along M=136,N=72,T=500,G=5 $way
		SMS=2 every try copied M=136,N=72,T=500,G=5 $way
	done
	try along M=200,N=72,T=500,G=5 -DR=pingpong -DP=on -DCM=2
	for way in "-DR=none -DP=on -DCM=2" "-DR=cooperative -DCN=2" "-DR=cooperative -DP=on -DCM=2 -DCN=2"; do
		every try along M=200,N=72,T=500,G=5 $way
	done
	"$dslc" explain "$dir/along.gemm" -DCM=2 -o - 2>/dev/null | grep -q 'sB: multicast slice: groups of 2 CTAs' ||
		{ echo "what CTAs have in common is not shared"; exit 1; }
	for sizes in M=8,N=8,T=3,G=40 M=200,N=136,T=1000,G=1 M=72,N=8,T=300,G=150 M=72,N=72,T=0,G=3 M=72,N=72,T=70,G=0; do
		try along $sizes
		SMS=1 try along $sizes -DR=pingpong -DP=on
	done ;;
swap)
	for file in gemm masked sums up; do
		sed 's/bM = 64 \* W, bN = 64/bM = 16, bN = 64 * W/; s/wgmma<64,bN,16>/wgmma<64,bM,16>/; s/schedule { roles R;/schedule { roles R; swap;/' \
			"$dir/$file.gemm" >"$scratch/$file.gemm"
	done
	dir=$scratch
	"$dslc" explain "$dir/gemm.gemm" -o - 2>/dev/null | grep -q "sD -> D  TMA box (64,16,1,1) .*, clipped at its group's end" ||
		{ echo "D does not leave by TMA"; exit 1; }
	all 1 gemm M=300,N=136,K=72,G=5 && try gemm M=300,N=72,K=72,G=40 -DbM=8 -DW=1 && try gemm M=300,N=136,K=72,G=5 -DbM=64 -DW=3 -DP=off
	try gemm M=300,N=200,K=72,G=5 -DCN=2 -DR=pingpong && try gemm M=300,N=200,K=72,G=5 -DCM=2 -DP=off
	all 3 masked C=70,N=136,K=72,G=7 && try sums M=300,N=136,K=72,G=5,lda=80,ldc=140,lde=301 && try up T=90,M=300,N=136,K=72,G=5
	for sizes in M=700,N=8,K=8,G=97 M=1,N=8,K=8,G=3 M=0,N=64,K=64,G=3 M=64,N=64,K=64,G=0 M=300,N=136,K=0,G=3; do
		SMS=1 try gemm $sizes
	done ;;
split)
	for file in gemm masked along; do
		sed 's/persistent P;/persistent P; split_k X;/; s/W = 2,/W = 2, X = 3,/' "$dir/$file.gemm" >"$scratch/$file.gemm"
	done
	sed 's/split_k X;/split_k X; swap;/; s/bM = 64 \* W, bN = 64/bM = 16, bN = 64 * W/; s/wgmma<64,bN,16>/wgmma<64,bM,16>/' "$scratch/gemm.gemm" >"$scratch/swapped.gemm"
	sed 's/split_k X;/split_k X; sums workspace;/' "$scratch/along.gemm" >"$scratch/shared.gemm"
	dir=$scratch
	try gemm M=200,N=72,K=300,G=3 -DR=cooperative -DP=off && try along M=136,N=72,T=300,G=3 -DR=none -DP=on
	try along M=136,N=72,T=300,G=3 -DR=cooperative && try swapped M=50,N=72,K=300,G=3 -DR=none -DP=off
	for way in "-DR=none -DP=on" "-DR=none -DP=off" "-DR=cooperative -DP=off"; do
		every try gemm M=200,N=72,K=300,G=3 $way
		every try along M=136,N=72,T=300,G=3 $way
		every try swapped M=50,N=72,K=300,G=3 $way
	done
	try gemm M=200,N=136,K=300,G=3 -DP=off -DX=2 -DCN=2 && try along M=136,N=72,T=300,G=3 -DX=2 -DCM=2 && try masked C=70,N=72,K=304,G=7 -DP=off
	try shared M=136,N=72,T=500,G=5
	for sizes in M=700,N=8,K=8,G=97 M=1,N=8,K=8,G=3 M=0,N=64,K=64,G=3 M=300,N=136,K=0,G=3; do
		try gemm $sizes -DP=off
	done ;;
clusters)
	turn=0
	for way in "-DR=none -DP=off" "-DR=cooperative" "-DR=pingpong"; do # of twelve pairs the even ones, or all
		for shape in "-DCN=2" "-DCM=2" "-DCM=2 -DCN=2" "-DCM=3 -DW=1" ""; do
			turn=$((turn + 1))
			[ -n "$shape" ] || continue
			if [ $((turn % 2)) = 0 ]; then every=; else every=every; fi
			$every try gemm M=300,N=200,K=200,G=5 $shape $way
		done
	done
	"$dslc" explain "$dir/gemm.gemm" -DCN=2 -o - 2>/dev/null | grep -q 'sA: multicast slice: groups of 2 CTAs' ||
		{ echo "rows of A are not shared"; exit 1; }
	"$dslc" explain "$dir/gemm.gemm" -DCM=2 -o - 2>/dev/null | grep -q 'sB: multicast slice: groups of 2 CTAs' ||
		{ echo "weights are not shared"; exit 1; }
	try gemm M=900,N=8,K=72,G=97 -DCM=2 && try masked C=300,N=72,K=72,G=5 -DCM=2 ;;
sizes)
	sizes="M=300,N=136,K=72,G=1 --then M=300,N=72,K=72,G=40 --then M=700,N=8,K=8,G=97 --then M=1,N=8,K=8,G=3 --then M=0,N=64,K=64,G=3"
	sizes="$sizes --then M=64,N=64,K=64,G=0 --then M=300,N=136,K=0,G=3"
	try gemm "$sizes" -DR=cooperative -DP=off
	try gemm "$sizes" -DR=pingpong
	SMS=1 try gemm "$sizes" -DR=cooperative ;;
esac
