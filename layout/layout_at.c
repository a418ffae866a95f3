/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout_at.c - what a layout maps a coordinate to: a number, or coordinates where strides carry a
 * basis.
 *     layout_at((4,2):(1,8), i)  is  i % 4 + i / 4 * 8        (1,2) in (4,8):(1@1,1@0)  is  (2,1)
 * A swizzle of a symbolic offset is written out with / and %, one bit at a time. */
#include "layout/layoutp.h"

int64_t swizzle_apply(Swizzle sw, int64_t x)
{
	uint64_t u = (uint64_t)x, mask = ((UINT64_C(1) << sw.b) - 1) << (sw.m + sw.s);
	return (int64_t)(u ^ (u & mask) >> sw.s);
}

static const Ix *bit_of(Ctx *c, const Ix *x, int bit)
{
	return ix_mod(c, ix_div(c, x, ix_const(c, INT64_C(1) << bit)), ix_const(c, 2));
}

/* x ^ (y << to) for bits: y = 1 adds 2^to where bit `to` is 0 and takes it away where it is 1. */
static const Ix *swizzle_symbolic(Ctx *c, Swizzle sw, const Ix *x)
{
	const Ix *sum = x;
	for (int i = 0; i < sw.b; i++) {
		const Ix *y = bit_of(c, x, sw.m + sw.s + i), *z = bit_of(c, x, sw.m + i);
		const Ix *flip = ix_sub(c, y, ix_mul(c, ix_const(c, 2), ix_mul(c, y, z)));
		sum = ix_add(c, sum, ix_mul(c, flip, ix_const(c, INT64_C(1) << (sw.m + i))));
	}
	return ix_plain(c, sum);
}

static const Ix *composed_at(Ctx *c, const Layout *l, const Ix *offset)
{
	int64_t v;
	const Ix *x = ix_plain(c, ix_add(c, offset, l->offset));
	if (l->swizzle.b && ix_is_const(x, &v))
		x = ix_const(c, swizzle_apply(l->swizzle, v));
	else if (l->swizzle.b)
		x = swizzle_symbolic(c, l->swizzle, x);
	return l->inner ? layout_at(c, l->inner, x) : x;
}

/* The last mode takes what is left, so that coordinates beyond the shape continue it. */
static const Ix *outer_at(Ctx *c, const Layout *l, const Ix *linear)
{
	Modes m = {0};
	const Ix *sum = ix_const(c, 0), *left = linear;
	ArenaMark mark = arena_mark(ctx_tmp(c));
	layout_flatten(c, l, &m);
	for (int i = 0; i < m.n; i++) {
		const Ix *s = m.at[i].shape;
		bool last = i == m.n - 1;
		if (m.at[i].basis)
			panic("the offset of a coordinate that is not a number");
		if (ix_is(s, 0)) {
			sum = s;
			break;
		}
		const Ix *coord = last ? left : ix_mod(c, left, s);
		sum = ix_add(c, sum, ix_mul(c, coord, m.at[i].stride));
		if (!last)
			left = ix_div(c, left, s);
	}
	arena_release(ctx_tmp(c), mark);
	return ix_plain(c, sum);
}

const Ix *layout_at(Ctx *c, const Layout *l, const Ix *linear)
{
	return composed_at(c, l, outer_at(c, l, linear));
}

static int64_t leaf_int(const Tup *t)
{
	int64_t v;
	if (t->basis || !ix_is_const(t->leaf, &v))
		panic("offset in a layout that is not static");
	return v;
}

/* Takes the coordinate of this subtree off *linear; `last` takes all of it. */
static int64_t int_at(const Tup *shape, const Tup *stride, int64_t *linear, bool last)
{
	int64_t sum = 0;
	if (tup_is_leaf(shape)) {
		int64_t s = leaf_int(shape), coord = last ? *linear : *linear % s;
		*linear /= s;
		if (__builtin_mul_overflow(coord, leaf_int(stride), &sum))
			panic("offset in a layout overflows");
		return sum;
	}
	for (int i = 0; i < shape->n; i++) {
		int64_t part =
			int_at(shape->at[i], stride->at[i], linear, last && i == shape->n - 1);
		if (__builtin_add_overflow(sum, part, &sum))
			panic("offset in a layout overflows");
	}
	return sum;
}

int64_t layout_at_int(const Layout *l, int64_t linear)
{
	int64_t offset;
	if (!ix_is_const(l->offset, &offset))
		panic("offset in a layout that is not static");
	int64_t plain = int_at(l->shape, l->stride, &linear, true);
	if (__builtin_add_overflow(offset, plain, &offset))
		panic("offset in a layout overflows");
	offset = swizzle_apply(l->swizzle, offset);
	return l->inner ? layout_at_int(l->inner, offset) : offset;
}

int64_t layout_plain_at(const Layout *l, const int64_t *at)
{
	int64_t sum = 0;
	for (int i = 0; i < l->shape->n; i++) {
		int64_t linear = at[i];
		sum += int_at(l->shape->at[i], l->stride->at[i], &linear, true);
	}
	return sum;
}

/* ------------------------------------------------------------------ coordinates */
/* What coordinate `at` of shape moves, as (number, basis) pairs; `last` takes all that is left. */
static bool gather(Ctx *c, const Tup *at, const Tup *shape, const Tup *stride, Modes *out)
{
	if (tup_is_any(at))
		at = tup_int(c, 0);
	if (!tup_is_leaf(at)) {
		for (int i = 0; at->n == shape->n && i < at->n; i++)
			if (!gather(c, at->at[i], shape->at[i], stride->at[i], out))
				return false;
		return at->n == shape->n;
	}
	const Tup *leaves = tup_is_leaf(shape) ? at : tup_idx2crd(c, at->leaf, shape);
	if (!tup_is_leaf(shape))
		return gather(c, leaves, shape, stride, out);
	vec_push(ctx_tmp(c), out,
		 ((Mode){ix_mul(c, at->leaf, stride->leaf), ix_const(c, 1), stride->basis}));
	return true;
}

static const Ix *sum_of(Ctx *c, const Modes *m, uint64_t basis)
{
	const Ix *sum = ix_const(c, 0);
	for (int i = 0; i < m->n; i++)
		if (m->at[i].basis == basis)
			sum = ix_add(c, sum, m->at[i].shape);
	return ix_plain(c, sum);
}

typedef struct {
	const Modes *m;
} Sums;

static const void *sum_at(Ctx *c, void *user, uint64_t basis)
{
	return tup_leaf(c, sum_of(c, ((Sums *)user)->m, basis));
}

static const void *sums_join(Ctx *c, void *user, const void *const *at, int n)
{
	(void)user;
	return tup_new(c, (const Tup *const *)at, n);
}

static const Tup *eval_outer(Ctx *c, const Layout *l, const Tup *at)
{
	Modes m = {0};
	uint64_t *paths;
	int n = 0;
	if (!gather(c, at, l->shape, l->stride, &m))
		return NULL;
	paths = NEWN(ctx_tmp(c), uint64_t, m.n + 1);
	for (int i = 0; i < m.n; i++)
		if (m.at[i].basis)
			paths[n++] = m.at[i].basis;
	if (n == 0)
		return tup_leaf(c, sum_of(c, &m, 0));
	return basis_tree(c, paths, n, sum_at, sums_join, &(Sums){&m});
}

const Tup *layout_eval(Ctx *c, const Layout *l, const Tup *at)
{
	ArenaMark mark = arena_mark(ctx_tmp(c));
	const Tup *x = eval_outer(c, l, at);
	arena_release(ctx_tmp(c), mark);
	if (!x)
		return NULL;
	if (l->origin)
		x = tup_add(c, x, l->origin);
	if (!tup_is_leaf(x))
		return l->swizzle.b || !ix_is(l->offset, 0) ? NULL
		       : l->inner                           ? layout_eval(c, l->inner, x)
							    : x;
	Layout here = *l;
	here.inner = NULL;
	x = tup_leaf(c, composed_at(c, &here, x->leaf));
	return l->inner ? layout_eval(c, l->inner, x) : x;
}
