/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* replay.c - steps through the IR with concrete sizes: the kernel is read anew with a number for
 * every name, each loop turn by turn, into one straight line for each warp. What the reading for
 * all sizes concludes from facts, trip counts, residues and tiles has no part in it.
 *     for k (0, (K + 63) / 64), K = 128   ->   wait, load, load, wait, load, load
 */
#include "verify/replay.h"

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
		for (int seg = 0; seg < SEG_COUNT; seg++)
			n += p->scripts[i].seg[seg].n;
	return n;
}

bool replay_fails(Replay *r)
{
	const Program *p = r->p;
	Program *own = NEW(ctx_arena(p->k->ctx), Program);
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
	own->words.tile_period = own->words.trip_period = 1;
	r->own = own;
	return !words_run(&own->m, &own->words, 1, 0, 0, NULL, NULL, &r->why) &&
	       !why_is_open(r->why.id);
}

void replay_trace(const Replay *r, StepSeen *seen, void *user)
{
	Why why;
	words_run(&r->own->m, &r->own->words, 1, 0, 0, seen, user, &why);
}
