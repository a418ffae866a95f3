#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A program of several loops or rings: proved under every schedule, and right on the simulator against the interpreter, with
# several tiles a CTA, under three of them, which TURN says (turns.sh), at the sizes of its line "// sizes: ...": each
# schedule at the next. With EVERY=1 under all schedules at all sizes.
#   loops.sh DSLC FILE [TURN]     [DEVICE=cuda:0 EVERY=1]
set -eu
dslc=$1 file=$2 turn=${3:-0}
. "${0%/*}/turns.sh"
all=$(sed -n 's/^\/\/ sizes: //p' "$file")
of_seven()
{
	case $1 in
	0) echo none -DR=none ;;
	1) echo none-persistent -DR=none -DP=on ;;
	2) echo cooperative -DR=cooperative -DI=0 ;;
	3) echo pingpong -DR=pingpong -DP=on ;;
	4) echo persistent -DR=cooperative -DP=on ;;
	5) echo cluster -DR=cooperative -DCM=2 ;;
	6) echo cluster-persistent -DR=cooperative -DP=on -DCN=2 ;;
	esac
}
try()
{
	out=$(DSLC_PTXAS=$as "$dslc" "$@" 2>&1) || { echo "$file: $name: $*:"; echo "$out"; exit 1; }
}
ran=0 proved=0
for turn in $(turns "$turn"); do
	schedule=$(of_seven "$turn")
	name=${schedule%% *} flags=${schedule#* }
	next=$(echo "$all" | cut -d ' ' -f $((ran % $(echo "$all" | wc -w) + 1)))
	[ "${EVERY:-0}" != 1 ] || next=$(echo "$all" | sed 's/ / --then /g')
	if [ $ran -lt "$most" ]; then
		turn_numbers "$file"
		try run "$file" $numbers $flags --device "${DEVICE:-sim}" --sms 2 --size $next
		ran=$((ran + 1))
		spare
	else
		try --emit=llvm "$file" $flags -o /dev/null
	fi
	proved=$((proved + 1))
done
[ $ran -ge 3 ] && [ $proved = 7 ]
