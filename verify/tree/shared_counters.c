/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* shared_counters.c - counters that a loop of several roles carries: which of them are one.
 *     producer for t, n (0, T, 0, f(t))   reader for u, m (0, T, 0, f(u))   ->   n and m are one
 */
#include "verify/tree/merge.h"

bool merge_takes_all(const Branch *in, int agent)
{
	for (; in; in = in->up)
		if (in->of[agent] && in->of[agent]->turns > 1)
			return false;
	return true;
}

/* What who takes all trips adds in one of them, in the names of who takes some. */
static const Ix *added_in(const Merger *m, const Shared *sh, const Shared *all, int of, char from,
			  int64_t n)
{
	Ctx *c = m->c;
	const Ix *first = ix_add(c, ix_mul(c, ix_sym(c, sh->own), ix_const(c, sh->turns)),
				 ix_const(c, sh->turn));
	const Ix *trip = from == '+' ? ix_add(c, first, ix_const(c, n)) : ix_const(c, n);
	const Ix *x = ix_subst(c, all->more[of], all->own, trip);
	if (all->drawn < 0 || sh->drawn < 0)
		return x;
	const char *drawn = branch_drawn_in(c, sh->counter[sh->drawn], from, n);
	return ix_subst(c, x, all->counter[all->drawn], ix_sym(c, drawn));
}

/* Of what is added the name of no counter is left but that of the tile that is drawn. */
static bool uses_others(const Shared *sh, const Ix *x)
{
	for (int i = 0; i < sh->counters; i++)
		if (i != sh->drawn && ix_uses(x, sh->counter[i]))
			return true;
	return false;
}

/* A role that takes trips turn, turn + turns, .. of all carries what one that takes all has there:
 *     for t, n (0, T, 0, f(t))   for j, m (0, .., f(0), f(2 * j + 1) + f(2 * j + 2)), t = 2 * j + 1
 */
static bool counts_in_turn(const Merger *m, const Branch *b, const Shared *sh, int i,
			   const Shared *all, int of)
{
	Ctx *c = m->c;
	const Ix *start = all->begin[of], *more = ix_const(c, 0);
	if (b->up || uses_others(all, all->more[of]) || uses_others(sh, sh->more[i]) ||
	    (all->drawn >= 0) != (sh->drawn >= 0))
		return false;
	for (int64_t n = 0; n < sh->turn; n++)
		start = ix_add(c, start, added_in(m, sh, all, of, '@', n));
	for (int64_t n = 0; n < sh->turns; n++)
		more = ix_add(c, more, added_in(m, sh, all, of, '+', n));
	return ix_same(c, start, sh->begin[i], m->t->facts) &&
	       ix_same(c, more, sh->more[i], m->t->facts);
}

static bool counter_is(const Merger *m, const Branch *b, int agent, int i, const Carried *k)
{
	const Shared *sh = b->of[agent], *old = k->of == b ? b->of[k->agent] : NULL;
	if (old && (i == sh->drawn || k->number == old->drawn))
		return i == sh->drawn && k->number == old->drawn;
	if (!old || old->turns > 1)
		return false;
	if (sh->turns > 1)
		return counts_in_turn(m, b, sh, i, old, k->number);
	return merge_same_in(m, b->up, agent, sh->start[i], k->agent, old->start[k->number]) &&
	       merge_same_in(m, b, agent, sh->more[i], k->agent, old->more[k->number]);
}

/* Counters that begin alike and go on alike are one. */
static int counter_like(Merger *m, const Branch *b, int agent, int i)
{
	Tree *t = m->t;
	int of = 0;
	for (; of < t->ncarried; of++)
		if (counter_is(m, b, agent, i, &t->carried[of]))
			return of;
	if (of == MAX_CARRIED)
		return -1;
	const char *name = ctx_strf(m->c, "#carried%d", of);
	t->carried[t->ncarried++] = (Carried){name, b, agent, i};
	return of;
}

static bool merge_counter(Merger *m, Branch *b, int agent, int i)
{
	int of = counter_like(m, b, agent, i);
	if (of < 0)
		return read_limit(m->r, LIMIT_CARRIED, b->of[agent]->op->loc);
	b->counter[agent][i] = of;
	return true;
}

/* What others may be made of. */
static bool merge_drawn(Merger *m, Branch *b)
{
	for (int a = 0; a < m->p->m.na; a++)
		if (b->of[a] && b->of[a]->drawn >= 0 && !merge_counter(m, b, a, b->of[a]->drawn))
			return false;
	return true;
}

/* Of roles that take all trips first. */
bool merge_counters(Merger *m, Branch *b)
{
	if (!merge_drawn(m, b))
		return false;
	for (int turns = 0; turns < 2; turns++)
		for (int a = 0; a < m->p->m.na; a++)
			for (int i = 0; b->of[a] && i < b->of[a]->counters; i++)
				if (merge_takes_all(b, a) != turns && i != b->of[a]->drawn &&
				    !merge_counter(m, b, a, i))
					return false;
	return true;
}
