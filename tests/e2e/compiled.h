/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled.h - a source compiled in this process, on $DSL_TEST_DEVICE or a simulator. */
#ifndef DSL_TESTS_E2E_COMPILED_H
#define DSL_TESTS_E2E_COMPILED_H

#include "driver/dslc.h"
#include "runtime/dsl.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Tiles of 64 x 16 of D = A B^T, up to its schedule, which ends the text. */
#define SMALL_GEMM                                                                              \
	"kernel small(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), D : out f32 (M,N):(N,1)) {\n" \
	"  let gA = A / (64,16), gB = B / (16,16), gD = D / (64,16);\n"                         \
	"  mma mm = wgmma<64,16,16>(bf16, bf16, f32);\n"                                        \
	"  smem sA : bf16 (64,16), sB : bf16 (16,16);\n"                                        \
	"  pipeline ab(2) { sA, sB }\n"                                                         \
	"  for (m,n) in gD {\n"                                                                 \
	"    acc : f32 mm.C(64,16) = 0;\n"                                                      \
	"    for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }\n"             \
	"    gD[m,n] <- acc;\n"                                                                 \
	"  }\n"

/* False: it does not compile, or there is no such device, or it does not load it. What was made is
 * the caller's. */
static inline bool compiled_open(const char *source, const char *simulator, dslc_result **result,
				 dsl_device **dev, dsl_module **mod)
{
	const char *name = getenv("DSL_TEST_DEVICE");
	size_t size;
	*result = dslc_compile(source, strlen(source), NULL);
	const char *cubin = dslc_output(*result, DSLC_CUBIN, &size);
	return cubin && !dsl_device_open(name ? name : simulator, dev) &&
	       !dsl_module_load_data(*dev, cubin, size, mod);
}

#endif
