/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ways_rows.c - whether TMA brings rows that indices name, a box for each, where a program asks for
 * it. Lanes that copy are in the way of an mma, boxes are not; but where memory answers late, boxes
 * take much longer than lanes (docs/performance-diary.md).
 *     tma ld = load(A, sA), 128 rows         ->   yes: 128 boxes of the CTA
 *     the same in a cluster (1,2)            ->   yes: 64 boxes of each */
#include "passes/ways.h"
#include "passes/why.h"

#include <string.h>

enum { ROWS_MOST = GROUP_WARPS * INDICES_MOST /* of a CTA */ };

/* Another copy that threads make: of its ring nobody fills another CTA's slots. */
static bool copies_beside(const Copying *c)
{
	for (const Op *op = kernel_first(c->k); op; op = op_next(op)) {
		bool copy = op != c->op && op->kind == c->op->kind &&
			    op->in[0].val->type->space == SP_SHARED;
		if (op_done_by(op, DONE_BY_LANES) ||
		    (copy && (attrs_get(&op->attrs, A_VIA) || tile_indices(op->in[1].val))))
			return true;
	}
	return false;
}

/* A box of one row is one in memory, too. */
static bool rows_lie(const Copying *c, const Val *tile, SlotForm f)
{
	bool named =
		tile_mode(c->k, tile, 1 - f.fast) == attrs_int(&tile->def->attrs, A_GATHER, -1);
	return named && !tile->def->in[0].at && f.span <= target_by_name(c->k->target)->box_max &&
	       ix_is(tile_stride(c->k, tile, f.fast), 1) &&
	       !ix_is(tile_stride(c->k, tile, 1 - f.fast), 0);
}

static bool has_producer(const Kernel *k)
{
	return strcmp(attrs_str(&k->attrs, A_ROLES, "none"), "none") != 0;
}

/* Why TMA cannot bring them, however long it takes; NULL: it can. */
static const char *unfit(const Copying *c, const Val *tile, SlotForm *f)
{
	const char *form = slot_form(c->k->ctx, c->op->in[0].val->type, f);
	if (form)
		return form;
	if (!has_producer(c->k))
		return "TMA brings rows by indices to kernels with roles, in which warps of their "
		       "own load";
	if (copies_beside(c))
		return "TMA brings rows by indices where threads copy nothing beside it";
	if (f->swizzle != SWIZZLE_WIDEST || !rows_lie(c, tile, *f))
		return "TMA brings rows by indices in boxes of 128 bytes that lie side by side in "
		       "memory";
	if (units_bytes(c) != TMA_STRIDE)
		return "TMA brings rows by indices whose extent and distance are known to be "
		       "multiples of 16 bytes";
	return f->rows / slices_of(c->k, c->op) > ROWS_MOST
		       ? "TMA brings at most 128 rows by indices to a CTA"
		       : NULL;
}

Fit fits_rows(Copying *c, Refusal *why)
{
	SlotForm f;
	const Val *tile = c->op->in[1].val;
	if (!attrs_get(&c->op->attrs, A_VIA) || !tile_indices(tile))
		return FIT_NO;
	const char *not = unfit(c, tile, &f);
	if (not)
		return way_refuse(
			why, D_E0405, not,
			"leave the tma copy out: threads copy them; or give the schedule roles and "
			"a cluster whose CTAs share the rows");
	why_boxes(c->k, c->op, (int64_t)f.rows / slices_of(c->k, c->op) * f.cols / f.span);
	return FIT_YES;
}
