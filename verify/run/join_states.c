/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* join_states.c - one state that stands for several: it knows what all of them know and owes what
 * any of them owes. What is right for it is right for each, since to know more or to owe less
 * forbids nothing.
 *     {read of sA[0] over, known} + {sA[0] never read}  ->  {read of sA[0] over, known} */
#include "verify/run/core.h"

#include <stddef.h>
#include <string.h>

static State *loose(const State *s)
{
	return (State *)(uintptr_t)s;
}

static void put_all(uint64_t *set, const int *of_agent, AgentSet agents)
{
	for (AgentSet left = agents; left; left &= left - 1) {
		int fact = of_agent[agent_first(left)];
		set[fact >> 6] |= fact_bit(fact);
	}
}

/* Facts about a reader that there is not, about a wait that was not, about what nothing lies over:
 * they forbid nothing, and are forgotten, or set anew, when there is one. */
static void idle_facts(const Machine *m, const State *s, uint64_t *set)
{
	memset(set, 0, sizeof *set * (size_t)m->words);
	for (int i = 0; i < m->nc; i++) {
		AgentSet none = m->cells[i].readers & ~cell_of(m, loose(s), i)->readers;
		put_all(set, m->f_read + i * m->na, none);
		put_all(set, m->f_left + i * m->na, none);
		if (!cell_of(m, loose(s), i)->over && m->f_under[i] != NO_FACT)
			set[m->f_under[i] >> 6] |= fact_bit(m->f_under[i]);
	}
	for (int i = 0; i < m->nk; i++)
		put_all(set, m->f_seen + i * m->na,
			m->keys[i].waiters & ~key_of(m, loose(s), i)->waited);
}

static void state_settle(const Machine *m, State *s, uint64_t *scratch)
{
	idle_facts(m, s, scratch);
	for (int w = 0; w < m->words; w++) {
		uint64_t *at = facts_word(m, s, w);
		for (int h = 0; h < m->holders; h++)
			at[h] |= scratch[w];
		for (int a = 0; a < m->na; a++) /* what is known of all is known of itself */
			at[knows_own(m, a)] |= at[knows_agent(m, a)];
	}
}

/* ------------------------------------------------------------------ what must be equal */
/* But for `n` bytes from `from` on. */
static bool same_but(const void *x, const void *y, size_t size, size_t from, size_t n)
{
	const char *p = x, *q = y;
	return memcmp(p, q, from) == 0 && memcmp(p + from + n, q + from + n, size - from - n) == 0;
}

static bool agents_alike(const Machine *m, const State *x, const State *y)
{
	for (int a = 0; a < m->na; a++)
		if (!same_but(agent_of(m, loose(x), a), agent_of(m, loose(y), a),
			      sizeof(AgentState), offsetof(AgentState, owed), sizeof(Owed)))
			return false;
	return true;
}

static bool keys_alike(const Machine *m, const State *x, const State *y)
{
	for (int i = 0; i < m->nk; i++)
		if (!same_but(key_of(m, loose(x), i), key_of(m, loose(y), i), sizeof(KeyState),
			      offsetof(KeyState, waited), sizeof(AgentSet)))
			return false;
	return true;
}

static bool cells_alike(const Machine *m, const State *x, const State *y)
{
	for (int i = 0; i < m->nc; i++) {
		const CellState *p = cell_of(m, loose(x), i), *q = cell_of(m, loose(y), i);
		if (!same_but(p, q, sizeof *p, offsetof(CellState, readers), sizeof(AgentSet)))
			return false;
	}
	return true;
}

/* All but facts, and what they are owed for. */
static bool state_alike(const Machine *m, const State *x, const State *y)
{
	return agents_alike(m, x, y) && keys_alike(m, x, y) && cells_alike(m, x, y);
}

/* ------------------------------------------------------------------ both in one */
/* Whether it is more than was owed. */
static bool owe(AgentSet *to, AgentSet set)
{
	bool more = (set & ~*to) != 0;
	*to |= set;
	return more;
}

static bool owe_words(Owed *to, const Owed *of)
{
	uint64_t x[sizeof *to / 8], y[sizeof *to / 8], more = 0;
	memcpy(x, to, sizeof x);
	memcpy(y, of, sizeof y);
	for (size_t i = 0; i < COUNTOF(x); i++) {
		more |= y[i] & ~x[i];
		x[i] |= y[i];
	}
	memcpy(to, x, sizeof x);
	return more != 0;
}

/* Into `to`, both settled and alike. Whether it is another state then. */
static bool state_join(const Machine *m, State *to, const State *s)
{
	bool more = false;
	uint64_t *at = facts_word(m, to, 0);
	const uint64_t *from = facts_word(m, s, 0);
	for (int i = 0; i < m->holders * m->words; i++) {
		more |= (at[i] & ~from[i]) != 0;
		at[i] &= from[i];
	}
	for (int a = 0; a < m->na; a++)
		more |= owe_words(&agent_of(m, to, a)->owed, &agent_of(m, loose(s), a)->owed);
	for (int i = 0; i < m->nk; i++)
		more |= owe(&key_of(m, to, i)->waited, key_of(m, loose(s), i)->waited);
	for (int i = 0; i < m->nc; i++)
		more |= owe(&cell_of(m, to, i)->readers, cell_of(m, loose(s), i)->readers);
	return more;
}

int head_join(const Machine *m, Arena *a, Head *h, int most, State **now, uint64_t *scratch)
{
	State *s = *now;
	state_settle(m, s, scratch);
	for (int i = 0; i < h->n; i++)
		if (state_alike(m, h->at[i].state, s)) {
			h->at[i].version += state_join(m, h->at[i].state, s);
			return i;
		}
	if (h->n == most)
		return -1;
	*now = arena_alloc(a, m->bytes);
	vec_push(a, h, ((Stand){s, 1, 0}));
	return h->n - 1;
}
