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

#include "frontend/frontend.h"
#include "loops.h"

enum { LOOPS = 400, RUNS = 5, FEWER = 8, GROWS = 3 };

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
	put_loops(&text, loops);
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
