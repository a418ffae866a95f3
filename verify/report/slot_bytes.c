/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* slot_bytes.c - which bytes of a slot the lanes of a warp write and read, in a replay. To fill a
 * slot in several goes is no fault, to fill the same bytes anew before anyone has read them is one;
 * what a lane wrote itself it may read before it has met the others.
 *     stmatrix sD[0] (lane * 16); fence; stmatrix sD[0] (lane * 16 + 512)  ->  apart
 */
#include "verify/read/read.h"

enum { MATRIX = 8, MATRIX_ROW = 16 };

/* By matrix the lanes say where, and others have part in what is there. */
struct Foot {
	int64_t at[LANES], bytes;
	uint32_t lanes; /* any one of these, where elect takes it */
	bool elected, matrix;
};

static bool is_known(const Program *p, const Ix *x, Env *e, Foot *f)
{
	const char *lane = ctx_str(p->k->ctx, "lane");
	const ByLane *b = read_by_lane(p, x);
	int names = e->n;
	bool known = true;
	for (int i = 0; i < LANES && known; i++) {
		if (!(f->lanes >> i & 1))
			continue;
		if (b->known) {
			f->at[i] = b->value[i];
			continue;
		}
		env_put(e, lane, num_exact(i));
		known = num_is_exact(num_eval(x, e), &f->at[i]);
		e->n = names;
	}
	return known;
}

int foot_make(Program *p, const Op *op, const Ix *byte, uint32_t lanes, Env *e)
{
	int n = (int)attrs_int(&op->attrs, A_N, 1);
	Foot f = {.bytes = MATRIX_ROW,
		  .lanes = lanes ? lanes : ~0u,
		  .elected = !lanes,
		  .matrix = read_is_aligned(op)};
	if (f.matrix && n < LANES / MATRIX)
		f.lanes &= (1u << MATRIX * n) - 1;
	if (!f.matrix)
		f.bytes = (int)elem_span(IN(op, TO).val->type->elem, n);
	if (!is_known(p, byte, e, &f))
		return 0;
	vec_push(p->arena, &p->feet, f);
	return p->feet.n;
}

/* Bytes of both; others: of two lanes. */
static bool have_common(const Foot *x, const Foot *y, bool others)
{
	for (int i = 0; i < LANES; i++)
		for (int j = 0; j < LANES && x->lanes >> i & 1; j++)
			if (y->lanes >> j & 1 && !(others && i == j) &&
			    x->at[i] < y->at[j] + y->bytes && y->at[j] < x->at[i] + x->bytes)
				return true;
	return false;
}

/* What was written to slots, and nobody has read. */
typedef struct {
	int agent, cell, foot;
	bool fenced;
} Fill;
struct Fills {
	Program *p;
	VEC(Fill) at;
	VEC(Fill) unmet; /* also what was read: since the lanes of the agent's warp met */
};

struct Fills *fills_new(Program *p)
{
	struct Fills *f = NEW(p->arena, struct Fills);
	f->p = p;
	return f;
}

void fills_begin(struct Fills *f)
{
	f->at.n = f->unmet.n = 0;
}

bool fills_write(struct Fills *f, int agent, const Step *st)
{
	Fill now = {agent, st->cell, (int)st->mask - 1, false};
	vec_push(f->p->arena, &f->unmet, now);
	if (now.foot < 0 || f->p->feet.at[now.foot].elected)
		return true;
	EACH(const Fill, x, f->at)
		if (x->fenced && x->agent == agent && x->cell == st->cell &&
		    have_common(&f->p->feet.at[x->foot], &f->p->feet.at[now.foot], false))
			return false;
	vec_push(f->p->arena, &f->at, now);
	return true;
}

void fills_fence(struct Fills *f, int agent)
{
	for (int i = 0; i < f->at.n; i++)
		f->at.at[i].fenced |= f->at.at[i].agent == agent;
}

void fills_read(struct Fills *f, int cell)
{
	int n = 0;
	for (int i = 0; i < f->at.n; i++)
		if (f->at.at[i].cell != cell)
			f->at.at[n++] = f->at.at[i];
	f->at.n = n;
}

void fills_meet(struct Fills *f, int agent)
{
	int n = 0;
	for (int i = 0; i < f->unmet.n; i++)
		if (f->unmet.at[i].agent != agent)
			f->unmet.at[n++] = f->unmet.at[i];
	f->unmet.n = n;
}

bool fills_own(const struct Fills *f, int agent, const Step *st)
{
	const Foot *of = f->p->feet.at, *read = of + st->mask - 1;
	if (st->kind != STEP_READ || !st->mask || read->matrix)
		return false;
	EACH(const Fill, x, f->unmet)
		if (x->agent == agent && x->cell == st->cell &&
		    (x->foot < 0 || of[x->foot].matrix || have_common(&of[x->foot], read, true)))
			return false;
	return true;
}
