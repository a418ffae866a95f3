/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* shape.c - the loops that all agents share: whether their trip counts agree, and who takes
 * which turn.
 *     producer for t (0, Q + 1), consumers for j (0, (Q - g) / 2 + 1)  ->  N = Q + 1, turns
 */
#include "verify/read.h"

typedef struct {
	Loops of[MAX_AGENTS];
	bool nested;
} AllLoops;

enum { MAX_TURNS = 8, FEW_TRIPS = 1 << 20 };

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

static const Loop *at_depth(const Loops *l, int depth)
{
	for (int i = 0; i < l->n; i++)
		if (l->at[i].depth == depth)
			return &l->at[i];
	return NULL;
}

static int count_at(const Loops *l, int depth)
{
	int n = 0;
	for (int i = 0; i < l->n; i++)
		n += l->at[i].depth == depth;
	return n;
}

static bool all_match(Reader *r, const AllLoops *all, const Ix *tiles)
{
	for (int a = 0; a < r->p->m.na; a++) {
		const Loop *own = at_depth(&all->of[a], 0);
		if (own && !read_takes_turns(r, &r->p->scripts[a], tiles, own->trip))
			return false;
	}
	return true;
}

static const char *text_of(Reader *r, const Ix *x)
{
	Buf b = {0};
	ix_print(x, &b);
	const char *s = ctx_str(r->p->k->ctx, b.s);
	buf_free(&b);
	return s;
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
			    ctx_strf(r->p->k->ctx,
				     "the loop of %s runs %s times, and that of %s runs %s times",
				     m->agents[a].name, text_of(r, x), m->agents[b].name,
				     text_of(r, y)));
}

/* One for each agent that has any: a second one would be taken for the first. */
static bool one_outer_each(Reader *r, const AllLoops *all)
{
	for (int a = 0; a < r->p->m.na; a++)
		for (int i = 1; i < all->of[a].n; i++)
			if (!all->of[a].at[i].depth)
				return read_problem(
					r, D_W0411, all->of[a].at[i].op->loc,
					"a role with a loop other than the one over tiles, or "
					"next to one of another length");
	return true;
}

static bool share_tiles(Reader *r, const AllLoops *all)
{
	int first = -1;
	for (int a = r->p->m.na - 1; a >= 0; a--) { /* who takes all tiles stands behind */
		const Loop *own = at_depth(&all->of[a], 0);
		if (!own)
			continue;
		if (all_match(r, all, own->trip)) {
			r->tiles = own->trip;
			return true;
		}
		first = first < 0 ? a : first;
	}
	const Loop *x = at_depth(&all->of[first], 0);
	for (int a = 0; a < r->p->m.na; a++) {
		const Loop *own = at_depth(&all->of[a], 0);
		if (own && !read_takes_turns(r, &r->p->scripts[a], x->trip, own->trip))
			return read_differ(r, first, x->op, x->trip, a, own->trip);
	}
	return read_differ(r, first, x->op, x->trip, first, x->trip);
}

static bool of_tile(const Loops *l, const Ix *trip)
{
	const Loop *tiles = at_depth(l, 0);
	for (int i = 0; tiles && i < tiles->op->nsym; i++)
		if (ix_uses(trip, tiles->op->sym[i]))
			return true;
	return false;
}

/* The inner loops: as many for each agent that has any, all of one trip count. */
static bool share_trips(Reader *r, const AllLoops *all, int depth)
{
	Words *w = &r->p->words;
	const Loop *x = NULL;
	int first = -1;
	for (int a = 0; a < r->p->m.na; a++) {
		const Loops *l = &all->of[a];
		int n = count_at(l, depth);
		for (int i = 0; i < l->n; i++) {
			if (l->at[i].depth != depth)
				continue;
			if (!x) {
				x = &l->at[i];
				first = a;
				w->inner = n;
			}
			if (n > 1)
				return read_problem(r, D_W0411, l->at[i].op->loc,
						    "several main loops");
			if (of_tile(l, l->at[i].trip))
				return read_problem(r, D_W0411, l->at[i].op->loc,
						    "a main loop whose length depends on the tile");
			if (l->at[i].trip != x->trip)
				return read_differ(r, first, x->op, x->trip, a, l->at[i].trip);
		}
		if (n && (n != w->inner || n > MAX_INNER))
			return read_problem(r, D_W0411, x->op->loc,
					    "roles with different numbers of loops");
	}
	if (!x)
		return true;
	r->trips = x->trip;
	Num n = read_number(r, x->trip);
	w->trips_lo = n.lo > x->lo ? n.lo : x->lo;
	w->trips_hi = n.hi < x->hi && n.hi < w->trips_lo + FEW_TRIPS ? n.hi : x->hi;
	w->trips_mod = n.mod > 1 ? n.mod : 0;
	w->trips_res = n.mod > 1 ? n.res : 0;
	return true;
}

/* All lanes of a warp go through it together. */
static bool of_warps(Reader *r, const Loops *l)
{
	const char *lane = ctx_str(r->p->k->ctx, "lane");
	for (int i = 0; i < l->n; i++) {
		const Op *op = l->at[i].op;
		if (ix_uses(l->at[i].trip, lane))
			return read_problem(r, D_W0411, op->loc,
					    "a loop whose length depends on the lane");
		if (op->kind == OP_FOR && op->nsym > 1)
			return read_problem(r, D_W0411, op->loc, "a loop that carries a counter");
	}
	return true;
}

static bool same_trips(const AllLoops *all, int na)
{
	const Loop *x = NULL;
	for (int a = 0; a < na; a++)
		for (int i = 0; i < all->of[a].n; i++) {
			x = x ? x : &all->of[a].at[0];
			if (all->of[a].at[i].trip != x->trip)
				return false;
		}
	return true;
}

bool read_shape(Reader *r)
{
	Program *p = r->p;
	AllLoops all = {0};
	for (int a = 0; a < p->m.na; a++) {
		read_begin(r, &p->scripts[a]);
		all.of[a] = r->loops;
		r->loops = (Loops){0};
		p->scripts[a].loops = all.of[a].n > 0;
		if (!of_warps(r, &all.of[a]))
			return false;
		all.nested |= at_depth(&all.of[a], 1) != NULL;
		if (at_depth(&all.of[a], 2))
			return read_problem(r, D_W0411, p->k->loc, "loops nested three deep");
	}
	p->words.tiles = all.nested || !same_trips(&all, p->m.na);
	if (p->words.tiles && (!one_outer_each(r, &all) || !share_tiles(r, &all)))
		return false;
	return share_trips(r, &all, p->words.tiles ? 1 : 0);
}

/* What stands for the trip counts in a segment: core -> by, so that core + more is `n`. */
void read_counts_of(Reader *r, const Ix *trip, const Ix *n, const Ix **core, const Ix **by)
{
	int64_t more;
	*core = trip ? read_core(trip, &more) : NULL;
	*by = *core ? ix_add(r->p->k->ctx, n, ix_const(r->p->k->ctx, -more)) : NULL;
}
