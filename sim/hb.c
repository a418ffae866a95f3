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

u32 clock_of(const Clock *k, u32 actor)
{
	return actor < k->n ? k->v[actor] : 0;
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
}

void know_free(Know *k)
{
	free(k->seen.v);
	free(k->fenced.v);
	*k = (Know){0};
}

void know_forget(Know *k)
{
	if (k->seen.n)
		memset(k->seen.v, 0, k->seen.n * sizeof *k->seen.v);
	if (k->fenced.n)
		memset(k->fenced.v, 0, k->fenced.n * sizeof *k->fenced.v);
}

/* Numbers start at 1: 0 is nobody. */
u32 actor_new(Cluster *c)
{
	return c->job->globals ? ++c->job->nactors : ++c->nactors;
}

static bool off(const Warp *w)
{
	return !(w->cluster->job->opt->checks & (CHECK_RACE | CHECK_EXIT));
}

static void epoch_next(Warp *w)
{
	clock_raise(&w->know.seen, w->actor, clock_of(&w->know.seen, w->actor) + 1);
}

void hb_release(Warp *w, Know *to)
{
	if (off(w))
		return;
	know_join(to, &w->know);
	epoch_next(w);
}

void hb_acquire(Warp *w, const Know *from)
{
	if (!off(w))
		know_join(&w->know, from);
}

void hb_fence(Warp *w)
{
	if (off(w))
		return;
	clock_join(&w->know.fenced, &w->know.seen);
	epoch_next(w);
}

void hb_exit(Warp *w)
{
	if (!off(w))
		know_join(&w->cta->exit, &w->know);
}
