/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* together.c - a grid whose CTAs wait for each other, or draw what they do from one counter: as
 * many clusters as the options say are there at one time, and one host thread runs them by turns,
 * in an order that the seed decides. When one has ended, the next starts. Where each has spun for
 * long, none will ever go on.
 *     16 clusters, resident=4  ->  0 1 2 3 by turns, 4 when the first of them has ended, .. */
#include "sim/machine.h"

#include <stdlib.h>

enum {
	SPUN_LONG = 1 << 18, /* instructions of each cluster without a store or an arrival */
	MANY_CTAS = 1024,    /* that run at a time, where the options do not say */
	SOME_CTAS = 16       /* where none waits for another */
};

typedef struct {
	Job *job;
	Cluster **at;
	u32 n, most;
	Rng rng;
	u32 turn;
	bool failed;
} Stage;

static void leave(Stage *s, u32 i)
{
	Cluster *c = s->at[i];
	Job *j = s->job;
	s->failed |= c->failed;
	c->result.steps = c->steps;
	c->result.clusters = 1;
	result_take(j->result, &c->result, reports_most(j->opt));
	sim_result_free(&c->result);
	j->counted++;
	if (j->opt->watch)
		j->opt->watch(j->opt->watcher, j->counted, j->nclusters);
	cluster_free(c);
	free(c);
	s->at[i] = s->at[--s->n];
}

static bool enter(Stage *s)
{
	u32 index;
	if (s->n == s->most || !next_cluster(s->job, &index))
		return false;
	Cluster *c = calloc(1, sizeof *c);
	s->job->no_memory |= !c || !cluster_init(c, s->job, index);
	if (s->job->no_memory) {
		if (c)
			cluster_free(c);
		free(c);
		return false;
	}
	s->at[s->n++] = c;
	return true;
}

static bool all_spin(const Stage *s)
{
	for (u32 i = 0; i < s->n; i++)
		if (s->at[i]->steps - s->at[i]->progress <= SPUN_LONG)
			return false;
	return s->n;
}

static void report_spinning(Stage *s)
{
	const Cluster *c = s->at[0];
	Warp *w = c->warps;
	while (!w->live && w + 1 < c->warps + c->nwarps)
		w++;
	report(w, &w->code->ins[w->nsplits ? w->splits[0].pc : 0], -1, SIM_DEADLOCK,
	       "all %u clusters that run wait for what others of the grid write, %u have ended and "
	       "%u have not started",
	       s->n, s->job->counted, s->job->nclusters - s->job->counted - s->n);
	s->at[0]->failed = true;
}

static u32 pick(Stage *s)
{
	return s->job->opt->seed ? rng_below(&s->rng, s->n) : s->turn++ % s->n;
}

static u32 most_clusters(const Job *j)
{
	u32 ctas = j->cluster[0] * j->cluster[1] * j->cluster[2];
	u32 usual = j->code->waits ? MANY_CTAS : SOME_CTAS;
	u32 most = (j->opt->resident ? j->opt->resident : usual) / ctas;
	return most > j->nclusters ? j->nclusters : most ? most : 1;
}

void together_run(Job *j)
{
	Stage s = {.job = j, .most = most_clusters(j)};
	s.rng.s = j->opt->seed * UINT64_C(0x9e3779b97f4a7c15);
	s.at = calloc(s.most, sizeof(Cluster *));
	j->no_memory |= !s.at || !globals_start(j);
	while (!j->no_memory && !s.failed) {
		while (enter(&s))
			;
		if (!s.n)
			break;
		u32 i = pick(&s);
		if (!cluster_turn(s.at[i]))
			leave(&s, i);
		else if (all_spin(&s))
			report_spinning(&s);
		while (s.n && s.at[0]->failed && !s.failed)
			leave(&s, 0);
	}
	while (s.n)
		leave(&s, s.n - 1);
	globals_end(j);
	free(s.at);
}
