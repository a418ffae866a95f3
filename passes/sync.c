/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sync.c - all synchronisation, from the effects of ops.def and nothing else. For each ring:
 *   full[s]   one arrival that announces the bytes of one position's asynchronous writes
 *   empty[s]  one arrival of every warp that reads
 * A run of asynchronous writes that complete on an mbarrier is preceded by a wait for the slot
 * (passed on the first lap) and the announcement; a run of asynchronous reads by a wait for its
 * bytes, and followed, as groups retire `inflight` later, by the release of the slot.
 *     load.tma %sA[k]    ->  mbar.wait %empty[k] lap=1; mbar.expect %full[k] bytes
 *                            load.tma ..., %full[k]
 *     mma.wgmma %sA[k]   ->  mbar.wait %full[k] lap=0; wgmma.fence; mma.wgmma; wgmma.commit
 *                            wgmma.wait; mbar.arrive %empty[k - inflight] */
#include "passes/share.h"
#include "passes/sync.h"

#include <string.h>

enum { BARRIER_BYTES = 8, LAP_SAME = 0, LAP_BEFORE = 1 };

typedef struct {
	Kernel *k;
	const char *ring;
	Val *full, *empty; /* no empty: no slot is filled twice */
	int64_t slots;
	int inflight;
	const Attr *into, *from; /* where CTAs fill each other's slots */
	bool paced;
} Sync;

/* ------------------------------------------------------------------ asking the rows */
/* The ring position of op's operand with one of `effects` on a buffer of the ring; NULL if it has
 * none. */
static const Ix *touches(const Sync *s, const Op *op, int effects)
{
	for (int i = 0; i < op->nin; i++) {
		const Val *v = op->in[i].val;
		if ((op_effect(op, i) & effects) && v->type->kind == TY_TILE &&
		    v->type->space == SP_SHARED && attrs_str(&v->def->attrs, A_RING, "") == s->ring)
			return op->in[i].at;
	}
	return NULL;
}

static const Ix *writes(const Sync *s, const Op *op)
{
	return op_rows[op->kind].effects & FX_DONE_MBAR ? touches(s, op, FX_AW) : NULL;
}

/* By wgmma, which is done when its group is. */
static const Ix *reads(const Sync *s, const Op *op)
{
	return op_rows[op->kind].effects & FX_DONE_WGMMA ? touches(s, op, FX_AR) : NULL;
}

/* By instructions, which are done in program order. */
static const Ix *reads_at_once(const Sync *s, const Op *op)
{
	return touches(s, op, FX_R);
}

static int64_t bytes_written(const Op *op)
{
	int64_t bytes = 0;
	for (int i = 0; i < op->nin; i++)
		if (op_effect(op, i) & FX_AW)
			bytes += type_slot_bytes(op->in[i].val->type);
	return bytes;
}

/* ------------------------------------------------------------------ ops */
static Op *barrier_op(Kernel *k, OpKind kind, Loc loc, Val *barrier, const Ix *at)
{
	Op *op = op_new(k, kind, loc);
	op_in(k, op, barrier, at);
	return op;
}

static Op *wait_op(Kernel *k, Loc loc, Val *barrier, const Ix *at, int lap)
{
	Op *op = barrier_op(k, OP_MBAR_WAIT, loc, barrier, at);
	op_int(k, op, A_LAP, lap);
	return op;
}

static Op *wgmma_wait_op(Kernel *k, Loc loc, int groups)
{
	Op *op = op_new(k, OP_WGMMA_WAIT, loc);
	op_int(k, op, A_N, groups);
	return op;
}

/* ------------------------------------------------------------------ writes */
/* The last op of the run that starts at op: writes at one position, with what computes their
 * operands between. */
static Op *write_run(const Sync *s, Op *op, int64_t *bytes)
{
	Op *last = op;
	const Ix *at = writes(s, op);
	for (*bytes = 0; op; op = op->next) {
		const Ix *here = writes(s, op);
		if (here == at) {
			*bytes += bytes_written(op);
			last = op;
		} else if (here || !(op_rows[op->kind].flags & OPF_PURE)) {
			break;
		}
	}
	return last;
}

static bool is_elected(const Op *op)
{
	while (op && op->kind != OP_ELECT)
		op = op_parent(op);
	return op;
}

/* From first to last, by one lane of the role's first warp. All lanes run what follows, which is
 * all that PTX asks for aligned instructions. */
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
		op_remove(op);
		block_append(op_body(k, elect), op);
	}
}

bool on_first_lap(const Kernel *k, const Ix *at, int64_t slots)
{
	int64_t lo, hi;
	ix_range(at, kernel_facts(k), &lo, &hi);
	return lo >= 0 && hi < slots;
}

/* This CTA has its slot free, and may fill those of `into`: each of the others counts on it. */
static void tell_others(const Sync *s, Op *first, const Ix *at)
{
	Kernel *k = s->k;
	Ctx *c = k->ctx;
	for (int to = 0; to < s->into->n; to++) {
		uint16_t tell[CLUSTER_CTAS];
		bool any = false;
		for (int r = 0; r < s->into->n; r++) {
			tell[r] = r != to && (s->into->i[r] >> to & 1);
			any |= tell[r];
		}
		if (!any)
			continue;
		Op *some = op_before(k, first, OP_IF);
		Op *arrive = barrier_op(k, OP_MBAR_ARRIVE, first->loc, s->full, at);
		op_ix(k, some, ix_of_sets(c, tell, s->into->n));
		op_ix(k, arrive, ix_int(k, to));
		block_append(op_body(k, some), arrive);
	}
}

static void sync_writes(const Sync *s, Op *first)
{
	Kernel *k = s->k;
	int64_t bytes;
	const Ix *at = writes(s, first);
	Op *last = write_run(s, first, &bytes), *begin;
	Op *expect = begin = barrier_op(k, OP_MBAR_EXPECT, first->loc, s->full, at);
	op_int(k, expect, A_BYTES, bytes);
	op_insert_before(first, expect);
	if (s->paced)
		tell_others(s, first, at);
	if (s->empty && !on_first_lap(k, at, s->slots)) {
		begin = wait_op(k, first->loc, s->empty, at, LAP_BEFORE);
		op_insert_before(expect, begin);
	}
	for (Op *op = first; op != last->next; op = op->next)
		if (writes(s, op))
			op_in(k, op, s->full, at);
	if (!is_elected(first))
		by_one_thread(k, begin, last);
}

/* ------------------------------------------------------------------ reads */
static bool ring_goes_on(const Op *loop)
{
	for (const Op *op = op_parent(loop); op; op = op_parent(op))
		if (op->kind == OP_FOR)
			return true;
	return false;
}

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
	   *arrive = barrier_op(k, OP_MBAR_ARRIVE, loc, s->empty, at);
	op_ix(k, some, in_set(c, lane, from));
	op_ix(k, arrive, lane);
	block_append(op_body(k, some), arrive);
	return some;
}

static Op *arrive_op(const Sync *s, Loc loc, const Ix *at)
{
	if (s->from)
		return arrive_on_all(s, loc, at);
	Op *elect = op_new(s->k, OP_ELECT, loc);
	block_append(op_body(s->k, elect), barrier_op(s->k, OP_MBAR_ARRIVE, loc, s->empty, at));
	return elect;
}

/* Whether anyone waits until position at has been read. */
static bool is_filled_again(const Sync *s, const Ix *at)
{
	int64_t lo, last, other;
	ix_range(at, kernel_facts(s->k), &lo, &other);
	for (const Op *op = kernel_first(s->k); op; op = op_next(op)) {
		if (!writes(s, op))
			continue;
		ix_range(writes(s, op), kernel_facts(s->k), &other, &last);
		if (last >= s->slots && last - s->slots >= lo)
			return true;
	}
	return false;
}

/* Before and after the run of reads that `first` begins. What fills the slot again writes through
 * the async proxy: each lane orders its own reads before that, then the lanes meet, and one of them
 * speaks for all (PTX ISA, async proxy; docs/verification.md says what happens without). */
static void sync_reads_at_once(const Sync *s, Op *first)
{
	Kernel *k = s->k;
	const Ix *at = reads_at_once(s, first);
	Op *last = first;
	while (last->next && reads_at_once(s, last->next) == at)
		last = last->next;
	op_insert_before(first, wait_op(k, first->loc, s->full, at, LAP_SAME));
	if (!s->empty || !is_filled_again(s, at))
		return;
	Op *fence = op_after(k, last, OP_FENCE_ASYNC), *meet = op_after(k, fence, OP_BAR_WARP);
	op_insert_after(meet, arrive_op(s, last->loc, at));
}

/* Groups retire in order: once at most n are left, the one of n iterations ago is done with its
 * slot. */
static Op *release_op(const Sync *s, Loc loc, const Ix *at, const Ix *iteration)
{
	Kernel *k = s->k;
	const Ix *n = ix_int(k, s->inflight);
	if (!s->inflight)
		return arrive_op(s, loc, at);
	Op *some = op_new(k, OP_IF, loc);
	op_ix(k, some, ix_new(k->ctx, IX_LE, n, iteration));
	block_append(op_body(k, some), arrive_op(s, loc, ix_sub(k->ctx, at, n)));
	return some;
}

/* What gives another warpgroup its turn need not wait for this one's groups. */
static bool is_signal(const Op *op)
{
	return op && op->kind == OP_IF && op->body->first && op->body->first->kind == OP_BAR_ARRIVE;
}

/* After the loop: what is still in flight ends, and, if the ring goes on, its slots are given
 * back. */
static void drain(const Sync *s, Op *loop, const Ix *at)
{
	Kernel *k = s->k;
	if (!s->inflight)
		return;
	Op *last = loop, *wait = wgmma_wait_op(k, loop->loc, 0);
	while (is_signal(last->next))
		last = last->next;
	op_insert_after(last, wait);
	if (!s->empty || !ring_goes_on(loop))
		return;
	const Ix *trips = ix_sub(k->ctx, loop->ix[1], loop->ix[0]);
	for (int back = 1; back <= s->inflight; back++) {
		const Ix *n = ix_int(k, back), *there = ix_sub(k->ctx, loop->ix[1], n);
		Op *some = op_after(k, wait, OP_IF);
		op_ix(k, some, ix_new(k->ctx, IX_LE, n, trips));
		block_append(op_body(k, some),
			     arrive_op(s, loop->loc, ix_subst(k->ctx, at, loop->sym[0], there)));
	}
}

static bool is_read_later(const Sync *s, const Op *last, const Ix *at)
{
	for (const Op *op = last->next; op; op = op->next)
		if (reads(s, op) == at)
			return true;
	return false;
}

static void sync_reads(const Sync *ring, Op *first)
{
	Sync run = *ring, *s = &run;
	Kernel *k = s->k;
	const Ix *at = reads(s, first);
	Op *last = first, *loop = op_parent(first);
	while (last->next && reads(s, last->next) == at)
		last = last->next;
	bool in_loop = loop && loop->kind == OP_FOR, gives_back = !is_read_later(s, last, at);
	run.inflight = in_loop ? group_inflight(loop, first, last, ring->inflight) : 0;
	op_insert_before(first, wait_op(k, first->loc, s->full, at, LAP_SAME));
	op_before(k, first, OP_WGMMA_FENCE);
	Op *commit = op_after(k, last, OP_WGMMA_COMMIT);
	Op *wait = wgmma_wait_op(k, last->loc, s->inflight);
	op_insert_after(commit, wait);
	const Ix *iteration =
		in_loop ? ix_sub(k->ctx, ix_sym(k->ctx, loop->sym[0]), loop->ix[0]) : at;
	if (s->empty && gives_back)
		op_insert_after(wait, release_op(s, last->loc, at, iteration));
	if (in_loop && gives_back)
		drain(s, loop, at);
}

/* ------------------------------------------------------------------ rings */
/* Warps that read each position: of a role that takes turns, those of one turn. */
static int reading_warps(const Sync *s)
{
	const Op *seen = NULL;
	int warps = 0;
	for (const Op *op = kernel_first(s->k); op; op = op_next(op)) {
		const Op *role = op_role(op);
		if ((!reads(s, op) && !reads_at_once(s, op)) || role == seen)
			continue;
		seen = role;
		warps += (int)(attrs_int(&role->attrs, A_ACTIVE, 0) /
			       attrs_int(&role->attrs, A_TURNS, 1));
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

static bool slots_are_reused(const Sync *s)
{
	for (const Op *op = kernel_first(s->k); op; op = op_next(op))
		if (writes(s, op) && !on_first_lap(s->k, writes(s, op), s->slots))
			return true;
	return false;
}

static bool is_waited_for(const Sync *s, const Op *op)
{
	const Op *before = op->prev;
	return before && (reads_at_once(s, before) ||
			  (before->kind == OP_MBAR_WAIT && before->in[0].val == s->full));
}

static void sync_ring(Kernel *k, Op *ring)
{
	Sync s = {.k = k,
		  .ring = ring->sym[0],
		  .inflight = (int)attrs_int(&k->attrs, A_INFLIGHT, 0)};
	s.slots = attrs_int(&ring->attrs, A_SLOTS, 0);
	s.into = attrs_get(&ring->attrs, A_INTO);
	s.from = attrs_get(&ring->attrs, A_FROM);
	s.paced = attrs_int(&ring->attrs, A_PACED, 0);
	s.full = barrier_new(k, ring, "full", s.paced ? most_ctas(s.from) : 1);
	if (slots_are_reused(&s))
		s.empty = barrier_new(k, ring, "empty", reading_warps(&s) * most_ctas(s.into));
	for (Op *op = kernel_first(k); op; op = op_next(op)) {
		if (writes(&s, op) && op->nin == 3)
			sync_writes(&s, op);
		else if (reads(&s, op) &&
			 !(op->prev && (op->prev->kind == OP_WGMMA_FENCE || reads(&s, op->prev))))
			sync_reads(&s, op);
		else if (reads_at_once(&s, op) && !is_waited_for(&s, op))
			sync_reads_at_once(&s, op);
	}
}

/* Whether bytes from global memory arrive on the barrier. */
static bool announces_loads(const Kernel *k, const Val *barrier)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		for (int i = 0; i < op->nin && (op_rows[op->kind].effects & FX_DONE_MBAR); i++)
			if (op->in[i].val == barrier)
				return true;
	return false;
}

/* ------------------------------------------------------------------ the start and the end */
/* Arrivals of a phase where they differ by rank: of each CTA that the ring's loads go to. */
static const Ix *count_by_rank(const Kernel *k, const Op *barrier)
{
	const Op *ring = kernel_ring(k, attrs_str(&barrier->attrs, A_RING, ""));
	bool fills = announces_loads(k, barrier->out);
	const Attr *sets = attrs_get(&ring->attrs, fills ? A_FROM : A_INTO);
	int64_t count = attrs_int(&barrier->attrs, A_COUNT, 1), most = most_ctas(sets);
	int64_t counts[CLUSTER_CTAS];
	if (count == 1 || most == 1)
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
	op_sym(k, loop, name);
	op_ix(k, loop, ix_int(k, 0));
	op_ix(k, loop, ix_int(k, attrs_int(&barrier->attrs, A_SLOTS, 0)));
	op_int(k, loop, A_UNROLL, 1);
	Op *init = barrier_op(k, OP_MBAR_INIT, barrier->loc, barrier->out, ix_sym(k->ctx, name));
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
		if (op->kind == OP_MBAR_WAIT && announces_loads(k, op->in[0].val))
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

/* No CTA is gone while another still arrives on its barriers. What is written into it has been
 * waited for, and threads that have exited count as arrived: who only loads need not stay. */
static void leave_together(Kernel *k)
{
	for (Op *role = kernel_find(k, OP_ROLE); role; role = op_find_next(role, OP_ROLE))
		if (waits_for_bytes(k, role) && arrives_elsewhere(role))
			op_append(k, role->body, OP_BAR_CLUSTER, role->loc);
}

/* One thread makes the barriers, everyone waits for them before any role starts. */
static void init_barriers(Kernel *k)
{
	Op *first = kernel_find(k, OP_ROLE);
	Op *only = op_before(k, first, OP_IF);
	op_ix(k, only, ix_new(k->ctx, IX_EQ, ix_sym(k->ctx, "warp"), ix_int(k, 0)));
	Op *elect = op_append(k, op_body(k, only), OP_ELECT, k->loc);
	for (const Op *b = kernel_find(k, OP_MBARRIER); b; b = op_find_next(b, OP_MBARRIER))
		init_ring(k, op_body(k, elect), b);
	op_append(k, op_body(k, elect), OP_FENCE_INIT, k->loc);
	Op *meet = op_before(k, first, ctas_share(k) ? OP_BAR_CLUSTER : OP_BAR_CTA);
	if (meet->kind == OP_BAR_CLUSTER)
		op_int(k, meet, A_RELAXED, 1); /* the fence is the release */
}

/* ------------------------------------------------------------------ launches that overlap */
static bool touches_global(const Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		const Type *t = op->in[i].val->type;
		if (op_effect(op, i) &&
		    (t->kind == TY_TMAP || (t->kind == TY_TILE && t->space == SP_GLOBAL)))
			return true;
	}
	return false;
}

/* Whether op always runs after a wait for loaded bytes: who loaded them has waited already. */
static bool follows_loads(const Kernel *k, const Op *op)
{
	for (; op && op->kind != OP_ROLE; op = op_parent(op))
		for (const Op *before = op->prev; before; before = before->prev)
			if (before->kind == OP_MBAR_WAIT && announces_loads(k, before->in[0].val))
				return true;
	return false;
}

/* Whether op or what is in it must wait. */
static bool must_wait(const Kernel *k, const Op *region)
{
	for (const Op *op = region; op == region || (op && op_inside(op, region)); op = op_next(op))
		if (touches_global(op) && !follows_loads(k, op))
			return true;
	return false;
}

static bool has_loop(const Op *region)
{
	for (const Op *op = op_next(region); op && op_inside(op, region); op = op_next(op))
		if (op->kind == OP_FOR)
			return true;
	return false;
}

/* Where a role waits: as late as one wait serves all that must, but outside of innermost loops.
 * Addresses of the first tile are computed before; later tiles wait for nothing. */
static Op *place_of_wait(const Kernel *k, Op *region)
{
	Op *only = NULL;
	for (Op *op = region->body->first; op; op = op->next) {
		if (!must_wait(k, op))
			continue;
		if (only)
			return only;
		only = op;
	}
	return only && has_loop(only) ? place_of_wait(k, only) : only;
}

/* Programmatic dependent launch: a role waits for earlier launches before it reads or writes what
 * they may still write or read; everything before that, and the next launch's beginning, overlaps.
 */
static void overlap_launches(Kernel *k)
{
	if (!attrs_int(&k->attrs, A_PDL, 1))
		return;
	for (Op *role = kernel_find(k, OP_ROLE); role; role = op_find_next(role, OP_ROLE)) {
		Op *at = place_of_wait(k, role);
		if (at)
			op_before(k, at, OP_GRID_WAIT);
	}
	op_before(k, kernel_find(k, OP_ROLE), OP_GRID_LAUNCH);
}

void pass_sync(Kernel *k)
{
	for (Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING)) {
		if (ring_filled_by_tma(k, ring))
			sync_ring(k, ring);
		else
			sync_staging(k, ring);
	}
	init_barriers(k);
	if (ctas_share(k))
		leave_together(k);
	overlap_launches(k);
}
