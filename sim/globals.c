/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* globals.c - what CTAs of a grid know of each other through global memory: each allocation that is
 * touched has a shadow of this launch, as shared memory has. Words that were written with release
 * carry what their writers knew; accesses are looked at in the launch's works, or everywhere.
 *     st.global w; bar.sync; red.release.gpu s | ld.acquire.gpu s; bar.sync; ld.global w
 * ->  ordered */
#include "sim/machine.h"

#include <stdlib.h>

struct Globals {
	Shadow *shadows; /* by allocation */
	u32 n;
	struct Records *records;
};

bool globals_start(Job *j)
{
	struct Globals *g = j->globals = calloc(1, sizeof *g);
	if (!g || !(g->shadows = calloc(j->memory->n + 1, sizeof *g->shadows)))
		return false;
	g->n = j->memory->n;
	return true;
}

void globals_end(Job *j)
{
	struct Globals *g = j->globals;
	for (u32 i = 0; g && i < g->n; i++)
		shadow_free(&g->shadows[i]);
	if (g) {
		records_free(g->records);
		free(g->shadows);
	}
	free(g);
	j->globals = NULL;
}

Shadow *globals_shadow(const Warp *w)
{
	const Job *j = w->cluster->job;
	const Alloc *a = w->near;
	struct Globals *g = j->globals;
	if (!g || !j->opt->checks)
		return NULL;
	Shadow *s = &g->shadows[a - j->memory->allocs];
	if (!s->cells)
		*s = (Shadow){.host = a->host, .from = a->addr, .bytes = a->size};
	if (s->cells || shadow_start(s, &g->records))
		return s;
	shadow_free(s);
	*s = (Shadow){0};
	return NULL;
}

bool globals_work(const Job *j, u64 addr)
{
	for (u32 i = 0; i < j->l->nworks; i++)
		if (addr - j->l->works[i].from < j->l->works[i].bytes)
			return true;
	return false;
}
