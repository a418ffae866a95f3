/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compare.c - what dslc run says of a wrong element: its coordinate in the tensor's own modes, in
 * whatever order these step through memory. */
#include "check/problem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void add(Arena *a, ProblemSpec *o, const char *name, int64_t v)
{
	vec_push(a, &o->sizes, ((SizeArg){name, v}));
}

/* The element at an offset, as the message has it. */
static void assert_named(const char *strides, int64_t offset, const char *name)
{
	char ir[256], head[32];
	const char *why = NULL;
	Problem p;
	Arena *a = arena_new();
	ProblemSpec o = {0};
	snprintf(ir, sizeof ir,
		 "kernel k tile sm_90a {\n  sym L 0..9\n  sym M 0..99\n  sym N 0..99\n"
		 "  arg out %%D : global bf16 (L,M,N):(%s)\n}\n",
		 strides);
	add(a, &o, "L", 3);
	add(a, &o, "M", 5);
	add(a, &o, "N", 7);
	assert_true(problem_open(&p, ir, &o, &why));
	memset(p.t[0].ref, 0, p.t[0].bytes);
	memset(p.t[0].host, 0, p.t[0].bytes);
	memset(p.t[0].lo, 0, p.t[0].bytes);
	memset(p.t[0].hi, 0, p.t[0].bytes);
	memset(p.t[0].wrote, 1, (size_t)p.t[0].count);
	elem_put(EL_BF16, p.t[0].host, offset, 1);
	Verdict v = compare(&p, &p.t[0]);
	snprintf(head, sizeof head, "%s is 1,", name);
	if (strncmp(v.wrong, head, strlen(head)) != 0)
		fail_msg("%s, not %s", v.wrong, name);
	problem_close(&p);
	arena_free(a);
}

static void elements_have_names(void **state)
{
	(void)state;
	assert_named("35,7,1", 2 * 35 + 4 * 7 + 6, "D[2, 4, 6]");
	assert_named("50,9,1", 1 * 50 + 3 * 9 + 6, "D[1, 3, 6]");
	assert_named("7,21,1", 2 * 7 + 4 * 21 + 5, "D[2, 4, 5]");
	assert_named("64,1,8", 2 * 64 + 4 * 1 + 6 * 8, "D[2, 4, 6]");
	assert_named("1,3,16", 2 * 1 + 4 * 3 + 6 * 16, "D[2, 4, 6]");
}

/* One element of the type: what it is, should be, and may be. */
static void assert_judged(Elem e, double is, double ref, double lo, double hi, const char *wrong)
{
	char ir[128];
	const char *why = NULL;
	Problem p;
	Arena *a = arena_new();
	ProblemSpec o = {0};
	snprintf(ir, sizeof ir, "kernel k tile sm_90a {\n  arg out %%D : global %s (1):(1)\n}\n",
		 elem_rows[e].name);
	assert_true(problem_open(&p, ir, &o, &why));
	p.t[0].wrote[0] = true;
	elem_put(e, p.t[0].host, 0, is);
	elem_put(e, p.t[0].ref, 0, ref);
	elem_put(e, p.t[0].lo, 0, lo);
	elem_put(e, p.t[0].hi, 0, hi);
	Verdict v = compare(&p, &p.t[0]);
	if (!*wrong != !*v.wrong || !strstr(v.wrong, wrong))
		fail_msg("%s: '%s', not '%s'", elem_rows[e].name, v.wrong, wrong);
	problem_close(&p);
	arena_free(a);
}

static void bounds_decide(void **state)
{
	(void)state;
	assert_judged(EL_F16, 1001, 1000, 1000, 1000, "D[0] is 1001, should be 1000");
	assert_judged(EL_F16, 1001, 1000, 999, 1001, "");
	assert_judged(EL_F16, 1002, 1000, 999, 1001, "from 999 to 1001");
	assert_judged(EL_E4M3, 416, 448, -448, 448, "");
	assert_judged(EL_F32, NAN, 1, -INFINITY, INFINITY, "");
	assert_judged(EL_F32, NAN, 1, 0, INFINITY, "should be 1");
	assert_judged(EL_F32, 1, NAN, NAN, NAN, "D[0] is 1, should be nan");
}

/* 0x7fff and 0xffc0 are no numbers; 0xffff is what memory holds that nothing was written to. */
static void any_nan_is_one(void **state)
{
	static const struct {
		uint16_t is, should;
		bool right;
	} rows[] = {{0x7fff, 0xffc0, true},
		    {0xffff, 0x7fc0, false},
		    {0x7fff, 0x3f80, false},
		    {0x3f80, 0x7fff, false}};
	static const char ir[] = "kernel k tile sm_90a {\n  arg out %D : global bf16 (1):(1)\n}\n";
	(void)state;
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		const char *why = NULL;
		Problem p;
		Arena *a = arena_new();
		ProblemSpec o = {0};
		assert_true(problem_open(&p, ir, &o, &why));
		p.t[0].wrote[0] = true;
		memcpy(p.t[0].host, &rows[i].is, sizeof rows[i].is);
		memcpy(p.t[0].ref, &rows[i].should, sizeof rows[i].should);
		memcpy(p.t[0].lo, &rows[i].should, sizeof rows[i].should);
		memcpy(p.t[0].hi, &rows[i].should, sizeof rows[i].should);
		assert_true(!*compare(&p, &p.t[0]).wrong == rows[i].right);
		problem_close(&p);
		arena_free(a);
	}
}

/* -1 is what memory holds that nothing was written to. */
static void integers_may_be_poison(void **state)
{
	(void)state;
	assert_judged(EL_I8, -1, 0, -1, 1, "");
	assert_judged(EL_I8, -1, 2, 1, 3, "D[0] was never written");
	assert_judged(EL_I32, -1, 0, -1, 1, "");
}

/* Elements of tiles that the reference does not compute, filled as they were before the launch. */
static void unknown_integers_may_be_poison(void **state)
{
	static const struct {
		Elem e;
		const char *wrong;
	} rows[] = {{EL_I8, ""}, {EL_I32, ""}, {EL_BF16, "D[0] was never written"}};
	(void)state;
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		const char *why = NULL;
		char ir[128];
		Problem p;
		Arena *a = arena_new();
		ProblemSpec o = {0};
		snprintf(ir, sizeof ir,
			 "kernel k tile sm_90a {\n  arg out %%D : global %s (1):(1)\n}\n",
			 elem_rows[rows[i].e].name);
		assert_true(problem_open(&p, ir, &o, &why));
		memset(p.t[0].host, 0xff, p.t[0].bytes);
		assert_string_equal(compare(&p, &p.t[0]).wrong, rows[i].wrong);
		problem_close(&p);
		arena_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(elements_have_names),
					   cmocka_unit_test(bounds_decide),
					   cmocka_unit_test(any_nan_is_one),
					   cmocka_unit_test(integers_may_be_poison),
					   cmocka_unit_test(unknown_integers_may_be_poison)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
