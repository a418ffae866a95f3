/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify_joins.c - a kernel that is deterministic adds to each element of an output once: what is
 * added in any order differs in its last bits from run to run. Sums alone: max and min have one
 * result. As long as the grid is a loop, and of what each warp has of a tile until it is reduced.
 *     grid m, n (8, 4) {
 *       %t = tile %S (m * 64, 0) : global f32 (64,1):(1,0)
 *       copy %t, %r combine=sum      ->  tiles that differ in 'n' add to one element
 *     } */
#include "ir/verify_rules.h"

/* Whether the tile is another for each value of the name. */
static bool tells_apart(const Kernel *k, const Op *tile, const char *name)
{
	Ctx *c = k->ctx;
	const Layout *l = tile->out->type->layout;
	bool found = false;
	for (int i = 0; i < tile->nix && i < layout_rank(l); i++) {
		const Ix *extent = layout_size(c, layout_mode(c, l, i));
		found |= tile->ix[i] == ix_mul(c, ix_sym(c, name), extent);
	}
	return found;
}

/* The names of a grid over groups go together: where a tile is one of a group's rows, and ends
 * where the group does, it is another for each. */
static bool is_of_group(const Kernel *k, const Op *grid, const Op *tile)
{
	const Ix *row = ix_sym(k->ctx, grid->sym[1]), *end = ix_sym(k->ctx, grid->sym[2]);
	const Layout *l = tile->out->type->layout;
	for (int i = 0; i < tile->nix && i < layout_rank(l); i++)
		if (IN(tile, OF).at == end && tile->ix[i] == row &&
		    ix_is(layout_size(k->ctx, layout_mode(k->ctx, l, i)),
			  attrs_int(&grid->attrs, A_ROWS, 0)))
			return true;
	return false;
}

/* The first name of the grid that has several values and does not; NULL: none. */
static const char *shared_by(const Kernel *k, const Op *grid, const Op *tile)
{
	bool together = grid->nin && tile && is_of_group(k, grid, tile);
	for (int i = together ? 3 : 0; i < grid->nsym && i < grid->nix; i++)
		if (ix_most(grid->ix[i], kernel_facts(k)) > 1 &&
		    !(tile && tells_apart(k, tile, grid->sym[i])))
			return grid->sym[i];
	return NULL;
}

const char *tiles_share(const Kernel *k, const Op *op, const Val *tile)
{
	const Op *grid = op_around(op, OP_GRID);
	bool cut = tile->def && tile->def->kind == OP_TILE;
	return grid ? shared_by(k, grid, cut ? tile->def : NULL) : NULL;
}

static const Ix *elements(const Kernel *k, const Val *v)
{
	return layout_size(k->ctx, v->type->layout);
}

const char *rule_joins_in_order(const Kernel *k, const Op *op)
{
	const CombineRow *by = combine_of(op);
	if (!by || k->stage == ST_PTX || !elt_by_op(by->op)->error.rounds ||
	    !elem_is_float(IN(op, TO).val->type->elem) || !attrs_int(&k->attrs, A_DETERMINISTIC, 0))
		return NULL;
	const Val *to = IN(op, TO).val;
	if (elements(k, to) != elements(k, IN(op, FROM).val))
		return "warps add to one element in any order, and the kernel is deterministic";
	if (to->def && to->def->kind == OP_TILE && HAS_IN(to->def, INDEX))
		return "rows that indices name may repeat, and the kernel is deterministic";
	const char *name = tiles_share(k, op, to);
	if (!name)
		return NULL;
	return ctx_strf(k->ctx,
			"tiles that differ in '%s' add to one element in any order, and the kernel "
			"is deterministic",
			name);
}
