/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* copy_by_tma.c - whether a tensor map can bring a tile into a buffer. What only the launch can
 * know, the launcher checks; a tensor that lies where TMA cannot take it, it copies first.
 *     rows 0 bytes apart           ->   no: "rows of B are 0 bytes apart, .."
 *     512 rows of a buffer         ->   no: "the TMA box of sA would have 512 rows; .."
 *     rows of K * 2 or 200 bytes   ->   yes */
#include "passes/atoms/copy_choice.h"

/* A span is at most 128 bytes, which a box of any element type holds. */
static Fit box_fits(const Copying *c, SlotForm f, Refusal *why)
{
	int max = target_by_name(c->k->target)->box_max;
	const Val *tile = IN(c->op, FROM).val;
	if (!tile_is_box(c->k, tile, 1 - f.fast, f.rows))
		return way_refuse(c, why, D_E0405,
				  "rows of %s begin or end within a part of a mode",
				  IN(tile->def, OF).val->name);
	if (f.rows <= max)
		return FIT_YES;
	return way_refuse(
		c, why, D_E0403,
		"the TMA box of %s would have %d rows; a box has at most %d elements a mode\n"
		"use a tile of at most %d rows",
		IN(c->op, TO).val->name, f.rows, max, max);
}

/* Along which the map's box is wide: a mode of stride 0 is in no map. */
static Fit modes_fit(const Copying *c, const Val *tile, Refusal *why)
{
	for (int i = 0; i < 2; i++)
		if (ix_is(tile_stride(c->k, tile, i), 0))
			return way_refuse(c, why, D_E0405,
					  "rows of %s are 0 bytes apart, which TMA does not take\n"
					  "give it rows that are apart, best by a multiple of %d "
					  "elements: others are copied before each launch",
					  IN(tile->def, OF).val->name,
					  TMA_STRIDE * 8 / elem_rows[tile->type->elem].bits);
	return FIT_YES;
}

/* The buffer's neighbours are the tensor's. */
static Fit side_by_side(const Copying *c, const Val *tile, SlotForm f, Refusal *why)
{
	if (ix_is(tile_stride(c->k, tile, f.fast), 1))
		return FIT_YES;
	return way_refuse(
		c, why, D_E0404,
		"%s has neighbours along %s side by side, %s has not, and TMA cannot transpose\n"
		"give the buffer's extents alone; its layout follows the tensor's",
		IN(c->op, TO).val->name, f.fast ? "k" : "m or n", IN(tile->def, OF).val->name);
}

Fit fits_box(Copying *c, Refusal *why)
{
	SlotForm f;
	const Val *tile = IN(c->op, FROM).val;
	if (tile_indices(tile))
		return FIT_NO; /* a box is of rows one after the other */
	const char *form = slot_form(c->k->ctx, IN(c->op, TO).val->type, &f);
	if (form)
		return way_refuse(c, why, D_E0404, "%s", form);
	Fit fit = box_fits(c, f, why);
	if (fit)
		fit = modes_fit(c, tile, why);
	return fit ? side_by_side(c, tile, f, why) : fit;
}
