/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* inside.c - whether a tile lies inside its tensor. A mode of stride 0 is in no tensor map: a tile
 * outside along it begins beyond the mode of stride 1, at a multiple of 16 bytes, and is zeros.
 *     tile %E (l + 1, m * 128, n * 64)                              of (L,M,N):(0,N,1)
 * ->  tile %E (l + 1, m * 128, max(n * 64, (L <= l + 1) * ((N + 127) / 128 * 128))) */
#include "passes/pass.h"

/* By its range, or by the let or the end of the loop that names it. */
static bool at_most(const Kernel *k, const Ix *x, const Ix *most)
{
	int64_t lo, hi;
	IxFacts facts = kernel_facts(k);
	ix_range(ix_simplify(k->ctx, ix_sub(k->ctx, most, x), facts), facts, &lo, &hi);
	if (lo >= 0 || x->kind == IX_MIN)
		return lo >= 0 || at_most(k, x->a, most) || at_most(k, x->b, most);
	for (const Op *op = kernel_first(k); op && x->kind == IX_SYM; op = op_next(op))
		if (op->nsym && op->sym[0] == x->name && op->kind == OP_LET)
			return at_most(k, op->ix[0], most);
		else if (op->nsym && op->sym[0] == x->name && op->kind == OP_FOR)
			return at_most(k, ix_sub(k->ctx, op->ix[1], ix_int(k, 1)), most);
	return false;
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
	const Layout *l = tile->in[0].val->type->layout;
	int fast = layout_map_modes(l).at[0];
	const Ix *unit = ix_int(k, TMA_STRIDE * 8), *end = extent_along(tile, fast);
	for (int i = 0; i < tile->nix; i++) {
		if (!ix_is(tup_get(l->stride, i)->leaf, 0) || tile_lies_inside(k, tile, i))
			continue;
		const Ix *out = ix_new(k->ctx, IX_LE, extent_along(tile, i), tile->ix[i]);
		out = ix_mul(k->ctx, ix_mul(k->ctx, out, unit), ix_ceil_div(k->ctx, end, unit));
		tile->ix[fast] = ix_new(k->ctx, IX_MAX, tile->ix[fast], out);
	}
}
