/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* staging.c - staging buffers: generic writes by all threads of a warpgroup, then an
 * asynchronous read by one of them that completes in a bulk group.
 *     before the first write  where the memory is a ring's, all that read the ring meet
 *     before a write          the issuing thread waits until at most slots - 1 groups still read,
 *                             the warpgroup meets
 *     after it                everyone fences its writes for the async proxy, the warpgroup meets
 *     the read                by one thread, which commits it as a group
 *     at the role's end       that thread waits for all of its groups
 * Together:
 *     store.shared ; store.tma
 * ->  bulk.wait_read; bar.sync; store.shared; fence.proxy.async; bar.sync
 *     store.tma; bulk.commit */
#include "passes/sync/sync.h"

static Operand on_ring(const Op *op, const char *ring)
{
	for (int i = 0; i < op->nin; i++)
		if (operand_on_ring(&op->in[i], ring))
			return op->in[i];
	panic("%s is not on the ring %s", op_rows[op->kind].name, ring);
}

/* The first thread of each warpgroup: always the same, as bulk groups are a thread's own. An
 * elected lane and a barrier of its warp cost 3 % where K is short
 * (tests/gpu/records/hardware.md). */
static Op *one_of_group(Kernel *k, Loc loc, Block **body)
{
	Op *only = op_new(k, OP_IF, loc);
	const Ix *in_group = ix_mod(k->ctx, ix_sym(k->ctx, "tid"), ix_int(k, GROUP_THREADS));
	op_ix(k, only, ix_new(k->ctx, IX_EQ, in_group, ix_int(k, 0)));
	*body = op_body(k, only);
	return only;
}

Op *sync_meet_group(Kernel *k, Loc loc)
{
	Op *op = op_new(k, OP_BAR_SYNC, loc);
	op_ix(k, op, ix_add(k->ctx, ix_warpgroup(k), ix_int(k, NAMED_STAGING)));
	op_int(k, op, A_THREADS, GROUP_THREADS);
	return op;
}

static Op *wait_groups(Kernel *k, OpKind kind, Loc loc, int64_t n)
{
	Block *body;
	Op *only = one_of_group(k, loc, &body), *wait = op_new(k, kind, loc);
	op_int(k, wait, A_N, n);
	block_append(body, wait);
	return only;
}

static void sync_write(Kernel *k, Op *op, const char *ring, const DoneRow *done, int64_t slots,
		       IxFacts facts)
{
	Operand to = on_ring(op, ring);
	if (!on_first_lap(facts, to.at, slots)) {
		op_insert_before(op, wait_groups(k, done->wait_read, op->loc, slots - 1));
		op_insert_before(op, sync_meet_group(k, op->loc));
	}
	Op *fence = op_after(k, op, OP_FENCE_ASYNC);
	op_insert_after(fence, sync_meet_group(k, op->loc));
}

static void sync_read(Kernel *k, Op *op)
{
	Block *body;
	op_insert_before(op, one_of_group(k, op->loc, &body));
	block_append(body, op);
	op_append(k, body, op_done(op)->commit, op->loc);
}

/* The condition of the arguments that a commit stands under, after that of its thread; or NULL. */
static const Op *condition(const Op *commit)
{
	const Op *up = op_parent(op_parent(commit));
	return up && up->kind == OP_IF ? up : NULL;
}

/* Whether b always runs when a has. */
static bool together(const Op *a, const Op *b)
{
	const Op *x = condition(a), *y = condition(b);
	if (!x || !y)
		return x == y &&
		       op_parent(op_parent(op_parent(a))) == op_parent(op_parent(op_parent(b)));
	return IX(x, COND) == IX(y, COND) && op_parent(x) == op_parent(y);
}

/* Where no slot is written twice, nobody counts groups: the last group of a block takes in those
 * before it. */
static void join_groups(const Kernel *k, const DoneRow *done)
{
	Op *before = NULL;
	for (Op *op = kernel_first(k); op; op = op_next(op))
		if (op->kind == done->wait_read)
			return;
	for (Op *op = kernel_first(k); op; op = op_next(op)) {
		if (op->kind != done->commit)
			continue;
		if (before && together(before, op))
			op_remove(before);
		before = op;
	}
}

/* Whether they met for another buffer, where all who come to `at` have been. */
static bool have_met(const Op *at)
{
	const Op *role = op_role(at);
	for (const Op *op = role; op != at; op = op_next(op))
		if (op->kind == OP_BAR_SYNC && ix_is(IX(op, NUMBER), NAMED_OVER) &&
		    op_inside(at, op_parent(op)))
			return true;
	return false;
}

/* Memory of a ring that is done: every consumer's group of its reads has ended before this, so all
 * have when the consumers have met. No load is under way, as each was waited for. */
void sync_take_over(Kernel *k, Op *at, const Op *op, const char *ring)
{
	const Operand to = on_ring(op, ring);
	if (!attrs_get(&to.val->def->attrs, A_OVER) || have_met(at))
		return;
	Op *all = op_ix(k, op_before(k, at, OP_BAR_SYNC), ix_int(k, NAMED_OVER));
	op_int(k, all, A_THREADS, 32 * attrs_int(&op_role(op)->attrs, A_ACTIVE, 0));
}

/* How what reads the ring for the threads that fill it is completed; NULL: nothing does. */
static const DoneRow *done_of(const Kernel *k, const char *ring)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op_touches(op, ring, FX_AR) && op_done_by(op, DONE_BY_THREAD))
			return op_done(op);
	return NULL;
}

bool sync_staging(Kernel *k, const Op *ring)
{
	const char *name = ring->sym[0];
	const DoneRow *done = done_of(k, name);
	int64_t slots = attrs_int(&ring->attrs, A_SLOTS, 1);
	IxFacts facts = kernel_facts(k);
	Op *role = NULL;
	for (Op *op = done ? kernel_first(k) : NULL, *next; op; op = next) {
		next = op_next(op);
		if (op_touches(op, name, FX_W)) {
			if (!role)
				sync_take_over(k, op, op, name);
			sync_write(k, op, name, done, slots, facts);
		} else if (op_touches(op, name, FX_AR)) {
			role = (Op *)(uintptr_t)op_role(op);
			sync_read(k, op);
		}
	}
	if (done)
		join_groups(k, done);
	if (role)
		block_append(role->body, wait_groups(k, done->wait, role->loc, 0));
	return done;
}
