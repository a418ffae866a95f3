/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* branch.c - one loop of one role, as a loop of the tree: its trips so far and to come have names,
 * and so has how often it runs, wherever the role speaks of that.
 *     for.ring k, slot, phase (0, (K + 63) / 64, t * ((K + 63) / 64))
 * ->  own1, slot = (t * count0 + own1) % 4; within, (K + 63) / 64 is own1 + rest1
 */
#include "verify/read/read.h"
#include "verify/tree/tree.h"

const char *branch_own(Ctx *c, int loop)
{
	return ctx_strf(c, "#own%d", loop);
}

const char *branch_rest(Ctx *c, int loop)
{
	return ctx_strf(c, "#rest%d", loop);
}

const char *branch_count(Ctx *c, int count)
{
	return ctx_strf(c, "#count%d", count);
}

const char *branch_trips(Ctx *c, int count, bool some)
{
	return ctx_strf(c, some ? "#trips%d" : "#below%d", count);
}

const char *branch_drawn(Ctx *c, int loop)
{
	return ctx_strf(c, "#drawn%d", loop);
}

/* ------------------------------------------------------------------ how often loops run */
/* With the names of loops put in, and counts as they are. */
static const Ix *bare(Reader *r, const Ix *x)
{
	View v = r->view;
	v.counts.n = 0;
	v.bare = true;
	return stage(&v, stage(&r->lets, x));
}

static const Ix *trip_of(Reader *r, const Op *loop, const Ix **raw)
{
	Ctx *c = r->p->k->ctx;
	const Ix *from = bare(r, IX(loop, FROM)), *to = bare(r, IX(loop, TO));
	*raw = ix_sub(c, to, from);
	return ix_simplify(c, read_trips(r, from, to), r->p->tree->facts);
}

static int count_of(Reader *r, const Ix *trip)
{
	RoleCounts *of = r->p->tree->of_role[r->agent];
	for (int i = 0; i < of->n; i++)
		if (of->at[i] == trip)
			return i;
	vec_push(r->p->arena, of, trip);
	return of->n - 1;
}

static bool is_counted(const View *v, const Ix *core)
{
	for (int i = 0; i < v->counts.n; i++)
		if (v->counts.at[i].core == core)
			return true;
	return false;
}

/* Of least = min(from + C, to), how far it is from `from`, which rest takes away, at most: C. */
static bool is_bounded(const Reader *r, const Ix *least, const Ix *rest)
{
	Ctx *c = r->p->k->ctx;
	for (int i = 0; least->kind == IX_MIN && i < 2; i++) {
		const Ix *x = ix_add(c, i ? least->b : least->a, rest);
		if (ix_is_const(ix_simplify(c, x, r->p->tree->facts), NULL))
			return true;
	}
	return false;
}

/* trip = core + more is `n`; of core = min(a, b) + rest, that says what the minimum is. */
static void put_count(Reader *r, const Ix *trip, const Ix *n, bool again)
{
	int64_t more;
	const Ix *core = read_core(trip, &more);
	if (!core || (!again && is_counted(&r->view, core)))
		return;
	const Ix *by = ix_add(r->p->k->ctx, n, ix_const(r->p->k->ctx, -more));
	for (int i = 0; core->kind == IX_ADD && i < 2; i++) {
		const Ix *least = i ? core->b : core->a, *rest = i ? core->a : core->b;
		if (is_bounded(r, least, rest))
			vec_push(r->p->arena, &r->view.counts,
				 ((Counted){least, ix_sub(r->p->k->ctx, by, rest)}));
	}
	vec_push(r->p->arena, &r->view.counts, ((Counted){core, by}));
}

typedef struct {
	const PtrMap *bound;
	bool found;
} OfLoops;

static void find_bound(void *user, const char *name)
{
	OfLoops *of = user;
	of->found |= ptrmap_get(of->bound, name) != NULL;
}

bool read_names_loops(const Reader *r, const Ix *x)
{
	OfLoops of = {&r->bound, false};
	ix_names(x, find_bound, &of);
	return of.found;
}

/* In the forms of other roles too. */
static void put_forms(Reader *r, const Ix *trip, const Ix *n)
{
	const Tree *t = r->p->tree;
	for (int i = 0; i < t->forms.n; i++)
		if (t->forms.at[i] != trip && ix_same(r->p->k->ctx, t->forms.at[i], trip, t->facts))
			put_count(r, t->forms.at[i], n, false);
}

void read_counts_in(Reader *r, const Op *loop)
{
	Ctx *c = r->p->k->ctx;
	for (int i = 0; i < r->loops.n; i++) {
		const Op *op = r->loops.at[i].op;
		if (op == loop || (loop && !op_inside(op, loop)))
			continue;
		const Ix *raw, *trip = trip_of(r, op, &raw);
		if (read_names_loops(r, raw))
			continue;
		const Ix *n = ix_sym(c, branch_count(c, count_of(r, trip)));
		put_count(r, trip, n, false);
		put_count(r, raw, n, false);
		put_forms(r, trip, n);
	}
}

const Ix *read_led_by(Reader *r, const Led *led)
{
	Ctx *c = r->p->k->ctx;
	const Ix *raw, *n = ix_sym(c, branch_count(c, count_of(r, trip_of(r, led->by, &raw))));
	return ix_new(c, IX_MIN, n, led->most);
}

/* ------------------------------------------------------------------ one loop */
/* Where CTAs go apart, an op that does not reach another CTA touches its own's. */
static void touch(const Reader *r, const Op *op, int place, Shared *sh)
{
	int own = r->s->rank - r->p->rank;
	bool local = r->p->tree->apart && !program_goes_out(op);
	for (int rank = 0; rank < r->p->m.ranks; rank++)
		if (!local || rank == own)
			sh->touches[rank] |= (uint64_t)1 << (place & 63);
}

static void find_touched(const Reader *r, const Op *loop, Shared *sh)
{
	for (const Op *op = loop->body->first; op; op = op->next) {
		for (int i = 0; i < op->nin; i++)
			for (int j = 0; j < r->places.n; j++)
				if (r->places.at[j].val == op->in[i].val)
					touch(r, op, j, sh);
		if (op->body)
			find_touched(r, op, sh);
	}
}

/* A loop's number in its role: the same for all warps of the role. */
static int number_of(Reader *r, const Op *op)
{
	Tree *t = r->p->tree;
	int n = 0;
	for (int i = 0; i < t->numbered.n; i++) {
		if (t->numbered.at[i].op == op)
			return n;
		n += t->numbered.at[i].role == r->s->role;
	}
	vec_push(r->p->arena, &t->numbered, ((Numbered){op, r->s->role}));
	return n;
}

/* The tile of a turn that is so far from the loop's, or of one by its number. */
const char *branch_drawn_in(Ctx *c, const char *drawn, char from, int64_t turn)
{
	return from == '+' && !turn ? drawn : ctx_strf(c, "%s%c%d", drawn, from, (int)turn);
}

/* How far a tile's turn is from the loop's; INT64_MIN: it is not known. */
static int64_t turns_off(Reader *r, const Op *at, const Op *loop, const Shared *sh)
{
	Ctx *c = r->p->k->ctx;
	int64_t off = INT64_MIN;
	const Ix *trip = ix_mul(c, ix_sym(c, loop->sym[0]), ix_const(c, sh->turns));
	const Ix *turn = ix_add(c, trip, ix_const(c, sh->turn));
	ix_is_const(ix_sub(c, stage(&r->lets, IX(at, TURN)), turn), &off);
	return off;
}

/* Tiles that are asked for ahead of the loop: of turns that have numbers. */
static void put_first_drawn(Reader *r, const Op *loop, const char *name)
{
	Ctx *c = r->p->k->ctx;
	int64_t turn;
	for (const Op *at = loop->prev; at; at = at->prev)
		if (at->kind == OP_TICKET_AT && ix_is_const(IX(at, TURN), &turn))
			read_put_name(r, at->sym[0],
				      ix_sym(c, branch_drawn_in(c, name, '@', turn)));
}

/* The tile that each turn of the loop has drawn, whichever that is: a counter of which nothing is
 * known but that all roles have the same. Who takes some turns asks for others' as well. */
static void put_drawn(Reader *r, const Op *op, Shared *sh)
{
	Ctx *c = r->p->k->ctx;
	const char *name = ctx_str(c, branch_drawn(c, number_of(r, op)));
	const Ix *gone = ix_sym(c, "#gone");
	sh->drawn = -1;
	for (const Op *at = op->body->first; at; at = at->next) {
		if (at->kind != OP_TICKET_AT)
			continue;
		int64_t off = turns_off(r, at, op, sh);
		if (off == INT64_MIN)
			continue;
		read_put_name(r, at->sym[0], ix_sym(c, branch_drawn_in(c, name, '+', off)));
		if (off || sh->drawn >= 0)
			continue;
		sh->drawn = sh->counters++;
		sh->counter[sh->drawn] = name;
		sh->start[sh->drawn] = sh->begin[sh->drawn] = gone;
		sh->step[sh->drawn] = sh->more[sh->drawn] = gone;
	}
}

static bool put_counters(Reader *r, const Op *op, Shared *sh, int loop)
{
	Ctx *c = r->p->k->ctx;
	int n = op->kind == OP_FOR ? op->nsym - 1 : 0;
	if (n > MAX_COUNTERS)
		return read_limit(r, LIMIT_COUNTERS, op->loc);
	put_first_drawn(r, op, ctx_str(c, branch_drawn(c, loop)));
	for (int i = 0; i < n; i++) {
		sh->counter[i] = ctx_strf(c, "#counter%d.%d", loop, i);
		sh->start[i] = read_expr(r, for_start(op, 1 + i));
		sh->begin[i] = bare(r, for_start(op, 1 + i));
	}
	for (int i = 0; i < n; i++)
		read_put_name(r, op->sym[1 + i], ix_sym(c, sh->counter[i]));
	sh->counters = n;
	put_drawn(r, op, sh);
	return true;
}

static void put_names(Reader *r, const Op *op, const Shared *sh)
{
	Ctx *c = r->p->k->ctx;
	const Ix *own = ix_sym(c, sh->own);
	if (op->kind == OP_FOR_RING)
		read_put_ring(r, op, ix_add(c, read_expr(r, IX(op, OFFSET)), own));
	read_put_name(r, op->sym[0], ix_add(c, read_expr(r, IX(op, FROM)), own));
	vec_push(r->p->arena, &r->view.bares,
		 ((Named){op->sym[0], ix_add(c, bare(r, IX(op, FROM)), own)}));
	const Ix *passed = ix_add(c, ix_mul(c, own, ix_const(c, sh->turns)), ix_const(c, sh->turn));
	const Ix *all = ix_add(c, passed, ix_sym(c, sh->rest));
	put_count(r, sh->turns > 1 ? r->p->tree->turn_of[r->agent] : sh->trip, all, true);
	if (sh->turns == 1)
		put_count(r, sh->raw, all, true);
	r->view.total = sh->turns == 1 && !stage_of_sizes(sh->trip) ? sh->trip : NULL;
	r->view.passed = own;
	r->view.rest = ix_sym(c, sh->rest);
}

bool read_branch(Reader *r, const Op *op)
{
	Ctx *c = r->p->k->ctx;
	View out = r->view;
	int loop = number_of(r, op);
	Item *it = read_item(r, ITEM_SHARED, op);
	Shared *sh = NEW(r->p->arena, Shared);
	if (loop >= MAX_BRANCHES)
		return read_limit(r, LIMIT_BRANCHES, op->loc);
	bool outer = read_outer_loop(op) == NULL;
	*sh = (Shared){.op = op, .turns = outer ? r->s->turns : 1, .turn = outer ? r->s->turn : 0};
	sh->own = ctx_str(c, branch_own(c, loop));
	sh->rest = ctx_str(c, branch_rest(c, loop));
	sh->trip = trip_of(r, op, &sh->raw);
	sh->count = count_of(r, sh->trip);
	find_touched(r, op, sh);
	it->shared = sh;
	it->from = read_expr(r, IX(op, FROM));
	it->to = read_expr(r, IX(op, TO));
	if (r->p->tree->of_role[r->agent]->n > MAX_COUNTS)
		return read_limit(r, LIMIT_COUNTS, op->loc);
	if (!put_counters(r, op, sh, loop))
		return false;
	put_names(r, op, sh);
	read_counts_in(r, op);
	if (!read_into(r, &it->body, op->body))
		return false;
	for (int i = 0; i < sh->counters; i++) {
		if (i == sh->drawn)
			continue;
		sh->more[i] = bare(r, for_step(op, 1 + i));
		sh->step[i] =
			ix_add(c, ix_sym(c, sh->counter[i]), read_expr(r, for_step(op, 1 + i)));
	}
	out.names = r->view.names;
	r->view = out;
	vec_push(r->p->arena, r->list, it);
	return true;
}
