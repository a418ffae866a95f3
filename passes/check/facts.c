/* facts.c - what is known, as bits: the layout of a machine's states, and the sets of facts
 * that agents and barriers hold. An agent of several warps has two sets: what each warp knows
 * of all, and what each warp knows of itself only; once all of them arrived somewhere, the
 * second is known of all.
 *     arrive %full  ->  next(full) |= known(agent) | own(agent)
 */
#include "passes/check/core.h"

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

/* Few agents write few cells. */
static void list_made(Machine *m)
{
	int n = m->nc * m->na;
	m->made = NEWN(m->arena, int, n + 1);
	m->fenced = NEWN(m->arena, int, n + 1);
	m->nmade = 0;
	for (int i = 0; i < n; i++)
		if (m->f_made[i] != NO_FACT) {
			m->made[m->nmade] = m->f_made[i];
			m->fenced[m->nmade++] = m->f_fenced[i];
		}
}

static size_t aligned(size_t n)
{
	return (n + 15) / 16 * 16;
}

static void set_all(uint64_t *set, const int *facts, int n)
{
	for (int i = 0; i < n; i++)
		if (facts[i] != NO_FACT)
			fact_set(set, facts[i]);
}

static void carried_sets(Machine *m)
{
	uint64_t *generic = NEWN(m->arena, uint64_t, m->words);
	m->timely = NEWN(m->arena, uint64_t, m->words);
	m->inits = NEWN(m->arena, uint64_t, m->words);
	m->abroad = NEWN(m->arena, uint64_t, m->words);
	fact_set(m->timely, m->f_grid);
	set_all(m->timely, m->f_done, m->nk);
	set_all(m->timely, m->f_prev, m->nk);
	set_all(m->timely, m->f_seen, m->nk * m->na);
	set_all(m->timely, m->f_came, m->nk * m->na);
	set_all(m->timely, m->f_came_last, m->nk * m->na);
	set_all(m->inits, m->f_init, m->nk);
	set_all(generic, m->f_made, m->nc * m->na);
	set_all(generic, m->f_fenced, m->nc * m->na);
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
	m->f_done = facts_new(m, m->nk);
	m->f_prev = facts_new(m, m->nk);
	m->f_wrote = facts_new(m, m->nc);
	m->f_seen = facts_where(m, m->nk, waiters);
	m->f_came = facts_where(m, m->nk, arrivers);
	m->f_came_last = facts_where(m, m->nk, arrivers);
	m->f_read = facts_where(m, m->nc, readers);
	m->f_made = facts_where(m, m->nc, writers);
	m->f_fenced = facts_where(m, m->nc, writers);
	m->f_sent = facts_where(m, MAX_RANKS, m->senders);
	m->words = (m->nfacts + 63) / 64;
	carried_sets(m);
	list_made(m);
	m->off_keys = aligned(sizeof(AgentState) * (size_t)m->na);
	m->off_cells = m->off_keys + aligned(sizeof(KeyState) * (size_t)m->nk);
	m->off_facts = m->off_cells + aligned(sizeof(CellState) * (size_t)m->nc);
	m->bytes = m->off_facts + sizeof(uint64_t) * (size_t)(2 * (m->na + m->nk) * m->words);
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
	for (int i = 0; i < m->nc; i++) {
		Cell *of = &m->cells[i];
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
		fact_set(facts_known(m, s, a), fact);
	for (int i = 0; i < m->nk && fact != NO_FACT; i++)
		fact_set(facts_past(m, s, i), fact);
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
	for (int a = 0; a < m->na; a++)
		all_know(m, s, m->f_read[cell * m->na + a]);
}

State *state_new(const Machine *m, Arena *a)
{
	State *s = arena_alloc(a, m->bytes);
	for (int i = 0; i < m->na; i++) {
		agent_of(m, s, i)->regs = m->agents[i].regs;
		agent_of(m, s, i)->dirty = ~0u;
	}
	for (int i = 0; i < m->nk; i++) {
		key_of(m, s, i)->need = m->keys[i].named ? m->keys[i].warps : 0;
		all_know(m, s, m->f_done[i]);
		all_know(m, s, m->f_prev[i]);
	}
	for (int i = 0; i < m->nc; i++)
		never_written(m, s, i);
	for (int i = 0; i < MAX_RANKS * m->na; i++)
		all_know(m, s, m->f_sent[i]); /* nothing was sent yet */
	return s;
}

int cells_of(const Machine *m, int agent)
{
	return m->ranks > 1 ? m->nc / m->ranks * m->agents[agent].rank : 0;
}

AgentState *agent_of(const Machine *m, State *s, int agent)
{
	(void)m;
	return (AgentState *)(void *)s + agent;
}

KeyState *key_of(const Machine *m, State *s, int key)
{
	return (KeyState *)(void *)((char *)s + m->off_keys) + key;
}

CellState *cell_of(const Machine *m, State *s, int cell)
{
	return (CellState *)(void *)((char *)s + m->off_cells) + cell;
}

/* ------------------------------------------------------------------ sets */
static uint64_t *holder(const Machine *m, State *s, int i)
{
	return (uint64_t *)(void *)((char *)s + m->off_facts) + (size_t)i * (size_t)m->words;
}

uint64_t *facts_known(const Machine *m, State *s, int agent)
{
	return holder(m, s, agent);
}

uint64_t *facts_own(const Machine *m, State *s, int agent)
{
	return holder(m, s, m->na + agent);
}

uint64_t *facts_past(const Machine *m, State *s, int key)
{
	return holder(m, s, 2 * m->na + key);
}

uint64_t *facts_next(const Machine *m, State *s, int key)
{
	return holder(m, s, 2 * m->na + m->nk + key);
}

bool fact_known(const Machine *m, const State *s, int agent, int fact)
{
	return fact != NO_FACT && fact_in(holder(m, (State *)(uintptr_t)s, agent), fact);
}

void fact_make(const Machine *m, State *s, int agent, int fact)
{
	if (fact != NO_FACT)
		fact_set(m->agents[agent].warps == 1 ? facts_known(m, s, agent)
						     : facts_own(m, s, agent),
			 fact);
}

void fact_forget(const Machine *m, State *s, int fact)
{
	if (fact == NO_FACT)
		return;
	uint64_t keep = ~((uint64_t)1 << (fact & 63)), *at = holder(m, s, 0) + (fact >> 6);
	for (int i = 0; i < 2 * (m->na + m->nk); i++, at += m->words)
		*at &= keep;
}

/* What was `from` is `to`, for each holder. */
static void facts_move(const Machine *m, State *s, int from, int to)
{
	for (int i = 0; from != NO_FACT && i < 2 * (m->na + m->nk); i++) {
		uint64_t *set = holder(m, s, i);
		bool knew = fact_in(set, from);
		set[from >> 6] &= ~((uint64_t)1 << (from & 63));
		set[to >> 6] &= ~((uint64_t)1 << (to & 63));
		if (knew)
			fact_set(set, to);
	}
}

void facts_settle(const Machine *m, State *s, int key, AgentSet last)
{
	for (int i = 0; i < 2 * (m->na + m->nk); i++) {
		uint64_t *set = holder(m, s, i);
		bool all = i < m->na || i >= 2 * m->na; /* not what a warp knows of itself only */
		for (int a = 0; a < m->na && all; a++) {
			int came = m->f_came_last[key * m->na + a];
			all = !(last >> a & 1) || (came != NO_FACT && fact_in(set, came));
		}
		if (all)
			fact_set(set, m->f_done[key]);
	}
}

void facts_advance(const Machine *m, State *s, int key)
{
	facts_move(m, s, m->f_done[key], m->f_prev[key]);
	for (int a = 0; a < m->na; a++)
		facts_move(m, s, m->f_came[key * m->na + a], m->f_came_last[key * m->na + a]);
	for (int a = 0; a < m->na; a++)
		fact_forget(m, s, m->f_seen[key * m->na + a]);
}

void facts_add(const Machine *m, uint64_t *to, const uint64_t *from)
{
	for (int i = 0; i < m->words; i++)
		to[i] |= from[i];
}
