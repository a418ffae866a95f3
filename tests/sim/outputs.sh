#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One output on the simulator, with TMA and without: sizes whose rows and columns are multiples of 16
# bytes, one of both, neither; a leading dimension of its own where the source has one.
# Under one order, not assembled, and at two sizes of four, TURN 0 or 1, but with EVERY=1.
#   outputs.sh DSLC SOURCE SCHEDULES TURN -D...      [DEVICE=cuda:0 EVERY=1]
set -eu
dslc=$1 source=$2 turns=$3 turn=$4
shift 4
as=${DSLC_PTXAS:-} those="136,136,72 65,133,8 133,136,64 136,77,200"
if [ "${EVERY:-0}" != 1 ]; then
	turns=1 as=none those="136,136,72 65,133,8"
	[ "$turn" = 0 ] || those="133,136,64 136,77,200"
fi
[ -z "${DEVICE:-}" ] || as=${DSLC_PTXAS:-}
sizes=
at()
{
	sizes="$sizes ${sizes:+--then} $size${1:-}"
}
for size in $those; do
	m=${size%%,*} k=${size##*,} n=${size#*,}
	size=M=$m,N=${n%,*},K=$k
	if grep -q ldc "$source"; then
		size=$size,ldc=$(((${n%,*} + 15) / 8 * 8))
	fi
	if grep -q ldd "$source"; then
		beside=3
		grep -q 'ldd % 2' "$source" && beside=$((6 + ${n%,*} % 2))
		at ",ldd=$((${n%,*} + beside))"
		at ",ldd=208"
	else
		at
	fi
done
# shellcheck disable=SC2086
DSLC_PTXAS=$as "$dslc" run "$source" "$@" --device ${DEVICE:-sim --schedules "$turns"} --sms 2 --size $sizes
