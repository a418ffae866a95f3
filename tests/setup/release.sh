#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The release build needs glibc alone, and compiles the example to the same bytes as this build.
#   release.sh SOURCE SCRATCH DSLC
# It is built in the copy of the tree that faults are put into (tools/faults.sh), for which it is built anyway; with -O1, in two
# thirds of the time that -O2 takes, whose warning of what is not set knows less.
set -eu
source=$1 scratch=$2 dslc=$3
example=$source/examples/gemm/gemm.gemm

fail()
{
	echo "release: $*" >&2
	exit 1
}

mkdir -p "$scratch"
tree=$("$source/tools/faults.sh" tree)
cd "$tree"
cmake --preset release -DDSLC_RELEASE_FLAGS="-O1 -DNDEBUG -Wno-maybe-uninitialized" >"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
cmake --build --preset release --target dslc >"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
release=$tree/build/release/dslc

needed=$(readelf -d "$release" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[ -n "$needed" ] || fail "no dynamic section was read"
for library in $needed; do
	case $library in
	libc.so.6 | libm.so.6 | ld-linux-x86-64.so.2) ;;
	*) fail "dslc needs $library" ;;
	esac
done

"$release" "$example" -o "$scratch/release.cubin" || fail "the example does not compile"
"$dslc" "$example" -o "$scratch/this.cubin" || fail "this build does not compile the example"
cmp "$scratch/release.cubin" "$scratch/this.cubin" || fail "two builds, two cubins"
