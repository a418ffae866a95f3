/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* counts.c - what is known of numbers where a run is: trips done and to do, and how often loops
 * run.
 *     in a trip that is not the first, of a loop of at least two   ->   own is 1.., rest is 1..
 */
#include "verify/tree/tree.h"

enum { FEW_TRIPS = 16 };

/* From so many trips on they are not told apart. */
int64_t long_from(const Tree *t, const Count *n)
{
	int64_t most = 1, trips;
	if (ix_is_const(n->trip, &trips) && trips <= FEW_TRIPS)
		return trips + 1;
	for (int i = 0; i < t->loops.n; i++) {
		const Branch *b = t->loops.at[i];
		int64_t ends = b->first + b->last - 1;
		most = b->count == n && ends > most ? ends : most;
	}
	return most;
}

Num count_num(const Tree *t, const Count *n, int32_t class)
{
	int64_t v;
	if (ix_is_const(n->trip, &v))
		return num_exact(v);
	if (class >= CLASS_EXACT)
		return num_exact(class - CLASS_EXACT);
	if (class == CLASS_BELOW)
		return num_within(INT64_MIN, -1, 1, 0);
	if (class == CLASS_LONG)
		return num_within(long_from(t, n), n->hi, n->mod, n->res);
	return num_within(INT64_MIN, INT64_MAX, 1, 0);
}

/* From how many on a role's trips are not told apart. */
int64_t steady_from(const Branch *b, const Shared *sh)
{
	int64_t least = (b->first - sh->turn + sh->turns - 1) / sh->turns;
	return least > 0 ? least : 0;
}

static Num own_num(const Branch *b, const Shared *sh, const Trip *trip)
{
	if (trip->kind == TRIP_EXACT)
		return num_exact((trip->n - sh->turn) / sh->turns);
	return num_from(steady_from(b, sh), b->period / sh->turns,
			(trip->residue - sh->turn) / sh->turns);
}

static Num rest_num(const Tree *t, const Branch *b, const Where *at)
{
	const Trip *trip = &at->trip[b->id];
	int64_t all;
	Num n = count_num(t, b->count, at->count[b->count - t->counts]);
	if (trip->kind == TRIP_LAST)
		return num_exact(trip->n);
	if (trip->kind == TRIP_EXACT && num_is_exact(n, &all))
		return num_exact(all - trip->n);
	return num_from(trip->kind == TRIP_EXACT ? n.lo - trip->n : b->last, 1, 0);
}

bool put_numbers(const Tree *t, const Segment *g, const Where *at, int agent, Env *e)
{
	for (const Branch *b = g->in; b; b = b->up) {
		const Shared *sh = b->of[agent];
		if (e->n > NUM_NAMES - 12)
			return false;
		env_put(e, sh->own, own_num(b, sh, &at->trip[b->id]));
		env_put(e, sh->rest, rest_num(t, b, at));
	}
	for (int i = 0; i < t->of_role[agent]->n; i++) {
		const Count *n = t->count_of[agent][i];
		if (n && e->n > NUM_NAMES - 10)
			return false;
		if (n)
			env_put(e, t->count_name[i], count_num(t, n, at->count[n - t->counts]));
	}
	return true;
}

/* What is known of it where it is chosen. */
Num trips_at(const Count *n, const Where *at)
{
	Env e = {.n = 0};
	for (const Branch *b = n->home; b; b = b->up)
		if (b->of[n->agent] && e.n < NUM_NAMES)
			env_put(&e, b->of[n->agent]->own,
				own_num(b, b->of[n->agent], &at->trip[b->id]));
	return num_eval(n->trip, &e);
}
