/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* roots.c - the loops of each role, before they become one tree: which roles take all trips of the
 * loops that stand in no other, and which every second one; what is known of all of them.
 *     for t (0, N) and for j (0, N / 2)  ->  the second takes trips 0, 2, 4, .. of the first
 */
#include "verify/read/read.h"
#include "verify/tree/tree.h"

/* Of a loop that no other stands around. */
static bool root_loop_fits(Reader *r, Script *s, const Ix *trip, const Loops *of)
{
	int64_t turns = s->turns, turn = s->turn;
	for (int i = 0; i < of->n; i++) {
		const Ix *all = of->at[i].trip;
		if (of->at[i].depth)
			continue;
		s->turns = 1;
		s->turn = 0;
		if (!ix_same(r->p->k->ctx, all, trip, r->p->tree->facts) &&
		    !read_takes_turns(r, s, all, trip))
			continue;
		r->p->tree->turn_of[s - r->p->scripts] = all;
		return turns < 0 || (turns == s->turns && turn == s->turn);
	}
	return false;
}

/* Whether all loops of a role are those of another, or every second one of its trips, .. */
static const Loop *misfit(Reader *r, int agent, const Loops *own, const Loops *of)
{
	Script *s = &r->p->scripts[agent];
	s->turns = -1;
	for (int i = 0; i < own->n; i++)
		if (!own->at[i].depth && !root_loop_fits(r, s, own->at[i].trip, of))
			return &own->at[i];
	s->turns = s->turns < 0 ? 1 : s->turns;
	return NULL;
}

static bool lanes_together(Reader *r, const Loops *l)
{
	const char *lane = ctx_str(r->p->k->ctx, "lane");
	for (int i = 0; i < l->n; i++)
		if (ix_uses(l->at[i].trip, lane))
			return read_problem(r, D_W0411, l->at[i].op->loc,
					    "a loop whose length depends on the lane");
	return true;
}

static int count_roots(const Loops *l)
{
	int n = 0;
	for (int i = 0; i < l->n; i++)
		n += !l->at[i].depth;
	return n;
}

static bool all_fit(Reader *r, const Loops *all, int spine)
{
	for (int a = 0; a < r->p->m.na; a++)
		if (misfit(r, a, &all[a], &all[spine]))
			return false;
	return true;
}

static void no_turns(Program *p)
{
	for (int a = 0; a < p->m.na; a++) {
		p->scripts[a].turns = 1;
		p->scripts[a].turn = 0;
	}
}

static void put_facts(Reader *r)
{
	Program *p = r->p;
	Ctx *c = p->k->ctx;
	PtrMap *places = NEW(p->arena, PtrMap);
	VEC(IxFact) all = {0};
	places->arena = p->arena;
	for (int i = 0; i < r->facts.n; i++)
		vec_push(p->arena, &all, r->facts.at[i]);
	for (int i = 0; i < MAX_BRANCHES; i++) {
		vec_push(p->arena, &all, ((IxFact){branch_own(c, i), 0, INT64_MAX, 1}));
		vec_push(p->arena, &all, ((IxFact){branch_rest(c, i), 1, INT64_MAX, 1}));
		vec_push(p->arena, &all, ((IxFact){branch_drawn(c, i), 0, INT64_MAX, 1}));
	}
	for (int i = 0; i < MAX_COUNTS; i++) {
		p->tree->count_name[i] = branch_count(c, i);
		const char *some = branch_trips(c, i, true), *none = branch_trips(c, i, false);
		vec_push(p->arena, &all, ((IxFact){some, 1, INT64_MAX, 1}));
		vec_push(p->arena, &all, ((IxFact){none, INT64_MIN, -1, 1}));
	}
	for (int i = 0; i < all.n; i++)
		ptrmap_set(places, all.at[i].name, (void *)(intptr_t)(i + 1));
	p->tree->facts = (IxFacts){.at = all.at, .n = all.n, .places = places};
}

static void add_form(Tree *t, Arena *a, const Ix *x)
{
	for (int i = 0; i < t->forms.n; i++)
		if (t->forms.at[i] == x)
			return;
	vec_push(a, &t->forms, x);
}

/* Those that hang on loops are compared where they are read. */
static void add_forms(Reader *r, const Loops *l)
{
	for (int i = 0; i < l->n; i++) {
		const Op *op = l->at[i].op;
		if (l->at[i].trip->kind == IX_CONST || read_names_loops(r, l->at[i].trip))
			continue;
		add_form(r->p->tree, r->p->arena, l->at[i].trip);
		add_form(r->p->tree, r->p->arena,
			 ix_sub(r->p->k->ctx, stage(&r->lets, IX(op, TO)),
				stage(&r->lets, IX(op, FROM))));
	}
}

/* What counts as a loop of few trips may hang on what other roles have in theirs. */
static void find_outer(Reader *r)
{
	const Tree *t = r->p->tree;
	for (int before = -1; before < t->outer.n;) {
		before = t->outer.n;
		for (int a = 0; a < r->p->m.na; a++)
			read_begin(r, &r->p->scripts[a]);
	}
}

static bool same_turns(const Script *a, const Script *b)
{
	return a->role == b->role && a->rank == b->rank && a->turns == b->turns &&
	       a->turn == b->turn;
}

/* So that what its warps do has the same names in all. */
static bool share_counts(Program *p)
{
	Tree *t = p->tree;
	for (int a = 0; a < p->m.na; a++) {
		int first = 0;
		while (!same_turns(&p->scripts[first], &p->scripts[a]))
			first++;
		t->of_role[a] = first < a ? t->of_role[first] : NEW(p->arena, RoleCounts);
	}
	return true;
}

/* Turns are those of one role that all loops without another around them fit. */
bool read_tree(Reader *r)
{
	Program *p = r->p;
	Loops all[MAX_AGENTS];
	int most = 0;
	put_facts(r);
	find_outer(r);
	for (int a = 0; a < p->m.na; a++) {
		read_begin(r, &p->scripts[a]);
		all[a] = r->loops;
		r->loops = (Loops){0};
		most = count_roots(&all[a]) > most ? count_roots(&all[a]) : most;
		if (!lanes_together(r, &all[a]))
			return false;
		add_forms(r, &all[a]);
	}
	for (int a = p->m.na - 1; a >= 0; a--)
		if (count_roots(&all[a]) == most && all_fit(r, all, a))
			return share_counts(p);
	no_turns(p);
	return share_counts(p);
}
