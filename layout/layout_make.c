/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout_make.c - layouts made from others or from an order: ordered, like, identity, and the same
 * bytes seen as elements of another width.
 *     ordered (2,(2,2),2) by (0,(2,3),1) = (2,(2,2),2):(1,(4,8),2)
 *     upcast (32,4):(1,32) by 4 = (8,4):(1,8) */
#include "layout/layoutp.h"

#include <inttypes.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ by order */
typedef struct {
	const Ix *key; /* where it stands in the order */
	int at;        /* which leaf it is */
	const Ix *extent;
	const Ix *stride; /* what it gets */
} Ordered;
typedef VEC(Ordered) Order;

/* Numbers first, by value; names keep their places. */
static int order_cmp(const void *x, const void *y)
{
	const Ordered *a = x, *b = y;
	bool an = a->key->kind == IX_CONST, bn = b->key->kind == IX_CONST;
	if (an != bn)
		return an ? -1 : 1;
	if (an && a->key->value != b->key->value)
		return a->key->value < b->key->value ? -1 : 1;
	return a->at - b->at;
}

static int place_cmp(const void *x, const void *y)
{
	return ((const Ordered *)x)->at - ((const Ordered *)y)->at;
}

/* A number of the order stands for all leaves below it, left to right. */
static bool collect(Ctx *c, const Tup *shape, const Tup *order, Order *out)
{
	if (tup_is_leaf(shape)) {
		if (tup_is_leaf(order))
			vec_push(ctx_tmp(c), out,
				 ((Ordered){order->leaf, out->n, shape->leaf, NULL}));
		return tup_is_leaf(order);
	}
	if (!tup_is_leaf(order) && order->n != shape->n)
		return false;
	for (int i = 0; i < shape->n; i++)
		if (!collect(c, shape->at[i], tup_is_leaf(order) ? order : order->at[i], out))
			return false;
	return true;
}

static const Tup *strides_of(Ctx *c, const Tup *shape, const Order *o, int *next)
{
	if (tup_is_leaf(shape))
		return tup_leaf(c, o->at[(*next)++].stride);
	const Tup *t;
	TUP_OF(t, c, shape->n, i, strides_of(c, shape->at[i], o, next));
	return t;
}

static const Layout *ordered(Ctx *c, const Tup *shape, Order *o)
{
	const Ix *next = ix_const(c, 1);
	int at = 0;
	if (o->n)
		qsort(o->at, (size_t)o->n, sizeof *o->at, order_cmp);
	for (int i = 0; i < o->n; i++) {
		bool one = ix_is(o->at[i].extent, 1);
		o->at[i].stride = one ? ix_const(c, 0) : next;
		next = ix_mul(c, next, o->at[i].extent);
	}
	if (o->n)
		qsort(o->at, (size_t)o->n, sizeof *o->at, place_cmp);
	return layout_new(c, shape, strides_of(c, shape, o, &at));
}

const Layout *layout_ordered(Ctx *c, const Tup *shape, const Tup *order, const char **why)
{
	Order o = {0};
	ArenaMark mark = arena_mark(ctx_tmp(c));
	const Layout *l = collect(c, shape, order, &o) ? ordered(c, shape, &o) : NULL;
	arena_release(ctx_tmp(c), mark);
	if (!l)
		return refuse(c, why, "make_ordered_layout: %s by %s: the order has another form",
			      tup_text(c, shape), tup_text(c, order));
	return l;
}

const Layout *layout_like(Ctx *c, const Layout *l, const char **why)
{
	Order o = {0};
	Modes m = {0};
	if (tup_has_basis(l->stride))
		return refuse(c, why, "make_layout_like: %s has strides with a basis",
			      layout_str(c, l));
	ArenaMark mark = arena_mark(ctx_tmp(c));
	layout_flatten(c, l, &m);
	for (int i = 0; i < m.n; i++) {
		bool still = ix_is(m.at[i].stride, 0);
		vec_push(ctx_tmp(c), &o,
			 ((Ordered){m.at[i].stride, i, still ? ix_const(c, 1) : m.at[i].shape,
				    NULL}));
	}
	l = ordered(c, l->shape, &o);
	arena_release(ctx_tmp(c), mark);
	return l;
}

/* ------------------------------------------------------------------ identity */
static const Tup *identity(Ctx *c, const Tup *shape, uint64_t basis)
{
	if (tup_is_leaf(shape))
		return tup_basis(c, ix_const(c, 1), basis);
	const Tup *t;
	TUP_OF(t, c, shape->n, i, identity(c, shape->at[i], basis << 8 | (uint64_t)(i + 1)));
	return t;
}

const Layout *layout_identity(Ctx *c, const Tup *shape)
{
	if (tup_depth(shape) > 8)
		panic("an identity layout of depth %d", tup_depth(shape));
	return layout_new(c, shape, identity(c, shape, 0));
}

/* ------------------------------------------------------------------ other widths */
typedef struct {
	const Layout *whole;
	int64_t n; /* so many old elements are one new; below 0: the other way round */
	const char **why;
	int leaf, grows; /* leaves so far; the one that a downcast makes longer */
} Cast;

static const char *cast_name(const Cast *k)
{
	return k->n > 0 ? "upcast" : "downcast";
}

static bool cast_fail(Ctx *c, const Cast *k, const Ix *shape, const Ix *stride, const char *what)
{
	refuse(c, k->why, "%s: %s by %" PRId64 ": mode %s:%s: %s", cast_name(k),
	       layout_str(c, k->whole), k->n < 0 ? -k->n : k->n, ix_text(c, shape),
	       ix_text(c, stride), what);
	return false;
}

static bool up_mode(Ctx *c, Cast *k, const Ix **shape, const Ix **stride)
{
	const Ix *q, *n = ix_const(c, k->n), *s = *shape, *d = *stride;
	int64_t v;
	if (ix_divides(c, d, n, &q))
		return *stride = q, true;
	if (ix_is(s, 1)) /* its stride moves nothing */
		return *stride = ix_ceil_div(c, d, n), true;
	if (!ix_is_const(d, &v))
		return cast_fail(c, k, s, d, "the stride is not known to be a multiple");
	if (v < 0 || k->n % v)
		return cast_fail(c, k, s, d, "neither of stride and factor divides the other");
	if (!ix_divides(c, s, ix_const(c, k->n / v), &q))
		return cast_fail(c, k, s, d, "its elements do not fill whole new ones");
	*shape = q;
	*stride = ix_const(c, 1);
	return true;
}

static bool down_mode(Ctx *c, Cast *k, const Ix **shape, const Ix **stride)
{
	const Ix *n = ix_const(c, -k->n);
	if (k->leaf++ != k->grows)
		*stride = ix_mul(c, *stride, n);
	else {
		*shape = ix_mul(c, *shape, n);
		*stride = ix_const(c, 1);
	}
	return true;
}

/* The parts of an element are one more step of a mode of stride 1, or all of a mode of size 1. */
static bool find_parts(Ctx *c, Cast *k, const Layout *l)
{
	Modes m = {0};
	layout_flatten(c, l, &m);
	k->leaf = 0;
	k->grows = -1;
	for (int i = 0; i < m.n; i++) {
		bool one = ix_is(m.at[i].shape, 1),
		     next = ix_is(m.at[i].stride, 1) && !m.at[i].basis;
		bool better = k->grows < 0 || (next && ix_is(m.at[k->grows].shape, 1));
		if (better && (one || next))
			k->grows = i;
	}
	if (k->n > 0 || k->grows >= 0 || tup_has_basis(l->stride))
		return true;
	refuse(c, k->why,
	       "downcast: %s by %" PRId64 ": no mode has stride 1: append one of size 1 for the "
	       "parts of an element",
	       layout_str(c, k->whole), -k->n);
	return false;
}

static bool cast_tree(Ctx *c, Cast *k, const Tup **shape, const Tup **stride)
{
	if (tup_is_leaf(*shape)) {
		const Ix *s = (*shape)->leaf, *d = (*stride)->leaf;
		if ((*stride)->basis)
			return cast_fail(c, k, s, d, "its stride has a basis");
		if (!(k->n > 0 ? up_mode : down_mode)(c, k, &s, &d))
			return false;
		*shape = tup_leaf(c, s);
		*stride = tup_leaf(c, d);
		return true;
	}
	int n = (*shape)->n;
	const Tup **s = NEWN(ctx_tmp(c), const Tup *, n + 1);
	const Tup **d = NEWN(ctx_tmp(c), const Tup *, n + 1);
	for (int i = 0; i < n; i++) {
		s[i] = (*shape)->at[i];
		d[i] = (*stride)->at[i];
		if (!cast_tree(c, k, &s[i], &d[i]))
			return false;
	}
	*shape = tup_new(c, s, n);
	*stride = tup_new(c, d, n);
	return true;
}

static int log2_of(int64_t n)
{
	int bits = 0;
	while (n > 1 && n % 2 == 0)
		n /= 2, bits++;
	return n == 1 ? bits : -1;
}

/* The swizzle's bits count new elements. */
static bool cast_swizzle(Ctx *c, const Cast *k, Swizzle *sw)
{
	int bits = log2_of(k->n < 0 ? -k->n : k->n), m = sw->m + (k->n > 0 ? -bits : bits);
	if (!sw->b)
		return true;
	if (bits < 0 || m < 0 || m + sw->b + sw->s > 62) {
		refuse(c, k->why, "%s: %s by %" PRId64 ": the swizzle moves parts of an element",
		       cast_name(k), layout_str(c, k->whole), k->n < 0 ? -k->n : k->n);
		return false;
	}
	sw->m = m;
	return true;
}

static bool cast_offset(Ctx *c, const Cast *k, const Ix **offset)
{
	if (k->n < 0)
		*offset = ix_mul(c, *offset, ix_const(c, -k->n));
	else if (!ix_divides(c, *offset, ix_const(c, k->n), offset)) {
		refuse(c, k->why, "upcast: %s by %" PRId64 ": the offset is not a multiple",
		       layout_str(c, k->whole), k->n);
		return false;
	}
	return true;
}

static const Layout *cast(Ctx *c, const Layout *l, Cast *k)
{
	Layout r = *l;
	if (l->origin)
		return refuse(c, k->why, "%s: %s has coordinates for an offset", cast_name(k),
			      layout_str(c, l));
	if (l->inner && !(r.inner = cast(c, l->inner, k)))
		return NULL;
	ArenaMark mark = arena_mark(ctx_tmp(c));
	bool ok = find_parts(c, k, l) && cast_tree(c, k, &r.shape, &r.stride) &&
		  cast_swizzle(c, k, &r.swizzle) && cast_offset(c, k, &r.offset);
	arena_release(ctx_tmp(c), mark);
	if (!ok)
		return NULL;
	l = layout_swizzled(c, r.swizzle, r.offset, layout_new(c, r.shape, r.stride));
	return layout_behind(c, r.inner, l);
}

static const Layout *cast_begin(Ctx *c, const Layout *l, int64_t n, const char *name, bool up,
				const char **why)
{
	if (n < 1 || n > INT64_C(1) << 32)
		return refuse(c, why, "%s: %s by %" PRId64 ": the factor is not in 1..2^32", name,
			      layout_str(c, l), n);
	if (!layout_usable(c, name, l, why))
		return NULL;
	return n == 1 ? l : cast(c, l, &(Cast){.whole = l, .n = up ? n : -n, .why = why});
}

const Layout *layout_upcast(Ctx *c, const Layout *l, int64_t n, const char **why)
{
	return cast_begin(c, l, n, "upcast", true, why);
}

const Layout *layout_downcast(Ctx *c, const Layout *l, int64_t n, const char **why)
{
	return cast_begin(c, l, n, "downcast", false, why);
}
