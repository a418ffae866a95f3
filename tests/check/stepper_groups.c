/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_groups.c - what each thread commits in groups and waits for: copies into shared memory,
 * and bulk stores out of it. A class of lanes has a part of the clocks for either, which counts
 * groups.
 *     cp.async; cp.commit; cp.async; cp.commit; cp.wait n=1   ->   time 1 of the copies is known
 *     cp.async; cp.arrive %full   ->   at some time from now on who waits for %full knows it
 */
#include "stepper_memory.h"

/* It may write from now on, and has when its group is waited for. */
bool groups_copy(Run *r, int w, const PtxStep *s)
{
	EACH_CLASS(c, run_warp(r, w), s->lanes)
	{
		Touch t = {.part = run_warp(r, w)->copy_part[c],
			   .time = r->warp[w].copies[c] + 1,
			   .warp = w,
			   .write = true,
			   .generic = true,
			   .op = s->op};
		if (!memory_touch(r, s->cta, &r->t->feet.at[s->foot], c, run_clock(r, w, c), t,
				  s->slot))
			return false;
	}
	return true;
}

void groups_copy_commit(Run *r, int w, const PtxStep *s)
{
	WarpNow *now = &r->warp[w];
	EACH_CLASS(c, run_warp(r, w), s->lanes)
	now->closed[c][++now->commits[c] % MOST_COMMITS] = ++now->copies[c];
}

void groups_copy_told(const Run *r, const LoadNow *l, Clock to)
{
	int part = run_warp(r, l->warp)->copy_part[l->class];
	if (part >= 0 && to.known[part] < l->time)
		to.known[part] = l->time;
}

void groups_copy_wait(Run *r, int w, const PtxStep *s)
{
	EACH_CLASS(c, run_warp(r, w), s->lanes)
	{
		int part = run_warp(r, w)->copy_part[c], over = r->warp[w].commits[c] - s->n;
		int done = over > 0 ? r->warp[w].closed[c][over % MOST_COMMITS] : 0;
		if (part >= 0 && done > r->warp[w].copies_done[c])
			run_clock(r, w, c).known[part] = r->warp[w].copies_done[c] = done;
	}
}

bool groups_bulk_store(Run *r, int w, const PtxStep *s)
{
	EACH_CLASS(c, run_warp(r, w), s->lanes)
	{
		Touch t = {.part = run_warp(r, w)->bulk_part[c],
			   .time = r->warp[w].bulk[c] + 1,
			   .op = s->op};
		r->warp[w].last_bulk[c] = t.time;
		if (!memory_touch(r, s->cta, &r->t->feet.at[s->foot], 0, run_clock(r, w, c), t,
				  s->slot))
			return false;
	}
	return true;
}

void groups_bulk_wait(Run *r, int w, const PtxStep *s)
{
	EACH_CLASS(c, run_warp(r, w), s->lanes)
	{
		int part = run_warp(r, w)->bulk_part[c], done = r->warp[w].bulk[c] - s->n;
		if (part >= 0 && done > r->warp[w].bulk_done[c])
			run_clock(r, w, c).known[part] = r->warp[w].bulk_done[c] = done;
	}
}
