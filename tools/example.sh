#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sets the machine up, builds the release compiler and runs the main job: the GEMM example, on the
# GPU or, where there is none, on the simulator, against the reference interpreter.
#   tools/example.sh [SIZE]              SIZE as M=512,N=512,K=512
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
build/release/dslc examples/pick/pick.gemm -o build/gemm.cubin
echo "compiled and assembled: build/gemm.cubin ($(wc -c <build/gemm.cubin) bytes)"
exec build/release/dslc run examples/pick/pick.gemm --size "$size"
