/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* copy_match.c - which rows of atoms.def copy registers to or from a slot. The thread-value layout
 * of the registers, composed with the slot's, says where in the slot each thread has what; an atom
 * copies them where that contains the atom's own form.
 *     lanes ((4,8)):((2,64)), values ((2,2)):((1,512))   ->   rows of 8: stmatrix; pairs: st.shared
 *     lanes ((4,8)):((128,1)), values ((2,2)):((64,8))   ->   stmatrix.trans; single elements */
#include "passes/smem/offset.h"

/* NULL: there is no such layout. */
static const Layout *compose(Ctx *c, const Layout *a, const Layout *b)
{
	const char *why = NULL;
	return a && b ? layout_composition(c, a, b, &why) : NULL;
}

/* extent elements, so far apart */
static const Layout *run(Ctx *c, int64_t extent, int64_t stride)
{
	return layout_new(c, tup_int(c, extent), tup_int(c, stride));
}

static const Layout *both(Ctx *c, const Layout *a, const Layout *b)
{
	const Layout *modes[2] = {a, b};
	return layout_cat(c, modes, 2);
}

/* ------------------------------------------------------------------ what threads hold */
/* The slot as the tile sees it: of a tile of several warpgroups each has a slot of its own, so what
 * is beyond the slot's extents is there again; of a vector's slot it may be a part. NULL: no
 * whole number of times. */
static const Layout *slot_of_tile(Ctx *c, const Type *buffer, const Type *frag, bool columns)
{
	const Layout *plain = layout_new(c, buffer->layout->shape, buffer->layout->stride);
	const Layout *modes[2];
	for (int i = 0; i < 2; i++) {
		int64_t all = layout_size_int(layout_mode(c, frag->layout, i)), one;
		modes[i] = layout_mode(c, plain, columns ? 1 - i : i);
		one = layout_size_int(modes[i]);
		bool first = all < one && !buffer->layout->swizzle.b;
		if (all < one ? !first || one % all : all % one)
			return NULL;
		modes[i] = all < one ? compose(c, modes[i], run(c, all, 1))
				     : both(c, modes[i], run(c, all / one, 0));
	}
	return layout_cat(c, modes, 2);
}

const char *spread_in_slot(Kernel *k, const Type *buffer, const Type *frag, bool columns,
			   Spread *out)
{
	Ctx *c = k->ctx;
	const Layout *at = compose(c, slot_of_tile(c, buffer, frag, columns), frag->tv);
	const Layout *threads = at ? layout_mode(c, at, 0) : NULL;
	int64_t warps = at ? layout_size_int(threads) / WARP_THREADS : 0;
	const Layout *others = run(c, target_by_name(k->target)->max_threads, 0);
	if (!at)
		return "the tile in registers is no whole number of the buffer's";
	if (warps < 1 || layout_size_int(threads) % WARP_THREADS)
		return "the tile in registers is not spread over whole warps";
	*out = (Spread){.lanes = compose(c, threads, run(c, WARP_THREADS, 1)),
			.warps = compose(c, threads, run(c, warps, WARP_THREADS)),
			.values = layout_coalesce(c, layout_mode(c, at, 1))};
	if (!out->lanes || !out->warps)
		return "the tile in registers is not spread alike over all warps";
	out->warps = layout_coalesce(c, both(c, out->warps, others));
	return NULL;
}

const char *spread_of_copy(Kernel *k, const Op *op, Spread *out)
{
	int regs = IN(op, TO).val->type->space != SP_REG;
	const Type *slot = op->in[1 - regs].val->type, *frag = op->in[regs].val->type;
	int64_t skip = attrs_int(&op->attrs, A_SKIP, 0);
	if (op_window_attr(op, 1))
		slot = window_slot(k->ctx, slot, op_window(k->ctx, op, 1), &skip);
	if (!slot)
		return "the view is no whole number of rows of its buffer's swizzle";
	const char *why = spread_in_slot(k, slot, frag, attrs_int(&op->attrs, A_TRANS, 0), out);
	out->skip = skip;
	return why;
}

int spread_values(Ctx *c, const Spread *h)
{
	return (int)layout_size_int(layout_coalesce(c, layout_filter_zeros(c, h->values)));
}

/* ------------------------------------------------------------------ what atoms want */
static const Ix *rest_of(Ctx *c, void *user, const Ix *stride)
{
	return ix_mod(c, stride, ix_const(c, *(int64_t *)user));
}

static bool all_divide(Ctx *c, const Layout *l, int64_t by)
{
	const Layout *rest = layout_new(c, l->shape, tup_map(c, l->stride, rest_of, &by));
	return layout_cosize_int(rest) == 1;
}

/* Of one part, by column + row * columns: the lane and the register that hold it, as lane + 32 *
 * register. */
static const Layout *holders(Ctx *c, const Layout *form)
{
	const char *why = NULL;
	int64_t threads = layout_size_int(layout_mode(c, form, 0));
	int64_t values = layout_size_int(layout_mode(c, form, 1));
	const Layout *back = layout_right_inverse(c, form, &why);
	if (!back)
		panic("atoms.def: %s", why);
	return compose(c, both(c, run(c, threads, 1), run(c, values, WARP_THREADS)), back);
}

/* Where the lanes' addresses are: one after the other the rows of all parts; or each lane's own. */
static const Layout *addresses(Ctx *c, const CopyRow *row, const Layout *form, const Spread *h,
			       const Layout *held)
{
	int64_t threads = layout_size_int(layout_mode(c, form, 0)), size = layout_size_int(form);
	int64_t rows = size / row->columns, parts = row->regs * threads / size;
	if (threads == 1)
		return h->lanes;
	const Layout *first = compose(c, holders(c, form), run(c, rows, row->columns));
	const Layout *more = run(c, parts, WARP_THREADS * size / threads);
	const Layout *again = run(c, WARP_THREADS / (rows * parts), 0);
	const Layout *rows_at = first ? compose(c, held, both(c, first, more)) : NULL;
	return rows_at ? layout_coalesce(c, both(c, rows_at, again)) : NULL;
}

static bool match(Ctx *c, const CopyRow *row, const Spread *h, CopyMatch *out)
{
	const Layout *held = both(c, h->lanes, h->values), *form = copy_tv(c, row);
	if (row->regs > spread_values(c, h))
		return false;
	const Layout *part = compose(c, held, holders(c, form));
	for (int i = 0; i < row->columns; i++)
		if (!part || layout_at_int(part, i) != i)
			return false;
	*out = (CopyMatch){row, addresses(c, row, form, h, held)};
	return out->lanes && all_divide(c, out->lanes, row->columns) &&
	       all_divide(c, h->warps, row->columns);
}

CopyMatches copy_matches(Kernel *k, const Spread *h, OpKind of, int bits)
{
	CopyMatches all = {.n = 0};
	for (int id = 0; id < COPY_COUNT; id++) {
		const CopyRow *row = &copy_rows[id];
		if (row->of == (int)of && target_has(k->target, feature_of_op((OpKind)row->op)) &&
		    (!row->bits || row->bits == bits) && row->regs * bits % 8 == 0 &&
		    match(k->ctx, row, h, &all.at[all.n]))
			all.n++;
	}
	return all;
}

/* Registers from `reg` on lie to each other as the first ones do. */
static bool takes(const CopyRow *row, const Spread *h, int reg)
{
	int64_t first = layout_at_int(h->values, reg);
	for (int i = 1; i < row->regs; i++)
		if (layout_at_int(h->values, reg + i) != first + layout_at_int(h->values, i))
			return false;
	return first % row->columns == 0;
}

const CopyMatch *copy_first(const CopyMatches *m, const Spread *h, int reg, int regs)
{
	for (int i = 0; i < m->n; i++)
		if (reg + m->at[i].row->regs <= regs && takes(m->at[i].row, h, reg))
			return &m->at[i];
	return NULL;
}
