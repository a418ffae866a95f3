#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Gathers what the steps times, python and ptxas12 of tests/gpu/all.sh take to a machine with a GPU:
#   pack_tool.sh BUILD OUT      e.g. pack_tool.sh build/release build/tool; what travels is build/tool.tar.gz
# BUILD is a release build with the targets dslc, launch_overhead, matrix, types_table, test_e2e_conversions and wheel. ptxas 12.9 comes from PyPI, or is $PTXAS12.
#   OUT/dslc launch_overhead matrix types_table test_e2e_conversions bench/gemm.cubin dslc-*.whl ptxas12    OUT.tar.gz
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
build=$1 out=$2
rm -rf "$out" "$out.tar.gz"
mkdir -p "$out/bench" "$out/pypi"
strip -o "$out/dslc" "$build/dslc"
strip -o "$out/launch_overhead" "$build/tests/gpu/launch_overhead"
strip -o "$out/matrix" "$build/tests/matrix/matrix"
strip -o "$out/types_table" "$build/tests/e2e/types_table"
strip -o "$out/test_e2e_conversions" "$build/tests/e2e/test_e2e_conversions"
cp "$build"/wheel/dslc-*.whl "$out"
"$out/dslc" "$root/examples/gemm/gemm.gemm" -o "$out/bench/gemm.cubin"
if [ -z "${PTXAS12:-}" ]; then
	python3 -m pip download -q --disable-pip-version-check --no-deps -d "$out/pypi" nvidia-cuda-nvcc-cu12==12.9.86
	python3 -m zipfile -e "$out"/pypi/*.whl "$out/pypi"
	PTXAS12=$out/pypi/nvidia/cuda_nvcc/bin/ptxas
fi
cp "$PTXAS12" "$out/ptxas12"
chmod +x "$out/ptxas12"
rm -rf "$out/pypi"
tar -C "$out" -czf "$out.tar.gz" .
du -h "$out.tar.gz"
