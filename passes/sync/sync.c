/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sync.c - all synchronisation, from the effects of ops.def and nothing else. For each ring:
 *   full[s]   one arrival that announces the bytes of one position's asynchronous writes, and one
 *             of each lane that copies
 *   empty[s]  one arrival of every warp that reads
 * A run of asynchronous writes that complete on an mbarrier is preceded by a wait for the slot
 * (passed on the first lap) and the announcement; a run of asynchronous reads by a wait for its
 * bytes, and followed, as groups retire `inflight` later, by the release of the slot. What one lane
 * writes by itself is followed by its arrival instead.
 *     load.tma %sA[k]    ->  mbar.wait %empty[k] lap=1; mbar.expect %full[k] bytes
 *                            load.tma ..., %full[k]
 *     mma.wgmma %sA[k]   ->  mbar.wait %full[k] lap=0; wgmma.fence; mma.wgmma; wgmma.commit
 *                            wgmma.wait; mbar.arrive %empty[k - inflight] */
#include "passes/sync/sync.h"

enum { BARRIER_BYTES = 8 };

/* ------------------------------------------------------------------ asking the rows */
/* The position of op's operand with one of `effects` on a buffer of the ring. */
static const Ix *touches(const Sync *s, const Op *op, int effects)
{
	for (int i = 0; i < op->nin; i++)
		if ((op_effect(op, i) & effects) && operand_on_ring(&op->in[i], s->ring))
			return op->in[i].at;
	return NULL;
}

static const Ix *write_at(const Sync *s, const Op *op)
{
	return op_done_by(op, DONE_BY_BARRIER) ? touches(s, op, FX_AW) : NULL;
}

const Ix *sync_copy_at(const Sync *s, const Op *op)
{
	return op_done_by(op, DONE_BY_LANES) ? touches(s, op, FX_W) : NULL;
}

static const Ix *put_at(const Sync *s, const Op *op)
{
	return op_done_by(op, DONE_BY_LANE) ? touches(s, op, FX_W) : NULL;
}

const Ix *sync_fill_at(const Sync *s, const Op *op)
{
	const Ix *at = write_at(s, op);
	at = at ? at : put_at(s, op);
	return at ? at : sync_copy_at(s, op);
}

const Ix *sync_read_at(const Sync *s, const Op *op)
{
	return touches(s, op, FX_R | FX_AR);
}

static int64_t bytes_written(const Op *op)
{
	int64_t bytes = 0;
	for (int i = 0; i < op->nin; i++)
		if (op_effect(op, i) & FX_AW)
			bytes += type_slot_bytes(op->in[i].val->type);
	return bytes / attrs_int(&op->attrs, A_WARPS, 1);
}

/* ------------------------------------------------------------------ ops */
Op *sync_barrier_op(Kernel *k, OpKind kind, Loc loc, Val *barrier, const Ix *at)
{
	Op *op = op_new(k, kind, loc);
	op_in(k, op, barrier, at);
	return op;
}

Op *sync_wait(Kernel *k, Loc loc, Val *barrier, const Ix *at, int lap)
{
	Op *op = sync_barrier_op(k, OP_MBAR_WAIT, loc, barrier, at);
	op_int(k, op, A_LAP, lap);
	return op;
}

/* All that is done to the ring. */
static int effects_on(const Sync *s)
{
	int all = 0;
	for (const Op *op = kernel_first(s->k); op; op = op_next(op))
		for (int i = 0; i < op->nin; i++)
			if (operand_on_ring(&op->in[i], s->ring))
				all |= op_effect(op, i);
	return all;
}

/* ------------------------------------------------------------------ writes */
/* The last op of the run that starts at op: writes at one position, with what computes their
 * operands between. */
static Op *write_run(const Sync *s, Op *op, int64_t *bytes)
{
	Op *last = op;
	const Ix *at = write_at(s, op);
	for (*bytes = 0; op; op = op->next) {
		const Ix *here = write_at(s, op);
		if (here == at) {
			*bytes += bytes_written(op);
			last = op;
		} else if (here || !(op_rows[op->kind].flags & OPF_PURE)) {
			break;
		}
	}
	return last;
}

bool sync_is_elected(const Op *op)
{
	return op_around(op, OP_ELECT);
}

/* From first to last, by one lane of the role's first warp. All lanes run what follows, which is
 * all that PTX asks for aligned instructions: ptxas brings the lanes together before one (BSYNC,
 * WARPSYNC.ALL), so that no bar.warp stands after a branch. */
static void by_one_thread(Kernel *k, Op *first, Op *last)
{
	const Op *role = op_role(first);
	Op *only = op_before(k, first, OP_IF), *elect = op_new(k, OP_ELECT, first->loc);
	op_ix(k, only,
	      ix_new(k->ctx, IX_EQ, ix_sym(k->ctx, "warp"),
		     ix_int(k, attrs_int(&role->attrs, A_FIRST, 0))));
	block_append(op_body(k, only), elect);
	for (Op *op = first, *next, *end = last->next; op != end; op = next) {
		next = op->next;
		block_append(op_body(k, elect), op);
	}
}

bool on_first_lap(IxFacts facts, const Ix *at, int64_t slots)
{
	return ix_within(at, facts, 0, slots - 1);
}

/* Lanes copy beside it, and all of them have waited for the slot. */
static bool lanes_fill(const Sync *s, const Block *b, const Ix *at)
{
	bool some = false;
	for (const Op *op = b->first; op && !some; op = op->next)
		some = sync_copy_at(s, op) == at;
	return some;
}

static void sync_writes(const Sync *s, Op *first)
{
	Kernel *k = s->k;
	int64_t bytes;
	const Ix *at = write_at(s, first);
	Op *last = write_run(s, first, &bytes), *begin;
	Op *expect = begin = sync_barrier_op(k, OP_MBAR_EXPECT, first->loc, s->full, at);
	op_int(k, expect, A_BYTES, bytes);
	op_insert_before(first, expect);
	if (s->empty && !on_first_lap(s->facts, at, s->slots) && !lanes_fill(s, first->block, at)) {
		begin = sync_wait(k, first->loc, s->empty, at, LAP_BEFORE);
		op_insert_before(expect, begin);
	}
	for (Op *op = first; op != last->next; op = op->next)
		if (write_at(s, op))
			op_in(k, op, s->full, at);
	if (!sync_is_elected(first))
		by_one_thread(k, begin, last);
}

/* What one lane writes by itself, it tells by its arrival; among others of its warp, when these
 * have met it. */
static void sync_put(const Sync *s, Op *op)
{
	Kernel *k = s->k;
	const Ix *at = put_at(s, op);
	Op *begin = op, *told = sync_barrier_op(k, OP_MBAR_ARRIVE, op->loc, s->full, at);
	if (s->empty && !on_first_lap(s->facts, at, s->slots)) {
		begin = sync_wait(k, op->loc, s->empty, at, LAP_BEFORE);
		op_insert_before(op, begin);
	}
	op_insert_after(op, told);
	if (sync_is_elected(op))
		return;
	Op *met = op_after(k, op, OP_BAR_WARP);
	by_one_thread(k, told, told);
	by_one_thread(k, begin, met->prev);
}

/* ------------------------------------------------------------------ rings */
/* How many turns share out the positions of a role that takes turns, unless all are told. */
static int64_t turns_of(const Op *role, const Op *op)
{
	return op_rows[op->kind].flags & OPF_EACH ? 1 : attrs_int(&role->attrs, A_TURNS, 1);
}

/* Warps that read each position: of a role that takes turns, those of one turn. Each releases for
 * itself, since wgmma.wait_group covers the warp that executes it alone. */
static int reading_warps(const Sync *s)
{
	const Op *seen = NULL;
	int warps = 0;
	for (const Op *op = kernel_first(s->k); op; op = op_next(op)) {
		const Op *role = op_role(op);
		if ((!sync_read_at(s, op)) || role == seen)
			continue;
		seen = role;
		warps += (int)(attrs_int(&role->attrs, A_ACTIVE, 0) / turns_of(role, op));
	}
	return warps;
}

static int64_t ctas_of(const Attr *into, int rank)
{
	return into ? __builtin_popcountll((unsigned long long)into->i[rank]) : 1;
}

/* Of how many CTAs the consumers read what one CTA loads. */
static int most_ctas(const Attr *into)
{
	int64_t most = 1;
	for (int r = 0; into && r < into->n; r++)
		most = ctas_of(into, r) > most ? ctas_of(into, r) : most;
	return (int)most;
}

static Val *barrier_new(Kernel *k, const Op *ring, const char *what, int count)
{
	int64_t slots = attrs_int(&ring->attrs, A_SLOTS, 0), at = attrs_int(&k->attrs, A_SMEM, 0);
	Op *op = op_new(k, OP_MBARRIER, ring->loc);
	op_str(k, op, A_RING, ring->sym[0]);
	op_int(k, op, A_SLOTS, slots);
	op_int(k, op, A_OFFSET, at);
	op_int(k, op, A_COUNT, count);
	kernel_int(k, A_SMEM, at + BARRIER_BYTES * slots);
	op_insert_before(kernel_find(k, OP_ROLE), op);
	return op_result(k, op, ctx_strf(k->ctx, "%s.%s", ring->sym[0], what), type_mbar(k->ctx));
}

static int64_t last_write(const Sync *s)
{
	int64_t last = -1;
	for (const Op *op = kernel_first(s->k); op; op = op_next(op)) {
		const Ix *at = sync_fill_at(s, op);
		int64_t most = at ? ix_most(at, s->facts) : -1;
		last = most > last ? most : last;
	}
	return last;
}

static bool slots_are_reused(const Sync *s)
{
	for (const Op *op = kernel_first(s->k); op; op = op_next(op))
		if (sync_fill_at(s, op) && !on_first_lap(s->facts, sync_fill_at(s, op), s->slots))
			return true;
	return false;
}

static int more_of(int a, int b)
{
	return a > b ? a : b;
}

/* Arrivals of a phase: with the bytes of a load, of each warp that issues a part of it, and of each
 * lane that copies. */
static int filling_arrivals(const Sync *s)
{
	int announced = 0, lanes = 0;
	for (const Op *op = kernel_first(s->k); op; op = op_next(op)) {
		if (write_at(s, op) || put_at(s, op))
			announced = more_of(announced, (int)attrs_int(&op->attrs, A_WARPS, 1));
		if (sync_copy_at(s, op))
			lanes = WARP_THREADS * (int)attrs_int(&op->attrs, A_WARPS, 1);
	}
	return announced + lanes;
}

static void sync_ring(Kernel *k, Op *ring, const Groups *groups)
{
	Sync s = {.k = k, .ring = ring->sym[0], .facts = kernel_facts(k)};
	s.slots = attrs_int(&ring->attrs, A_SLOTS, 0);
	s.into = attrs_get(&ring->attrs, A_INTO);
	s.from = attrs_get(&ring->attrs, A_FROM);
	s.last = last_write(&s);
	s.effects = effects_on(&s);
	s.full = barrier_new(k, ring, "full", filling_arrivals(&s));
	if (slots_are_reused(&s))
		s.empty = barrier_new(k, ring, "empty", reading_warps(&s) * most_ctas(s.into));
	sync_copies(&s);
	for (Op *op = kernel_first(k); op; op = op_next(op))
		if (write_at(&s, op) && !HAS_IN(op, BARRIER))
			sync_writes(&s, op);
		else if (put_at(&s, op))
			sync_put(&s, op);
	sync_reads(&s, groups);
}

PASS_OF(sync)
{
	Groups groups = sync_groups(k);
	for (Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING)) {
		if (ring_is_filled(k, ring))
			sync_ring(k, ring, &groups);
		else if (attrs_get(&ring->attrs, A_PUT))
			sync_puts(k, ring);
		else if (!sync_staging(k, ring))
			sync_exchange(k, ring);
	}
}

/* ------------------------------------------------------------------ the start and the end */
/* Arrivals of a phase where they differ by rank: of the readers of each CTA that it fills. */
static const Ix *count_by_rank(const Kernel *k, const Op *barrier)
{
	const Op *ring = kernel_ring(k, attrs_str(&barrier->attrs, A_RING, ""));
	const Attr *sets = attrs_get(&ring->attrs, A_INTO);
	int64_t count = attrs_int(&barrier->attrs, A_COUNT, 1), most = most_ctas(sets);
	int64_t counts[CLUSTER_CTAS];
	if (most == 1 || sync_announces_loads(k, barrier->out))
		return NULL;
	for (int r = 0; r < sets->n; r++)
		counts[r] = count / most * ctas_of(sets, r);
	const Ix *x = ix_of_ranks(k->ctx, counts, sets->n);
	return ix_is_const(x, NULL) ? NULL : x;
}

static void init_ring(Kernel *k, Block *b, const Op *barrier)
{
	Op *loop = op_append(k, b, OP_FOR, barrier->loc);
	const char *name = kernel_fresh(k, "i");
	const Ix *count = count_by_rank(k, barrier);
	const Ix *slots = ix_int(k, attrs_int(&barrier->attrs, A_SLOTS, 0));
	const Ix *slot = op_turns(k, loop, name, slots, 1);
	Op *init = sync_barrier_op(k, OP_MBAR_INIT, barrier->loc, barrier->out, slot);
	op_int(k, init, A_COUNT, attrs_int(&barrier->attrs, A_COUNT, 1));
	if (count)
		op_ix(k, init, count);
	block_append(op_body(k, loop), init);
}

static bool ctas_share(const Kernel *k)
{
	for (const Op *r = kernel_find(k, OP_RING); r; r = op_find_next(r, OP_RING))
		if (attrs_get(&r->attrs, A_INTO))
			return true;
	return false;
}

static bool waits_for_bytes(const Kernel *k, const Op *role)
{
	for (const Op *op = role->body->first; op && op_inside(op, role); op = op_next(op))
		if (op->kind == OP_MBAR_WAIT && sync_announces_loads(k, IN(op, BARRIER).val))
			return true;
	return false;
}

static bool arrives_elsewhere(const Op *role)
{
	for (const Op *op = role->body->first; op && op_inside(op, role); op = op_next(op))
		if (op->kind == OP_MBAR_ARRIVE && op->nix)
			return true;
	return false;
}

static bool reads_peers(const Op *role)
{
	for (const Op *op = role->body->first; op && op_inside(op, role); op = op_next(op))
		if (sync_reads_peers(op))
			return true;
	return false;
}

/* No CTA is gone while another still arrives on its barriers or reads its memory. What is written
 * into it has been waited for, and threads that have exited count as arrived: who only loads need
 * not stay. */
PASS_OF(leave)
{
	for (Op *role = kernel_find(k, OP_ROLE); role; role = op_find_next(role, OP_ROLE))
		if ((waits_for_bytes(k, role) && arrives_elsewhere(role)) || reads_peers(role))
			op_append(k, role->body, OP_BAR_CLUSTER, role->loc);
}

/* One thread makes the barriers, everyone waits for them before any role starts. */
PASS_OF(init)
{
	if (!kernel_find(k, OP_MBARRIER))
		return;
	Op *first = kernel_find(k, OP_ROLE);
	Op *only = op_before(k, first, OP_IF);
	op_ix(k, only, ix_new(k->ctx, IX_EQ, ix_sym(k->ctx, "warp"), ix_int(k, 0)));
	Op *elect = op_append(k, op_body(k, only), OP_ELECT, k->loc);
	for (const Op *b = kernel_find(k, OP_MBARRIER); b; b = op_find_next(b, OP_MBARRIER))
		init_ring(k, op_body(k, elect), b);
	if (target_has(k->target, FT_MBAR_TX))
		op_append(k, op_body(k, elect), OP_FENCE_INIT, k->loc);
	Op *meet = op_before(k, first, ctas_share(k) ? OP_BAR_CLUSTER : OP_BAR_CTA);
	if (meet->kind == OP_BAR_CLUSTER)
		op_int(k, meet, A_RELAXED, 1); /* the fence is the release */
}
