/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout_compose.c - composition of layouts, as CuTe 4.7 defines it, with the conditions that make
 * the answer right.
 *     (4,3):(3,1) o 6:2 = (2,3):(6,1)        (4,4):(4,1) o (4,4):(1@1,1@0) = (4,4):(1,4)
 * What cannot be proved is refused, never guessed. Where the conditions refuse numbers, all points
 * of the right operand are tried: (8,8):(16,2) o 6:3 = (3,2):(48,18). */
#include "layout/layoutp.h"

#include <inttypes.h>

/* A mode of the left operand that leaves of the right one are laid over; all of it where strides
 * carry no basis. */
typedef struct {
	uint64_t path;
	Modes left;
	const Ix **reach; /* per mode: the sum of the last coordinates that leaves take in it */
	int *users;       /* per mode: how many leaves move in it */
} Onto;

typedef struct {
	Ctx *c;
	const Layout *a, *b;
	VEC(Onto *) onto;
	Onto *now; /* one leaf of the right operand, as it is being laid: over which mode, */
	Modes out;
	const Ix *shape, *stride; /* and what is left of it */
	bool by_points;
	const char **why;
} Compose;

static bool compose_fail(Compose *k, int mode, const char *condition)
{
	Ctx *c = k->c;
	const Mode *m = &k->now->left.at[mode];
	refuse(c, k->why, "composition: %s o %s: mode %d, %s:%s, of the left operand: %s",
	       layout_str(c, k->a), layout_str(c, k->b), mode, ix_text(c, m->shape),
	       ix_text(c, m->stride), condition);
	return false;
}

/* The divisor of n nearest to d, if both are numbers; else 0. Up to d each is nearer than the one
 * before. */
static int64_t nearest_divisor(const Ix *n, const Ix *d)
{
	int64_t v, near, best = 0;
	if (!ix_is_const(n, &v) || !ix_is_const(d, &near) || v > 1 << 20)
		return 0;
	for (int64_t i = 1; i <= v; i++)
		if (v % i == 0 && i - near < near - best)
			best = i;
	return best;
}

static bool compose_fail_near(Compose *k, int mode, const char *condition, int64_t near,
			      const char *what)
{
	if (!near)
		return compose_fail(k, mode, condition);
	return compose_fail(k, mode,
			    ctx_strf(k->c, "%s; the nearest %s is %" PRId64, condition, what,
				     near));
}

static void take(Compose *k, int i, const Ix *shape)
{
	Ctx *c = k->c;
	const Mode *m = &k->now->left.at[i];
	const Ix *stride = ix_mul(c, k->stride, m->stride);
	vec_push(ctx_tmp(c), &k->out, ((Mode){shape, stride, m->basis}));
	stride = ix_mul(c, ix_sub(c, shape, ix_const(c, 1)), k->stride);
	k->now->reach[i] = ix_add(c, k->now->reach[i], stride);
	k->now->users[i]++;
}

/* Leaves are laid over the left operand one by one; their sum must not carry from mode to mode. */
static bool carries_nowhere(Compose *k)
{
	Ctx *c = k->c;
	for (int n = 0; n < k->onto.n; n++) {
		Onto *o = k->now = k->onto.at[n];
		for (int i = 0; i < o->left.n - 1; i++)
			if (o->users[i] > 1 && ix_at_most(c, ix_add(c, o->reach[i], ix_const(c, 1)),
							  o->left.at[i].shape) != 1)
				return compose_fail(k, i,
						    "the right operand's modes together leave it");
	}
	return true;
}

/* The leaf starts inside this mode: it takes what fits and leaves the rest to the next one. */
static bool compose_inside(Compose *k, int i)
{
	Ctx *c = k->c;
	const Ix *rest = ix_const(c, 1), *part, *whole = k->now->left.at[i].shape;
	bool even = ix_divides(c, whole, k->stride, &part);
	if (!even)
		part = ix_plain(c, ix_ceil_div(c, whole, k->stride));
	if (ix_at_most(c, k->shape, part) == 1)
		part = k->shape;
	else if (!even)
		return compose_fail_near(k, i, "its extent is not a multiple of the stride",
					 nearest_divisor(whole, k->stride), "stride that fits");
	else if (!ix_divides(c, k->shape, part, &rest))
		return compose_fail_near(k, i,
					 "its extent does not divide that of the right operand",
					 nearest_divisor(part, k->shape), "extent that fits");
	take(k, i, part);
	k->shape = rest;
	k->stride = ix_const(c, 1);
	return true;
}

static bool compose_mode(Compose *k, int i)
{
	Ctx *c = k->c;
	const Ix *q, *extent = k->now->left.at[i].shape;
	if (ix_is(k->shape, 1)) {
		k->stride = ix_plain(c, ix_ceil_div(c, k->stride, extent));
		return true;
	}
	if (ix_divides(c, k->stride, extent, &q)) {
		k->stride = q;
		return true;
	}
	if (ix_at_most(c, k->stride, extent) != 1)
		return compose_fail_near(k, i, "stride and extent do not divide each other",
					 nearest_divisor(extent, k->stride), "stride that fits");
	return compose_inside(k, i);
}

/* ------------------------------------------------------------------ the left operand */
/* Its modes, coalesced; the last one has no end, so that its extent does not count. */
static void left_modes(Ctx *c, const Tup *shape, const Tup *stride, Modes *out)
{
	Modes m = {0};
	layout_flatten(c, layout_new(c, shape, stride), &m);
	if (m.n == 0)
		vec_push(ctx_tmp(c), &m, ((Mode){ix_const(c, 1), ix_const(c, 0), 0}));
	if (ix_is(m.at[m.n - 1].shape, 1))
		m.at[m.n - 1].shape = ix_const(c, 2);
	modes_join_all(c, out, &m);
}

static Onto *onto_new(Compose *k, const Tup *shape, const Tup *stride, uint64_t path)
{
	Ctx *c = k->c;
	Onto *o = NEW(ctx_tmp(c), Onto);
	o->path = path;
	left_modes(c, shape, stride, &o->left);
	o->users = NEWN(ctx_tmp(c), int, o->left.n);
	o->reach = NEWN(ctx_tmp(c), const Ix *, o->left.n);
	for (int i = 0; i < o->left.n; i++)
		o->reach[i] = ix_const(c, 0);
	vec_push(ctx_tmp(c), &k->onto, o);
	return o;
}

/* What a stride with this basis moves in; NULL: the left operand has no such mode. */
static Onto *onto_of(Compose *k, uint64_t path)
{
	const Tup *shape = k->a->shape, *stride = k->a->stride;
	for (int i = 0; i < k->onto.n; i++)
		if (k->onto.at[i]->path == path)
			return k->onto.at[i];
	for (uint64_t p = path; p; p = basis_inside(p)) {
		int i = basis_outermost(p);
		if (i >= tup_rank(shape)) {
			refuse(k->c, k->why,
			       "composition: %s o %s: the left operand has no mode %d",
			       layout_str(k->c, k->a), layout_str(k->c, k->b), i);
			return NULL;
		}
		shape = tup_get(shape, i);
		stride = tup_get(stride, i);
	}
	return onto_new(k, shape, stride, path);
}

/* ------------------------------------------------------------------ all points */
enum { POINTS_MOST = 1 << 16, STRIDE_MOST = 1 << 22 }; /* products and sums of these are in range */

static bool modes_are_small(const Modes *m, int64_t least)
{
	int64_t v;
	for (int i = 0; i < m->n; i++)
		if (m->at[i].basis || !ix_is_const(m->at[i].shape, &v) ||
		    !ix_is_const(m->at[i].stride, &v) || v < least || v > STRIDE_MOST)
			return false;
	return true;
}

/* The last mode has no end. */
static int64_t modes_at(const Modes *m, int64_t x)
{
	int64_t sum = 0;
	for (int i = 0; i < m->n; i++) {
		int64_t extent = m->at[i].shape->value;
		sum += (i + 1 < m->n ? x % extent : x) * m->at[i].stride->value;
		x /= extent;
	}
	return sum;
}

/* The modes of i -> a(i d), i < n, if there are any: the first is the run that i begins with, the
 * others are those of the starts of runs. */
static const Layout *leaf_by_points(Compose *k, int64_t n, int64_t d)
{
	Ctx *c = k->c;
	const Modes *left = &k->now->left;
	Modes out = {0};
	for (int64_t run; n > 1; n /= run, d *= run) {
		int64_t step = modes_at(left, d);
		for (run = 2; run < n && modes_at(left, run * d) == run * step;)
			run++;
		if (n % run)
			return NULL;
		vec_push(ctx_tmp(c), &out, ((Mode){ix_const(c, run), ix_const(c, step), 0}));
	}
	return layout_of_modes(c, &out);
}

/* Whether r is a o b, of which all strides are small. */
static bool same_points(Compose *k, const Layout *r)
{
	Modes by = {0}, to = {0};
	layout_flatten(k->c, k->b, &by);
	layout_flatten(k->c, r, &to);
	int64_t n = layout_size_int(k->b);
	for (int64_t i = 0; i < n; i++)
		if (modes_at(&to, i) != modes_at(&k->now->left, modes_at(&by, i)))
			return false;
	return true;
}

/* ------------------------------------------------------------------ the right operand */
static const Layout *compose_leaf(Compose *k, const Ix *shape, const Tup *stride)
{
	if (ix_is(stride->leaf, 0))
		return layout_leaf(k->c, shape, stride->leaf);
	if (!(k->now = onto_of(k, stride->basis)))
		return NULL;
	if (k->by_points)
		return leaf_by_points(k, shape->value, stride->leaf->value);
	int last = k->now->left.n - 1;
	k->shape = shape;
	k->stride = stride->leaf;
	if (last > 0 && k->stride->kind == IX_CONST && k->stride->value < 0)
		return compose_fail(k, 0, "the right operand has a negative stride"), NULL;
	k->out = (Modes){0};
	for (int i = 0; i < last; i++)
		if (!compose_mode(k, i))
			return NULL;
	if (!k->out.n || !ix_is(k->shape, 1))
		take(k, last, k->shape);
	return layout_of_modes(k->c, &k->out);
}

static const Layout *compose_tree(Compose *k, const Tup *shape, const Tup *stride)
{
	if (tup_is_leaf(shape))
		return compose_leaf(k, shape->leaf, stride);
	const Layout **at = NEWN(ctx_tmp(k->c), const Layout *, shape->n + 1);
	for (int i = 0; i < shape->n; i++)
		if (!(at[i] = compose_tree(k, shape->at[i], stride->at[i])))
			return NULL;
	return layout_cat(k->c, at, shape->n);
}

/* NULL: there is none, or the operands are not small. */
static const Layout *compose_points(Ctx *c, const Layout *a, const Layout *b)
{
	const char *unused;
	Compose k = {.c = c, .a = a, .b = b, .by_points = true, .why = &unused};
	Modes by = {0};
	int64_t n;
	layout_flatten(c, b, &by);
	if (!modes_are_small(&by, 0) || !ix_is_const(layout_size(c, b), &n) || n > POINTS_MOST ||
	    !(k.now = onto_of(&k, 0)) || !modes_are_small(&k.now->left, -STRIDE_MOST))
		return NULL;
	const Layout *r = compose_tree(&k, b->shape, b->stride);
	return r && same_points(&k, r) ? r : NULL;
}

static const Layout *compose_plain(Ctx *c, const Layout *a, const Layout *b, const char **why)
{
	Compose k = {.c = c, .a = a, .b = b, .why = why};
	ArenaMark mark = arena_mark(ctx_tmp(c));
	const Layout *outer = compose_tree(&k, b->shape, b->stride);
	if (!outer || !carries_nowhere(&k))
		outer = compose_points(c, a, b);
	arena_release(ctx_tmp(c), mark);
	return outer;
}

/* The right operand begins at an offset: the left one must be one stride, so that it moves all. */
static const Layout *compose_shifted(Ctx *c, const Layout *a, const Layout *b, const char **why)
{
	const Layout *one = layout_coalesce(c, layout_outer(c, a));
	if (b->origin || !tup_is_leaf(one->shape) || one->stride->basis)
		return refuse(c, why,
			      "composition: %s o %s: the right operand has an offset: it must be a "
			      "number, and the left operand one mode without a basis",
			      layout_str(c, a), layout_str(c, b));
	const Layout *r = compose_plain(c, a, layout_outer(c, b), why);
	const Tup *more = tup_leaf(c, ix_mul(c, b->offset, one->stride->leaf));
	return r ? layout_shift(c, layout_wrap(c, a, r), more) : NULL;
}

const Layout *layout_composition(Ctx *c, const Layout *a, const Layout *b, const char **why)
{
	if (!layout_usable(c, "composition", a, why) || !layout_usable(c, "composition", b, why))
		return NULL;
	if (b->swizzle.b || b->inner)
		return refuse(c, why, "composition: %s o %s: the right operand has %s",
			      layout_str(c, a), layout_str(c, b),
			      b->inner ? "an inner layout" : "a swizzle");
	if (b->origin || !ix_is(b->offset, 0))
		return compose_shifted(c, a, b, why);
	const Layout *outer = compose_plain(c, a, b, why);
	return outer ? layout_wrap(c, a, outer) : NULL;
}
