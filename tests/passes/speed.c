/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* passes.speed - kernels of 5,000 ops, each many of another thing, go through all passes in 50 ms,
 * and what an op costs does not grow with the kernel. Prints milliseconds of the processor. The
 * bounds that fail are wider, because builds with sanitizers and busy machines pass through here
 * too: a pass that looks through the kernel for each op is beyond them by far. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <stdio.h>
#include <time.h>

#include "passes/pass.h"

#ifndef MILLISECONDS
#define MILLISECONDS 200
#endif
/* Of a kernel with FEWER times fewer ops, each may cost 1 / GROWS of what it costs in the whole. */
#ifndef RUNS
#define RUNS 5
#endif
enum { OPS = 5000, FEWER = 8, GROWS = 3 };

#define LOADS                                                                       \
	"      %%t%d = tile %%A (m * 128, k%d * 32) : global bf16 (128,32):(K,1)\n" \
	"      copy %%sA%d, %%t%d\n"                                                \
	"      %%u%d = tile %%B (n * 64, k%d * 32) : global bf16 (64,32):(K,1)\n"   \
	"      copy %%sB%d, %%u%d\n"
static void put_ring(Buf *b, int ring)
{
	buf_printf(b,
		   "  ring ab%d slots=2\n"
		   "  %%sA%d = shared ring=ab%d auto=1 : shared bf16 (128,32):(1,128)\n"
		   "  %%sB%d = shared ring=ab%d auto=1 : shared bf16 (64,32):(1,64)\n",
		   ring, ring, ring, ring, ring);
}

static void put_loop(Buf *b, int loop, int ring, int mmas)
{
	buf_printf(b, "    for k%d (0, (K + 31) / 32) {\n" LOADS, loop, loop, loop, ring, loop,
		   loop, loop, ring, loop);
	for (int i = 0; i < mmas; i++)
		buf_printf(b,
			   "      mma %%acc, %%sA%d, %%sB%d atom=wgmma.m64n64k16.f32.bf16.bf16 "
			   "arrange=(2,1,1)\n",
			   ring, ring);
	buf_printf(b, "    }\n");
}

typedef struct {
	const char *name;
	int rings, loops, mmas, elementwise;
} Shape;

static const Shape shapes[] = {
	{"operations on the result", 1, 1, 1, 5000},
	{"products in a loop", 1, 1, 2500, 1},
	{"loops on one ring", 1, 260, 1, 1},
	{"loops on many rings", 8, 260, 1, 1},
};

static void put_kernel(Buf *b, const Shape *s, const char *roles)
{
	buf_printf(b,
		   "kernel gemm tile sm_90a roles=%s {\n"
		   "  sym M 0..2147483647\n  sym K 0..2147483647\n  sym N 0..2147483647\n"
		   "  arg %%A : global bf16 (M,K):(K,1)\n  arg %%B : global bf16 (N,K):(K,1)\n"
		   "  arg out %%D : global bf16 (M,N):(N,1)\n",
		   roles);
	for (int i = 0; i < s->rings; i++)
		put_ring(b, i);
	buf_printf(b, "  grid m, n ((M + 127) / 128, (N + 63) / 64) {\n"
		      "    %%acc = frag : reg f32 (128,64):(1,128)\n    fill %%acc value=0\n");
	for (int i = 0; i < s->loops; i++)
		put_loop(b, i, i % s->rings, s->mmas);
	buf_printf(b, "    %%half = const value=0.5 : f32\n"
		      "    %%x0 = mul %%acc, %%half : reg f32 (128,64):(1,128)\n");
	for (int i = 1; i < s->elementwise; i++)
		buf_printf(b, "    %%x%d = mul %%x%d, %%x%d : reg f32 (128,64):(1,128)\n", i, i - 1,
			   i - 1);
	buf_printf(b,
		   "    %%c = cvt %%x%d : reg bf16 (128,64):(1,128)\n"
		   "    %%d = tile %%D (m * 128, n * 64) : global bf16 (128,64):(N,1)\n"
		   "    copy %%d, %%c\n  }\n}\n",
		   s->elementwise - 1);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double run_once(const Buf *text, int *ops)
{
	Ctx *c = ctx_new();
	Module *m = module_parse(c, ctx_src(c, "test", text->s, text->n));
	PassOpt opt = {.stop_after = -1, .only = -1};
	if (!m || diag_errors(c))
		fail_msg("%s", diag_first(c)->text);
	double start = now();
	if (!passes_run(m->kernels.at[0], &opt))
		fail_msg("%s", diag_first(c)->text);
	double took = now() - start;
	*ops = 0;
	for (const Op *op = kernel_first(m->kernels.at[0]); op; op = op_next(op))
		(*ops)++;
	ctx_free(c);
	return took;
}

static double best_of(const Shape *s, const char *roles, int *ops)
{
	double best = 1e9;
	Buf text = {0};
	put_kernel(&text, s, roles);
	for (int run = 0; run < RUNS; run++) {
		double took = run_once(&text, ops);
		best = took < best ? took : best;
	}
	buf_free(&text);
	return best;
}

static int fewer(int n)
{
	return n > FEWER ? n / FEWER : n;
}

static void large_kernels_are_quick(void **state)
{
	(void)state;
	bool slow = false;
	for (int i = 0; i < 2 * (int)COUNTOF(shapes); i++) {
		const Shape *s = &shapes[i / 2];
		Shape part = {s->name, s->rings, fewer(s->loops), fewer(s->mmas),
			      fewer(s->elementwise)};
		const char *roles = i % 2 ? "cooperative" : "none";
		int ops, few;
		double all = best_of(s, roles, &ops), least = best_of(&part, roles, &few);
		double each = all / ops, before = least / few;
		printf("%6.1f ms, %5d ops, %.1f us an op (of %d: %.1f): %s, roles %s\n", all, ops,
		       1e3 * each, few, 1e3 * before, s->name, roles);
		assert_true(ops >= OPS);
		slow |= all > MILLISECONDS || each > (double)GROWS * before;
	}
	assert_false(slow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(large_kernels_are_quick)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
