/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* copy_by_threads.c - whether threads can copy a tile into a buffer, and how many bytes at a time:
 * so many lie side by side in both, begin at a multiple of their number, are in the tensor
 * together.
 *     rows of K elements of 2 bytes, K % 8 == 0   ->   yes, 16
 *     nothing known of K                          ->   no: "rows of B are not known to be .." */
#include "passes/atoms/copy_choice.h"

/* Whether rows begin, and end, at multiples of so many elements. */
static bool in_units(const Kernel *k, const Val *tile, int fast, int n)
{
	const Layout *tensor = IN(tile->def, OF).val->type->layout;
	const Ix *extent = tup_product(k->ctx, tup_get(tensor->shape, fast));
	return strides_are_multiples(k, tensor, fast, n) &&
	       ix_divisor(extent, kernel_facts(k)) % n == 0;
}

static bool moves(const Copying *c, const CopyRow *row, SlotForm f)
{
	const Val *tile = IN(c->op, FROM).val;
	int bits = elem_rows[tile->type->elem].bits,
	    asked = (int)attrs_int(&c->op->attrs, A_BYTES, 0);
	return row->n * 8 >= bits && (!asked || row->n == asked) &&
	       in_units(c->k, tile, tile_mode(c->k, tile, f.fast), row->n * 8 / bits);
}

int units_bytes(const Copying *c)
{
	SlotForm f;
	if (slot_form(c->k->ctx, IN(c->op, TO).val->type, &f))
		return 0;
	for (int id = 0; id < COPY_COUNT; id++)
		if (copy_rows[id].of == (int)way_rows[WAY_CP_ASYNC].first &&
		    moves(c, &copy_rows[id], f))
			return copy_rows[id].n;
	return 0;
}

static Fit not_in_units(const Copying *c, SlotForm f, Refusal *why)
{
	const Val *tile = IN(c->op, FROM).val;
	int asked = (int)attrs_int(&c->op->attrs, A_BYTES, 0);
	int bytes = asked ? asked : 4, n = bytes * 8 / elem_rows[tile->type->elem].bits;
	return way_refuse(c, why, D_E0405,
			  "%s of %s are not known to begin and end at multiples of %d bytes, which "
			  "cp.async copies at a time\n"
			  "say in a where clause that the extent along them, and their distance, "
			  "are multiples of %d%s",
			  f.fast ? "rows" : "columns", IN(tile->def, OF).val->name, bytes,
			  n ? n : 1, tile_indices(tile) ? "" : ", or leave the copy to TMA");
}

/* Whether wgmma reads the buffer as it is: tensor cores cut off what is after the bits of tf32. */
static bool is_cut(const Copying *c)
{
	const Val *slot = IN(c->op, TO).val;
	if (slot->type->elem != EL_TF32)
		return false;
	for (const Op *op = kernel_mma(c->k, NULL); op; op = kernel_mma(c->k, op))
		if (IN(op, A).val == slot || IN(op, B).val == slot)
			return true;
	return false;
}

static Fit not_rounded(const Copying *c, const Val *tile, Refusal *why)
{
	bool tma = target_has(c->k->target, FT_TMA) && !tile_indices(tile);
	return way_refuse(c, why, D_E0405,
			  "%s is f32 in memory and rounded to tf32 on its way in, which cp.async "
			  "does not do\n"
			  "%s",
			  IN(tile->def, OF).val->name,
			  tma ? "leave the copy to TMA, which rounds"
			      : "multiply it by mma_sync, which reads rounded registers");
}

Fit fits_units(Copying *c, Refusal *why)
{
	SlotForm f;
	const Val *tile = IN(c->op, FROM).val;
	const char *form = slot_form(c->k->ctx, IN(c->op, TO).val->type, &f);
	if (!attrs_get(&c->op->attrs, A_VIA) && !tile_indices(tile) &&
	    target_has(c->k->target, FT_TMA))
		return FIT_NO; /* only where the program says so, or nothing else can */
	if (form)
		return way_refuse(c, why, D_E0404, "%s", form);
	if (is_cut(c))
		return not_rounded(c, tile, why);
	if (!f.swizzle || !ix_is(tile_stride(c->k, tile, f.fast), 1))
		return way_refuse(
			c, why, D_E0404,
			"%s has neighbours along %s side by side, %s has not, and cp.async copies "
			"neighbours\n"
			"give the buffer's extents alone; its layout follows the tensor's",
			IN(c->op, TO).val->name, f.fast ? "k" : "m or n",
			IN(tile->def, OF).val->name);
	return units_bytes(c) ? FIT_YES : not_in_units(c, f, why);
}
