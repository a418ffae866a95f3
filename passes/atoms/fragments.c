/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fragments.c - operands of atoms that read them from registers are copied there, spread as the
 * atom's row of atoms.def says; the ways of copies do the rest.
 *     mma %acc, %sA, %sB
 * ->  %a = frag : reg bf16 (64,32):(1,64) tv ...  copy %a, %sA ; ...  mma %acc, %a, %b */
#include "passes/smem/offset.h"
#include "passes/atoms/copy_choice.h"

static Val *fragment(Kernel *k, Op *mma, int i, const char *name, const Layout *tv)
{
	const Operand *from = &mma->in[i];
	Op *frag = op_before(k, mma, OP_FRAG), *copy = op_before(k, mma, OP_COPY);
	Window w = op_window(k->ctx, mma, i);
	int64_t rows = window_extent(w, 0), cols = window_extent(w, 1);
	Val *to = op_result(k, frag, name,
			    type_frag(k->ctx, from->val->type->elem,
				      layout_2d(k->ctx, rows, cols, 1, rows), tv));
	op_in(k, copy, to, ix_const(k->ctx, 0));
	op_in(k, copy, from->val, from->at);
	if (op_window_attr(mma, i))
		op_read_window(k, copy, 1, w);
	op_read_all(mma, i);
	return to;
}

static void operands(Kernel *k, Op *mma)
{
	TiledMma t = op_tiled_mma(k->ctx, mma);
	static const char *const names[] = {"acc", "a", "b"};
	for (int i = 1; i <= 2; i++)
		if (mma->in[i].val->type->space != SP_REG)
			mma->in[i] = (Operand){fragment(k, mma, i, names[i],
							tiled_mma_tv_of(k->ctx, t, i)),
					       NULL};
}

PASS_OF(fragments)
{
	for (Op *op = kernel_mma(k, NULL); op; op = kernel_mma(k, op))
		if (atom_holds_b(op_tiled_mma(k->ctx, op).atom))
			operands(k, op);
}

static bool fills(const Op *op, const Val *v)
{
	return copy_row_of(op->kind) && IN(op, TO).val == v;
}

/* A tensor map says the type, and tf32 is rounded to it. */
static bool goes_by_map(const Op *op)
{
	return HAS_IN(op, MAP);
}

/* Whether what a register tile of tf32 holds was rounded on its way. */
static bool is_rounded(const Kernel *k, const Val *v)
{
	const Val *slot = NULL;
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (fills(op, v) && IN(op, FROM).val->type->space == SP_SHARED)
			slot = IN(op, FROM).val;
	for (const Op *op = kernel_first(k); slot && op; op = op_next(op))
		if (fills(op, slot) && goes_by_map(op))
			return true;
	return v->def->kind != OP_FRAG;
}

/* Tensor cores cut off what is after the bits of a tf32. */
PASS_OF(round)
{
	for (Op *op = kernel_mma(k, NULL); op; op = kernel_mma(k, op))
		for (int i = 1; i <= 2; i++) {
			Val *v = op->in[i].val;
			if (v->type->space != SP_REG || v->type->elem != EL_TF32 ||
			    is_rounded(k, v))
				continue;
			Op *cvt = op_in(k, op_before(k, op, OP_CVT), v, NULL);
			op->in[i].val =
				op_result(k, cvt, ctx_strf(k->ctx, "%s.tf32", v->name), v->type);
		}
}

/* Whether rows of `of` copy each register of the tile from or to where it lies in the slot. */
static bool copies_each(Kernel *k, const Spread *h, const Type *frag, OpKind of)
{
	CopyMatches all = copy_matches(k, h, of, elem_rows[frag->elem].bits);
	int n = spread_values(k->ctx, h);
	for (int reg = 0; reg < n;) {
		const CopyMatch *m = copy_first(&all, h, reg, n);
		if (!m)
			return false;
		reg += m->row->regs;
	}
	return true;
}

Fit fits_held(Copying *c, Refusal *why)
{
	const Type *frag = IN(c->op, TO).val->type;
	Spread h;
	why->text = spread_of_copy(c->k, c->op, &h);
	if (why->text)
		return FIT_NO;
	if (copies_each(c->k, &h, frag, way_rows[WAY_FRAGMENT].last))
		return FIT_YES;
	why->text = "no load brings its elements into the registers that read them";
	why->remedy = elem_rows[frag->elem].bits < 8
			      ? "two elements that share a byte are neighbours along "
				"k: declare the tensor (M,K):(K,1)"
			      : NULL;
	return FIT_NO;
}

Fit fits_put(Copying *c, Refusal *why)
{
	const Type *frag = IN(c->op, FROM).val->type;
	Spread h;
	why->text = spread_in_slot(c->k, IN(c->op, TO).val->type, frag, false, &h);
	if (why->text)
		return FIT_NO;
	if (copies_each(c->k, &h, frag, way_rows[WAY_PUT].first))
		return FIT_YES;
	why->text = "no store brings its elements from their registers into the buffer";
	return FIT_NO;
}
