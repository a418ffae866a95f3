/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gather.c - tiles whose rows lie where a tensor of indices says.
 *     sA <- gA[rows[m], k];                      rows : s32 (M), A : bf16 (R,K):(K,1)
 *  -> %r = tile %rows.m (m * 128, 0) : global s32 (128,1):(1,0)
 *     %t = tile %A, %r (0, k * 64) gather=0 : global bf16 (128,64):(K,1)
 * A row is zeros where rows ends, and where its index is none of the tensor's. */
#include "frontend/sema.h"

#include <inttypes.h>

static bool gathers_once(Sema *s, const Tile *t, int mode, const Value *names)
{
	ModeList matrix = tiling_modes(s, t->tiling);
	bool some = false;
	for (int i = 0; i < matrix.n; i++)
		some |= matrix.at[i] == mode;
	if (t->names)
		not_yet(s, names->loc, "indices along two modes of '%s'", t->tiling->tensor->name);
	else if (names->tile->names)
		not_yet(s, names->loc, "indices of indices");
	else if (!some)
		not_yet(s, names->loc,
			"indices along mode %d of '%s', of which a tile has one element", mode,
			t->tiling->tensor->name);
	else
		return true;
	return false;
}

bool tile_gathers(Sema *s, Tile *t, int mode, const Value *names)
{
	const Tensor *of = names->tile->tiling->tensor, *tensor = t->tiling->tensor;
	int64_t n = 1;
	for (int i = 0; i < names->tile->tiling->rank; i++)
		n *= names->tile->tiling->extent[i];
	if (of->elem != EL_I32)
		diag_remedy(s->ctx,
			    diag(s->ctx, names->loc, D_E0205,
				 "'%s' holds %s, and what names rows of '%s' holds s32", of->name,
				 elem_rows[of->elem].name, tensor->name),
			    "declare it as %s : s32 (...)", of->name);
	else if (of->is_out)
		diag_remedy(s->ctx,
			    diag(s->ctx, names->loc, D_E0203,
				 "'%s' is an output, whose elements cannot be read", of->name),
			    "indices are an input, which an earlier launch has written");
	else if (n != t->tiling->extent[mode])
		diag_remedy(s->ctx,
			    diag(s->ctx, names->loc, D_E0204,
				 "%" PRId64 " indices for a tile that has %" PRId64
				 " elements along mode %d of '%s'",
				 n, t->tiling->extent[mode], mode, tensor->name),
			    "a tile has as many as the output's tile has of that name");
	else if (gathers_once(s, t, mode, names)) {
		t->names = names->tile;
		t->gather = mode;
		t->at[mode] = ix_const(s->ctx, 0);
		return true;
	}
	return false;
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
bool gather_fits(Sema *s, const Value *from, const Buffer *to)
{
	const Tile *t = from->tile;
	const char *name = t->tiling->tensor->name;
	if (!t->names)
		return true;
	if (ix_is(tiling_stride(s, t->tiling, t->gather)->leaf, 1))
		diag_remedy(s->ctx,
			    diag(s->ctx, from->loc, D_E0405,
				 "indices along mode %d of '%s', whose neighbours lie side by "
				 "side, name single elements; cp.async copies 4 bytes or more",
				 t->gather, name),
			    "store it with what an index names in one piece, as (M,K):(K,1)");
	else if (to->load && !to->load->via)
		diag_remedy(s->ctx,
			    diag(s->ctx, from->loc, D_E0312,
				 "TMA loads rows that lie one behind the other, and '%s' is read "
				 "by indices: cp.async is what gathers",
				 name),
			    "leave the tma copy out, or write copy ld = cp_async(%s, %s)", name,
			    to->name);
	else
		return true;
	return false;
}

bool gathers_not(Sema *s, const Value *v, const char *what)
{
	if (v->kind != V_TILE || !v->tile->names)
		return true;
	not_yet(s, v->loc, "indices in %s", what);
	return false;
}
