/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lanes.c - what one lane of a warp does to a slot, and the others do not know of: not until they
 * have met it, or waited at a barrier at which it arrived.
 *     elect { st.shared sA[0] }  ld.shared sA[0] by all  ->  WHY_READ_WRITE: a bar.warp is missing
 */
#include "verify/run/run.h"

#include <string.h>

static Owed *owed_by(Run *r)
{
	return &agent_of(r->m, r->s, r->agent)->owed;
}

static int sent_each(const Run *r, int rank)
{
	return r->m->f_sent_each[rank * r->m->na + r->agent];
}

bool run_reads_own(const Run *r)
{
	return r->m->fills && r->m->agents[r->agent].warps == 1 &&
	       fills_own(r->m->fills, r->agent, r->step);
}

bool run_knows_lanes(Run *r, const Step *st, int cell)
{
	const Owed *o = owed_by(r);
	bool write = st->kind == STEP_WRITE || st->kind == STEP_LOAD || st->kind == STEP_COPY;
	bool all = st->lanes > 1 || st->kind == STEP_MMA;
	int own = cell - cells_of(r->m, r->agent);
	if (r->m->alike || r->m->cells[cell].rank != r->m->agents[r->agent].rank)
		return true;
	bool other = cell_in(write ? o->read_one : o->wrote_one, own);
	if (all && other && !run_reads_own(r))
		return run_wrong(r, write ? WHY_OVERWRITE : WHY_READ_WRITE, -1, cell, r->agent);
	if (st->kind == STEP_MMA && cell_in(o->fenced_one, own))
		return run_wrong(r, WHY_PROXY, -1, cell, r->agent);
	return true;
}

static void tell(Run *r, int key, const uint64_t *cells, const int *facts)
{
	const Machine *m = r->m;
	int first = cells_of(m, r->agent);
	bool abroad = m->keys[key].rank != m->agents[r->agent].rank;
	for (int i = 0; i < MAX_CELLS; i++) {
		int fact = cell_in(cells, i) ? facts[(first + i) * m->na + r->agent] : NO_FACT;
		if (fact != NO_FACT && (!abroad || m->abroad[fact >> 6] & fact_bit(fact)))
			fact_set(m, r->s, knows_next(m, key), fact);
	}
}

void run_each_arrives(Run *r, int key)
{
	const AgentState *a = agent_of(r->m, r->s, r->agent);
	uint64_t read[MAX_CELLS / 64], left[MAX_CELLS / 64];
	for (int w = 0; w < MAX_CELLS / 64; w++) {
		read[w] = a->loose[w] | a->owed.shut[w];
		uint64_t bare = a->owed.bare[w] | a->owed.bare_some[w];
		left[w] = read[w] & ~(bare | a->owed.bare_one[w]);
		owed_by(r)->told[w] |= read[w];
		owed_by(r)->told_bare[w] |= read[w] & (bare | ~a->loose[w]);
	}
	tell(r, key, read, r->m->f_read);
	tell(r, key, left, r->m->f_left);
	tell(r, key, a->wrote, r->m->f_made);
	tell(r, key, a->fenced, r->m->f_fenced);
}

/* Who knows of one lane's last arrival knows of those before. Of lanes that arrive each for itself
 * that barrier alone knows that all did, until they have met; and not even that one if since they
 * met other lanes did. */
void run_sends(Run *r, int key)
{
	const Machine *m = r->m;
	const Step *st = r->step;
	int rank = m->keys[key].rank, to = rank * m->na + r->agent;
	bool each = st->kind == STEP_ARRIVE && (st->lanes > 1 || st->mask) && !m->alike;
	int fact = each ? m->f_sent_each[to] : m->f_sent[to];
	fact_forget(m, r->s, fact); /* known of earlier ones only */
	if (!each) {
		fact_make(m, r->s, r->agent, fact);
		return;
	}
	bool met = !(owed_by(r)->sent >> rank & 1);
	owed_by(r)->sent |= 1u << rank;
	if (st->lanes == WARP_LANES || !st->mask || met)
		fact_set(m, r->s, knows_next(m, key), fact);
}

bool run_reads_anew(Run *r, int cell)
{
	Owed *o = owed_by(r);
	int own = cell - cells_of(r->m, r->agent);
	bool told = cell_in(o->told, own);
	cell_put(o->told, own, false);
	cell_put(o->again, own, r->step->lanes == 1 && (told || cell_in(o->again, own)));
	return told;
}

void run_lane_did(Run *r, const Step *st)
{
	uint64_t *done = st->kind == STEP_WRITE ? owed_by(r)->wrote_one : owed_by(r)->read_one;
	int cell = st->cell - cells_of(r->m, r->agent);
	if (st->lanes != 1 || r->m->alike)
		return;
	cell_put(done, cell, true);
	if (st->kind == STEP_WRITE)
		cell_put(owed_by(r)->fenced_one, cell, false);
}

void run_join(Run *r)
{
	Owed *o = owed_by(r);
	if (r->m->fills)
		fills_meet(r->m->fills, r->agent);
	for (; o->sent; o->sent &= o->sent - 1)
		fact_make(r->m, r->s, r->agent, sent_each(r, __builtin_ctz(o->sent)));
	o->made = 0;
	memset(o->read_one, 0, sizeof o->read_one);
	memset(o->wrote_one, 0, sizeof o->wrote_one);
	memset(o->fenced_one, 0, sizeof o->fenced_one);
}

void run_overwritten(Run *r, int cell, int but)
{
	const Machine *m = r->m;
	for (int a = 0; a < m->na; a++) {
		Owed *owed = &agent_of(m, r->s, a)->owed;
		int own = cell - cells_of(m, a);
		if (a == but || m->agents[a].rank != m->cells[cell].rank)
			continue;
		cell_put(owed->read_one, own, false);
		cell_put(owed->wrote_one, own, false);
		cell_put(owed->fenced_one, own, false);
	}
}

static void learn(Run *r, uint64_t *cells, const int *facts, int holder)
{
	int first = cells_of(r->m, r->agent);
	for (int w = 0; w < MAX_CELLS / 64; w++)
		for (uint64_t bits = cells[w]; bits; bits &= bits - 1) {
			int cell = first + 64 * w + __builtin_ctzll(bits);
			int fact = facts[cell * r->m->na + r->agent];
			if (fact != NO_FACT && fact_in(r->m, r->s, holder, fact))
				cells[w] &= ~(bits & -bits);
		}
}

void run_learn(Run *r, int holder)
{
	AgentState *a = agent_of(r->m, r->s, r->agent);
	uint64_t over[MAX_CELLS / 64];
	if (r->m->alike)
		return;
	for (uint32_t left_to = a->owed.sent; left_to; left_to &= left_to - 1)
		if (fact_in(r->m, r->s, holder, sent_each(r, __builtin_ctz(left_to))))
			a->owed.sent &= ~(left_to & -left_to);
	memcpy(over, a->owed.told, sizeof over);
	learn(r, a->owed.read_one, r->m->f_read, holder);
	learn(r, a->owed.wrote_one, r->m->f_made, holder);
	learn(r, a->owed.fenced_one, r->m->f_fenced, holder);
	learn(r, a->owed.told, r->m->f_read, holder);
	learn(r, a->wrote, r->m->f_made, holder);
	learn(r, a->owed.shut, r->m->f_left, holder);
	for (int w = 0; w < MAX_CELLS / 64; w++) {
		over[w] &= ~a->owed.told[w];
		a->loose[w] &= ~over[w];
		a->owed.shut[w] &= ~(over[w] & ~a->owed.told_bare[w]);
	}
	run_reads_end(r, over);
}
