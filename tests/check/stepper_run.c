/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_run.c - one interleaving of the warps of a cluster and of the loads on their way, in a
 * random order: some go before others, with a change of mind at times. A load lands at any time
 * from its issue on. A wgmma and a store read from their issue until the wait for their group: that
 * is where knowledge of them comes from, so their reads count as made at once and known then. */
#include "stepper_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ mbarriers */
BarNow *bar_now(const Run *r, int cta, int bar)
{
	return &r->bars[cta * r->t->bars + bar];
}

bool bar_made(Run *r, const BarNow *b, Clock by, const Op *op)
{
	if (b->made && by.inits[b->by] >= b->when)
		return true;
	return run_fail(r, "a barrier whose init is not known to be done and fenced", op, NULL);
}

void bar_complete(Run *r, int cta, int bar)
{
	BarNow *b = bar_now(r, cta, bar);
	if (b->pending || b->tx)
		return;
	b->phase++;
	b->pending = b->count;
	clock_copy(r, b->done, b->sum);
	b->done.known[r->t->bar_part + cta * r->t->bars + bar] = b->phase;
}

bool bar_known(Run *r, int w, const PtxStep *s, const BarNow *b)
{
	EACH_CLASS(c, run_warp(r, w), s->lanes)
	if (!bar_made(r, b, run_clock(r, w, c), s->op))
		return false;
	return true;
}

static bool arrive(Run *r, int w, const PtxStep *s, int n, int64_t bytes)
{
	BarNow *b = bar_now(r, s->cta, s->bar);
	if (!bar_known(r, w, s, b))
		return false;
	if (!run_same_phase(r, run_seen(r, w), b->phase, s->op))
		return false;
	run_give(r, w, s->lanes, b->sum);
	b->pending -= n;
	b->tx += bytes;
	if (b->pending < 0)
		return run_fail(r, "more arrivals than the barrier counts", s->op, NULL);
	if (b->tx > MOST_TX)
		return run_fail(r, "more bytes than a barrier counts", s->op, NULL);
	if (s->cta != run_warp(r, w)->cta)
		EACH_CLASS(c, run_warp(r, w), s->lanes)
	r->sent[s->cta * r->t->parts + run_warp(r, w)->first_part + c] = r->warp[w].at + 1;
	bar_complete(r, s->cta, s->bar);
	return true;
}

static void fence_inits(Run *r, int w, const PtxStep *s)
{
	EACH_CLASS(c, run_warp(r, w), s->lanes)
	run_clock(r, w, c).inits[run_warp(r, w)->first_part + c] = r->warp[w].at + 1;
}

static bool init(Run *r, int w, const PtxStep *s)
{
	BarNow *b = bar_now(r, s->cta, s->bar);
	if (b->made)
		return run_fail(r, "a barrier that is made twice", s->op, NULL);
	b->made = true;
	b->count = b->pending = s->n;
	b->when = r->warp[w].at + 1;
	EACH_CLASS(c, run_warp(r, w), s->lanes)
	b->by = run_warp(r, w)->first_part + c;
	if (strcmp(r->t->k->target, "sm_90") < 0) /* whom else there is knows by meeting */
		fence_inits(r, w, s);
	return true;
}

/* false: not now, or wrong */
static bool wait(Run *r, int w, const PtxStep *s)
{
	BarNow *b = bar_now(r, s->cta, s->bar);
	if (!bar_known(r, w, s, b) || (b->phase & 1) == s->n)
		return false;
	if (!run_same_phase(r, run_seen(r, w), b->phase, s->op))
		return false;
	run_take(r, w, s->lanes, b->done);
	clock_join(r, r->warp[w].waited, b->done);
	return true;
}

/* ------------------------------------------------------------------ other accesses */
static bool global_ok(Run *r, int w, const PtxStep *s)
{
	if (!s->global || !r->t->waits_for_grid)
		return true;
	EACH_CLASS(c, run_warp(r, w), s->lanes)
	if (!run_clock(r, w, c).known[r->t->grid_part])
		return run_fail(r, "global memory before earlier launches are over", s->op, NULL);
	return true;
}

static bool generic(Run *r, int w, const PtxStep *s)
{
	const Foot *f = &r->t->feet.at[s->foot];
	bool write = s->kind == OP_STMATRIX || s->kind == OP_ST_SHARED;
	EACH_CLASS(c, run_warp(r, w), s->lanes)
	{
		Touch t = {.part = run_warp(r, w)->first_part + c,
			   .time = r->warp[w].at + 1,
			   .warp = w,
			   .write = write,
			   .generic = true,
			   .op = s->op};
		if (!memory_touch(r, s->cta, f, c, run_clock(r, w, c), t, s->slot))
			return false;
	}
	return true;
}

static bool wgmma(Run *r, int w, const PtxStep *s)
{
	Touch t = {.part = run_warp(r, w)->mma_part, .time = r->warp[w].groups + 1, .op = s->op};
	run_give_common(r, w, r->scratch);
	return (s->foot < 0 ||
		memory_touch(r, s->cta, &r->t->feet.at[s->foot], 0, r->scratch, t, s->slot)) &&
	       memory_touch(r, s->cta, &r->t->feet.at[s->foot2], 0, r->scratch, t, s->n);
}

static void mma_wait(Run *r, int w, const PtxStep *s)
{
	int part = run_warp(r, w)->mma_part, done = r->warp[w].groups - s->n;
	if (part < 0 || done <= r->warp[w].groups_done)
		return;
	r->warp[w].groups_done = done;
	EACH_CLASS(c, run_warp(r, w), ALL_LANES)
	run_clock(r, w, c).known[part] = done;
}

static void fence(Run *r, int w, const PtxStep *s)
{
	EACH_CLASS(c, run_warp(r, w), s->lanes)
	{
		Clock k = run_clock(r, w, c);
		k.own[run_warp(r, w)->first_part + c] = r->warp[w].at + 1;
		if (run_warp(r, w)->copy_part[c] >= 0) /* after the groups that are over */
			k.own[run_warp(r, w)->copy_part[c]] = r->warp[w].copies_done[c] + 1;
		for (int i = 0; i < r->t->parts; i++)
			k.fenced[i] = k.known[i] > k.fenced[i] ? k.known[i] : k.fenced[i];
	}
}

/* ------------------------------------------------------------------ meetings */
static void come_together(Run *r, int w)
{
	memset(r->scratch.known, 0, sizeof(int) * (size_t)(CLOCKS * r->t->parts));
	run_give(r, w, ALL_LANES, r->scratch);
	run_take(r, w, ALL_LANES, r->scratch);
}

/* All who stand there go on, and know what all knew. */
static void release(Run *r, MeetNow *m, int kind_of_cluster, int cta, int bar)
{
	for (int w = 0; w < r->t->warps; w++) {
		const PtxStep *s = &run_warp(r, w)->steps.at[r->warp[w].at];
		bool here = kind_of_cluster
				    ? s->kind == OP_BAR_CLUSTER
				    : s->cta == cta && s->bar == bar && s->kind != OP_BAR_CLUSTER;
		if (!here || r->warp[w].standing != m->phase + 1)
			continue;
		run_take(r, w, ALL_LANES, m->sum);
		r->warp[w].standing = 0;
		r->warp[w].at++;
	}
	m->phase++;
	m->arrived = 0;
}

static bool meet(Run *r, int w, const PtxStep *s, bool stay)
{
	MeetNow *m = &r->named[s->cta * NAMED_BARRIERS + s->bar];
	if (r->warp[w].standing)
		return false;
	if (m->arrived && m->threads != s->n)
		return run_fail(r, "warps meet at one barrier with other counts", s->op, NULL);
	if (!run_same_phase(r, run_seen(r, w), m->phase, s->op))
		return false;
	m->threads = s->n;
	m->arrived += LANES;
	run_give(r, w, ALL_LANES, m->sum);
	if (stay)
		r->warp[w].standing = m->phase + 1;
	else
		r->warp[w].at++;
	if (m->arrived >= m->threads)
		release(r, m, 0, s->cta, s->bar);
	return true;
}

static void cluster_complete(Run *r)
{
	if (r->cluster.arrived && r->cluster.arrived == r->alive)
		release(r, &r->cluster, 1, 0, 0);
}

static bool meet_cluster(Run *r, int w, const PtxStep *s)
{
	if (r->warp[w].standing)
		return false;
	if (!run_same_phase(r, run_seen(r, w), r->cluster.phase, s->op))
		return false;
	r->warp[w].standing = r->cluster.phase + 1;
	r->cluster.arrived++;
	EACH_CLASS(c, run_warp(r, w), ALL_LANES)
	{
		Clock k = run_clock(r, w, c), sum = r->cluster.sum;
		if (!s->relaxed)
			clock_join(r, sum, k);
		for (int i = 0; i < r->t->parts; i++)
			sum.inits[i] = k.inits[i] > sum.inits[i] ? k.inits[i] : sum.inits[i];
	}
	cluster_complete(r);
	return true;
}

/* ------------------------------------------------------------------ registers */
/* The other warps of its warpgroup are known to be through with the last one. */
static bool others_have_set(Run *r, int w)
{
	int first = w - run_warp(r, w)->number % GROUP_WARPS;
	for (int i = first; i < first + GROUP_WARPS && r->warp[w].sets; i++) {
		int part = run_warp(r, i)->first_part;
		if (i != w && (r->warp[i].sets < r->warp[w].sets ||
			       (r->warp[i].sets == r->warp[w].sets &&
				run_clock(r, w, 0).known[part] < r->warp[i].set_at)))
			return false;
	}
	return true;
}

static bool set_registers(Run *r, int w, const PtxStep *s)
{
	int more = ((int)s->bytes - r->warp[w].regs) * LANES, *pool = &r->pool[s->cta];
	if (!others_have_set(r, w))
		return run_fail(r, "setmaxnreg twice, and the warpgroup did not meet between",
				s->op, NULL);
	if (more && (more > 0) != (s->n == 1))
		return run_fail(r, "setmaxnreg the wrong way", s->op, NULL);
	if (more > *pool)
		return false;
	*pool -= more;
	r->warp[w].regs = (int)s->bytes;
	r->warp[w].sets++;
	r->warp[w].set_at = r->warp[w].at + 1;
	return true;
}

/* ------------------------------------------------------------------ exit */
static bool leave(Run *r, int w)
{
	WarpNow *now = &r->warp[w];
	EACH_CLASS(c, run_warp(r, w), ALL_LANES)
	if (now->last_bulk[c] > now->bulk_done[c])
		return run_fail(r, "exits while a store still reads", NULL, NULL);
	now->gone = true;
	r->alive--;
	cluster_complete(r);
	return true;
}

static bool is_known_in(const Run *r, int cta, int part, int time)
{
	for (int w = cta * r->t->cta_warps; w < (cta + 1) * r->t->cta_warps; w++)
		EACH_CLASS(c, run_warp(r, w), ALL_LANES)
	if (run_clock(r, w, c).known[part] >= time)
		return true;
	return false;
}

/* What another CTA read has been told of here, before all of this one's warps were gone. */
static bool peers_end(Run *r)
{
	const PtxTrace *t = r->t;
	for (int i = 0; i < t->ctas * t->ncells; i++)
		for (int j = 0; j < r->cells[i].n; j++) {
			const Touch *b = &r->cells[i].at[j];
			int cta = i / t->ncells;
			bool far = b->generic && b->warp / t->cta_warps != cta;
			if (far && !is_known_in(r, cta, b->part, b->time))
				return run_fail(r, "a read in a CTA that may have exited", b->op,
						NULL);
		}
	return true;
}

static bool bars_end(Run *r)
{
	const PtxTrace *t = r->t;
	for (int i = 0; i < t->ctas * t->bars; i++) {
		const BarNow *b = &r->bars[i];
		if (b->tx)
			return run_fail(r, "at the end bytes announced and delivered differ", NULL,
					NULL);
		if (b->landed && !is_known_in(r, i / t->bars, t->bar_part + i, b->landed))
			return run_fail(r, "a load that no warp of its CTA waits for", NULL, NULL);
	}
	for (int cta = 0; cta < t->ctas; cta++)
		for (int p = 0; p < t->parts; p++)
			if (r->sent[cta * t->parts + p] &&
			    !is_known_in(r, cta, p, r->sent[cta * t->parts + p]))
				return run_fail(r, "an arrival at a CTA that may have exited", NULL,
						NULL);
	return true;
}

/* ------------------------------------------------------------------ steps */
/* Those that go on by themselves; false: not now, or wrong. */
static bool step(Run *r, int w, const PtxStep *s)
{
	switch (s->kind) {
	case OP_LDMATRIX:
	case OP_STMATRIX:
	case OP_LD_SHARED:
	case OP_LD_PEER:
	case OP_ST_SHARED:
	case OP_ST_STAGED:
	case OP_ST_UNIT:
		return generic(r, w, s);
	case OP_CP_ASYNC:
		return groups_copy(r, w, s);
	case OP_COPY_COMMIT:
		groups_copy_commit(r, w, s);
		return true;
	case OP_COPY_ARRIVE:
		return loads_tell(r, w, s);
	case OP_COPY_WAIT:
		groups_copy_wait(r, w, s);
		return true;
	case OP_TMA_LOAD:
		return loads_issue(r, w, s);
	case OP_TMA_STORE:
		return groups_bulk_store(r, w, s);
	case OP_WGMMA:
		return wgmma(r, w, s);
	case OP_MBAR_INIT:
		return init(r, w, s);
	case OP_MBAR_EXPECT:
		return arrive(r, w, s, 1, s->bytes);
	case OP_MBAR_ARRIVE:
		return arrive(r, w, s, s->n, 0);
	case OP_MBAR_WAIT:
		return wait(r, w, s);
	case OP_SETMAXNREG:
		return set_registers(r, w, s);
	case PTX_EXIT:
		return leave(r, w);
	case PTX_LOOK:
		EACH_CLASS(c, run_warp(r, w), s->lanes)
		memory_look(r, s->cta, s->slot, run_clock(r, w, c));
		return true;
	case OP_FENCE_ASYNC:
		fence(r, w, s);
		return true;
	case OP_BULK_WAIT:
	case OP_BULK_WAIT_READ:
		groups_bulk_wait(r, w, s);
		return true;
	case OP_WGMMA_WAIT:
		mma_wait(r, w, s);
		return true;
	case OP_WGMMA_COMMIT:
		r->warp[w].groups++;
		return true;
	case OP_BAR_WARP:
		come_together(r, w);
		return true;
	case PTX_TOGETHER:
		run_take(r, w, ALL_LANES, r->warp[w].waited);
		return true;
	case OP_FENCE_INIT:
		fence_inits(r, w, s);
		return true;
	case OP_BULK_COMMIT:
		EACH_CLASS(c, run_warp(r, w), s->lanes)
		r->warp[w].bulk[c]++;
		return true;
	case OP_GRID_WAIT:
		r->warp[w].waited.known[r->t->grid_part] = 1;
		EACH_CLASS(c, run_warp(r, w), s->lanes)
		run_clock(r, w, c).known[r->t->grid_part] = 1;
		return true;
	default:
		return true;
	}
}

/* One step of a warp; false: it cannot now, or it is wrong. */
static bool advance(Run *r, int w)
{
	WarpNow *now = &r->warp[w];
	const PtxStep *s = &run_warp(r, w)->steps.at[now->at];
	if (now->gone)
		return false;
	EACH_CLASS(c, run_warp(r, w), s->lanes)
	{
		int part = run_warp(r, w)->first_part + c;
		run_clock(r, w, c).known[part] = now->at + 1;
	}
	if (s->kind == OP_BAR_CTA || s->kind == OP_BAR_SYNC || s->kind == OP_BAR_ARRIVE)
		return meet(r, w, s, s->kind != OP_BAR_ARRIVE);
	if (s->kind == OP_BAR_CLUSTER)
		return meet_cluster(r, w, s);
	if (!global_ok(r, w, s) || !step(r, w, s))
		return false;
	now->at += !now->gone;
	return true;
}

/* ------------------------------------------------------------------ orders */
static int below(Run *r, int n)
{
	r->random = r->random * 6364136223846793005u + 1442695040888963407u;
	return (int)((r->random >> 33) % (uint64_t)n);
}

static void swap(Run *r, int *order, int i, int n)
{
	int j = i + below(r, n - i), was = order[i];
	order[i] = order[j];
	order[j] = was;
}

enum { CHANGING, RANDOM, STEADY, STYLES = 4 };

/* Warps, and after them the loads on their way as one. */
static bool one_move(Run *r, int *order, int style)
{
	int n = r->t->warps + 1;
	if (style == RANDOM || (style == CHANGING && !below(r, 12)))
		swap(r, order, below(r, n), n);
	if (style == RANDOM)
		swap(r, order, 0, n);
	for (int i = 0; i < n && !r->wrong; i++) {
		if (order[i] == r->t->warps ? r->nloads && loads_land(r, below(r, r->nloads))
					    : advance(r, order[i]))
			return true;
	}
	return false;
}

static void walk(Run *r)
{
	int n = r->t->warps + 1, *order = calloc((size_t)n, sizeof *order);
	int style = below(r, STYLES);
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = 0; i < n; i++)
		swap(r, order, i, n);
	while (one_move(r, order, style))
		;
	free(order);
	for (int w = 0; w < r->t->warps && !r->wrong; w++)
		if (!r->warp[w].gone)
			run_fail(r, "hang", run_warp(r, w)->steps.at[r->warp[w].at].op, NULL);
	if (!r->wrong && bars_end(r) && peers_end(r))
		memory_end(r);
}

/* ------------------------------------------------------------------ a run */
static void begin(Run *r)
{
	const PtxTrace *t = r->t;
	int threads = t->cta_warps * LANES;
	int regs = target_entry_regs(target_by_name(t->k->target), threads);
	r->warp = calloc((size_t)t->warps, sizeof *r->warp);
	r->clock = calloc((size_t)t->parts, sizeof *r->clock);
	r->cells = calloc((size_t)(t->ctas * t->ncells + 1), sizeof *r->cells);
	r->slots = calloc((size_t)(t->ctas * t->slots + 1), sizeof *r->slots);
	r->bars = calloc((size_t)(t->ctas * t->bars + 1), sizeof *r->bars);
	r->named = calloc((size_t)(t->ctas * NAMED_BARRIERS), sizeof *r->named);
	r->pool = calloc((size_t)t->ctas, sizeof *r->pool);
	r->sent = calloc((size_t)(t->ctas * t->parts), sizeof *r->sent);
	r->scratch = clock_new(r);
	r->cluster.sum = clock_new(r);
	r->alive = t->warps;
	for (int i = 0; i < t->warps; i++) {
		r->warp[i].waited = clock_new(r);
		r->warp[i].regs = regs;
		for (int c = 0; c < t->warp[i].nclasses; c++)
			r->clock[t->warp[i].first_part + c] = clock_new(r);
	}
	for (int i = 0; i < t->ctas * t->bars; i++) {
		r->bars[i].sum = clock_new(r);
		r->bars[i].done = clock_new(r);
	}
	for (int i = 0; i < t->ctas * NAMED_BARRIERS; i++)
		r->named[i].sum = clock_new(r);
}

static void end(Run *r)
{
	const PtxTrace *t = r->t;
	for (int i = 0; i < t->warps; i++)
		clock_free(r->warp[i].waited);
	for (int i = 0; i < t->parts; i++)
		clock_free(r->clock[i]);
	for (int i = 0; i < t->ctas * t->bars; i++) {
		clock_free(r->bars[i].sum);
		clock_free(r->bars[i].done);
	}
	for (int i = 0; i < t->ctas * NAMED_BARRIERS; i++)
		clock_free(r->named[i].sum);
	for (int i = 0; i < r->nloads; i++)
		clock_free(r->loads[i].clock);
	clock_free(r->scratch);
	clock_free(r->cluster.sum);
	memory_free(r);
	free(r->warp);
	free(r->clock);
	free(r->slots);
	free(r->bars);
	free(r->named);
	free(r->loads);
	free(r->pool);
	free(r->sent);
}

bool stepper_run(PtxTrace *t, uint64_t seed, Finding *out)
{
	Run r = {.t = t, .out = out, .random = seed * 2654435761u + 12345};
	*out = (Finding){0};
	if (t->wrong)
		return run_fail(&r, t->wrong, t->wrong_at, NULL);
	begin(&r);
	walk(&r);
	end(&r);
	return !r.wrong;
}
