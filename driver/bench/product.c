/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* product.c - how much is computed, and whether another library could be asked for the same. Read
 * from the tile stage: what is copied into the operands of the mma, and where its result goes.
 *     copy %sA, tile %A; copy %sB, tile %B; mma %acc, %sA, %sB  ->  a = A, b = B, 2 M N K flops */
#include "driver/bench/machine.h"

/* The argument that a buffer is filled from; -1: none is seen. */
static int source_of(const Kernel *k, const Val *buffer)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op)) {
		if (op->kind != OP_COPY || IN(op, TO).val != buffer)
			continue;
		const Op *tile = IN(op, FROM).val->def;
		return tile && tile->kind == OP_TILE ? IN(tile, OF).val->arg : -1;
	}
	return -1;
}

static bool operand_of(const Problem *p, int tensor, Matrix *out)
{
	const Layout *l = tensor < 0 ? NULL : p->k->args.at[tensor].val->type->layout;
	if (!l || layout_rank(l) != 2)
		return false;
	for (int i = 0; i < 2; i++)
		if (!tup_is_leaf(tup_get(l->shape, i)) || !tup_is_leaf(tup_get(l->stride, i)))
			return false;
	*out = (Matrix){.tensor = tensor,
			.rows = problem_eval(p, tup_get(l->shape, 0)->leaf),
			.cols = problem_eval(p, tup_get(l->shape, 1)->leaf),
			.down = problem_eval(p, tup_get(l->stride, 0)->leaf),
			.along = problem_eval(p, tup_get(l->stride, 1)->leaf)};
	return true;
}

/* The only output; -1: there are several. */
static int output_of(const Problem *p)
{
	int found = -1;
	for (int i = 0; i < p->nt; i++)
		if (p->t[i].is_out)
			found = found < 0 ? i : p->nt;
	return found < p->nt ? found : -1;
}

Product product_of(const Problem *p)
{
	Product x = {.pure = p->nt == 3};
	int products = 0;
	bool all = true;
	for (const Op *op = kernel_first(p->k); op; op = op_next(op)) {
		if (op_rows[op->kind].flags & OPF_ELT && op->kind != OP_CVT)
			x.pure = false;
		if (op->kind != OP_MMA)
			continue;
		products++;
		all = all && operand_of(p, source_of(p->k, IN(op, A).val), &x.a) &&
		      operand_of(p, source_of(p->k, IN(op, B).val), &x.b) && x.a.cols == x.b.cols;
		if (all)
			x.flops += 2.0 * (double)x.a.rows * (double)x.b.rows * (double)x.a.cols;
	}
	if (!all)
		x.flops = 0;
	x.known = all && products == 1 && operand_of(p, output_of(p), &x.d) &&
		  x.d.rows == x.a.rows && x.d.cols == x.b.rows;
	x.pure = x.pure && x.known;
	return x;
}
