/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tickets.c - tiles that CTAs draw: what stands for it that the turns of all roles are one number,
 * and each turn's tile is the one that was drawn for it.
 *     one draw, by one thread, in each turn of one loop; each warp goes through the tickets one by
 *     one, and asks for the tile of a turn, or whether there is one, where it has looked at all
 *     before it
 *     for j (0, (turns - w + 1) / 2) {      of two warpgroups, w: tiles of two turns are known
 *       if (1 <= 2 j + w) { ticket.get (2 j + w - 1) } .. ticket.get (2 j + w) }
 * Its loops are gone through twice: the first time, and any time after it.
 * A run in which all draw by turns is one of them, and has numbers where others have none: what
 * fails in it fails. */
#include "verify/read/read.h"
#include "verify/rules/tickets.h"

#include <string.h>

#define VAGUE "what depends on how many tickets this CTA will have drawn"

enum { MOST_TURNS = 8 /* that are taken in turn */ };

typedef struct {
	Reader *r;
	const Kernel *k;
	const Op *tickets, *draw;
	const Ix *turns;
	int64_t ahead;    /* so many turns are known at a time */
	int draws, drawn; /* threads that draw in a turn, of all warps, and of this one */
	View view;        /* of one warp */
	const Ix *looked; /* at tickets of so many turns; NULL: not known, or all */
} Tickets;

static void note_run(void *user, const char *name)
{
	bool *run = user;
	*run |= strcmp(name, "warp") && strcmp(name, "tid") && strcmp(name, "lane") &&
		strcmp(name, "rank");
}

/* The same in every turn. */
static bool is_of_thread(const Ix *x)
{
	bool run = false;
	ix_names(x, note_run, &run);
	return !run;
}

/* ------------------------------------------------------------------ the draw */
static bool is_draw(const Op *op)
{
	return HAS_IX(op, LISTED);
}

/* One op draws. */
static bool find_draw(Tickets *t)
{
	for (const Op *op = kernel_first(t->k); op; op = op_next(op)) {
		if (!is_draw(op))
			continue;
		if (t->draw)
			return read_problem(t->r, D_W0411, op->loc,
					    "tickets that are drawn in several places");
		t->draw = op;
	}
	return true;
}

/* A tile is a cluster's: its CTAs have the same. */
static bool tells_all(const Tickets *t)
{
	int64_t mask = 1, all = (INT64_C(1) << t->r->p->ctas) - 1;
	if (HAS_IX(t->draw, MASK) && !ix_is_const(IX(t->draw, MASK), &mask))
		return false;
	return mask == all;
}

/* The loop that each turn comes to op in: through nothing but what tells threads apart. */
static const Op *turn_of(const Tickets *t, const Op *op)
{
	const Op *up = op_parent(op);
	for (; up && !read_is_loop(up); up = op_parent(up))
		for (int i = 0; i < up->nix && up->kind == OP_IF; i++)
			if (!is_of_thread(up->ix[i]))
				return NULL;
	for (const Op *in = up ? op_parent(up) : NULL; in; in = op_parent(in))
		if (in->kind != OP_ROLE && in->kind != OP_ELECT && in->kind != OP_IF)
			return NULL;
	return up && IX(up, TO) == t->turns && ix_is(IX(up, FROM), 0) ? up : NULL;
}

/* ------------------------------------------------------------------ what a warp knows */
static const Ix *simple(Tickets *t, const Ix *x)
{
	return read_simple(t->r, x).x;
}

/* The kernel's x as the warp sees it where it is. */
static const Ix *seen(Tickets *t, const Ix *x)
{
	return simple(t, stage(&t->view, x));
}

/* The kernel's x is y, as the warp sees it. */
static bool is_seen(Tickets *t, const Ix *x, const Ix *y)
{
	return y && ix_is(simple(t, ix_sub(t->k->ctx, seen(t, x), y)), 0);
}

static void put(Tickets *t, const char *name, const Ix *by)
{
	vec_push(t->r->p->arena, &t->view.names, ((Named){name, by}));
}

/* Outside of loops and conditions. */
static bool asks(const Tickets *t, const Op *op)
{
	bool asks = false;
	for (int i = 0; i < op->nix; i++)
		asks |= ix_uses(op->ix[i], t->turns->name);
	for (int i = 0; i < op->nin; i++)
		asks |= op->in[i].at && ix_uses(op->in[i].at, t->turns->name);
	return asks;
}

static bool walk(Tickets *t, const Block *b);

/* The turn is one of those that a warp knows. */
static bool is_known(Tickets *t, const Ix *turn)
{
	int64_t more;
	return t->looked && ix_is_const(simple(t, ix_sub(t->k->ctx, turn, t->looked)), &more) &&
	       more >= 0 && more < t->ahead;
}

/* What some lanes come to, or some runs, leaves nobody known to know more. */
static bool walk_some(Tickets *t, const Op *op)
{
	const Ix *looked = t->looked;
	if (!walk(t, op->body))
		return false;
	t->looked = t->looked == looked ? looked : NULL;
	return true;
}

/* What a warp knows decides whether there is another turn, and in which all lanes are. */
static bool walk_if(Tickets *t, const Op *op)
{
	bool all = true;
	for (int i = 0; i < op->nix; i++) {
		const Ix *x = op->ix[i];
		bool by_turns = x->kind == IX_LT && x->b == t->turns && is_known(t, seen(t, x->a));
		if (!by_turns && ix_uses(x, t->turns->name))
			return read_problem(t->r, D_W0411, op->loc, VAGUE);
		x = seen(t, x);
		if (!by_turns && ix_is(x, 0))
			return true;
		all &= ix_is_const(x, NULL);
	}
	return all ? walk(t, op->body) : walk_some(t, op);
}

static void put_slots(Tickets *t, const Op *op, const Ix *gone)
{
	Ctx *c = t->k->ctx;
	if (op->kind != OP_FOR_RING)
		return;
	const Ix *slots = ix_const(c, attrs_int(&op->attrs, A_SLOTS, 1));
	put(t, op->sym[1], ix_mod(c, ix_add(c, stage(&t->view, IX(op, OFFSET)), gone), slots));
}

/* Of which turn trip v is: step * v + first, where there are as many trips as such turns. */
static const Ix *turn_of_trip(Tickets *t, const Op *loop, const Ix *v, int64_t *step)
{
	Ctx *c = t->k->ctx;
	for (*step = 1; *step <= MOST_TURNS; ++*step)
		for (int64_t first = 0; first < *step && ix_is(IX(loop, FROM), 0); first++) {
			const Ix *n = ix_const(c, *step);
			const Ix *left = ix_sub(c, t->turns, ix_const(c, first));
			if (is_seen(t, IX(loop, TO), simple(t, ix_ceil_div(c, left, n))))
				return ix_add(c, ix_mul(c, v, n), ix_const(c, first));
		}
	return NULL;
}

/* One trip of a loop that has one for each of a warp's turns: it began with so many tickets. */
static bool walk_trip(Tickets *t, const Op *op, const Ix *v, const Ix *looked)
{
	int64_t step;
	const Ix *turn = turn_of_trip(t, op, v, &step);
	t->looked = looked;
	if (!is_known(t, turn))
		return read_problem(t->r, D_W0411, op->loc, VAGUE);
	put(t, op->sym[0], v);
	put_slots(t, op, v);
	if (!walk(t, op->body))
		return false;
	if (t->looked == looked)
		return read_problem(
			t->r, D_E0411, op->loc,
			"it never ends: in none of its turns it looks for the next ticket");
	return true;
}

/* The first trip, and any that follows: it begins and ends as many turns later. */
static bool walk_turns(Tickets *t, const Op *op)
{
	Ctx *c = t->k->ctx;
	int64_t step;
	const Ix *v = ix_sym(c, op->sym[0]), *one = ix_const(c, 1);
	if (!turn_of_trip(t, op, v, &step))
		return read_problem(t->r, D_W0411, op->loc, VAGUE);
	if (!walk_trip(t, op, ix_const(c, 0), t->looked))
		return false;
	const Ix *more = ix_mul(c, v, ix_const(c, step));
	const Ix *begin = t->looked ? ix_add(c, t->looked, more) : NULL;
	if (!walk_trip(t, op, ix_add(c, v, one), begin))
		return false;
	begin = ix_add(c, begin, ix_const(c, step));
	if (!t->looked || simple(t, t->looked) != simple(t, begin))
		return read_problem(t->r, D_W0411, op->loc,
				    "a loop that looks at more or fewer tickets than it has turns");
	t->looked = NULL;
	return true;
}

static bool walk_loop(Tickets *t, const Op *op)
{
	const Ix *looked = t->looked;
	for (int i = 0; i < op->nix; i++)
		if (i != 1 && ix_uses(op->ix[i], t->turns->name))
			return read_problem(t->r, D_W0411, op->loc, VAGUE);
	if (ix_uses(IX(op, TO), t->turns->name))
		return walk_turns(t, op);
	put_slots(t, op, ix_sub(t->k->ctx, ix_sym(t->k->ctx, op->sym[0]), IX(op, FROM)));
	if (!walk(t, op->body))
		return false;
	return t->looked == looked ||
	       read_problem(t->r, D_W0411, op->loc,
			    "a loop that looks for tickets in each of its trips");
}

/* Whether it is at the slot of the ticket that this warp comes to. */
static bool is_next(Tickets *t, const Operand *in)
{
	Ctx *c = t->k->ctx;
	const Ix *slots = ix_const(c, attrs_int(&in->val->def->attrs, A_SLOTS, 1));
	return t->looked && in->val == IN(t->draw, TO).val &&
	       is_seen(t, in->at ? in->at : ix_const(c, 0), simple(t, ix_mod(c, t->looked, slots)));
}

/* How many lanes of the warp come to op, in the CTA of that rank; more than one: not known. */
static int lanes_at(Tickets *t, const Op *op, int rank)
{
	Ctx *c = t->k->ctx;
	uint32_t which = UINT32_MAX;
	bool one = false;
	for (const Op *up = op_parent(op); up; up = op_parent(up)) {
		one |= up->kind == OP_ELECT;
		for (int i = 0; i < up->nix && up->kind == OP_IF; i++) {
			const Ix *x = ix_subst(c, seen(t, up->ix[i]), ctx_str(c, "rank"),
					       ix_const(c, rank));
			const ByLane *by = read_by_lane(t->r->p, x);
			if (!by->known)
				return LANES;
			which &= by->which;
		}
	}
	return which && one ? 1 : __builtin_popcount(which);
}

static bool walk_draw(Tickets *t, const Op *op)
{
	t->drawn = 0;
	for (int rank = 0; rank < t->r->p->ctas; rank++)
		t->drawn += lanes_at(t, op, rank);
	return is_next(t, &IN(op, TO)) ||
	       read_problem(t->r, D_W0411, op->loc,
			    "a ticket that is not drawn into its turn's slot");
}

/* Where all draw by turns it is so many tiles after the first. */
static bool is_by_turns(Tickets *t, const Op *op)
{
	Ctx *c = t->k->ctx;
	const Ix *behind = ix_mul(c, IX(op, TURN), IX(t->tickets, STEP));
	const Ix *more = ix_sub(c, IX(op, WHICH), ix_add(c, IX(t->tickets, FIRST), behind));
	return IX(op, TILES) == IX(t->tickets, TILES) && ix_is(simple(t, seen(t, more)), 0);
}

static bool walk_ticket(Tickets *t, const Op *op)
{
	if (is_draw(op))
		return walk_draw(t, op);
	bool next = is_seen(t, IX(op, TURN), t->looked);
	if (op->kind == OP_TICKET_AT)
		return (next && is_by_turns(t, op)) ||
		       read_problem(t->r, D_W0411, op->loc, "a tile that is not the turn's");
	if (!next || IX(op, TILES) != IX(t->tickets, TILES) || !is_next(t, &IN(op, FROM)))
		return read_problem(t->r, D_W0411, op->loc,
				    "a ticket that is not the one drawn in its turn");
	t->looked = simple(t, ix_add(t->k->ctx, t->looked, ix_const(t->k->ctx, 1)));
	return true;
}

static bool walk_op(Tickets *t, const Op *op)
{
	if (op->kind == OP_IF)
		return walk_if(t, op);
	if (read_is_loop(op))
		return walk_loop(t, op);
	if (asks(t, op))
		return read_problem(t->r, D_W0411, op->loc, VAGUE);
	if (op->kind == OP_LET)
		put(t, op->sym[0], stage(&t->view, IX(op, VALUE)));
	if (HAS_IX(op, TURN) || is_draw(op))
		return walk_ticket(t, op);
	if (op->kind == OP_ELECT)
		return walk_some(t, op);
	return !op->body || walk(t, op->body);
}

static bool walk(Tickets *t, const Block *b)
{
	bool right = true;
	for (const Op *op = b->first; op && right; op = op->next)
		right = op->kind == OP_ROLE || walk_op(t, op);
	return right;
}

static bool walk_warp(Tickets *t, int warp)
{
	const Op *role = read_role_of(t->k, warp);
	t->view = (View){.ctx = t->k->ctx};
	read_put_warp(t->r, &t->view, warp);
	t->looked = ix_const(t->k->ctx, 0);
	t->drawn = 0;
	bool right = walk(t, &t->k->body) && (!role || walk(t, role->body));
	t->draws += t->drawn;
	return right;
}

bool read_tickets(Reader *r)
{
	Tickets t = {.r = r, .k = r->p->k, .tickets = kernel_find(r->p->k, OP_TICKETS)};
	if (!t.tickets || r->p->sized)
		return true;
	if (!find_draw(&t))
		return false;
	t.turns = ix_sym(t.k->ctx, t.tickets->sym[0]);
	if (!t.draw)
		return read_problem(t.r, D_E0411, t.tickets->loc,
				    "no ticket is drawn: nobody has a second turn");
	if (!tells_all(&t))
		return read_problem(t.r, D_W0411, t.draw->loc,
				    "a ticket that some CTAs of the cluster hear of");
	if (!turn_of(&t, t.draw))
		return read_problem(t.r, D_W0411, t.draw->loc,
				    "a ticket that is not drawn in every turn");
	if (!read_deals(r, t.tickets, t.draw))
		return false;
	t.ahead = attrs_int(&t.tickets->attrs, A_TURNS, 1);
	bool right = true;
	for (int w = 0; w < attrs_int(&t.k->attrs, A_BLOCK, 0) / LANES && right; w++)
		right = walk_warp(&t, w);
	if (right && t.draws != 1)
		return read_problem(t.r, D_W0411, t.draw->loc,
				    "a ticket that is not drawn by one thread alone");
	return right;
}

/* ------------------------------------------------------------------ by turns */
static const Ix *by_turns(Ctx *c, const Op *op)
{
	if (op->kind == OP_TICKET_AT)
		return IX(op, WHICH);
	return ix_ceil_div(c, ix_sub(c, IX(op, TILES), IX(op, FIRST)), IX(op, STEP));
}

/* The same op, read as a let of what it is then, or as it was. */
static void exchange(Op *op, Turned *was)
{
	Turned now = {op, op->kind, op->nix, *op->ix};
	op->kind = was->kind;
	op->nix = was->nix;
	*op->ix = was->ix;
	*was = now;
}

void tickets_by_turns(const Kernel *k, TurnedVec *all)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op)) {
		if (op->kind != OP_TICKETS && op->kind != OP_TICKET_AT)
			continue;
		Turned let = {(Op *)(uintptr_t)op, OP_LET, 1, by_turns(k->ctx, op)};
		vec_push(ctx_arena(k->ctx), all, let);
	}
	tickets_exchange(all);
}

void tickets_exchange(TurnedVec *all)
{
	for (int i = 0; i < all->n; i++)
		exchange(all->at[i].op, &all->at[i]);
}
