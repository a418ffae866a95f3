/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* puts.c - slots that threads write from registers, for an mma: generic writes by all, then reads
 * by all, each of whatever any has written.
 *     before a write   all meet, unless nothing has read the slot, or all have met since: every
 *                      warp has waited for the groups that read it, since none stays in flight
 *                      (wgmma_inflight.c). Of two slots in turn: all met after the write of the
 *                      other, when these had ended
 *     after it         each fences its writes for the async proxy, where that reads them
 *     before a read    all meet
 *     store.shared %sP[0], %p ; mma.wgmma %acc, %sP[0], %sV[k]
 * ->  bar.sync; store.shared; fence.proxy.async; bar.sync; mma.wgmma; wgmma.wait n=0 */
#include "passes/sync/sync.h"
#include "passes/why.h"

enum { READS = FX_R | FX_AR };

static bool reads_async(const Kernel *k, const char *ring)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op_touches(op, ring, FX_AR))
			return true;
	return false;
}

/* Whether the slot may have been read when `put` comes: before it, or in an iteration before. */
static bool follows_reads(const Op *put, const char *ring)
{
	const Op *role = op_role(put), *loop = NULL;
	for (const Op *up = op_parent(put); up; up = op_parent(up))
		loop = up->kind == OP_FOR ? up : loop;
	bool before = true;
	for (const Op *op = op_next(role); op && op_inside(op, role); op = op_next(op)) {
		before &= op != put;
		if (op_touches(op, ring, READS) && (before || (loop && op_inside(op, loop))))
			return true;
	}
	return false;
}

/* The op that `op` is or is in, of the block; NULL: it is in none of it. */
static const Op *in_block(const Op *op, const Block *b)
{
	while (op && op->block != b)
		op = op_parent(op);
	return op;
}

/* Whether the loop's bounds are known before `put`. */
static bool bounds_are_known(const Op *put, const Op *loop)
{
	for (const Op *op = put; op != loop; op = op->next)
		for (int i = 0; op_only_names(op) && i < op->nsym; i++)
			if (ix_uses(IX(loop, FROM), op->sym[i]) ||
			    ix_uses(IX(loop, TO), op->sym[i]))
				return false;
	return true;
}

/* Under which condition the value is read: some loop after it has an iteration. NULL: always. */
static const Ix *read_where(Kernel *k, const Op *put, const char *ring)
{
	const Ix *some = ix_int(k, 0);
	for (const Op *op = op_next(put); op; op = op_next(op)) {
		const Op *at = op_touches(op, ring, READS) ? in_block(op, put->block) : NULL;
		if (at && (at->kind != OP_FOR || !bounds_are_known(put, at)))
			return NULL;
		if (at)
			some = ix_new(k->ctx, IX_OR, some,
				      ix_new(k->ctx, IX_LT, IX(at, FROM), IX(at, TO)));
	}
	some = ix_simplify(k->ctx, some, kernel_facts(k));
	return ix_is_const(some, NULL) ? NULL : some;
}

/* A value that no iteration reads is not written, and its barriers are skipped. */
static void put_where(Kernel *k, Op *put, const Ix *cond)
{
	Op *some = op_ix(k, op_before(k, put, OP_IF), cond);
	block_append(op_body(k, some), put);
}

/* With the fence before it. */
static Op *begin_of(Op *op)
{
	const DoneRow *done = op_done(op);
	return done && op->prev->kind == done->fence ? op->prev : op;
}

/* The first op after the writes in their block that reads them, or holds such. */
static Op *first_read(Op *put, const char *ring)
{
	for (Op *op = put->next; op; op = op->next)
		for (const Op *in = op; in && op_inside(in, op); in = op_next(in))
			if (op_touches(in, ring, READS))
				return begin_of(op);
	return NULL;
}

/* Whether each write has all meet once more before the slot is its turn again. */
static bool takes_turns(Kernel *k, const Op *ring)
{
	bool turns = attrs_int(&ring->attrs, A_SLOTS, 1) > 1;
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op_touches(op, ring->sym[0], FX_W))
			turns &= !read_where(k, op, ring->sym[0]);
	return turns;
}

static void say_threads(Kernel *k, const Op *put, bool own, bool async, bool turns)
{
	int64_t all = WARP_THREADS * attrs_int(&op_role(put)->attrs, A_ACTIVE, 0);
	why_put(k, IN(put, TO).val->name, own ? GROUP_THREADS : all, async, turns);
}

/* Whether all meet in the iteration before they write, which none of them has read in it. */
static bool meet_before(const Op *put, const char *ring, const Op *like)
{
	bool meet = false;
	for (const Op *op = put->block->first; op != put; op = op_next(op)) {
		if (op_touches(op, ring, READS))
			return false;
		meet |= op->block == put->block && sync_is_meeting(op, like);
	}
	return meet;
}

void sync_puts(Kernel *k, const Op *ring)
{
	const char *name = ring->sym[0];
	bool own = ring_is_own(k, name), async = reads_async(k, name), said = false;
	bool turns = takes_turns(k, ring);
	for (Op *op = kernel_first(k); op; op = op_next(op)) {
		if (!op_touches(op, name, FX_W))
			continue;
		if (!said)
			say_threads(k, op, own, async, turns);
		said = true;
		const Ix *cond = read_where(k, op, name);
		bool again = !turns && follows_reads(op, name);
		if (cond)
			put_where(k, op, cond);
		Op *meeting = sync_meeting(k, op, own);
		if (again && !meet_before(op, name, meeting))
			op_insert_before(op, meeting);
		if (async)
			op = op_after(k, op, OP_FENCE_ASYNC);
		Op *meet = sync_meeting(k, op, own), *read = cond ? NULL : first_read(op, name);
		read ? op_insert_before(read, meet) : op_insert_after(op, meet);
	}
}
