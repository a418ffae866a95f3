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

# ours WORK LABEL FLAGS...
ours()
{
	work=$1 label=$2
	shift 2
	"$dslc" "$here/$work.gemm" "$@" -o "$out/$work.$label.cubin"
	echo "$work 4096 4096 4096 $label $work.$label.cubin" >>"$out/works.txt"
}
ours multi 256x128x32.4.tma
ours multi 256x128x32.4.tma.g4 -DG=4
ours multi 256x128x32.4.tma.again
ours multi 256x128x32.4.one -DR=none
ours multi 256x128x32.6.one -DR=none -DS=6
ours multi 128x256x32.4.tma -DbM=128 -DbN=256
ours multi 256x128x32.4.cp_async --target=sm_80 -DR=none
ours multi 256x128x32.5.cp_async --target=sm_80 -DR=none -DS=5
ours multi 128x128x32.5.cp_async --target=sm_80 -DR=none -DbM=128 -DWN=1 -DS=5
ours multi 128x128x32.5.cp_async.2 --target=sm_80 -DR=none -DbM=128 -DS=5
ours multi 256x128x32.4.cp_async.90 --target=sm_90 -DR=none
ours simple 256x128x16
ours simple 128x128x16 -DbM=128 -DWN=1
ours simple 128x128x32 -DbM=128 -DWN=1 -DbK=32
ours simple 128x256x16 -DbM=128 -DbN=256
ours simple 256x128x16.g1 -DG=1
wait
