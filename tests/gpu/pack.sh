#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Gathers what tests/gpu/all.sh takes to a machine with a GPU:
#   pack.sh BUILD OUT        e.g. pack.sh build/release build/gpu; what travels is build/gpu.tar.gz
# BUILD is a release build (LLVM linked statically, so that dslc starts anywhere).
#   OUT/dslc gpu_check launch_overhead test_runtime_repack test_functions libdsl_runtime.so host embed epilogues_host
#   OUT/cases  OUT/bench  OUT/swap  OUT/layers  OUT/split  OUT/works  OUT/ways  OUT/epilogues  OUT/plain  OUT/random  OUT/soak  OUT/constant  OUT/functions
#   OUT.tar.gz
# SOAK kernels drawn from SEED go into the soak.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
build=$1 out=$2
rm -rf "$out" "$out.tar.gz"
mkdir -p "$out/bench" "$out/cases"

copy()
{
	# the one nearest to the top: installations that tests made have copies
	found=$(find -L "$build" -name "$1" -type f -perm -u+x | awk '{ print gsub("/", "/"), $0 }' | sort -n |
		sed -n '1s/^[0-9]* //p')
	[ -n "$found" ] || { echo "pack: $build has no $1: build it first"; exit 1; }
	cp -L "$found" "$out/${2:-$1}"
	strip "$out/${2:-$1}" 2>/dev/null || true
}
copy dslc
copy gpu_check
copy libdsl_runtime.so
copy libdsl_runtime.so libdsl_runtime.so.1
copy example_gemm_host host
copy example_embed embed
copy example_epilogues_host epilogues_host
copy launch_overhead
copy test_runtime_repack
copy test_functions
"$root/tests/functions/functions.sh" "$out/dslc" "$out/test_functions" "$out/functions" none
rm "$out"/functions/*.gemm
"$root/tests/gpu/build_cases.sh" "$out/dslc" "$root" "$out/cases"
rm -rf "$out/bench"
mv "$out/cases/bench" "$out/bench"
"$out/dslc" "$root/examples/gemm/gemm.gemm" -o "$out/bench/gemm.cubin"
rm -rf "$out/cases/src" "$out/cases/jobs.txt"
"$root/tests/gpu/batch_cases.sh" "$out/dslc" "$root" "$out"
"$root/tests/gpu/swap_cases.sh" "$out/dslc" "$root" "$out"
"$root/tests/gpu/ways_cases.sh" "$out/dslc" "$root" "$out"
"$root/tests/gpu/epilogue_cases.sh" "$out/dslc" "$root" "$out"
"$root/tests/gpu/plain_cases.sh" "$out/dslc" "$root" "$out"
"$root/tests/gpu/split_cases.sh" "$out/dslc" "$root" "$out"
mkdir -p "$out/random"
"$(find "$build" -name random_kernels -type f -perm -u+x)" --write "$out/random" "${RANDOM_KERNELS:-500}" "${SEED:-1}"
"$root/tests/gpu/soak_cases.sh" "$out/dslc" "$root" "$out/soak" "${SOAK:-300}" "${SEED:-1}"
mkdir -p "$out/constant"
"$out/dslc" -q "$root/tests/e2e/constant.gemm" -DbN=64 -o "$out/constant/early.cubin"
sed 's/: constant /: /' "$root/tests/e2e/constant.gemm" >"$out/constant/plain.gemm"
"$out/dslc" -q "$out/constant/plain.gemm" -DbN=64 -o "$out/constant/plain.cubin"
tar -C "$out" -czf "$out.tar.gz" .
du -h "$out.tar.gz"
