/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* row_groups.c - a grid over groups of rows, whose ends the device reads. The name of the rows is
 * that of a tile which begins at its group's first row or some tiles on, and ends where the group
 * does.
 *     for (g,m,n) in groups(gD, ends) { sA <- gA[m,k]; sB <- gB[g,n,k]; .. gD[m,n] <- bf16(acc); }
 *  -> grid g, m, end, n %ends (G, M, M + 1, ..) rows=128 {
 *       %a = tile %A (m, k * 64)    %b = tile %B (g, n * 64, k * 64)
 *       %d = tile %D[end] (m, n * 64) .. }
 * What fills a buffer may go on in the next group's rows: what comes of these is not written, and
 * boxes that are cut are slower than whole ones (tests/gpu/records/decisions.md). */
#include "frontend/sema.h"

#include <inttypes.h>

bool groups_ends_fit(Sema *s, const Value *v)
{
	const Tensor *t = v->tensor;
	if (!want(s, v, V_TENSOR, "what says where groups end"))
		return false;
	if (t->elem != EL_I32 || layout_rank(t->layout) != 1)
		return reject(s, v->loc, D_E0205,
			      "'%s' has no s32 for each group: the row after its last\n"
			      "declare it as %s : s32 (G)",
			      t->name, t->name);
	if (t->is_out)
		return reject(s, v->loc, D_E0203,
			      "'%s' is an output, whose elements cannot be read\n"
			      "ends are an input, which an earlier launch has written",
			      t->name);
	return true;
}

/* Which mode has the rows: of a matrix with all groups, or of one for each; -1: of neither. */
int groups_mode(const Tiling *t)
{
	if (t->rank == BUFFER_RANK)
		return 0;
	return t->rank == BUFFER_RANK + 1 && t->extent[0] == 1 ? 1 : -1;
}

/* A matrix for each group: the list says how many of its rows are used. */
static bool counts_fit(Sema *s, const Value *tiles, const Value *counts)
{
	if (tiles->kind != V_TILES || !groups_mode(tiles->tiling))
		return true;
	const Tensor *t = tiles->tiling->tensor, *list = counts->tensor;
	if (tensor_extent(s, t, 0) == layout_size(s->ctx, list->layout))
		return true;
	return reject(s, counts->loc, D_E0211,
		      "'%s' has another extent than mode 0 of '%s', which has a matrix for each "
		      "group\n"
		      "declare it as %s : s32 (G), the rows that are used of each",
		      list->name, t->name, list->name);
}

static bool tiles_fit(Sema *s, const Value *v)
{
	if (v->kind != V_TILES)
		return true; /* the grid says so */
	const Tensor *t = v->tiling->tensor;
	int mode = groups_mode(v->tiling);
	const char *of =
		mode < 0 ? "an output that is neither a matrix (M,N) nor one for each group"
		: !tup_is_leaf(layout_mode(s->ctx, t->layout, mode)->shape) ? "rows that have parts"
									    : NULL;
	return !of || reject(s, v->loc, D_E0301,
			     "not built yet: groups of %s\n"
			     "built are rows of a matrix D : out bf16 (M,N):(N,1), one after the "
			     "other, and (G,M,N), a matrix for each group",
			     of);
}

const Tensor *groups_ends(Sema *s, const Node *call, Value *tiles)
{
	*tiles = value_bad();
	if (call->kids.n != 3) {
		reject(s, call->loc, D_E0206,
		       "groups takes the tiles of an output and the ends of its groups\n"
		       "write for (g,m,n) in groups(gD, ends)");
		return NULL;
	}
	*tiles = eval(s, call->kids.at[1]);
	Value ends = eval(s, call->kids.at[2]);
	if (tiles->kind != V_BAD && ends.kind != V_BAD && groups_ends_fit(s, &ends) &&
	    tiles_fit(s, tiles) && counts_fit(s, tiles, &ends))
		return ends.tensor;
	*tiles = value_bad();
	return NULL;
}

/* Names of the group, of the first row of a tile, and for the row after the group's last. */
void groups_begin(Sema *s, Op *op, const char *group, const char *row, const Tensor *ends)
{
	Ctx *c = s->ctx;
	int mode = groups_mode(s->grid);
	const Ix *rows = tiling_extent(s, s->grid, mode);
	GroupNames *g = &s->groups;
	*g = (GroupNames){.extent = layout_size(c, ends->layout), .rows = s->grid->extent[mode]};
	build_in(s, op, ends->val);
	if (mode)
		op_int(s->kernel, op, A_COUNTS, 1);
	op_int(s->kernel, op, A_ROWS, g->rows);
	op_sym(s->kernel, op, group);
	op_ix(s->kernel, op, g->extent);
	op_sym(s->kernel, op, row);
	op_ix(s->kernel, op, rows);
	op_sym(s->kernel, op, kernel_fresh(s->kernel, "end"));
	op_ix(s->kernel, op, ix_add(c, rows, ix_const(c, 1)));
	g->group = ix_sym(c, op->sym[0]);
	g->row = ix_sym(c, op->sym[1]);
	g->end = ix_sym(c, op->sym[2]);
}

/* Whether it is the name of a group's rows. */
static bool groups_index(const Sema *s, const Ix *at)
{
	return s->groups.row && at == s->groups.row;
}

/* A tile of a group's rows is that of the grid, whatever is read of it. */
bool groups_index_fits(Sema *s, const Tiling *t, int mode, const Value *at)
{
	const GroupNames *g = &s->groups;
	if (!group_loop_index_fits(s, t, mode, at))
		return false;
	if (!g->row || !ix_uses(at->ix, g->row->name))
		return true;
	if (at->ix != g->row)
		return reject(s, at->loc, D_E0307,
			      "a tile of a group's rows is where the device finds it: its name "
			      "is an index by itself\n"
			      "write %s[..%s..]",
			      t->tensor->name, g->row->name);
	if (t->extent[mode] != g->rows)
		return reject(s, at->loc, D_E0211,
			      "'%s' counts tiles of %" PRId64
			      " rows of a group, mode %d of '%s' has tiles of %" PRId64 "\n"
			      "divide it into tiles of %" PRId64 " there",
			      g->row->name, g->rows, mode, t->tensor->name, t->extent[mode],
			      g->rows);
	return true;
}

/* Copies into a buffer begin at multiples of 16 bytes, and a group anywhere. */
bool groups_fill_fits(Sema *s, const Value *from)
{
	const Tile *t = from->tile;
	if (!group_loop_fill_fits(s, from))
		return false;
	for (int i = 0; i < t->tiling->rank; i++) {
		if (!groups_index(s, t->at[i]) || !ix_is(tiling_stride(s, t->tiling, i)->leaf, 1))
			continue;
		return reject(s, from->loc, D_E0405,
			      "rows of a group begin anywhere, and those of '%s' lie side by "
			      "side, of which copies take multiples of 16 bytes\n"
			      "store it with each row in one piece, as (M,K):(K,1)",
			      t->tiling->tensor->name);
	}
	return true;
}

const Ix *tile_origin(Sema *s, const Tiling *t, int mode, const Ix *at)
{
	if (tiling_begins(t, mode)) {
		const Ix *by = at ? at : ix_const(s->ctx, 0);
		return ix_add(s->ctx, t->first,
			      ix_mul(s->ctx, by, ix_const(s->ctx, t->extent[mode])));
	}
	if (!at)
		return ix_const(s->ctx, 0);
	if (groups_index(s, at))
		return at;
	const Ix *from = ix_mul(s->ctx, at, ix_const(s->ctx, t->extent[mode]));
	return at == s->along.name ? ix_add(s->ctx, s->along.first, from) : from;
}

/* The tile's rows end where the group's do; in a loop over a group, what that runs over does. */
void tile_ends(Sema *s, const Tile *t, Op *op)
{
	if (t->tiling->first) {
		IN(op, OF).at = t->tiling->last;
		op_int(s->kernel, op, A_RAGGED, t->tiling->along);
	}
	for (int i = 0; i < t->tiling->rank; i++)
		if (groups_index(s, t->at[i])) {
			IN(op, OF).at = s->groups.end;
		} else if (t->at[i] && t->at[i] == s->along.name) {
			IN(op, OF).at = s->along.last;
			op_int(s->kernel, op, A_RAGGED, i);
		}
}
