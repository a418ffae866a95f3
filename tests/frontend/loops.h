/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* loops.h - a kernel of many loops in sequence, and the clock of the processor, for tests of what
 * a loop costs. */
#ifndef TESTS_FRONTEND_LOOPS_H
#define TESTS_FRONTEND_LOOPS_H

#include <time.h>

#include "base/base.h"

/* Appends the text of the kernel. */
static inline void put_loops(Buf *b, int loops)
{
	buf_printf(b, "kernel many(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), "
		      "D : out bf16 (M,N):(N,1))\n{\n"
		      "    let gA = A / (64,64), gB = B / (64,64), gD = D / (64,64);\n"
		      "    mma mm = wgmma<64,64,16>(bf16, bf16, f32) * (1,1,1);\n"
		      "    smem sA : bf16 (64,64), sB : bf16 (64,64);\n"
		      "    pipeline ab(3) { sA, sB }\n"
		      "    for (m,n) in gD {\n        acc : f32 mm.C(64,64) = 0;\n");
	for (int i = 0; i < loops; i++)
		buf_printf(b, "        for k in gA[m] {\n            sA <- gA[m,k];\n"
			      "            sB <- gB[n,k];\n            acc += mm(sA, sB);\n"
			      "        }\n");
	buf_printf(b, "        gD[m,n] <- bf16(acc);\n    }\n    schedule { roles none; }\n}\n");
}

/* Milliseconds of this process. */
static inline double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

#endif
