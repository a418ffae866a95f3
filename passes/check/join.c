/* join.c - one state that stands for several: it knows what all of them know and owes what any of
 * them owes. What is right for it is right for each, since to know more or to owe less forbids
 * nothing, but for a write to what was fenced and not read; see state_alike.
 *     {read of sA[0] over, known} + {sA[0] never read}  ->  {read of sA[0] over, known} */
#include "passes/check/core.h"

#include <string.h>

static State *loose(const State *s)
{
	return (State *)(uintptr_t)s;
}

/* Facts about a reader that there is not, or about a wait that was not: they forbid nothing, and
 * are forgotten when there is one. */
static void idle_facts(const Machine *m, const State *s, uint64_t *set)
{
	memset(set, 0, sizeof *set * (size_t)m->words);
	for (int i = 0; i < m->nc; i++)
		for (int a = 0; a < m->na; a++) {
			int fact = m->f_read[i * m->na + a];
			if (fact != NO_FACT && !(cell_of(m, loose(s), i)->readers >> a & 1))
				fact_set(set, fact);
		}
	for (int i = 0; i < m->nk; i++)
		for (int a = 0; a < m->na; a++) {
			int fact = m->f_seen[i * m->na + a];
			if (fact != NO_FACT && !(key_of(m, loose(s), i)->waited >> a & 1))
				fact_set(set, fact);
		}
}

static uint64_t *facts_of(const Machine *m, const State *s)
{
	return facts_known(m, loose(s), 0); /* of all holders, one behind the other */
}

static int holders(const Machine *m)
{
	return 2 * (m->na + m->nk);
}

void state_settle(const Machine *m, State *s, uint64_t *scratch)
{
	uint64_t *at = facts_of(m, s);
	idle_facts(m, s, scratch);
	for (int h = 0; h < holders(m); h++)
		for (int w = 0; w < m->words; w++)
			*at++ |= scratch[w];
	for (int a = 0; a < m->na; a++) /* what is known of all is known of itself */
		facts_add(m, facts_own(m, s, a), facts_known(m, s, a));
}

/* ------------------------------------------------------------------ what must be equal */
static bool agents_alike(const Machine *m, const State *x, const State *y)
{
	for (int a = 0; a < m->na; a++) {
		AgentState p, q;
		memcpy(&p, agent_of(m, loose(x), a), sizeof p);
		memcpy(&q, agent_of(m, loose(y), a), sizeof q);
		p.dirty = q.dirty;
		if (memcmp(&p, &q, sizeof p) != 0)
			return false;
	}
	return true;
}

static bool keys_alike(const Machine *m, const State *x, const State *y)
{
	for (int i = 0; i < m->nk; i++) {
		KeyState p, q;
		memcpy(&p, key_of(m, loose(x), i), sizeof p);
		memcpy(&q, key_of(m, loose(y), i), sizeof q);
		p.waited = q.waited;
		if (memcmp(&p, &q, sizeof p) != 0)
			return false;
	}
	return true;
}

static bool fences_alike(const Machine *m, const State *x, const State *y, int cell)
{
	for (int a = 0; a < m->na; a++) {
		int fact = m->f_fenced[cell * m->na + a];
		const uint64_t *p = facts_of(m, x), *q = facts_of(m, y);
		for (int h = 0; fact != NO_FACT && h < holders(m); h++)
			if (fact_in(p + h * m->words, fact) != fact_in(q + h * m->words, fact))
				return false;
	}
	return true;
}

static bool cells_alike(const Machine *m, const State *x, const State *y)
{
	for (int i = 0; i < m->nc; i++) {
		CellState p, q;
		memcpy(&p, cell_of(m, loose(x), i), sizeof p);
		memcpy(&q, cell_of(m, loose(y), i), sizeof q);
		p.readers = q.readers;
		if (memcmp(&p, &q, sizeof p) != 0)
			return false;
		if (p.mode == CELL_WRITTEN && p.writers && !fences_alike(m, x, y, i))
			return false;
	}
	return true;
}

/* All but facts, and what they are owed for. A second write finds fault with what is known of the
 * first, so that this is equal too where it matters. */
bool state_alike(const Machine *m, const State *x, const State *y)
{
	return agents_alike(m, x, y) && keys_alike(m, x, y) && cells_alike(m, x, y);
}

/* ------------------------------------------------------------------ both in one */
/* Into `to`, both settled and alike. Whether it is another state then. */
bool state_join(const Machine *m, State *to, const State *s)
{
	bool more = false;
	uint64_t *at = facts_of(m, to);
	const uint64_t *from = facts_of(m, s);
	for (int i = 0; i < holders(m) * m->words; i++) {
		more |= (at[i] & ~from[i]) != 0;
		at[i] &= from[i];
	}
	for (int a = 0; a < m->na; a++) {
		uint32_t *dirty = &agent_of(m, to, a)->dirty, its = agent_of(m, loose(s), a)->dirty;
		more |= (its & ~*dirty) != 0;
		*dirty |= its;
	}
	for (int i = 0; i < m->nk; i++) {
		AgentSet *waited = &key_of(m, to, i)->waited, its = key_of(m, loose(s), i)->waited;
		more |= (its & ~*waited) != 0;
		*waited |= its;
	}
	for (int i = 0; i < m->nc; i++) {
		AgentSet *readers = &cell_of(m, to, i)->readers;
		AgentSet its = cell_of(m, loose(s), i)->readers;
		more |= (its & ~*readers) != 0;
		*readers |= its;
	}
	return more;
}
