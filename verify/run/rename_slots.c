/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* rename_slots.c - states with the slots of rings renamed, so that what differs only in where the
 * rings stand is equal.
 *     position 5 of 4 slots: full[1] is called full[0], and full[0] full[3]
 */
#include "verify/run/core.h"

#include <stddef.h>
#include <string.h>

typedef struct {
	int number;
	bool flip;
} Renamed;

/* Slot s of a ring that stands at `frame`: its next use is s or later, on this lap or the next. */
static Renamed renamed(int i, int first, int slots, int64_t frame)
{
	if (!slots)
		return (Renamed){i, false};
	int64_t s = i - first, at = frame % slots, lap = frame / slots;
	return (Renamed){first + (int)((s - at + slots) % slots), (lap + (s < at)) % 2 != 0};
}

static void rename_where(const Machine *m, const int *facts, int n, const int16_t *to, int *map)
{
	for (int i = 0; i < n; i++)
		for (int a = 0; a < m->na; a++) {
			int old = facts[i * m->na + a];
			if (old != NO_FACT)
				map[old] = facts[to[i] * m->na + a];
		}
}

/* Facts of one word that move by one distance move at once. */
static void gather(Arena *a, Turn *t, const int *fact, int n)
{
	int begin = 0;
	for (int i = 0; i < n; i++) {
		int by = fact[i] - i, j = begin = i % 64 ? begin : t->facts.n;
		while (j < t->facts.n && t->facts.at[j].by != by)
			j++;
		Moved new = {0, i / 64, by};
		if (j == t->facts.n)
			vec_push(a, &t->facts, new);
		t->facts.at[j].bits |= (uint64_t)1 << (i % 64);
	}
}

static void holders_turn(const Machine *m, Arena *a, Turn *t)
{
	t->holder = NEWN(a, int16_t, m->holders);
	t->word = NEWN(a, uint64_t, m->holders);
	for (int i = 0; i < m->holders; i++)
		t->holder[i] = (int16_t)i;
	for (int i = 0; i < m->nk; i++) {
		t->holder[knows_past(m, i)] = (int16_t)knows_past(m, t->key[i]);
		t->holder[knows_next(m, i)] = (int16_t)knows_next(m, t->key[i]);
	}
}

Turn *turned_by(const Machine *m, Arena *a, const int64_t *keys, const int64_t *cells)
{
	Turn *t = NEW(a, Turn);
	t->key = NEWN(a, int16_t, m->nk + 1);
	t->cell = NEWN(a, int16_t, m->nc + 1);
	t->flip = NEWN(a, uint8_t, m->nk + 1);
	int *fact = NEWN(a, int, m->nfacts + 1);
	fact[m->f_grid] = m->f_grid;
	for (int i = 0; i < m->nk; i++) {
		Renamed r = renamed(i, m->keys[i].first, m->keys[i].slots, keys[i]);
		t->key[i] = (int16_t)r.number;
		t->flip[i] = r.flip;
		fact[m->f_init[i]] = m->f_init[r.number];
		fact[m->f_done[i]] = m->f_done[r.number];
		fact[m->f_prev[i]] = m->f_prev[r.number];
	}
	for (int i = 0; i < m->nc; i++) {
		Renamed r = renamed(i, m->cells[i].first, m->cells[i].slots, cells[i]);
		t->cell[i] = (int16_t)r.number;
		fact[m->f_wrote[i]] = m->f_wrote[r.number];
		if (m->f_under[i] != NO_FACT)
			fact[m->f_under[i]] = m->f_under[r.number];
	}
	rename_where(m, m->f_seen, m->nk, t->key, fact);
	rename_where(m, m->f_came, m->nk, t->key, fact);
	rename_where(m, m->f_came_last, m->nk, t->key, fact);
	rename_where(m, m->f_read, m->nc, t->cell, fact);
	rename_where(m, m->f_left, m->nc, t->cell, fact);
	rename_where(m, m->f_made, m->nc, t->cell, fact);
	rename_where(m, m->f_fenced, m->nc, t->cell, fact);
	for (int i = 0; i < MAX_RANKS * m->na; i++)
		if (m->f_sent[i] != NO_FACT) {
			fact[m->f_sent[i]] = m->f_sent[i];
			fact[m->f_sent_each[i]] = m->f_sent_each[i];
		}
	for (int i = 0; i < m->na; i++)
		if (m->f_set[i] != NO_FACT) {
			fact[m->f_set[i]] = m->f_set[i];
			fact[m->f_set_before[i]] = m->f_set_before[i];
		}
	gather(a, t, fact, m->nfacts);
	holders_turn(m, a, t);
	return t;
}

/* ------------------------------------------------------------------ states */
/* The facts of one move, for n holders, shifted into a word: upwards, or downwards below 0. */
static void move(uint64_t bits, int shift, const uint64_t *from, uint64_t *to, int n)
{
	for (int i = 0; i < n; i++)
		to[i] |= shift < 0 ? (from[i] & bits) >> -shift : (from[i] & bits) << shift;
}

/* Facts of one word come to lie in one word or in two; one into which none comes may not exist. */
static void move_facts(const Machine *m, const Moved *x, const uint64_t *from, State *to)
{
	int shift = x->by & 63, low = x->word + (x->by - shift) / 64;
	if (x->bits << shift)
		move(x->bits, shift, from, facts_word(m, to, low), m->holders);
	if (shift && x->bits >> (64 - shift))
		move(x->bits, shift - 64, from, facts_word(m, to, low + 1), m->holders);
}

static void turn_facts(const Machine *m, const Turn *t, const State *from, State *to)
{
	const Moved *x = t->facts.at, *end = x + t->facts.n;
	for (int w = 0; w < m->words; w++) {
		const uint64_t *old = facts_word(m, from, w);
		for (int i = 0; i < m->holders; i++)
			t->word[t->holder[i]] = old[i];
		for (; x < end && x->word == w; x++)
			move_facts(m, x, t->word, to);
	}
}

static void turn_cells(const Turn *t, int first, uint64_t *cells)
{
	uint64_t old[MAX_CELLS / 64];
	memcpy(old, cells, sizeof old);
	memset(cells, 0, sizeof old);
	for (int w = 0; w < MAX_CELLS / 64; w++)
		for (uint64_t bits = old[w]; bits; bits &= bits - 1) {
			int i = t->cell[first + 64 * w + __builtin_ctzll(bits)] - first;
			cells[i / 64] |= (uint64_t)1 << (i % 64);
		}
}

static void turn_agent(const Turn *t, int first, AgentState *a)
{
	enum { SETS = offsetof(AgentState, loose), END = offsetof(AgentState, owed.dirty) };
	_Static_assert(END - SETS == 16 * sizeof a->loose, "sets of cells and nothing else");
	for (int i = 0; i <= a->nmma; i++)
		turn_cells(t, first, a->mma[i].cells);
	for (int i = 0; i <= a->nbulk; i++)
		turn_cells(t, first, a->bulk[i].cells);
	for (int i = 0; i <= a->ncopies; i++)
		turn_cells(t, first, a->copies[i].cells);
	for (size_t at = SETS; at < END; at += sizeof a->loose)
		turn_cells(t, first, (uint64_t *)(void *)((char *)a + at));
}

void turn_state(const Machine *m, const Turn *t, const State *old, State *to)
{
	State *from = (State *)(uintptr_t)old;
	memset(to, 0, m->bytes);
	memcpy(agent_of(m, to, 0), agent_of(m, from, 0), sizeof(AgentState) * (size_t)m->na);
	for (int a = 0; a < m->na; a++)
		turn_agent(t, cells_of(m, a), agent_of(m, to, a));
	turn_facts(m, t, from, to);
	for (int i = 0; i < m->nk; i++) {
		KeyState *k = key_of(m, to, t->key[i]);
		memcpy(k, key_of(m, from, i), sizeof *k);
		k->parity ^= t->flip[i];
	}
	for (int i = 0; i < m->nc; i++) {
		CellState *c = cell_of(m, to, t->cell[i]);
		memcpy(c, cell_of(m, from, i), sizeof *c);
		c->pending = c->pending < 0 ? c->pending : t->key[c->pending];
	}
}
