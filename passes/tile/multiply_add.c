/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* multiply_add.c - in a loop that multiplies tiles, a product that is only added to something is
 * one operation with the sum: it is rounded once, which the language leaves open, and issued once.
 * ptxas never makes one of mul.rn and add.rn.
 *     %x = mul %a, %b ; %y = add %c, %x   ->   %y = fma %a, %b, %c
 *     %x = mul %a, %b ; %y = sub %c, %x   ->   %n = neg %a ; %y = fma %n, %b, %c */
#include "base/ptrmap.h"
#include "passes/pass.h"

enum { ONCE = 1, OFTEN = 2 };

static void count_uses(Kernel *k, PtrMap *uses)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		for (int i = 0; i < op->nin; i++) {
			const Val *v = op->in[i].val;
			ptrmap_set(uses, v, (void *)(intptr_t)(ptrmap_get(uses, v) ? OFTEN : ONCE));
		}
}

static bool writes_operand(const Op *op, const Op *of)
{
	bool writes = op->body;
	for (int i = 0; i < op->nin; i++)
		writes |= (op_effect(op, i) & (FX_W | FX_AW)) && op_takes(of, op->in[i].val);
	return writes;
}

/* Whether nothing between them changes a register that the first reads. */
static bool is_steady(const Op *from, const Op *to)
{
	const Op *op = from->block == to->block ? from : NULL;
	while (op && op != to && !writes_operand(op, from))
		op = op->next;
	return op == to;
}

/* The operand that is a product of the sum's own shape, used here alone; -1: none. */
static int product_of(const Op *sum, const PtrMap *uses)
{
	for (int i = 0; i < sum->nin; i++) {
		const Val *v = sum->in[i].val;
		if (v->def && v->def->kind == OP_MUL && v->type == sum->out->type &&
		    (intptr_t)ptrmap_get(uses, v) == ONCE && is_steady(v->def, sum))
			return i;
	}
	return -1;
}

/* Whether it stands in a loop beside an mma: elsewhere it is computed once a tile. */
static bool is_repeated(const Op *sum)
{
	const Op *loop = op_parent(sum);
	bool found = false;
	for (const Op *op = loop && loop->kind == OP_FOR ? loop->body->first : NULL; op;
	     op = op->next) {
		if (op->kind == OP_LET)
			return false;
		found |= op_is_mma(op);
	}
	return found;
}

static Operand negated(Kernel *k, Op *sum, Operand x)
{
	Op *neg = op_in(k, op_before(k, sum, OP_NEG), x.val, x.at);
	return (Operand){op_result(k, neg, "n", x.val->type), NULL};
}

/* The sum becomes the operation; its product is swept. */
static void fuse(Kernel *k, Op *sum, int at)
{
	const Op *mul = sum->in[at].val->def;
	Operand a = IN(mul, X), b = IN(mul, Y), c = sum->in[1 - at];
	if (sum->kind == OP_SUB && at)
		a = negated(k, sum, a);
	else if (sum->kind == OP_SUB)
		c = negated(k, sum, c);
	sum->kind = OP_FMA;
	sum->nin = 0;
	op_in(k, sum, a.val, a.at);
	op_in(k, sum, b.val, b.at);
	op_in(k, sum, c.val, c.at);
}

PASS_OF(products)
{
	PtrMap uses = {.arena = ctx_arena(k->ctx)};
	count_uses(k, &uses);
	for (Op *op = kernel_first(k); op; op = op_next(op)) {
		bool sum = (op->kind == OP_ADD || op->kind == OP_SUB) &&
			   elem_is_float(op->out->type->elem);
		int at = sum ? product_of(op, &uses) : -1;
		if (at >= 0 && is_repeated(op))
			fuse(k, op, at);
	}
	kernel_sweep(k);
}
