/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* quantise.c - a row that is stored in 8 bits by a scale from the row itself: one tile must hold
 * all of the row, or its parts would have a scale each that nobody keeps.
 *     gD[m,n] <- e4m3(x * (448 / rowmax(abs(x))));   where N <= 128, tiles of 128 columns */
#include "frontend/sema.h"

#include <inttypes.h>

/* The mode of the output along which the accumulator's columns lie. */
static int column_mode(Sema *s)
{
	ModeList matrix = tiling_modes(s, s->grid);
	return matrix.n == BUFFER_RANK ? matrix.at[1] : -1;
}

static bool one_tile_along(Sema *s, int mode)
{
	int64_t lo, hi;
	ix_range(tiles_count(s, s->grid, mode), facts_seen(&s->facts), &lo, &hi);
	return hi <= 1;
}

bool tile_holds_row(Sema *s)
{
	int mode = s->grid ? column_mode(s) : -1;
	return mode >= 0 && one_tile_along(s, mode);
}

/* Whether op leaves a value for each row of a tile like the output's. */
static bool reduces_rows(Sema *s, const Op *op)
{
	return op->kind == OP_REDUCE && op->in[0].val->type->layout == tiling_shape(s, s->grid);
}

void pass_on(PtrMap *from, Op *op)
{
	bool any = false;
	for (int i = 0; i < op->nin; i++)
		any |= op->in[i].val && ptrmap_get(from, op->in[i].val);
	if (any && op->out)
		ptrmap_set(from, op->out, op);
	if (any && op->kind == OP_COPY)
		ptrmap_set(from, op->in[0].val, op);
}

/* What is computed from rows of the tile, behind the loops, as far as the program has been read. */
static const Op *from_row(Sema *s, const Val *v)
{
	PtrMap all = {.arena = s->arena};
	for (Op *op = s->block->first; op; op = op->next)
		if (reduces_rows(s, op))
			ptrmap_set(&all, op->out, op);
		else
			pass_on(&all, op);
	return ptrmap_get(&all, v);
}

bool scale_sees_row(Sema *s, const Tensor *to, const Value *v)
{
	int mode = elem_rows[to->elem].bits == 8 ? column_mode(s) : -1;
	if (mode < 0 || one_tile_along(s, mode) || !from_row(s, v->val))
		return true;
	Buf extent = {0};
	int64_t columns = s->grid->extent[mode];
	ix_print(layout_size(s->ctx, layout_mode(s->ctx, s->grid->tensor->layout, mode)), &extent);
	diag_remedy(s->ctx,
		    diag(s->ctx, v->loc, D_E0204,
			 "a row of '%s' has %s elements and a tile %" PRId64
			 " of them, so a scale from the row itself would be another in each tile",
			 to->name, extent.s, columns),
		    "write where %s <= %" PRId64
		    ", if one tile holds the row; or take the scale as an "
		    "input, scale[m], and join the largest size to an output for the next time: "
		    "most[m] <- max(most[m], rowmax(abs(x)))",
		    extent.s, columns);
	buf_free(&extent);
	return false;
}
