/* simplify.c - index expressions to normal form with all that is known of their names; lets of
 * plain values are replaced by the value; what nothing uses is dropped. for k (0, (64 + 63) / 64)
 * ->   for k (0, 1) */
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
	return op->kind == OP_LET && (op->ix[0]->kind == IX_CONST || op->ix[0]->kind == IX_SYM);
}

void pass_simplify(Kernel *k)
{
	IxFacts facts = kernel_facts(k);
	for (Op *op = kernel_first(k); op; op = op_next(op))
		simplify_op(k, op, facts);
	for (Op *op = kernel_first(k), *next; op; op = next) {
		next = op_next(op);
		if (!is_plain(op))
			continue;
		replace_name(k, op->sym[0], op->ix[0]);
		op_remove(op);
	}
	kernel_sweep(k);
}
