#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A program of several loops or rings: right on the simulator against the interpreter under every schedule, with
# several tiles a CTA, at the sizes of its line "// sizes: ...": each schedule at the next, or all with EVERY=1.
# All are proved.
#   loops.sh DSLC FILE      [DEVICE=cuda:0 EVERY=1]
set -eu
dslc=$1 file=$2
ran=0 turn=0
all=$(sed -n 's/^\/\/ sizes: //p' "$file")
for schedule in "none -DR=none" "none-persistent -DR=none -DP=on" "cooperative -DR=cooperative -DI=0" "pingpong -DR=pingpong -DP=on" \
	"persistent -DR=cooperative -DP=on" "cluster -DR=cooperative -DCM=2" "cluster-persistent -DR=cooperative -DP=on -DCN=2"; do
	name=${schedule%% *} flags=${schedule#* }
	turn=$((turn % $(echo "$all" | wc -w) + 1))
	next=$(echo "$all" | cut -d ' ' -f $turn)
	for sizes in $all; do
		[ "${EVERY:-0}" = 1 ] || [ "$sizes" = "$next" ] || continue
		out=$("$dslc" run "$file" $flags --size "$sizes" --device "${DEVICE:-sim}" --sms 2 2>&1) ||
			{ echo "$file: $name, $sizes:"; echo "$out"; exit 1; }
		ran=$((ran + 1))
	done
done
[ $ran -ge 7 ]
