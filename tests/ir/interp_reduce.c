/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ir.interp_reduce - reductions in the reference interpreter: of rows, of columns of a few rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "kernels.h"

static const char rows_text[] = "kernel rows tile sm_90a {\n"
				"  arg %%A : global f32 (3,4):(4,1)\n"
				"  arg out %%D : global f32 (3,4):(4,1)\n"
				"  %%s = frag : reg f32 (4,4)\n"
				"  %%v = frag : reg f32 (4,1):(1,0)\n"
				"  %%t = tile %%A (0, 0) : global f32 (4,4):(4,1)\n"
				"  copy %%s, %%t\n"
				"  fill %%v value=-inf\n"
				"  %%r = reduce %%s combine=%s : reg f32 (4,1):(1,0)\n"
				"  %%m = max %%v, %%r : reg f32 (4,1):(1,0)\n"
				"  copy %%v, %%m\n"
				"  %%x = sub %%s, %%v : reg f32 (4,4)\n"
				"  copy %%s, %%x\n"
				"  %%d = tile %%D (0, 0) : global f32 (4,4):(4,1)\n"
				"  copy %%d, %%s\n"
				"}\n";

/* Each row less what it is reduced to; the sum of the last is kept in doubles to its end. */
static void check_rows(const char *combine, const float *want)
{
	static const float in[12] = {1, 5, -2, 3, 0, -7, 0, -1, 0x1p24f, 1, 1, -0x1p24f};
	float a[12], d[12] = {0};
	memcpy(a, in, sizeof a);
	Ctx *c = ctx_new();
	const Kernel *k = kernel_of(c, arena_printf(ctx_arena(c), rows_text, combine));
	InterpArg args[] = {{"A", a}, {"D", d}};
	InterpRun run = {.args = args, .nargs = 2};
	const char *why = NULL;
	assert_true(kernel_interp(k, &run, &why));
	for (int i = 0; i < 12; i++)
		assert_true(d[i] == in[i] - want[i / 4]);
	ctx_free(c);
}

static void test_rows(void **state)
{
	(void)state;
	check_rows("max", (const float[]){5, 0, 0x1p24f});
	check_rows("min", (const float[]){-2, -7, -0x1p24f});
	check_rows("sum", (const float[]){7, -8, 2});
}

/* The columns of two rows at a time, and all of two rows. */
static void check_groups(const char *combine, const float want[2][4], int cols)
{
	static const float in[16] = {1, 5, -2, 3, 0, -7, 0, -1, 2, 1, 4, 0, 9, -3, 0, 6};
	float a[16], d[8] = {0};
	memcpy(a, in, sizeof a);
	Ctx *c = ctx_new();
	const char *text = "kernel groups tile sm_90a {\n"
			   "  arg %%A : global f32 (4,4):(4,1)\n"
			   "  arg out %%D : global f32 (2,%d):(%d,1)\n"
			   "  %%s = frag : reg f32 (4,4)\n"
			   "  copy %%s, %%A\n"
			   "  %%r = reduce %%s combine=%s : reg f32 (2,%d):(1,2)\n"
			   "  copy %%D, %%r\n"
			   "}\n";
	const Kernel *k = kernel_of(c, arena_printf(ctx_arena(c), text, cols, cols, combine, cols));
	const InterpArg args[] = {{"A", a}, {"D", d}};
	run_ok(k, &(InterpRun){.args = args, .nargs = 2});
	for (int i = 0; i < 2 * cols; i++)
		assert_true(d[i] == want[i / cols][i % cols]);
	ctx_free(c);
}

static void test_groups(void **state)
{
	(void)state;
	check_groups("sum", (const float[2][4]){{1, -2, -2, 2}, {11, -2, 4, 6}}, 4);
	check_groups("max", (const float[2][4]){{1, 5, 0, 3}, {9, 1, 4, 6}}, 4);
	check_groups("sum", (const float[2][4]){{-1}, {19}}, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_groups),
	};
	return cmocka_run_group_tests_name("ir.interp_reduce", tests, NULL, NULL);
}
