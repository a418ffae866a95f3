/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* passes.judge - isl as a second opinion on the algebra: results of the operations are compared, as
 * maps, with what they are defined to be; wrong results must be refused, and what isl cannot say
 * must stay unknown; and isl on conditions, as the passes ask it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <stdio.h>

#include "layout_maps.h"

enum { ROUNDS = 32 };

typedef struct {
	Ctx *c;
	Judge *j;
	Maps *m;
	uint64_t seed;
} World;

static int below(World *w, int n)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((w->seed >> 33) % (uint64_t)n);
}

static int setup(void **state)
{
	static World w;
	w = (World){ctx_new(), judge_new(200000), maps_new(200000), 20263};
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	World *w = *state;
	judge_free(w->j);
	maps_free(w->m);
	ctx_free(w->c);
	return 0;
}

static const Layout *layout_of(World *w, const char *text)
{
	const char *why = "", *s = text;
	const Layout *l = layout_parse(w->c, &s, &why);
	if (!l)
		fail_msg("%s: %s", text, why);
	return l;
}

static const Layout *random_layout(World *w)
{
	static const int64_t extents[] = {1, 2, 2, 3, 4, 4, 6, 8};
	const Layout *at[3];
	int64_t next = 1 + below(w, 2);
	int n = 1 + below(w, 3);
	for (int i = 0; i < n; i++) {
		int64_t s = extents[below(w, 8)], d = below(w, 4) ? next : below(w, 9);
		at[i] = layout_new(w->c, tup_int(w->c, s), tup_int(w->c, d));
		next = s * (d ? d : 1) * (1 + (below(w, 3) == 0));
	}
	const Layout *last = at[n - 1];
	if (n > 1 && below(w, 2)) {
		at[n - 1] = at[0];
		at[0] = last;
	}
	return layout_cat(w->c, at, n);
}

static void expect(World *w, Verdict got, Verdict want, const char *what, const Layout *a,
		   const Layout *b)
{
	if (got != want)
		fail_msg("%s: %d, not %d, for %s and %s", what, got, want, layout_str(w->c, a),
			 layout_str(w->c, b));
}

/* ------------------------------------------------------------------ the algebra on a sample */
static bool check_composition(World *w, const Layout *a, const Layout *b)
{
	const char *why;
	const Layout *r = layout_composition(w->c, a, b, &why);
	if (r)
		expect(w, maps_composed(w->m, r, a, b), JUDGED_YES, "composition", a, b);
	return r;
}

/* Ordered, disjoint from what it completes, and together all numbers when the gaps divide. */
static bool check_complement(World *w, const Layout *a)
{
	const char *why;
	int64_t n = layout_cosize_int(a);
	const Layout *r = layout_complement(w->c, a, ix_const(w->c, n), &why);
	if (!r || maps_injective(w->m, a) != JUDGED_YES)
		return false;
	expect(w, maps_ordered(w->m, r), JUDGED_YES, "complement is ordered", a, r);
	expect(w, maps_disjoint(w->m, a, r), JUDGED_YES, "complement is disjoint", a, r);
	const Layout *both = layout_cat(w->c, (const Layout *[]){a, r}, 2);
	int64_t all = layout_size_int(both);
	if (layout_cosize_int(both) == all)
		expect(w, maps_covers(w->m, a, r, all), JUDGED_YES, "complement covers", a, r);
	return true;
}

static bool check_inverses(World *w, const Layout *a)
{
	const char *why;
	const Layout *r = layout_right_inverse(w->c, a, &why);
	const Layout *l = layout_left_inverse(w->c, a, &why);
	expect(w, maps_inverse(w->m, a, r), JUDGED_YES, "right inverse", a, r);
	if (l && maps_injective(w->m, a) == JUDGED_YES)
		expect(w, maps_inverse(w->m, l, a), JUDGED_YES, "left inverse", l, a);
	return l;
}

/* a / b is a after (b, what b leaves out). */
static bool check_divide(World *w, const Layout *a, const Layout *b)
{
	const char *why;
	const Layout *r = layout_logical_divide(w->c, a, b, &why);
	if (!r)
		return false;
	const Layout *rest = layout_complement(w->c, b, layout_size(w->c, a), &why);
	const Layout *both = layout_cat(w->c, (const Layout *[]){b, rest}, 2);
	expect(w, maps_composed(w->m, r, a, both), JUDGED_YES, "divide", a, b);
	return true;
}

static void test_sample(void **state)
{
	World *w = *state;
	int done[4] = {0};
	for (int i = 0; i < ROUNDS; i++) {
		const Layout *a = random_layout(w), *b = random_layout(w);
		const Layout *flat = layout_coalesce(w->c, a);
		expect(w, maps_equal(w->m, a, flat), JUDGED_YES, "coalesce", a, flat);
		done[0] += check_composition(w, a, b);
		done[1] += check_complement(w, a);
		done[2] += check_inverses(w, a);
		done[3] += check_divide(w, a, b);
	}
	for (int i = 0; i < 4; i++)
		assert_true(done[i] >= ROUNDS / 8);
}

static void test_swizzles(void **state)
{
	World *w = *state;
	const char *why;
	const Layout *l = layout_of(w, "Sw<2,1,2> o (4,16):(16,1)");
	const Layout *r = layout_right_inverse(w->c, l, &why);
	expect(w, maps_injective(w->m, l), JUDGED_YES, "swizzle", l, l);
	expect(w, maps_inverse(w->m, l, r), JUDGED_YES, "swizzle", l, r);
	expect(w, maps_equal(w->m, l, layout_of(w, "(4,16):(16,1)")), JUDGED_NO, "swizzle", l, l);
}

/* ------------------------------------------------------------------ wrong and unknown */
static void test_wrong(void **state)
{
	World *w = *state;
	const Layout *a = layout_of(w, "(8,8):(8,1)"), *b = layout_of(w, "6:3");
	assert_int_equal(maps_composed(w->m, layout_of(w, "6:24"), a, b), JUDGED_NO);
	assert_int_equal(maps_equal(w->m, a, layout_of(w, "(8,8):(1,8)")), JUDGED_NO);
	assert_int_equal(maps_injective(w->m, layout_of(w, "(4,4):(1,2)")), JUDGED_NO);
	assert_int_equal(maps_ordered(w->m, a), JUDGED_NO);
	assert_int_equal(maps_disjoint(w->m, a, layout_of(w, "4:4")), JUDGED_NO);
	assert_int_equal(maps_covers(w->m, layout_of(w, "4:1"), layout_of(w, "2:8"), 8), JUDGED_NO);
	assert_int_equal(maps_inverse(w->m, a, a), JUDGED_YES);
	assert_int_equal(maps_inverse(w->m, a, layout_of(w, "64:1")), JUDGED_NO);
}

static void test_unknown(void **state)
{
	World *w = *state;
	Maps *tired = maps_new(1);
	const Layout *a = layout_of(w, "(8,8):(8,1)"), *m = layout_of(w, "(M,8):(8,1)");
	assert_int_equal(maps_injective(w->m, m), JUDGED_UNKNOWN);
	assert_int_equal(maps_equal(w->m, a, m), JUDGED_UNKNOWN);
	assert_int_equal(maps_injective(w->m, layout_of(w, "(4,4):(1@0,1@1)")), JUDGED_UNKNOWN);
	assert_int_equal(maps_injective(tired, a), JUDGED_UNKNOWN);
	assert_int_equal(maps_equal(tired, a, a), JUDGED_UNKNOWN);
	maps_free(tired);
}

static void test_conditions(void **state)
{
	static const struct {
		const char *text;
		Verdict want;
	} rows[] = {
		{"M % 64 < 64", JUDGED_YES},
		{"M % 8 == 0", JUDGED_YES},
		{"M % 16 == 0", JUDGED_UNKNOWN},
		{"M / 8 * 8 == M", JUDGED_YES},
		{"M < 8", JUDGED_NO},
		{"(M + N) % 4 == N % 4", JUDGED_YES},
		{"(M + N) / 4 == M / 4 + N / 4", JUDGED_YES},
		{"min(M, N) <= M && max(M, N) >= N", JUDGED_YES},
		{"M != M + 1 || N < 0", JUDGED_YES},
		{"M * N == N * M", JUDGED_YES},
		{"M * N > 0", JUDGED_UNKNOWN},
		{"(M < N) + 1 == 2", JUDGED_UNKNOWN},
		{"N % 3 != 3", JUDGED_YES},
		{"1", JUDGED_YES},
		{"0", JUDGED_NO},
	};
	World *w = *state;
	const IxFact facts[] = {{ctx_str(w->c, "M"), 8, 4096, 8},
				{ctx_str(w->c, "N"), 1, INT64_MAX, 1}};
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		const char *s = rows[i].text, *why = "";
		const Ix *x = ix_parse(w->c, &s, &why);
		assert_non_null(x);
		Verdict got = judge_holds(w->j, x, (IxFacts){.at = facts, .n = 2});
		if (got != rows[i].want)
			fail_msg("%s: %d, not %d", rows[i].text, got, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),     cmocka_unit_test(test_swizzles),
		cmocka_unit_test(test_wrong),      cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_conditions),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
