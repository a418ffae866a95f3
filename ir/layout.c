/* layout.c - layouts: interning, construction, size and cosize, offsets of coordinates.
 *     layout_at((4,2):(1,8), i)  is  i % 4 + i / 4 * 8
 * A swizzle of a symbolic offset is written out with / and %, one bit at a time. */
#include "ir/layoutp.h"

typedef struct {
	InternSet set;
	uint32_t ids;
} LayoutTable;

static uint64_t layout_hash(const void *entry)
{
	const Layout *l = entry;
	uint64_t h = hash_mix(hash_mix(1, l->shape->id), l->stride->id);
	h = hash_mix(h, (uint64_t)(l->swizzle.b << 16 | l->swizzle.m << 8 | l->swizzle.s));
	return hash_mix(h, l->offset->id);
}

static bool layout_eq(const void *entry, const void *key)
{
	const Layout *l = entry, *k = key;
	return l->shape == k->shape && l->stride == k->stride && l->offset == k->offset &&
	       l->swizzle.b == k->swizzle.b && l->swizzle.m == k->swizzle.m &&
	       l->swizzle.s == k->swizzle.s;
}

static const Layout *layout_intern(Ctx *c, Layout key)
{
	void **slot = ctx_slot(c, CTX_LAYOUT), **where;
	if (!*slot)
		*slot = NEW(ctx_arena(c), LayoutTable);
	LayoutTable *t = *slot;
	Layout *l = intern_find(&t->set, layout_hash(&key), layout_eq, layout_hash, &key,
				ctx_arena(c), &where);
	if (l)
		return l;
	*where = l = NEW(ctx_arena(c), Layout);
	*l = key;
	l->id = t->ids++;
	return l;
}

/* ------------------------------------------------------------------ construction */
const Layout *layout_new(Ctx *c, const Tup *shape, const Tup *stride)
{
	if (!tup_congruent(shape, stride))
		panic("shape and stride are not congruent");
	return layout_intern(c, (Layout){shape, stride, {0, 0, 0}, ix_const(c, 0), 0});
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
	const Tup **at = NEWN(ctx_arena(c), const Tup *, shape->n + 1);
	for (int i = 0; i < shape->n; i++) {
		int mode = left ? i : shape->n - 1 - i;
		at[mode] = compact(c, shape->at[mode], next, left);
	}
	return tup_new(c, at, shape->n);
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

const Layout *layout_swizzled(Ctx *c, Swizzle sw, const Ix *offset, const Layout *outer)
{
	if (has_swizzle(outer) || !ix_is(outer->offset, 0))
		panic("the outer layout of a composed one is composed itself");
	if (sw.b == 0)
		sw = (Swizzle){0, 0, 0};
	return layout_intern(c, (Layout){outer->shape, outer->stride, sw, offset, 0});
}

const Layout *layout_outer(Ctx *c, const Layout *l)
{
	return layout_new(c, l->shape, l->stride);
}

const Layout *layout_wrap(Ctx *c, const Layout *l, const Layout *outer)
{
	return layout_swizzled(c, l->swizzle, l->offset, outer);
}

const Layout *layout_mode(Ctx *c, const Layout *l, int i)
{
	return layout_new(c, tup_get(l->shape, i), tup_get(l->stride, i));
}

const Layout *layout_cat(Ctx *c, const Layout *const *modes, int n)
{
	const Tup **shape = NEWN(ctx_arena(c), const Tup *, n + 1);
	const Tup **stride = NEWN(ctx_arena(c), const Tup *, n + 1);
	for (int i = 0; i < n; i++) {
		shape[i] = modes[i]->shape;
		stride[i] = modes[i]->stride;
	}
	return layout_new(c, tup_new(c, shape, n), tup_new(c, stride, n));
}

static void flatten(Ctx *c, const Tup *shape, const Tup *stride, Modes *out)
{
	if (tup_is_leaf(shape))
		vec_push(ctx_arena(c), out, ((Mode){shape->leaf, stride->leaf}));
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
	const Layout **at = NEWN(ctx_arena(c), const Layout *, m->n);
	for (int i = 0; i < m->n; i++)
		at[i] = layout_leaf(c, m->at[i].shape, m->at[i].stride);
	return m->n == 1 ? at[0] : layout_cat(c, at, m->n);
}

/* ------------------------------------------------------------------ sizes */
const Ix *ix_plain(Ctx *c, const Ix *x)
{
	return ix_simplify(c, x, (IxFacts){NULL, 0});
}

int layout_rank(const Layout *l)
{
	return tup_rank(l->shape);
}

bool layout_is_static(const Layout *l)
{
	return tup_is_static(l->shape) && tup_is_static(l->stride) && l->offset->kind == IX_CONST;
}

const Ix *layout_size(Ctx *c, const Layout *l)
{
	return tup_product(c, l->shape);
}

static const Ix *magnitude(Ctx *c, const Ix *x)
{
	return x->kind == IX_CONST && x->value < 0 ? ix_mul(c, x, ix_const(c, -1)) : x;
}

const Ix *layout_cosize(Ctx *c, const Layout *l)
{
	Modes m = {0};
	const Ix *last = ix_const(c, 1), *one = last;
	layout_flatten(c, l, &m);
	for (int i = 0; i < m.n; i++)
		last = ix_add(c, last,
			      ix_mul(c, ix_sub(c, m.at[i].shape, one),
				     magnitude(c, m.at[i].stride)));
	return last;
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

/* ------------------------------------------------------------------ offsets */
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
	if (!has_swizzle(l))
		return x;
	if (ix_is_const(x, &v))
		return ix_const(c, swizzle_apply(l->swizzle, v));
	return swizzle_symbolic(c, l->swizzle, x);
}

/* The last mode takes what is left, so that coordinates beyond the shape continue it. */
static const Ix *outer_at(Ctx *c, const Layout *l, const Ix *linear)
{
	Modes m = {0};
	const Ix *sum = ix_const(c, 0), *left = linear;
	layout_flatten(c, l, &m);
	for (int i = 0; i < m.n; i++) {
		const Ix *s = m.at[i].shape;
		bool last = i == m.n - 1;
		if (ix_is(s, 0))
			return ix_const(c, 0);
		const Ix *coord = last ? left : ix_mod(c, left, s);
		sum = ix_add(c, sum, ix_mul(c, coord, m.at[i].stride));
		if (!last)
			left = ix_div(c, left, s);
	}
	return ix_plain(c, sum);
}

const Ix *layout_at(Ctx *c, const Layout *l, const Ix *linear)
{
	return composed_at(c, l, outer_at(c, l, linear));
}

const Ix *layout_at_coord(Ctx *c, const Layout *l, const Ix *const *coord, int n)
{
	const Ix *sum = ix_const(c, 0);
	if (n != layout_rank(l))
		panic("%d coordinates for a layout of rank %d", n, layout_rank(l));
	for (int i = 0; i < n; i++)
		sum = ix_add(c, sum, outer_at(c, layout_mode(c, l, i), coord[i]));
	return composed_at(c, l, sum);
}

static int64_t leaf_int(const Tup *t)
{
	int64_t v;
	if (!ix_is_const(t->leaf, &v))
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
	return swizzle_apply(l->swizzle, offset);
}
