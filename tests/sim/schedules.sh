#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Each schedule on the simulator: right results and no fault, for full tiles, ragged ones, one step,
# none, more steps than stages, many tiles a CTA; under several orders of warps and copies.
# Under one order, and not assembled, but with EVERY=1: the mutants of each kernel here begin with the kernel as it is, under several.
#   schedules.sh DSLC SOURCE SCHEDULES -D...     [EVERY=1]
set -eu
dslc=$1 source=$2 turns=$3
shift 3
as=${DSLC_PTXAS:-}
[ "${EVERY:-0}" = 1 ] || turns=1 as=none
odd=65,133,72
grep -q ' C : ' "$source" && odd=65,136,72 # TMA reads C: rows of a multiple of 16 bytes
sizes=
for size in 128,128,64 1,8,8 130,136,200 64,264,0 257,72,520 $odd; do
	m=${size%%,*} k=${size##*,} n=${size#*,}
	sizes="$sizes ${sizes:+--then} M=$m,N=${n%,*},K=$k"
done
# shellcheck disable=SC2086
DSLC_PTXAS=$as "$dslc" run "$source" "$@" --device sim --schedules "$turns" --sms 2 --size $sizes
