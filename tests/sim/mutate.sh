#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every synchronising instruction of a schedule's kernel is needed: without it the simulator objects.
#   mutate.sh DSLC MUTATE SOURCE OUT SIZES [SCHEDULE] [-D...]
# SIZES is M,N,K,SMS, or SMS,NAME=VALUE,... for kernels with other sizes. SCHEDULE, words between the
# braces of the source's schedule line, takes the place of what is there.
set -eu
dslc=$1 mutate=$2 source=$3 out=$4 sizes=$5
shift 5
case $sizes in
*=*) ;;
*) sizes=$(echo "$sizes" | sed 's/\(.*\),\(.*\),\(.*\),\(.*\)/\4,M=\1,N=\2,K=\3/') ;;
esac
mkdir -p "${out%/*}"
out=${out%/*}/$(basename "$out" | tr . -) # -o of several kinds is a stem, without an ending
cp "$source" "$out.gemm"
case ${1:--} in
-*) ;;
*)
	grep -q '^ *schedule {' "$out.gemm"
	sed -i "s/^\( *schedule {\).*}/\1 $1 }/" "$out.gemm"
	shift
	;;
esac
"$dslc" --emit=cubin,ir:frontend "$out.gemm" "$@" -o "$out"
# shellcheck disable=SC2046
"$mutate" "$out.cubin" "$out.frontend.ir" $(echo "$sizes" | tr , ' ')
