/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ir.interp_bounds - between which bounds a device's results are right: errors that functions
 * state, what is computed from them, zeros for subnormal numbers, sums of products. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "kernels.h"
#include "runtime/number.h"

static void check_bounds(const char *ops, double want, double least, double most)
{
	Ctx *c = ctx_new();
	double one = 1;
	float d = 0, lo = 0, hi = 0;
	const InterpArg args[] = {{"one", &one}, {"D", &d}};
	void *los[] = {NULL, &lo}, *his[] = {NULL, &hi};
	run_ok(kernel_of(c, arena_printf(ctx_arena(c),
					 "kernel s tile sm_90a {\n  arg %%one : f32\n"
					 "  arg out %%D : global f32 (1):(1)\n"
					 "  %%x = frag : reg f32 (1)\n  fill %%x value=1\n"
					 "%s  copy %%D, %%r\n}\n",
					 ops)),
	       &(InterpRun){.args = args, .nargs = 2, .lo = los, .hi = his});
	if ((double)d != want || (double)lo != least || (double)hi != most)
		fail_msg("%s%a from %a to %a", ops, (double)d, (double)lo, (double)hi);
	ctx_free(c);
}

#define third                                            \
	"  %c = frag : reg f32 (1)\n  fill %c value=3\n" \
	"  %t = div %x, %c : reg f32 (1)\n"
static const float one_third = 1.0f / 3;

/* A function may be off by what its row says, and what is computed from it by what that makes. */
static void test_bounds(void **state)
{
	(void)state;
	static const struct {
		const char *ops;
		double want, least, most;
	} cases[] = {
		{"  %r = neg %x : reg f32 (1)\n", -1, -1, -1},
		{"  %r = exp2 %x : reg f32 (1)\n", 2, 2 - 0x1p-21, 2 + 0x1p-21},
		{"  %e = exp2 %x : reg f32 (1)\n  %r = neg %e : reg f32 (1)\n", -2, -2 - 0x1p-21,
		 -2 + 0x1p-21},
		{"  %e = exp2 %x : reg f32 (1)\n  %r = mul %e, %e : reg f32 (1)\n", 4,
		 4 - 0x1p-19 - 0x1p-22, 4 + 0x1p-19 + 0x1p-21},
		{"  %m = frag : reg f32 (1)\n  fill %m value=-inf\n"
		 "  %e = exp2 %x : reg f32 (1)\n  %r = max %m, %e : reg f32 (1)\n",
		 2, 2 - 0x1p-21, 2 + 0x1p-21},
		/* one result, of a product in a loop also the unrounded one */
		{third "  %r = mul %t, %t : reg f32 (1)\n", (double)(one_third * one_third),
		 (double)(one_third * one_third), (double)(one_third * one_third)},
		{third "  %r = frag : reg f32 (1)\n  for i (0, 1) {\n    %p = mul %t, %t : reg "
		       "f32 (1)\n    copy %r, %p\n  }\n",
		 (double)(one_third * one_third), (double)(one_third * one_third) - 0x1p-27,
		 (double)(one_third * one_third) + 0x1p-27},
		{"  %r = frag : reg f32 (1)\n  for i (0, 1) {\n    %p = mul %x, %x : reg f32 "
		 "(1)\n"
		 "    copy %r, %p\n  }\n",
		 1, 1, 1},
	};
	for (size_t i = 0; i < COUNTOF(cases); i++)
		check_bounds(cases[i].ops, cases[i].want, cases[i].least, cases[i].most);
	check_bounds("  %f = exp2 %x : reg f32 (1)\n  %g = cvt %f : reg bf16 (1)\n"
		     "  %r = cvt %g : reg f32 (1)\n",
		     2, 2, 2);
	check_bounds("  %e = exp2 %x : reg f32 (1)\n  %h = sub %e, %x : reg f32 (1)\n"
		     "  %g = sub %h, %x : reg f32 (1)\n  %r = rsqrt %g : reg f32 (1)\n",
		     INFINITY, -INFINITY, INFINITY);
}

/* first, and twice `more`, added up in whatever order */
static void check_joined(const char *how, float first, float more, double least, double most)
{
	Ctx *c = ctx_new();
	float s = first, lo = first, hi = first;
	const InterpArg args[] = {{"S", &s}};
	void *los[] = {&lo}, *his[] = {&hi};
	run_ok(kernel_of(c,
			 arena_printf(ctx_arena(c),
				      "kernel s tile sm_90a {\n"
				      "  arg out %%S : global f32 (1):(1)\n"
				      "  %%x = frag : reg f32 (1)\n  fill %%x value=%.9g\n"
				      "  copy %%S, %%x combine=%s\n  copy %%S, %%x combine=%s\n}\n",
				      (double)more, how, how)),
	       &(InterpRun){.args = args, .nargs = 1, .lo = los, .hi = his});
	if ((double)lo != least || (double)hi != most || !(lo <= s && s <= hi))
		fail_msg("%s: %a from %a to %a", how, (double)s, (double)lo, (double)hi);
	ctx_free(c);
}

/* 1 + 2^-24 + 2^-24 is 1 in that order and 1 + 2^-23 in another. A comparison rounds nothing, and
 * neither does a sum of multiples of a unit, such as of integers, while f32 holds its multiples;
 * sums of subnormal numbers may be 0. */
static void test_bounds_joined(void **state)
{
	(void)state;
	check_joined("sum", 1, 0x1p-24f, 1, 1 + 0x1p-22);
	check_joined("sum", 3, 5, 13, 13);
	check_joined("sum", 3, 0.25f, 3.5, 3.5);
	check_joined("sum", 3, 0.2f, 0x1.b3333p+1, 0x1.b33336p+1);
	check_joined("sum", 0x1p24f, 1, 0x1p24, 0x1p24 + 4);
	check_joined("sum", 0x1p-127f, 0x1p-127f, -0x1.000008p-127, 0x1.c00002p-125);
	check_joined("max", -3, -2, -2, -2);
	check_joined("min", -3, -2, -3, -3);
}

/* Subnormal results that may be zeros. */
static void check_small(const char *function, double x)
{
	float d = 0, lo = 1, hi = 0;
	Ctx *c = ctx_new();
	const InterpArg args[] = {{"x", &x}, {"D", &d}};
	void *los[] = {NULL, &lo}, *his[] = {NULL, &hi};
	char text[400];
	snprintf(text, sizeof text,
		 "kernel s tile sm_90a {\n  arg %%x : f32\n  arg out %%D : global f32 (1):(1)\n"
		 "  %%f = frag : reg f32 (1)\n  fill %%f value=0\n"
		 "  %%g = add %%f, %%x : reg f32 (1)\n"
		 "  %%r = %s %%g : reg f32 (1)\n  copy %%D, %%r\n}\n",
		 function);
	run_ok(kernel_of(c, text), &(InterpRun){.args = args, .nargs = 2, .lo = los, .hi = his});
	assert_true(d > 0 && fpclassify(d) == FP_SUBNORMAL && lo <= 0 && hi >= d);
	ctx_free(c);
}

static void test_bounds_small(void **state)
{
	(void)state;
	check_small("tanh_approx", 0x1p-130);
	check_small("exp2_approx", -130);
}

/* x y - x y by an mma in sums of `acc`: 2 x y is added up in all. The sum is rounded to parts of
 * that, if the accumulator does not hold it as a multiple of what x and y are multiples of. */
static void check_sums(Elem in, Elem acc, double x, double y, bool exact)
{
	uint16_t a[16] = {0}, b[16] = {0}, half[3] = {1};
	float single[3] = {1};
	char name[64];
	Atom atom;
	elem_put(in, a, 0, x);
	elem_put(in, a, 1, -x);
	elem_put(in, b, 0, y);
	elem_put(in, b, 1, y);
	snprintf(name, sizeof name, "wgmma.m64n8k16.%s.%s.%s", elem_rows[acc].name,
		 elem_rows[in].name, elem_rows[in].name);
	assert_true(atom_parse(name, strlen(name), &atom));
	bool wide = acc == EL_F32;
	void *out[3];
	for (int i = 0; i < 3; i++)
		out[i] = wide ? (void *)&single[i] : (void *)&half[i];
	const InterpArg args[] = {{"A", a}, {"B", b}, {"D", out[0]}};
	void *los[] = {NULL, NULL, out[1]}, *his[] = {NULL, NULL, out[2]};
	Ctx *c = ctx_new();
	const char *from = elem_rows[in].name, *to = elem_rows[acc].name;
	const char *text =
		arena_printf(ctx_arena(c),
			     "kernel s tile sm_90a {\n  arg %%A : global %s (4,4):(4,1)\n"
			     "  arg %%B : global %s (4,4):(4,1)\n"
			     "  arg out %%D : global %s (1,1):(1,1)\n"
			     "  %%s = shared : shared %s (64,16):(16,1)\n"
			     "  %%o = shared : shared %s (8,16):(16,1)\n"
			     "  %%a = tile %%A (0, 0) : global %s (64,16):(4,1)\n"
			     "  %%b = tile %%B (0, 0) : global %s (8,16):(4,1)\n"
			     "  copy %%s, %%a\n  copy %%o, %%b\n"
			     "  %%x = frag : reg %s (64,8)\n  fill %%x value=0\n"
			     "  mma %%x, %%s, %%o atom=%s\n"
			     "  %%t = tile %%D (0, 0) : global %s (64,8):(1,1)\n"
			     "  copy %%t, %%x\n}\n",
			     from, from, to, from, from, from, from, to, name, to);
	run_ok(kernel_of(c, text), &(InterpRun){.args = args, .nargs = 3, .lo = los, .hi = his});
	double off = exact ? 0 : 2 * x * y * 16 / 4 * ldexp(1, -atom_rows[atom.id].fraction);
	off = elem_round(acc, off);
	if (elem_get(acc, out[0], 0) != 0 || elem_get(acc, out[1], 0) != -off ||
	    elem_get(acc, out[2], 0) != off)
		fail_msg("%s, %g: from %g to %g", name, x, elem_get(acc, out[1], 0),
			 elem_get(acc, out[2], 0));
	ctx_free(c);
}

static void test_bounds_sums(void **state)
{
	(void)state;
	check_sums(EL_BF16, EL_F32, 3, 1, true);
	check_sums(EL_BF16, EL_F32, 0.0078125, 3, true);
	check_sums(EL_F16, EL_F32, 2047, 2047, true);
	check_sums(EL_F16, EL_F16, 1000, 1, true);
	check_sums(EL_F16, EL_F16, 1500, 1, true);
	check_sums(EL_F16, EL_F16, 2047, 1, false);
	check_sums(EL_F16, EL_F16, 255, 255, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_bounds_joined),
		cmocka_unit_test(test_bounds_small),
		cmocka_unit_test(test_bounds_sums),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
