/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ways_map.c - whether a tensor map can bring a tile into a buffer. What only the launch can know,
 * the launcher checks.
 *     rows of 200 bytes            ->   no: "rows of B are 200 bytes apart, .."
 *     512 rows of a buffer         ->   no: "the TMA box of sA would have 512 rows; .."
 *     rows of K * 2 bytes          ->   yes */
#include "passes/ways.h"

static Fit refuse(Refusal *why, DiagId id, const char *text, const char *remedy)
{
	*why = (Refusal){id, text, remedy};
	return FIT_NO;
}

static Fit box_fits(const Copying *c, SlotForm f, Refusal *why)
{
	Ctx *ctx = c->k->ctx;
	int max = target_by_name(c->k->target)->box_max;
	if (f.rows <= max)
		return FIT_YES;
	return refuse(
		why, D_E0403,
		ctx_strf(ctx,
			 "the TMA box of %s would have %d rows; a box has at most %d elements a "
			 "mode",
			 c->op->in[0].val->name, f.rows, max),
		ctx_strf(ctx, "use a tile of at most %d rows", max));
}

/* Rows, or matrices of a batch, a number apart that no launch could take. */
static Fit strides_fit(const Copying *c, const Val *tile, Refusal *why)
{
	Ctx *ctx = c->k->ctx;
	const Val *tensor = tile->def->in[0].val;
	const Layout *l = tensor->type->layout;
	int bytes = elem_rows[tensor->type->elem].bits / 8;
	ModeList modes = layout_map_modes(l);
	for (int i = 1; i < modes.n; i++) {
		int mode = modes.at[i];
		const Ix *stride = tup_get(l->stride, mode)->leaf;
		bool row = mode == tile_mode(c->k, tile, 0) || mode == tile_mode(c->k, tile, 1);
		int64_t v = 0;
		if (tma_takes_stride(stride, bytes))
			continue;
		ix_is_const(stride, &v);
		return refuse(
			why, D_E0405,
			ctx_strf(ctx,
				 "%s of %s are %lld bytes apart, and TMA takes multiples of %d "
				 "above 0",
				 row ? "rows" : ctx_strf(ctx, "matrices along mode %d", mode),
				 tensor->name, (long long)v * bytes, TMA_STRIDE),
			ctx_strf(ctx, "give it %s that are a multiple of %d elements apart",
				 row ? "rows" : "matrices", TMA_STRIDE / bytes));
	}
	return FIT_YES;
}

/* Along which the map's box is wide: a mode of stride 0 is in no map. */
static Fit modes_fit(const Copying *c, const Val *tile, Refusal *why)
{
	Ctx *ctx = c->k->ctx;
	for (int i = 0; i < 2; i++)
		if (ix_is(tile_stride(c->k, tile, i), 0))
			return refuse(
				why, D_E0405,
				ctx_strf(ctx,
					 "rows of %s are 0 bytes apart, and TMA takes multiples "
					 "of %d above 0",
					 tile->def->in[0].val->name, TMA_STRIDE),
				ctx_strf(ctx,
					 "give it rows that are a multiple of %d elements apart",
					 TMA_STRIDE * 8 / elem_rows[tile->type->elem].bits));
	return FIT_YES;
}

/* The buffer's neighbours are the tensor's. */
static Fit side_by_side(const Copying *c, const Val *tile, SlotForm f, Refusal *why)
{
	if (ix_is(tile_stride(c->k, tile, f.fast), 1))
		return FIT_YES;
	return refuse(
		why, D_E0404,
		ctx_strf(c->k->ctx,
			 "%s has neighbours along %s side by side, %s has not, and TMA cannot "
			 "transpose",
			 c->op->in[0].val->name, f.fast ? "k" : "m or n",
			 tile->def->in[0].val->name),
		"give the buffer's extents alone; its layout follows the tensor's");
}

Fit fits_box(Copying *c, Refusal *why)
{
	SlotForm f;
	const Val *tile = c->op->in[1].val;
	const char *form = slot_form(c->k->ctx, c->op->in[0].val->type, &f);
	if (form)
		return refuse(why, D_E0404, form, NULL);
	Fit fit = box_fits(c, f, why);
	if (fit)
		fit = modes_fit(c, tile, why);
	if (fit)
		fit = strides_fit(c, tile, why);
	return fit ? side_by_side(c, tile, f, why) : fit;
}
