/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout_text.c - layouts as text, in CuTe's print form.
 *     (8,(4,2)):(1,(8,64))    Sw<3,4,3> o (8,64):(64,1)    Sw<3,4,3> o 2 o (8,64):(64,1)
 * A shape alone is read as compact, leftmost fastest; S<..> and Swizzle<..> are read as Sw<..>. */
#include "layout/layoutp.h"

#include <string.h>

/* inner o [Sw o] offset o outer; an inner layout alone has its offset even where it is 0 */
void layout_print(const Layout *l, Buf *out)
{
	bool offset = !ix_is(l->offset, 0) || l->origin || (l->inner && !l->swizzle.b);
	if (l->inner) {
		layout_print(l->inner, out);
		buf_add(out, " o ", 3);
	}
	if (l->swizzle.b || (offset && !l->inner))
		buf_printf(out, "Sw<%d,%d,%d> o ", l->swizzle.b, l->swizzle.m, l->swizzle.s);
	if (offset) {
		if (l->origin)
			tup_print(l->origin, out);
		else
			ix_print(l->offset, out);
		buf_add(out, " o ", 3);
	}
	tup_print(l->shape, out);
	buf_add(out, ":", 1);
	tup_print(l->stride, out);
}

const char *layout_str(Ctx *c, const Layout *l)
{
	Buf b = {0};
	layout_print(l, &b);
	return ctx_buf(c, &b);
}

static bool parse_int(const char **s, int *out)
{
	int v = 0;
	*s = text_skip_space(*s);
	if (**s < '0' || **s > '9')
		return false;
	for (; **s >= '0' && **s <= '9' && v < 1000; ++*s)
		v = 10 * v + (**s - '0');
	*out = v;
	*s = text_skip_space(*s);
	return true;
}

static bool parse_char(const char **s, char ch)
{
	*s = text_skip_space(*s);
	if (**s != ch)
		return false;
	++*s;
	return true;
}

static const char *swizzle_start(const char *s)
{
	static const char *const names[] = {"Sw<", "S<", "Swizzle<"};
	for (size_t i = 0; i < COUNTOF(names); i++)
		if (!strncmp(s, names[i], strlen(names[i])))
			return s + strlen(names[i]);
	return NULL;
}

static bool parse_swizzle(const char **s, Swizzle *sw, const char **why)
{
	if (!parse_int(s, &sw->b) || !parse_char(s, ',') || !parse_int(s, &sw->m) ||
	    !parse_char(s, ',') || !parse_int(s, &sw->s) || !parse_char(s, '>'))
		return *why = "a swizzle is Sw<B,M,S> with three numbers of at least 0", false;
	if (sw->b > 30 || sw->m > 30 || sw->s > 30 || sw->b + sw->m + sw->s > 62)
		return *why = "the swizzle moves bits beyond bit 61", false;
	if (sw->b > sw->s && sw->b)
		return *why = "the swizzle reads bits that it changes: S must be at least B", false;
	return true;
}

/* `o`, as a word of its own */
static bool parse_o(const char **s)
{
	const char *p = text_skip_space(*s);
	if (*p != 'o' || (p[1] != ' ' && p[1] != '(' && p[1] != '\t' && p[1] != '\n'))
		return false;
	*s = p + 1;
	return true;
}

static const Layout *plain(Ctx *c, const Tup *shape, const char **s, const char **why)
{
	if (*text_skip_space(*s) != ':')
		return layout_left(c, shape);
	*s = text_skip_space(*s) + 1;
	const Tup *stride = tup_parse(c, s, why);
	if (!stride)
		return NULL;
	if (!tup_congruent(shape, stride))
		return *why = "shape and stride differ in structure", NULL;
	return layout_new(c, shape, stride);
}

enum { CHAIN_MAX = 8 };

/* offset o outer, or outer alone; the offset may be coordinates */
static const Layout *behind(Ctx *c, const Tup **offset, const char **s, const char **why)
{
	const Tup *first = tup_parse(c, s, why);
	*offset = NULL;
	if (first && *text_skip_space(*s) != ':' && parse_o(s)) {
		*offset = first;
		first = tup_parse(c, s, why);
	}
	return first ? plain(c, first, s, why) : NULL;
}

/* After an inner layout, whose o is read. */
static const Layout *chain(Ctx *c, const Layout *inner, const char **s, const char **why, int depth)
{
	const Tup *offset;
	Swizzle sw = {0, 0, 0};
	const char *inside = swizzle_start(text_skip_space(*s));
	if (depth == CHAIN_MAX)
		return *why = "the chain of o is too long", NULL;
	if (inside) {
		*s = inside;
		if (!parse_swizzle(s, &sw, why))
			return NULL;
		if (!parse_o(s))
			return *why = "expected 'o' after a swizzle", NULL;
	}
	const Layout *outer = behind(c, &offset, s, why);
	if (!outer)
		return NULL;
	if (inner && !offset && !inside)
		return *why = "expected an offset after the first 'o'", NULL;
	if (offset && !tup_is_leaf(offset) && (inside || !inner))
		return *why = "only a layout may follow an offset of coordinates", NULL;
	if (offset && tup_is_leaf(offset) && offset->basis)
		return *why = "an offset has no basis", NULL;
	const Layout *l =
		offset && !tup_is_leaf(offset)
			? layout_composed(c, NULL, offset, outer)
			: layout_swizzled(c, sw, offset ? offset->leaf : ix_const(c, 0), outer);
	if (inner)
		l = layout_behind(c, inner, l);
	return parse_o(s) ? chain(c, l, s, why, depth + 1) : l;
}

const Layout *layout_parse(Ctx *c, const char **s, const char **why)
{
	const char *unused;
	why = why ? why : &unused;
	*s = text_skip_space(*s);
	if (swizzle_start(*s))
		return chain(c, NULL, s, why, 0);
	const Tup *shape = tup_parse(c, s, why);
	const Layout *l = shape ? plain(c, shape, s, why) : NULL;
	return l && parse_o(s) ? chain(c, l, s, why, 0) : l;
}
