/* layout_algebra.c - the algebra of layouts: coalesce, composition, complement, divide, products,
 * inverse, as CuTe 4.7 defines them.
 *     (4,3):(3,1) o 6:2 = (2,3):(6,1)        (8,8):(8,1) / 32:2 = ((4,8),2):((16,1),8)
 * Extents and strides may be symbolic wherever no decision hangs on them; what cannot be proved is
 * refused, never guessed. Swizzle and offset of the left operand are carried through. */
#include "ir/layoutp.h"

#include <string.h>

static const Layout *refuse(Ctx *c, const char **why, const char *fmt, ...) PRINTF(3, 4);
static const Layout *refuse(Ctx *c, const char **why, const char *fmt, ...)
{
	Buf b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	if (why)
		*why = arena_strndup(ctx_arena(c), b.s, b.n);
	buf_free(&b);
	return NULL;
}

static const char *text(Ctx *c, const Ix *x)
{
	Buf b = {0};
	ix_print(x, &b);
	const char *s = arena_strndup(ctx_arena(c), b.s, b.n);
	buf_free(&b);
	return s;
}

/* Operations are defined on extents of at least 1; symbolic ones are taken to be. */
static bool usable(Ctx *c, const char *operation, const Layout *l, const char **why)
{
	Modes m = {0};
	layout_flatten(c, l, &m);
	for (int i = 0; i < m.n; i++) {
		const Ix *s = m.at[i].shape;
		if (s->kind != IX_CONST || s->value > 0)
			continue;
		refuse(c, why, "%s: mode %d of %s, %s:%s, has an extent below 1", operation, i,
		       layout_str(c, l), text(c, s), text(c, m.at[i].stride));
		return false;
	}
	return true;
}

/* ------------------------------------------------------------------ what can be proved */
/* a = q * b; names stand for positive numbers */
static bool divides(Ctx *c, const Ix *a, const Ix *b, const Ix **q)
{
	if (b->kind == IX_CONST && b->value <= 0)
		return false;
	if (!ix_is(ix_plain(c, ix_mod(c, a, b)), 0))
		return false;
	*q = ix_plain(c, ix_div(c, a, b));
	return true;
}

/* 1 yes, 0 no, -1 unknown; a and b at least 1 */
static int at_most(Ctx *c, const Ix *a, const Ix *b)
{
	const Ix *q;
	if (a->kind == IX_CONST && b->kind == IX_CONST)
		return a->value <= b->value;
	if (a == b || ix_is(a, 1) || divides(c, b, a, &q))
		return 1;
	return -1;
}

/* ------------------------------------------------------------------ coalesce */
static void join(Ctx *c, Modes *out, Mode m)
{
	Mode *last = out->n ? &out->at[out->n - 1] : NULL;
	if (!last)
		vec_push(ctx_arena(c), out, m);
	else if (ix_is(last->shape, 1))
		*last = m;
	else if (ix_is(m.shape, 1))
		return;
	else if (ix_mul(c, last->shape, last->stride) == m.stride)
		last->shape = ix_mul(c, last->shape, m.shape);
	else
		vec_push(ctx_arena(c), out, m);
}

static void join_all(Ctx *c, Modes *out, const Modes *m)
{
	for (int i = 0; i < m->n; i++)
		join(c, out, m->at[i]);
}

const Layout *layout_coalesce(Ctx *c, const Layout *l)
{
	Modes m = {0}, out = {0};
	if (tup_is_leaf(l->shape) || l->shape->n == 0)
		return l;
	layout_flatten(c, l, &m);
	join_all(c, &out, &m);
	return layout_wrap(c, l, layout_of_modes(c, &out));
}

/* ------------------------------------------------------------------ composition */
/* One leaf of the right operand, as it is being laid over the modes of the left one. */
typedef struct {
	Ctx *c;
	const Layout *a, *b;
	Modes left, out;
	const Ix *shape, *stride; /* what is left of the leaf */
	const Ix *
		*reach; /* per left mode: the sum of the last coordinates that leaves take in it */
	int *users;     /* per left mode: how many leaves move in it */
	const char **why;
} Compose;

static bool compose_fail(Compose *k, int mode, const char *condition)
{
	Ctx *c = k->c;
	refuse(c, k->why, "composition: %s o %s: mode %d, %s:%s, of the left operand: %s",
	       layout_str(c, k->a), layout_str(c, k->b), mode, text(c, k->left.at[mode].shape),
	       text(c, k->left.at[mode].stride), condition);
	return false;
}

static void take(Compose *k, int i, const Ix *shape)
{
	Ctx *c = k->c;
	const Ix *stride = ix_mul(c, k->stride, k->left.at[i].stride);
	vec_push(ctx_arena(c), &k->out, ((Mode){shape, stride}));
	stride = ix_mul(c, ix_sub(c, shape, ix_const(c, 1)), k->stride);
	k->reach[i] = ix_add(c, k->reach[i], stride);
	k->users[i]++;
}

/* Leaves are laid over the left operand one by one; their sum must not carry from mode to mode. */
static bool carries_nowhere(Compose *k)
{
	Ctx *c = k->c;
	for (int i = 0; i < k->left.n - 1; i++) {
		int64_t room;
		const Ix *left = ix_sub(c, k->left.at[i].shape, k->reach[i]);
		if (k->users[i] > 1 && (!ix_is_const(ix_plain(c, left), &room) || room < 1))
			return compose_fail(k, i, "the right operand's modes together leave it");
	}
	return true;
}

/* The leaf starts inside this mode: it takes what fits and leaves the rest to the next one. */
static bool compose_inside(Compose *k, int i, const Ix *extent)
{
	Ctx *c = k->c;
	const Ix *rest;
	int fits = at_most(c, k->shape, extent);
	if (fits == 1) {
		take(k, i, k->shape);
		k->shape = ix_const(c, 1);
		k->stride = ix_const(c, 1);
		return true;
	}
	if (!divides(c, k->left.at[i].shape, k->stride, &rest) || rest != extent)
		return compose_fail(k, i, "its extent is not a multiple of the stride");
	if (!divides(c, k->shape, extent, &rest))
		return compose_fail(k, i, "its extent does not divide that of the right operand");
	take(k, i, extent);
	k->shape = rest;
	k->stride = ix_const(c, 1);
	return true;
}

static bool compose_mode(Compose *k, int i)
{
	Ctx *c = k->c;
	const Ix *q, *extent = k->left.at[i].shape;
	if (ix_is(k->shape, 1)) {
		k->stride = ix_plain(c, ix_ceil_div(c, k->stride, extent));
		return true;
	}
	if (divides(c, k->stride, extent, &q)) {
		k->stride = q;
		return true;
	}
	if (at_most(c, k->stride, extent) != 1)
		return compose_fail(k, i, "stride and extent do not divide each other");
	return compose_inside(k, i, ix_plain(c, ix_ceil_div(c, extent, k->stride)));
}

static const Layout *compose_leaf(Compose *k, const Ix *shape, const Ix *stride)
{
	int last = k->left.n - 1;
	if (ix_is(stride, 0))
		return layout_leaf(k->c, shape, stride);
	if (last > 0 && stride->kind == IX_CONST && stride->value < 0)
		return compose_fail(k, 0, "the right operand has a negative stride"), NULL;
	k->shape = shape;
	k->stride = stride;
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
		return compose_leaf(k, shape->leaf, stride->leaf);
	const Layout **at = NEWN(ctx_arena(k->c), const Layout *, shape->n + 1);
	for (int i = 0; i < shape->n; i++)
		if (!(at[i] = compose_tree(k, shape->at[i], stride->at[i])))
			return NULL;
	return layout_cat(k->c, at, shape->n);
}

/* The left operand's modes, coalesced; its last one has no end, so that its extent does not
 * count. */
static void left_modes(Ctx *c, const Layout *a, Modes *out)
{
	Modes m = {0};
	layout_flatten(c, a, &m);
	if (m.n == 0)
		vec_push(ctx_arena(c), &m, ((Mode){ix_const(c, 1), ix_const(c, 0)}));
	if (ix_is(m.at[m.n - 1].shape, 1))
		m.at[m.n - 1].shape = ix_const(c, 2);
	join_all(c, out, &m);
}

const Layout *layout_composition(Ctx *c, const Layout *a, const Layout *b, const char **why)
{
	Compose k = {.c = c, .a = a, .b = b, .why = why};
	const Ix *offset = a->offset;
	if (!usable(c, "composition", a, why) || !usable(c, "composition", b, why))
		return NULL;
	left_modes(c, a, &k.left);
	if (b->swizzle.b)
		return refuse(c, why, "composition: %s o %s: the right operand has a swizzle",
			      layout_str(c, a), layout_str(c, b));
	if (!ix_is(b->offset, 0)) {
		if (k.left.n > 1)
			return refuse(
				c, why,
				"composition: %s o %s: the right operand has an offset and the "
				"left one more than one mode",
				layout_str(c, a), layout_str(c, b));
		offset = ix_add(c, offset, ix_mul(c, b->offset, k.left.at[0].stride));
	}
	k.users = NEWN(ctx_arena(c), int, k.left.n);
	k.reach = NEWN(ctx_arena(c), const Ix *, k.left.n);
	for (int i = 0; i < k.left.n; i++)
		k.reach[i] = ix_const(c, 0);
	const Layout *outer = compose_tree(&k, b->shape, b->stride);
	return outer && carries_nowhere(&k) ? layout_swizzled(c, a->swizzle, offset, outer) : NULL;
}

/* ------------------------------------------------------------------ complement */
static bool sort_by_stride(Ctx *c, Modes *m)
{
	for (int i = 1; i < m->n; i++)
		for (int j = i; j > 0; j--) {
			Mode low = m->at[j - 1], high = m->at[j];
			int order = at_most(c, low.stride, high.stride);
			if (order < 0 && at_most(c, high.stride, low.stride) < 0)
				return false;
			if (order == 1)
				break;
			m->at[j - 1] = high;
			m->at[j] = low;
		}
	return true;
}

/* Modes that tell coordinates apart: not of extent 1, not of stride 0. */
static void moving_modes(Ctx *c, const Layout *l, Modes *out)
{
	Modes m = {0}, all = {0};
	layout_flatten(c, l, &m);
	for (int i = 0; i < m.n; i++)
		if (!ix_is(m.at[i].stride, 0))
			join(c, &all, m.at[i]);
	for (int i = 0; i < all.n; i++)
		if (!ix_is(all.at[i].shape, 1))
			vec_push(ctx_arena(c), out, all.at[i]);
}

static const Layout *complement_fail(Ctx *c, const char **why, const Layout *a, const Ix *cotarget,
				     Mode m, const char *condition)
{
	return refuse(c, why, "complement: of %s in %s: mode %s:%s: %s", layout_str(c, a),
		      text(c, cotarget), text(c, m.shape), text(c, m.stride), condition);
}

/* The gaps that a leaves, smallest stride first, and the tail behind all of it; a tail that is sure
 * to be of extent `least` or more is not joined away. */
static const Layout *gaps_of(Ctx *c, const Layout *a, const Ix *cotarget, int64_t least,
			     const char **why)
{
	Modes m = {0}, gaps = {0}, out = {0};
	const Ix *next = ix_const(c, 1);
	if (!usable(c, "complement", a, why))
		return NULL;
	if (cotarget->kind == IX_CONST && cotarget->value < 1)
		return refuse(c, why, "complement: of %s in %s: the target's size is below 1",
			      layout_str(c, a), text(c, cotarget));
	moving_modes(c, a, &m);
	for (int i = 0; i < m.n; i++)
		if (m.at[i].stride->kind == IX_CONST && m.at[i].stride->value < 0)
			return complement_fail(c, why, a, cotarget, m.at[i],
					       "its stride is negative");
	if (!sort_by_stride(c, &m))
		return complement_fail(c, why, a, cotarget, m.at[0],
				       "the order of the strides is not known");
	for (int i = 0; i < m.n; i++) {
		const Ix *gap = ix_plain(c, ix_div(c, m.at[i].stride, next));
		if (ix_is(gap, 0))
			return complement_fail(
				c, why, a, cotarget, m.at[i],
				"it overlaps the one before: the layout is not injective");
		vec_push(ctx_arena(c), &gaps, ((Mode){gap, next}));
		next = ix_mul(c, m.at[i].shape, m.at[i].stride);
	}
	const Ix *tail = ix_plain(c, ix_ceil_div(c, cotarget, next));
	if (tail->kind == IX_CONST && tail->value < least)
		tail = ix_const(c, least);
	vec_push(ctx_arena(c), &gaps, ((Mode){tail, next}));
	join_all(c, &out, &gaps);
	return layout_of_modes(c, &out);
}

const Layout *layout_complement(Ctx *c, const Layout *a, const Ix *cotarget, const char **why)
{
	return gaps_of(c, a, cotarget, 1, why);
}

/* ------------------------------------------------------------------ divide and products */
const Layout *layout_logical_divide(Ctx *c, const Layout *a, const Layout *b, const char **why)
{
	if (b->swizzle.b || !ix_is(b->offset, 0))
		return refuse(c, why,
			      "logical_divide: %s / %s: the tiler has a swizzle or an offset",
			      layout_str(c, a), layout_str(c, b));
	const Layout *rest = layout_complement(c, b, layout_size(c, a), why);
	if (!rest)
		return NULL;
	return layout_composition(c, a, layout_cat(c, (const Layout *[]){b, rest}, 2), why);
}

/* Where copies of a go: its gaps in the order of b, then the tail, which has no end. */
static const Layout *repeat(Ctx *c, const Layout *a, const Layout *b, const char **why)
{
	const Ix *cotarget = ix_mul(c, layout_size(c, a), layout_cosize(c, b));
	const Layout *rest = gaps_of(c, layout_outer(c, a), cotarget, 2, why);
	return rest ? layout_composition(c, rest, b, why) : NULL;
}

const Layout *layout_logical_product(Ctx *c, const Layout *a, const Layout *b, const char **why)
{
	if (b->swizzle.b || !ix_is(b->offset, 0))
		return refuse(c, why,
			      "logical_product: %s * %s: the right operand has a swizzle or an "
			      "offset",
			      layout_str(c, a), layout_str(c, b));
	const Layout *again = repeat(c, a, b, why), *one = layout_outer(c, a);
	if (!again)
		return NULL;
	return layout_wrap(c, a, layout_cat(c, (const Layout *[]){one, again}, 2));
}

/* A tuple of rank modes, those that l lacks being 1:0. */
static const Layout *pad(Ctx *c, const Layout *l, int rank)
{
	int old = layout_rank(l);
	const Layout **at = NEWN(ctx_arena(c), const Layout *, rank + 1);
	for (int i = 0; i < rank; i++)
		at[i] = i < old ? layout_mode(c, l, i)
				: layout_leaf(c, ix_const(c, 1), ix_const(c, 0));
	return layout_cat(c, at, rank);
}

/* ((a0,b0),(a1,b1),...) from two layouts of one rank */
static const Layout *zip(Ctx *c, const Layout *a, const Layout *b)
{
	int rank = layout_rank(a);
	const Layout **at = NEWN(ctx_arena(c), const Layout *, rank + 1);
	for (int i = 0; i < rank; i++) {
		const Layout *pair[] = {layout_mode(c, a, i), layout_mode(c, b, i)};
		at[i] = layout_cat(c, pair, 2);
	}
	return layout_cat(c, at, rank);
}

const Layout *layout_blocked_product(Ctx *c, const Layout *a, const Layout *b, const char **why)
{
	if (tup_is_leaf(a->shape) && tup_is_leaf(b->shape))
		return layout_logical_product(c, a, b, why);
	int rank = layout_rank(a) > layout_rank(b) ? layout_rank(a) : layout_rank(b);
	const Layout *block = pad(c, a, rank), *tiler = layout_wrap(c, b, pad(c, b, rank));
	const Layout *both = layout_logical_product(c, block, tiler, why);
	if (!both)
		return NULL;
	return layout_wrap(c, a, zip(c, layout_mode(c, both, 0), layout_mode(c, both, 1)));
}

const Layout *layout_tile_to_shape(Ctx *c, const Layout *atom, const Tup *shape, const char **why)
{
	int rank = tup_rank(shape), inner = layout_rank(atom);
	const Tup **tiles = NEWN(ctx_arena(c), const Tup *, rank + 1);
	if (!usable(c, "tile_to_shape", atom, why))
		return NULL;
	if (inner > rank)
		return refuse(c, why, "tile_to_shape: %s has %d modes, the shape has %d",
			      layout_str(c, atom), inner, rank);
	for (int i = 0; i < rank; i++) {
		const Ix *have =
			i < inner ? tup_product(c, tup_get(atom->shape, i)) : ix_const(c, 1);
		const Ix *want = tup_product(c, tup_get(shape, i));
		tiles[i] = tup_leaf(c, ix_plain(c, ix_ceil_div(c, want, have)));
	}
	const Tup *grid = tup_is_leaf(shape) ? tiles[0] : tup_new(c, tiles, rank);
	return layout_blocked_product(c, atom, layout_left(c, grid), why);
}

/* ------------------------------------------------------------------ inverse */
const Layout *layout_right_inverse(Ctx *c, const Layout *l, const char **why)
{
	Modes m = {0}, all = {0}, out = {0}, joined = {0};
	const Ix *next = ix_const(c, 1), *before = next;
	if (l->swizzle.b || !ix_is(l->offset, 0))
		return refuse(c, why, "right_inverse: %s has a swizzle or an offset",
			      layout_str(c, l));
	if (!usable(c, "right_inverse", l, why))
		return NULL;
	layout_flatten(c, l, &all);
	join_all(c, &m, &all);
	for (int i = 0; i < m.n && out.n < m.n; i++) {
		if (m.at[i].stride != next || ix_is(m.at[i].shape, 1) || ix_is(next, 0))
			continue;
		before = ix_const(c, 1);
		for (int j = 0; j < i; j++)
			before = ix_mul(c, before, m.at[j].shape);
		vec_push(ctx_arena(c), &out, ((Mode){m.at[i].shape, before}));
		next = ix_mul(c, m.at[i].shape, m.at[i].stride);
		i = -1;
	}
	join_all(c, &joined, &out);
	return layout_of_modes(c, &joined);
}
