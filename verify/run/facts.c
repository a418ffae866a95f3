/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* facts.c - what is known, as bits: the layout of a machine's states, and the sets of facts
 * that agents and barriers hold. An agent of several warps has two sets: what each warp knows
 * of all, and what each warp knows of itself only; once all of them arrived somewhere, the
 * second is known of all. A word of facts lies beside that of the next holder, since most of what
 * happens to a fact happens to it for all holders.
 *     arrive %full  ->  next(full) |= known(agent) | own(agent)
 */
#include "verify/run/core.h"

#include <string.h>

struct State {
	uint64_t at[1];
};

static int *facts_new(Machine *m, int n)
{
	int *f = NEWN(m->arena, int, n + 1);
	for (int i = 0; i < n; i++)
		f[i] = m->nfacts++;
	return f;
}

static int *facts_where(Machine *m, int n, const AgentSet *agents)
{
	int *f = NEWN(m->arena, int, n * m->na + 1);
	for (int i = 0; i < n * m->na; i++)
		f[i] = agents[i / m->na] >> (i % m->na) & 1 ? m->nfacts++ : NO_FACT;
	return f;
}

/* Two of each, which are in one word. */
static int *pairs_where(Machine *m, int n, const AgentSet *agents, int **behind)
{
	int *f = NEWN(m->arena, int, n * m->na + 1);
	int *g = NEWN(m->arena, int, n * m->na + 1);
	m->nfacts += m->nfacts & 1;
	for (int i = 0; i < n * m->na; i++) {
		bool is = agents[i / m->na] >> (i % m->na) & 1;
		f[i] = is ? m->nfacts : NO_FACT;
		g[i] = is ? m->nfacts + 1 : NO_FACT;
		m->nfacts += is ? 2 : 0;
	}
	*behind = g;
	return f;
}

static int *pairs_new(Machine *m, int n, int **behind)
{
	int *f = NEWN(m->arena, int, n + 1), *g = NEWN(m->arena, int, n + 1);
	m->nfacts += m->nfacts & 1;
	for (int i = 0; i < n; i++) {
		f[i] = m->nfacts++;
		g[i] = m->nfacts++;
	}
	*behind = g;
	return f;
}

/* Of cells that several may write before anyone reads. */
static int *facts_under(Machine *m)
{
	int *f = NEWN(m->arena, int, m->nc + 1);
	for (int i = 0; i < m->nc; i++) {
		const Cell *c = &m->cells[i];
		f[i] = c->writers || c->full & (c->full - 1) ? m->nfacts++ : NO_FACT;
	}
	return f;
}

/* Few agents write few cells. */
static void find_written(Machine *m)
{
	m->cells_each = m->ranks > 1 ? m->nc / m->ranks : m->nc;
	m->written = arena_alloc(m->arena, sizeof *m->written * (size_t)(m->na + 1));
	for (int a = 0; a < m->na; a++)
		for (int i = 0; i < m->cells_each; i++) {
			uint64_t is = m->cells[cells_of(m, a) + i].writers >> a & 1;
			m->written[a][i / 64] |= is << (i % 64);
		}
}

static size_t aligned(size_t n)
{
	return (n + 15) / 16 * 16;
}

static void set_put(uint64_t *set, int fact)
{
	set[fact >> 6] |= fact_bit(fact);
}

static void set_all(uint64_t *set, const int *facts, int n)
{
	for (int i = 0; i < n; i++)
		if (facts[i] != NO_FACT)
			set_put(set, facts[i]);
}

static void carried_sets(Machine *m)
{
	uint64_t *generic = NEWN(m->arena, uint64_t, m->words);
	m->all = NEWN(m->arena, uint64_t, m->words);
	m->timely = NEWN(m->arena, uint64_t, m->words);
	m->inits = NEWN(m->arena, uint64_t, m->words);
	m->abroad = NEWN(m->arena, uint64_t, m->words);
	set_put(m->timely, m->f_grid);
	set_all(m->timely, m->f_done, m->nk);
	set_all(m->timely, m->f_prev, m->nk);
	set_all(m->timely, m->f_seen, m->nk * m->na);
	set_all(m->timely, m->f_came, m->nk * m->na);
	set_all(m->timely, m->f_came_last, m->nk * m->na);
	set_all(m->inits, m->f_init, m->nk);
	m->made = NEWN(m->arena, uint64_t, m->words);
	set_all(m->made, m->f_made, m->nc * m->na);
	set_all(generic, m->f_made, m->nc * m->na);
	set_all(generic, m->f_fenced, m->nc * m->na);
	memset(m->all, 0xff, sizeof *m->all * (size_t)m->words);
	for (int i = 0; i < m->words; i++)
		m->abroad[i] = ~generic[i];
}

void machine_layout(Machine *m)
{
	AgentSet *waiters = NEWN(m->arena, AgentSet, m->nk + 1);
	AgentSet *arrivers = NEWN(m->arena, AgentSet, m->nk + 1);
	AgentSet *readers = NEWN(m->arena, AgentSet, m->nc + 1);
	AgentSet *writers = NEWN(m->arena, AgentSet, m->nc + 1);
	for (int i = 0; i < m->nk; i++) {
		waiters[i] = m->keys[i].waiters;
		arrivers[i] = m->exact ? m->keys[i].arrivers : 0;
	}
	for (int i = 0; i < m->nc; i++) {
		readers[i] = m->cells[i].readers;
		writers[i] = m->cells[i].writers;
	}
	m->nfacts = 0;
	m->f_grid = m->nfacts++;
	m->f_init = facts_new(m, m->nk);
	m->f_done = pairs_new(m, m->nk, &m->f_prev);
	m->f_wrote = facts_new(m, m->nc);
	m->f_under = facts_under(m);
	m->f_seen = facts_where(m, m->nk, waiters);
	m->f_came = pairs_where(m, m->nk, arrivers, &m->f_came_last);
	m->f_read = pairs_where(m, m->nc, readers, &m->f_left);
	m->f_made = pairs_where(m, m->nc, writers, &m->f_fenced);
	m->f_sent = facts_where(m, MAX_RANKS, m->senders);
	m->f_sent_each = facts_where(m, MAX_RANKS, m->senders);
	m->f_set = pairs_where(m, 1, &m->setters, &m->f_set_before);
	m->words = (m->nfacts + 63) / 64;
	carried_sets(m);
	find_written(m);
	m->off_keys = aligned(sizeof(AgentState) * (size_t)m->na);
	m->off_cells = m->off_keys + aligned(sizeof(KeyState) * (size_t)m->nk);
	m->off_facts = m->off_cells + aligned(sizeof(CellState) * (size_t)m->nc);
	m->holders = (2 * (m->na + m->nk) + 7) / 8 * 8;
	m->bytes = m->off_facts + sizeof(uint64_t) * (size_t)(m->holders * m->words);
}

static void unite(uint64_t *to, const uint64_t *from)
{
	for (int w = 0; w < MAX_CELLS / 64; w++)
		to[w] |= from[w];
}

/* All slots of a ring that turns have what one of them has. */
static void widen(const Machine *m, int first, int slots)
{
	uint64_t all[MAX_CELLS / 64] = {0};
	for (int i = first; i < first + slots; i++)
		unite(all, m->cells[i].over_turned);
	for (int i = first; i < first + slots; i++)
		unite(m->cells[i].over_turned, all);
}

void machine_overlaps(Machine *m)
{
	int n = m->ranks > 1 ? m->nc / m->ranks : m->nc;
	EACH_OF(Cell, of, m->cells, m->nc) {
		memset(of->over_turned, 0, sizeof of->over_turned);
		for (int j = 0; j < n; j++) {
			const Cell *c = &m->cells[j]; /* the same in each CTA */
			for (int s = c->slots ? c->first : j;
			     of->over[j / 64] >> (j % 64) & 1 &&
			     s < (c->slots ? c->first + c->slots : j + 1);
			     s++)
				of->over_turned[s / 64] |= (uint64_t)1 << (s % 64);
		}
	}
	for (int i = 0; i < m->nc; i++)
		if (m->cells[i].slots && m->cells[i].first == i)
			widen(m, i, m->cells[i].slots);
}

/* True from the start: all agents know it, and so it may be told by all barriers too. */
static void all_know(const Machine *m, State *s, int fact)
{
	for (int a = 0; a < m->na && fact != NO_FACT; a++)
		fact_set(m, s, knows_agent(m, a), fact);
	for (int i = 0; i < m->nk && fact != NO_FACT; i++)
		fact_set(m, s, knows_past(m, i), fact);
}

/* As if all had read it: nothing stands in the way of a write, and no reader knows of content. */
static void never_written(const Machine *m, State *s, int cell)
{
	CellState *c = cell_of(m, s, cell);
	c->pending = -1;
	c->mode = CELL_READ;
	c->mask = m->cells[cell].full;
	c->readers = m->cells[cell].readers;
	c->writers = m->cells[cell].writers;
	for (int a = 0; a < m->na; a++) {
		all_know(m, s, m->f_read[cell * m->na + a]);
		all_know(m, s, m->f_left[cell * m->na + a]);
	}
}

State *state_new(const Machine *m, Arena *a)
{
	State *s = arena_alloc(a, m->bytes);
	for (int i = 0; i < m->na; i++) {
		agent_of(m, s, i)->regs = m->agents[i].regs;
		agent_of(m, s, i)->owed.dirty = ~0u;
	}
	for (int i = 0; i < m->nk; i++) {
		key_of(m, s, i)->need = m->keys[i].named ? m->keys[i].warps : 0;
		all_know(m, s, m->f_done[i]);
		all_know(m, s, m->f_prev[i]);
	}
	for (int i = 0; i < m->nc; i++)
		never_written(m, s, i);
	for (int i = 0; i < MAX_RANKS * m->na; i++) { /* nothing was sent yet */
		all_know(m, s, m->f_sent[i]);
		all_know(m, s, m->f_sent_each[i]);
	}
	for (int i = 0; i < m->na; i++) {
		all_know(m, s, m->f_set[i]);
		all_know(m, s, m->f_set_before[i]);
	}
	return s;
}

/* ------------------------------------------------------------------ sets */
void fact_make(const Machine *m, State *s, int agent, int fact)
{
	bool alone = m->agents[agent].warps == 1;
	if (fact != NO_FACT)
		fact_set(m, s, alone ? knows_agent(m, agent) : knows_own(m, agent), fact);
}

static void forget(const Machine *m, State *s, int w, uint64_t facts)
{
	uint64_t *at = facts_word(m, s, w);
	for (int i = 0; i < m->holders; i++)
		at[i] &= ~facts;
}

void fact_forget(const Machine *m, State *s, int fact)
{
	if (fact != NO_FACT)
		forget(m, s, fact >> 6, fact_bit(fact));
}

void pair_forget(const Machine *m, State *s, int fact)
{
	if (fact != NO_FACT)
		forget(m, s, fact >> 6, fact_bit(fact) | fact_bit(fact + 1));
}

/* Facts of one kind about agents have numbers that follow each other: few words. */
static void forget_each(const Machine *m, State *s, const int *of_agent, AgentSet agents, int both)
{
	uint64_t facts = 0;
	int w = 0;
	for (AgentSet left = agents; left; left &= left - 1) {
		int fact = of_agent[agent_first(left)];
		if (fact == NO_FACT)
			continue;
		if (facts && fact >> 6 != w) {
			forget(m, s, w, facts);
			facts = 0;
		}
		w = fact >> 6;
		facts |= fact_bit(fact) | fact_bit(fact) << both;
	}
	if (facts)
		forget(m, s, w, facts);
}

void pairs_forget(const Machine *m, State *s, const int *of_agent, AgentSet agents)
{
	forget_each(m, s, of_agent, agents, 1);
}

void fact_age(const Machine *m, State *s, int fact)
{
	if (fact == NO_FACT)
		return;
	uint64_t *at = facts_word(m, s, fact >> 6), bit = fact_bit(fact);
	for (int i = 0; i < m->holders; i++)
		at[i] = (at[i] & ~(bit | bit << 1)) | (at[i] & bit) << 1;
}

static bool knows_all(const Machine *m, const State *s, int holder, const int *of_agent,
		      AgentSet agents)
{
	for (AgentSet left = agents; left; left &= left - 1) {
		int fact = of_agent[agent_first(left)];
		if (fact == NO_FACT || !fact_in(m, s, holder, fact))
			return false;
	}
	return true;
}

void facts_settle(const Machine *m, State *s, int key, AgentSet last)
{
	for (int i = 0; i < 2 * (m->na + m->nk); i++) {
		bool alone = i >= m->na && i < 2 * m->na; /* what a warp knows of itself only */
		if (!alone && knows_all(m, s, i, m->f_came_last + key * m->na, last))
			fact_set(m, s, i, m->f_done[key]);
	}
}

static void give(const Machine *m, State *s, int past, int next)
{
	for (int w = 0; w < m->words; w++) {
		uint64_t *at = facts_word(m, s, w);
		at[past] = at[next];
		at[next] = 0;
	}
}

void facts_advance(const Machine *m, State *s, int key)
{
	const Key *k = &m->keys[key];
	fact_age(m, s, m->f_done[key]);
	for (AgentSet left = m->exact ? k->arrivers : 0; left; left &= left - 1)
		fact_age(m, s, m->f_came[key * m->na + agent_first(left)]);
	forget_each(m, s, m->f_seen + key * m->na, k->waiters, 0);
	give(m, s, knows_past(m, key), knows_next(m, key));
	fact_set(m, s, knows_past(m, key), m->f_done[key]);
	fact_set(m, s, knows_past(m, key), m->f_prev[key]);
}

void facts_add(const Machine *m, State *s, int to, int from)
{
	for (int w = 0; w < m->words; w++) {
		uint64_t *at = facts_word(m, s, w);
		at[to] |= at[from];
	}
}

void facts_add_of(const Machine *m, State *s, int to, int from, const uint64_t *set)
{
	for (int w = 0; w < m->words; w++) {
		uint64_t *at = facts_word(m, s, w);
		at[to] |= at[from] & set[w];
	}
}
