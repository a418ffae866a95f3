#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every header compiles alone, in its own room; what a host program includes also compiles as C99
# and as C++11, with no cuda.h in reach.
#   headers.sh ROOT BUILD CC FLAGS...        flags: where LLVM's and CUDA's headers are
set -eu
root=$1 build=$2 cc=$3
shift 3
warn='-Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow -Werror'
status=0

# check HEADER COMPILER FLAGS...: one translation unit that holds nothing but the header
check()
{
	header=$1
	shift
	echo "#include \"$header\"" | "$@" -fsyntax-only - || {
		echo "$header does not compile alone: $*"
		status=1
	}
}

cd "$root"
# shellcheck disable=SC2086
for header in */*.h; do
	room=${header%%/*}
	[ -d "$build/include/$room" ] || continue
	check "$header" "$cc" -x c -std=c11 $warn -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700 \
		-Wno-unused-function -I"$build/include/$room" -I"$build/$room" "$@"
done
# shellcheck disable=SC2086
for header in dsl.h dslc.h; do
	check "$header" clang-22 -x c -std=c99 $warn -I"$build/include/host"
	check "$header" clang-22 -x c++ -std=c++11 $warn -I"$build/include/host"
done
exit $status
