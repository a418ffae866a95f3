/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* copy_rows.c - whether TMA brings rows that indices name, a box for each, where a program asks for
 * it. Lanes that copy are in the way of an mma, boxes are not; but a box of no row takes five times
 * as long as one of a row, and how many indices name none is data (tests/gpu/records/hardware.md).
 *     tma ld = load(A, sA), 128 rows         ->   yes: 128 boxes of the CTA
 *     the same in a cluster (1,2)            ->   yes: 64 boxes of each */
#include "passes/atoms/copy_choice.h"
#include "passes/why.h"

#include <string.h>

enum { ROWS_MOST = GROUP_WARPS * INDICES_MOST /* of a CTA */ };

static const char by_threads[] = "leave the tma copy out: threads copy them";

/* Another copy of rows by indices, or by threads: of its ring nobody fills another CTA's slots. */
static const Op *copy_beside(const Copying *c)
{
	for (const Op *op = kernel_first(c->k); op; op = op_next(op)) {
		bool copy = op != c->op && op->kind == c->op->kind &&
			    IN(op, TO).val->type->space == SP_SHARED;
		if (op_done_by(op, DONE_BY_LANES) || op_loads_rows(op) ||
		    (copy && (attrs_get(&op->attrs, A_VIA) || tile_indices(IN(op, FROM).val))))
			return op;
	}
	return NULL;
}

static bool by_tma(const Op *op)
{
	return op_loads_rows(op) ||
	       !strcmp(attrs_str(&op->attrs, A_VIA, ""), way_rows[WAY_TMA_ROWS].words);
}

static Fit not_beside(Copying *c, const Op *other, Refusal *why)
{
	const char *name = IN(other, TO).val->name;
	if (by_tma(other))
		return way_refuse(
			c, why, D_E0405,
			"TMA brings rows by indices to one buffer of a kernel, and %s is another\n"
			"leave the tma copies out: threads copy both",
			name);
	return way_refuse(c, why, D_E0405,
			  "TMA brings rows by indices where threads copy nothing beside it, and "
			  "they copy %s\n"
			  "%s",
			  name, by_threads);
}

/* Why a row is no box, in memory or in the buffer; NULL: it is. */
static const char *not_a_box(const Copying *c, const Val *tile, SlotForm f)
{
	Ctx *ctx = c->k->ctx;
	const char *to = IN(c->op, TO).val->name, *of = IN(tile->def, OF).val->name;
	if (f.swizzle != SWIZZLE_WIDEST)
		return ctx_strf(ctx,
				"boxes of rows by indices are 128 bytes wide, and the swizzle of "
				"%s is of %d",
				to, f.swizzle);
	if (IN(tile->def, OF).at)
		return ctx_strf(ctx,
				"%s ends where a group does, where no box of a row by indices ends",
				of);
	if (tile_mode(c->k, tile, 1 - f.fast) != attrs_int(&tile->def->attrs, A_GATHER, -1) ||
	    !ix_is(tile_stride(c->k, tile, f.fast), 1))
		return ctx_strf(ctx,
				"rows of %s, which indices name, lie side by side in memory along "
				"another mode than in %s",
				of, to);
	return ix_is(tile_stride(c->k, tile, 1 - f.fast), 0)
		       ? ctx_strf(ctx, "rows of %s are 0 bytes apart, which TMA does not take", of)
		       : NULL;
}

/* Of rows and of what they share: how many, and of how many bytes. */
static Fit rows_fit(Copying *c, SlotForm f, Refusal *why)
{
	int rows = f.rows / slices_of(c->k, c->op);
	if (units_bytes(c) != TMA_STRIDE)
		return way_refuse(
			c, why, D_E0405,
			"TMA brings rows by indices whose extent and distance are known to be "
			"multiples of 16 bytes\n"
			"say so in a where clause, or leave the tma copy out: threads copy them");
	if (rows <= ROWS_MOST)
		return FIT_YES;
	return way_refuse(c, why, D_E0405,
			  "TMA brings at most %d rows by indices to a CTA, and this one has %d\n"
			  "give the schedule a cluster whose CTAs share the rows; or leave the tma "
			  "copy out: threads copy them",
			  ROWS_MOST, rows);
}

Fit fits_rows(Copying *c, Refusal *why)
{
	SlotForm f;
	const Val *tile = IN(c->op, FROM).val;
	if (!attrs_get(&c->op->attrs, A_VIA) || !tile_indices(tile))
		return FIT_NO;
	const Op *other = copy_beside(c);
	const char *not = slot_form(c->k->ctx, IN(c->op, TO).val->type, &f);
	if (!kernel_has_roles(c->k))
		return way_refuse(
			c, why, D_E0405,
			"TMA brings rows by indices to kernels with roles, in which warps of their "
			"own load\n"
			"give the schedule roles; or leave the tma copy out: threads copy them");
	if (other)
		return not_beside(c, other, why);
	if (!not)
		not = not_a_box(c, tile, f);
	if (not)
		return way_refuse(c, why, D_E0405,
				  "%s\n"
				  "%s",
				  not, by_threads);
	if (!rows_fit(c, f, why))
		return FIT_NO;
	why_boxes(c->k, c->op, (int64_t)f.rows / slices_of(c->k, c->op) * f.cols / f.span);
	return FIT_YES;
}
