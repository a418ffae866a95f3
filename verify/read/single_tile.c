/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* single_tile.c - a CTA that has one tile or none: the loop around all that it does has one trip,
 * or none, and each of these is a kernel of its own, without that loop.
 *     for t (0, cta < tiles) { for k .. } exit   ->   for k .. exit; and exit alone */
#include "verify/read/read.h"

static bool is_truth(const Ix *x)
{
	return x->kind == IX_LT || x->kind == IX_LE || x->kind == IX_EQ || x->kind == IX_NE;
}

/* Where that is decided. */
bool read_is_once(const Reader *r, const Op *op)
{
	return r->p->once && !read_outer_loop(op) && ix_is(IX(op, FROM), 0) &&
	       is_truth(IX(op, TO)) && stage(&r->lets, IX(op, TO)) == r->p->once_is;
}

const Ix *program_once(const Kernel *k)
{
	View v = {.ctx = k->ctx};
	for (const Op *op = kernel_first(k); op; op = op_next(op)) {
		bool loop = op->kind == OP_FOR || op->kind == OP_FOR_RING;
		if (op->kind == OP_LET)
			vec_push(ctx_arena(k->ctx), &v.names,
				 ((Named){op->sym[0], stage(&v, IX(op, VALUE))}));
		if (loop && !read_outer_loop(op) && ix_is(IX(op, FROM), 0) && is_truth(IX(op, TO)))
			return stage(&v, IX(op, TO));
	}
	return NULL;
}
