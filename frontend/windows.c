/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* windows.c - tiles that are counted from a row which memory names, up to another.
 *     let gKb = gK from start[b] .. end[b];  sK <- gKb[j,h,0];
 *  -> %t = tile %K[end] (start + j * 64, h, 0) ragged=0
 * What a tile has at end[b] and after it is 0, and is not written. Both rows are held to the
 * tensor's. */
#include "frontend/sema.h"

enum { WINDOWED = (1 << 30) - (1 << 21) /* rows, as a tensor map is clipped (ir/modes.c) */ };

static bool has_window(Sema *s, const Value *v, int mode)
{
	const Tiling *t = v->tiling;
	if (t->tensor->is_out)
		return reject(
			s, v->loc, D_E0301,
			"not built yet: rows from a place on of '%s', an output\n"
			"built is a grid over groups of rows: for (g,m,n) in groups(gD, ends)",
			t->tensor->name);
	if (t->names || t->first)
		return reject(s, v->loc, D_E0301,
			      "not built yet: rows from a place on of %s\n"
			      "built are tiles of a tensor: let gKb = gK from start[b] .. end[b]",
			      t->names ? "rows by indices" : "rows from a place on");
	if (t->rank < BUFFER_RANK ||
	    !tup_is_leaf(layout_mode(s->ctx, t->tensor->layout, mode)->shape))
		return reject(s, v->loc, D_E0301,
			      "not built yet: rows from a place on of '%s', which has %s\n"
			      "built are tensors of two and three modes: K : bf16 (T,H,D)",
			      t->tensor->name,
			      t->rank < BUFFER_RANK ? "one mode" : "rows in parts");
	return true;
}

/* The first mode of which a tile has several elements, where there is one of several tiles. */
static int rows_mode(Sema *s, const Tiling *t)
{
	int mode = 0;
	bool some = false, many = false;
	for (int i = 0; i < t->rank; i++) {
		bool one = one_tile_along(s, t, i);
		if (t->extent[i] == 1 || many || (some && one))
			continue;
		mode = i;
		some = true;
		many = !one;
	}
	return mode;
}

static const Ix *row_held(Sema *s, const Ix *x, const Ix *rows)
{
	x = ix_new(s->ctx, IX_MAX, x, ix_const(s->ctx, 0));
	return ix_new(s->ctx, IX_MIN, x, rows);
}

Value tiles_from(Sema *s, const Node *n)
{
	Value v = eval(s, n->kids.at[0]), lo = eval(s, n->kids.at[1]), hi = eval(s, n->kids.at[2]);
	if (v.kind == V_TENSOR)
		return rejected(
			s, v.loc, D_E0203,
			"what has rows from a place on is a tiled tensor, this is a tensor\n"
			"divide it first: let g%s = %s / (..), and write g%s from ..",
			v.tensor->name, v.tensor->name, v.tensor->name);
	if (!want(s, &v, V_TILES, "what has rows from a place on") ||
	    !number_wanted(s, &lo, "where rows begin") || !number_wanted(s, &hi, "where rows end"))
		return value_bad();
	Tiling *t = NEW(s->arena, Tiling);
	*t = *v.tiling;
	t->along = rows_mode(s, t);
	if (!has_window(s, &v, t->along))
		return value_bad();
	const Ix *rows = tiling_extent(s, t, t->along);
	kernel_syms_most(s->kernel, rows, WINDOWED);
	t->first = row_held(s, lo.ix, rows);
	t->last = row_held(s, hi.ix, rows);
	v.tiling = t;
	return v;
}

bool tiling_begins(const Tiling *t, int mode)
{
	return t->first && t->along == mode;
}

const Ix *tiling_rows(Sema *s, const Tiling *t, int mode)
{
	if (!tiling_begins(t, mode))
		return tiling_extent(s, t, mode);
	return ix_new(s->ctx, IX_MAX, ix_sub(s->ctx, t->last, t->first), ix_const(s->ctx, 0));
}

/* Copies into a buffer begin at multiples of 16 bytes, and such rows anywhere; and two modes of a
 * map say where they end. */
bool window_fill_fits(Sema *s, const Value *from)
{
	const Tiling *t = from->tile->tiling;
	if (!t->first)
		return true;
	if (t->rank > 3)
		return reject(s, from->loc, D_E0301,
			      "not built yet: rows from a place on of a tensor of more than three "
			      "modes\n"
			      "built are tensors of two and three modes: K : bf16 (T,H,D)");
	return !ix_is(tiling_stride(s, t, t->along)->leaf, 1) ||
	       reject(s, from->loc, D_E0405,
		      "rows begin anywhere along mode %d of '%s', whose elements lie side by side, "
		      "of which copies take multiples of 16 bytes\n"
		      "store it with the other mode side by side, as (T,D):(D,1)",
		      t->along, t->tensor->name);
}
