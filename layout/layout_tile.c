/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout_tile.c - divides and products: a layout cut into tiles, a layout repeated.
 *     (8,8):(8,1) / 32:2 = ((4,8),2):((16,1),8)        (2,2):(1,2) * 3:1 = ((2,2),3):((1,2),4)
 * With a tuple of tilers each mode is divided by its own; layout_reform then brings tiles and rest
 * together as zipped, tiled and flat forms do. */
#include "layout/layoutp.h"

static const Layout *unit(Ctx *c)
{
	return layout_leaf(c, ix_const(c, 1), ix_const(c, 0));
}

/* ------------------------------------------------------------------ by a layout */
const Layout *layout_logical_divide(Ctx *c, const Layout *a, const Layout *b, const char **why)
{
	if (!layout_is_plain(b))
		return refuse(c, why,
			      "logical_divide: %s / %s: the tiler has a swizzle or an offset",
			      layout_str(c, a), layout_str(c, b));
	const Layout *rest = layout_complement_in(c, b, a->shape, why);
	if (!rest)
		return NULL;
	return layout_composition(c, a, layout_cat(c, (const Layout *[]){b, rest}, 2), why);
}

/* Where copies of a go: its gaps in the order of b, then the tail, which has no end. */
static const Layout *repeat(Ctx *c, const Layout *a, const Layout *b, const char **why)
{
	const Ix *cotarget = ix_mul(c, layout_size(c, a), layout_cosize(c, b));
	const Layout *rest = layout_complement_open(c, a, cotarget, why);
	return rest ? layout_composition(c, rest, b, why) : NULL;
}

const Layout *layout_logical_product(Ctx *c, const Layout *a, const Layout *b, const char **why)
{
	if (!layout_is_plain(b))
		return refuse(c, why,
			      "logical_product: %s * %s: the right operand has a swizzle or an "
			      "offset",
			      layout_str(c, a), layout_str(c, b));
	const Layout *again = repeat(c, a, b, why), *one = layout_outer(c, a);
	if (!again)
		return NULL;
	return layout_wrap(c, a, layout_cat(c, (const Layout *[]){one, again}, 2));
}

/* ((a0,b0),(a1,b1),...); a mode that only one of them has stands alone */
static const Tup *zip_tup(Ctx *c, const Tup *a, const Tup *b)
{
	int ra = tup_rank(a), rb = tup_rank(b), rank = ra > rb ? ra : rb;
	ArenaMark mark = arena_mark(ctx_tmp(c));
	const Tup **at = NEWN(ctx_tmp(c), const Tup *, rank + 1);
	for (int i = 0; i < rank; i++) {
		const Tup *pair[] = {i < ra ? tup_get(a, i) : NULL, i < rb ? tup_get(b, i) : NULL};
		at[i] = pair[0] && pair[1] ? tup_new(c, pair, 2) : pair[!pair[0]];
	}
	const Tup *t = tup_new(c, at, rank);
	arena_release(ctx_tmp(c), mark);
	return t;
}

static const Layout *zip(Ctx *c, const Layout *a, const Layout *b)
{
	return layout_new(c, zip_tup(c, a->shape, b->shape), zip_tup(c, a->stride, b->stride));
}

static const Layout *zipped_product(Ctx *c, const Layout *a, const Layout *b, bool raked,
				    const char **why)
{
	const Layout *both = layout_logical_product(c, a, b, why);
	if (!both)
		return NULL;
	const Layout *block = layout_mode(c, both, 0), *tiles = layout_mode(c, both, 1);
	return layout_wrap(c, a, raked ? zip(c, tiles, block) : zip(c, block, tiles));
}

/* A tuple of rank modes, those that l lacks being 1:0. */
static const Layout *pad(Ctx *c, const Layout *l, int rank)
{
	int old = layout_rank(l);
	ArenaMark mark = arena_mark(ctx_tmp(c));
	const Layout **at = NEWN(ctx_tmp(c), const Layout *, rank + 1);
	for (int i = 0; i < rank; i++)
		at[i] = i < old ? layout_mode(c, l, i) : unit(c);
	const Layout *r = layout_wrap(c, l, layout_cat(c, at, rank));
	arena_release(ctx_tmp(c), mark);
	return r;
}

const Layout *layout_blocked_product(Ctx *c, const Layout *a, const Layout *b, const char **why)
{
	int ra = layout_rank(a), rb = layout_rank(b), rank = ra > rb ? ra : rb;
	if (tup_is_leaf(a->shape) && tup_is_leaf(b->shape))
		return layout_logical_product(c, a, b, why);
	return zipped_product(c, pad(c, a, rank), pad(c, b, rank), false, why);
}

const Layout *layout_raked_product(Ctx *c, const Layout *a, const Layout *b, const char **why)
{
	return zipped_product(c, a, b, true, why);
}

/* How many atoms each mode of shape takes. */
static const Tup *grid_of(Ctx *c, const Layout *atom, const Tup *shape)
{
	int rank = tup_rank(shape), inner = layout_rank(atom);
	if (tup_is_leaf(shape))
		return tup_leaf(c, ix_plain(c, ix_ceil_div(c, shape->leaf, layout_size(c, atom))));
	ArenaMark mark = arena_mark(ctx_tmp(c));
	const Tup **tiles = NEWN(ctx_tmp(c), const Tup *, rank + 1);
	for (int i = 0; i < rank; i++) {
		const Ix *have =
			i < inner ? tup_product(c, tup_get(atom->shape, i)) : ix_const(c, 1);
		const Ix *want = tup_product(c, tup_get(shape, i));
		tiles[i] = tup_leaf(c, ix_plain(c, ix_ceil_div(c, want, have)));
	}
	const Tup *grid = tup_new(c, tiles, rank);
	arena_release(ctx_tmp(c), mark);
	return grid;
}

static const Layout *grid_layout(Ctx *c, const Tup *grid, const Tup *order, const char **why)
{
	return order ? layout_ordered(c, grid, order, why) : layout_left(c, grid);
}

const Layout *layout_tile_to_shape(Ctx *c, const Layout *atom, const Tup *shape, const Tup *order,
				   const char **why)
{
	int rank = tup_rank(shape), inner = layout_rank(atom);
	if (!layout_usable(c, "tile_to_shape", atom, why))
		return NULL;
	if (inner > rank)
		return refuse(c, why, "tile_to_shape: %s has %d modes, the shape has %d",
			      layout_str(c, atom), inner, rank);
	const Layout *tiles = grid_layout(c, grid_of(c, atom, shape), order, why);
	return tiles ? layout_blocked_product(c, atom, tiles, why) : NULL;
}

/* ------------------------------------------------------------------ by a tile */
typedef const Layout *(*ByLayout)(Ctx *c, const Layout *a, const Layout *b, const char **why);

static const Layout *by_tile(Ctx *c, const char *name, ByLayout op, const Layout *a, const Tiler *t,
			     const char **why)
{
	int rank = layout_rank(a);
	if (t->n < 0)
		return t->layout ? op(c, a, t->layout, why) : a;
	if (t->n > rank)
		return refuse(c, why, "%s: %s has %d modes, the tiler has %d", name,
			      layout_str(c, a), rank, t->n);
	ArenaMark mark = arena_mark(ctx_tmp(c));
	const Layout **at = NEWN(ctx_tmp(c), const Layout *, rank + 1), *r = a;
	for (int i = 0; i < rank && r; i++) {
		r = at[i] = layout_mode(c, a, i);
		if (i < t->n)
			r = at[i] = by_tile(c, name, op, at[i], t->at[i], why);
	}
	r = r ? layout_cat(c, at, rank) : NULL;
	arena_release(ctx_tmp(c), mark);
	return r;
}

static const Layout *wrapped(Ctx *c, const Layout *a, const Tiler *t, const char *name, ByLayout op,
			     const char **why)
{
	if (t->n < 0 && t->layout)
		return op(c, a, t->layout, why);
	const Layout *r = by_tile(c, name, op, layout_outer(c, a), t, why);
	return r ? layout_wrap(c, a, r) : NULL;
}

/* The coordinates are the tiler's: modes that it lacks stay at 0. */
const Layout *layout_composition_by(Ctx *c, const Layout *a, const Tiler *t, const char **why)
{
	const Layout *r = wrapped(c, a, t, "composition", layout_composition, why);
	if (!r || t->n < 0 || t->n == layout_rank(r))
		return r;
	ArenaMark mark = arena_mark(ctx_tmp(c));
	const Layout **at = NEWN(ctx_tmp(c), const Layout *, t->n + 1);
	for (int i = 0; i < t->n; i++)
		at[i] = layout_mode(c, r, i);
	r = layout_wrap(c, a, layout_cat(c, at, t->n));
	arena_release(ctx_tmp(c), mark);
	return r;
}

const Layout *layout_divide_by(Ctx *c, const Layout *a, const Tiler *t, const char **why)
{
	return wrapped(c, a, t, "logical_divide", layout_logical_divide, why);
}

const Layout *layout_product_by(Ctx *c, const Layout *a, const Tiler *t, const char **why)
{
	return wrapped(c, a, t, "logical_product", layout_logical_product, why);
}

/* ------------------------------------------------------------------ forms */
typedef VEC(const Layout *) Layouts;

static void modes_push(Ctx *c, Layouts *out, const Layout *l)
{
	for (int i = 0; i < layout_rank(l); i++)
		vec_push(ctx_tmp(c), out, layout_mode(c, l, i));
}

/* Takes the pairs apart along the tiler: *first and *second of each. A mode that `_` keeps is one
 * tile, unless it is a pair already. */
static void unzip(Ctx *c, const Layout *l, const Tiler *t, const Layout **first,
		  const Layout **second)
{
	Layouts one = {0}, two = {0};
	if (t->n < 0) {
		bool pair = layout_rank(l) == 2;
		*first = pair ? layout_mode(c, l, 0) : l;
		*second = pair ? layout_mode(c, l, 1) : unit(c);
		return;
	}
	for (int i = 0; i < layout_rank(l); i++) {
		const Layout *a = NULL, *b = layout_mode(c, l, i);
		if (i < t->n)
			unzip(c, b, t->at[i], &a, &b);
		if (a)
			vec_push(ctx_tmp(c), &one, a);
		vec_push(ctx_tmp(c), &two, b);
	}
	*first = layout_cat(c, one.at, one.n);
	*second = layout_cat(c, two.at, two.n);
}

static const Layout *reform(Ctx *c, const Layout *l, const Tiler *t, TileForm form)
{
	const Layout *tile, *rest;
	Layouts out = {0};
	unzip(c, l, t, &tile, &rest);
	if (form == FORM_FLAT)
		modes_push(c, &out, tile);
	else
		vec_push(ctx_tmp(c), &out, tile);
	if (form == FORM_ZIPPED)
		vec_push(ctx_tmp(c), &out, rest);
	else
		modes_push(c, &out, rest);
	return layout_cat(c, out.at, out.n);
}

const Layout *layout_reform(Ctx *c, const Layout *l, const Tiler *t, TileForm form)
{
	if (form == FORM_LOGICAL)
		return l;
	ArenaMark mark = arena_mark(ctx_tmp(c));
	const Layout *r = reform(c, layout_outer(c, l), t, form);
	arena_release(ctx_tmp(c), mark);
	return layout_wrap(c, l, r);
}
