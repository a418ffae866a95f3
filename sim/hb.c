/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* hb.c - vector clocks: what each warp knows to have happened. Releases hand on what a warp knows,
 * acquires take it, fence.proxy.async lifts generic accesses into what the async proxy is ordered
 * after. (PTX ISA: Memory Consistency Model, Proxies.)
 *   st.shared; fence.proxy.async; bar.sync | bar.sync; wgmma  ->  ordered, through the fence */
#include "sim/machine.h"

#include <stdlib.h>

static bool clock_room(Clock *k, u32 n)
{
	if (n <= k->n)
		return true;
	u32 cap = (n + 31) & ~31u;
	u32 *more = realloc(k->v, cap * sizeof *more);
	if (!more)
		return false;
	memset(more + k->n, 0, (cap - k->n) * sizeof *more);
	k->v = more;
	k->n = cap;
	return true;
}

void clock_raise(Clock *k, u32 actor, u32 value)
{
	if (clock_room(k, actor + 1) && k->v[actor] < value)
		k->v[actor] = value;
}

static void clock_join(Clock *to, const Clock *from)
{
	if (!from->n || !clock_room(to, from->n))
		return;
	for (u32 i = 0; i < from->n; i++)
		to->v[i] = to->v[i] > from->v[i] ? to->v[i] : from->v[i];
}

void know_join(Know *to, const Know *from)
{
	clock_join(&to->seen, &from->seen);
	clock_join(&to->fenced, &from->fenced);
	clock_join(&to->strong, &from->strong);
}

void know_free(Know *k)
{
	free(k->seen.v);
	free(k->fenced.v);
	free(k->strong.v);
	*k = (Know){0};
}

static void clock_forget(Clock *k)
{
	if (k->n)
		memset(k->v, 0, k->n * sizeof *k->v);
}

void know_forget(Know *k)
{
	clock_forget(&k->seen);
	clock_forget(&k->fenced);
	clock_forget(&k->strong);
}

/* Numbers start at 1: 0 is nobody. */
u32 actor_new(Cluster *c)
{
	return c->job->globals ? ++c->job->nactors : ++c->nactors;
}

bool hb_off(const Warp *w)
{
	return !(w->cluster->job->opt->checks & (CHECK_RACE | CHECK_EXIT));
}

/* ------------------------------------------------------------------ threads of one warp */
static bool is_own(const Warp *w, u32 actor)
{
	return w->own && actor - w->actor < LANES;
}

bool hb_threads(Warp *w)
{
	w->own = calloc(LANES, sizeof *w->own);
	for (u32 l = 0; w->own && l < LANES; l++) {
		w->own[l][l] = 1;
		if (l)
			actor_new(w->cluster);
	}
	return w->own;
}

bool knows(const Warp *w, u32 lane, u32 actor, u32 clock)
{
	u32 other = actor - w->actor;
	if (is_own(w, actor))
		return lane == LANES || lane == other || w->own[lane][other] >= clock;
	return clock_of(&w->know.seen, actor) >= clock;
}

/* What the acting threads know of the warp's own, to be handed on with the rest. */
static void own_show(Warp *w)
{
	for (u32 x = 0; w->own && x < LANES; x++) {
		u32 most = 0;
		EACH_LANE(l, w->acting)
		most = w->own[l][x] > most ? w->own[l][x] : most;
		clock_raise(&w->know.seen, w->actor + x, 1);
		w->know.seen.v[w->actor + x] = most;
	}
}

static void own_take(Warp *w, const Clock *from)
{
	EACH_LANE(l, w->own ? w->acting : 0)
	for (u32 x = 0; x < LANES; x++) {
		u32 clock = clock_of(from, w->actor + x);
		w->own[l][x] = clock > w->own[l][x] ? clock : w->own[l][x];
	}
}

static void epoch_next(Warp *w)
{
	EACH_LANE(l, w->own ? w->acting : 0)
	w->own[l][l]++;
	if (!w->own)
		clock_raise(&w->know.seen, w->actor, clock_of(&w->know.seen, w->actor) + 1);
}

void hb_meet(Warp *w, u32 mask)
{
	if (!w->own)
		return;
	w->acting = mask;
	own_show(w);
	own_take(w, &w->know.seen);
	epoch_next(w);
}

/* ------------------------------------------------------------------ what is handed on */
void hb_acquire(Warp *w, const Know *from)
{
	if (hb_off(w))
		return;
	own_take(w, &from->seen);
	know_join(&w->know, from);
}

/* What relaxed reads found is known after a fence; code in use takes a barrier for one. */
static void read_take(Warp *w)
{
	hb_acquire(w, &w->read);
	know_forget(&w->read);
}

void hb_release(Warp *w, Know *to)
{
	if (hb_off(w))
		return;
	read_take(w);
	own_show(w);
	know_join(to, &w->know);
	epoch_next(w);
}

void hb_fence(Warp *w)
{
	if (hb_off(w))
		return;
	own_show(w);
	clock_join(&w->know.fenced, &w->know.seen);
	epoch_next(w);
}

void hb_strong(Warp *w)
{
	if (hb_off(w))
		return;
	read_take(w);
	own_show(w);
	clock_join(&w->know.strong, &w->know.seen);
	epoch_next(w);
}

void hb_exit(Warp *w)
{
	if (hb_off(w))
		return;
	w->acting = FULL;
	own_show(w);
	know_join(&w->cta->exit, &w->know);
}
