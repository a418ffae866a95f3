/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* exchange.c - buffers through which the threads of a CTA, or of the CTAs of a cluster, tell
 * each other what they hold: generic writes by all, then generic reads.
 *     before a read of a position    all meet, after the writes of it
 *     before a write of a position   nothing: of two slots or more, the one that is written was
 *                                    read before the meeting of the position ahead; of one, all
 *                                    meet, unless it is the first
 *     store.shared %sR[t] ; load.shared %sR[t]   ->   store.shared ; bar.cta ; load.shared
 * Who they are: the CTA; beside a producer, the consumers; of a warpgroup's own slots, these 128.
 * Where other CTAs read, the cluster meets: before the reads, before the next writes, and at the
 * end (sync.c); where these are of the grid, by a semaphore. */
#include "passes/sync/sync.h"

bool sync_reads_peers(const Op *op)
{
	return op_rows[op->kind].effects & FX_PEER;
}

static bool is_read_by_peers(const Kernel *k, const char *ring)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (sync_reads_peers(op) && op_touches(op, ring, FX_R))
			return true;
	return false;
}

/* The op that `op` is or is in, of the innermost block around it and another. */
static Op *beside(Op *op, const Op *other)
{
	for (Op *up = op; up; up = op_parent(up))
		for (const Op *at = other; at; at = op_parent(at))
			if (op_parent(up) == op_parent(at))
				return up;
	panic("two ops of a kernel have no block in common");
}

static Op *next_on(Op *op, const char *ring, int effect)
{
	while (op && !op_touches(op, ring, effect))
		op = op_next(op);
	return op;
}

/* Whether the cluster meets between, in the block of both. */
static bool meet_between(const Op *from, const Op *to)
{
	while (from != to && from->kind != OP_BAR_CLUSTER)
		from = from->next;
	return from != to;
}

/* Writes of a tile by some CTAs, then its reads by others: all meet where all come to. */
static void sync_peers(Kernel *k, const char *ring, int64_t slots)
{
	IxFacts facts = kernel_facts(k);
	for (Op *put = next_on(kernel_first(k), ring, FX_W); put;) {
		Op *get = next_on(put, ring, FX_R);
		Op *from = beside(put, get), *to = beside(get, put);
		sync_take_over(k, from, put, ring);
		if (!on_first_lap(facts, IN(put, TO).at, slots))
			op_before(k, from, OP_BAR_CLUSTER);
		if (!meet_between(from, to))
			op_before(k, to, OP_BAR_CLUSTER);
		put = next_on(get, ring, FX_W);
	}
}

Op *sync_meeting(Kernel *k, const Op *op, bool own)
{
	int64_t threads = WARP_THREADS * attrs_int(&op_role(op)->attrs, A_ACTIVE, 0);
	if (own)
		return sync_meet_group(k, op->loc);
	if (threads == attrs_int(&k->attrs, A_BLOCK, 0))
		return op_new(k, OP_BAR_CTA, op->loc);
	Op *meet = op_new(k, OP_BAR_SYNC, op->loc);
	op_ix(k, meet, ix_int(k, NAMED_EXCHANGE));
	op_int(k, meet, A_THREADS, threads);
	return meet;
}

bool sync_is_meeting(const Op *op, const Op *like)
{
	return op->kind == like->kind && (!op->nix || IX(op, NUMBER) == IX(like, NUMBER));
}

void sync_exchange(Kernel *k, const Op *ring)
{
	const char *name = ring->sym[0];
	int64_t slots = attrs_int(&ring->attrs, A_SLOTS, 1);
	bool written = false, own = ring_is_own(k, name);
	Op *first = next_on(kernel_first(k), name, FX_W);
	if (is_read_by_peers(k, name))
		sync_peers(k, name, slots);
	if (!first || is_read_by_peers(k, name))
		return;
	const Op *like = sync_meeting(k, first, own);
	IxFacts facts = kernel_facts(k);
	for (Op *op = first; op; op = op_next(op)) {
		if (op_touches(op, name, FX_W)) {
			if (!written && slots == 1 && !on_first_lap(facts, IN(op, TO).at, slots))
				op_insert_before(op, sync_meeting(k, op, own));
			written = true;
		} else if (op_touches(op, name, FX_R)) {
			if (written)
				op_insert_before(op, sync_meeting(k, op, own));
			written = false;
		} else if (sync_is_meeting(op, like)) { /* of another ring */
			written = false;
		}
	}
}

static void all_meet(Kernel *k, Op *at)
{
	Op *all = op_ix(k, op_before(k, at, OP_BAR_SYNC), ix_int(k, NAMED_OVER));
	op_int(k, all, A_THREADS, WARP_THREADS * attrs_int(&op_role(at)->attrs, A_ACTIVE, 0));
}

static void semaphore(Kernel *k, Block *b, OpKind kind, const Op *meet)
{
	Op *op = op_in(k, op_append(k, b, kind, meet->loc), IN(meet, SPACE).val, NULL);
	for (int i = 0; i < op_rows[kind].nix; i++)
		op_ix(k, op, meet->ix[i]);
	op_int(k, op, A_COUNT, attrs_int(&meet->attrs, A_COUNT, 1));
}

/* CTAs of the grid, by one thread of each: it hands on what all of the role's have written, and
 * what it is told they read. */
PASS_OF(parts)
{
	for (Op *op = kernel_find(k, OP_PARTS_MEET), *next; op; op = next) {
		int64_t first = WARP_THREADS * attrs_int(&op_role(op)->attrs, A_FIRST, 0);
		next = op_find_next(op, OP_PARTS_MEET);
		all_meet(k, op);
		Op *one = op_before(k, op, OP_IF);
		op_ix(k, one, ix_new(k->ctx, IX_EQ, ix_sym(k->ctx, "tid"), ix_int(k, first)));
		semaphore(k, op_body(k, one), OP_SEM_ARRIVE, op);
		semaphore(k, one->body, OP_SEM_WAIT, op);
		all_meet(k, op);
		op_remove(op);
	}
}
