/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* reads.c - before what reads a position of a ring stands a wait for its bytes, after it the
 * release of the slot. A position that a whole loop reads is waited for before the loop and given
 * back after it: once, however often the loop runs, and also where it never does. Groups retire in
 * order: when at most n are left, the one of n before is done with its slots.
 *     for k { mma.wgmma %sQ[t], %sK[k] }
 * ->  mbar.wait %q.full[t]
 *     for k {
 *       mbar.wait %k.full[k]; ...; wgmma.wait n=1; if (1 <= k) { mbar.arrive %k.empty[k - 1] }
 *     }
 *     wgmma.wait n=0; mbar.arrive %q.empty[t] */
#include "passes/sync/sync.h"

/* ------------------------------------------------------------------ releases */
static const Ix *set_of_rank(Ctx *c, const Attr *sets)
{
	uint16_t set[CLUSTER_CTAS];
	for (int r = 0; r < sets->n; r++)
		set[r] = (uint16_t)sets->i[r];
	return ix_of_sets(c, set, sets->n);
}

/* Whether `set` has the bit x; of one without gaps from bit 0 on, a comparison says so. */
static const Ix *in_set(Ctx *c, const Ix *x, const Ix *set)
{
	int64_t bits;
	if (ix_is_const(set, &bits) && bits > 0 && (bits & (bits + 1)) == 0)
		return ix_new(c, IX_LT, x, ix_const(c, __builtin_popcountll((uint64_t)bits)));
	return ix_mod(c, ix_new(c, IX_SHR, set, x), ix_const(c, 2));
}

/* On the barrier of every CTA that fills this one's slots: lane l on that of rank l. */
static Op *arrive_on_all(const Sync *s, Loc loc, const Ix *at)
{
	Kernel *k = s->k;
	Ctx *c = k->ctx;
	const Ix *lane = ix_sym(c, "lane"), *from = set_of_rank(c, s->from);
	Op *some = op_new(k, OP_IF, loc),
	   *arrive = sync_barrier_op(k, OP_MBAR_ARRIVE, loc, s->empty, at);
	op_ix(k, some, in_set(c, lane, from));
	op_ix(k, arrive, lane);
	block_append(op_body(k, some), arrive);
	return some;
}

static Op *arrive_op(const Sync *s, Loc loc, const Ix *at, bool elected)
{
	if (s->from)
		return arrive_on_all(s, loc, at);
	if (elected)
		return sync_barrier_op(s->k, OP_MBAR_ARRIVE, loc, s->empty, at);
	Op *elect = op_new(s->k, OP_ELECT, loc);
	block_append(op_body(s->k, elect),
		     sync_barrier_op(s->k, OP_MBAR_ARRIVE, loc, s->empty, at));
	return elect;
}

static Op *arrive_if(const Sync *s, Loc loc, const Ix *cond, const Ix *at)
{
	Op *some = op_new(s->k, OP_IF, loc);
	op_ix(s->k, some, cond);
	block_append(op_body(s->k, some), arrive_op(s, loc, at, false));
	return some;
}

/* Whether anyone waits until position at has been read. */
static bool is_filled_again(const Sync *s, const Ix *at)
{
	return s->last >= s->slots && s->last - s->slots >= ix_least(at, s->facts);
}

/* Whether the ring goes on after the loop: in a loop around it, or in what follows. */
static bool goes_on(const Sync *s, const Op *loop)
{
	const Op *role = op_role(loop);
	if (op_around(op_parent(loop), OP_FOR))
		return true;
	for (const Op *op = op_next(loop); op && op_role(op) == role; op = op_next(op))
		if (!op_inside(op, loop) && sync_read_at(s, op))
			return true;
	return false;
}

/* ------------------------------------------------------------------ who reads a position */
/* Where a position is waited for, and where its slot is given back. */
typedef struct {
	const Ix *at;
	Op *first, *last; /* of one block: instructions that read it, or loops of such */
	Op *first_read, *last_read;
	bool at_once; /* some read by instructions, which are done in program order */
} Region;
typedef VEC(Region) Regions;

/* The instruction, or the loop around it that as a whole reads this one position. */
static Op *anchor_of(Op *op, const Ix *at)
{
	Op *up = op_parent(op);
	while (up && up->kind == OP_FOR && !varies_in(at, up)) {
		op = up;
		up = op_parent(op);
	}
	return op;
}

static void add_read(const Sync *s, Regions *all, Op *op, const Ix *at)
{
	Op *anchor = anchor_of(op, at);
	bool at_once = !op_done_by(op, DONE_BY_WARPGROUP);
	EACH(Region, r, *all) {
		if (r->at != at || r->first->block != anchor->block)
			continue;
		r->last = anchor;
		r->last_read = op;
		r->at_once |= at_once;
		return;
	}
	vec_push(ctx_arena(s->k->ctx), all, ((Region){at, anchor, anchor, op, op, at_once}));
}

/* ------------------------------------------------------------------ groups under way */
/* After the wait by which the group has ended, in its iteration or a later one. */
static void release_late(const Sync *s, const Groups *groups, const Region *r, const Group *g)
{
	Kernel *k = s->k;
	Ctx *c = k->ctx;
	const GroupLoop *l = group_loop(groups, g->loop);
	const char *name = g->loop->sym[0];
	const Ix *n = ix_int(k, g->later), *here = ix_sym(c, name);
	const Ix *at = ix_subst(c, r->at, name, ix_sub(c, here, n));
	const Ix *old = ix_new(c, IX_LE, n, ix_sub(c, here, IX(g->loop, FROM)));
	Loc loc = g->wait->loc;
	op_insert_after(g->wait,
			g->later ? arrive_if(s, loc, old, at) : arrive_op(s, loc, at, false));
	const Ix *trips = ix_sub(c, IX(g->loop, TO), IX(g->loop, FROM));
	for (int back = 1; back <= g->later && l->drain && goes_on(s, g->loop); back++) {
		const Ix *ago = ix_int(k, back), *there = ix_sub(c, IX(g->loop, TO), ago);
		op_insert_after(l->drain, arrive_if(s, g->loop->loc, ix_new(c, IX_LE, ago, trips),
						    ix_subst(c, r->at, name, there)));
	}
}

/* ------------------------------------------------------------------ at once */
/* After which the region's reads are over. */
static Op *end_of(const Groups *groups, const Region *r)
{
	const Group *g = group_of(groups, r->last);
	const GroupLoop *l = group_loop(groups, r->last);
	if (g)
		return g->wait;
	return l && l->drain ? l->drain : r->last;
}

/* The lanes meet. Where the ring is filled through the async proxy, each first orders its own reads
 * before that (PTX ISA, async proxy; docs/verification.md says what happens without). */
static Op *meet(const Sync *s, Op *behind)
{
	if (s->effects & FX_AW)
		behind = op_after(s->k, behind, OP_FENCE_ASYNC);
	return sync_is_elected(behind) ? behind : op_after(s->k, behind, OP_BAR_WARP);
}

/* Where instructions have read, the lanes meet, and one of them speaks for all. */
static void release(const Sync *s, const Groups *groups, const Region *r)
{
	Op *end = end_of(groups, r);
	if (!is_filled_again(s, r->at))
		return;
	if (r->at_once)
		end = meet(s, end);
	op_insert_after(end, arrive_op(s, r->last_read->loc, r->at, sync_is_elected(end)));
}

/* What lanes copy comes through the generic proxy: who reads it through the async one fences, once
 * told that it is there. A fence anywhere between the two orders them (PTX ISA, causality order);
 * where lanes copy, it would have to wait for what is under way. */
static void await(const Sync *s, const Region *r, Op *before)
{
	op_insert_before(before, sync_wait(s->k, r->first_read->loc, s->full, r->at, LAP_SAME));
	if (s->effects & FX_W && s->effects & FX_AR)
		op_before(s->k, before, OP_FENCE_ASYNC);
}

static void sync_region(const Sync *s, const Groups *groups, const Region *r)
{
	const Group *first = group_of(groups, r->first), *last = group_of(groups, r->last);
	await(s, r, first ? first->fence : r->first);
	if (!s->empty)
		return;
	if (last && last->loop && !r->at_once)
		release_late(s, groups, r, last);
	else
		release(s, groups, r);
}

void sync_reads(const Sync *s, const Groups *groups)
{
	Regions all = {0};
	for (Op *op = kernel_first(s->k); op; op = op_next(op))
		if (sync_read_at(s, op))
			add_read(s, &all, op, sync_read_at(s, op));
	for (int i = 0; i < all.n; i++)
		sync_region(s, groups, &all.at[i]);
}
