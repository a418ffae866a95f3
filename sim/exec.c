/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* exec.c - runs a grid: host threads take clusters, a cluster runs its warps by turns, in an order
 * and for lengths that the seed decides, and lets asynchronous work complete in between. When
 * nothing can run and nothing is on its way, that is a deadlock.
 *   job_run(&job)  ->  result->reports, result->steps */
#include "sim/handlers.h"
#include "sim/machine.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	STALL_LIMIT = 200000000, /* instructions without a store, an arrival or a completion */
	SPIN_LIMIT = 1 << 17     /* of them, before meetings that others spin for are given up */
};

void cluster_event(Cluster *c)
{
	c->events++;
	c->progress = c->steps;
}

Run wait_for(Warp *w, const Ins *in, Wait wait)
{
	Split *s = w->cur;
	wait.since = s->blocked ? s->wait.since : w->cluster->steps;
	wait.line = (u32)in->line;
	s->wait = wait;
	return RUN_BLOCK;
}

static u32 sreg_value(const Cluster *c, const Cta *cta, const Warp *w, Sreg s, u32 l)
{
	const SimLaunch *L = c->job->l;
	const u32 *k = c->job->cluster;
	u32 t = w->id * LANES + l, r = cta->rank;
	switch (s) {
#define SREG(id, word, bytes, value) \
	case SR_##id:                \
		return value;
#include "sim/sregs.def"
	default:
		return 0;
	}
}

/* Of a warp's slots and the room after them. */
static size_t file_bytes(const Code *code)
{
	return code->file_bytes + undef_bytes(code) + SPARE_ALIGN;
}

static bool warp_init(Cluster *c, Cta *cta, u32 id, Warp *w)
{
	const Code *code = c->job->code;
	const SimLaunch *l = c->job->l;
	u32 threads = l->block[0] * l->block[1] * l->block[2], first = id * LANES;
	*w = (Warp){.code = code, .cta = cta, .cluster = c, .id = id, .regs = c->job->entry_regs};
	w->actor = actor_new(c);
	if (checked(c, CHECK_GLOBAL) && !hb_threads(w))
		return false;
	w->live = threads - first >= LANES ? FULL : (1u << (threads - first)) - 1;
	w->file = spare_take(&c->job->memory->files, file_bytes(code));
	w->local = calloc(LANES, code->local_bytes + 1);
	if (!w->file || !w->local)
		return false;
	if (checked(c, CHECK_WGMMA) && code->uses_wgmma) {
		w->busy = calloc(2, (code->file_bytes >> 6) + 1);
		w->dirty = w->busy ? w->busy + (code->file_bytes >> 6) + 1 : NULL;
		if (!w->busy)
			return false;
		memset(w->dirty, 1, (code->file_bytes >> 6) + 1); /* the first needs a fence too */
	}
	if (code->file_bytes)
		memcpy(w->file, code->init, code->file_bytes);
	for (u32 i = 0; i < code->nsregs; i++)
		for (u32 t = 0; t < LANES; t++) {
			u32 v = sreg_value(c, cta, w, code->sregs[i].sreg, t);
			if (sreg_bytes[code->sregs[i].sreg] == 8)
				r64(w, code->sregs[i].slot)[t] = v;
			else
				r32(w, code->sregs[i].slot)[t] = v;
		}
	clock_raise(&w->know.seen, w->actor, 1);
	warp_start(w);
	undef_start(w);
	return true;
}

static bool cta_init(Cluster *c, Cta *cta, u32 rank)
{
	const Job *j = c->job;
	u32 *k = c->job->cluster;
	*cta = (Cta){.cluster = c, .rank = rank, .nwarps = c->nwarps / c->nctas};
	cta->id[0] = c->id[0] * k[0] + rank % k[0];
	cta->id[1] = c->id[1] * k[1] + rank / k[0] % k[1];
	cta->id[2] = c->id[2] * k[2] + rank / (k[0] * k[1]);
	cta->smem_end = j->code->dynamic_offset + j->l->dynamic_bytes;
	u32 bytes = cta->smem_end - SMEM_BASE;
	cta->smem = aligned_alloc(1024, (bytes + 2047) & ~1023u);
	cta->mbar_at = calloc(bytes / 8 + 1, sizeof *cta->mbar_at);
	cta->warps = c->warps + (size_t)rank * cta->nwarps;
	cta->live_warps = cta->nwarps;
	cta->shadow = (Shadow){.cta = cta, .host = cta->smem, .from = SMEM_BASE, .bytes = bytes};
	if (!cta->smem || !cta->mbar_at ||
	    (j->opt->checks && !shadow_start(&cta->shadow, &c->records)))
		return false;
	memset(cta->smem, 0xcd, bytes);
	for (u32 i = 0; i < cta->nwarps; i++)
		if (!warp_init(c, cta, i, &cta->warps[i]))
			return false;
	return true;
}

static void warp_free(Warp *w)
{
	if (w->file)
		spare_give(&w->cluster->job->memory->files, w->file, file_bytes(w->code));
	free(w->local);
	free(w->busy);
	free(w->wgmma.ops);
	free(w->bulk);
	free(w->own);
	know_free(&w->know);
	know_free(&w->read);
}

void cluster_free(Cluster *c)
{
	async_drop(c);
	for (u32 i = 0; i < c->nwarps && c->warps; i++)
		warp_free(&c->warps[i]);
	for (u32 i = 0; i < c->nctas && c->ctas; i++) {
		Cta *t = &c->ctas[i];
		for (u32 b = 0; b < t->nmbars; b++) {
			know_free(&t->mbars[b].gather);
			know_free(&t->mbars[b].done);
		}
		for (u32 b = 0; b < SIM_COUNT(t->bars); b++) {
			know_free(&t->bars[b].gather);
			know_free(&t->bars[b].done);
		}
		know_free(&t->exit);
		shadow_free(&t->shadow);
		free(t->mbars);
		free(t->remote);
		free(t->mbar_at);
		free(t->smem);
	}
	know_free(&c->bar_gather);
	know_free(&c->bar_done);
	records_free(c->records);
	free(c->tiles);
	free(c->bar_of);
	free(c->warps);
	free(c->ctas);
}

bool cluster_init(Cluster *c, Job *j, u32 index)
{
	u32 *k = j->cluster;
	const u32 *g = j->l->grid;
	u32 threads = j->l->block[0] * j->l->block[1] * j->l->block[2];
	*c = (Cluster){.job = j, .index = index, .nctas = k[0] * k[1] * k[2]};
	c->rng.s = j->opt->seed * UINT64_C(0x2545f4914f6cdd1d) + index;
	c->id[0] = index % (g[0] / k[0]);
	c->id[1] = index / (g[0] / k[0]) % (g[1] / k[1]);
	c->id[2] = index / (g[0] / k[0]) / (g[1] / k[1]);
	c->live = c->nwarps = (threads + LANES - 1) / LANES * c->nctas;
	c->events = 1;
	c->grid_actor = actor_new(c);
	c->ctas = calloc(c->nctas, sizeof *c->ctas);
	c->warps = calloc(c->nwarps, sizeof *c->warps);
	c->bar_of = calloc(c->nwarps, sizeof *c->bar_of);
	if (!c->ctas || !c->warps || !c->bar_of)
		return false;
	for (u32 r = 0; r < c->nctas; r++)
		if (!cta_init(c, &c->ctas[r], r))
			return false;
	return true;
}

static bool one_turn(Cluster *c)
{
	bool plain = c->job->opt->seed == 0;
	u32 start = plain ? c->turn++ % c->nwarps : rng_below(&c->rng, c->nwarps);
	u32 quantum = plain ? 256 : 1 + rng_below(&c->rng, 96);
	for (u32 k = 0; k < c->nwarps; k++) {
		Warp *w = &c->warps[(start + k) % c->nwarps];
		if (w->live && warp_step(w, quantum))
			return true;
	}
	return false;
}

static void limits_check(Cluster *c)
{
	u64 most = c->job->opt->max_steps;
	Warp *w = c->warps;
	while (!w->live && w + 1 < c->warps + c->nwarps)
		w++;
	const Ins *in = w->nsplits ? &w->code->ins[w->splits[0].pc] : w->code->ins;
	if (most && c->steps > most) {
		report(w, in, -1, SIM_LIMIT, "the cluster ran %llu instructions of warps",
		       (unsigned long long)c->steps);
		c->failed = true;
	} else if (c->steps - c->progress > STALL_LIMIT) {
		report(w, in, -1, SIM_NO_PROGRESS,
		       "%d instructions without a store, an arrival or a completed copy: the warps "
		       "spin",
		       STALL_LIMIT);
		c->failed = true;
	}
}

/* Whether threads that met too early are let go, since others spin or cannot go on. */
static bool stuck_release(Cluster *c, bool stuck)
{
	u64 since = c->released > c->progress ? c->released : c->progress;
	if (!stuck && c->steps - since <= SPIN_LIMIT)
		return false;
	c->released = c->steps;
	return meets_release(c);
}

bool cluster_turn(Cluster *c)
{
	bool ran = one_turn(c);
	u32 before = c->npending;
	u64 events = c->events;
	async_run(c, !ran);
	bool stuck = !ran && c->npending == before && c->events == events;
	if (!stuck_release(c, stuck) && stuck) {
		report_deadlock(c);
		c->failed = true;
	}
	limits_check(c);
	while (!c->live && c->npending && !c->failed)
		async_run(c, true);
	return c->live && !c->failed;
}

static void cluster_run(Cluster *c)
{
	while (c->index < c->job->end && cluster_turn(c))
		;
}

/* What a cluster leaves behind until those before it have ended. */
typedef struct Ended {
	struct Ended *next;
	u32 index;
	SimResult result;
} Ended;

static void end_at(Job *j, u32 index)
{
	if (index < j->end)
		j->end = index;
}

/* Takes the results of clusters, in their order, as far as all have ended. */
static void count_ended(Job *j)
{
	Ended *e;
	while ((e = j->ended) && e->index == j->counted) {
		if (e->index < j->end && !result_take(j->result, &e->result, reports_most(j->opt)))
			end_at(j, e->index + 1);
		sim_result_free(&e->result);
		j->ended = e->next;
		j->counted++;
		free(e);
		if (j->opt->watch)
			j->opt->watch(j->opt->watcher, j->counted, j->nclusters);
	}
}

static void cluster_end(Cluster *c)
{
	Job *j = c->job;
	Ended **at = &j->ended, *e = malloc(sizeof *e);
	if (c->failed)
		end_at(j, c->index + 1);
	if (!e) {
		j->no_memory = true;
		sim_result_free(&c->result);
		return;
	}
	while (*at && (*at)->index < c->index)
		at = &(*at)->next;
	c->result.steps = c->steps;
	c->result.clusters = 1;
	*e = (Ended){*at, c->index, c->result};
	*at = e;
	count_ended(j);
}

bool next_cluster(Job *j, u32 *index)
{
	bool more = false;
	pthread_mutex_lock(&j->lock);
	while (!more && j->next < j->nclusters && !j->no_memory) {
		*index = j->order ? j->order[j->next] : j->next;
		j->next++;
		more = *index < j->end;
	}
	pthread_mutex_unlock(&j->lock);
	return more;
}

/* Any order of clusters, each as likely as the others; false: no memory. */
static bool shuffle_starts(Job *j)
{
	Rng rng = {.s = j->opt->starts * UINT64_C(0x9e3779b97f4a7c15)};
	j->order = j->opt->starts ? malloc(j->nclusters * sizeof *j->order) : NULL;
	for (u32 i = 0; j->order && i < j->nclusters; i++) {
		u32 at = rng_below(&rng, i + 1);
		j->order[i] = j->order[at];
		j->order[at] = i;
	}
	return j->order || !j->opt->starts;
}

static void *worker(void *arg)
{
	Job *j = arg;
	Cluster c;
	u32 index;
	while (next_cluster(j, &index)) {
		bool ready = cluster_init(&c, j, index);
		if (ready)
			cluster_run(&c);
		pthread_mutex_lock(&j->lock);
		j->no_memory |= !ready;
		cluster_end(&c);
		pthread_mutex_unlock(&j->lock);
		cluster_free(&c);
	}
	return NULL;
}

/* Clusters that a lack of memory kept from being counted. */
static void drop_ended(Job *j)
{
	while (j->ended) {
		Ended *e = j->ended;
		j->ended = e->next;
		sim_result_free(&e->result);
		free(e);
	}
}

static u32 thread_count(const Job *j)
{
	u32 n = j->opt->threads;
	if (!n) {
		long cpus = sysconf(_SC_NPROCESSORS_ONLN);
		n = cpus < 1 ? 1 : cpus > 16 ? 16 : (u32)cpus;
	}
	if (n > j->nclusters)
		n = j->nclusters;
	return j->code->global_atomics && !j->opt->threads ? 1 : n;
}

bool job_run(Job *j)
{
	pthread_t threads[64];
	u32 want = thread_count(j), n = 0;
	if (want > SIM_COUNT(threads))
		want = SIM_COUNT(threads);
	j->end = j->nclusters;
	j->no_memory |= !shuffle_starts(j);
	if (j->code->waits || j->code->draws || j->opt->checks & CHECK_GLOBAL) {
		together_run(j);
		free(j->order);
		return !j->no_memory;
	}
	while (n + 1 < want && !pthread_create(&threads[n], NULL, worker, j))
		n++;
	worker(j);
	while (n)
		pthread_join(threads[--n], NULL);
	drop_ended(j);
	free(j->order);
	return !j->no_memory;
}
