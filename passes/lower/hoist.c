/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* hoist.c - where threads read small elements out of the slots of a loop, the place of each in a
 * slot is the same in all: it is computed before the loop, and kept.
 *     for.ring k, s { ld.shared %q[0], %sQ[s] (xor(lane / 4, 1) * 16 + lane % 4 + 1024) }
 * ->  let at (xor(lane / 4, 1) * 16 + lane % 4) here=1
 *     for.ring k, s { ld.shared %q[0], %sQ[s] (at + 1024) } */
#include "passes/pass.h"

enum { FEW = 8 /* registers: the rows of a swizzle differ in so many places */ };

typedef struct {
	Kernel *k;
	Op *loop;
	int n;
	const Ix *place[FEW];
	const char *name[FEW];
} Hoist;

/* Whether nothing that the loop or its body names is in x. */
static bool is_outside(const Op *loop, const Ix *x)
{
	for (const Op *op = loop; op && op_inside(op, loop); op = op_next(op))
		for (int i = 0; i < op->nsym; i++)
			if (ix_uses(x, op->sym[i]))
				return false;
	return true;
}

static bool reads_small(const Op *op)
{
	return op->nin == 2 && op->nix == 1 && op_effect(op, 1) & FX_R &&
	       IN(op, TO).val->type->space == SP_REG &&
	       IN(op, FROM).val->type->space == SP_SHARED &&
	       elem_rows[IN(op, FROM).val->type->elem].bits <= 8;
}

/* The name of the place; NULL: there are too many. */
static const char *name_of(Hoist *h, const Ix *place)
{
	for (int i = 0; i < h->n; i++)
		if (h->place[i] == place)
			return h->name[i];
	if (h->n == FEW)
		return NULL;
	Op *let = op_before(h->k, h->loop, OP_LET);
	op_sym(h->k, let, kernel_fresh(h->k, "at"));
	op_ix(h->k, let, place);
	op_int(h->k, let, A_HERE, 1);
	h->place[h->n] = place;
	h->name[h->n] = let->sym[0];
	return h->name[h->n++];
}

static void hoist(Hoist *h, Op *read, IxFacts facts)
{
	Ctx *c = h->k->ctx;
	const Ix *x = ix_simplify(c, IX(read, BYTE), facts), *rest = ix_const(c, 0);
	if (x->kind == IX_ADD && ix_is_const(x->b, NULL)) {
		rest = x->b;
		x = x->a;
	}
	const char *name = is_outside(h->loop, x) && !ix_is_const(x, NULL) ? name_of(h, x) : NULL;
	if (name)
		IX(read, BYTE) = ix_add(c, ix_sym(c, name), rest);
}

PASS_OF(hoist)
{
	IxFacts facts = kernel_facts(k);
	for (Op *op = kernel_first(k); op; op = op_next(op)) {
		Hoist h = {.k = k, .loop = op};
		bool loops = op->kind == OP_FOR_RING ||
			     (op->kind == OP_FOR && !attrs_get(&op->attrs, A_UNROLL));
		for (Op *in = loops ? op->body->first : NULL; in; in = in->next)
			if (reads_small(in))
				hoist(&h, in, facts);
	}
}
