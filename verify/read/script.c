/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* script.c - what one agent does: conditions, loops, lanes. What one op adds is
 * script_op.c's.
 *     if (warp % 4 == 0) { elect { tma.store %sD[slot] } }  ->  warp 4: store sD[position % 4]
 */
#include "verify/read/read.h"

#include <string.h>

/* ------------------------------------------------------------------ structure */
static bool walk(Reader *r, const Block *b);

static bool walk_shared(Reader *r, const Op *op)
{
	return r->certain ? read_branch(r, op)
			  : read_problem(r, D_W0411, op->loc,
					 "a loop in a condition that a run decides");
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
	const Ix *first = op->kind == OP_FOR_RING ? read_expr(r, IX(op, OFFSET)) : NULL;
	int names = r->view.names.n, counters = op->kind == OP_FOR ? op->nsym - 1 : 0;
	const Ix **carried = NEWN(r->p->arena, const Ix *, counters + 1);
	for (int j = 0; j < counters; j++)
		carried[j] = read_expr(r, for_start(op, 1 + j));
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
			carried[j] = ix_add(c, carried[j], read_expr(r, for_step(op, 1 + j)));
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
			     : stage(&r->view, read_trips(r, stage(&r->lets, IX(op, FROM)),
							  stage(&r->lets, IX(op, TO))));
		it->from = ix_const(c, 0);
		done = name;
	}
	if (op->kind == OP_FOR_RING)
		read_put_ring(r, op, ix_add(c, read_expr(r, IX(op, OFFSET)), done));
}

/* Threads copy elements of a buffer into a tensor there, in loops too or under conditions alone. */
static bool copies_out(const Op *op, bool loops)
{
	for (const Op *in = op->body->first; in; in = in->next)
		if ((HAS_IN(in, TO) && read_in_space(&IN(in, TO), SP_GLOBAL) && HAS_IN(in, FROM) &&
		     read_in_space(&IN(in, FROM), SP_SHARED)) ||
		    (in->body && (loops || in->kind == OP_IF) && copies_out(in, loops)))
			return read_only_reads(op);
	return false;
}

/* A copy without a turn, as one whose elements all lie outside their tensor. */
static bool walk_no_turn(Reader *r, const Op *op, int64_t from)
{
	bool outside = r->outside;
	r->outside = true;
	bool ok = walk_turns(r, op, from, from + 1);
	r->outside = outside;
	return ok;
}

static bool walk_loop(Reader *r, const Op *op)
{
	int64_t from, to;
	Item *it = read_item(r, ITEM_LOOP, op);
	if (read_is_shared_loop(r, op))
		return walk_shared(r, op);
	it->from = read_expr(r, IX(op, FROM));
	it->to = read_expr(r, IX(op, TO));
	bool unroll = read_is_once(r, op) || (r->p->sized && (!read_is_plain(op) || has_guard(op)));
	bool known = ix_is_const(it->from, &from) && ix_is_const(it->to, &to);
	if (known && to <= from && copies_out(op, true))
		return walk_no_turn(r, op, from);
	if (known && (unroll || reads_by_turns(op)))
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

typedef struct {
	const Reader *r;
	const Op *op;
	bool some;
} Bound;

static bool is_counter(const Op *op, const char *name)
{
	for (const Op *up = op_parent(op); up; up = op_parent(up))
		for (int i = 0; i < up->nsym && up->kind != OP_ROLE; i++)
			if (up->sym[i] == name)
				return true;
	return false;
}

static void note_bound(void *user, const char *name)
{
	Bound *b = user;
	bool chosen = false;
#define SYM(id, text, lo, hi, reg) chosen |= !strcmp(name, text);
#include "ir/syms.def"
	for (int i = 0; i < b->r->p->nchoices; i++)
		chosen |= b->r->p->choices[i].name == name;
	b->some |= !chosen && !is_counter(b->op, name);
}

/* A condition of where an element is, and not of the trip, the warp or the launch; a number
 * where a pass found that out. */
static bool is_bound(const Reader *r, const Op *op, const Ix *x)
{
	Bound b = {r, op, x->kind == IX_CONST};
	ix_names(x, note_bound, &b);
	return b.some;
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
		if (none && !r->outside && !copies_out(op, is_bound(r, op, op->ix[i])))
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
	r->lanes = 32;
	r->which = ~0u;
	r->parted = false;
	r->certain = true;
	r->outside = false;
	r->view = (View){.ctx = c, .compares = true};
	ptrmap_clear(&r->seen);
	r->list = &s->items;
	if (r->p->tree)
		read_counts_in(r, NULL);
	if (!walk(r, &r->p->k->body))
		return false;
	read_own(r, s);
	read_put(r, read_item(r, ITEM_STEP, s->role), STEP_EXIT);
	return true;
}
