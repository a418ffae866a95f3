/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* foot.c - which bytes of a slot the lanes of a warp write, in a replay. To fill a slot in several
 * goes is no fault, to fill the same bytes anew before anyone has read them is one.
 *     stmatrix sD[0] (lane * 16); fence; stmatrix sD[0] (lane * 16 + 512)  ->  apart
 */
#include "verify/read.h"

enum { LANES = 32, MATRIX = 8, MATRIX_ROW = 16 };

struct Foot {
	int64_t at[LANES], bytes;
	int n; /* lanes */
};

static bool is_known(const Ix *x, Env *e, Foot *f, uint32_t lanes, const char *lane)
{
	int names = e->n;
	bool known = true;
	for (int i = 0; i < LANES && known; i++) {
		if (!(lanes >> i & 1))
			continue;
		env_put(e, lane, num_exact(i));
		known = num_is_exact(num_eval(x, e), &f->at[f->n++]);
		e->n = names;
	}
	return known && f->n;
}

int foot_make(Program *p, const Op *op, const Ix *byte, uint32_t lanes, Env *e)
{
	int n = (int)attrs_int(&op->attrs, A_N, 1);
	bool matrix = read_is_aligned(op);
	Foot f = {.bytes = MATRIX_ROW};
	if (matrix && n < LANES / MATRIX)
		lanes &= (1u << MATRIX * n) - 1;
	if (!matrix)
		f.bytes = n * elem_rows[op->in[0].val->type->elem].bits / 8;
	if (!is_known(byte, e, &f, lanes, ctx_str(p->k->ctx, "lane")))
		return 0;
	vec_push(p->arena, &p->feet, f);
	return p->feet.n;
}

static bool have_common(const Foot *x, const Foot *y)
{
	for (int i = 0; i < x->n; i++)
		for (int j = 0; j < y->n; j++)
			if (x->at[i] < y->at[j] + y->bytes && y->at[j] < x->at[i] + x->bytes)
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
};

struct Fills *fills_new(Program *p)
{
	struct Fills *f = NEW(p->arena, struct Fills);
	f->p = p;
	return f;
}

void fills_begin(struct Fills *f)
{
	f->at.n = 0;
}

bool fills_write(struct Fills *f, int agent, const Step *st)
{
	Fill now = {agent, st->cell, (int)st->mask - 1, false};
	if (now.foot < 0)
		return true;
	for (int i = 0; i < f->at.n; i++) {
		const Fill *x = &f->at.at[i];
		if (x->fenced && x->agent == agent && x->cell == st->cell &&
		    have_common(&f->p->feet.at[x->foot], &f->p->feet.at[now.foot]))
			return false;
	}
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
