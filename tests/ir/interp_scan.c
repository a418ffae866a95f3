/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ir.interp_scan - running sums of rows in the reference interpreter, and their bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "kernels.h"

enum { N = 8 }; /* two rows of four */

static const Kernel *scan_of(Ctx *c, const char *elem)
{
	return kernel_of(c, arena_printf(ctx_arena(c),
					 "kernel scan tile sm_90a {\n"
					 "  arg %%A : global %s (2,4):(4,1)\n"
					 "  arg out %%D : global %s (2,4):(4,1)\n"
					 "  %%s = frag : reg %s (2,4)\n"
					 "  copy %%s, %%A\n"
					 "  %%r = scan %%s : reg %s (2,4)\n"
					 "  copy %%D, %%r\n"
					 "}\n",
					 elem, elem, elem, elem));
}

/* The sum is kept in doubles: what 24 bits do not hold comes back. */
static void test_floats(void **state)
{
	float a[N] = {0x1p24f, 1, -0x1p24f, 3, INFINITY, 1, -INFINITY, 0}, d[N] = {0};
	const float want[N] = {0x1p24f, 0x1p24f, 1, 4, INFINITY, INFINITY, NAN, NAN};
	Ctx *c = ctx_new();
	InterpArg args[] = {{"A", a}, {"D", d}};
	(void)state;
	run_ok(scan_of(c, "f32"), &(InterpRun){.args = args, .nargs = 2});
	for (int i = 0; i < N; i++)
		assert_true(isnan(want[i]) ? isnan(d[i]) : d[i] == want[i]);
	ctx_free(c);
}

/* Integers wrap. */
static void test_words(void **state)
{
	int32_t a[N] = {INT32_MAX, 1, 1, -3, -5, 2, 2, 2}, d[N] = {0};
	const int32_t want[N] = {INT32_MAX, INT32_MIN, INT32_MIN + 1, INT32_MAX - 1, -5, -3, -1, 1};
	Ctx *c = ctx_new();
	InterpArg args[] = {{"A", a}, {"D", d}};
	(void)state;
	run_ok(scan_of(c, "s32"), &(InterpRun){.args = args, .nargs = 2});
	assert_memory_equal(d, want, sizeof d);
	ctx_free(c);
}

/* Sums of few bits are exact in any order; others may be off by what is rounded up to there. */
static void test_bounds(void **state)
{
	float a[N] = {1, 0.5f, -2, 8, 1, 0x1p-30f, 0, 1}, d[N], lo[N], hi[N];
	void *los[] = {NULL, lo}, *his[] = {NULL, hi};
	Ctx *c = ctx_new();
	InterpArg args[] = {{"A", a}, {"D", d}};
	(void)state;
	run_ok(scan_of(c, "f32"), &(InterpRun){.args = args, .nargs = 2, .lo = los, .hi = his});
	for (int i = 0; i < N; i++) {
		assert_true(lo[i] <= d[i] && d[i] <= hi[i]);
		assert_true((lo[i] < hi[i]) == (i > 4));
	}
	ctx_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_floats),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_bounds),
	};
	return cmocka_run_group_tests_name("ir.interp_scan", tests, NULL, NULL);
}
