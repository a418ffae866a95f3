/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* random_build.c - from a random program's source to the verifier's machine and letters, as the
 * extraction makes them of a kernel: barriers and slots CTA by CTA, then those with numbers.
 *     wait empty of ring 1, trip 5 of 2 slots  ->  letter 5 % 4: wait key 3, parity 0 + 1
 */
#include "random.h"

#include <string.h>

/* Also of a ring with named barriers. */
static int slots_of(const Source *s, int ring)
{
	return s->ring[ring].slots ? s->ring[ring].slots : 1;
}

static int key_number(const Prog *p, const Move *m, int at)
{
	if (m->barrier == AT_NAMED)
		return p->first_named + m->ring;
	int ring = m->kind == STEP_LOAD ? m->by : m->ring, S = slots_of(&p->src, ring);
	return p->first_key[ring] + (m->barrier == AT_EMPTY ? S : 0) + at % S +
	       m->rank * p->cta_keys;
}

static Step plain(StepKind kind, int key, int n)
{
	Step s;
	memset(&s, 0, sizeof s);
	s.kind = (int8_t)kind;
	s.lanes = 1;
	s.key = (int16_t)key;
	s.cell = s.cell2 = -1;
	s.n = n;
	return s;
}

static bool is_access(StepKind k)
{
	return k == STEP_LOAD || k == STEP_READ || k == STEP_WRITE || k == STEP_MMA ||
	       k == STEP_STORE;
}

static bool is_of_barrier(StepKind k)
{
	return k == STEP_LOAD || k == STEP_WAIT || k == STEP_ARRIVE || k == STEP_EXPECT ||
	       k == STEP_BAR || k == STEP_BAR_ARRIVE;
}

/* trip: modulo PERIOD, which all slots and parities have. */
static Step step_at(const Prog *p, const Move *m, int trip)
{
	int at = trip + m->off + PERIOD;
	Step s = plain(m->kind, is_of_barrier(m->kind) ? key_number(p, m, at) : -1, m->n);
	if (is_access(m->kind))
		s.cell = (int16_t)(p->first_cell[m->ring] + at % slots_of(&p->src, m->ring) +
				   m->rank * p->cta_cells);
	if (m->lanes)
		s.lanes = (int8_t)m->lanes;
	else if (m->kind == STEP_FENCE)
		s.lanes = 32;
	if (m->kind == STEP_LOAD)
		s.mask = m->part;
	if (m->kind == STEP_MMA || m->kind == STEP_TOUCH)
		s.mask = 1u << m->ring; /* each has an accumulator */
	if (m->kind == STEP_WAIT)
		s.n = (at / slots_of(&p->src, m->ring) + m->parity % 2) % 2 + m->parity / 2 * 2;
	if (m->nowhere && at % slots_of(&p->src, m->ring) + 1 == slots_of(&p->src, m->ring))
		s.kind = STEP_NOWHERE;
	return s;
}

/* ------------------------------------------------------------------ letters */
static void put(Prog *p, int letter, int role, Step s)
{
	Part *part = &p->letters[letter].of[role];
	if (part->n == (int)COUNTOF(p->steps[0][0]))
		panic("a letter of more than %d steps", part->n);
	p->steps[letter][role][part->n++] = s;
	part->steps = p->steps[letter][role];
}

static void put_body(Prog *p, int letter, int role, BodyPart part, int trip, bool late)
{
	const Body *b = &p->src.role[role].part[part];
	for (int i = 0; i < b->n; i++)
		if (late || !b->at[i].late)
			put(p, letter, role, step_at(p, &b->at[i], trip));
}

static void put_inits(Prog *p, int role)
{
	const Source *s = &p->src;
	int rank = s->role[role].rank;
	if (role && s->role[role - 1].rank == rank)
		return;
	for (int r = 0; r < s->rings; r++)
		for (int i = 0; i < 2 * s->ring[r].slots; i++) {
			int n = s->ring[r].count[i >= s->ring[r].slots][rank];
			int key = p->first_key[r] + i + rank * p->cta_keys;
			put(p, L_START, role, plain(STEP_INIT, key, n ? n : 1));
		}
	if (s->fenced[rank])
		put(p, L_START, role, plain(STEP_FENCE_INIT, -1, 0));
}

static void put_letters(Prog *p, int role)
{
	const Role *r = &p->src.role[role];
	StepKind first = p->src.relaxed && p->src.ctas == 2 ? STEP_BAR_RELAXED : STEP_BAR;
	int all = p->m.nk - 1;
	put_inits(p, role);
	if (r->meets_first)
		put(p, L_START, role, plain(first, all, source_warps(&p->src, -1)));
	put_body(p, L_START, role, PRE, 0, false);
	put_body(p, L_FIRST, role, LOOP, 0, false);
	put_body(p, L_NONE, role, POST, 0, false);
	for (int k = 0; k < PERIOD; k++) {
		put_body(p, L_TRIP + k, role, LOOP, k, true);
		put_body(p, L_END + k, role, POST, k, true);
	}
	for (int letter = L_NONE; letter < L_FIRST; letter++) {
		if (r->meets_last)
			put(p, letter, role, plain(STEP_BAR, all, source_warps(&p->src, -1)));
		put(p, letter, role, plain(STEP_EXIT, -1, 0));
	}
}

/* ------------------------------------------------------------------ the machine */
static void find_places(Prog *p)
{
	const Source *s = &p->src;
	for (int r = 0; r < s->rings; r++) {
		p->first_key[r] = p->cta_keys;
		p->first_cell[r] = p->cta_cells;
		p->cta_keys += 2 * s->ring[r].slots;
		p->cta_cells += slots_of(s, r);
	}
	p->first_named = s->ctas * p->cta_keys;
}

static void make_keys(Prog *p)
{
	const Source *s = &p->src;
	Machine *m = &p->m;
	AgentSet all = AGENT(s->roles) - 1;
	m->keys = NEWN(m->arena, Key, p->first_named + s->named + 1);
	for (int rank = 0; rank < s->ctas; rank++)
		for (int r = 0; r < s->rings; r++)
			for (int i = 0; i < 2 * s->ring[r].slots; i++)
				m->keys[m->nk++] =
					(Key){.name = i < s->ring[r].slots ? "full" : "empty",
					      .slot = i % s->ring[r].slots,
					      .rank = rank,
					      .waiters = all,
					      .arrivers = all};
	for (int i = 0; i < s->named; i++)
		m->keys[m->nk++] = (Key){.name = "named",
					 .slot = -1,
					 .named = true,
					 .rank = s->barrier[i].rank,
					 .warps = s->barrier[i].warps};
	m->keys[m->nk++] = (Key){.name = "all",
				 .slot = -1,
				 .named = true,
				 .rank = s->ctas == 2 ? -1 : 0,
				 .warps = source_warps(s, -1)};
	m->meet = s->ctas == 2 ? m->nk : 0;
}

static void make_cells(Prog *p)
{
	const Source *s = &p->src;
	Machine *m = &p->m;
	AgentSet all = AGENT(s->roles) - 1;
	m->cells = NEWN(m->arena, Cell, s->ctas * p->cta_cells + 1);
	for (int rank = 0; rank < s->ctas; rank++)
		for (int r = 0; r < s->rings; r++)
			for (int i = 0; i < slots_of(s, r); i++)
				m->cells[m->nc++] = (Cell){.name = "buffer",
							   .slot = i,
							   .full = s->ring[r].parts == 2 ? 3 : 1,
							   .rank = rank,
							   .readers = all,
							   .writers = all};
}

static void find_senders(Prog *p)
{
	static const Step none;
	for (int a = 0; a < p->src.roles; a++) {
		int to = !p->src.role[a].rank;
		if (!source_sends(&p->src, a))
			continue;
		p->m.senders[to] |= AGENT(a);
		p->m.sent[to][a] = p->m.sent_each[to][a] = &none;
	}
}

Prog *prog_build(Arena *arena, const Source *s)
{
	Prog *p = NEW(arena, Prog);
	Machine *m = &p->m;
	p->src = *s;
	m->arena = arena;
	m->na = s->roles;
	m->ranks = s->ctas;
	for (int a = 0; a < m->na; a++)
		m->agents[a] =
			(Agent){.name = "role", .warps = s->role[a].warps, .rank = s->role[a].rank};
	find_places(p);
	make_keys(p);
	make_cells(p);
	find_senders(p);
	for (int a = 0; a < s->roles; a++)
		put_letters(p, a);
	return p;
}
