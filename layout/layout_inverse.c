/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout_inverse.c - inverses and what follows from them: right inverse, CuTe 4.7's left
 * quasi-inverse, the kernel of a layout, what two layouts keep contiguous.
 *     right_inverse (2,4):(4,1) = (4,2):(2,1)        left_inverse 4:2 = (2,4):(0,1)
 * Of strides with a basis, the inverse takes coordinates: it has one mode for each place. A
 * swizzle is its own inverse and comes first. */
#include "layout/layoutp.h"

/* A mode, and the linear index that one step in it is. */
typedef struct {
	const Ix *shape, *stride, *step;
} Step;
typedef VEC(Step) Steps;

typedef const Layout *(*Invert)(Ctx *c, Steps *s, const Layout *l, const char **why);

typedef struct {
	const Layout *l;
	const Modes *m;
	Invert invert;
	const char **why;
} Inverse;

/* The modes of one basis, with extents above 1 and strides that move. */
static void steps_of(Ctx *c, const Modes *m, uint64_t basis, Steps *out)
{
	const Ix *before = ix_const(c, 1);
	EACH(const Mode, at, *m) {
		if (at->basis == basis && !ix_is(at->shape, 1) && !ix_is(at->stride, 0))
			vec_push(ctx_tmp(c), out, ((Step){at->shape, at->stride, before}));
		before = ix_mul(c, before, at->shape);
	}
}

/* ------------------------------------------------------------------ one basis at a time */
/* The longest run from stride 1. */
static const Layout *invert_right(Ctx *c, Steps *s, const Layout *l, const char **why)
{
	Modes out = {0};
	const Ix *next = ix_const(c, 1);
	(void)l, (void)why;
	for (int i = 0; i < s->n && out.n < s->n; i++) {
		if (s->at[i].stride != next)
			continue;
		modes_join(c, &out, (Mode){s->at[i].shape, s->at[i].step, 0});
		next = ix_plain(c, ix_mul(c, s->at[i].shape, next));
		i = -1;
	}
	return layout_of_modes(c, &out);
}

SORT_BY_STRIDE(steps_sort, Steps, Step)

/* Each mode reaches to the stride of the next; where nothing lands, the index stands still. */
static const Layout *invert_left(Ctx *c, Steps *s, const Layout *l, const char **why)
{
	Modes out = {0};
	if (!steps_sort(c, s))
		return refuse(c, why, "left_inverse: %s: the order of the strides is not known",
			      layout_str(c, l));
	if (s->n && !ix_is(s->at[0].stride, 1))
		modes_join(c, &out, (Mode){s->at[0].stride, ix_const(c, 0), 0});
	for (int i = 0; i < s->n; i++) {
		const Ix *reach = s->at[i].shape;
		if (i + 1 < s->n && !ix_divides(c, s->at[i + 1].stride, s->at[i].stride, &reach))
			return refuse(c, why,
				      "left_inverse: %s: stride %s is not a multiple of stride %s",
				      layout_str(c, l), ix_text(c, s->at[i + 1].stride),
				      ix_text(c, s->at[i].stride));
		modes_join(c, &out, (Mode){reach, s->at[i].step, 0});
	}
	if (out.n == 1 && ix_is(out.at[0].shape, 1))
		out.n = 0;
	return layout_of_modes(c, &out);
}

static const void *invert_at(Ctx *c, void *user, uint64_t basis)
{
	Inverse *k = user;
	Steps s = {0};
	steps_of(c, k->m, basis, &s);
	return k->invert(c, &s, k->l, k->why);
}

static const void *inverses_join(Ctx *c, void *user, const void *const *at, int n)
{
	(void)user;
	return layout_cat(c, (const Layout *const *)at, n);
}

static const Layout *invert_all(Ctx *c, Inverse *k)
{
	VEC(uint64_t) paths = {0};
	const Modes *m = k->m;
	for (int i = 0; i < m->n; i++)
		if (m->at[i].basis)
			vec_push(ctx_tmp(c), &paths, m->at[i].basis);
	for (int i = 0; paths.n && i < m->n; i++)
		if (!m->at[i].basis && !ix_is(m->at[i].stride, 0) && !ix_is(m->at[i].shape, 1))
			return refuse(c, k->why, "inverse: %s: some strides have a basis, some not",
				      layout_str(c, k->l));
	if (paths.n == 0)
		return invert_at(c, k, 0);
	*k->why = NULL;
	const Layout *r = basis_tree(c, paths.at, paths.n, invert_at, inverses_join, k);
	if (!r && !*k->why)
		refuse(c, k->why, "inverse: %s: a basis element is part of another",
		       layout_str(c, k->l));
	return r;
}

/* ------------------------------------------------------------------ swizzles */
/* R o Sw on the largest range that the swizzle maps to itself. */
static const Layout *behind_swizzle(Ctx *c, const char *name, const Layout *l, const Layout *r,
				    bool all, const char **why)
{
	int64_t n, block = INT64_C(1) << (l->swizzle.b + l->swizzle.m + l->swizzle.s),
		   quiet = INT64_C(1) << (l->swizzle.m + l->swizzle.s);
	if (!ix_is_const(layout_size(c, r), &n))
		return refuse(c, why, "%s: %s: with a swizzle the size must be known", name,
			      layout_str(c, l));
	if (n > quiet || all)
		n = all ? (n + block - 1) / block * block : n - n % block;
	if (n == 0)
		n = quiet;
	const Layout *whole = layout_left(c, tup_int(c, n));
	return layout_behind(c, r, layout_swizzled(c, l->swizzle, ix_const(c, 0), whole));
}

static const Layout *inverse(Ctx *c, const char *name, Invert invert, const Layout *l,
			     const char **why)
{
	Modes m = {0};
	const char *unused;
	Inverse k = {l, &m, invert, why ? why : &unused};
	if (l->inner || l->origin || !ix_is(l->offset, 0))
		return refuse(c, k.why, "%s: %s has an inner layout or an offset", name,
			      layout_str(c, l));
	if (!layout_usable(c, name, l, k.why))
		return NULL;
	ArenaMark mark = arena_mark(ctx_tmp(c));
	layout_flatten(c, l, &m);
	const Layout *r = invert_all(c, &k);
	arena_release(ctx_tmp(c), mark);
	if (!r || !l->swizzle.b)
		return r;
	return behind_swizzle(c, name, l, r, invert == invert_left, k.why);
}

const Layout *layout_right_inverse(Ctx *c, const Layout *l, const char **why)
{
	return inverse(c, "right_inverse", invert_right, l, why);
}

const Layout *layout_left_inverse(Ctx *c, const Layout *l, const char **why)
{
	return inverse(c, "left_inverse", invert_left, l, why);
}

/* ------------------------------------------------------------------ what follows */
const Layout *layout_nullspace(Ctx *c, const Layout *l, const char **why)
{
	Modes m = {0}, out = {0};
	const Ix *before = ix_const(c, 1);
	if (!layout_usable(c, "nullspace", l, why))
		return NULL;
	ArenaMark mark = arena_mark(ctx_tmp(c));
	layout_flatten(c, l, &m);
	for (int i = 0; i < m.n; i++) {
		if (ix_is(m.at[i].stride, 0) && !ix_is(m.at[i].shape, 1))
			vec_push(ctx_tmp(c), &out, ((Mode){m.at[i].shape, before, 0}));
		before = ix_mul(c, before, m.at[i].shape);
	}
	l = layout_of_modes(c, &out);
	arena_release(ctx_tmp(c), mark);
	return l;
}

/* The first n modes of a flat layout. */
static const Layout *front(Ctx *c, const Layout *l, int n)
{
	Modes m = {0};
	ArenaMark mark = arena_mark(ctx_tmp(c));
	layout_flatten(c, l, &m);
	m.n = n < m.n ? n : m.n;
	l = layout_of_modes(c, &m);
	arena_release(ctx_tmp(c), mark);
	return l;
}

const Layout *layout_max_common(Ctx *c, const Layout *a, const Layout *b, const char **why)
{
	const char *unused;
	const Layout *back = inverse(c, "max_common_layout", invert_right, b, why);
	if (!back)
		return NULL;
	if (!layout_is_plain(a) || b->swizzle.b || tup_has_basis(a->stride) ||
	    tup_has_basis(b->stride))
		return refuse(c, why, "max_common_layout: %s and %s: one of them is not plain",
			      layout_str(c, a), layout_str(c, b));
	for (int n = layout_rank(back); n > 0; n--) {
		const Layout *some = front(c, back, n), *both, *run;
		if (!(both = layout_composition(c, a, some, &unused)))
			continue;
		both = layout_coalesce(c, both);
		run = layout_mode(c, both, 0);
		if (!ix_is(run->stride->leaf, 1) || run->shape->leaf->kind != IX_CONST)
			continue;
		if ((some = layout_composition(c, back, layout_left(c, run->shape), &unused)))
			return some;
	}
	return layout_leaf(c, ix_const(c, 1), ix_const(c, 0));
}
