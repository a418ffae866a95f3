/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* script.c - one agent's steps, segment by segment: conditions, loops, lanes. What one op adds is
 * script_op.c's.
 *     if (warp % 4 == 0) { elect { tma.store %sD[slot] } }  ->  warp 4: store sD[position % 4]
 */
#include "verify/read.h"

#include <string.h>

/* ------------------------------------------------------------------ structure */
static bool walk(Reader *r, const Block *b);

static bool walk_tiles(Reader *r, const Op *op)
{
	Ctx *c = r->p->k->ctx;
	const Ix *tile = ix_sym(c, r->p->tile), *left = ix_sym(c, r->p->left);
	const Ix *passed =
		ix_add(c, ix_mul(c, tile, ix_const(c, r->s->turns)), ix_const(c, r->s->turn));
	View out = r->view;
	if (op->kind == OP_FOR_RING)
		read_put_ring(r, op, ix_add(c, read_expr(r, op->ix[2]), tile));
	read_put_name(r, op->sym[0], ix_add(c, read_expr(r, op->ix[0]), tile));
	read_counts_of(r, r->tiles, ix_add(c, passed, left), &r->view.core, &r->view.core_by);
	bool inner = false;
	for (int i = 0; i < r->loops.n; i++)
		inner |= r->loops.at[i].depth > 0;
	read_to_segment(r, SEG_TILE + (inner ? 0 : r->p->words.inner));
	bool ok = walk(r, op->body);
	out.names = r->view.names; /* names are the kernel's: none is used outside its loop */
	r->view = out;
	read_to_segment(r, SEG_END);
	return ok;
}

static bool walk_trips(Reader *r, const Op *op)
{
	Ctx *c = r->p->k->ctx;
	const Ix *trip = ix_sym(c, r->p->trip), *rest = ix_sym(c, r->p->rest);
	View out = r->view;
	int n = r->inner++;
	r->s->base[n] = op->kind == OP_FOR_RING ? read_expr(r, op->ix[2]) : NULL;
	read_put_ring(r, op, ix_sym(c, r->p->position));
	read_put_name(r, op->sym[0], ix_add(c, read_expr(r, op->ix[0]), trip));
	read_counts_of(r, r->trips, ix_add(c, trip, rest), &r->view.trips, &r->view.trips_by);
	r->view.total = r->trips->kind == IX_CONST ? r->trips : NULL;
	r->view.passed = trip;
	r->view.rest = rest;
	read_to_segment(r, SEG_INNER + n);
	bool ok = walk(r, op->body);
	out.names = r->view.names;
	r->view = out;
	read_to_segment(r, SEG_TILE + n + 1);
	return ok;
}

static bool walk_shared(Reader *r, const Op *op)
{
	int depth = 0;
	for (int i = 0; i < r->loops.n; i++)
		if (r->loops.at[i].op == op)
			depth = r->loops.at[i].depth;
	r->p->shaped &= r->certain || r->p->tree != NULL; /* else a tree may have it */
	if (!r->certain)
		return read_problem(r, D_W0411, op->loc,
				    "a loop in a condition that a run decides");
	if (r->p->tree)
		return read_branch(r, op);
	return r->p->words.tiles && !depth ? walk_tiles(r, op) : walk_trips(r, op);
}

bool read_into(Reader *r, Items *to, const Block *b)
{
	Items *list = r->list;
	r->list = to;
	bool ok = walk(r, b);
	r->list = list;
	return ok;
}

/* Walks the body into an item of its own, which is still to be put. */
static bool walk_into(Reader *r, Item *it, const Block *b)
{
	Items *list = r->list;
	bool certain = r->certain;
	r->list = &it->body;
	r->certain = false;
	bool ok = walk(r, b);
	r->list = list;
	r->certain = certain;
	return ok;
}

static void put_all(Reader *r, const Items *items)
{
	for (int i = 0; i < items->n; i++) {
		Item *it = items->at[i];
		bool again = it->kind == ITEM_STEP && read_repeats((StepKind)it->step.kind);
		if (!again || !read_said(&r->p->m, r->list, it))
			vec_push(r->p->arena, r->list, it);
	}
}

/* Whether once is as good as all turns of the loop. */
static bool only_repeats(const Item *loop)
{
	int64_t from, to;
	bool runs = ix_is_const(loop->from, &from) && ix_is_const(loop->to, &to) && from < to;
	for (int i = 0; i < loop->body.n; i++)
		runs &= loop->body.at[i]->kind == ITEM_STEP &&
			read_repeats((StepKind)loop->body.at[i]->step.kind);
	return runs || items_are_mild(&loop->body);
}

static bool slots_use(const Items *items, const char *name)
{
	for (int i = 0; i < items->n; i++) {
		const Item *it = items->at[i];
		if ((it->at_cell && ix_uses(it->at_cell, name)) ||
		    (it->at_byte && ix_uses(it->at_byte, name)) || slots_use(&it->body, name))
			return true;
	}
	return false;
}

/* Whose memory is read may go with the loop. */
static bool reads_by_turns(const Op *op)
{
	bool reads = false;
	for (const Op *in = op->body->first; in && !reads; in = in->next)
		reads = (op_rows[in->kind].effects & FX_PEER) || (in->body && reads_by_turns(in));
	return reads;
}

/* Turn by turn. */
static bool walk_turns(Reader *r, const Op *op, int64_t from, int64_t to)
{
	Ctx *c = r->p->k->ctx;
	const Ix *first = op->kind == OP_FOR_RING ? read_expr(r, op->ix[2]) : NULL;
	int names = r->view.names.n, counters = op->kind == OP_FOR ? op->nsym - 1 : 0;
	const Ix **carried = NEWN(r->p->arena, const Ix *, counters + 1);
	for (int j = 0; j < counters; j++)
		carried[j] = read_expr(r, op->ix[2 + 2 * j]);
	for (int64_t i = from; i < to; i++) {
		ptrmap_clear(
			&r->seen); /* as many names as in the turn before, which stand for others */
		read_put_name(r, op->sym[0], ix_const(c, i));
		for (int j = 0; j < counters; j++)
			read_put_name(r, op->sym[1 + j], carried[j]);
		if (first)
			read_put_ring(r, op, ix_add(c, first, ix_const(c, i - from)));
		if (r->list->n > MAX_STEPS || to - from > MAX_STEPS)
			return read_limit(r, LIMIT_STEPS, op->loc);
		if (!walk(r, op->body))
			return false;
		for (int j = 0; j < counters; j++)
			carried[j] = ix_add(c, carried[j], read_expr(r, op->ix[3 + 2 * j]));
		r->view.names.n = names;
	}
	return true;
}

/* Elements that a condition leaves out. */
static bool has_guard(const Op *op)
{
	for (const Op *in = op->body->first; in; in = in->next)
		if (in->kind == OP_IF || (in->body && has_guard(in)))
			return true;
	return false;
}

/* A short loop counts from a number. */
static void put_short(Reader *r, Item *it)
{
	Ctx *c = r->p->k->ctx;
	const Op *op = it->op;
	const Led *led = read_led(r, op);
	const Ix *name = ix_sym(c, op->sym[0]), *done = ix_sub(c, name, it->from);
	if (led || !ix_is_const(it->from, NULL)) {
		read_put_name(r, op->sym[0], ix_add(c, it->from, name));
		it->to = led ? read_led_by(r, led)
			     : stage(&r->view, read_trips(r, stage(&r->lets, op->ix[0]),
							  stage(&r->lets, op->ix[1])));
		it->from = ix_const(c, 0);
		done = name;
	}
	if (op->kind == OP_FOR_RING)
		read_put_ring(r, op, ix_add(c, read_expr(r, op->ix[2]), done));
}

static bool walk_loop(Reader *r, const Op *op)
{
	int64_t from, to;
	Item *it = read_item(r, ITEM_LOOP, op);
	if (read_is_shared_loop(r, op))
		return walk_shared(r, op);
	it->from = read_expr(r, op->ix[0]);
	it->to = read_expr(r, op->ix[1]);
	bool unroll = read_is_once(r, op) || (r->p->sized && (!read_is_plain(op) || has_guard(op)));
	if ((unroll || reads_by_turns(op)) && ix_is_const(it->from, &from) &&
	    ix_is_const(it->to, &to))
		return walk_turns(r, op, from, to);
	put_short(r, it);
	bool parted = r->parted;
	r->parted |= read_of_lane(r, it->from) || read_of_lane(r, it->to);
	bool ok = walk_into(r, it, op->body);
	r->parted = parted;
	if (!ok)
		return false;
	if (only_repeats(it) && !slots_use(&it->body, op->sym[0]))
		put_all(r, &it->body);
	else
		vec_push(r->p->arena, r->list, it);
	return true;
}

/* As one lane that elect takes. */
static bool walk_elect(Reader *r, const Block *b)
{
	int lanes = r->lanes;
	uint32_t which = r->which;
	r->lanes = 1;
	r->which = 0;
	bool ok = walk(r, b);
	r->lanes = lanes;
	r->which = which;
	return ok;
}

/* Of where a run is alone: such names begin with #. */
static bool is_of_run(const Ix *x)
{
	if (x->kind == IX_SYM)
		return x->name[0] == '#';
	return x->kind == IX_CONST || (is_of_run(x->a) && is_of_run(x->b));
}

/* Conditions that sizes or the thread decide: that they hold asks for more. */
static void leave_open(Item *it)
{
	int n = 0;
	for (int i = 0; i < it->nconds; i++)
		if (is_of_run(it->conds[i]))
			it->conds[n++] = it->conds[i];
	it->nconds = n;
}

static bool walk_part(Reader *r, Item *it, const Block *b)
{
	if (!walk_into(r, it, b))
		return false;
	if (items_are_mild(&it->body))
		leave_open(it);
	if (it->nconds)
		vec_push(r->p->arena, r->list, it);
	else
		put_all(r, &it->body);
	return true;
}

/* Threads copy elements of a buffer into a tensor there. */
static bool copies_out(const Op *op)
{
	for (const Op *in = op->body->first; in; in = in->next)
		if ((in->nin == 2 && read_in_space(&in->in[0], SP_GLOBAL) &&
		     read_in_space(&in->in[1], SP_SHARED)) ||
		    (in->kind == OP_IF && copies_out(in)))
			return read_only_reads(op);
	return false;
}

/* Of which lanes the conditions hold, and which a run decides; of the lane that elect takes it is
 * not known which it is. False: one never holds, and it is not what keeps a copy in its tensor. */
static bool conditions(Reader *r, Item *it, const Op *op)
{
	uint32_t some;
	for (int i = 0; i < op->nix; i++) {
		int64_t v;
		const Ix *x = read_expr(r, op->ix[i]);
		bool lanes = read_lanes_of(r, x, &some);
		bool none = lanes ? !some || (r->which && !(r->which & some))
				  : ix_is_const(x, &v) && !v;
		if (none && !copies_out(op))
			return false;
		if (none)
			r->outside = true;
		else if (lanes && (r->which || some == ~0u)) {
			r->which &= some;
		} else if (!ix_is_const(x, NULL)) {
			it->conds[it->nconds++] = x;
			r->parted |= read_of_lane(r, x);
		}
	}
	return true;
}

static bool walk_if(Reader *r, const Op *op)
{
	Item *it = read_item(r, ITEM_IF, op);
	int lanes = r->lanes;
	bool parted = r->parted, outside = r->outside;
	uint32_t which = r->which;
	it->conds = NEWN(r->p->arena, const Ix *, op->nix + 1);
	bool some = conditions(r, it, op);
	if (which)
		r->lanes = __builtin_popcount(r->which);
	bool ok =
		!some || !r->lanes || (it->nconds ? walk_part(r, it, op->body) : walk(r, op->body));
	r->lanes = lanes;
	r->which = which;
	r->parted = parted;
	r->outside = outside;
	return ok;
}

static bool walk(Reader *r, const Block *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		bool ok = true;
		if (!read_counts(r, op) || (op->kind == OP_ROLE && op != r->s->role))
			continue;
		if (!read_by_whole_warps(r, op))
			return false;
		if (op->kind == OP_ROLE)
			ok = walk(r, op->body);
		else if (op->kind == OP_ELECT)
			ok = walk_elect(r, op->body);
		else if (op->kind == OP_IF)
			ok = walk_if(r, op);
		else if (op->kind == OP_FOR || op->kind == OP_FOR_RING)
			ok = walk_loop(r, op);
		else if (op->kind != OP_LET)
			ok = read_op(r, op);
		if (!ok)
			return false;
	}
	return true;
}

bool read_script(Reader *r, int agent)
{
	Ctx *c = r->p->k->ctx;
	Script *s = &r->p->scripts[agent];
	read_begin(r, s);
	r->agent = agent;
	r->inner = 0;
	r->lanes = 32;
	r->which = ~0u;
	r->parted = false;
	r->certain = true;
	r->outside = false;
	r->view = (View){.ctx = c, .compares = true};
	ptrmap_clear(&r->seen);
	read_counts_of(r, r->trips, ix_sym(c, r->p->trips), &r->view.trips, &r->view.trips_by);
	read_to_segment(r, SEG_START);
	if (r->p->tree)
		read_counts_in(r, NULL);
	if (!walk(r, &r->p->k->body))
		return false;
	read_own(r, s);
	/* with the last steps of others, who may wait for it at the cluster's barrier */
	if (!r->p->tree)
		read_to_segment(r, r->p->words.tiles ? SEG_END : SEG_TILE + r->p->words.inner);
	read_put(r, read_item(r, ITEM_STEP, s->role), STEP_EXIT);
	return true;
}
