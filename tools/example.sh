#!/bin/sh
# Sets the machine up, builds the release compiler and runs the main job: the GEMM example, on the
# GPU against the reference interpreter.
#   tools/example.sh [SIZE]              SIZE as M=512,N=512,K=512
# Without a GPU the kernel is compiled and assembled, and what was not run is said.
set -eu
cd "$(dirname -- "$0")/.."
size=${1:-M=512,N=512,K=512}
tools/setup.sh
cmake --preset release
cmake --build --preset release --target dslc
if [ -x build/cuda/bin/ptxas ]; then
	DSLC_PTXAS=$PWD/build/cuda/bin/ptxas
	export DSLC_PTXAS
fi
if [ -e /dev/nvidiactl ]; then
	exec build/release/dslc run examples/gemm/gemm.gemm --size "$size"
fi
build/release/dslc examples/gemm/gemm.gemm -o build/gemm.cubin
echo "compiled and assembled: build/gemm.cubin ($(wc -c <build/gemm.cubin) bytes)"
echo "NOT run: there is no NVIDIA GPU here (no /dev/nvidiactl). On one: $0 $size"
