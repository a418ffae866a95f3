/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ir.text - each file of roundtrip prints as it was read; each file of bad gives exactly the
 * messages that its comments ask for: `# error E0702: part of the text` on the offending line.
 * Together the round trips hold every op and every attribute of the tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>

#include "ir/ir.h"

typedef VEC(char *) Names;

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static Names files(Arena *a, const char *folder)
{
	Names names = {0};
	DIR *d = opendir(folder);
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));) {
		const char *dot = strrchr(e->d_name, '.');
		if (dot && !strcmp(dot, ".ir"))
			vec_push(a, &names, arena_printf(a, "%s/%s", folder, e->d_name));
	}
	closedir(d);
	qsort(names.at, (size_t)names.n, sizeof *names.at, by_name);
	return names;
}

static Buf read_file(const char *path)
{
	Buf b = {0};
	char part[4096];
	size_t n;
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	while ((n = fread(part, 1, sizeof part, f)) > 0)
		buf_add(&b, part, n);
	fclose(f);
	return b;
}

static Module *parse(Ctx *c, const char *name, const char *text)
{
	return module_parse(c, ctx_src(c, name, text, strlen(text)));
}

static void complain(const Ctx *c, const char *path)
{
	Buf b = {0};
	diag_text(c, &b, false);
	fail_msg("%s:\n%s", path, b.s ? b.s : "");
	buf_free(&b);
}

/* ------------------------------------------------------------------ good texts */
static void check_roundtrip(const char *path)
{
	Buf text = read_file(path), again = {0};
	Ctx *c = ctx_new();
	Module *m = parse(c, path, text.s);
	if (!m)
		complain(c, path);
	else
		module_print(m, &again);
	assert_string_equal(again.s, text.s);
	ctx_free(c);
	buf_free(&text);
	buf_free(&again);
}

static void test_roundtrip(void **state)
{
	(void)state;
	Arena *a = arena_new();
	Names names = files(a, "tests/ir/roundtrip");
	assert_true(names.n >= 4);
	for (int i = 0; i < names.n; i++)
		check_roundtrip(names.at[i]);
	arena_free(a);
}

/* A kernel of every elementwise row, made from the table. */
static void add_elementwise(Buf *out)
{
	buf_printf(out, "kernel e tile sm_90a {\n  arg %%x : f32\n  arg %%i : s32\n"
			"  %%n = const value=7 : s32\n");
	for (int i = 0; i < OP_COUNT; i++) {
		const EltRow *row = elt_by_op((OpKind)i);
		if (row && row->value)
			buf_printf(out, "  %%%s = %s %%x%s%s : f32\n", row->name, row->name,
				   row->arity > 1 ? ", %x" : "", row->arity > 2 ? ", %x" : "");
		if (row && row->whole)
			buf_printf(out, "  %%%s.i = %s %%i%s%s : s32\n", row->name, row->name,
				   row->arity > 1 ? ", %n" : "", row->arity > 2 ? ", %n" : "");
	}
	buf_printf(out, "}\n");
}

static void test_elementwise_rows(void **state)
{
	(void)state;
	Buf text = {0}, again = {0};
	Ctx *c = ctx_new();
	add_elementwise(&text);
	Module *m = module_parse(c, ctx_src(c, "elementwise.ir", text.s, text.n));
	assert_non_null(m);
	module_print(m, &again);
	assert_string_equal(text.s, again.s);
	buf_free(&text);
	buf_free(&again);
	ctx_free(c);
}

static void test_tables_are_covered(void **state)
{
	(void)state;
	Arena *a = arena_new();
	Names names = files(a, "tests/ir/roundtrip");
	Buf all = {0};
	for (int i = 0; i < names.n; i++) {
		Buf one = read_file(names.at[i]);
		buf_add(&all, one.s, one.n);
		buf_free(&one);
	}
	add_elementwise(&all);
	for (int i = 0; i < OP_COUNT; i++) {
		const char *name = op_rows[i].name;
		if (!strstr(all.s, arena_printf(a, " %s ", name)) &&
		    !strstr(all.s, arena_printf(a, " %s\n", name)))
			fail_msg("no round trip holds the op '%s'", name);
	}
	for (int i = 0; i < ATTR_COUNT; i++)
		if (!strstr(all.s, arena_printf(a, " %s=", attr_rows[i].name)))
			fail_msg("no round trip holds the attribute '%s'", attr_rows[i].name);
	buf_free(&all);
	arena_free(a);
}

/* What is not in print form is read as well: comments, blank lines, CRLF, spaces. */
static void test_loose_form(void **state)
{
	(void)state;
	Ctx *c = ctx_new();
	Buf b = {0};
	Module *m = parse(c, "loose",
			  "# top\r\n\r\n  kernel  k  tile sm_90a  stages=2 { # head\r\n"
			  "\tsym M ..\r\n"
			  "\t%x=const value=0.50 :f32\r\n"
			  "  grid m(M / 8){\r\n\r\n}\r\n}\r\n# end");
	if (!m)
		complain(c, "loose");
	else
		module_print(m, &b);
	assert_string_equal(b.s, "kernel k tile sm_90a stages=2 {\n  sym M ..\n"
				 "  %x = const value=0.5 : f32\n  grid m (M / 8) {\n  }\n}\n");
	buf_free(&b);
	ctx_free(c);
}

/* ------------------------------------------------------------------ limits */
static void expect_error(const char *text, size_t size, DiagId id)
{
	Ctx *c = ctx_new();
	assert_null(module_parse(c, ctx_src(c, "limit", text, size)));
	assert_non_null(diag_first(c));
	if (diag_first(c)->id != id)
		complain(c, "limit");
	assert_true(diag_errors(c) <= 20);
	ctx_free(c);
}

static void test_limits(void **state)
{
	(void)state;
	Buf b = {0};
	buf_printf(&b, "kernel k tile sm_90a {\n");
	for (int i = 0; i < 100000; i++)
		buf_printf(&b, "if (1 < 2) {\n");
	expect_error(b.s, b.n, D_E0705);
	buf_free(&b);

	buf_printf(&b, "kernel k tile sm_90a {\nlet x (");
	for (int i = 0; i < 100000; i++)
		buf_printf(&b, "(");
	expect_error(b.s, b.n, D_E0701);
	buf_free(&b);

	buf_printf(&b, "kernel k tile sm_90a {\narg %%A : global f32 ");
	for (int i = 0; i < 100000; i++)
		buf_printf(&b, "(");
	expect_error(b.s, b.n, D_E0701);
	buf_free(&b);

	buf_printf(&b, "kernel k tile sm_90a {\nif (");
	for (int i = 0; i < 17; i++)
		buf_printf(&b, "%s1", i ? "," : "");
	buf_printf(&b, ") {\n}\n}\n");
	expect_error(b.s, b.n, D_E0705);
	buf_free(&b);

	buf_printf(&b, "kernel k tile sm_90a {\n");
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "nonsense\n");
	expect_error(b.s, b.n, D_E0702);
	buf_free(&b);
}

static void test_truncated(void **state)
{
	(void)state;
	Buf text = read_file("tests/ir/roundtrip/gemm_ptx.ir");
	for (size_t n = 0; n + 2 < text.n; n += 7) {
		Ctx *c = ctx_new();
		assert_null(module_parse(c, ctx_src(c, "cut", text.s, n)));
		assert_true(diag_errors(c) > 0);
		ctx_free(c);
	}
	buf_free(&text);
}

static void test_nul(void **state)
{
	(void)state;
	expect_error("kernel k tile sm_90a {\n}\n\0kernel", 32, D_E0701);
	expect_error("", 0, D_E0701);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roundtrip),
		cmocka_unit_test(test_elementwise_rows),
		cmocka_unit_test(test_tables_are_covered),
		cmocka_unit_test(test_loose_form),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_nul),
	};
	return cmocka_run_group_tests_name("ir.text", tests, NULL, NULL);
}
