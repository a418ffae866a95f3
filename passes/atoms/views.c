/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* views.c - what views ask of their buffer's layout, and where they may begin. All readers of a
 * buffer read one layout: the swizzle is the widest that divides what each of them takes.
 *     sC : bf16 (64,576), read by rows as B, and columns 0 to 511 transposed as B, 256 at a time
 *  -> rows of 576, parts of 256: a swizzle of 128 bytes, 64 elements */
#include "passes/atoms/views.h"
#include "passes/pass.h"
#include "passes/why.h"

#include <inttypes.h>

static int divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return (int)a;
}

/* Rows or columns of the operand that one instruction reads, by its descriptor. */
static int64_t rows_at_once(const Kernel *k, const Op *mma, int i)
{
	TiledMma t = op_tiled_mma(k->ctx, mma);
	return i == 1 ? t.rows : t.cols;
}

/* Of what is no multiple of the narrowest swizzle, views_fit says so. */
static int side_within(int side, int64_t n, int64_t least)
{
	return n % least ? side : divisor(side, n);
}

static int side_with(const Kernel *k, const Op *mma, int i, int fast, int side)
{
	Window w = op_window(k->ctx, mma, i);
	bool held = atom_holds_b(attrs_get(&mma->attrs, A_ATOM)->atom);
	bool mn_major = !held && (fast == 0) != w.turned;
	int64_t least = elem_count(mma->in[i].val->type->elem, SWIZZLE_LEAST);
	if (mn_major)
		side = divisor(side, rows_at_once(k, mma, i));
	if (mn_major || held)
		side = side_within(side, w.at[fast], least);
	if (w.begin && w.moves == fast)
		side = side_within(side, ix_divisor(w.begin, kernel_facts(k)), least);
	return held ? side_within(side, w.n[fast], least) : side;
}

int side_of_readers(const Kernel *k, const Val *buffer, int fast)
{
	int side = val_extent(buffer, fast);
	for (const Op *op = kernel_mma(k, NULL); op; op = kernel_mma(k, op))
		for (int i = 1; i <= 2; i++)
			if (op->in[i].val == buffer)
				side = side_with(k, op, i, fast, side);
	return side;
}

/* ------------------------------------------------------------------ where they begin */
static const char *nearest(Kernel *k, int64_t at, int64_t step, int64_t most)
{
	int64_t below = at / step * step, above = below + step;
	return above <= most ? ctx_strf(k->ctx,
					"begin it at %" PRId64 " or at %" PRId64
					", the nearest multiples of %" PRId64,
					below, above, step)
			     : ctx_strf(k->ctx,
					"begin it at %" PRId64 ", the nearest multiple of %" PRId64,
					below, step);
}

static bool moves_fit(Kernel *k, const Op *mma, const Val *v, Window w, SlotForm f)
{
	int step = window_step(f, w, w.moves, 1);
	if (ix_divisor(w.begin, kernel_facts(k)) % step == 0)
		return true;
	diag(k->ctx, mma->loc, D_E0404,
	     "a view of %s begins at %s %s, which is not known to be a multiple of %d\n"
	     "begin it at such a multiple, as n * %d",
	     v->name, w.moves ? "column" : "row", ix_text(k->ctx, w.begin), step, step);
	return false;
}

static bool view_fits(Kernel *k, const Op *mma, int i)
{
	static const char *const modes[] = {"row", "column"};
	const Val *v = mma->in[i].val;
	Window w = op_window(k->ctx, mma, i);
	const AtomRow *atom = &atom_rows[attrs_get(&mma->attrs, A_ATOM)->atom.id];
	SlotForm f;
	if (slot_form(k->ctx, v->type, &f))
		return true; /* said of the buffer, or of the operand */
	if (w.begin && atom_holds_b(attrs_get(&mma->attrs, A_ATOM)->atom)) {
		diag(k->ctx, mma->loc, D_E0301,
		     "not built yet: a view of %s for %s that begins where an index says; wgmma "
		     "reads them",
		     v->name, atom->name);
		return false;
	}
	if (w.begin && !moves_fit(k, mma, v, w, f))
		return false;
	for (int m = 0; m < 2; m++) {
		int step = window_step(f, w, m, *atom->tv_b ? 0 : atom->k);
		if (w.at[m] % step == 0)
			continue;
		diag(k->ctx, mma->loc, D_E0404,
		     "a view of %s begins at %s %" PRId64 ", and %s reads %s buffers from "
		     "multiples of %d %ss on%s\n%s",
		     v->name, modes[m], w.at[m], atom->name, elem_rows[v->type->elem].name, step,
		     modes[m], w.turned ? ", transposed" : "",
		     nearest(k, w.at[m], step, val_extent(v, m) - w.n[m]));
		return false;
	}
	return true;
}

bool views_fit(Kernel *k)
{
	for (const Op *op = kernel_mma(k, NULL); op; op = kernel_mma(k, op))
		for (int i = 1; i <= 2; i++) {
			if (!op_window_attr(op, i))
				continue;
			if (!view_fits(k, op, i))
				return false;
			why_view(k, op->in[i].val, op_window(k->ctx, op, i));
		}
	return true;
}
