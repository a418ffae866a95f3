#!/bin/sh
# Every synchronising instruction of a schedule's kernel is needed: without it the simulator objects.
#   mutate.sh DSLC MUTATE SOURCE OUT M,N,K,SMS -D...
set -eu
dslc=$1 mutate=$2 source=$3 out=$4 sizes=$5
shift 5
mkdir -p "${out%/*}"
"$dslc" --emit=cubin,ir:frontend "$source" "$@" -o "$out.x"
# shellcheck disable=SC2046
"$mutate" "$out.cubin" "$out.frontend.ir" $(echo "$sizes" | tr , ' ')
