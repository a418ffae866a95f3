/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* group_loops.c - a loop over the tiles of one group, of the mode along which groups lie one after
 * the other. What a tile has after its group's end is 0.
 *     for k in groups(gA[m], ends, g) { sA <- gA[m,k]; .. }
 *  -> groups.at first, last, rows %ends (G, T, g)
 *     for k (0, (rows + 63) / 64) { %t = tile %A[last] (m * 128, first + k * 64) ragged=1 .. } */
#include "frontend/sema.h"

static bool place_fits(Sema *s, const Node *n)
{
	if (s->place != AT_GRID)
		return reject(s, n->loc, D_E0301,
			      "not built yet: a loop over a group in another loop\n"
			      "built are loops over a group beside the grid's names");
	if (s->mma_loc.src < 0)
		return reject(s, n->loc, D_E0301,
			      "not built yet: a loop over a group in a kernel without an mma\n"
			      "built are groups whose elements an mma multiplies");
	return true;
}

/* A name that counts the groups: no other is sure to be one of them. */
static bool group_fits(Sema *s, const Value *g, const Tensor *ends)
{
	const Ix *groups = layout_size(s->ctx, ends->layout);
	if (!want(s, g, V_INT, "which group a loop runs over"))
		return false;
	if (g->coord && g->coord->extent == groups && g->coord->tile == 1)
		return true;
	return reject(
		s, g->loc, D_E0211,
		"this does not count the groups of '%s'\n"
		"write the grid's name of a mode that has as many elements as '%s', one a tile",
		ends->name, ends->name);
}

Value group_loop_tiles(Sema *s, const Node *n)
{
	const Node *call = n->kids.at[1];
	if (call->kids.n != 4)
		return rejected(
			s, call->loc, D_E0206,
			"in a loop, groups takes tiles, the ends of groups, and which group "
			"it is\n"
			"write for k in groups(gA[m], ends, g)");
	Value tiles = eval(s, call->kids.at[1]), ends = eval(s, call->kids.at[2]),
	      g = eval(s, call->kids.at[3]);
	if (tiles.kind == V_BAD || ends.kind == V_BAD || g.kind == V_BAD || !place_fits(s, n) ||
	    !groups_ends_fit(s, &ends) || !group_fits(s, &g, ends.tensor))
		return value_bad();
	s->along = (GroupLoop){.ends = ends.tensor, .group = g.ix};
	return tiles;
}

const Ix *group_loop_begin(Sema *s, Loc loc, const Ix *all, int64_t extent)
{
	Ctx *c = s->ctx;
	GroupLoop *l = &s->along;
	Op *op = build_in(s, build(s, OP_GROUPS_AT, loc), l->ends->val);
	op_sym(s->kernel, op, kernel_fresh(s->kernel, "first"));
	op_sym(s->kernel, op, kernel_fresh(s->kernel, "last"));
	op_sym(s->kernel, op, kernel_fresh(s->kernel, "rows"));
	op_ixs(s->kernel, op, layout_size(c, l->ends->layout), all, l->group);
	facts_of_op(op, &s->facts, ctx_arena(c));
	l->first = ix_sym(c, op->sym[0]);
	l->last = ix_sym(c, op->sym[1]);
	l->extent = extent;
	return ix_ceil_div(c, ix_sym(c, op->sym[2]), ix_const(c, extent));
}

bool group_loop_has(const Sema *s, const Tile *t)
{
	bool has = false;
	for (int i = 0; s->along.name && i < t->tiling->rank; i++)
		has |= t->at[i] == s->along.name;
	return has;
}

bool group_loop_index_fits(Sema *s, const Tiling *t, int mode, const Value *at)
{
	const GroupLoop *l = &s->along;
	if (!l->name || !ix_uses(at->ix, l->name->name) ||
	    (at->ix == l->name && t->extent[mode] == l->extent))
		return true;
	return reject(s, at->loc, D_E0307,
		      "a tile of a group is where the device finds it: its name is an index by "
		      "itself, of tiles of %d elements\n"
		      "write %s[..%s..], and divide '%s' into tiles of %d there",
		      (int)l->extent, t->tensor->name, l->name->name, t->tensor->name,
		      (int)l->extent);
}

/* Copies into a buffer begin at multiples of 16 bytes, and a group anywhere; and two modes of a map
 * are needed to say where it ends. */
bool group_loop_fill_fits(Sema *s, const Value *from)
{
	const Tile *t = from->tile;
	for (int i = 0; i < t->tiling->rank; i++) {
		if (!t->at[i] || t->at[i] != s->along.name)
			continue;
		if (t->tiling->rank > 3)
			return reject(s, from->loc, D_E0301,
				      "not built yet: groups along a mode of a tensor of more than "
				      "three\n"
				      "built are tensors of two and three modes");
		if (!ix_is(tiling_stride(s, t->tiling, i)->leaf, 1))
			continue;
		return reject(s, from->loc, D_E0405,
			      "a group begins anywhere along mode %d of '%s', whose elements lie "
			      "side by side, of which copies take multiples of 16 bytes\n"
			      "store it with the other mode side by side, as (M,K):(1,M)",
			      i, t->tiling->tensor->name);
	}
	return true;
}
