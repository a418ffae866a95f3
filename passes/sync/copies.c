/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* copies.c - what lanes copy into a slot: after a run of copies each lane has the slot's
 * barrier told when its own are there, and goes on at once. So as many slots are under way as
 * readers leave free, and nobody waits for them but who reads.
 *     for k (0, T) { load.async %sB[k] }
 * ->  for k (0, T) { mbar.wait %empty[k] lap=1; load.async %sB[k]; cp.arrive %full[k] } */
#include "passes/sync/sync.h"

/* The last copy of the run that starts at op: those of one position, one after the other. */
static Op *copy_run(const Sync *s, Op *op)
{
	const Ix *at = sync_copy_at(s, op);
	Op *last = op;
	for (; op; op = op->next) {
		const Ix *here = sync_copy_at(s, op);
		if (here && here != at)
			break;
		last = here ? op : last;
	}
	return last;
}

/* Of those at one position in the block: what one thread loads there goes after the same wait. */
static Op *first_fill(const Sync *s, const Block *b, const Ix *at)
{
	Op *op = b->first;
	while (sync_fill_at(s, op) != at)
		op = op->next;
	return op;
}

void sync_copies(const Sync *s)
{
	Kernel *k = s->k;
	for (Op *op = kernel_first(k), *last; op; op = op_next(last)) {
		const Ix *at = sync_copy_at(s, op);
		last = op;
		if (!at)
			continue;
		if (s->empty && !on_first_lap(s->facts, at, s->slots))
			op_insert_before(first_fill(s, op->block, at),
					 sync_wait(k, op->loc, s->empty, at, LAP_BEFORE));
		last = copy_run(s, op);
		Op *told = sync_barrier_op(k, op_done(op)->arrive, op->loc, s->full, at);
		op_insert_after(last, told);
		last = told;
	}
}
