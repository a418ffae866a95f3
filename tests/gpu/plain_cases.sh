#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Kernels without an mma, under a few schedules and tiles, for a machine with a GPU, built where ptxas is:
#   plain_cases.sh DSLC ROOT OUT
#     OUT/plain/LABEL.cubin
#     OUT/works.txt               lines WORK SIZES LABEL CUBIN are added, for against_torch.py
set -eu
dslc=$1 root=$2 out=$3
rm -rf "$out/plain"
mkdir -p "$out/plain"

# WORK SIZES LABEL SED: the program of tests/gpu/plain that stands in $file, edited
kernel()
{
	work=$1 sizes=$2 label=$3 edit=$4
	sed "$edit" "$file" >"$out/plain/$work-$label.gemm"
	"$dslc" -q "$out/plain/$work-$label.gemm" -o "$out/plain/$work-$label.cubin"
	rm "$out/plain/$work-$label.gemm"
	echo "$work $sizes $label plain/$work-$label.cubin" >>"$out/works.txt"
}

file=$root/tests/gpu/plain/axpby.gemm
kernel axpby 268435456 t4096 ''
kernel axpby 268435456 t2048 's/4096/2048/g'
file=$root/tests/gpu/plain/transpose.gemm
for tile in 64,64 32,64 64,32 128,64 64,128 32,32 128,128; do
	kernel transpose "8192 8192" "$tile" "s/(64,64)/($tile)/g"
done
file=$root/tests/gpu/plain/softmax.gemm
for threads in 256 512 1024; do
	kernel softmax "8192 8192" "threads$threads" "s/^}/    schedule { threads $threads; }\n}/"
done
file=$root/tests/gpu/plain/softmax_long.gemm
for size in "1024 131072" "4096 50304"; do
	kernel softmax "$size" "long32768" ''
	kernel softmax "$size" "long8192" 's/COLS = 32768, T = 1024/COLS = 8192, T = 256/'
done
# Of two kernels in one file, the one that the label begins with.
for threads in 256 512 1024; do
	file=$root/tests/gpu/plain/norm.gemm
	kernel norm "8192 8192" "threads$threads" "/^kernel residual/,\$d; s/^}/    schedule { threads $threads; }\n}/"
	kernel residual_norm "8192 8192" "threads$threads" "/^kernel norm/,/^}/d; s/^}/    schedule { threads $threads; }\n}/"
done
