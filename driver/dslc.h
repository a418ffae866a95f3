/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* dslc.h - the compiler as a library. It has no global state, never exits or prints, and leaves no
 * files; several threads may compile at once. C99 and C++11.
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

/* Zero is the default of each member but the first. The library keeps no pointer to it. */
typedef struct dslc_options {
	size_t size; /* sizeof(dslc_options): later versions add members at the end; what a shorter
			size leaves out is not read, and 0 is an error */
	const char *
		name; /* of the source, for messages; NULL: "<memory>"; ending in .ir: textual IR */
	const char *target;         /* NULL: "sm_90a" */
	const char *const *defines; /* "NAME=VALUE"; the last one of a name counts */
	size_t ndefines;
	const char *ptxas_path; /* NULL: $DSLC_PTXAS, $CUDA_HOME, PATH, /usr/local/cuda* */
	const char *const *ptxas_args;
	size_t nptxas_args;
	int opt_level;       /* 1, 2, 3; 0: the default, 2; -1: like -O0 of the tool */
	int ptxas_timeout_s; /* 0: 120 */
	int emit;            /* DSLC_CUBIN | DSLC_PTX | ...; 0: DSLC_CUBIN */
	/* 1: a kernel that is neither proved nor refuted gets a warning; 0: it is an error. So wide
	 * that it begins after the struct of 0.2, whose last bytes nobody set. */
	size_t unproved;
	/* after 0.2.0: */
	size_t check_indices; /* 1: kernels note indices that are none, for dsl_status_of */
	size_t simulated;     /* 1: no ptxas; a cubin without machine code, for the simulator */
	size_t all_defines;   /* 1: a define that nothing takes is an error, not a warning */
	/* What the source leaves open is chosen for these sizes, "M=16,N=4096,K=4096" each; none:
	 * for likely ones, as a family of kernels under one name. */
	const char *const *sizes;
	size_t nsizes;
	const char *card; /* that it is chosen for, as dsl_device_name has it; NULL: an H200 */
	size_t one;       /* 1: one kernel, not a family, whatever the sizes */
	/* So many ways to close what is open are named by dslc_chosen, best first for sizes[0], and
	 * nothing is made. */
	size_t ranked;
	/* The text of FILE.tune, which dslc tune writes beside FILE.gemm; NULL: there is none. */
	const char *tuned;
	const char *kernel; /* of the source, the only one that is compiled; NULL: all */
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

/* NULL only if memory is exhausted. opt may be NULL. */
DSLC_API dslc_result *dslc_compile(const char *source, size_t size, const dslc_options *opt);
/* Whether there is output. */
DSLC_API int dslc_ok(const dslc_result *r);
/* The exit code of the tool: 0, 1 diagnostics, 3 ptxas failed, 4 a kernel neither proved nor
 * refuted, 70 internal error, 124 time limit. */
DSLC_API int dslc_exit_code(const dslc_result *r);
/* One of DSLC_*; NULL unless it was requested and produced. Texts end with a NUL that size does not
 * count. Valid as long as r. */
DSLC_API const void *dslc_output(const dslc_result *r, int what, size_t *size);
/* Errors and warnings, one or more lines each; with json, one object per line. "" if there are
 * none. */
DSLC_API const char *dslc_diagnostics(dslc_result *r, int json);
/* How what the source leaves open was closed, and why: lines of text; "" if nothing was open. With
 * ranked, a line for each way: the kernel, the estimate in microseconds, then defines, with tabs
 * between: "gemm\t9.1\tbM=64\tschedule=roles cooperative; swap;". Valid as long as r. */
DSLC_API const char *dslc_chosen(const dslc_result *r);
DSLC_API void dslc_result_free(dslc_result *r); /* r may be NULL */
DSLC_API const char *dslc_version(void);        /* "0.2.0" */

#ifdef __cplusplus
}
#endif
#endif
