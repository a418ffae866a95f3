#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Into OUT: CUTLASS's and CuTe's kernels for sm_80 as libsm80.so, ours as cubins, and works.txt, which tests/gpu/against_torch.py reads on
# a machine with a GPU. CUTLASS is where its headers are: pip download nvidia-cutlass, cutlass_library/source/include.
#   build.sh DSLC CUTLASS OUT
set -eu
dslc=$1 cutlass=$2 out=$3
here=$(dirname "$0")
mkdir -p "$out"
nvcc -O3 -std=c++17 -arch=sm_90 --expt-relaxed-constexpr -Xcompiler -fPIC -shared -I "$cutlass" "$here/sm80.cu" -o "$out/libsm80.so" &
: >"$out/works.txt"

# ours FILE LABEL FLAGS...: WORK is the kernel's name
ours()
{
	work=$(sed -n 's/^kernel \([a-z]*\).*/\1/p' "$1") label=$2 file=$1
	shift 2
	"$dslc" "$file" "$@" -o "$out/$work.$label.cubin"
	echo "$work 4096 4096 4096 $label $work.$label.cubin" >>"$out/works.txt"
}
ours "$here/multi.gemm" 256x128x32.4.tma
ours "$here/multi.gemm" 256x128x32.4.tma.g4 -DG=4
ours "$here/multi.gemm" 256x128x32.4.tma.again
ours "$here/multi.gemm" 256x128x32.4.one -DR=none
ours "$here/multi.gemm" 256x128x32.6.one -DR=none -DS=6
ours "$here/multi.gemm" 128x256x32.4.tma -DbM=128 -DbN=256
ours "$here/multi.gemm" 256x128x32.4.cp_async --target=sm_80 -DR=none
ours "$here/multi.gemm" 256x128x32.5.cp_async --target=sm_80 -DR=none -DS=5
ours "$here/multi.gemm" 128x128x32.5.cp_async --target=sm_80 -DR=none -DbM=128 -DWN=1 -DS=5
ours "$here/multi.gemm" 128x128x32.5.cp_async.2 --target=sm_80 -DR=none -DbM=128 -DS=5
sed 's/^    pipeline /    copy     ldA = cp_async(A, sA), ldB = cp_async(B, sB);\n&/' "$here/multi.gemm" >"$out/copied.gemm"
ours "$out/copied.gemm" 256x128x32.4.copied.roles
ours "$out/copied.gemm" 256x128x32.4.copied.one -DR=none
ours "$out/copied.gemm" 256x128x32.5.copied.one -DR=none -DS=5
ours "$out/copied.gemm" 256x128x32.6.copied.roles -DS=6
ours "$here/simple.gemm" 256x128x16
ours "$here/simple.gemm" 128x128x16 -DbM=128 -DWN=1
ours "$here/simple.gemm" 128x128x32 -DbM=128 -DWN=1 -DbK=32
ours "$here/simple.gemm" 128x256x16 -DbM=128 -DbN=256
ours "$here/simple.gemm" 256x128x16.g1 -DG=1
wait
