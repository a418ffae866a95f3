/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* distinct_trips.c - which trips are told apart, where a run is not known or seems to fail: more of
 * them at the ends of a loop, or all where there are few.
 *     i < 2 in a loop of T trips   ->   trips 0 and 1, and all later ones
 */
#include "verify/tree/tree.h"

/* Which of a loop's names an expression has. */
typedef struct {
	bool first, last;
} Ends;

static Ends ends_of(const Tree *t, const Ix *x, const Shared *sh)
{
	bool first = ix_uses(x, sh->own) || ix_uses(x, t->count_name[sh->count]);
	for (int j = 0; j < sh->counters; j++)
		first |= ix_uses(x, sh->counter[j]);
	return (Ends){first, ix_uses(x, sh->rest)};
}

/* One trip more of each loop that x hangs on: false where no more are told apart. */
static bool tell_one_more(Tree *t, const Ix *x, int agent, bool *ends)
{
	bool more = false;
	for (int i = 0; i < t->loops.n; i++) {
		Branch *b = t->loops.at[i];
		if (!b->of[agent])
			continue;
		Ends e = ends_of(t, x, b->of[agent]);
		*ends |= e.first || e.last;
		more |= (e.first && b->first < MAX_ENDS) || (e.last && b->last < MAX_ENDS);
		b->first += e.first && b->first < MAX_ENDS;
		b->last += e.last && b->last < MAX_ENDS;
	}
	return more;
}

/* At least so much, where it is not known how much. */
static void raise(Env *e, const char *name, int64_t lo)
{
	for (int i = 0; i < e->n; i++) {
		Num *v = &e->value[i];
		int64_t is;
		if (e->name[i] == name && !num_is_exact(*v, &is) && v->lo < lo)
			*v = num_within(lo, v->hi, v->mod, v->res);
	}
}

static void raise_names(const Tree *t, int agent, Env *e)
{
	for (int i = 0; i < t->loops.n; i++) {
		const Branch *b = t->loops.at[i];
		const Shared *sh = b->of[agent];
		if (!sh)
			continue;
		raise(e, sh->own, steady_from(b, sh));
		raise(e, sh->rest, b->last);
		raise(e, t->count_name[sh->count], long_from(t, b->count));
	}
}

/* All its trips can be told apart. */
static bool is_few(const Branch *b)
{
	return b->count->hi < MAX_ENDS;
}

/* What a condition hangs on is told apart further from the ends of its loop, as far as decides it
 * where `known` holds of its names; where nothing decides it, only if a loop has few trips. */
bool tell_apart(Tree *t, const Ix *x, int agent, Env *known, bool *ends)
{
	Told *before = NEW(t->arena, Told);
	bool few = false;
	int64_t is;
	told_keep(before, t);
	if (!x || !tell_one_more(t, x, agent, ends))
		return false;
	do {
		raise_names(t, agent, known);
		if (num_is_exact(num_eval(x, known), &is))
			return true;
	} while (tell_one_more(t, x, agent, ends));
	for (int i = 0; i < t->loops.n; i++)
		few |= is_few(t->loops.at[i]) && t->loops.at[i]->first > before->first[i];
	if (!few)
		told_use(before, t);
	*ends = few;
	return few;
}

/* All numbers of trips of which there are few, where a ring's way hangs on one. */
bool tell_counts(Tree *t)
{
	bool more = false;
	for (int i = 0; t->unclear && i < t->loops.n; i++) {
		Branch *b = t->loops.at[i];
		const Count *n = b->count;
		bool few = n->by->kind == IX_SYM && n->hi < MAX_ENDS && b->first <= n->hi;
		if (!few || (!ix_uses(t->unclear, n->by->name) && !ix_uses(t->unclear, b->name)))
			continue;
		b->first = n->hi + 1;
		more = true;
	}
	for (int i = 0; t->unclear && i < t->ncounts; i++) {
		const Count *n = &t->counts[i];
		Branch *b = n->home;
		if (!b || n->hi >= MAX_ENDS || b->first > n->hi || !ix_uses(t->unclear, b->name))
			continue;
		b->first = n->hi + 1;
		more = true;
	}
	t->unclear = NULL;
	return more;
}

/* All numbers of trips of which there are few, where a run seems to fail: it may have more. */
bool tell_few(Tree *t)
{
	bool more = false;
	for (int i = 0; i < t->loops.n; i++) {
		Branch *b = t->loops.at[i];
		const Count *n = b->count;
		if (n->by->kind != IX_SYM || n->hi >= MAX_ENDS || b->first > n->hi)
			continue;
		b->first = n->hi + 1;
		more = true;
	}
	return more;
}

void told_keep(Told *told, const Tree *t)
{
	told->loops = t->loops.n;
	told->units = t->nunits;
	for (int i = 0; i < t->loops.n; i++) {
		told->first[i] = t->loops.at[i]->first;
		told->last[i] = t->loops.at[i]->last;
	}
	for (int i = 0; i < t->nunits; i++) {
		told->trust[i] = t->units[i].trust;
		told->plain[i] = t->units[i].plain;
	}
}

/* Where it has as many loops and rings: to tell more apart is never wrong. */
void told_use(const Told *told, Tree *t)
{
	for (int i = 0; told->loops == t->loops.n && i < t->loops.n; i++) {
		t->loops.at[i]->first = told->first[i];
		t->loops.at[i]->last = told->last[i];
	}
	for (int i = 0; told->units == t->nunits && i < t->nunits; i++) {
		t->units[i].trust = told->trust[i];
		t->units[i].plain = told->plain[i];
	}
}
