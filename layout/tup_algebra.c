/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tup_algebra.c - arithmetic on integer tuples, and between coordinates and linear indices.
 *     tup_idx2crd(9, (4,8)) = (1,2)        tup_shape_div((4,5,6), 40) = (1,1,3)
 * Division of a tuple by a number goes from left to right: each leaf takes what it can. */
#include "layout/layoutp.h"

typedef const Ix *(*Leaf2)(Ctx *c, const Ix *a, const Ix *b);

/* Place by place; what only one of them has stays as it is (`alone` says what b's becomes). */
static const Tup *each(Ctx *c, const Tup *a, const Tup *b, Leaf2 f)
{
	if (tup_is_leaf(a) && tup_is_leaf(b))
		return tup_leaf(c, f(c, a->leaf, b->leaf));
	if (tup_is_leaf(a) || tup_is_leaf(b)) {
		const Tup *leaf = tup_is_leaf(a) ? a : b;
		return ix_is(leaf->leaf, 0) ? (leaf == a ? b : a) : NULL;
	}
	const Tup *r;
	TUP_OF(r, c, a->n > b->n ? a->n : b->n, i,
	       i >= a->n   ? b->at[i]
	       : i >= b->n ? a->at[i]
			   : each(c, a->at[i], b->at[i], f));
	return r;
}

static const Ix *add_plain(Ctx *c, const Ix *a, const Ix *b)
{
	return ix_plain(c, ix_add(c, a, b));
}

static const Ix *sub_plain(Ctx *c, const Ix *a, const Ix *b)
{
	return ix_plain(c, ix_sub(c, a, b));
}

const Tup *tup_add(Ctx *c, const Tup *a, const Tup *b)
{
	return each(c, a, b, add_plain);
}

const Tup *tup_sub(Ctx *c, const Tup *a, const Tup *b)
{
	return each(c, a, b, sub_plain);
}

/* ------------------------------------------------------------------ structure */
typedef VEC(const Tup *) Tups;

static void leaves(Ctx *c, const Tup *t, Tups *out)
{
	if (tup_is_leaf(t))
		vec_push(ctx_tmp(c), out, t);
	for (int i = 0; i < t->n; i++)
		leaves(c, t->at[i], out);
}

const Tup *tup_flatten(Ctx *c, const Tup *t)
{
	Tups out = {0};
	if (tup_is_leaf(t))
		return t;
	ArenaMark mark = arena_mark(ctx_tmp(c));
	leaves(c, t, &out);
	t = tup_new(c, out.at, out.n);
	arena_release(ctx_tmp(c), mark);
	return t;
}

int tup_depth(const Tup *t)
{
	int most = 0;
	if (tup_is_leaf(t))
		return 0;
	for (int i = 0; i < t->n; i++) {
		int d = tup_depth(t->at[i]);
		most = d > most ? d : most;
	}
	return most + 1;
}

const Tup *tup_product_each(Ctx *c, const Tup *t)
{
	const Tup *r;
	TUP_OF(r, c, tup_rank(t), i, tup_leaf(c, tup_product(c, tup_get(t, i))));
	return r;
}

static void picked(Ctx *c, const Tup *t, const Tup *coord, bool any, Tups *out, bool *fits)
{
	if (tup_is_leaf(coord)) {
		if (tup_is_any(coord) == any)
			vec_push(ctx_tmp(c), out, t);
		return;
	}
	if (tup_rank(t) != coord->n || (tup_is_leaf(t) && coord->n != 1)) {
		*fits = false;
		return;
	}
	for (int i = 0; i < coord->n; i++)
		picked(c, tup_get(t, i), coord->at[i], any, out, fits);
}

/* The places where coord is `_` (any), or where it is not. NULL: the forms differ. */
static const Tup *pick(Ctx *c, const Tup *t, const Tup *coord, bool any)
{
	Tups out = {0};
	bool fits = true;
	if (tup_is_leaf(coord) && tup_is_any(coord) == any)
		return t;
	ArenaMark mark = arena_mark(ctx_tmp(c));
	picked(c, t, coord, any, &out, &fits);
	t = fits ? tup_new(c, out.at, out.n) : NULL;
	arena_release(ctx_tmp(c), mark);
	return t;
}

const Tup *tup_slice(Ctx *c, const Tup *t, const Tup *coord)
{
	return pick(c, t, coord, true);
}

const Tup *tup_dice(Ctx *c, const Tup *t, const Tup *coord)
{
	return pick(c, t, coord, false);
}

bool tup_weakly_congruent(const Tup *a, const Tup *b)
{
	if (tup_is_leaf(a))
		return true;
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++)
		if (!tup_weakly_congruent(a->at[i], b->at[i]))
			return false;
	return true;
}

bool tup_compatible(Ctx *c, const Tup *a, const Tup *b)
{
	if (tup_is_leaf(a))
		return ix_plain(c, a->leaf) == ix_plain(c, tup_product(c, b));
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++)
		if (!tup_compatible(c, a->at[i], b->at[i]))
			return false;
	return true;
}

/* ------------------------------------------------------------------ division */
const Tup *tup_map(Ctx *c, const Tup *t, const Ix *(*f)(Ctx *c, void *user, const Ix *x),
		   void *user)
{
	if (tup_is_leaf(t)) {
		const Ix *x = f(c, user, t->leaf);
		return x ? tup_basis(c, x, t->basis) : NULL;
	}
	const Tup *r;
	TUP_OF(r, c, t->n, i, tup_map(c, t->at[i], f, user));
	return r;
}

/* x / *by, rounded up; *by becomes what is left to divide by */
static const Ix *take_ceil(Ctx *c, void *by, const Ix *x)
{
	const Ix **left = by, *q = ix_plain(c, ix_ceil_div(c, x, *left));
	*left = ix_plain(c, ix_ceil_div(c, *left, x));
	return q;
}

static const Ix *take_exact(Ctx *c, void *by, const Ix *x)
{
	const Ix **left = by, *q, *one = ix_const(c, 1);
	if (ix_divides(c, x, *left, &q))
		*left = one;
	else if (ix_divides(c, *left, x, left))
		q = one;
	else
		q = NULL;
	return q;
}

static const Tup *divide(Ctx *c, const Tup *a, const Tup *b,
			 const Ix *(*take)(Ctx *c, void *by, const Ix *x))
{
	if (tup_is_leaf(b) || tup_is_leaf(a)) {
		const Ix *by = tup_product(c, b);
		return tup_map(c, a, take, &by);
	}
	if (b->n > a->n)
		return NULL;
	const Tup *r;
	TUP_OF(r, c, a->n, i, i < b->n ? divide(c, a->at[i], b->at[i], take) : a->at[i]);
	return r;
}

bool tup_is_positive(const Tup *t)
{
	int64_t v;
	if (tup_is_leaf(t))
		return !ix_is_const(t->leaf, &v) || v > 0;
	for (int i = 0; i < t->n; i++)
		if (!tup_is_positive(t->at[i]))
			return false;
	return true;
}

const Tup *tup_ceil_div(Ctx *c, const Tup *a, const Tup *b)
{
	return tup_is_positive(a) && tup_is_positive(b) ? divide(c, a, b, take_ceil) : NULL;
}

const Tup *tup_shape_div(Ctx *c, const Tup *a, const Tup *b)
{
	return tup_is_positive(a) && tup_is_positive(b) ? divide(c, a, b, take_exact) : NULL;
}

/* ------------------------------------------------------------------ coordinates */
static const Tup *coordinate(Ctx *c, const Ix **left, const Tup *shape, bool last)
{
	if (tup_is_leaf(shape)) {
		const Ix *x = *left;
		if (last || ix_is(shape->leaf, 0))
			return tup_leaf(c, ix_plain(c, x));
		*left = ix_div(c, x, shape->leaf);
		return tup_leaf(c, ix_plain(c, ix_mod(c, x, shape->leaf)));
	}
	const Tup *t;
	TUP_OF(t, c, shape->n, i, coordinate(c, left, shape->at[i], last && i == shape->n - 1));
	return t;
}

const Tup *tup_idx2crd(Ctx *c, const Ix *x, const Tup *shape)
{
	return coordinate(c, &x, shape, true);
}

const Tup *tup_crd2crd(Ctx *c, const Tup *at, const Tup *shape)
{
	if (tup_is_leaf(at))
		return tup_idx2crd(c, at->leaf, shape);
	if (at->n != shape->n)
		return NULL;
	const Tup *r;
	TUP_OF(r, c, at->n, i, tup_crd2crd(c, at->at[i], shape->at[i]));
	return r;
}

/* The place after `at`, leftmost mode first; the last mode has no end. *carry: still to add. */
static const Tup *next_place(Ctx *c, const Tup *at, const Tup *shape, const Ix **carry, bool last)
{
	if (tup_is_leaf(at)) {
		const Ix *x = ix_add(c, at->leaf, *carry), *s = tup_product(c, shape);
		if (last)
			return tup_leaf(c, ix_plain(c, x));
		*carry = ix_plain(c, ix_div(c, x, s));
		return tup_leaf(c, ix_plain(c, ix_mod(c, x, s)));
	}
	if (at->n != shape->n)
		return NULL;
	const Tup *r;
	TUP_OF(r, c, at->n, i,
	       next_place(c, at->at[i], shape->at[i], carry, last && i == at->n - 1));
	return r;
}

const Tup *tup_increment(Ctx *c, const Tup *at, const Tup *shape)
{
	const Ix *carry = ix_const(c, 1);
	return tup_is_positive(shape) ? next_place(c, at, shape, &carry, true) : NULL;
}

const Ix *tup_elem_less(Ctx *c, const Tup *a, const Tup *b)
{
	if (tup_is_leaf(a) && tup_is_leaf(b))
		return ix_plain(c, ix_new(c, IX_LT, a->leaf, b->leaf));
	if (a->n != b->n)
		return NULL;
	const Ix *all = ix_const(c, 1);
	for (int i = 0; i < a->n; i++) {
		const Ix *x = tup_elem_less(c, a->at[i], b->at[i]);
		if (!x)
			return NULL;
		all = ix_new(c, IX_AND, all, x);
	}
	return all;
}
