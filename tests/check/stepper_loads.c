/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_loads.c - what is on its way to a barrier: loads, and arrivals of lanes after what they
 * copied. Each lands at any time from its issue on. */
#include "stepper_memory.h"

#include <stdlib.h>

static LoadNow *load_new(Run *r, int w, const PtxStep *s, int cta)
{
	if (r->nloads == r->cap_loads) {
		r->cap_loads = r->cap_loads ? 2 * r->cap_loads : 16;
		r->loads = realloc(r->loads, sizeof *r->loads * (size_t)r->cap_loads);
	}
	LoadNow *l = &r->loads[r->nloads++];
	*l = (LoadNow){s, cta, w, r->warp[w].at, run_seen(r, w) + cta, 0, 0, clock_new(r)};
	return l;
}

bool loads_issue(Run *r, int w, const PtxStep *s)
{
	int class = 0;
	EACH_CLASS(c, run_warp(r, w), s->lanes)
	class = c;
	for (int cta = 0; cta < r->t->ctas; cta++) {
		if (!(s->cta >> cta & 1))
			continue;
		if (!bar_made(r, bar_now(r, cta, s->bar), run_clock(r, w, class), s->op))
			return false;
		clock_copy(r, load_new(r, w, s, cta)->clock, run_clock(r, w, class));
	}
	return true;
}

/* Each class arrives when it likes. What it copies from now on has another time. */
bool loads_tell(Run *r, int w, const PtxStep *s)
{
	if (!bar_known(r, w, s, bar_now(r, s->cta, s->bar)))
		return false;
	EACH_CLASS(c, run_warp(r, w), s->lanes)
	{
		LoadNow *l = load_new(r, w, s, s->cta);
		l->class = c;
		l->time = ++r->warp[w].copies[c];
	}
	return true;
}

static bool told(Run *r, LoadNow l)
{
	BarNow *b = bar_now(r, l.cta, l.step->bar);
	if (!run_same_phase(r, l.seen, b->phase, l.step->op))
		return false;
	groups_copy_told(r, &l, b->sum);
	b->pending -= __builtin_popcount(run_warp(r, l.warp)->classes[l.class] & l.step->lanes);
	if (b->pending < 0)
		return run_fail(r, "more arrivals than the barrier counts", l.step->op, NULL);
	bar_complete(r, l.cta, l.step->bar);
	return true;
}

static bool is_gone(const Run *r, int cta)
{
	for (int i = 0; i < r->t->cta_warps; i++)
		if (!r->warp[cta * r->t->cta_warps + i].gone)
			return false;
	return true;
}

bool loads_land(Run *r, int i)
{
	LoadNow l = r->loads[i];
	BarNow *b = bar_now(r, l.cta, l.step->bar);
	Touch t = {.part = r->t->bar_part + l.cta * r->t->bars + l.step->bar,
		   .time = b->phase + 1,
		   .write = true,
		   .op = l.step->op};
	r->loads[i] = r->loads[--r->nloads];
	if (l.step->kind == OP_COPY_ARRIVE) {
		clock_free(l.clock);
		return told(r, l);
	}
	bool ok = !is_gone(r, l.cta) ||
		  run_fail(r, "a load lands in a CTA that has exited", l.step->op, NULL);
	ok = ok && run_same_phase(r, l.seen, b->phase, l.step->op) &&
	     memory_touch(r, l.cta, &r->t->feet.at[l.step->foot], 0, l.clock, t, l.step->slot);
	b->tx -= l.step->bytes;
	b->landed = b->phase + 1;
	if (ok && b->tx < -MOST_TX)
		ok = run_fail(r, "more bytes than a barrier counts", l.step->op, NULL);
	bar_complete(r, l.cta, l.step->bar);
	clock_free(l.clock);
	return ok;
}
