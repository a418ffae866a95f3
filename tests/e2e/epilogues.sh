#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# An example of an epilogue: proved, and right by its host program, which finds a kernel wrong whose epilogue is another one.
#   epilogues.sh DSLC HOST FILE.gemm FOLDER     [DEVICE=cuda:0]
set -eu
dslc=$1 host=$2 file=$3 folder=$4
name=$(basename "$file" .gemm)
cubin=$folder/epilogue_$name.cubin
"$dslc" "$file" -o "$cubin"
"$host" "$name" "$cubin" "${DEVICE:-sim}"
sed -e 's/\(g[A-Z]*\[m,n\] <- [a-z0-9]*\)(\(.*\));$/\1(0.5 + 0.5 * (\2));/' -e 's/<- alpha/<- 0.5 + alpha/' "$file" >"$folder/epilogue_$name.gemm"
! cmp -s "$file" "$folder/epilogue_$name.gemm"
"$dslc" "$folder/epilogue_$name.gemm" -o "$cubin"
! "$host" "$name" "$cubin" "${DEVICE:-sim}"
