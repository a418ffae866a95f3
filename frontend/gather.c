/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gather.c - tiles whose rows lie where a tensor of indices says.
 *     sA <- gA[rows[m], k];                      rows : s32 (M), A : bf16 (R,K):(K,1)
 *  -> %r = tile %rows.m (m * 128, 0) : global s32 (128,1):(1,0)
 *     %t = tile %A, %r (0, k * 64) gather=0 : global bf16 (128,64):(K,1)
 *     for (m,n) in gD[rows,_] { .. gD[rows[m], n] <- bf16(acc); }      D : out bf16 (Q,N):(N,1)
 *  -> grid m, n ((M + 127) / 128, ..) { .. %t = tile %D, %r (0, n * 64) gather=0 ; copy %t, %c }
 * A row is zeros where rows ends, and where its index is none of the tensor's; none is written
 * there. */
#include "frontend/sema.h"

#include <inttypes.h>

bool reject_indices(Sema *s, Loc loc, const char *where)
{
	return reject(s, loc, D_E0301,
		      "not built yet: indices %s\n"
		      "built is sA <- gA[rows[m],k] and gD[rows[m],n] <- ...: rows of a tile",
		      where);
}

static bool gathers_once(Sema *s, const Tile *t, int mode, const Value *names)
{
	ModeList matrix = tiling_modes(s, t->tiling);
	const char *name = t->tiling->tensor->name;
	bool some = false;
	if (!tup_is_leaf(layout_mode(s->ctx, t->tiling->tensor->layout, mode)->shape))
		return reject_indices(s, names->loc,
				      ctx_strf(s->ctx, "along mode %d of '%s', which has parts",
					       mode, name));
	for (int i = 0; i < matrix.n; i++)
		some |= matrix.at[i] == mode;
	if (t->names)
		return reject_indices(s, names->loc,
				      ctx_strf(s->ctx, "along two modes of '%s'", name));
	if (names->tile->names)
		return reject_indices(s, names->loc, "of indices");
	if (!some)
		return reject(s, names->loc, D_E0301,
			      "not built yet: indices along mode %d of '%s', of which a tile has "
			      "one element\n"
			      "one index is an integer, an element of the tensor itself: write %s",
			      mode, name, element_example(s, names->tile->tiling->tensor));
	return true;
}

bool tile_gathers(Sema *s, Tile *t, int mode, const Value *names)
{
	const Tensor *of = names->tile->tiling->tensor, *tensor = t->tiling->tensor;
	int64_t n = 1;
	for (int i = 0; i < names->tile->tiling->rank; i++)
		n *= names->tile->tiling->extent[i];
	if (of->elem != EL_I32)
		reject(s, names->loc, D_E0205,
		       "'%s' holds %s, and what names rows of '%s' holds s32\n"
		       "declare it as %s : s32 (...)",
		       of->name, elem_rows[of->elem].name, tensor->name, of->name);
	else if (of->is_out)
		reject(s, names->loc, D_E0203,
		       "'%s' is an output, whose elements cannot be read\n"
		       "indices are an input, which an earlier launch has written",
		       of->name);
	else if (n != t->tiling->extent[mode])
		reject(s, names->loc, D_E0204,
		       "%" PRId64 " indices for a tile that has %" PRId64
		       " elements along mode %d of '%s'\n"
		       "a tile has as many as the output's tile has of that name",
		       n, t->tiling->extent[mode], mode, tensor->name);
	else if (gathers_once(s, t, mode, names)) {
		t->names = names->tile;
		t->gather = mode;
		t->at[mode] = ix_const(s->ctx, 0);
		return true;
	}
	return false;
}

/* ------------------------------------------------------------------ all rows that indices name */
Tensor *tiling_tensor(const Tiling *t)
{
	return t->of ? t->of : t->tensor;
}

static const Layout *with_extent(Ctx *c, const Layout *l, int mode, const Tup *extent)
{
	const Layout *modes[RANK_MAX];
	for (int i = 0; i < layout_rank(l); i++) {
		const Layout *m = layout_mode(c, l, i);
		modes[i] = i == mode ? layout_new(c, extent, m->stride) : m;
	}
	return layout_rank(l) == 1 ? modes[0] : layout_cat(c, modes, layout_rank(l));
}

static bool is_list(Sema *s, const Tiling *t, const Value *names, int mode)
{
	const char *name = names->tensor->name;
	if (names->tensor->elem != EL_I32 || layout_rank(names->tensor->layout) != 1)
		return reject(s, names->loc, D_E0203,
			      "'%s' is no list of rows of '%s': that has s32 and one mode\n"
			      "declare it as %s : s32 (M)",
			      name, t->tensor->name, name);
	if (!tup_is_leaf(layout_mode(s->ctx, t->tensor->layout, mode)->shape))
		return reject_indices(s, names->loc,
				      ctx_strf(s->ctx, "along mode %d of '%s', which has parts",
					       mode, t->tensor->name));
	return true;
}

Value tiles_by_indices(Sema *s, const Value *tiles, Value *at, int n)
{
	Value v = value_of(V_TILES);
	const Tiling *t = tiles->tiling;
	Tiling *g = NEW(s->arena, Tiling);
	Tensor *rows = NEW(s->arena, Tensor);
	int mode = 0;
	while (mode < n && at[mode].kind != V_TENSOR)
		mode++;
	for (int i = 0; i < n; i++)
		if (i != mode && !want(s, &at[i], V_ANY, "beside a list of rows an index"))
			return value_bad();
	if (!is_list(s, t, &at[mode], mode))
		return value_bad();
	*rows = *t->tensor;
	rows->layout = with_extent(s->ctx, rows->layout, mode, at[mode].tensor->layout->shape);
	*g = *t;
	g->tensor = rows;
	g->of = t->tensor;
	g->names = at[mode].tensor;
	g->gather = mode;
	v.tiling = g;
	return v;
}

bool tile_by_indices(Sema *s, Tile *t, Value *at, Loc loc)
{
	Value names = value_of(V_TENSOR);
	names.loc = loc;
	names.tensor = t->tiling->names;
	Value v = vector_index(s, loc, &names, at, 1);
	v.loc = loc;
	return v.kind == V_TILE && tile_gathers(s, t, t->tiling->gather, &v);
}

/* Each row of a tile that is written has an index at the grid's place: once, if the list has no row
 * twice. */
bool scatter_fits(Sema *s, const Value *to)
{
	const Tile *t = to->tile, *names = t->names;
	int i = t->gather;
	bool fits = !names || (names->tiling->rank == 1 && names->at[0] == s->grid_at[i] &&
			       t->tiling->extent[i] == s->grid->extent[i]);
	if (!fits)
		reject(s, to->loc, D_E0306,
		       "each row that the indices of '%s' name must be written once: "
		       "index %d is not the grid's name for them\n"
		       "write for (m,n) in gD[rows,_], and gD[rows[m],n] <- ...",
		       tiling_tensor(t->tiling)->name, i);
	return fits;
}

Val *gather_names(Sema *s, const Tile *t, Loc loc)
{
	const Layout *shape;
	Value v = value_of(V_TILE);
	v.loc = loc;
	v.tile = t->names;
	return vector_tile(s, &v, &shape);
}

/* Rows that lie side by side are elements of memory far apart. */
bool gather_fits(Sema *s, const Value *from)
{
	const Tile *t = from->tile;
	const char *name = t->tiling->tensor->name;
	if (!t->names)
		return true;
	if (ix_is(tiling_stride(s, t->tiling, t->gather)->leaf, 1))
		return reject(s, from->loc, D_E0405,
			      "indices along mode %d of '%s', whose neighbours lie side by "
			      "side, name single elements; cp.async copies 4 bytes or more\n"
			      "store it with what an index names in one piece, as (M,K):(K,1)",
			      t->gather, name);
	return true;
}

/* Rows that a thread holds are named by what lies along the rows of its tile, columns by what lies
 * along the columns. */
bool names_lie_along(Sema *s, const Value *v, const Val *tile)
{
	const Val *names = HAS_IN(tile->def, INDEX) ? IN(tile->def, INDEX).val : NULL;
	if (!names)
		return true;
	int gather = (int)attrs_int(&tile->def->attrs, A_GATHER, 0);
	ModeList m = type_modes(s->ctx, tile->type), of = type_modes(s->ctx, names->type);
	int side = m.at[m.n - 1] == gather;
	if (shape_extent(names->type->layout, of.at[side]) ==
	    shape_extent(tile->type->layout, gather))
		return true;
	return reject(s, v->loc, D_E0203,
		      "these indices lie along the %s of the tile, and name its %s\n"
		      "write g%s%s, with the grid's name of %s",
		      side ? "rows" : "columns", side ? "columns" : "rows",
		      v->tile->tiling->tensor->name, side ? "[m,cols[n]]" : "[rows[m],n]",
		      side ? "columns" : "rows");
}
