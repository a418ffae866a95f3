/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compare.c - what dslc run says of a wrong element: its coordinate in the tensor's own modes, in
 * whatever order these step through memory. */
#include "driver/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void add(Options *o, const char *name, int64_t v)
{
	vec_push(o->arena, &o->sizes, ((SizeArg){name, v}));
}

/* The element at an offset, as the message has it. */
static void assert_named(const char *strides, int64_t offset, const char *name)
{
	char ir[256], head[32];
	const char *why = NULL;
	Problem p;
	Arena *a = arena_new();
	Options o = {.arena = a};
	snprintf(ir, sizeof ir,
		 "kernel k tile sm_90a {\n  sym L 0..9\n  sym M 0..99\n  sym N 0..99\n"
		 "  arg out %%D : global bf16 (L,M,N):(%s)\n}\n",
		 strides);
	add(&o, "L", 3);
	add(&o, "M", 5);
	add(&o, "N", 7);
	assert_true(problem_open(&p, ir, &o, &why));
	memset(p.t[0].ref, 0, p.t[0].bytes);
	memset(p.t[0].host, 0, p.t[0].bytes);
	memset(p.t[0].wrote, 1, (size_t)p.t[0].count);
	elem_put(EL_BF16, p.t[0].host, offset, 1);
	Verdict v = compare(&p, &p.t[0], DATA_INTEGERS);
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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(elements_have_names)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
