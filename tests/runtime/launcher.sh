#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The generated header compiles without a warning as C99 and as C++11, alone and twice in one program;
# the C array compiles as C99.
#   launcher.sh HEADER ARRAY HOST_INCLUDE
set -eu
header=$1 array=$2 include=$3
warn='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/use.c" <<END
#include <string.h>
#include "$header"
#include "$header"
int use(dsl_module *mod, int64_t m);
int use(dsl_module *mod, int64_t m)
{
	gemm_args a;
	scale_args s;
	char why[80];
	memset(&a, 0, sizeof a);
	memset(&s, 0, sizeof s);
	a.class_ = a.B = a.D = 4096;
	a.M = a.N = a.K = m;
	return gemm_can_run(&a, why, sizeof why) && gemm_launch(mod, &a, NULL, NULL) == DSL_OK &&
	       scale_can_run(&s, why, sizeof why) && scale_launch(mod, &s, NULL, NULL) == DSL_OK;
}
END
# shellcheck disable=SC2086
{
	clang-22 -x c -std=c99 $warn -I"$include" -c "$work/use.c" -o "$work/use.o"
	clang-22 -x c++ -std=c++11 $warn -I"$include" -c "$work/use.c" -o "$work/use++.o"
	clang-22 -x c -std=c99 $warn -c "$array" -o "$work/array.o"
}
if nm "$work/use.o" | grep ' T ' | grep -v ' use$'; then
	echo "the header defines the names above for all to see"
	exit 1
fi
nm "$work/array.o" | grep -q ' sample_cubin_size$'
