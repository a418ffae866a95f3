/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* copy_source.c - whether TMA can load a tensor that an epilogue reads into shared memory, chunk
 * by chunk.
 *     C : f32 (M,N):(ldc,1), ldc a multiple of 4   ->   yes
 *     C : s8 (M,N):(N,1), chunks of 40 columns     ->   no: "a chunk's rows of 40 bytes are not a
 *                                                       multiple of 16" */
#include "ir/schedule.h"
#include "passes/epilogue/epilogue.h"

/* Columns that each thread can load from anywhere go by TMA only where it is sure to take them. */
bool is_sure(const Kernel *k, const Ix *stride, int bytes)
{
	return ix_divisor(stride, kernel_facts(k)) * bytes % TMA_STRIDE == 0;
}

/* Matrices of a batch lie where TMA can take them. */
static bool strides_fit(const Kernel *k, const Val *tile)
{
	const Layout *l = layout_flat(k->ctx, IN(tile->def, OF).val->type->layout);
	ModeList modes = layout_map_modes(l);
	for (int i = 1; i < modes.n; i++)
		if (!tma_takes_stride(tup_get(l->stride, modes.at[i])->leaf,
				      elem_rows[tile->type->elem].bits / 8))
			return false;
	return true;
}

/* What TMA does not take the launcher copies, but not what is read and written in one place: this
 * is sure to lie where TMA can load and store it, or each thread loads its elements. */
static bool stays_in_place(const Epilogue *e, const Val *tile, int fast)
{
	const Val *tensor = IN(tile->def, OF).val, *arg = tensor_arg(tensor);
	int bytes = elem_rows[tile->type->elem].bits / 8;
	const Layout *l = layout_flat(e->k->ctx, tensor->type->layout);
	ModeList modes = layout_map_modes(l);
	if (!e->k->args.at[arg->arg].is_out)
		return true;
	bool sure = is_sure(e->k, tile_extent(e->k, tile, fast), bytes);
	for (int i = 1; i < modes.n; i++)
		sure &= is_sure(e->k, tup_get(l->stride, modes.at[i])->leaf, bytes);
	return sure;
}

/* A chunk of the source in a slot, for all warpgroups: as its neighbours lie in memory. */
SlotForm source_form(const Epilogue *e, const Val *tile)
{
	int bytes = elem_rows[tile->type->elem].bits / 8;
	int fast = !ix_is(tile_stride(e->k, tile, 0), 1), n[2] = {e->rows * e->t.along_m, e->cols};
	return slot_rows(fast, n[1 - fast], n[fast], bytes);
}

/* TMA begins at multiples of 16 bytes of the mode of stride 1. */
bool begins_anywhere(const Kernel *k, const Val *tile, int fast)
{
	return tile_end_mode(k, tile) == tile_mode(k, tile, fast);
}

/* Neighbours are contiguous, in whole spans of a swizzle, and rows of them lie where TMA can take
 * them; one copy serves all warpgroups where these lie side by side along m. */
Fit fits_source(Copying *c, Refusal *why)
{
	const Epilogue *e = c->e;
	const Val *tile = IN(c->op, FROM).val;
	int bytes = elem_rows[tile->type->elem].bits / 8;
	SlotForm f = source_form(e, tile);
	if (val_is_vector(IN(c->op, TO).val))
		return fits_vector(c, why);
	if (e->t.along_n != 1)
		why->text = "warpgroups lie side by side along n";
	else if (!ix_is(tile_stride(e->k, tile, f.fast), 1))
		why->text = NO_LINES;
	else if (!tile_is_box(e->k, tile, 1 - f.fast, f.rows))
		why->text = NO_BOX;
	else if (!tma_takes_stride(tile_stride(e->k, tile, 1 - f.fast), bytes) ||
		 !strides_fit(e->k, tile))
		why->text = "its strides are not multiples of 16 bytes";
	else if (f.fast == 0 && !is_sure(e->k, tile_stride(e->k, tile, 1), bytes))
		why->text = "only the launch knows whether TMA takes its columns";
	else if (!stays_in_place(e, tile, f.fast))
		why->text = "only the launch knows whether TMA takes its rows, and it is inout";
	else if (f.span != f.cols && f.swizzle != SWIZZLE_WIDEST)
		why->text = "a chunk's rows are not whole spans of a swizzle";
	else if (f.cols * bytes % TMA_STRIDE)
		why->text =
			ctx_strf(e->k->ctx, "a chunk's rows of %d bytes are not a multiple of 16",
				 f.cols * bytes);
	else if (begins_anywhere(e->k, tile, f.fast))
		why->text = BEGINS_ANYWHERE;
	return why->text ? FIT_NO : FIT_YES;
}
