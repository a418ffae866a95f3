/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout.rescue - a panic inside a rescue comes back with its reason, and what was held is given
 * back (the sanitizers' build sees what is not). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"

typedef struct {
	Ctx *ctx;
	Buf before, inside;
	bool panics;
} Job;

static int dropped;

static void count_drop(Held *h)
{
	(void)h;
	dropped++;
}

static void work(void *user)
{
	Job *j = user;
	Held thing, ended;
	Arena *a = arena_new();
	hold(&thing, count_drop);
	hold(&ended, count_drop);
	hold_end(&ended);
	memset(arena_alloc(a, 100000), 1, 100000);
	for (int i = 0; i < 1000; i++) {
		buf_printf(&j->inside, "line %d\n", i);
		buf_printf(&j->before, "line %d\n", i);
	}
	diag(j->ctx, NOLOC, D_E0601, "a message");
	if (j->panics)
		panic("no %s", "luck");
	hold_end(&thing);
	arena_free(a);
}

static void test_panic(void **state)
{
	(void)state;
	char why[200];
	Job j = {.ctx = ctx_new(), .panics = true};
	buf_printf(&j.before, "x");
	dropped = 0;
	assert_false(rescue(work, &j, why, sizeof why));
	assert_non_null(strstr(why, "rescue.c:"));
	assert_non_null(strstr(why, ": no luck"));
	assert_int_equal(dropped, 1);
	assert_int_equal(diag_errors(j.ctx), 1); /* the Ctx was there before and is whole */
	assert_non_null(strstr(j.before.s, "line 999\n"));
	buf_free(&j.before);
	ctx_free(j.ctx);
}

/* The twin: nothing is dropped, and what was made in it is the caller's. */
static void test_no_panic(void **state)
{
	(void)state;
	char why[200] = "unchanged";
	Job j = {.ctx = ctx_new()};
	dropped = 0;
	assert_true(rescue(work, &j, why, sizeof why));
	assert_string_equal(why, "unchanged");
	assert_int_equal(dropped, 0);
	buf_printf(&j.inside, "more");
	assert_non_null(strstr(j.inside.s, "line 999\nmore"));
	buf_free(&j.inside);
	buf_free(&j.before);
	ctx_free(j.ctx);
}

static void nested(void *user)
{
	char why[200];
	Job j = {.ctx = ctx_new(), .panics = true};
	assert_false(rescue(work, &j, why, sizeof why));
	ctx_free(j.ctx);
	*(bool *)user = true;
	panic("the outer one");
}

/* After one rescue the one around it is on again. A reason too long for its room is cut. */
static void test_nested(void **state)
{
	(void)state;
	char why[8];
	bool came_by = false;
	assert_false(rescue(nested, &came_by, why, sizeof why));
	assert_true(came_by);
	assert_int_equal(strlen(why), 7);
}

/* What is given back is taken again, zeroed: rounds of the same work have the same blocks. */
static void test_given_back(void **state)
{
	(void)state;
	static const size_t sizes[] = {100, 20000, 300000, 50, 1000000};
	Arena *a = arena_new();
	char *kept = arena_alloc(a, 8), *first[5];
	ArenaMark mark = arena_mark(a);
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 5; i++) {
			char *p = arena_alloc(a, sizes[i]);
			size_t dirty = 0;
			for (size_t b = 0; b < sizes[i]; b++)
				dirty += p[b] != 0;
			assert_int_equal(dirty, 0);
			memset(p, 1 + i, sizes[i]);
			if (round)
				assert_ptr_equal(p, first[i]);
			first[i] = p;
		}
		arena_release(a, mark);
		assert_int_equal(arena_bytes(a), 16);
	}
	kept[7] = 1;
	arena_reset(a);
	assert_ptr_equal(arena_alloc(a, 8), kept);
	assert_int_equal(kept[7], 0);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_panic),
		cmocka_unit_test(test_no_panic),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_given_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
