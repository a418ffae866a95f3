/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout.facts - operations on layouts against the table of known results, and what they
 * refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <stdio.h>

#include "layout/layout.h"

typedef const char *(*Apply)(Ctx *c, const char *a, const char *b, const char **why);

static const Layout *layout_of(Ctx *c, const char *text)
{
	const char *s = text, *why = "";
	const Layout *l = layout_parse(c, &s, &why);
	if (!l || *s)
		fail_msg("%s: %s at '%s'", text, why, s);
	return l;
}

static const Tup *tup_of(Ctx *c, const char *text)
{
	const char *s = text, *why = "";
	const Tup *t = tup_parse(c, &s, &why);
	if (!t)
		fail_msg("%s: %s at '%s'", text, why, s);
	return t;
}

static const char *show(Ctx *c, const Layout *l)
{
	return l ? layout_str(c, l) : NULL;
}

static const char *show_ix(Ctx *c, const Ix *x)
{
	Buf b = {0};
	ix_print(x, &b);
	const char *s = ctx_str(c, b.s);
	buf_free(&b);
	return s;
}

static const char *apply_coalesce(Ctx *c, const char *a, const char *b, const char **why)
{
	(void)b, (void)why;
	return show(c, layout_coalesce(c, layout_of(c, a)));
}

static const char *apply_composition(Ctx *c, const char *a, const char *b, const char **why)
{
	return show(c, layout_composition(c, layout_of(c, a), layout_of(c, b), why));
}

static const char *apply_complement(Ctx *c, const char *a, const char *b, const char **why)
{
	const Ix *size = tup_product(c, tup_of(c, b));
	return show(c, layout_complement(c, layout_of(c, a), size, why));
}

static const char *apply_logical_divide(Ctx *c, const char *a, const char *b, const char **why)
{
	return show(c, layout_logical_divide(c, layout_of(c, a), layout_of(c, b), why));
}

static const char *apply_logical_product(Ctx *c, const char *a, const char *b, const char **why)
{
	return show(c, layout_logical_product(c, layout_of(c, a), layout_of(c, b), why));
}

static const char *apply_blocked_product(Ctx *c, const char *a, const char *b, const char **why)
{
	return show(c, layout_blocked_product(c, layout_of(c, a), layout_of(c, b), why));
}

static const char *apply_tile_to_shape(Ctx *c, const char *a, const char *b, const char **why)
{
	return show(c, layout_tile_to_shape(c, layout_of(c, a), tup_of(c, b), NULL, why));
}

static const char *apply_right_inverse(Ctx *c, const char *a, const char *b, const char **why)
{
	(void)b;
	return show(c, layout_right_inverse(c, layout_of(c, a), why));
}

static const char *apply_size(Ctx *c, const char *a, const char *b, const char **why)
{
	(void)b, (void)why;
	return show_ix(c, layout_size(c, layout_of(c, a)));
}

static const char *apply_cosize(Ctx *c, const char *a, const char *b, const char **why)
{
	(void)b, (void)why;
	return show_ix(c, layout_cosize(c, layout_of(c, a)));
}

typedef struct {
	const char *name;
	Apply apply;
	const char *a, *b, *expect;
} FactRow;

static const FactRow known[] = {
#define FACT(op, a, b, result) {#op, apply_##op, a, b, result},
#include "facts.def"
};
static const FactRow refused[] = {
#define REFUSED(op, a, b, message) {#op, apply_##op, a, b, message},
#include "facts.def"
};

static void test_known(void **state)
{
	int bad = 0;
	(void)state;
	for (size_t i = 0; i < COUNTOF(known); i++) {
		Ctx *c = ctx_new();
		const char *why = "no message";
		const char *got = known[i].apply(c, known[i].a, known[i].b, &why);
		if (!got || strcmp(got, known[i].expect)) {
			print_error("%s(%s, %s): got %s, expected %s\n", known[i].name, known[i].a,
				    known[i].b, got ? got : why, known[i].expect);
			bad++;
		}
		ctx_free(c);
	}
	assert_int_equal(bad, 0);
}

static void test_refused(void **state)
{
	int bad = 0;
	(void)state;
	for (size_t i = 0; i < COUNTOF(refused); i++) {
		Ctx *c = ctx_new();
		const char *why = "no message";
		const char *got = refused[i].apply(c, refused[i].a, refused[i].b, &why);
		if (got || !strstr(why, refused[i].expect)) {
			print_error("%s(%s, %s): got %s, expected the message %s\n",
				    refused[i].name, refused[i].a, refused[i].b, got ? got : why,
				    refused[i].expect);
			bad++;
		}
		ctx_free(c);
	}
	assert_int_equal(bad, 0);
}

/* ------------------------------------------------------------------ text */
static const struct {
	const char *text, *printed;
} readable[] = {
	{"(8,(4,2)):(1,(8,64))", "(8,(4,2)):(1,(8,64))"},
	{" ( 8 , 4 ) : ( 4 , 1 ) ", "(8,4):(4,1)"},
	{"(8,4)", "(8,4):(1,8)"},
	{"(1,4)", "(1,4):(0,1)"},
	{"12", "12:1"},
	{"(M,K):(K,1)", "(M,K):(K,1)"},
	{"(M,K):(lda,1)", "(M,K):(lda,1)"},
	{"((M+1)*2,K):(K,1)", "(M * 2 + 2,K):(K,1)"},
	{"(M)", "(M):(1)"},
	{"(min(M, 4),2):(1,4)", "(min(M, 4),2):(1,4)"},
	{"(M + N) / 2 : 1", "(M + N) / 2:1"},
	{"Sw<3,3,3> o (8,64):(64,1)", "Sw<3,3,3> o (8,64):(64,1)"},
	{"S<3,3,3> o 0 o (8,64):(64,1)", "Sw<3,3,3> o (8,64):(64,1)"},
	{"Swizzle< 3, 3, 3 > o 2 o (8,64):(64,1)", "Sw<3,3,3> o 2 o (8,64):(64,1)"},
	{"Sw<2,4,3> o k * 8 o (8,64):(64,1)", "Sw<2,4,3> o k * 8 o (8,64):(64,1)"},
	{"Sw<0,4,3> o 4:1", "4:1"},
	{"():()", "():()"},
};

static void test_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTOF(readable); i++) {
		Ctx *c = ctx_new();
		const char *s = readable[i].text, *why = "";
		const Layout *l = layout_parse(c, &s, &why);
		if (!l)
			fail_msg("%s: %s", readable[i].text, why);
		assert_string_equal(s + strspn(s, " "), "");
		assert_string_equal(layout_str(c, l), readable[i].printed);
		assert_ptr_equal(layout_of(c, readable[i].printed), l);
		ctx_free(c);
	}
}

static const struct {
	const char *text, *why;
} unreadable[] = {
	{"", "expected a number, a name or '('"},
	{"(4,", "expected a number, a name or '('"},
	{"(4 4)", "expected ',' or ')' in a tuple"},
	{"(4,8):1", "shape and stride differ in structure"},
	{"(4,8):(1,(2,4))", "shape and stride differ in structure"},
	{"(4,8):", "expected a number, a name or '('"},
	{"Sw<3,3> o 4:1", "a swizzle is Sw<B,M,S> with three numbers of at least 0"},
	{"Sw<3,3,-3> o 4:1", "a swizzle is Sw<B,M,S> with three numbers of at least 0"},
	{"Sw<3,3,2> o 4:1", "the swizzle reads bits that it changes: S must be at least B"},
	{"Sw<3,30,30> o 4:1", "the swizzle moves bits beyond bit 61"},
	{"Sw<3,3,3> 4:1", "expected 'o' after a swizzle"},
	{"Sw<3,3,3> o", "expected 'o' after a swizzle"},
	{"(4/0,2):(1,4)", "the divisor is not positive"},
	{"99999999999999999999", "the number does not fit in 64 bits"},
};

static void test_bad_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTOF(unreadable); i++) {
		Ctx *c = ctx_new();
		const char *s = unreadable[i].text, *why = "no message";
		assert_null(layout_parse(c, &s, &why));
		assert_string_equal(why, unreadable[i].why);
		ctx_free(c);
	}
}

static void test_depth(void **state)
{
	char deep[256];
	Ctx *c = ctx_new();
	const char *s = deep, *why = NULL;
	(void)state;
	memset(deep, '(', sizeof deep - 1);
	deep[sizeof deep - 1] = '\0';
	assert_null(layout_parse(c, &s, &why));
	assert_string_equal(why, "the tuple is nested too deeply");
	ctx_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_text),  cmocka_unit_test(test_bad_text),
		cmocka_unit_test(test_depth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
