#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# functions.sh DSLC FUNCTIONS FOLDER [SAMPLES]: a kernel for each row of elementwise.def, all in one module, run on the
# simulator on all bf16 numbers and SAMPLES f32 numbers. SAMPLES none: only makes the module.
set -eu
dslc=$1 functions=$2 folder=$3 samples=${4:-0}
here=$(dirname -- "$0")
mkdir -p "$folder"
"$functions" names | while read -r name operands; do
	case $operands in
	1) args='gX[m,n]' ;;
	2) args='gX[m,n], gY[m,n]' ;;
	*) args='gX[m,n], gY[m,n], gZ[m,n]' ;;
	esac
	sed "s/NAME(ARGS)/$name($args)/; s/NAME/$name/" "$here/functions.gemm.in"
done >"$folder/functions.gemm"
"$dslc" -c "$folder/functions.gemm" -o "$folder/functions.cubin"
[ "$samples" = none ] || "$functions" "$folder" sim "$samples"
