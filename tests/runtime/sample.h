/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sample.h - what the tests of the runtime share: a description of the first kernel, a cubin that
 * carries it, arguments that fit it, and the fake driver. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "codegen/artifact.h"
#include "fake_cuda.h"
#include "runtime/desc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* after the four above, which it needs */
#include <cmocka.h>

typedef struct {
	KModuleDesc module;
	KDesc kernel[3];
} Sample;

/* Two kernels: gemm(A, B, D; M, N, K) with three maps, and scale(x, alpha, beta, n; N) with
 * none. */
void sample_fill(Sample *s);
/* gemm stores D with TMA or without, two elements at once: one parameter more. */
void sample_two_ways(Sample *s);
/* Of A and B the launcher may make copies; the kernel waits for grids. */
void sample_copies(Sample *s);
void sample_constant(Sample *s);                /* its B */
void sample_again(Sample *s, const char *name); /* gemm as a third kernel */
/* gemm alone, as a family of n variants, at most 4, with tiles of 128 x 256 and less. They are put
 * into kernels. */
void sample_family(Sample *s, KDesc *kernels, int n);

/* An ELF as small as can be, for machine `machine` (190 is CUDA). */
void sample_elf(int machine, Buf *out);
void sample_cubin_write(const KModuleDesc *m, Buf *out);
void sample_cubin_with(const KModuleDesc *m, const char *old, const char *new, Buf *out);
/* Parses the manifest with one text replaced, in memory of exactly its size. */
dsl_status sample_parse_with(const KModuleDesc *m, const char *old, const char *new);

enum { GEMM_ARGS = 6, GEMM_A = 0, GEMM_B, GEMM_D, GEMM_M, GEMM_N, GEMM_K };
void sample_args(dsl_arg args[GEMM_ARGS], int64_t m, int64_t n, int64_t k);

/* Asserts a status and that the sentence holds each of the words given, up to NULL. */
#define assert_status(got, wanted) \
	assert_string_equal(dsl_status_name(got), dsl_status_name(wanted))
void assert_says(const char *text, ...);

/* The fake driver, set to one healthy H200. */
Fake *fake_reset(void);
dsl_device *device_open(void);
dsl_module *module_open(dsl_device *dev, const KModuleDesc *m);

#endif
