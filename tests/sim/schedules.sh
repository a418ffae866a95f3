#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Each schedule on the simulator: right results and no fault, for full tiles, ragged ones, one step,
# none, more steps than stages, many tiles a CTA; under several orders of warps and copies.
# Under one order, not assembled, and at three sizes of six, TURN 0 or 1, but with EVERY=1: the mutants of each kernel here begin with
# the kernel as it is, under several orders.
#   schedules.sh DSLC SOURCE SCHEDULES TURN -D...     [EVERY=1]
set -eu
dslc=$1 source=$2 turns=$3 turn=$4
shift 4
as=${DSLC_PTXAS:-}
odd=65,133,72
grep -q ' C : ' "$source" && odd=65,136,72 # TMA reads C: rows of a multiple of 16 bytes
those="128,128,64 130,136,200 $odd" others="1,8,8 64,264,0 257,72,520" sizes=
if [ "${EVERY:-0}" = 1 ]; then
	those="$those $others"
else
	turns=1 as=none
	[ "$turn" = 0 ] || those=$others
fi
for size in $those; do
	m=${size%%,*} k=${size##*,} n=${size#*,}
	sizes="$sizes ${sizes:+--then} M=$m,N=${n%,*},K=$k"
done
# shellcheck disable=SC2086
DSLC_PTXAS=$as "$dslc" run "$source" "$@" --device sim --schedules "$turns" --sms 2 --size $sizes
