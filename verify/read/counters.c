/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* counters.c - what a counter that a loop carries is in a trip: a sum, where each adds the same, or
 * more than the one before by a number.
 *     for i, n (0, U, 0, T + 1)   ->   in trip i, n is i * (T + 1)
 */
#include "verify/tree/tree.h"

static bool is_in(const Branch *b, const Branch *outer)
{
	while (b && b != outer)
		b = b->up;
	return b == outer;
}

/* A name of what the loop itself decides: a counter, or how often a loop in it runs. */
static bool is_by_loop(const Tree *t, const Carried *k, const Ix *x)
{
	const Shared *sh = k->of->of[k->agent];
	for (int i = 0; i < sh->counters; i++)
		if (ix_uses(x, sh->counter[i]))
			return true;
	for (int i = 0; i < t->of_role[k->agent]->n; i++) {
		const Count *n = t->count_of[k->agent][i];
		if (ix_uses(x, t->count_name[i]) && (!n || is_in(n->home, k->of)))
			return true;
	}
	return false;
}

/* What a loop adds to a counter in its first trip, in names that it does not change: counts, or
 * sizes; NULL: there are others. */
static const Ix *first_added(const Tree *t, const Carried *k)
{
	Ctx *c = t->p->k->ctx;
	const Shared *sh = k->of->of[k->agent];
	const Ix *none = ix_const(c, 0), *more = ix_subst(c, sh->more[k->number], sh->own, none);
	const Ix *x = ix_sub(c, sh->step[k->number], ix_sym(c, sh->counter[k->number]));
	x = ix_subst(c, x, sh->own, none);
	x = ix_subst(c, x, sh->rest, ix_sym(c, t->count_name[sh->count]));
	x = is_by_loop(t, k, x) ? more : x;
	return is_by_loop(t, k, x) ? NULL : x;
}

/* What was added in trips 0 to u - 1, where n * own + more is added in each:
 *     n * u * (u - 1) / 2 + more * u */
static const Ix *added(const Tree *t, const Scope *s, const Carried *k, const Ix *u)
{
	Ctx *c = t->p->k->ctx;
	int64_t n;
	const Shared *sh = k->of->of[k->agent];
	const Ix *own = ix_sym(c, sh->own), *one = ix_const(c, 1), *more = sh->more[k->number];
	const Ix *next = ix_subst(c, more, sh->own, ix_add(c, own, one));
	const Ix *first = ix_apart(next, 1, more, 0, &n) ? first_added(t, k) : NULL;
	if (!first)
		return NULL;
	const Ix *half = ix_div(c, ix_mul(c, u, ix_sub(c, u, one)), ix_const(c, 2));
	return ix_add(c, ix_mul(c, half, ix_const(c, n)),
		      ix_mul(c, u, scope_put(t, s, k->agent, first)));
}

/* What a counter is in any trip, where that follows from its number. */
static const Ix *carried_by(const Tree *t, const Scope *s, const Carried *k)
{
	Ctx *c = t->p->k->ctx;
	const Shared *sh = k->of->of[k->agent];
	if (k->number == sh->drawn)
		return ix_sym(c, k->name);
	const Ix *all = added(t, s, k, scope_trips(t, s, k->of));
	return all ? ix_add(c, scope_put(t, s, k->agent, sh->start[k->number]), all)
		   : ix_sym(c, k->name);
}

/* What a counter is in a trip whose number is known, if numbers were added in those before. */
const Ix *scope_carried(const Tree *t, const Scope *s, int i, const Trip *trip)
{
	const Carried *k = &t->carried[i];
	const Shared *sh = k->of->of[k->agent];
	int64_t sum = 0, v;
	if (k->number == sh->drawn)
		return ix_sym(t->p->k->ctx, k->name);
	if (trip->kind == TRIP_NONE || sh->turns > 1 || !is_in_turn(k->of->up, s, k->agent))
		return s->carried[i];
	if (trip->kind != TRIP_EXACT)
		return carried_by(t, s, k);
	for (int64_t n = 0; n < trip->n; n++) {
		if (!ix_value_at(t->p->k->ctx, sh->more[k->number], sh->own, n, &v))
			return carried_by(t, s, k);
		sum += v;
	}
	return ix_add(t->p->k->ctx, scope_put(t, s, k->agent, sh->start[k->number]),
		      ix_const(t->p->k->ctx, sum));
}
