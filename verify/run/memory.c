/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* memory.c - reads and stores of shared-memory slots, the groups that complete them, fences between
 * the proxies, and accumulators in flight. An access is right if all that it depends on is known to
 * be over.
 *     read sA[0] before its load is known to have landed  ->  WHY_READ_EARLY
 */
#include "verify/run/run.h"

#include <string.h>

bool run_knows(const Run *r, int fact)
{
	return fact_known(r->m, r->s, r->agent, fact);
}

void run_forget_all(Run *r, const int *facts, int cell, AgentSet agents)
{
	pairs_forget(r->m, r->s, facts + cell * r->m->na, agents);
}

int run_unknown_of(const Run *r, const int *facts, int cell, AgentSet agents)
{
	for (AgentSet left = agents; left; left &= left - 1)
		if (!run_knows(r, fact_of(r, facts, cell, agent_first(left))))
			return agent_first(left);
	return -1;
}

bool run_global_ok(Run *r)
{
	return !r->m->pdl || run_knows(r, r->m->f_grid) || run_wrong(r, WHY_GRID, -1, -1, -1);
}

/* ------------------------------------------------------------------ reads */
static bool in_groups(const Group *g, int n, int cell)
{
	uint64_t some = 0;
	for (int i = 0; i <= n; i++)
		some |= g[i].cells[cell / 64];
	return some >> (cell % 64) & 1;
}

static bool reads_still(Run *r, int cell)
{
	const AgentState *a = agent_of(r->m, r->s, r->agent);
	return in_groups(a->mma, a->nmma, cell) || in_groups(a->bulk, a->nbulk, cell) ||
	       cell_in(a->loose, cell);
}

static bool content_there(Run *r, int cell, bool async)
{
	const Machine *m = r->m;
	const CellState *c = cell_of(m, r->s, cell);
	if (c->gone)
		return run_wrong(r, WHY_OVER_GONE, -1, cell, -1);
	if (c->pending >= 0 || (!c->mask && !c->writers) ||
	    (c->mask && !run_knows(r, m->f_wrote[cell])))
		return run_wrong(r, WHY_READ_EARLY, -1, cell, -1);
	if (c->mask && (c->mask & m->cells[cell].full) != m->cells[cell].full)
		return run_wrong(r, WHY_PARTLY, -1, cell, -1);
	AgentSet own = !async && run_reads_own(r) ? AGENT(r->agent) : 0;
	int writer = run_unknown_of(r, m->f_made, cell, c->writers & ~own);
	if (writer >= 0)
		return run_wrong(r, WHY_READ_WRITE, -1, cell, writer);
	writer = async ? run_unknown_of(r, m->f_fenced, cell, c->writers) : -1;
	return writer < 0 || run_wrong(r, WHY_PROXY, -1, cell, writer);
}

/* Whose copies are known to be there has none under way to this cell. */
static void copies_are_there(Run *r, int cell, AgentSet writers)
{
	for (AgentSet left = writers; left; left &= left - 1) {
		int by = agent_first(left), own = cell - cells_of(r->m, by);
		AgentState *a = agent_of(r->m, r->s, by);
		if (!run_knows(r, fact_of(r, r->m->f_made, cell, by)))
			continue;
		for (int i = 0; i <= a->ncopies; i++)
			cell_put(a->copies[i].cells, own, false);
	}
}

static bool read_starts(Run *r, int cell, bool async)
{
	CellState *c = cell_of(r->m, r->s, cell);
	if (!content_there(r, cell, async))
		return false;
	if (r->m->fills)
		fills_read(r->m->fills, cell);
	if (c->mode == CELL_WRITTEN) {
		copies_are_there(r, cell, c->writers);
		run_forget_all(r, r->m->f_read, cell, c->readers);
		c->readers = 0;
		c->mode = CELL_READ;
	}
	bool goes_on = c->readers >> r->agent & 1;
	if (run_is_far(r, cell))
		goes_on &= cell_in(agent_of(r->m, r->s, r->agent)->far, cell % r->m->cells_each);
	else
		goes_on = goes_on && !run_reads_anew(r, cell) &&
			  reads_still(r, cell - cells_of(r->m, r->agent));
	c->readers |= AGENT(r->agent);
	if (!goes_on)
		pair_forget(r->m, r->s, fact_of(r, r->m->f_read, cell, r->agent));
	return true;
}

/* ------------------------------------------------------------------ groups */
static bool group_empty(const Group *g)
{
	return !g->cells[0] && !g->cells[1] && !g->acc;
}

bool run_copies_to(const AgentState *a, int cell)
{
	return in_groups(a->copies, a->ncopies, cell);
}

/* Of a slot that lanes also stored to it is not known whether that is there. */
void run_tell_copies(Run *r, int key)
{
	const AgentState *a = agent_of(r->m, r->s, r->agent);
	int first = cells_of(r->m, r->agent);
	for (int cell = 0; cell < r->m->cells_each; cell++) {
		int fact = fact_of(r, r->m->f_made, first + cell, r->agent);
		if (fact != NO_FACT && run_copies_to(a, cell) && !cell_in(a->owed.stored, cell))
			fact_set(r->m, r->s, knows_next(r->m, key), fact);
	}
}

/* Reads through the generic proxy that the async proxy may not see before its writes. */
static bool bars_copies(const Owed *o, int cell)
{
	return cell_in(o->bare, cell) || cell_in(o->bare_one, cell) ||
	       cell_in(o->bare_some, cell) || cell_in(o->shut, cell);
}

/* Reads of these cells by the agent end, but where others of its reads go on. */
void run_reads_end(Run *r, const uint64_t *cells)
{
	const Owed *owed = &agent_of(r->m, r->s, r->agent)->owed;
	int first = cells_of(r->m, r->agent);
	for (int w = 0; w < MAX_CELLS / 64; w++)
		for (uint64_t bits = cells[w]; bits; bits &= bits - 1) {
			int cell = 64 * w + __builtin_ctzll(bits);
			if (reads_still(r, cell))
				continue;
			fact_make(r->m, r->s, r->agent,
				  fact_of(r, r->m->f_read, first + cell, r->agent));
			if (!bars_copies(owed, cell))
				fact_make(r->m, r->s, r->agent,
					  fact_of(r, r->m->f_left, first + cell, r->agent));
		}
}

static void writes_end(Run *r, uint64_t *cells, const int *facts)
{
	int first = cells_of(r->m, r->agent);
	for (int w = 0; w < MAX_CELLS / 64; w++)
		for (; cells[w]; cells[w] &= cells[w] - 1) {
			int cell = first + 64 * w + __builtin_ctzll(cells[w]);
			fact_make(r->m, r->s, r->agent, fact_of(r, facts, cell, r->agent));
		}
}

/* Reads in other CTAs. That the async proxy may write there then is nobody's concern. */
static void far_end(Run *r)
{
	const Machine *m = r->m;
	AgentState *a = agent_of(m, r->s, r->agent);
	for (int i = 0; i < m->nc; i++) {
		bool reads = run_is_far(r, i) && cell_in(a->far, i % m->cells_each) &&
			     cell_of(m, r->s, i)->readers >> r->agent & 1;
		if (reads)
			fact_make(m, r->s, r->agent, fact_of(r, m->f_read, i, r->agent));
	}
	memset(a->far, 0, sizeof a->far);
}

static bool reads_far(const AgentState *a)
{
	uint64_t some = 0;
	for (int w = 0; w < MAX_CELLS / 64; w++)
		some |= a->far[w];
	return some != 0;
}

void run_meet(Run *r)
{
	AgentState *a = agent_of(r->m, r->s, r->agent);
	uint64_t over[MAX_CELLS / 64];
	for (int w = 0; w < MAX_CELLS / 64; w++) {
		over[w] = a->loose[w] | a->owed.shut[w];
		a->loose[w] = a->owed.shut[w] = a->owed.again[w] = 0;
	}
	run_reads_end(r, over);
	writes_end(r, a->wrote, r->m->f_made);
	writes_end(r, a->fenced, r->m->f_fenced);
	if (reads_far(a))
		far_end(r);
}

/* By all lanes of a warp it is over for all of them when they have met. */
static bool read(Run *r, const Step *st)
{
	AgentState *a = agent_of(r->m, r->s, r->agent);
	if (!run_knows_lanes(r, st, st->cell) || !read_starts(r, st->cell, false))
		return false;
	if (run_is_far(r, st->cell)) {
		cell_put(a->far, st->cell % r->m->cells_each, true);
		return st->lanes > 1 || run_wrong(r, WHY_SOME_LANES, -1, st->cell, -1);
	}
	int cell = st->cell - cells_of(r->m, r->agent);
	uint64_t cells[MAX_CELLS / 64] = {0};
	cell_put(cells, cell, true);
	if (st->lanes == 1) {
		cell_put(a->owed.bare_one, cell, true);
		run_lane_did(r, st);
		run_reads_end(r, cells);
	} else {
		cell_put(st->n ? a->owed.bare_some : a->owed.bare, cell, true);
		cell_put(a->loose, cell, true);
	}
	return true;
}

/* Of nothing: what is there counts as read. What is not is nobody's concern. */
static bool pass(Run *r, const Step *st)
{
	CellState *c = cell_of(r->m, r->s, st->cell);
	Why none, *why = r->why;
	r->why = &none;
	if (c->mode == CELL_WRITTEN && read_starts(r, st->cell, false))
		c->readers = 0;
	r->why = why;
	return true;
}

static void fence_some(Run *r)
{
	Owed *owed = &agent_of(r->m, r->s, r->agent)->owed;
	for (int w = 0; w < MAX_CELLS / 64; w++) {
		owed->shut[w] |= owed->bare_some[w];
		owed->bare_some[w] = 0;
	}
}

/* Each lane orders what it read itself: for all of them it is done when they have met. */
static void fence_reads(Run *r)
{
	Owed *owed = &agent_of(r->m, r->s, r->agent)->owed;
	uint64_t one[MAX_CELLS / 64];
	fence_some(r);
	for (int w = 0; w < MAX_CELLS / 64; w++) {
		owed->shut[w] |= owed->bare[w];
		one[w] = owed->bare_one[w];
		owed->bare[w] = owed->bare_one[w] = 0;
	}
	run_reads_end(r, one);
}

/* What it knows to be written through the generic proxy, the async proxy sees from now on. */
static void fence_writes(Run *r)
{
	const Machine *m = r->m;
	AgentState *a = agent_of(m, r->s, r->agent);
	int known = knows_agent(m, r->agent), own = knows_own(m, r->agent);
	memcpy(a->fenced, a->wrote, sizeof a->fenced);
	memcpy(a->owed.fenced_one, a->owed.wrote_one, sizeof a->owed.fenced_one);
	for (int w = 0; w < m->words; w++) {
		uint64_t *at = facts_word(m, r->s, w);
		at[known] |= (at[known] & m->made[w]) << 1;
		at[own] |= (at[own] & m->made[w]) << 1;
	}
}

/* Who has fenced what he wrote hands it on. */
static void hand_on(Run *r)
{
	Owed *owed = &agent_of(r->m, r->s, r->agent)->owed;
	for (int w = 0; w < MAX_CELLS / 64; w++)
		for (uint64_t bits = r->m->written[r->agent][w]; bits; bits &= bits - 1) {
			int cell = 64 * w + __builtin_ctzll(bits);
			bool over = !run_copies_to(agent_of(r->m, r->s, r->agent), cell);
			cell_put(owed->handed, cell,
				 over && run_wrote(r, cells_of(r->m, r->agent) + cell));
		}
}

/* Whether it wrote, or knows of a write, that is not fenced; or one of its lanes read. */
static bool has_unfenced(Run *r)
{
	const Machine *m = r->m;
	const AgentState *a = agent_of(m, r->s, r->agent);
	uint64_t some = 0;
	for (int w = 0; w < MAX_CELLS / 64; w++)
		some |= (a->wrote[w] & ~a->fenced[w]) | a->owed.bare_one[w];
	int first = cells_of(m, r->agent);
	for (int i = 0; i < m->cells_each && !some; i++)
		some = run_wrote(r, first + i) && !cell_in(a->owed.handed, i);
	for (int w = 0; w < m->words && !some; w++) {
		uint64_t known = facts_word(m, r->s, w)[knows_agent(m, r->agent)];
		some = known & m->made[w] & ~(known >> 1);
	}
	return some != 0;
}

/* By some lanes it orders nothing that others read; n: what these alone read; mask: these are all
 * that read and write. */
static bool fence(Run *r, const Step *st)
{
	AgentState *a = agent_of(r->m, r->s, r->agent);
	if (r->m->fills)
		fills_fence(r->m->fills, r->agent);
	if (st->n)
		fence_some(r);
	if (st->lanes < WARP_LANES && st->mask) {
		fence_reads(r);
		hand_on(r);
		memcpy(a->fenced, a->wrote, sizeof a->fenced);
	}
	if (st->lanes < WARP_LANES)
		return !has_unfenced(r) || run_wrong(r, WHY_FENCE_LANES, -1, -1, -1);
	fence_reads(r);
	fence_writes(r);
	hand_on(r);
	return true;
}

static bool commit(Run *r, const Group *g, uint8_t *n)
{
	if (*n == MAX_GROUPS) {
		run_wrong(r, WHY_LIMIT, -1, -1, -1);
		r->why->n = MAX_GROUPS;
		return false;
	}
	if (*n || !group_empty(g)) /* else nothing before it is to be told apart from it */
		(*n)++;
	return true;
}

/* The oldest. */
static void drop(Group *g, uint8_t *n, int gone)
{
	size_t left = (size_t)(MAX_GROUPS + 1 - gone);
	memmove(g, g + gone, sizeof *g * left);
	memset(g + left, 0, sizeof *g * (size_t)gone);
	*n = (uint8_t)(*n - gone);
}

/* All but the last `left` groups are over: so are their reads, unless a later group reads too. Of
 * stores only the lane knows it that stored. */
static void retire(Run *r, Group *g, uint8_t *n, int left)
{
	AgentState *a = agent_of(r->m, r->s, r->agent);
	bool apart = g == a->bulk && !r->m->alike;
	int gone = *n - left;
	Group old[MAX_GROUPS + 1];
	if (gone <= 0)
		return;
	memcpy(old, g, sizeof old);
	drop(g, n, gone);
	for (int i = 0; i < gone; i++) {
		for (int w = 0; w < MAX_CELLS / 64 && apart; w++)
			a->owed.read_one[w] |= old[i].cells[w];
		run_reads_end(r, old[i].cells);
	}
}

/* Their writes are over, each lane's for itself: those of a slot that no group on its way goes on
 * writing. */
static void copies_end(Run *r, int left)
{
	AgentState *a = agent_of(r->m, r->s, r->agent);
	int gone = a->ncopies - left;
	for (int i = 0; i < gone; i++) {
		Group done = a->copies[0];
		drop(a->copies, &a->ncopies, 1);
		for (int cell = 0; cell < r->m->cells_each; cell++)
			if (cell_in(done.cells, cell) && !run_copies_to(a, cell))
				cell_put(a->wrote, cell, true);
	}
}

static uint32_t busy(const AgentState *a)
{
	uint32_t acc = 0;
	for (int i = 0; i <= a->nmma; i++)
		acc |= a->mma[i].acc;
	return acc;
}

static bool mma(Run *r, const Step *st)
{
	AgentState *a = agent_of(r->m, r->s, r->agent);
	if (a->owed.dirty & (uint32_t)st->mask)
		return run_wrong(r, WHY_ACC_FENCE, -1, -1, -1);
	for (int i = 0; i < 2; i++) {
		int cell = i ? st->cell2 : st->cell;
		if (cell < 0)
			continue;
		if (!run_knows_lanes(r, st, cell) || !read_starts(r, cell, true))
			return false;
		cell_put(a->mma[a->nmma].cells, cell - cells_of(r->m, r->agent), true);
	}
	a->mma[a->nmma].acc |= (uint32_t)st->mask;
	return true;
}

static bool touch(Run *r, const Step *st)
{
	AgentState *a = agent_of(r->m, r->s, r->agent);
	if (busy(a) & (uint32_t)st->mask)
		return run_wrong(r, WHY_ACC, -1, -1, -1);
	a->owed.dirty |= (uint32_t)st->mask;
	return true;
}

static bool store(Run *r, const Step *st)
{
	AgentState *a = agent_of(r->m, r->s, r->agent);
	if (st->lanes != 1)
		return run_wrong(r, WHY_LANES, -1, st->cell, -1);
	if (!run_global_ok(r) || !run_knows_lanes(r, st, st->cell) ||
	    !read_starts(r, st->cell, true))
		return false;
	cell_put(a->bulk[a->nbulk].cells, st->cell - cells_of(r->m, r->agent), true);
	return true;
}

/* The cluster's barrier does not wait for warps that have exited. */
static bool leave_cluster(Run *r)
{
	int key = r->m->meet - 1;
	if (key < 0)
		return true;
	KeyState *k = key_of(r->m, r->s, key);
	k->need -= r->m->agents[r->agent].warps;
	return !k->arrived || run_complete(r, key);
}

static bool leave(Run *r)
{
	AgentState *a = agent_of(r->m, r->s, r->agent);
	for (int c = 0; c < MAX_CELLS; c++)
		if (in_groups(a->bulk, a->nbulk, c))
			return run_wrong(r, WHY_EXIT_BULK, -1, cells_of(r->m, r->agent) + c, -1);
	if (busy(a))
		return run_wrong(r, WHY_EXIT_MMA, -1, -1, -1);
	a->gone = 1;
	return leave_cluster(r);
}

static bool groups(Run *r, const Step *st)
{
	AgentState *a = agent_of(r->m, r->s, r->agent);
	switch ((StepKind)st->kind) {
	case STEP_MMA_COMMIT:
		return commit(r, a->mma, &a->nmma);
	case STEP_MMA_WAIT:
		retire(r, a->mma, &a->nmma, st->n);
		return true;
	case STEP_COPY_COMMIT:
		return commit(r, a->copies, &a->ncopies);
	case STEP_COPY_WAIT:
		copies_end(r, st->n);
		return true;
	case STEP_BULK_COMMIT:
		return commit(r, a->bulk, &a->nbulk);
	case STEP_BULK_READ:
	case STEP_BULK_WAIT:
		retire(r, a->bulk, &a->nbulk, st->n);
		return true;
	default:
		panic("step %d", st->kind);
	}
}

bool run_memory(Run *r, const Step *st)
{
	AgentState *a = agent_of(r->m, r->s, r->agent);
	switch ((StepKind)st->kind) {
	case STEP_LOAD:
		return run_load(r, st);
	case STEP_READ:
		return read(r, st);
	case STEP_PASS:
		return pass(r, st);
	case STEP_WRITE:
	case STEP_COPY:
		return run_write(r, st);
	case STEP_FENCE:
		return fence(r, st);
	case STEP_MMA:
		return mma(r, st);
	case STEP_MMA_FENCE:
		a->owed.dirty = 0;
		return true;
	case STEP_TOUCH:
		return touch(r, st);
	case STEP_STORE:
		return store(r, st);
	case STEP_GRID_WAIT:
		fact_set(r->m, r->s, knows_agent(r->m, r->agent), r->m->f_grid);
		return true;
	case STEP_GLOBAL:
		return run_global_ok(r);
	case STEP_EXIT:
		return leave(r);
	default:
		return groups(r, st);
	}
}

/* ------------------------------------------------------------------ the end */
/* That a warp of this CTA knows it, so that the CTA was there until then. */
bool known_by(const Machine *m, const State *s, int rank, int fact)
{
	for (int a = 0; a < m->na; a++)
		if (m->agents[a].rank == rank && fact_known(m, s, a, fact))
			return true;
	return false;
}

/* What another CTA still reads is there. */
static bool reads_done(const Machine *m, const State *s, int cell, Why *why)
{
	const CellState *c = cell_of(m, (State *)(uintptr_t)s, cell);
	int rank = m->cells[cell].rank;
	for (AgentSet left = c->readers; left; left &= left - 1) {
		int a = agent_first(left);
		if (m->agents[a].rank == rank || known_by(m, s, rank, m->f_read[cell * m->na + a]))
			continue;
		*why = (Why){WHY_EXIT_READ, a, -1, -1, cell, 0, 0, 0, NULL};
		return false;
	}
	return true;
}

static bool peers_done(const Machine *m, const State *s, Why *why)
{
	for (int rank = 0; rank < MAX_RANKS; rank++)
		for (AgentSet left = m->senders[rank]; left; left &= left - 1) {
			int a = agent_first(left), to = rank * m->na + a;
			bool one = known_by(m, s, rank, m->f_sent[to]);
			if (one && known_by(m, s, rank, m->f_sent_each[to]))
				continue;
			const Step *by = (one ? m->sent_each : m->sent)[rank][a];
			bool open = by && by->mask;
			*why = (Why){open ? WHY_SENT_LANES : WHY_EXIT_PEER,
				     a,
				     -1,
				     -1,
				     -1,
				     rank,
				     0,
				     0,
				     by};
			return false;
		}
	return true;
}

bool state_finish(const Machine *m, const State *state, Why *why)
{
	State *s = (State *)(uintptr_t)state;
	for (int i = 0; i < m->nk; i++) {
		const KeyState *k = key_of(m, s, i);
		if (k->tx) {
			*why = (Why){WHY_BYTES, -1, -1, i, -1, 0, 0, k->tx, NULL};
			return false;
		}
	}
	for (int i = 0; i < m->nc; i++) {
		const CellState *c = cell_of(m, s, i);
		bool seen = c->mode != CELL_WRITTEN || !c->mask ||
			    known_by(m, s, m->cells[i].rank, m->f_wrote[i]);
		if (!state_writes_done(m, s, i)) {
			*why = (Why){WHY_UNREAD, -1, -1, -1, i, 0, 0, 0, NULL};
			return false;
		}
		if (!seen) {
			*why = (Why){WHY_EXIT_LOAD, -1, -1, -1, i, 0, 0, 0, NULL};
			return false;
		}
		if (!reads_done(m, s, i, why))
			return false;
	}
	return peers_done(m, s, why);
}
