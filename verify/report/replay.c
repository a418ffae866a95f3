/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* replay.c - steps through the IR with concrete sizes: the kernel is read anew with a number for
 * every name, each loop turn by turn, into one straight line for each warp. What the reading for
 * all sizes concludes from facts, trip counts, residues and tiles has no part in it.
 *     for k (0, (K + 63) / 64), K = 128   ->   wait, load, load, wait, load, load
 */
#include "verify/report/replay.h"

#include <string.h>

/* What no size changes is as it was read: which boxes fill a slot, which bytes slots share. */
static void take_cells(Program *own, const Program *p)
{
	for (int i = 0; i < own->m.nc; i++) {
		Cell *to = &own->m.cells[i];
		const Cell *from = &p->m.cells[i];
		to->full = from->full;
		for (size_t w = 0; w < COUNTOF(to->over); w++)
			to->over[w] = from->over[w];
	}
	machine_overlaps(&own->m);
}

static int64_t steps_of(const Program *p)
{
	int64_t n = 0;
	for (int i = 0; i < p->m.na; i++)
		n += p->scripts[i].items.n;
	return n;
}

Replays replays_new(void)
{
	return (Replays){.arena = arena_new(), .kept = arena_new()};
}

void replays_free(Replays *all)
{
	arena_free(all->arena);
	arena_free(all->kept);
}

static bool are_equal(const Sizes *a, const Sizes *b)
{
	bool equal = a->n == b->n;
	for (int i = 0; i < a->n && equal; i++)
		equal = a->at[i].by == b->at[i].by && a->at[i].name == b->at[i].name;
	return equal;
}

static const Passed *passed_at(const Replays *all, const Sizes *s)
{
	for (int i = 0; i < all->passed.n; i++)
		if (are_equal(&all->passed.at[i].sizes, s))
			return &all->passed.at[i];
	return NULL;
}

/* One straight line for each agent; false: something in it is not a number. */
static bool line_of(Program *own, Letter *line)
{
	const Env none = {.n = 0};
	*line = (Letter){0};
	for (int a = 0; a < own->m.na; a++) {
		own->steps.n = 0;
		if (!program_make(own, &none, &own->scripts[a].items, NULL))
			return false;
		Step *all = arena_alloc(own->arena, sizeof *all * (size_t)own->steps.n + 1);
		if (own->steps.n)
			memcpy(all, own->steps.at, sizeof *all * (size_t)own->steps.n);
		line->of[a] = (Part){all, own->steps.n};
	}
	return true;
}

static bool line_runs(Program *own, StepSeen *seen, void *user, Why *why)
{
	Letter line;
	if (!line_of(own, &line))
		return true;
	State *s = state_new(&own->m, own->arena);
	return letter_run(&own->m, s, &line, seen, user, why) && state_finish(&own->m, s, why);
}

static bool steps_fail(Replay *r, Arena *arena)
{
	const Program *p = r->p;
	Program *own = NEW(arena, Program);
	own->arena = arena;
	own->rank = p->rank;
	own->cluster = p->cluster;
	own->nchoices = p->nchoices;
	for (int i = 0; i < p->nchoices; i++)
		own->choices[i] = p->choices[i];
	own->sized = p;
	own->recall = p->recall;
	own->sizes = r->sizes.at;
	own->nsizes = r->sizes.n;
	bool read = program_read(own, p->k);
	r->steps = steps_of(own);
	if (!read)
		return false;
	take_cells(own, p);
	own->m.exact = true;
	own->m.physical = true;
	own->m.fills = fills_new(own);
	machine_layout(&own->m);
	r->own = own;
	return !line_runs(own, NULL, NULL, &r->why) && !why_is_open(r->why.id);
}

bool replay_fails(Replay *r, Replays *before)
{
	const Passed *passed = passed_at(before, &r->sizes);
	if (passed) {
		r->steps = passed->steps;
		return false;
	}
	arena_reset(before->arena);
	bool fails = steps_fail(r, before->arena);
	if (!fails)
		vec_push(before->kept, &before->passed, ((Passed){r->sizes, r->steps}));
	return fails;
}

void replay_trace(const Replay *r, StepSeen *seen, void *user)
{
	Why why;
	line_runs(r->own, seen, user, &why);
}
