#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The program that was built against 0.2 runs with the libraries of this build, and so does its source.
# The binary was made, once, by:
#   gcc -Os -s -fno-asynchronous-unwind-tables -fcf-protection=none -Wl,-z,noseparate-code,--build-id=none
#       $(pkg-config --cflags dsl-runtime dslc) abi.c -o abi-0.2.x86_64 -Wl,--as-needed \
#       $(pkg-config --libs-only-l --libs-only-L dsl-runtime dslc)
. "$(dirname "$0")/lib.sh"
here=$source/tests/install
export LD_LIBRARY_PATH="$lib"

# shellcheck disable=SC2046,SC2086
try "$cc" $flags $(pkg-config --cflags dsl-runtime dslc) "$here/abi.c" -o "$scratch/abi" \
	$(pkg-config --libs dsl-runtime dslc)
try "$scratch/abi"
said 'does what it did'

# Sanitized libraries want their runtime loaded first.
preload=
for name in asan ubsan; do
	[ -z "$flags" ] || preload="$preload $("$cc" -print-file-name=lib$name.so)"
done
[ "$(uname -m)" = x86_64 ] || { echo "the stored binary is for x86_64"; exit 0; }
try env LD_PRELOAD="$preload" ASAN_OPTIONS=detect_leaks=0 "$here/abi-0.2.x86_64"
said 'does what it did'
