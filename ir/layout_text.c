/* layout_text.c - layouts as text, in CuTe's print form.
 *     (8,(4,2)):(1,(8,64))    Sw<3,4,3> o (8,64):(64,1)    Sw<3,4,3> o 2 o (8,64):(64,1)
 * A shape alone is read as compact, leftmost fastest; S<..> and Swizzle<..> are read as Sw<..>. */
#include "ir/layoutp.h"

#include <string.h>

void layout_print(const Layout *l, Buf *out)
{
	bool offset = !ix_is(l->offset, 0);
	if (l->swizzle.b || offset)
		buf_printf(out, "Sw<%d,%d,%d> o ", l->swizzle.b, l->swizzle.m, l->swizzle.s);
	if (offset) {
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
	const char *s = arena_strndup(ctx_arena(c), b.s, b.n);
	buf_free(&b);
	return s;
}

static const char *skip_space(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

static bool parse_int(const char **s, int *out)
{
	int v = 0;
	*s = skip_space(*s);
	if (**s < '0' || **s > '9')
		return false;
	for (; **s >= '0' && **s <= '9' && v < 1000; ++*s)
		v = 10 * v + (**s - '0');
	*out = v;
	*s = skip_space(*s);
	return true;
}

static bool parse_char(const char **s, char ch)
{
	*s = skip_space(*s);
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
	const char *p = skip_space(*s);
	if (*p != 'o' || (p[1] != ' ' && p[1] != '(' && p[1] != '\t' && p[1] != '\n'))
		return false;
	*s = p + 1;
	return true;
}

static const Layout *plain(Ctx *c, const Tup *shape, const char **s, const char **why)
{
	if (*skip_space(*s) != ':')
		return layout_left(c, shape);
	*s = skip_space(*s) + 1;
	const Tup *stride = tup_parse(c, s, why);
	if (!stride)
		return NULL;
	if (!tup_congruent(shape, stride))
		return *why = "shape and stride differ in structure", NULL;
	return layout_new(c, shape, stride);
}

static const Layout *composed(Ctx *c, const char **s, const char **why)
{
	Swizzle sw;
	const Ix *offset = ix_const(c, 0);
	if (!parse_swizzle(s, &sw, why))
		return NULL;
	if (!parse_o(s))
		return *why = "expected 'o' after a swizzle", NULL;
	const Tup *first = tup_parse(c, s, why);
	if (first && tup_is_leaf(first) && parse_o(s)) {
		offset = first->leaf;
		first = tup_parse(c, s, why);
	}
	const Layout *outer = first ? plain(c, first, s, why) : NULL;
	return outer ? layout_swizzled(c, sw, offset, outer) : NULL;
}

const Layout *layout_parse(Ctx *c, const char **s, const char **why)
{
	const char *unused;
	why = why ? why : &unused;
	*s = skip_space(*s);
	const char *inside = swizzle_start(*s);
	if (inside) {
		*s = inside;
		return composed(c, s, why);
	}
	const Tup *shape = tup_parse(c, s, why);
	return shape ? plain(c, shape, s, why) : NULL;
}
