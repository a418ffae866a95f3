/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* product.c - how much is computed, and whether another library could be asked for the same.
 *     mma %acc, %sA, %sB  of tiles of A and B  ->  a = A, b = B, 2 M N K flops */
#include "driver/bench/machine.h"
#include "driver/choose/work.h"

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

static bool has_elementwise(const Kernel *k)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op_rows[op->kind].flags & OPF_ELT && op->kind != OP_CVT)
			return true;
	return false;
}

Product product_of(const Problem *p)
{
	Product x = {.flops = 0};
	Work w;
	if (!work_of(p->k, &w))
		return x;
	x.flops = 2.0 * (double)problem_eval(p, w.m) * (double)problem_eval(p, w.n) *
		  (double)problem_eval(p, w.k) * (double)problem_eval(p, w.batch);
	x.known = !w.several && operand_of(p, w.tensor[0], &x.a) &&
		  operand_of(p, w.tensor[1], &x.b) && operand_of(p, output_of(p), &x.d) &&
		  x.a.cols == x.b.cols && x.d.rows == x.a.rows && x.d.cols == x.b.rows;
	x.pure = x.known && p->nt == 3 && !has_elementwise(p->k);
	return x;
}
