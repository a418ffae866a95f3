/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* driver.loops - a kernel of many loops through all that stands before LLVM: what a loop costs the
 * passes and the verifier does not grow with their number. The verifier reads all of them before it
 * says that they are more than it follows. Prints milliseconds of the processor.
 *     for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }    800 times
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "frontend/frontend.h"
#include "passes/passes.h"
#include "verify/check.h"
#include "loops.h"

enum { LOOPS = 800, RUNS = 3, FEWER = 8, GROWS = 4 };

typedef struct {
	double passes, check; /* milliseconds a loop */
} Cost;

static Cost run_once(const Buf *text, int loops)
{
	Ctx *c = ctx_new();
	FrontendOpt none = {0};
	PassOpt opt = {.stop_after = -1, .only = -1};
	CheckResult result;
	Module *m = frontend_compile(c, ctx_src(c, "many.gemm", text->s, text->n), &none);
	assert_non_null(m);
	double start = now();
	assert_true(passes_run(m->kernels.at[0], &opt));
	double passed = now();
	assert_int_equal(check_kernel(m->kernels.at[0], NULL, &result), CHECK_UNKNOWN);
	double checked = now();
	ctx_free(c);
	return (Cost){(passed - start) / loops, (checked - passed) / loops};
}

static void keep_best(Cost *best, Cost took)
{
	best->passes = took.passes < best->passes ? took.passes : best->passes;
	best->check = took.check < best->check ? took.check : best->check;
}

static void print_cost(int loops, Cost c)
{
	printf("%d loops: %.1f us each in the passes, %.1f us in the verifier\n", loops,
	       1e3 * c.passes, 1e3 * c.check);
}

/* In turn, so that what else the machine does is in both. */
static void a_loop_costs_the_same(void **state)
{
	enum { FEW = LOOPS / FEWER };
	Buf small = {0}, large = {0};
	Cost few = {1e9, 1e9}, all = {1e9, 1e9};
	(void)state;
	put_loops(&small, FEW);
	put_loops(&large, LOOPS);
	for (int run = 0; run < RUNS; run++) {
		keep_best(&few, run_once(&small, FEW));
		keep_best(&all, run_once(&large, LOOPS));
	}
	buf_free(&small);
	buf_free(&large);
	print_cost(FEW, few);
	print_cost(LOOPS, all);
	assert_true(all.passes <= (double)GROWS * few.passes);
	assert_true(all.check <= (double)GROWS * few.check);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_loop_costs_the_same)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
