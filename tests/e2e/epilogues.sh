#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# An example of an epilogue: proved, right by its host program and by dslc run, under two schedules, by the host program under one
# where EVERY is not 1; and the host program finds a kernel wrong whose epilogue is another one.
#   epilogues.sh DSLC HOST FILE.gemm FOLDER     [DEVICE=cuda:0 EVERY=1]
set -eu
dslc=$1 host=$2 file=$3 folder=$4
. "${0%/*}/turns.sh"
name=$(basename "$file" .gemm)
cubin=$folder/epilogue_$name.cubin
for roles in cooperative none; do
	if [ $roles = cooperative ] || [ "${EVERY:-0}" = 1 ]; then
		"$dslc" "$file" -DR=$roles -o "$cubin"
		"$host" "$name" "$cubin" "${DEVICE:-sim}"
	fi
	simulate "$file" -DR=$roles --size M=200,N=120,K=136 --device "${DEVICE:-sim}" --sms 2
done
sed -e 's/\(g[A-Z]*\[m,n\] <- [a-z0-9]*\)(\(.*\));$/\1(0.5 + 0.5 * (\2));/' -e 's/<- alpha/<- 0.5 + alpha/' "$file" >"$folder/epilogue_$name.gemm"
! cmp -s "$file" "$folder/epilogue_$name.gemm"
"$dslc" "$folder/epilogue_$name.gemm" -o "$cubin"
! "$host" "$name" "$cubin" "${DEVICE:-sim}"
