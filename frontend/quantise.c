/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* quantise.c - a row that is stored in 8 bits by a scale from the row itself: one tile must hold
 * all of the row, or its parts would have a scale each that nobody keeps.
 *     gD[m,n] <- e4m3(x * (448 / max(rowmax(abs(x)), 1e-30)));   where N <= 128, tiles of 128 */
#include "frontend/sema.h"

#include <inttypes.h>

/* The mode of the output along which the accumulator's rows or columns lie. */
static int mode_along(Sema *s, int i)
{
	ModeList matrix = tiling_modes(s, s->grid);
	return matrix.n == BUFFER_RANK ? matrix.at[i] : -1;
}

bool one_tile_along(Sema *s, int mode)
{
	int64_t lo, hi;
	ix_range(tiles_count(s, s->grid, mode), facts_seen(&s->facts), &lo, &hi);
	return hi <= 1;
}

bool tile_holds_row(Sema *s)
{
	int mode = s->grid ? mode_along(s, 1) : -1;
	return mode >= 0 && one_tile_along(s, mode);
}

/* What is reduced: rows (0), whose elements lie along mode 1 of a tile, or columns (1). */
static const struct {
	const char *line, *index, *of_all;
} lines[] = {{"row", "m", "rowmax"}, {"column", "n", "colmax"}};

static int64_t extent_of(const Val *v, int mode)
{
	return tup_get(v->type->layout->shape, mode)->leaf->value;
}

/* Whether op leaves a value for each line of a tile like the output's. */
static bool reduces(Sema *s, const Op *op, int line)
{
	int along = 1 - line;
	return op->kind == OP_REDUCE && extent_of(op->out, along) == 1 &&
	       extent_of(op->in[0].val, along) ==
		       tup_get(tiling_shape(s, s->grid)->shape, along)->leaf->value &&
	       extent_of(op->in[0].val, along) > 1;
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

/* What is computed from lines of the tile behind the loops, as far as the program has been read. */
static const Op *from_line(Sema *s, const Val *v, int line)
{
	PtrMap all = {.arena = s->arena};
	for (Op *op = s->block->first; op; op = op->next)
		if (reduces(s, op, line))
			ptrmap_set(&all, op->out, op);
		else
			pass_on(&all, op);
	return ptrmap_get(&all, v);
}

static bool sees_line(Sema *s, const Tensor *to, const Value *v, int line)
{
	int mode = mode_along(s, 1 - line);
	if (mode < 0 || one_tile_along(s, mode) || !from_line(s, v->val, line))
		return true;
	Buf extent = {0};
	const char *what = lines[line].line, *at = lines[line].index;
	int64_t tile = s->grid->extent[mode];
	ix_print(layout_size(s->ctx, layout_mode(s->ctx, s->grid->tensor->layout, mode)), &extent);
	diag_remedy(s->ctx,
		    diag(s->ctx, v->loc, D_E0204,
			 "a %s of '%s' has %s elements and a tile %" PRId64
			 " of them, so a scale from the %s itself would be another in each tile",
			 what, to->name, extent.s, tile, what),
		    "write where %s <= %" PRId64
		    ", if one tile holds the %s; or take the scale as an "
		    "input, scale[%s], and join the largest size to an output for the next time: "
		    "most[%s] <- max(most[%s], %s(abs(x)))",
		    extent.s, tile, what, at, at, at, lines[line].of_all);
	buf_free(&extent);
	return false;
}

bool scale_sees_row(Sema *s, const Tensor *to, const Value *v)
{
	return elem_rows[to->elem].bits != 8 || (sees_line(s, to, v, 0) && sees_line(s, to, v, 1));
}
