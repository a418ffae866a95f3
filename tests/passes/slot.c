/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* slot.c - what descriptors and TMA make of layouts: the strides of the PTX ISA's canonical forms,
 * for both major-nesses, each swizzle, and what has no such form. */
#include "passes/smem/operand_layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* after the four above, which it needs */
#include <cmocka.h>

static const Type *buffer(Ctx *c, Elem e, const char *layout)
{
	const char *why = NULL, *text = layout;
	const Layout *l = layout_parse(c, &text, &why);
	if (!l)
		fail_msg("%s: %s", layout, why);
	return type_tile(c, SP_SHARED, e, l);
}

static const Type *of_form(Ctx *c, Elem e, int fast, int rows, int cols, int swizzle)
{
	SlotForm f = {fast, rows, cols, swizzle * 8 / elem_rows[e].bits, swizzle};
	return type_tile(c, SP_SHARED, e, slot_layout(c, f, e));
}

/* What a form makes is found again; descriptors have the strides that follow by hand. */
static void forms_and_descriptors(void **state)
{
	static const struct {
		int fast, rows, cols, swizzle, mn;
		int64_t lbo, sbo;
	} cases[] = {
		{1, 128, 64, 128, 64, 16, 1024}, /* rows of 128 bytes in eights */
		{1, 256, 128, 128, 256, 16, 1024},  {1, 96, 32, 64, 96, 16, 512},
		{1, 64, 16, 32, 64, 16, 256},       {1, 8, 64, 128, 8, 16, 1024},
		{0, 64, 128, 128, 64, 16, 1024},    /* 64 of m in a row: no second row of atoms */
		{0, 64, 256, 128, 256, 8192, 1024}, /* the next 64 of n after 64 rows of k */
		{0, 32, 96, 64, 96, 2048, 512},     {0, 16, 80, 32, 80, 512, 256},
	};
	(void)state;
	for (size_t i = 0; i < COUNTOF(cases); i++) {
		Ctx *c = ctx_new();
		SlotForm f;
		SlotDesc d;
		const Type *t = of_form(c, EL_BF16, cases[i].fast, cases[i].rows, cases[i].cols,
					cases[i].swizzle);
		assert_null(slot_form(c, t, &f));
		assert_int_equal(f.fast, cases[i].fast);
		assert_int_equal(f.rows, cases[i].rows);
		assert_int_equal(f.cols, cases[i].cols);
		assert_int_equal(f.swizzle, cases[i].swizzle);
		assert_null(slot_desc(c, t, type_window(c, t), cases[i].mn, 16, &d));
		assert_int_equal(d.mn_major, cases[i].fast == 0);
		assert_int_equal(d.lbo, cases[i].lbo);
		assert_int_equal(d.sbo, cases[i].sbo);
		ctx_free(c);
	}
}

static void refused(Elem e, const char *layout, int mn, const char *want)
{
	Ctx *c = ctx_new();
	SlotDesc d;
	const Type *t = buffer(c, e, layout);
	Window all = {.turned = false};
	if (layout_rank(t->layout) == 2)
		all = type_window(c, t);
	const char *why = slot_desc(c, t, all, mn, 16, &d);
	if (!why || !strstr(why, want))
		fail_msg("%s: %s", layout, why ? why : "taken");
	ctx_free(c);
}

static void no_such_form(void **state)
{
	(void)state;
	refused(EL_BF16, "(128,64):(64,1)", 64, "no swizzle of 32, 64 or 128");
	refused(EL_BF16, "Sw<3,3,3> o 0 o (128,64):(72,1)", 64, "rows of the swizzle's width");
	refused(EL_BF16, "Sw<3,3,3> o 0 o (128,64):(64,2)", 64, "rows of the swizzle's width");
	refused(EL_BF16, "Sw<2,3,3> o 0 o (128,64):(64,1)", 64, "rows of the swizzle's width");
	refused(EL_BF16, "Sw<3,3,3> o 0 o (4,(8,64)):(1,(4,32))", 64,
		"rows of the swizzle's width");
	refused(EL_BF16, "Sw<3,3,3> o 0 o (128,64,2):(64,1,8192)", 64, "not a matrix");
	/* MN-major elements of 32 bits */
	Ctx *c = ctx_new();
	SlotDesc d;
	const Type *t = of_form(c, EL_F32, 0, 64, 64, 128);
	assert_non_null(slot_desc(c, t, type_window(c, t), 64, 8, &d));
	ctx_free(c);
}

/* Views of (64,576), rows of 128 bytes: its columns lie 64 to a block of 8192 bytes. */
static void views(void **state)
{
	static const struct {
		Window w;
		int mn;
		bool mn_major;
		int64_t lbo, sbo, first; /* first < 0: it begins within a swizzle */
	} cases[] = {
		{{{0, 0}, {64, 512}, false, NULL, 0}, 64, false, 16, 1024, 0},
		{{{0, 16}, {64, 512}, false, NULL, 0}, 64, false, 16, 1024, 32},
		{{{8, 80}, {56, 64}, false, NULL, 0}, 8, false, 16, 1024, 8192 + 1024 + 32},
		{{{0, 0}, {64, 512}, true, NULL, 0}, 256, true, 8192, 1024, 0},
		{{{16, 64}, {16, 512}, true, NULL, 0}, 256, true, 8192, 1024, 8192 + 2048},
		{{{0, 0}, {64, 64}, true, NULL, 0}, 64, true, 16, 1024, 0},
		{{{4, 0}, {32, 64}, false, NULL, 0}, 8, false, 0, 0, -1},
		{{{0, 8}, {64, 64}, false, NULL, 0}, 64, false, 0, 0, -1},
		{{{0, 32}, {64, 64}, true, NULL, 0}, 64, true, 0, 0, -1},
		{{{4, 0}, {32, 64}, true, NULL, 0}, 64, true, 0, 0, -1},
		{{{0, 0}, {64, 192}, true, NULL, 0}, 96, true, 0, 0, -1}, /* the second 96 do */
	};
	(void)state;
	for (size_t i = 0; i < COUNTOF(cases); i++) {
		Ctx *c = ctx_new();
		SlotDesc d;
		const Type *t = of_form(c, EL_BF16, 1, 64, 576, 128);
		const char *why = slot_desc(c, t, cases[i].w, cases[i].mn, 16, &d);
		assert_int_equal(!why, cases[i].first >= 0);
		assert_int_equal(d.mn_major, cases[i].mn_major);
		if (!why) {
			assert_int_equal(d.lbo, cases[i].lbo);
			assert_int_equal(d.sbo, cases[i].sbo);
			assert_int_equal(window_byte(t, cases[i].w, 0, 0), cases[i].first);
		}
		ctx_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_and_descriptors),
		cmocka_unit_test(no_such_form),
		cmocka_unit_test(views),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
