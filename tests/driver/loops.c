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
#include <time.h>

#include "frontend/frontend.h"
#include "passes/passes.h"
#include "verify/check.h"

enum { LOOPS = 800, RUNS = 3, FEWER = 8, GROWS = 3 };

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

static Cost best_of(int loops)
{
	Cost best = {1e9, 1e9};
	Buf text = {0};
	put_kernel(&text, loops);
	for (int run = 0; run < RUNS; run++) {
		Cost took = run_once(&text, loops);
		best.passes = took.passes < best.passes ? took.passes : best.passes;
		best.check = took.check < best.check ? took.check : best.check;
	}
	buf_free(&text);
	printf("%d loops: %.1f us each in the passes, %.1f us in the verifier\n", loops,
	       1e3 * best.passes, 1e3 * best.check);
	return best;
}

static void a_loop_costs_the_same(void **state)
{
	(void)state;
	Cost few = best_of(LOOPS / FEWER), all = best_of(LOOPS);
	assert_true(all.passes <= (double)GROWS * few.passes);
	assert_true(all.check <= (double)GROWS * few.check);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_loop_costs_the_same)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
