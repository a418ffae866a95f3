/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stderr.c - stderr under a name of ours, for isl and GMP: the archives of Debian are compiled for
 * programs and address stderr in a way that no shared library can (cmake/Isl.cmake renames it). */
#include <stdio.h>

extern FILE *dsl_isl_stderr;
FILE *dsl_isl_stderr;

static __attribute__((constructor)) void stderr_set(void)
{
	dsl_isl_stderr = stderr;
}
