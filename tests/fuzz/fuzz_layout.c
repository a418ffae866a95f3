/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fuzz_layout.c - any bytes as an index expression and as a layout: what is read prints to text
 * that reads back as the same thing, and simplifying keeps the value. */
#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static bool value_of(void *user, const char *name, int64_t *v)
{
	(void)user;
	*v = (int64_t)strlen(name) * 7 + name[0];
	return true;
}

static void same_value(Ctx *c, const Ix *x)
{
	int64_t before, after;
	if (!ix_eval(x, value_of, NULL, &before))
		return;
	const Ix *y = ix_simplify(c, x, (IxFacts){0});
	if (ix_eval(y, value_of, NULL, &after))
		require(before == after);
}

static void try_ix(Ctx *c, Ctx *other, const char *text)
{
	Buf b = {0}, again = {0};
	const char *why = NULL, *s = text;
	const Ix *x = ix_parse(c, &s, &why);
	require(s >= text && s <= text + strlen(text));
	require(x || why);
	if (x) {
		ix_print(x, &b);
		ix_postfix(x, &again);
		same_value(c, x);
		s = b.s;
		require(ix_parse(c, &s, &why) == x && !*s);
		again.n = 0;
		s = b.s;
		ix_print(ix_parse(other, &s, &why), &again);
		require(!strcmp(b.s, again.s));
	}
	buf_free(&b);
	buf_free(&again);
}

static void try_layout(Ctx *c, const char *text)
{
	const char *why = NULL, *s = text;
	const Layout *l = layout_parse(c, &s, &why);
	require(s >= text && s <= text + strlen(text));
	require(l || why);
	if (!l)
		return;
	s = layout_str(c, l);
	require(layout_parse(c, &s, &why) == l && !*s);
	layout_coalesce(c, l);
	layout_right_inverse(c, l, &why);
	layout_complement(c, l, ix_const(c, 64), &why);
	layout_composition(c, l, layout_left(c, tup_int(c, 12)), &why);
	layout_logical_product(c, l, layout_left(c, tup_int(c, 3)), &why);
	layout_left_inverse(c, l, &why);
	layout_nullspace(c, l, &why);
	layout_gaps(c, l, &why);
	layout_like(c, l, &why);
	layout_upcast(c, l, 4, &why);
	layout_downcast(c, l, 4, &why);
	layout_max_common(c, l, l, &why);
	layout_cosize(c, l);
	layout_eval(c, l, tup_leaf(c, ix_sym(c, "i")));
	if (layout_gives_numbers(l) && !l->inner)
		layout_at(c, l, ix_sym(c, "i"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[2048];
	size_t n = size < sizeof text ? size : sizeof text - 1;
	if (n)
		memcpy(text, data, n);
	text[n] = '\0';
	Ctx *c = ctx_new(), *other = ctx_new();
	try_ix(c, other, text);
	try_layout(c, text);
	ctx_free(other);
	ctx_free(c);
	return 0;
}
