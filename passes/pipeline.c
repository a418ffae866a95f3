/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pipeline.c - a role that both loads and computes is software-pipelined: loads run `ahead`
 * iterations before their use, the first of them in a prologue. Positions move with the loop
 * variable.
 *     for k (0, T) { load.tma %sA[k]; mma.wgmma %sA[k] }
 * ->  for p (0, min(S - inflight, T)) { load.tma %sA[p] }
 *     for k (0, T) {
 *       mma.wgmma %sA[k]
 *       if (k + S - inflight < T) { load.tma %sA[k + S - inflight] }
 *     } */
#include "passes/why.h"

#include <string.h>

static bool fills(const Op *op, const char *ring)
{
	return op_touches(op, ring, FX_AW);
}

static bool is_load(void *ring, const Op *op)
{
	return (op_rows[op->kind].flags & OPF_PURE) || fills(op, ring);
}

/* ------------------------------------------------------------------ one role */
/* The loop whose body both fills and empties the ring. */
static Op *mixed_loop(const Kernel *k, const char *ring)
{
	for (Op *loop = kernel_find(k, OP_FOR); loop; loop = op_find_next(loop, OP_FOR)) {
		bool filled = false, read = false;
		for (const Op *op = loop->body->first; op; op = op->next) {
			filled |= fills(op, ring);
			read |= op_touches(op, ring, FX_AR | FX_R);
		}
		if (filled && read)
			return loop;
	}
	return NULL;
}

static void drop_loads(Op *loop, const char *ring)
{
	for (Op *op = loop->body->first, *next; op; op = next) {
		next = op->next;
		if (fills(op, ring))
			op_remove(op);
	}
}

static void look_ahead(Kernel *k, Op *loop, const char *ring, int ahead)
{
	Ctx *c = k->ctx;
	const Ix *from = loop->ix[0], *to = loop->ix[1];
	Op *prologue = op_before(k, loop, OP_FOR);
	const char *name = kernel_fresh(k, loop->sym[0]);
	const Ix *last = ix_add(c, from, ix_int(k, ahead));
	op_sym(k, prologue, name);
	op_ix(k, prologue, from);
	op_ix(k, prologue, ix_new(c, IX_MIN, last, to));
	SymSub early = {loop->sym[0], ix_sym(c, name)};
	block_copy(k, loop->body, op_body(k, prologue), &early, 1, is_load,
		   (void *)(uintptr_t)ring);

	const Ix *later = ix_add(c, ix_sym(c, loop->sym[0]), ix_int(k, ahead));
	SymSub late = {loop->sym[0], later};
	Op *rest = op_new(k, OP_IF, loop->loc);
	op_ix(k, rest, ix_new(c, IX_LT, later, to));
	block_copy(k, loop->body, op_body(k, rest), &late, 1, is_load, (void *)(uintptr_t)ring);
	drop_loads(loop, ring);
	block_append(loop->body, rest);
	why_ahead(k, ring, ahead);
}

void pass_pipeline(Kernel *k)
{
	int inflight = (int)attrs_int(&k->attrs, A_INFLIGHT, 1);
	for (Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING)) {
		bool early = attrs_int(&ring->attrs, A_EARLY, 0);
		Op *mixed = early ? NULL : mixed_loop(k, ring->sym[0]);
		if (mixed)
			look_ahead(k, mixed, ring->sym[0],
				   (int)attrs_int(&ring->attrs, A_SLOTS, 0) - inflight);
	}
	kernel_sweep(k);
}
