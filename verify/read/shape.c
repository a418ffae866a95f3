/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* shape.c - whether loops of two agents have equal trip counts, and which agent takes which turn.
 *     producer for t (0, Q + 1), consumers for j (0, (Q - g) / 2 + 1)  ->  N = Q + 1, turns
 */
#include "verify/read/read.h"

enum { MAX_TURNS = 8 };

/* trip = core + more */
const Ix *read_core(const Ix *trip, int64_t *more)
{
	*more = 0;
	if (trip->kind == IX_ADD && ix_is_const(trip->b, more))
		return trip->a;
	return trip->kind == IX_CONST ? NULL : trip;
}

/* Trip count of the agent that takes tiles turn, turn + turns, .. of `tiles`. */
static const Ix *share(Reader *r, const Ix *tiles, int64_t turns, int64_t turn)
{
	Ctx *c = r->p->k->ctx;
	const Ix *last = ix_add(c, tiles, ix_const(c, -1 - turn));
	const Ix *n = ix_add(c, ix_div(c, last, ix_const(c, turns)), ix_const(c, 1));
	return turns == 1 ? tiles : read_simple(r, n).x;
}

bool read_takes_turns(Reader *r, Script *s, const Ix *tiles, const Ix *trip)
{
	for (s->turns = 1; s->turns <= MAX_TURNS; s->turns++)
		for (s->turn = 0; s->turn < s->turns; s->turn++)
			if (share(r, tiles, s->turns, s->turn) == trip)
				return true;
	return false;
}

bool read_differ(Reader *r, int a, const Op *at, const Ix *x, int b, const Ix *y)
{
	const Machine *m = &r->p->m;
	Ctx *c = r->p->k->ctx;
	if (!r->p->problem) {
		r->p->differ_apart = r->p->scripts[a].rank != r->p->scripts[b].rank;
		r->p->differ = a == b ? ix_const(c, 1) : ix_new(c, IX_NE, x, y);
	}
	return read_problem(r, D_E0414, at->loc,
			    "the loop of %s runs %s times, and that of %s runs %s times",
			    m->agents[a].name, ix_text(c, x), m->agents[b].name, ix_text(c, y));
}
