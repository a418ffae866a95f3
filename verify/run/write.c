/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* write.c - loads and writes of slots: what was there is over, and what is written by several
 * parts, or several warps, is one content.
 *     load sA[0] while consumer's wgmma may still read it  ->  WHY_OVERWRITE
 */
#include "verify/run/run.h"

/* ------------------------------------------------------------------ writes */
/* Reads of what was there are over; readers stay on record for other writers of the same
 * content. Where a lane read again before it writes, it may know of the others. */
static bool may_overwrite(Run *r, int cell)
{
	const CellState *c = cell_of(r->m, r->s, cell);
	const Owed *owed = &agent_of(r->m, r->s, r->agent)->owed;
	int reader = run_unknown_of(r, r->m->f_read, cell, c->readers);
	bool lost = reader == r->agent && r->step->lanes == 1 && !run_is_far(r, cell) &&
		    cell_in(owed->again, cell - cells_of(r->m, reader));
	return reader < 0 || run_wrong(r, lost ? WHY_SOME_LANES : WHY_OVERWRITE, -1, cell, reader);
}

/* A copy writes through the async proxy: who read through the generic one has fenced that. */
static bool readers_fenced(Run *r, int cell, WhyId why)
{
	const CellState *c = cell_of(r->m, r->s, cell);
	int reader = run_unknown_of(r, r->m->f_left, cell, c->readers);
	return reader < 0 || run_wrong(r, why, -1, cell, reader);
}

/* Of what threads wrote there, they stored nothing. */
static bool only_copied(const Machine *m, State *s, int cell)
{
	for (AgentSet left = cell_of(m, s, cell)->writers; left; left &= left - 1) {
		int a = agent_first(left);
		if (cell_in(agent_of(m, s, a)->owed.stored, cell - cells_of(m, a)))
			return false;
	}
	return true;
}

/* Nobody has read what was loaded or copied there, as where a loop that would has no iteration; but
 * it is there, and who writes there knows that. */
static bool has_landed(const Run *r, int cell, bool async)
{
	const Machine *m = r->m;
	const CellState *c = cell_of(m, r->s, cell);
	return c->pending < 0 && (!c->mask || run_knows(r, m->f_wrote[cell])) &&
	       (!c->over || run_knows(r, m->f_under[cell])) && only_copied(m, r->s, cell) &&
	       run_unknown_of(r, m->f_made, cell, c->writers) < 0 &&
	       (!async || run_unknown_of(r, m->f_fenced, cell, c->writers) < 0);
}

/* What had a byte in common with the cell was read and its reads are over, or has landed unread;
 * from now on it is no more. */
static bool take_bytes(Run *r, int cell, bool async)
{
	const Cell *c = &r->m->cells[cell];
	const uint64_t *over = r->m->physical ? c->over : c->over_turned;
	int first = r->m->ranks > 1 ? r->m->nc / r->m->ranks * c->rank : 0;
	for (int w = 0; w < MAX_CELLS / 64; w++)
		for (uint64_t bits = over[w]; bits; bits &= bits - 1) {
			int i = first + 64 * w + __builtin_ctzll(bits);
			CellState *o = cell_of(r->m, r->s, i);
			if (o->mode == CELL_WRITTEN && !has_landed(r, i, async))
				return run_wrong(r, WHY_OVER_UNREAD, -1, i, -1);
			int reader = run_unknown_of(r, r->m->f_read, i, o->readers);
			if (reader >= 0)
				return run_wrong(r, WHY_OVER_READ, -1, i, reader);
			if (async && !readers_fenced(r, i, WHY_OVER_PROXY))
				return false;
			o->gone = 1;
		}
	return true;
}

static void new_content(Run *r, int cell)
{
	CellState *c = cell_of(r->m, r->s, cell);
	if (r->m->fills)
		fills_read(r->m->fills, cell);
	fact_forget(r->m, r->s, r->m->f_wrote[cell]);
	run_forget_all(r, r->m->f_made, cell, c->writers);
	c->mode = CELL_WRITTEN;
	c->gone = c->over = c->late = c->parted = 0;
	c->mask = 0;
	c->writers = 0;
}

static bool knows_over(const Run *r, int holder, int cell)
{
	const Machine *m = r->m;
	const CellState *c = cell_of(m, r->s, cell);
	bool all = (!c->mask || fact_in(m, r->s, holder, m->f_wrote[cell])) &&
		   (!c->over || fact_in(m, r->s, holder, m->f_under[cell]));
	for (AgentSet left = c->writers; left && all; left &= left - 1) {
		int a = agent_first(left);
		all = fact_in(m, r->s, holder, fact_of(r, m->f_made, cell, a)) &&
		      fact_in(m, r->s, holder, fact_of(r, m->f_fenced, cell, a));
	}
	return all;
}

/* Nobody read what is there. Who writes over it knows that it is over, and so must who writes
 * beside it. */
static void write_over(Run *r, int cell)
{
	const Machine *m = r->m;
	int under = m->f_under[cell];
	for (int h = 0; under != NO_FACT && h < 2 * (m->na + m->nk); h++) {
		uint64_t *facts = &facts_word(m, r->s, under >> 6)[h];
		bool over = knows_over(r, h, cell);
		*facts = over ? *facts | fact_bit(under) : *facts & ~fact_bit(under);
	}
	new_content(r, cell);
	cell_of(m, r->s, cell)->over = under != NO_FACT;
}

/* What others wrote beside it lies over the same, which is over. */
static bool under_over(Run *r, int cell)
{
	return !cell_of(r->m, r->s, cell)->over || run_knows(r, r->m->f_under[cell]) ||
	       run_wrong(r, WHY_UNORDERED, -1, cell, -1);
}

static bool load_starts(Run *r, const Step *st)
{
	CellState *c = cell_of(r->m, r->s, st->cell);
	if (run_parts_apart(r, st))
		return run_wrong(r, WHY_PARTS, -1, st->cell, -1);
	if (c->pending >= 0 && c->pending != st->key)
		return run_wrong(r, WHY_UNORDERED, -1, st->cell, -1);
	if (c->mode != CELL_WRITTEN) {
		new_content(r, st->cell);
		return true;
	}
	if (!under_over(r, st->cell))
		return false;
	if (c->pending < 0 && c->mask && !run_knows(r, r->m->f_wrote[st->cell]))
		return run_wrong(r, WHY_UNORDERED, -1, st->cell, -1);
	int writer = run_unknown_of(r, r->m->f_made, st->cell, c->writers);
	if (writer >= 0)
		return run_wrong(r, WHY_UNORDERED, -1, st->cell, -1);
	writer = run_unknown_of(r, r->m->f_fenced, st->cell, c->writers);
	if (writer >= 0)
		return run_wrong(r, WHY_WROTE_PROXY, -1, st->cell, writer);
	if (c->mask & st->mask && c->pending >= 0)
		return run_wrong(r, c->parted ? WHY_PARTS : WHY_TWICE, -1, st->cell, -1);
	c->parted |= c->mask && c->pending < 0;
	if (c->mask & st->mask) /* that has landed, and nobody wanted it */
		write_over(r, st->cell);
	fact_forget(r->m, r->s, r->m->f_wrote[st->cell]);
	return true;
}

/* What threads wrote lies under the parts of a slot that is loaded whole since. */
static void cover(Run *r, int cell)
{
	CellState *c = cell_of(r->m, r->s, cell);
	PartSet full = r->m->cells[cell].full;
	if (!c->writers || c->late || !full || (c->mask & full) != full)
		return;
	if (r->m->fills)
		fills_read(r->m->fills, cell);
	c->writers = 0;
}

/* It lands at once; what depends on when it does is ordered by the barrier alone. */
bool run_load(Run *r, const Step *st)
{
	CellState *c = cell_of(r->m, r->s, st->cell);
	if (st->lanes != 1 || r->m->agents[r->agent].warps != 1)
		return run_wrong(r, WHY_LANES, -1, st->cell, -1);
	if (!run_can_arrive(r, st->key) || !(st->constant || run_global_ok(r)) ||
	    !run_knows_lanes(r, st, st->cell) || !may_overwrite(r, st->cell) ||
	    !readers_fenced(r, st->cell, WHY_READ_PROXY) || !take_bytes(r, st->cell, true) ||
	    !load_starts(r, st))
		return false;
	run_overwritten(r, st->cell, -1);
	c->pending = st->key;
	c->mask |= st->mask;
	cover(r, st->cell);
	key_of(r->m, r->s, st->key)->loads = 1;
	facts_add_of(r->m, r->s, knows_next(r->m, st->key), knows_agent(r->m, r->agent),
		     r->m->timely);
	return run_count_bytes(r, st->key, -st->n) && run_complete(r, st->key);
}

/* By all lanes of a warp it is over for all of them when they have met. */
static void made(Run *r, const Step *st, bool fresh)
{
	AgentState *a = agent_of(r->m, r->s, r->agent);
	int own = st->cell - cells_of(r->m, r->agent);
	int fact = fact_of(r, r->m->f_made, st->cell, r->agent);
	pair_forget(r->m, r->s, fact);
	bool copies = st->kind == STEP_COPY;
	bool apart = st->lanes > 1 || copies || cell_in(a->wrote, own);
	cell_put(a->fenced, own, false);
	if (copies)
		cell_put(a->copies[a->ncopies].cells, own, true);
	cell_put(a->wrote, own, apart && !run_copies_to(a, own));
	cell_put(a->owed.handed, own, false);
	cell_put(a->owed.stored, own, !copies || (!fresh && cell_in(a->owed.stored, own)));
	if (!apart)
		fact_make(r->m, r->s, r->agent, fact);
}

bool run_wrote(const Run *r, int cell)
{
	const CellState *c = cell_of(r->m, r->s, cell);
	return c->mode == CELL_WRITTEN && c->writers >> r->agent & 1;
}

/* What it fenced it hands on: to fill it anew it must have been read. */
static bool fills_again(Run *r, const Step *st)
{
	if (r->m->fills)
		return !fills_write(r->m->fills, r->agent, st);
	return run_wrote(r, st->cell) && cell_in(agent_of(r->m, r->s, r->agent)->owed.handed,
						 st->cell - cells_of(r->m, r->agent));
}

bool run_write(Run *r, const Step *st)
{
	CellState *c = cell_of(r->m, r->s, st->cell);
	if (st->kind == STEP_COPY && st->lanes != WARP_LANES)
		return run_wrong(r, WHY_SOME_LANES, -1, st->cell, -1);
	if (!may_overwrite(r, st->cell) || !run_knows_lanes(r, st, st->cell) ||
	    !take_bytes(r, st->cell, false))
		return false;
	bool fresh = c->mode != CELL_WRITTEN;
	if (fresh) {
		run_overwritten(r, st->cell, r->agent);
		new_content(r, st->cell);
	}
	if (fills_again(r, st))
		return run_wrong(r, WHY_UNREAD, -1, st->cell, -1);
	if (!fresh && !under_over(r, st->cell))
		return false;
	if (!fresh && c->mask && !run_knows(r, r->m->f_wrote[st->cell]))
		return run_wrong(r, WHY_UNORDERED, -1, st->cell, -1);
	c->late = c->mask != 0;
	c->writers |= AGENT(r->agent);
	run_lane_did(r, st);
	made(r, st, fresh);
	return true;
}

/* What threads wrote has been read; or it was copied, and who copied it or another warp waited for
 * that. */
bool state_writes_done(const Machine *m, State *s, int cell)
{
	const CellState *c = cell_of(m, s, cell);
	for (AgentSet left = c->writers; left && c->mode == CELL_WRITTEN; left &= left - 1) {
		int a = agent_first(left);
		bool waited = !run_copies_to(agent_of(m, s, a), cell - cells_of(m, a)) ||
			      known_by(m, s, m->cells[cell].rank, m->f_made[cell * m->na + a]);
		if (!waited || !only_copied(m, s, cell))
			return false;
	}
	return true;
}
