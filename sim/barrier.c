/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* barrier.c - barriers of a CTA and of a cluster, and fences (PTX ISA: bar, barrier,
 * barrier.cluster, fence, membar). A warp that arrives hands on what it knows, one that leaves
 * takes what all knew. */
#include "sim/lanes.h"

static u32 cta_threads(const Cta *cta)
{
	u32 n = 0;
	for (u32 i = 0; i < cta->nwarps; i++)
		n += (u32)(cta->warps[i].live ? LANES : 0);
	return n;
}

static void bar_complete(Cluster *c, NamedBar *b)
{
	b->phase++;
	b->arrived = b->expected = 0;
	b->waiting = 0;
	b->result_all = b->red_all;
	b->result_any = b->red_any;
	b->result_count = b->red_count;
	know_join(&b->done, &b->gather);
	know_forget(&b->gather);
	cluster_event(c);
}

/* Warps that exit are no longer waited for by barriers without a count. */
void bars_recount(Cta *cta)
{
	for (u32 i = 0; i < SIM_COUNT(cta->bars); i++) {
		NamedBar *b = &cta->bars[i];
		if (b->whole && b->arrived && b->arrived >= cta_threads(cta))
			bar_complete(cta->cluster, b);
	}
}

static bool bar_expect(Warp *w, const Ins *in, NamedBar *b, u32 id, const Arg *count, u32 lane)
{
	bool whole = count->kind == A_NONE;
	u32 n = whole ? cta_threads(w->cta) : (u32)arg_get(w, count, lane);
	if (!n || n % LANES) {
		report(w, in, (s32)lane, SIM_BARRIER,
		       "barrier %u: %u threads is not a multiple of the warp size", id, n);
		return false;
	}
	if (b->arrived && b->expected != n && checked(w->cluster, CHECK_MBAR)) {
		report(w, in, (s32)lane, SIM_BARRIER,
		       "barrier %u: this warp expects %u threads, one that arrived before (line "
		       "%u) %u",
		       id, n, b->line, b->expected);
	}
	b->expected = n;
	b->whole = whole;
	b->line = (u32)in->line;
	return true;
}

/* Counts the warp in. The barrier's phase tells later whether it is complete. */
static void bar_arrive(Warp *w, const Ins *in, NamedBar *b, u32 id, u32 mask, bool wait)
{
	bool aligned = (in->flags & F_CONVERGED) || has(in, M_ALIGNED);
	b->arrived +=
		aligned ? LANES
			: (u32)__builtin_popcount(mask) +
				  (mask == w->live ? LANES - (u32)__builtin_popcount(mask) : 0);
	if (wait)
		b->waiting |= UINT64_C(1) << w->id;
	hb_release(w, &b->gather);
	if (b->arrived > b->expected)
		report(w, in, -1, SIM_BARRIER,
		       "barrier %u: %u threads arrived where %u were expected", id, b->arrived,
		       b->expected);
	if (b->arrived >= b->expected)
		bar_complete(w->cluster, b);
}

static NamedBar *bar_of(Warp *w, const Ins *in, const Arg *a, u32 lane, u32 *id)
{
	*id = (u32)arg_get(w, a, lane);
	if (*id < SIM_COUNT(w->cta->bars))
		return &w->cta->bars[*id];
	report(w, in, (s32)lane, SIM_OPERAND, "there is no barrier %u, only 0 to 15", *id);
	return NULL;
}

/* First comes, later asks again: wait.phase has the phase it came in. */
static Run bar_pass(Warp *w, const Ins *in, u32 mask, const Arg *ida, const Arg *count,
		    const Arg *pred)
{
	u32 lane = lane_first(mask), id;
	NamedBar *b = bar_of(w, in, ida, lane, &id);
	if (!b)
		return RUN_FAIL;
	if (!w->cur->blocked) {
		u32 phase = b->phase;
		if (!bar_expect(w, in, b, id, count, lane))
			return RUN_FAIL;
		w->cur->ticket = phase;
		u32 p = pred ? pred_get(w, pred) & mask : 0;
		bool first = !b->arrived;
		u32 all = p == mask, any = p != 0, n = (u32)__builtin_popcount(p);
		b->red_all = first ? all : b->red_all & all;
		b->red_any = first ? any : b->red_any | any;
		b->red_count = first ? n : b->red_count + n;
		bar_arrive(w, in, b, id, mask, true);
	}
	if (b->phase == w->cur->ticket)
		return wait_for(
			w, in,
			(Wait){.kind = W_BAR, .cta = w->cta, .offset = id, .phase = b->phase});
	hb_acquire(w, &b->done);
	return RUN_NEXT;
}

Run run_bar(Warp *w, const Ins *in, u32 mask)
{
	u32 lane = lane_first(mask), id;
	if (has(in, M_SYNC))
		return bar_pass(w, in, mask, &in->args[0], &in->args[1], NULL);
	NamedBar *b = bar_of(w, in, &in->args[0], lane, &id);
	if (!b || !bar_expect(w, in, b, id, &in->args[1], lane))
		return RUN_FAIL;
	bar_arrive(w, in, b, id, mask, false);
	return RUN_NEXT;
}

Run run_bar_red(Warp *w, const Ins *in, u32 mask)
{
	static const Arg none = {0};
	bool counted = in->nargs == 4;
	Run r = bar_pass(w, in, mask, &in->args[1], counted ? &in->args[2] : &none,
			 &in->args[counted ? 3 : 2]);
	if (r != RUN_NEXT)
		return r;
	const NamedBar *b = &w->cta->bars[arg_get(w, &in->args[1], lane_first(mask))];
	if (has(in, M_POPC))
		EACH_LANE(l, mask)
	arg_set(w, &in->args[0], l, b->result_count);
	else pred_set(w, &in->args[0], mask,
		      (has(in, M_AND) ? b->result_all : b->result_any) ? FULL : 0);
	return RUN_NEXT;
}

void cluster_bar_check(Cluster *c)
{
	if (!c->bar_arrived || c->bar_arrived < c->live + c->bar_gone)
		return;
	c->bar_phase++;
	c->bar_arrived = c->bar_gone = 0;
	know_join(&c->bar_done, &c->bar_gather);
	know_forget(&c->bar_gather);
	cluster_event(c);
}

static u64 *cluster_slot(Warp *w)
{
	return &w->cluster->bar_of[w - w->cluster->warps];
}

Run run_cluster_arrive(Warp *w, const Ins *in, u32 mask)
{
	Cluster *c = w->cluster;
	u64 *slot = cluster_slot(w);
	(void)mask;
	if (*slot) {
		report(w, in, -1, SIM_BARRIER,
		       "barrier.cluster.arrive twice without a wait in between");
		return RUN_FAIL;
	}
	*slot = c->bar_phase + 1;
	c->bar_arrived++;
	if (!has(in, M_RELAXED))
		hb_release(w, &c->bar_gather);
	else if (w->made_actor)
		clock_raise(&c->bar_gather.seen, w->made_actor,
			    clock_of(&w->know.seen, w->made_actor));
	cluster_bar_check(c);
	return RUN_NEXT;
}

Run run_cluster_wait(Warp *w, const Ins *in, u32 mask)
{
	Cluster *c = w->cluster;
	u64 *slot = cluster_slot(w);
	(void)mask;
	if (!*slot) {
		report(w, in, -1, SIM_BARRIER, "barrier.cluster.wait without an arrive before it");
		return RUN_FAIL;
	}
	if (c->bar_phase < *slot)
		return wait_for(w, in, (Wait){.kind = W_CLUSTER, .phase = *slot - 1});
	*slot = 0;
	hb_acquire(w, &c->bar_done);
	return RUN_NEXT;
}

RUN(fence, hb_strong(w))

/* One for global memory says nothing of shared memory, which is what is watched. */
Run run_fence_proxy(Warp *w, const Ins *in, u32 mask)
{
	(void)mask;
	if (has(in, M_GLOBAL))
		return RUN_NEXT;
	hb_fence(w);
	mbars_fence(w, false);
	return RUN_NEXT;
}

RUN(fence_map, )
RUN(fence_init, mbars_fence(w, true))
