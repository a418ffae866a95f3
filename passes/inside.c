/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* inside.c - whether a tile lies inside its tensor. A mode of stride 0 is in no tensor map: where a
 * tile is outside along it, the tile begins where the mode of stride 1 ends, and TMA loads zeros.
 *     tile %E (l + 1, m * 128, n * 64)                              of (L,M,N):(0,N,1)
 * ->  tile %E (l + 1, m * 128, max(n * 64, (L <= l + 1) * N)) */
#include "passes/pass.h"

static const Op *op_of_name(const Kernel *k, const char *name)
{
	const Op *op = kernel_first(k);
	while (op && ((op->kind != OP_LET && op->kind != OP_FOR) || op->sym[0] != name))
		op = op_next(op);
	return op;
}

/* By its range, or the bound in the loop or the let that defines it. */
static bool at_most(const Kernel *k, const Ix *x, const Ix *most)
{
	int64_t lo, hi;
	ix_range(ix_simplify(k->ctx, ix_sub(k->ctx, most, x), kernel_facts(k)), kernel_facts(k),
		 &lo, &hi);
	if (lo >= 0)
		return true;
	if (x->kind == IX_MIN)
		return at_most(k, x->a, most) || at_most(k, x->b, most);
	const Op *op = x->kind == IX_SYM ? op_of_name(k, x->name) : NULL;
	if (!op)
		return false;
	return at_most(k, op->kind == OP_LET ? op->ix[0] : ix_sub(k->ctx, op->ix[1], ix_int(k, 1)),
		       most);
}

const Ix *extent_along(const Op *tile, int mode)
{
	return tup_get(tile->in[0].val->type->layout->shape, mode)->leaf;
}

bool tile_lies_inside(const Kernel *k, const Op *tile, int mode)
{
	const Ix *part = tup_get(tile->out->type->layout->shape, mode)->leaf;
	return at_most(k, tile->ix[mode], ix_sub(k->ctx, extent_along(tile, mode), part));
}

void tile_outside_map(Kernel *k, Op *tile)
{
	Ctx *c = k->ctx;
	const Layout *l = tile->in[0].val->type->layout;
	int fast = layout_map_modes(l).at[0];
	for (int i = 0; i < tile->nix; i++) {
		if (!ix_is(tup_get(l->stride, i)->leaf, 0) || tile_lies_inside(k, tile, i))
			continue;
		const Ix *end = extent_along(tile, fast);
		const Ix *outside = ix_new(c, IX_LE, extent_along(tile, i), tile->ix[i]);
		tile->ix[fast] = ix_new(c, IX_MAX, tile->ix[fast], ix_mul(c, outside, end));
	}
}
