/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* written_once.c - an output that is written in a loop, a tile an iteration: one iteration of the
 * grid and of the loops writes each element. Each of their names is one index of the tile, and no
 * part of another; and the loops go through all tiles of theirs, unless the output is inout.
 *     for (h,v) in gS { for c in gO[h,v] { gO[h,v,c] <- bf16(o); } } */
#include "frontend/sema.h"

#include <string.h>

/* The mode that the name alone is the index of; -1: none, or another index has it too. */
static int mode_of_name(const Tile *t, const Ix *name)
{
	int found = -1;
	for (int i = 0; i < t->tiling->rank; i++) {
		if (!ix_uses(t->at[i], name->name))
			continue;
		if (found >= 0 || t->at[i] != name)
			return -1;
		found = i;
	}
	return found;
}

/* As the program has it: names of the IR that are like an earlier one have a number. */
static const char *name_of(Sema *s, const Op *loop)
{
	return ctx_strf(s->ctx, "%.*s", (int)strcspn(loop->sym[0], "."), loop->sym[0]);
}

static bool report_loop(Sema *s, const Value *to, const Op *loop)
{
	const char *tensor = to->tile->tiling->tensor->name;
	if (s->grid_open >= 0)
		return reject(
			s, to->loc, D_E0306,
			"'%s' is written in a loop: each tile must be written once, after it\n"
			"write it in a loop over the tiles of the grid, in no other: "
			"for n in g%s[m]",
			tensor, tensor);
	return reject(s, to->loc, D_E0306,
		      "'%s' is written in a loop, and '%s' is not one of its indices: each tile "
		      "must be written once\n"
		      "move the statement after the loop",
		      tensor, name_of(s, loop));
}

static bool report_grid(Sema *s, const Value *to, const char *name)
{
	const Tensor *t = to->tile->tiling->tensor;
	return reject(s, to->loc, D_E0306,
		      "'%s' is written in a loop, and the grid's '%s' is not one of its indices: "
		      "several iterations would write a tile\n"
		      "give '%s' a mode that '%s' counts the tiles of%s",
		      t->name, name, t->name, name,
		      t->is_inout ? ", or add the tiles up: += in place of <-" : "");
}

/* Whether the loop goes through all tiles of the mode. */
static bool goes_through(Sema *s, const Op *loop, const Tiling *t, int mode)
{
	IxFacts facts = facts_seen(&s->facts);
	const Ix *missing = ix_sub(s->ctx, IX(loop, TO), tiles_count(s, t, mode));
	return ix_is(IX(loop, FROM), 0) && ix_is(ix_simplify(s->ctx, missing, facts), 0);
}

static bool report_rest(Sema *s, const Value *to, const Op *loop, int mode)
{
	const char *tensor = to->tile->tiling->tensor->name;
	return reject(s, to->loc, D_E0306,
		      "'%s' is written in a loop that does not go through all tiles of its mode "
		      "%d: the others would hold anything\n"
		      "write for %s in 0 .. %s, or declare '%s' inout: what is not written stays",
		      tensor, mode, name_of(s, loop),
		      ix_text(s->ctx, tiles_count(s, to->tile->tiling, mode)), tensor);
}

static bool loops_fit(Sema *s, const Value *to, unsigned *named)
{
	const Tiling *t = to->tile->tiling;
	for (const Op *op = s->block->owner; op && op != s->grid_op; op = op_parent(op)) {
		int mode = mode_of_name(to->tile, ix_sym(s->ctx, op->sym[0]));
		if (mode < 0)
			return report_loop(s, to, op);
		if (!goes_through(s, op, t, mode) && !t->tensor->is_inout)
			return report_rest(s, to, op, mode);
		*named |= 1u << mode;
	}
	return true;
}

/* Names of one tile need no index. */
static bool grid_names_fit(Sema *s, const Value *to, unsigned *named)
{
	const Tiling *t = to->tile->tiling;
	for (int i = 0; i < s->grid->rank; i++) {
		const Ix *name = s->grid_at[i];
		if (!name || name->kind != IX_SYM)
			continue;
		int mode = mode_of_name(to->tile, name);
		bool alike = mode >= 0 && t->extent[mode] == s->grid->extent[i] &&
			     tiling_extent(s, t, mode) == tiling_extent(s, s->grid, i);
		if (!alike && !one_tile_along(s, s->grid, i))
			return report_grid(s, to, name->name);
		*named |= alike ? 1u << mode : 0;
	}
	return true;
}

static bool others_fit(Sema *s, const Value *to, unsigned named)
{
	const Tiling *t = to->tile->tiling;
	for (int i = 0; i < t->rank; i++)
		if (!(named >> i & 1) && !one_tile_along(s, t, i) && !t->tensor->is_inout)
			return reject(s, to->loc, D_E0306,
				      "'%s' is written in a loop, and only at one of the tiles of "
				      "its mode %d: the others would hold anything\n"
				      "index it with a name of the grid or of a loop, or declare "
				      "'%s' inout: what is not written stays",
				      t->tensor->name, i, t->tensor->name);
	return true;
}

bool is_written_once(Sema *s, const Value *to)
{
	unsigned named = 0;
	if (s->groups.row)
		return reject(s, to->loc, D_E0301,
			      "not built yet: writing '%s' in a loop, where the grid is over "
			      "groups\nmove the statement after the loop",
			      to->tile->tiling->tensor->name);
	tiling_tensor(to->tile->tiling)->kept = true;
	return loops_fit(s, to, &named) && grid_names_fit(s, to, &named) &&
	       others_fit(s, to, named);
}
