/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout.c - layouts: interning, construction, size and cosize.
 *     layout_left((4,2))  is  (4,2):(1,4)        layout_cosize((4,2):(1,8))  is  12
 * What may be assumed of names (layout_assume) hangs here too. */
#include "layout/layoutp.h"

typedef struct {
	InternSet set;
	IxFacts facts;
} LayoutTable;

static uint64_t layout_hash(const void *entry)
{
	const Layout *l = entry;
	uint64_t h = hash_mix(hash_mix(1, l->shape->id), l->stride->id);
	h = hash_mix(h, (uint64_t)(l->swizzle.b << 16 | l->swizzle.m << 8 | l->swizzle.s));
	h = hash_mix(h, l->offset->id);
	h = hash_mix(h, l->origin ? l->origin->id + 1 : 0);
	return hash_mix(h, l->inner ? l->inner->id + 1 : 0);
}

static bool layout_eq(const void *entry, const void *key)
{
	const Layout *l = entry, *k = key;
	return l->shape == k->shape && l->stride == k->stride && l->offset == k->offset &&
	       l->origin == k->origin && l->inner == k->inner && l->swizzle.b == k->swizzle.b &&
	       l->swizzle.m == k->swizzle.m && l->swizzle.s == k->swizzle.s;
}

static LayoutTable *table_of(Ctx *c)
{
	return ctx_table(c, CTX_LAYOUT, sizeof(LayoutTable));
}

IxFacts layout_assume(Ctx *c, IxFacts facts)
{
	IxFacts before = table_of(c)->facts;
	table_of(c)->facts = facts;
	return before;
}

IxFacts layout_facts(Ctx *c)
{
	return table_of(c)->facts;
}

static const Layout *layout_intern(Ctx *c, Layout key)
{
	void **where;
	LayoutTable *t = table_of(c);
	Layout *l = intern_find(&t->set, layout_hash(&key), layout_eq, layout_hash, &key,
				ctx_arena(c), &where);
	if (l)
		return l;
	*where = l = NEW(ctx_arena(c), Layout);
	*l = key;
	l->id = (uint32_t)t->set.n - 1;
	return l;
}

/* ------------------------------------------------------------------ construction */
const Layout *layout_new(Ctx *c, const Tup *shape, const Tup *stride)
{
	if (!tup_congruent(shape, stride))
		panic("shape and stride are not congruent");
	return layout_intern(c,
			     (Layout){.shape = shape, .stride = stride, .offset = ix_const(c, 0)});
}

const Layout *layout_leaf(Ctx *c, const Ix *shape, const Ix *stride)
{
	return layout_new(c, tup_leaf(c, shape), tup_leaf(c, stride));
}

/* Strides of a compact layout; *next is the stride of the mode that follows. */
static const Tup *compact(Ctx *c, const Tup *shape, const Ix **next, bool left)
{
	if (tup_is_leaf(shape)) {
		const Ix *stride = ix_is(shape->leaf, 1) ? ix_const(c, 0) : *next;
		*next = ix_mul(c, *next, shape->leaf);
		return tup_leaf(c, stride);
	}
	ArenaMark mark = arena_mark(ctx_tmp(c));
	const Tup **at = NEWN(ctx_tmp(c), const Tup *, shape->n + 1), *t;
	for (int i = 0; i < shape->n; i++) {
		int mode = left ? i : shape->n - 1 - i;
		at[mode] = compact(c, shape->at[mode], next, left);
	}
	t = tup_new(c, at, shape->n);
	arena_release(ctx_tmp(c), mark);
	return t;
}

const Layout *layout_left(Ctx *c, const Tup *shape)
{
	const Ix *next = ix_const(c, 1);
	return layout_new(c, shape, compact(c, shape, &next, true));
}

const Layout *layout_right(Ctx *c, const Tup *shape)
{
	const Ix *next = ix_const(c, 1);
	return layout_new(c, shape, compact(c, shape, &next, false));
}

const Layout *layout_2d(Ctx *c, int64_t m, int64_t n, int64_t dm, int64_t dn)
{
	const Tup *shape[] = {tup_int(c, m), tup_int(c, n)};
	const Tup *stride[] = {tup_int(c, dm), tup_int(c, dn)};
	return layout_new(c, tup_new(c, shape, 2), tup_new(c, stride, 2));
}

static bool has_swizzle(const Layout *l)
{
	return l->swizzle.b != 0;
}

bool layout_is_plain(const Layout *l)
{
	return !has_swizzle(l) && ix_is(l->offset, 0) && !l->origin && !l->inner;
}

const Layout *layout_swizzled(Ctx *c, Swizzle sw, const Ix *offset, const Layout *outer)
{
	if (!layout_is_plain(outer))
		panic("the outer layout of a composed one is composed itself");
	Layout l = *outer;
	l.swizzle = sw.b ? sw : (Swizzle){0, 0, 0};
	l.offset = offset;
	return layout_intern(c, l);
}

const Layout *layout_composed(Ctx *c, const Layout *inner, const Tup *offset, const Layout *outer)
{
	if (!layout_is_plain(outer))
		panic("the outer layout of a composed one is composed itself");
	Layout l = *outer;
	l.inner = inner;
	l.origin = tup_is_leaf(offset) ? NULL : offset;
	l.offset = tup_is_leaf(offset) ? offset->leaf : ix_const(c, 0);
	return layout_intern(c, l);
}

const Layout *layout_outer(Ctx *c, const Layout *l)
{
	return layout_is_plain(l) ? l : layout_new(c, l->shape, l->stride);
}

const Layout *layout_wrap(Ctx *c, const Layout *l, const Layout *outer)
{
	Layout key = *l;
	key.shape = outer->shape;
	key.stride = outer->stride;
	return layout_intern(c, key);
}

const Layout *layout_behind(Ctx *c, const Layout *inner, const Layout *l)
{
	Layout key = *l;
	if (l->inner)
		panic("a layout with an inner layout follows another");
	key.inner = inner;
	return layout_intern(c, key);
}

/* l after `more` further */
const Layout *layout_shift(Ctx *c, const Layout *l, const Tup *more)
{
	Layout key = *l;
	if (tup_is_leaf(more) && !l->origin)
		key.offset = ix_plain(c, ix_add(c, l->offset, more->leaf));
	else if (l->origin || ix_is(l->offset, 0))
		key.origin = l->origin ? tup_add(c, l->origin, more) : more;
	return layout_intern(c, key);
}

const Layout *layout_mode(Ctx *c, const Layout *l, int i)
{
	return layout_new(c, tup_get(l->shape, i), tup_get(l->stride, i));
}

const Layout *layout_cat(Ctx *c, const Layout *const *modes, int n)
{
	ArenaMark mark = arena_mark(ctx_tmp(c));
	const Tup **shape = NEWN(ctx_tmp(c), const Tup *, n + 1);
	const Tup **stride = NEWN(ctx_tmp(c), const Tup *, n + 1);
	for (int i = 0; i < n; i++) {
		shape[i] = modes[i]->shape;
		stride[i] = modes[i]->stride;
	}
	const Layout *l = layout_new(c, tup_new(c, shape, n), tup_new(c, stride, n));
	arena_release(ctx_tmp(c), mark);
	return l;
}

static void flatten(Ctx *c, const Tup *shape, const Tup *stride, Modes *out)
{
	if (tup_is_leaf(shape))
		vec_push(ctx_tmp(c), out, ((Mode){shape->leaf, stride->leaf, stride->basis}));
	for (int i = 0; i < shape->n; i++)
		flatten(c, shape->at[i], stride->at[i], out);
}

void layout_flatten(Ctx *c, const Layout *l, Modes *out)
{
	flatten(c, l->shape, l->stride, out);
}

const Layout *layout_of_modes(Ctx *c, const Modes *m)
{
	if (m->n == 0)
		return layout_leaf(c, ix_const(c, 1), ix_const(c, 0));
	ArenaMark mark = arena_mark(ctx_tmp(c));
	const Layout **at = NEWN(ctx_tmp(c), const Layout *, m->n), *l;
	for (int i = 0; i < m->n; i++)
		at[i] = layout_new(c, tup_leaf(c, m->at[i].shape),
				   tup_basis(c, m->at[i].stride, m->at[i].basis));
	l = m->n == 1 ? at[0] : layout_cat(c, at, m->n);
	arena_release(ctx_tmp(c), mark);
	return l;
}

/* ------------------------------------------------------------------ sizes */
const Ix *ix_plain(Ctx *c, const Ix *x)
{
	return ix_simplify(c, x, layout_facts(c));
}

int layout_rank(const Layout *l)
{
	return tup_rank(l->shape);
}

bool layout_gives_numbers(const Layout *l)
{
	return l->inner ? layout_gives_numbers(l->inner) : !l->origin && !tup_has_basis(l->stride);
}

bool layout_is_static(const Layout *l)
{
	return tup_is_static(l->shape) && tup_is_static(l->stride) && !tup_has_basis(l->stride) &&
	       l->offset->kind == IX_CONST && !l->origin &&
	       (!l->inner || layout_is_static(l->inner));
}

const Ix *layout_size(Ctx *c, const Layout *l)
{
	return tup_product(c, l->shape);
}

static const Ix *magnitude(Ctx *c, const Ix *x)
{
	return x->kind == IX_CONST && x->value < 0 ? ix_mul(c, x, ix_const(c, -1)) : x;
}

/* Of the modes with this basis. */
static const Ix *last_of(Ctx *c, const Modes *m, uint64_t basis)
{
	const Ix *last = ix_const(c, 1), *one = last;
	for (int i = 0; i < m->n; i++)
		if (m->at[i].basis == basis)
			last = ix_add(c, last,
				      ix_mul(c, ix_sub(c, m->at[i].shape, one),
					     magnitude(c, m->at[i].stride)));
	return last;
}

static bool basis_seen(const Modes *m, int n)
{
	for (int i = 0; i < n; i++)
		if (m->at[i].basis == m->at[n].basis)
			return true;
	return false;
}

const Ix *layout_cosize(Ctx *c, const Layout *l)
{
	Modes m = {0};
	const Ix *size = ix_const(c, 1);
	ArenaMark mark = arena_mark(ctx_tmp(c));
	layout_flatten(c, l, &m);
	for (int i = 0; i < m.n; i++)
		if (!basis_seen(&m, i))
			size = ix_mul(c, size, last_of(c, &m, m.at[i].basis));
	arena_release(ctx_tmp(c), mark);
	return size;
}

static int64_t product_int(const Tup *t)
{
	int64_t v = 1;
	if (tup_is_leaf(t)) {
		if (!ix_is_const(t->leaf, &v))
			panic("size of a layout that is not static");
		return v;
	}
	for (int i = 0; i < t->n; i++)
		if (__builtin_mul_overflow(v, product_int(t->at[i]), &v))
			panic("size of a layout overflows");
	return v;
}

int64_t layout_size_int(const Layout *l)
{
	return product_int(l->shape);
}

static int64_t last_offset(const Tup *shape, const Tup *stride)
{
	int64_t sum = 0, v;
	if (tup_is_leaf(shape)) {
		int64_t s, d;
		if (!ix_is_const(shape->leaf, &s) || !ix_is_const(stride->leaf, &d))
			panic("cosize of a layout that is not static");
		if (s < 1 || d == INT64_MIN || __builtin_mul_overflow(s - 1, d < 0 ? -d : d, &v))
			panic("cosize of a layout overflows");
		return v;
	}
	for (int i = 0; i < shape->n; i++)
		if (__builtin_add_overflow(sum, last_offset(shape->at[i], stride->at[i]), &sum))
			panic("cosize of a layout overflows");
	return sum;
}

int64_t layout_cosize_int(const Layout *l)
{
	return last_offset(l->shape, l->stride) + 1;
}
