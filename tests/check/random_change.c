/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* random_change.c - one change of a random role program, as mistakes are: a step dropped, doubled
 * or elsewhere, a number or a destination off, a role that forgets a ring.
 *     wait empty, expect 32 bytes, load  ->  expect 32 bytes, load
 */
#include "random.h"

#include <string.h>

static void change_count(Source *s)
{
	Ring *r = &s->ring[random_below(s->rings)];
	int *n = &r->count[random_below(2)][random_below(s->ctas)];
	*n += *n > 1 && chance(50) ? -1 : 1;
}

static void change_start(Source *s)
{
	Role *r = &s->role[random_below(s->roles)];
	int how = random_below(4);
	if (how == 0)
		s->fenced[random_below(s->ctas)] = false;
	else if (how == 1)
		r->meets_first = false;
	else if (how == 2)
		r->meets_last = false;
	else
		for (int a = 0; a < s->roles; a++)
			s->role[a].meets_last = false;
}

static void change_number(const Source *s, Move *m)
{
	int by = chance(50) ? 1 : -1;
	switch ((int)m->kind) {
	case STEP_WAIT:
		m->parity ^= chance(80) ? 1 : 2;
		break;
	case STEP_EXPECT:
		m->n += (chance(50) ? 8 : LOAD_BYTES) * by;
		break;
	case STEP_READ:
	case STEP_WRITE:
		m->lanes = 32;
		break;
	case STEP_ARRIVE:
		if (s->ctas == 2 && chance(60))
			m->rank ^= 1;
		else
			m->n += m->n == 1 && chance(30) ? -1 : 1;
		break;
	case STEP_LOAD:
		if (s->ctas == 2 && chance(60))
			m->rank ^= 1;
		else
			m->part ^= s->ring[m->ring].parts == 2 ? 3 : 0;
		break;
	default:
		m->n += m->n || by > 0 ? by : 0;
	}
}

/* All announcements of the ring there say more or less. */
static void announce(Source *s, int ring, int rank, int bytes)
{
	for (int a = 0; a < s->roles; a++)
		for (int i = 0; i < s->role[a].part[LOOP].n; i++) {
			Move *m = &s->role[a].part[LOOP].at[i];
			if (m->kind == STEP_EXPECT && m->ring == ring && m->rank == rank)
				m->n += bytes;
		}
}

static void drop(Body *b, int i)
{
	memmove(&b->at[i], &b->at[i + 1], sizeof *b->at * (size_t)(b->n - i - 1));
	b->n--;
}

static void insert(Body *b, int i, Move m)
{
	memmove(&b->at[i + 1], &b->at[i], sizeof *b->at * (size_t)(b->n - i));
	b->at[i] = m;
	b->n++;
}

/* A load with what announces it: left out, or at the barrier of another ring. */
static void change_load(Source *s)
{
	Body *b = &s->role[random_below(s->roles)].part[LOOP];
	int i = b->n ? random_below(b->n) : 0, to = random_below(s->rings);
	Move m = b->at[i];
	if (!b->n || m.kind != STEP_LOAD)
		return;
	announce(s, m.by, m.rank, -m.n);
	b->at[i].by = to;
	if (to == m.ring || !s->ring[to].slots)
		drop(b, i);
	else
		announce(s, to, m.rank, m.n);
}

static void forget(Role *r, int ring)
{
	for (int part = 0; part < PARTS; part++)
		for (int i = 0; i < r->part[part].n;) {
			const Move *m = &r->part[part].at[i];
			if (m->barrier != AT_NAMED && m->ring == ring)
				drop(&r->part[part], i);
			else
				i++;
		}
}

/* A role leaves a ring to the others, or all others leave it to that role. */
static void change_ring(Source *s)
{
	int ring = random_below(s->rings), one = random_below(s->roles);
	bool others = chance(40);
	for (int a = 0; a < s->roles; a++)
		if ((a == one) != others)
			forget(&s->role[a], ring);
}

static void change_move(Source *s)
{
	Role *role = &s->role[random_below(s->roles)];
	Body *b = &role->part[chance(75) ? LOOP : chance(80) ? POST : PRE];
	int how = random_below(10), i = b->n ? random_below(b->n) : 0;
	Move m = b->at[i];
	if (!b->n)
		return;
	if (how <= 1) {
		drop(b, i);
	} else if (how == 2 && b->n < MOVES) {
		insert(b, chance(50) ? i : random_below(b->n + 1), m);
	} else if (how <= 5) {
		drop(b, i);
		insert(b, chance(70) && i < b->n ? i + 1 : random_below(b->n + 1), m);
	} else if (how == 6) {
		if (chance(80))
			b->at[i].off++;
		else /* with no modulo */
			b->at[i].nowhere = m.barrier != AT_NAMED;
	} else {
		change_number(s, &b->at[i]);
	}
}

void source_change(Source *s)
{
	if (chance(10))
		change_count(s);
	else if (chance(10))
		change_start(s);
	else if (chance(15))
		change_load(s);
	else if (chance(8))
		change_ring(s);
	else
		change_move(s);
}

void source_shrink(Source *s, SourceDiffers *differs, void *user)
{
	for (int a = 0; a < s->roles; a++)
		for (int part = 0; part < PARTS; part++)
			for (int i = 0; i < s->role[a].part[part].n;) {
				Source less = *s;
				drop(&less.role[a].part[part], i);
				if (differs(user, &less))
					*s = less;
				else
					i++;
			}
}
