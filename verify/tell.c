/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tell.c - which trips are told apart, where a run is not known or seems to fail: more of them at
 * the ends of a loop, or all where there are few.
 *     i < 2 in a loop of T trips   ->   trips 0 and 1, and all later ones
 */
#include "verify/tree.h"

/* What a condition hangs on is told apart further from the ends of its loop. */
bool tell_apart(Tree *t, const Ix *x, int agent, bool *ends)
{
	Ctx *c = t->p->k->ctx;
	bool more = false;
	for (int i = 0; x && i < t->loops.n; i++) {
		Branch *b = t->loops.at[i];
		const Shared *sh = b->of[agent];
		bool counts = sh && (ix_uses(x, branch_count(c, sh->count)));
		for (int j = 0; sh && j < sh->counters; j++)
			counts |= ix_uses(x, sh->counter[j]);
		bool first = sh && (ix_uses(x, sh->own) || counts),
		     last = sh && ix_uses(x, sh->rest);
		more |= (first && b->first < MAX_ENDS) || (last && b->last < MAX_ENDS);
		*ends |= first || last;
		b->first += first && b->first < MAX_ENDS;
		b->last += last && b->last < MAX_ENDS;
	}
	return more;
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
