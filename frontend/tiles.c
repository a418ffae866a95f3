/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tiles.c - tensors cut into tiles, and one tile of them.
 *     gA = A / (128,64);  gA[m,k]
 *  -> %t = tile %A (m * 128, k * 64) : global bf16 (128,64):(K,1)
 * The last tile of a mode may hang over: reads give zero there, writes are dropped. */
#include "frontend/sema.h"

#include <inttypes.h>

enum { EXTENT_MAX = 65536 };

static bool tiler_extents(Sema *s, const Value *tensor, const Value *tiler, Tiling *t)
{
	Value whole = {.kind = V_INT, .loc = tiler->loc};
	t->rank = tiler->kind == V_INT ? 1 : tiler->tup->n;
	if (t->rank != layout_rank(tensor->tensor->layout)) {
		diag(s->ctx, tiler->loc, D_E0206, "a tiler of rank %d for '%s', which has rank %d",
		     t->rank, tensor->tensor->name, layout_rank(tensor->tensor->layout));
		return false;
	}
	for (int i = 0; i < t->rank; i++) {
		if (tiler->kind == V_TUPLE && !tup_is_leaf(tiler->tup->at[i])) {
			not_yet(s, tiler->loc, "tilers with modes inside modes");
			return false;
		}
		whole.ix = tiler->kind == V_INT ? tiler->ix : tiler->tup->at[i]->leaf;
		if (!want_int(s, &whole, 1, EXTENT_MAX, "the extent of a tile", &t->extent[i]))
			return false;
	}
	return true;
}

Value tiles_divide(Sema *s, Loc loc, const Value *tensor, const Value *tiler)
{
	Value v = value_of(V_TILES);
	Tiling *t = NEW(s->arena, Tiling);
	(void)loc;
	if (tiler->kind != V_INT && !want(s, tiler, V_TUPLE, "a tiler"))
		return value_bad();
	t->tensor = tensor->tensor;
	if (!tiler_extents(s, tensor, tiler, t))
		return value_bad();
	v.tiling = t;
	return v;
}

static const Ix *extent(Sema *s, const Tiling *t, int mode)
{
	return layout_size(s->ctx, layout_mode(s->ctx, t->tensor->layout, mode));
}

const Ix *tiles_count(Sema *s, const Tiling *t, int mode)
{
	return ix_ceil_div(s->ctx, extent(s, t, mode), ix_const(s->ctx, t->extent[mode]));
}

const Layout *tile_shape(Sema *s, const Tiling *t)
{
	const Tup *at[RANK_MAX];
	for (int i = 0; i < t->rank; i++)
		at[i] = tup_int(s->ctx, t->extent[i]);
	return layout_left(s->ctx, t->rank == 1 ? at[0] : tup_new(s->ctx, at, t->rank));
}

static bool counts_others(Sema *s, const Tiling *t, int mode, const Coord *c)
{
	return c && (c->extent != extent(s, t, mode) || c->tile != t->extent[mode]);
}

static DiagMsg *report_other_extent(Sema *s, const Tiling *t, int mode, const Value *at, DiagId id)
{
	const Coord *c = at->coord;
	Buf counted = {0}, here = {0};
	ix_print(c->extent, &counted);
	ix_print(extent(s, t, mode), &here);
	DiagMsg *m =
		diag(s->ctx, at->loc, id,
		     "'%s' counts tiles of %" PRId64 " of %s, mode %d of '%s' has tiles of %" PRId64
		     " of %s",
		     c->name, c->tile, counted.s, mode, t->tensor->name, t->extent[mode], here.s);
	buf_free(&counted);
	buf_free(&here);
	return m;
}

/* Origins are 32-bit for TMA, whatever the expression. */
static bool origin_fits(Sema *s, const Tiling *t, int mode, const Value *at)
{
	int64_t lo, hi;
	const Ix *origin = ix_mul(s->ctx, at->ix, ix_const(s->ctx, t->extent[mode]));
	ix_range(origin, kernel_facts(s->kernel), &lo, &hi);
	if (lo >= 0 && hi <= INT32_MAX)
		return true;
	if (counts_others(s, t, mode, at->coord))
		diag_remedy(s->ctx, report_other_extent(s, t, mode, at, D_E0211),
			    "write the indices in the order of the modes of '%s'", t->tensor->name);
	else
		diag(s->ctx, at->loc, D_E0211,
		     "this tile may begin outside 0..2147483647 of mode %d of '%s'", mode,
		     t->tensor->name);
	return false;
}

Value tiles_index(Sema *s, Loc loc, const Value *tiles, Value *at, int n)
{
	Value v = value_of(V_TILE);
	Tile *t = NEW(s->arena, Tile);
	*t = (Tile){.tiling = tiles->tiling, .n = n};
	if (n > t->tiling->rank) {
		diag(s->ctx, loc, D_E0206, "%d indices for '%s', which has rank %d", n,
		     t->tiling->tensor->name, t->tiling->rank);
		return value_bad();
	}
	for (int i = 0; i < n; i++) {
		if (!want(s, &at[i], V_INT, "an index of a tile"))
			return value_bad();
		if (!s->kernel || !origin_fits(s, t->tiling, i, &at[i]))
			return value_bad();
		if (counts_others(s, t->tiling, i, at[i].coord))
			report_other_extent(s, t->tiling, i, &at[i], D_W0203);
		t->at[i] = at[i].ix;
	}
	v.tile = t;
	return v;
}

/* shape:stride of one tile: its extents, the tensor's strides */
static const Layout *tile_layout(Sema *s, const Tiling *t)
{
	const Layout *modes[RANK_MAX];
	for (int i = 0; i < t->rank; i++) {
		const Tup *stride = layout_mode(s->ctx, t->tensor->layout, i)->stride;
		modes[i] = layout_new(s->ctx, tup_int(s->ctx, t->extent[i]), stride);
	}
	return t->rank == 1 ? modes[0] : layout_cat(s->ctx, modes, t->rank);
}

Val *tile_build(Sema *s, const Tile *t, Loc loc)
{
	Kernel *k = s->kernel;
	const Tiling *g = t->tiling;
	Op *op = build_in(s, build(s, OP_TILE, loc), g->tensor->val);
	for (int i = 0; i < g->rank; i++)
		op_ix(k, op, ix_mul(s->ctx, t->at[i], ix_const(s->ctx, g->extent[i])));
	const Type *type = type_tile(s->ctx, SP_GLOBAL, g->tensor->elem, tile_layout(s, g));
	return op_result(k, op, "t", type);
}
