/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* dslc.h - the compiler as a library. No globals, no exit, no printing, no file left behind; two
 * compilations may run in two threads. C99 and C++11.
 *   dslc_options opt = {.size = sizeof opt, .name = "gemm.gemm"};
 *   dslc_result *r = dslc_compile(text, strlen(text), &opt);
 *   if (dslc_ok(r)) cubin = dslc_output(r, DSLC_CUBIN, &size); else puts(dslc_diagnostics(r, 0));
 */
#ifndef DSLC_H
#define DSLC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DSLC_API __attribute__((visibility("default")))
#else
#define DSLC_API
#endif

/* Zero is the default of each member but the first. Nothing is kept after dslc_compile returns. */
typedef struct dslc_options {
	size_t size; /* sizeof(dslc_options): later versions add members at the end; what a shorter
			size leaves out is not read, and 0 is an error */
	const char *
		name; /* of the source, for messages; NULL: "<memory>"; ending in .ir: textual IR */
	const char *target;         /* NULL: "sm_90a" */
	const char *const *defines; /* "NAME=VALUE"; the last of a name counts */
	size_t ndefines;
	const char *ptxas_path; /* NULL: $DSLC_PTXAS, $CUDA_HOME, PATH, /usr/local/cuda* */
	const char *const *ptxas_args;
	size_t nptxas_args;
	int opt_level;       /* 1, 2, 3; 0: the default, which is 2; -1: as the tool's -O0 */
	int ptxas_timeout_s; /* 0: 120 */
	int emit;            /* DSLC_CUBIN | DSLC_PTX | ...; 0: DSLC_CUBIN */
} dslc_options;

enum {
	DSLC_CUBIN = 1,
	DSLC_PTX = 2,
	DSLC_LLVM = 4,
	DSLC_MANIFEST = 8,
	DSLC_IR = 16,
	DSLC_HEADER = 32,
	DSLC_C = 64
};

typedef struct dslc_result dslc_result; /* owned by the caller: dslc_result_free */

/* Never NULL unless memory is out. opt may be NULL. */
DSLC_API dslc_result *dslc_compile(const char *source, size_t size, const dslc_options *opt);
/* Whether there is output. */
DSLC_API int dslc_ok(const dslc_result *r);
/* What the tool would exit with: 0, 1 diagnostics, 3 ptxas failed, 70 a fault of dslc's own, 124
 * time limit. */
DSLC_API int dslc_exit_code(const dslc_result *r);
/* One of DSLC_*; NULL unless it was asked for and made. Texts end in a NUL that size leaves out.
 * Lives as long as r. */
DSLC_API const void *dslc_output(const dslc_result *r, int what, size_t *size);
/* Errors and warnings, a line or more each; JSON: an object a line. "" when there are none. */
DSLC_API const char *dslc_diagnostics(dslc_result *r, int json);
DSLC_API void dslc_result_free(dslc_result *r); /* r may be NULL */
DSLC_API const char *dslc_version(void);        /* "0.2.0" */

#ifdef __cplusplus
}
#endif
#endif
