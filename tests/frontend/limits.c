/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* limits.c - what no file of tests/frontend can hold: NUL bytes, huge files, hundreds of mistakes,
 * options given from outside, one Ctx used twice. */
#include "frontend/frontend.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static Module *compile(Ctx *c, const char *text, size_t size, FrontendOpt *opt)
{
	return frontend_compile(c, ctx_src(c, "test.gemm", text, size), opt);
}

static void expect_first(const char *text, size_t size, FrontendOpt *opt, DiagId id, int begin)
{
	Ctx *c = ctx_new();
	assert_null(compile(c, text, size, opt));
	const DiagMsg *m = diag_first(c);
	assert_non_null(m);
	assert_int_equal(m->id, id);
	assert_int_equal(m->loc.begin, begin);
	ctx_free(c);
}

static void nul_byte(void **state)
{
	static const char text[] = "const a = 1;\n\0const b = 2;\n";
	(void)state;
	expect_first(text, sizeof text - 1, NULL, D_E0101, 13);
}

static void empty_file(void **state)
{
	FrontendOpt syntax = {.syntax_only = true};
	Ctx *c = ctx_new();
	(void)state;
	expect_first("", 0, NULL, D_E0313, 0);
	assert_non_null(compile(c, "", 0, &syntax));
	ctx_free(c);
}

/* Names are found without a walk over all of them: 200,000 consts took 40 s when they were. */
static void many_names(void **state)
{
	Buf text = {0};
	(void)state;
	for (int i = 0; i < 200000; i++)
		buf_printf(&text, "const c%d = %s%d;\n", i, i ? "c" : "", i ? i - 1 : 0);
	Ctx *c = ctx_new();
	FrontendOpt syntax = {.syntax_only = true};
	clock_t start = clock();
	assert_non_null(compile(c, text.s, text.n, &syntax));
	assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 12);
	ctx_free(c);
	buf_free(&text);
}

/* E0107 */
static void file_too_large(void **state)
{
	size_t size = (16u << 20) + 1;
	char *text = malloc(size);
	(void)state;
	assert_non_null(text);
	memset(text, ' ', size);
	expect_first(text, size, NULL, D_E0107, 0);
	free(text);
}

/* A message for each of many mistakes would help nobody. */
static void many(const char *line, int most)
{
	Ctx *c = ctx_new();
	Buf text = {0};
	for (int i = 0; i < 2000; i++)
		buf_printf(&text, "%s", line);
	assert_null(compile(c, text.s, text.n, NULL));
	assert_in_range(diag_errors(c), most / 2, most);
	buf_free(&text);
	ctx_free(c);
}

static void errors_are_capped(void **state)
{
	(void)state;
	many("const = 3;\n", 20);
	many("const $;\n", 20);
	many("print(unknown);\n", 50);
}

static void long_chains(void **state)
{
	static const char *const links[] = {"1 + ", "(", "-", "a o ", "!", "f(", "a[", "(1,", "1:"};
	(void)state;
	for (size_t i = 0; i < COUNTOF(links); i++) {
		Ctx *c = ctx_new();
		Buf text = {0};
		buf_printf(&text, "const a = ");
		for (int n = 0; n < 20000; n++)
			buf_printf(&text, "%s", links[i]);
		buf_printf(&text, "1;\n");
		assert_null(compile(c, text.s, text.n, NULL));
		assert_true(diag_errors(c) > 0);
		buf_free(&text);
		ctx_free(c);
	}
}

static void targets(void **state)
{
	FrontendOpt old = {.target = "sm_70"}, other = {.target = "sm_100a"}, right = {0};
	Ctx *c = ctx_new();
	(void)state;
	right.target = "sm_90a";
	right.syntax_only = true;
	expect_first("", 0, &old, D_E0301, 0);
	expect_first("", 0, &other, D_E0301, 0);
	assert_non_null(compile(c, "", 0, &right));
	ctx_free(c);
}

static void define_marks_use(void **state)
{
	Define d[] = {{.name = "a", .value = "1"},
		      {.name = "b", .value = "1"},
		      {.name = "a", .value = "2"},
		      {.name = "c"}};
	FrontendOpt opt = {.defines = d, .ndefines = 4, .syntax_only = true};
	static const char text[] = "const a = 0, c = 7; static_assert(a == 2 && c == 1);";
	Ctx *c = ctx_new();
	(void)state;
	assert_non_null(compile(c, text, sizeof text - 1, &opt));
	assert_true(d[2].used && d[3].used && !d[1].used);
	assert_int_equal(diag_first(c)->id, D_W0201);
	ctx_free(c);
}

static void one_ctx_twice(void **state)
{
	FrontendOpt opt = {.syntax_only = true};
	Ctx *c = ctx_new();
	(void)state;
	assert_null(compile(c, "const a = b;", 12, &opt));
	assert_non_null(compile(c, "const a = 1;", 12, &opt));
	ctx_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nul_byte),          cmocka_unit_test(many_names),
		cmocka_unit_test(empty_file),        cmocka_unit_test(file_too_large),
		cmocka_unit_test(errors_are_capped), cmocka_unit_test(long_chains),
		cmocka_unit_test(targets),           cmocka_unit_test(define_marks_use),
		cmocka_unit_test(one_ctx_twice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
