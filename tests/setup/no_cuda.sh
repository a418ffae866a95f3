#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The road of a machine that has no CUDA: setup.sh fetches ptxas and cuda.h, a second run fetches
# nothing, what of the runtime sees CUDA's headers compiles with these, and dslc compiles the example with that ptxas.
#   no_cuda.sh SOURCE SCRATCH DSLC
# Every other CUDA is hidden: by the environment and PATH, by DSLC_IGNORE_SYSTEM_CUDA, and, where
# a mount namespace can be had, by an empty file system over /usr/local.
set -eu
source=$1 scratch=$2 dslc=$3

if [ -z "${DSLC_HIDDEN:-}" ]; then
	unset CUDA_HOME CUDA_PATH LIBRARY_PATH CPATH C_INCLUDE_PATH DSLC_PTXAS || true
	PATH=/usr/sbin:/usr/bin:/sbin:/bin
	export PATH DSLC_HIDDEN=1 DSLC_IGNORE_SYSTEM_CUDA=1 DSLC_LOCAL_CUDA="$scratch/cuda"
	if unshare -m true 2>/dev/null; then
		exec unshare -m sh -c 'mount -t tmpfs none /usr/local && exec "$0" "$@"' "$0" "$@"
	fi
	exec "$0" "$@"
fi

fail()
{
	echo "no_cuda: $*" >&2
	exit 1
}

fingerprint()
{
	find "$scratch/cuda" -printf '%P %s %T@\n' | sort
}

rm -rf "$scratch"
mkdir -p "$scratch"
command -v ptxas >/dev/null && fail "a ptxas is still on PATH"

"$source/tools/setup.sh"
"$scratch/cuda/bin/ptxas" --version | grep -q 'release 13\.0' || fail "not the ptxas of CUDA 13.0"
fingerprint >"$scratch/first"
"$source/tools/setup.sh" | grep -q fetching && fail "the second run fetched again"
fingerprint | cmp -s - "$scratch/first" || fail "the second run changed something"

cmake -S "$source" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
	-DDSLC_LOCAL_CUDA="$scratch/cuda" -DCMAKE_C_COMPILER_LAUNCHER= >"$scratch/log" || fail "configure: $(cat "$scratch/log")"
grep -q "ptxas $scratch/cuda/bin/ptxas, cuda.h in $scratch/cuda/include" "$scratch/log" ||
	fail "configure took another CUDA: $(grep ptxas "$scratch/log")"
seen=$(cd "$source/runtime" && grep -lE '"runtime/cu\.h"|<cuda' ./*.c | sed 's|^\./\(.*\)|runtime/CMakeFiles/dsl_runtime.dir/\1.o|')
[ -n "$seen" ] || fail "nothing of the runtime sees cuda.h"
cd "$scratch/build"
mkdir -p runtime/CMakeFiles/dsl_runtime.dir
for object in $seen; do # alone: the rest of the runtime, the simulator, sees nothing of CUDA
	sh -c "$(ninja -t commands -s "$object")" >"$scratch/log" 2>&1 || fail "build: $(cat "$scratch/log")"
	tr ' ' '\n' <"$object.d" | grep -qx "$scratch/cuda/include/cuda\.h" ||
		fail "$object was not compiled with the cuda.h of setup.sh"
done

DSLC_PTXAS="$scratch/cuda/bin/ptxas" "$dslc" "$source/examples/gemm/gemm.gemm" \
	-o "$scratch/gemm.cubin" || fail "dslc did not compile the example"
head -c 4 "$scratch/gemm.cubin" | grep -q ELF || fail "gemm.cubin is no ELF file"
