/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout_algebra.c - the algebra of layouts, first part: what can be proved, coalesce, filter,
 * complement, as CuTe 4.7 defines them.
 *     coalesce (2,(1,6)):(1,(6,2)) = 12:1        complement of 4:2 in 19 = (2,3):(1,8)
 * Extents and strides may be symbolic wherever no decision hangs on them; what cannot be proved is
 * refused or left apart, never guessed. */
#include "layout/layoutp.h"

const void *refuse(Ctx *c, const char **why, const char *fmt, ...)
{
	Buf b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	if (why)
		*why = ctx_strn(c, b.s, b.n);
	buf_free(&b);
	return NULL;
}

const char *ix_text(Ctx *c, const Ix *x)
{
	return tup_text(c, tup_leaf(c, x));
}

const char *ix_postfix_text(Ctx *c, const Ix *x)
{
	Buf b = {0};
	ix_postfix(x, &b);
	return ctx_buf(c, &b);
}

const char *tup_text(Ctx *c, const Tup *t)
{
	Buf b = {0};
	tup_print(t, &b);
	return ctx_buf(c, &b);
}

static bool mode_usable(Ctx *c, const char *operation, const Layout *l, const Modes *m,
			const char **why)
{
	for (int i = 0; i < m->n; i++) {
		const Ix *s = m->at[i].shape;
		if (s->kind != IX_CONST || s->value > 0)
			continue;
		refuse(c, why, "%s: mode %d of %s, %s:%s, has an extent below 1", operation, i,
		       layout_str(c, l), ix_text(c, s), ix_text(c, m->at[i].stride));
		return false;
	}
	return true;
}

static bool positive(const Tup *shape)
{
	if (tup_is_leaf(shape))
		return shape->leaf->kind != IX_CONST || shape->leaf->value > 0;
	for (int i = 0; i < shape->n; i++)
		if (!positive(shape->at[i]))
			return false;
	return true;
}

/* Operations are defined on extents of at least 1; symbolic ones are taken to be. */
bool layout_usable(Ctx *c, const char *operation, const Layout *l, const char **why)
{
	Modes m = {0};
	if (positive(l->shape))
		return true;
	ArenaMark mark = arena_mark(ctx_tmp(c));
	layout_flatten(c, l, &m);
	bool ok = mode_usable(c, operation, l, &m, why);
	arena_release(ctx_tmp(c), mark);
	return ok;
}

/* ------------------------------------------------------------------ what can be proved */
bool ix_divides(Ctx *c, const Ix *a, const Ix *b, const Ix **q)
{
	if (b->kind == IX_CONST && b->value <= 0)
		return false;
	if (!ix_is(ix_plain(c, ix_mod(c, a, b)), 0))
		return false;
	*q = ix_plain(c, ix_div(c, a, b));
	return true;
}

typedef struct {
	Ctx *c;
	VEC(IxFact) facts;
} Known;

static void name_positive(void *user, const char *name)
{
	Known *k = user;
	vec_push(ctx_tmp(k->c), &k->facts, ((IxFact){name, 1, INT64_MAX, 1}));
}

/* The least b - a may be, names being positive. */
static int64_t least_gap(Ctx *c, const Ix *a, const Ix *b)
{
	Known k = {.c = c};
	IxFacts given = layout_facts(c);
	ArenaMark mark = arena_mark(ctx_tmp(c));
	const Ix *gap = ix_plain(c, ix_sub(c, b, a));
	for (int i = 0; i < given.n; i++)
		vec_push(ctx_tmp(c), &k.facts, given.at[i]);
	ix_names(gap, name_positive, &k);
	int64_t lo = ix_least(gap, (IxFacts){.at = k.facts.at, .n = k.facts.n});
	arena_release(ctx_tmp(c), mark);
	return lo;
}

int ix_at_most(Ctx *c, const Ix *a, const Ix *b)
{
	const Ix *q;
	if (a->kind == IX_CONST && b->kind == IX_CONST)
		return a->value <= b->value;
	if (a == b || ix_is(a, 1) || ix_divides(c, b, a, &q) || least_gap(c, a, b) >= 0)
		return 1;
	return least_gap(c, b, a) > 0 ? 0 : -1;
}

/* ------------------------------------------------------------------ coalesce */
void modes_join(Ctx *c, Modes *out, Mode m)
{
	Mode *last = out->n ? &out->at[out->n - 1] : NULL;
	if (!last)
		vec_push(ctx_tmp(c), out, m);
	else if (ix_is(last->shape, 1))
		*last = m;
	else if (ix_is(m.shape, 1))
		return;
	else if (last->basis == m.basis && ix_mul(c, last->shape, last->stride) == m.stride)
		last->shape = ix_mul(c, last->shape, m.shape);
	else
		vec_push(ctx_tmp(c), out, m);
}

void modes_join_all(Ctx *c, Modes *out, const Modes *m)
{
	for (int i = 0; i < m->n; i++)
		modes_join(c, out, m->at[i]);
}

/* With facts a stride may be the product without looking like it. */
static void modes_plain(Ctx *c, Modes *m)
{
	for (int i = 0; i < m->n; i++) {
		m->at[i].shape = ix_plain(c, m->at[i].shape);
		m->at[i].stride = ix_plain(c, m->at[i].stride);
	}
}

const Layout *layout_coalesce(Ctx *c, const Layout *l)
{
	Modes m = {0}, out = {0};
	if (tup_is_leaf(l->shape) || l->shape->n == 0)
		return l;
	ArenaMark mark = arena_mark(ctx_tmp(c));
	layout_flatten(c, l, &m);
	modes_plain(c, &m);
	modes_join_all(c, &out, &m);
	if (ix_is(out.at[0].shape, 1)) /* of any stride */
		out.n = 0;
	l = layout_wrap(c, l, layout_of_modes(c, &out));
	arena_release(ctx_tmp(c), mark);
	return l;
}

static const Layout *coalesce_by(Ctx *c, const Layout *l, const Tup *profile)
{
	int rank = layout_rank(l);
	if (tup_is_leaf(profile))
		return layout_coalesce(c, l);
	if (profile->n > rank)
		return NULL;
	const Layout **at = NEWN(ctx_tmp(c), const Layout *, rank + 1);
	for (int i = 0; i < rank; i++) {
		at[i] = layout_mode(c, l, i);
		if (i < profile->n && !(at[i] = coalesce_by(c, at[i], profile->at[i])))
			return NULL;
	}
	return layout_cat(c, at, rank);
}

const Layout *layout_coalesce_by(Ctx *c, const Layout *l, const Tup *profile, const char **why)
{
	ArenaMark mark = arena_mark(ctx_tmp(c));
	const Layout *r = coalesce_by(c, layout_outer(c, l), profile);
	arena_release(ctx_tmp(c), mark);
	if (!r)
		return refuse(c, why, "coalesce: %s by %s: the profile has more modes",
			      layout_str(c, l), tup_text(c, profile));
	return layout_wrap(c, l, r);
}

static void filter_into(Ctx *c, Modes *m)
{
	for (int i = 0; i < m->n; i++)
		if (ix_is(m->at[i].stride, 0))
			m->at[i].shape = ix_const(c, 1);
}

static const Tup *shape_filtered(Ctx *c, const Tup *shape, const Tup *stride)
{
	if (tup_is_leaf(shape))
		return ix_is(stride->leaf, 0) ? tup_int(c, 1) : shape;
	const Tup *r;
	TUP_OF(r, c, shape->n, i, shape_filtered(c, shape->at[i], stride->at[i]));
	return r;
}

const Layout *layout_filter_zeros(Ctx *c, const Layout *l)
{
	return layout_wrap(c, l, layout_new(c, shape_filtered(c, l->shape, l->stride), l->stride));
}

const Layout *layout_flat(Ctx *c, const Layout *l)
{
	const Tup *shape = tup_flatten(c, l->shape), *stride = tup_flatten(c, l->stride);
	return layout_wrap(c, l, layout_new(c, shape, stride));
}

/* ------------------------------------------------------------------ complement */
SORT_BY_STRIDE(modes_sort, Modes, Mode)

/* The modes with this basis that tell coordinates apart: not of extent 1, not of stride 0. */
static void moving_modes(Ctx *c, const Layout *l, uint64_t basis, Modes *out)
{
	Modes m = {0}, all = {0};
	layout_flatten(c, l, &m);
	filter_into(c, &m);
	for (int i = 0; i < m.n; i++)
		if (m.at[i].basis == basis && !ix_is(m.at[i].stride, 0))
			modes_join(c, &all, (Mode){m.at[i].shape, m.at[i].stride, 0});
	for (int i = 0; i < all.n; i++)
		if (!ix_is(all.at[i].shape, 1))
			vec_push(ctx_tmp(c), out, all.at[i]);
}

/* One complement that is being built. */
typedef struct {
	const Layout *a;
	const Ix *cotarget; /* NULL: a tail of extent 1, which stays */
	const Tup *shape;   /* cotarget by mode, where strides carry a basis; or NULL */
	int64_t least;      /* a tail that is surely shorter becomes this long */
	const char **why;
} Gaps;

static const void *gaps_fail(Ctx *c, const Gaps *k, Mode m, const char *condition)
{
	return refuse(c, k->why, "complement: of %s in %s: mode %s:%s: %s", layout_str(c, k->a),
		      k->shape      ? tup_text(c, k->shape)
		      : k->cotarget ? ix_text(c, k->cotarget)
				    : "1",
		      ix_text(c, m.shape), ix_text(c, m.stride), condition);
}

static bool gaps_order(Ctx *c, const Gaps *k, Modes *m)
{
	for (int i = 0; i < m->n; i++)
		if (m->at[i].stride->kind == IX_CONST && m->at[i].stride->value < 0)
			return gaps_fail(c, k, m->at[i], "its stride is negative");
	if (!modes_sort(c, m))
		return gaps_fail(c, k, m->at[0], "the order of the strides is not known");
	return true;
}

static void gaps_tail(Ctx *c, const Gaps *k, const Ix *next, Modes *out)
{
	Mode tail = {ix_const(c, 1), next, 0};
	if (!k->cotarget) {
		if (out->n && ix_is(out->at[out->n - 1].shape, 1))
			out->n--;
		vec_push(ctx_tmp(c), out, tail);
		return;
	}
	tail.shape = ix_plain(c, ix_ceil_div(c, k->cotarget, next));
	if (tail.shape->kind == IX_CONST && tail.shape->value < k->least)
		tail.shape = ix_const(c, k->least);
	modes_join(c, out, tail);
}

/* The gaps that the modes of one basis leave, smallest stride first, and the tail after them. */
static const Layout *gaps_of(Ctx *c, const Gaps *k, uint64_t basis)
{
	Modes m = {0}, out = {0};
	const Ix *next = ix_const(c, 1);
	moving_modes(c, k->a, basis, &m);
	if (!gaps_order(c, k, &m))
		return NULL;
	for (int i = 0; i < m.n; i++) {
		const Ix *gap = ix_plain(c, ix_div(c, m.at[i].stride, next));
		if (ix_is(gap, 0))
			return gaps_fail(c, k, m.at[i],
					 "it overlaps the one before: the layout is not injective");
		modes_join(c, &out, (Mode){gap, next, 0});
		next = ix_mul(c, m.at[i].shape, m.at[i].stride);
	}
	gaps_tail(c, k, next, &out);
	for (int i = 0; i < out.n; i++)
		out.at[i].basis = basis;
	return layout_of_modes(c, &out);
}

static const void *gaps_at(Ctx *c, void *user, uint64_t basis)
{
	Gaps k = *(Gaps *)user;
	const Tup *t = k.shape;
	for (uint64_t b = basis; t && b; b = basis_inside(b)) {
		int i = basis_outermost(b);
		if (i >= tup_rank(t))
			return refuse(c, k.why, "complement: of %s in %s: there is no mode %d",
				      layout_str(c, k.a), tup_text(c, k.shape), i);
		t = tup_get(t, i);
	}
	if (t)
		k.cotarget = tup_product(c, t);
	return gaps_of(c, &k, basis);
}

static const void *layouts_join(Ctx *c, void *user, const void *const *at, int n)
{
	(void)user;
	return layout_cat(c, (const Layout *const *)at, n);
}

typedef VEC(uint64_t) Paths;

/* The last `depth` numbers of a path, and *rest, what stands in front of them. */
static uint64_t path_outer(uint64_t path, int depth, uint64_t *rest)
{
	int bits = 0;
	*rest = path;
	for (int i = 0; i < depth && *rest; i++)
		*rest = basis_inside(*rest);
	while (bits < 64 && *rest >> bits)
		bits += 8;
	return bits < 64 ? path >> bits : 0;
}

/* Places of the target's shape that no path goes into are places of their own. */
static void cover(Ctx *c, const Tup *shape, uint64_t prefix, int depth, Paths *paths, int given)
{
	bool inside = false;
	for (int i = 0; i < given; i++) {
		uint64_t rest, outer = path_outer(paths->at[i], depth, &rest);
		if (outer == prefix && !rest)
			return;
		inside |= outer == prefix;
	}
	for (int i = 0; inside && i < tup_rank(shape); i++)
		cover(c, tup_get(shape, i), prefix << 8 | (uint64_t)(i + 1), depth + 1, paths,
		      given);
	if (!inside)
		vec_push(ctx_tmp(c), paths, prefix);
}

static const Layout *gaps_by_basis(Ctx *c, Gaps *k)
{
	Modes m = {0};
	Paths paths = {0};
	layout_flatten(c, k->a, &m);
	for (int i = 0; i < m.n; i++)
		if (m.at[i].basis)
			vec_push(ctx_tmp(c), &paths, m.at[i].basis);
		else if (!ix_is(m.at[i].stride, 0) && !ix_is(m.at[i].shape, 1))
			return gaps_fail(c, k, m.at[i], "it has no basis, others have");
	if (k->shape)
		cover(c, k->shape, 0, 0, &paths, paths.n);
	if (k->why)
		*k->why = NULL;
	const Layout *r = basis_tree(c, paths.at, paths.n, gaps_at, layouts_join, k);
	if (!r && k->why && !*k->why)
		refuse(c, k->why, "complement: of %s: a basis element is part of another",
		       layout_str(c, k->a));
	return r;
}

static const Layout *gaps_begin(Ctx *c, Gaps *k)
{
	const char *unused;
	k->why = k->why ? k->why : &unused;
	if (!layout_usable(c, "complement", k->a, k->why))
		return NULL;
	if (k->cotarget && k->cotarget->kind == IX_CONST && k->cotarget->value < 1)
		return refuse(c, k->why, "complement: of %s in %s: the target's size is below 1",
			      layout_str(c, k->a), ix_text(c, k->cotarget));
	ArenaMark mark = arena_mark(ctx_tmp(c));
	const Layout *r = tup_has_basis(k->a->stride) ? gaps_by_basis(c, k) : gaps_of(c, k, 0);
	arena_release(ctx_tmp(c), mark);
	return r;
}

const Layout *layout_complement(Ctx *c, const Layout *a, const Ix *cotarget, const char **why)
{
	return gaps_begin(c, &(Gaps){layout_outer(c, a), cotarget, NULL, 1, why});
}

const Layout *layout_complement_in(Ctx *c, const Layout *a, const Tup *shape, const char **why)
{
	const Ix *size = tup_product(c, shape);
	return gaps_begin(c, &(Gaps){layout_outer(c, a), size, shape, 1, why});
}

const Layout *layout_complement_open(Ctx *c, const Layout *a, const Ix *cotarget, const char **why)
{
	if (tup_has_basis(a->stride))
		return layout_gaps(c, a, why);
	return gaps_begin(c, &(Gaps){layout_outer(c, a), cotarget, NULL, 2, why});
}

const Layout *layout_gaps(Ctx *c, const Layout *a, const char **why)
{
	return gaps_begin(c, &(Gaps){layout_outer(c, a), NULL, NULL, 1, why});
}
