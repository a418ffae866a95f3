/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* span.c - what runs through a tree must tell apart, before any is followed: residues of trips,
 * and in which segments it matters how often a loop runs.
 *     if (k % 2 == 0) { .. }   ->   period 2;   T, of the second loop only   ->   chosen before it
 */
#include "verify/tree/tree.h"

/* ------------------------------------------------------------------ what is told apart */
typedef struct {
	Tree *t;
	int seg, agent;
	bool far;
} Needs;

static void ask(Needs *n, const char *name)
{
	Asked *asked = &n->t->asked[n->seg * n->t->p->m.na + n->agent];
	for (int i = 0; i < asked->n; i++)
		if (asked->at[i] == name)
			return;
	if (*name == '#') /* the others are sizes */
		vec_push(n->t->arena, asked, name);
}

static void need(void *user, const char *name, int64_t q)
{
	Needs *n = user;
	Tree *t = n->t;
	ask(n, name);
	for (int i = 0; i < t->loops.n; i++) {
		Branch *b = t->loops.at[i];
		const Shared *sh = b->of[n->agent];
		if (sh && sh->own == name)
			b->period = lcm(b->period, q * sh->turns);
		n->far |= b->period > MAX_TRIP_PERIOD;
	}
}

static void need_x(Needs *n, const Ix *x)
{
	if (x)
		ix_needs(x, 1, need, n);
}

static bool is_plain(const Tree *t, int first, bool barrier)
{
	const int *of = barrier ? t->unit_of_key : t->unit_of_cell;
	int keys = t->cta_keys * t->p->m.ranks;
	int i = first < 0 || (barrier && first >= keys) ? -1 : of[first];
	bool plain = i < 0;
	for (; i >= 0 && i < t->nunits && !plain; i++) {
		plain |= t->units[i].plain;
		if (i + 1 == t->nunits || !t->units[i + 1].group)
			break;
	}
	return plain;
}

static void need_items(Needs *n, const Items *items)
{
	const Tree *t = n->t;
	for (int i = 0; i < items->n; i++) {
		const Item *it = items->at[i];
		const Step *s = &it->step;
		bool key = it->at_key && is_plain(t, s->key, true);
		need_x(n, key ? it->at_key : NULL);
		need_x(n, key || s->kind != STEP_WAIT ? it->number : NULL);
		need_x(n, it->at_cell && is_plain(t, s->cell, false) ? it->at_cell : NULL);
		need_x(n, it->at_cell2 && is_plain(t, s->cell2, false) ? it->at_cell2 : NULL);
		need_x(n, it->at_byte);
		need_x(n, it->from);
		need_x(n, it->to);
		for (int j = 0; j < it->nconds; j++)
			need_x(n, it->conds[j]);
		need_items(n, &it->body);
	}
}

bool find_residues(Tree *t)
{
	Needs n = {.t = t};
	int na = t->p->m.na;
	t->asked = NEWN(t->arena, Asked, t->segments.n * na + 1);
	for (int i = 0; i < t->loops.n; i++) {
		Branch *b = t->loops.at[i];
		b->period = 1;
		for (int a = 0; a < na; a++)
			b->period = b->of[a] ? lcm(b->period, b->of[a]->turns) : b->period;
	}
	for (n.seg = 0; n.seg < t->segments.n; n.seg++)
		for (n.agent = 0; n.agent < na; n.agent++)
			need_items(&n, &t->segments.at[n.seg]->of[n.agent]);
	return !n.far;
}

/* ------------------------------------------------------------------ where counts are chosen */
/* Segments of a sequence, and loops between them, with all that is in these. */
typedef struct {
	const Sequence *in;
	int from, to, loops; /* first, last segment, last loop */
} Span;

static const Sequence *sequence_of(const Tree *t, const Branch *in)
{
	return in ? &in->body : &t->root;
}

/* Where a segment, or the loop after it, stands in a sequence; -1: not in it. */
static int place_in(const Tree *t, const Sequence *q, const Branch *in, int at, bool *nested)
{
	*nested = false;
	for (;;) {
		if (sequence_of(t, in) == q)
			return at;
		if (!in)
			return -1;
		at = in->at;
		in = in->up;
		*nested = true;
	}
}

static void widen(const Tree *t, Span *s, const Branch *in, int at, bool loop)
{
	bool nested;
	int place;
	if (!s->in)
		*s = (Span){sequence_of(t, in), at, at, -1};
	while ((place = place_in(t, s->in, in, at, &nested)) < 0) {
		const Branch *b = NULL;
		for (int i = 0; i < t->loops.n; i++)
			b = &t->loops.at[i]->body == s->in ? t->loops.at[i] : b;
		*s = (Span){sequence_of(t, b->up), b->at, b->at, b->at};
	}
	s->from = place < s->from ? place : s->from;
	if (nested || loop)
		s->loops = place > s->loops ? place : s->loops;
	else
		s->to = place > s->to ? place : s->to;
}

static bool asks_for(const Tree *t, int seg, const Count *n)
{
	int na = t->p->m.na;
	for (int a = 0; a < na; a++)
		for (int i = 0; i < t->of_role[a]->n; i++) {
			const Asked *asked = &t->asked[seg * na + a];
			const char *name = t->count_name[i];
			for (int j = 0; t->count_of[a][i] == n && j < asked->n; j++)
				if (asked->at[j] == name)
					return true;
		}
	return false;
}

/* What sizes decide is chosen once, or, so that there are fewer choices at a time, where it is
 * asked for, as if it could change. */
static void find_span(const Tree *t, Count *n, bool once)
{
	Span s = {0};
	bool nested;
	if (once && !n->home)
		widen(t, &s, NULL, 0, false);
	for (int i = 0; i < t->segments.n; i++)
		if (asks_for(t, i, n))
			widen(t, &s, t->segments.at[i]->in, t->segments.at[i]->at, false);
	for (int i = 0; i < t->loops.n; i++)
		if (t->loops.at[i]->count == n)
			widen(t, &s, t->loops.at[i]->up, t->loops.at[i]->at, true);
	n->lives = NEWN(t->arena, uint8_t, t->segments.n + 1);
	n->begins = s.in->parts.at[s.from]->id;
	int loops = s.loops > s.to - 1 ? s.loops : s.to - 1, to = s.to > loops ? s.to : loops;
	for (int i = 0; i < t->segments.n; i++) {
		const Segment *g = t->segments.at[i];
		int place = place_in(t, s.in, g->in, g->at, &nested);
		n->lives[i] = place >= s.from && place <= (nested ? loops : to);
		n->lives[i] |= once && !n->home;
	}
}

void find_spans(Tree *t, bool once)
{
	for (int i = 0; i < t->ncounts; i++)
		find_span(t, &t->counts[i], once);
}

static const Unit *unit_at(const Tree *t, int of)
{
	return of < 0 ? NULL : &t->units[of];
}

/* Slot 0, in the CTA of the i-th. */
static int first_at(const Unit *unit, int i, int each)
{
	return i / each * each + unit->first % each;
}

/* Slots of rings that turn are named by frames. */
void name_slots(Tree *t)
{
	Machine *m = &t->p->m;
	for (int i = 0; i < t->cta_keys * m->ranks; i++) {
		const Unit *unit = unit_at(t, t->unit_of_key[i]);
		m->keys[i].slots = unit && !unit->plain ? unit->slots : 0;
		m->keys[i].first = unit ? first_at(unit, i, t->cta_keys) : 0;
	}
	for (int i = 0; i < m->nc; i++) {
		const Unit *unit = unit_at(t, t->unit_of_cell[i]);
		m->cells[i].slots = unit && !unit->plain ? unit->slots : 0;
		m->cells[i].first = unit ? first_at(unit, i, t->cta_cells) : 0;
	}
	machine_overlaps(m);
}
