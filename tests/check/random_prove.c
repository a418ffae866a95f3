/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* random_prove.c - what the verifier's machine says of a random role program, for all of its trip
 * counts: trip by trip until a state recurs, and by joining states.
 *     Prog  ->  SAID_REFUTED at 2 trips: a deadlock
 */
#include "random.h"

#include <string.h>

enum { MOST = 40 * PERIOD, FEW_ALIKE = 10, MOST_WORD = 4096 };

static void lay_out(Machine *m, bool exact, Order order)
{
	m->exact = exact;
	m->alike = order == BY_TIME;
	machine_layout(m);
	size_t bytes = sizeof *m->timely * (size_t)m->words;
	memset(m->abroad, 0xff, bytes);
	if (order == BY_TIME)
		memset(m->timely, 0xff, bytes);
}

static bool takes(const Prog *p, int trips)
{
	return trips >= p->src.trips_lo && (!p->src.trips_hi || trips <= p->src.trips_hi);
}

static const Letter *trip_of(const Prog *p, int k)
{
	return &p->letters[k ? L_TRIP + k % PERIOD : L_FIRST];
}

static const Letter *end_of(const Prog *p, int trips)
{
	return &p->letters[trips ? L_END + trips % PERIOD : L_NONE];
}

typedef struct {
	Prog *p;
	const Machine *m;
	Arena *arena;
	Why *why;
} Prover;

static bool run(const Prover *r, State *s, const Letter *l)
{
	return letter_run(r->m, s, l, NULL, NULL, r->why);
}

static State *copy_of(const Prover *r, const State *s)
{
	State *to = arena_alloc(r->arena, r->m->bytes);
	memcpy(to, s, r->m->bytes);
	return to;
}

static bool ends(const Prover *r, const State *s, int trips)
{
	State *last = copy_of(r, s);
	return !takes(r->p, trips) ||
	       (run(r, last, end_of(r->p, trips)) && state_finish(r->m, last, r->why));
}

/* ------------------------------------------------------------------ trip by trip */
static SaidKind failed(const Prover *r)
{
	return why_is_open(r->why->id) ? SAID_OPEN : SAID_REFUTED;
}

static SaidKind explore(const Prover *r, int *trips)
{
	State *before[MOST + 1], *s = state_new(r->m, r->arena);
	const Prog *p = r->p;
	*trips = p->src.trips_lo;
	if (!run(r, s, &p->letters[L_START]))
		return failed(r);
	for (int k = 0; k <= MOST; k++) {
		*trips = k > p->src.trips_lo ? k : p->src.trips_lo;
		if (!ends(r, s, k))
			return failed(r);
		if (p->src.trips_hi && k == p->src.trips_hi)
			return SAID_PROVED;
		before[k] = copy_of(r, s);
		for (int old = k - PERIOD; old > 0 && old >= p->src.trips_lo; old -= PERIOD)
			if (!memcmp(before[old], s, r->m->bytes))
				return SAID_PROVED;
		*trips += k >= p->src.trips_lo;
		if (!run(r, s, trip_of(p, k)))
			return failed(r);
	}
	return SAID_OPEN;
}

static void append(Part *to, Step *room, const Part *part)
{
	if (to->n + part->n > MOST_WORD)
		panic("a role of more than %d steps", MOST_WORD);
	if (part->n)
		memcpy(room + to->n, part->steps, sizeof *room * (size_t)part->n);
	*to = (Part){room, to->n + part->n};
}

/* Not cut at the ends of letters. */
static bool whole_run_fails(const Prover *r, int trips)
{
	Letter word = {0};
	for (int a = 0; a < r->m->na; a++) {
		Step *room = NEWN(r->arena, Step, MOST_WORD);
		append(&word.of[a], room, &r->p->letters[L_START].of[a]);
		for (int k = 0; k < trips; k++)
			append(&word.of[a], room, &trip_of(r->p, k)->of[a]);
		append(&word.of[a], room, &end_of(r->p, trips)->of[a]);
	}
	State *s = state_new(r->m, r->arena);
	return !run(r, s, &word) || !state_finish(r->m, s, r->why);
}

bool prog_prove(Prog *p, Order order, Said *said)
{
	Prover r = {p, &p->m, arena_new(), &said->why};
	bool decided = true;
	for (int exact = 0; exact < 2; exact++) {
		lay_out(&p->m, exact, order);
		said->verdict = explore(&r, &said->trips);
		if (said->verdict != SAID_REFUTED)
			break;
	}
	if (said->verdict == SAID_REFUTED)
		decided = whole_run_fails(&r, said->trips);
	arena_free(r.arena);
	return decided && said->verdict != SAID_OPEN;
}

/* ------------------------------------------------------------------ by joining states */
typedef struct {
	Prover r;
	Head at[PERIOD]; /* after so many trips or more, modulo the period */
	State *now;
	uint64_t *facts;
} Joiner;

static bool arrive(Joiner *j, int trips)
{
	return head_join(j->r.m, j->r.arena, &j->at[trips % PERIOD], FEW_ALIKE, &j->now,
			 j->facts) >= 0;
}

static bool settle_one(Joiner *j, int residue, Stand *s)
{
	int trips = residue ? residue : PERIOD;
	while (!takes(j->r.p, trips) && trips < j->r.p->src.trips_lo)
		trips += PERIOD;
	s->done = s->version;
	if (!ends(&j->r, s->state, trips))
		return false;
	memcpy(j->now, s->state, j->r.m->bytes);
	return run(&j->r, j->now, trip_of(j->r.p, trips)) && arrive(j, trips + 1);
}

static bool settle(Joiner *j)
{
	for (bool more = true; more;) {
		more = false;
		for (int i = 0; i < PERIOD; i++)
			for (int h = 0; h < j->at[i].n; h++) {
				Stand *s = &j->at[i].at[h];
				if (s->done == s->version)
					continue;
				more = true;
				if (!settle_one(j, i, s))
					return false;
			}
	}
	return true;
}

static bool joins(Prog *p, Arena *arena)
{
	Why why;
	Joiner j = {.r = {p, &p->m, arena, &why}};
	j.now = state_new(&p->m, arena);
	j.facts = NEWN(arena, uint64_t, p->m.words);
	return run(&j.r, j.now, &p->letters[L_START]) && ends(&j.r, j.now, 0) &&
	       run(&j.r, j.now, trip_of(p, 0)) && arrive(&j, 1) && settle(&j);
}

bool prog_joins(Prog *p)
{
	bool proved = false;
	for (int exact = 0; exact < 2 && !proved; exact++) {
		Arena *arena = arena_new();
		lay_out(&p->m, exact, BY_TIME);
		proved = joins(p, arena);
		arena_free(arena);
	}
	return proved;
}
