/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* simplify.c - index expressions to normal form with all that is known of their names; layouts
 * coalesced mode by mode; lets of plain values replaced by the value; what nothing uses dropped.
 *     for k (0, (64 + 63) / 64)                      ->   for k (0, 1)
 *     shared bf16 ((8,16),(64,1)):((64,512),(1,0))   ->   shared bf16 (128,64):(64,1) */
#include "passes/pass.h"

static const Ix *simple(const Kernel *k, const Ix *x, IxFacts facts)
{
	return x ? ix_simplify(k->ctx, x, facts) : NULL;
}

static void simplify_op(const Kernel *k, Op *op, IxFacts facts)
{
	for (int i = 0; i < op->nix; i++)
		op->ix[i] = simple(k, op->ix[i], facts);
	for (int i = 0; i < op->nin; i++)
		op->in[i].at = simple(k, op->in[i].at, facts);
}

enum { MOST_MODES = 8 };

/* The same function of the same coordinates, with as few modes inside each as the facts allow. */
static void simplify_type(const Kernel *k, Val *v)
{
	const Tup *ones[MOST_MODES];
	const Type *t = v->type;
	const char *why;
	int rank = t->kind == TY_TILE ? layout_rank(t->layout) : 0;
	if (t->kind != TY_TILE || t->space == SP_REG || tup_is_leaf(t->layout->shape) ||
	    rank > MOST_MODES)
		return;
	for (int i = 0; i < rank; i++)
		ones[i] = tup_int(k->ctx, 1);
	const Tup *profile = tup_new(k->ctx, ones, rank);
	const Layout *l = layout_coalesce_by(k->ctx, t->layout, profile, &why);
	if (l)
		v->type = type_tile(k->ctx, t->space, t->elem, l);
}

static void replace_name(const Kernel *k, const char *name, const Ix *by)
{
	for (Op *op = kernel_first(k); op; op = op_next(op)) {
		for (int i = 0; i < op->nix; i++)
			op->ix[i] = ix_subst(k->ctx, op->ix[i], name, by);
		for (int i = 0; i < op->nin; i++)
			if (op->in[i].at)
				op->in[i].at = ix_subst(k->ctx, op->in[i].at, name, by);
	}
}

static bool is_plain(const Op *op)
{
	return op->kind == OP_LET && !attrs_get(&op->attrs, A_HERE) &&
	       (IX(op, VALUE)->kind == IX_CONST || IX(op, VALUE)->kind == IX_SYM);
}

PASS_OF(simplify)
{
	IxFacts facts = kernel_facts(k);
	for (Op *op = kernel_first(k); op; op = op_next(op)) {
		simplify_op(k, op, facts);
		if (op->out && op->kind != OP_VIEW) /* which has the modes of its tensor */
			simplify_type(k, op->out);
	}
	for (Op *op = kernel_first(k), *next; op; op = next) {
		next = op_next(op);
		if (!is_plain(op))
			continue;
		replace_name(k, op->sym[0], IX(op, VALUE));
		op_remove(op);
	}
	kernel_sweep(k);
}

PASS_OF(normal)
{
	pass_simplify(k);
}
