/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pipeline.c - a role that both loads and computes is software-pipelined: loads run `ahead`
 * iterations before their use, the first of them in a prologue. Positions move with the loop
 * variable. Each loop has a prologue of its own: what it waits for, the loops before it released.
 *     for k (0, T) { load.tma %sA[k]; mma.wgmma %sA[k] }
 * ->  for p (0, min(S - inflight, T)) { load.tma %sA[p] }
 *     for k (0, T) {
 *       mma.wgmma %sA[k]
 *       if (k + S - inflight < T) { load.tma %sA[k + S - inflight] }
 *     } */
#include "passes/why.h"

static bool fills(const Op *op, const char *ring)
{
	return op_fills(op, ring);
}

static bool is_load(void *ring, const Op *op)
{
	return (op_rows[op->kind].flags & OPF_PURE) || op->kind == OP_NUMBER || fills(op, ring);
}

/* ------------------------------------------------------------------ one role */
/* Whether the loop's body both fills the ring and reads it, and has no names or loops of its own:
 * what an iteration loads is then known ahead. */
static bool is_mixed(const Op *loop, const char *ring)
{
	bool filled = false, read = false;
	for (const Op *op = loop->body->first; op; op = op->next) {
		if (op->kind == OP_FOR || op->kind == OP_LET)
			return false;
		filled |= fills(op, ring);
		read |= op_touches(op, ring, FX_AR | FX_R);
	}
	return filled && read;
}

/* Positions that an iteration fills. */
static int fills_each(const Op *loop, const char *ring)
{
	const Ix *at = NULL;
	int n = 0;
	for (const Op *op = loop->body->first; op; op = op->next)
		if (fills(op, ring) && IN(op, TO).at != at) {
			at = IN(op, TO).at;
			n++;
		}
	return n;
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
	const Ix *from = IX(loop, FROM), *to = IX(loop, TO);
	Op *prologue = op_before(k, loop, OP_FOR);
	const char *name = kernel_fresh(k, loop->sym[0]);
	const Ix *last = ix_add(c, from, ix_int(k, ahead));
	op_sym(k, prologue, name);
	op_ixs(k, prologue, from, ix_new(c, IX_MIN, last, to));
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
}

PASS_OF(pipeline)
{
	int inflight = (int)attrs_int(&k->attrs, A_INFLIGHT, 1);
	for (Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING)) {
		int slots = (int)attrs_int(&ring->attrs, A_SLOTS, 0), ahead = 0;
		int free = slots > inflight ? slots - inflight : 0; /* a loop that waits for each */
		if (attrs_int(&ring->attrs, A_EARLY, 0))
			continue;
		for (Op *loop = kernel_find(k, OP_FOR); loop; loop = op_find_next(loop, OP_FOR)) {
			int here = is_mixed(loop, ring->sym[0])
					   ? free / fills_each(loop, ring->sym[0])
					   : 0;
			if (here)
				look_ahead(k, loop, ring->sym[0], here);
			ahead = here > ahead ? here : ahead;
		}
		if (ahead)
			why_ahead(k, ring->sym[0], ahead);
	}
	kernel_sweep(k);
}
