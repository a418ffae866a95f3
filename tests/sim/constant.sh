#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the manifest does not call constant is not read before the wait for earlier launches: the
# simulator reports a kernel that does, once its manifest has lost the word.
#   constant.sh DSLC MUTATE SOURCE OUT
set -eu
dslc=$1 mutate=$2 source=$3 out=$4
export LC_ALL=C
"$dslc" --emit=cubin,ir:frontend "$source" -DbN=64 -DS=2 -o "$out"
grep -qa '"constant" *: *true' "$out.cubin"
sed 's/"constant"\( *: *true\)/"constanx"\1/' "$out.cubin" >"$out-other.cubin"
"$mutate" "$out-other.cubin" "$out.frontend.ir" 2 M=128 N=64 K=64 >"$out.log" && exit 1
grep -F 'refuted as it is: ' "$out.log" | grep -F 'global memory that the previous kernel may still use'
