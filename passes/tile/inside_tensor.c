/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* inside_tensor.c - whether a tile lies inside its tensor. A mode of stride 0 is in no tensor map:
 * a tile outside along it begins beyond the mode of stride 1, at a multiple of 16 bytes, and is
 * zeros.
 *     tile %E (l + 1, m * 128, n * 64)                              of (L,M,N):(0,N,1)
 * ->  tile %E (l + 1, m * 128, max(n * 64, (L <= l + 1) * ((N + 127) / 128 * 128))) */
#include "passes/pass.h"

/* By its range, or by the let or the end of the loop that names it. */
static bool at_most(const Kernel *k, const Ix *x, const Ix *most)
{
	IxFacts facts = kernel_facts(k);
	if (ix_least(ix_simplify(k->ctx, ix_sub(k->ctx, most, x), facts), facts) >= 0)
		return true;
	if (x->kind == IX_MIN)
		return at_most(k, x->a, most) || at_most(k, x->b, most);
	for (const Op *op = kernel_first(k); op && x->kind == IX_SYM; op = op_next(op))
		if (op->nsym && op->sym[0] == x->name && op->kind == OP_LET)
			return at_most(k, IX(op, VALUE), most);
		else if (op->nsym && op->sym[0] == x->name && op->kind == OP_FOR)
			return at_most(k, ix_sub(k->ctx, IX(op, TO), ix_int(k, 1)), most);
	return false;
}

Op *tile_of(const Val *v)
{
	return v->def && v->def->kind == OP_TILE ? v->def : NULL;
}

/* The tensor's, along one of its modes. */
static const Ix *extent_along(const Kernel *k, const Op *tile, int mode)
{
	return tup_product(k->ctx, tup_get(IN(tile, OF).val->type->layout->shape, mode));
}

bool tile_lies_inside(const Kernel *k, const Op *tile, int mode)
{
	const Ix *part = tup_get(tile->out->type->layout->shape, mode)->leaf;
	return at_most(k, tile->ix[mode], ix_sub(k->ctx, extent_along(k, tile, mode), part));
}

/* Whether the tile begins and ends along a mode as the other does along one of its own, or as the
 * indices that name the other's rows. */
static bool ends_alike(const Kernel *k, const Op *tile, int mode, const Op *other)
{
	const Tup *parts = tile->out->type->layout->shape;
	for (int i = 0; i < other->nix; i++)
		if (tile->ix[mode] == other->ix[i] &&
		    extent_along(k, tile, mode) == extent_along(k, other, i) &&
		    tup_get(parts, mode)->leaf == tup_get(other->out->type->layout->shape, i)->leaf)
			return true;
	return HAS_IN(other, INDEX) && ends_alike(k, tile, mode, IN(other, INDEX).val->def);
}

/* A value for each row or column: the view of its tensor has one more mode, of one element. Views
 * with the modes in another order, or in parts, have as many. */
static bool is_of_vector(const Kernel *k, const Op *tile)
{
	const Val *tensor = IN(tile, OF).val, *arg = tensor_arg(tensor);
	return tup_rank(tup_flatten(k->ctx, tensor->type->layout->shape)) >
	       tup_rank(tup_flatten(k->ctx, arg->type->layout->shape));
}

bool tile_ends_as_outputs(const Kernel *k, const Op *tile, int mode)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op)) {
		bool stores = (op->kind == OP_COPY || op->kind == OP_STORE) && !combine_of(op) &&
			      IN(op, TO).val->type->space == SP_GLOBAL;
		const Op *out = stores ? tile_of(IN(op, TO).val) : NULL;
		if (out && !is_of_vector(k, out) && !ends_alike(k, tile, mode, out))
			return false;
	}
	return true;
}

/* The mode of stride 1. */
static int unit_mode(const Op *tile)
{
	const Layout *l = IN(tile, OF).val->type->layout;
	return layout_part(l, layout_map_modes(l).at[0]).mode;
}

/* Where a condition holds, the tile begins beyond that many elements of the mode of stride 1. */
static void begin_beyond(Kernel *k, Op *tile, const Ix *outside, const Ix *end)
{
	Ctx *c = k->ctx;
	const Ix *unit = ix_int(k, TMA_STRIDE * 8);
	const Ix **at = &tile->ix[unit_mode(tile)];
	*at = ix_new(c, IX_MAX, *at,
		     ix_mul(c, ix_mul(c, outside, unit), ix_ceil_div(c, end, unit)));
}

void tile_outside_map(Kernel *k, Op *tile)
{
	const Layout *l = IN(tile, OF).val->type->layout;
	const Ix *end = extent_along(k, tile, unit_mode(tile));
	for (int i = 0; i < tile->nix; i++)
		if (tup_is_leaf(tup_get(l->stride, i)) && ix_is(tup_get(l->stride, i)->leaf, 0) &&
		    !tile_lies_inside(k, tile, i))
			begin_beyond(k, tile,
				     ix_new(k->ctx, IX_LE, extent_along(k, tile, i), tile->ix[i]),
				     end);
}

void tile_outside_empty(Kernel *k, Op *tile)
{
	const Ix *one = ix_int(k, 1);
	for (int i = 0; i < tile->nix; i++) {
		const Ix *extent = extent_along(k, tile, i);
		if (!at_most(k, one, extent) && !tile_ends_as_outputs(k, tile, i))
			begin_beyond(k, tile, ix_new(k->ctx, IX_LT, extent, one), one);
	}
}
