/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* frontend.speed - a kernel of 400 loops: what a loop costs does not grow with their number. Prints
 * milliseconds of the processor.
 *     for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }    400 times
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <time.h>

#include "frontend/frontend.h"

enum { LOOPS = 400, RUNS = 5, FEWER = 8, GROWS = 3 };

static void put_kernel(Buf *b, int loops)
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

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int count_loops(const Kernel *k)
{
	int n = 0;
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		n += op->kind == OP_FOR;
	return n;
}

static double best_of(int loops)
{
	double best = 1e9;
	Buf text = {0};
	put_kernel(&text, loops);
	for (int run = 0; run < RUNS; run++) {
		FrontendOpt opt = {0};
		Ctx *c = ctx_new();
		int src = ctx_src(c, "many.gemm", text.s, text.n);
		double start = now();
		Module *m = frontend_compile(c, src, &opt);
		double took = now() - start;
		if (!m)
			fail_msg("%s", diag_first(c)->text);
		assert_int_equal(count_loops(m->kernels.at[0]), loops);
		best = took < best ? took : best;
		ctx_free(c);
	}
	buf_free(&text);
	return best;
}

static void a_loop_costs_the_same(void **state)
{
	(void)state;
	const int few = LOOPS / FEWER;
	double each = best_of(LOOPS) / (double)LOOPS, before = best_of(few) / (double)few;
	printf("%d loops: %.1f us each, %d loops: %.1f us each\n", LOOPS, 1e3 * each, few,
	       1e3 * before);
	assert_true(each <= (double)GROWS * before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_loop_costs_the_same)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
