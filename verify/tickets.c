/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tickets.c - tiles that CTAs draw: what stands for it that the turns of all roles are one number,
 * and each turn's tile is the one that was drawn for it.
 *     one draw in each turn of one loop; every loop of as many turns looks, in each, at that turn's
 * A run in which all draw by turns is one of them, and has numbers where others have none: what
 * fails in it fails. */
#include "verify/read.h"
#include "verify/tickets.h"

#include <string.h>

typedef struct {
	Reader *r;
	const Kernel *k;
	const Op *tickets, *draw;
	const Ix *turns;
} Tickets;

static bool wrong(const Tickets *t, const Op *op, DiagId code, const char *text)
{
	return read_problem(t->r, code, op->loc, text);
}

static const Op *find(const Kernel *k, OpKind kind)
{
	const Op *op = kernel_first(k);
	while (op && op->kind != kind)
		op = op_next(op);
	return op;
}

static bool is_loop(const Op *op)
{
	return op->kind == OP_FOR || op->kind == OP_FOR_RING;
}

static void note_run(void *user, const char *name)
{
	bool *run = user;
	*run |= strcmp(name, "warp") && strcmp(name, "tid") && strcmp(name, "lane");
}

/* The same in every turn. */
static bool is_of_thread(const Ix *x)
{
	bool run = false;
	ix_names(x, note_run, &run);
	return !run;
}

/* The loop that each turn comes to op in: through nothing but what tells threads apart. */
static const Op *turn_of(const Tickets *t, const Op *op)
{
	const Op *up = op_parent(op);
	for (; up && !is_loop(up); up = op_parent(up))
		for (int i = 0; i < up->nix && up->kind == OP_IF; i++)
			if (!is_of_thread(up->ix[i]))
				return NULL;
	return up && up->ix[1] == t->turns && ix_is(up->ix[0], 0) ? up : NULL;
}

static const Op *look_in(const Tickets *t, const Block *b, const Op *loop, int *n)
{
	const Op *look = NULL;
	for (const Op *op = b->first; op; op = op->next) {
		bool looks = op->kind == OP_TICKET_GET && turn_of(t, op) == loop;
		const Op *in = op->body ? look_in(t, op->body, loop, n) : looks ? op : NULL;
		*n += looks;
		look = in ? in : look;
	}
	return look;
}

/* Each loop of as many turns, or it would have no end. */
static bool ends_turn(const Tickets *t, const Op *loop)
{
	int n = 0;
	const Op *look = look_in(t, loop->body, loop, &n);
	const Ix *name = ix_sym(t->k->ctx, loop->sym[0]);
	if (!look)
		return wrong(t, loop, D_E0411,
			     "it never ends: in none of its turns it looks for the next ticket");
	if (n > 1 || op_parent(look) != loop)
		return wrong(t, look, D_W0411, "a loop that looks for tickets in several places");
	if (look->ix[0] != name || look->ix[1] != t->tickets->ix[1] ||
	    look->in[0].val != t->draw->in[0].val)
		return wrong(t, look, D_W0411, "a ticket that is not the one drawn in its turn");
	return true;
}

static bool asks(const Tickets *t, const Op *op)
{
	bool asks = false;
	for (int i = 0; i < op->nix; i++)
		asks |= !(is_loop(op) && i == 1) && ix_uses(op->ix[i], t->turns->name);
	for (int i = 0; i < op->nin; i++)
		asks |= op->in[i].at && ix_uses(op->in[i].at, t->turns->name);
	return asks;
}

static bool each_op(const Tickets *t)
{
	for (const Op *op = kernel_first(t->k); op; op = op_next(op)) {
		bool turns = is_loop(op) && op->ix[1] == t->turns;
		const Op *loop = op->kind == OP_TICKET_AT ? op_parent(op) : NULL;
		if (asks(t, op) || (is_loop(op) && !turns && ix_uses(op->ix[1], t->turns->name)))
			return wrong(t, op, D_W0411,
				     "what depends on how many tickets this CTA will have drawn");
		if (turns && !ends_turn(t, op))
			return false;
		if (loop && (!is_loop(loop) || loop->ix[1] != t->turns ||
			     op->ix[0] != ix_sym(t->k->ctx, loop->sym[0])))
			return wrong(t, op, D_W0411, "a tile that is not the turn's");
	}
	return true;
}

bool read_tickets(Reader *r)
{
	Tickets t = {.r = r, .k = r->p->k};
	t.tickets = find(t.k, OP_TICKETS);
	t.draw = find(t.k, OP_TICKET_DRAW);
	if (!t.tickets || r->p->sized)
		return true;
	t.turns = ix_sym(t.k->ctx, t.tickets->sym[0]);
	if (!t.draw)
		return wrong(&t, t.tickets, D_E0411,
			     "no ticket is drawn: nobody has a second turn");
	for (const Op *op = op_next(t.draw); op; op = op_next(op))
		if (op->kind == OP_TICKET_DRAW || op->kind == OP_TICKETS)
			return wrong(&t, op, D_W0411, "tickets that are drawn in several places");
	if (!turn_of(&t, t.draw))
		return wrong(&t, t.draw, D_W0411, "a ticket that is not drawn in every turn");
	if (t.draw->ix[0] != t.tickets->ix[2] || t.draw->ix[1] != t.tickets->ix[1])
		return wrong(&t, t.draw, D_W0411, "tickets of other tiles than the turns are");
	return each_op(&t);
}

/* ------------------------------------------------------------------ by turns */
bool kernel_has_tickets(const Kernel *k)
{
	return find(k, OP_TICKETS);
}

static const Ix *by_turns(Ctx *c, const Op *op)
{
	if (op->kind == OP_TICKET_AT)
		return op->ix[2];
	return ix_ceil_div(c, ix_sub(c, op->ix[1], op->ix[0]), op->ix[2]);
}

/* The same op, read as a let of what it is then, or as it was. */
static void exchange(Op *op, Turned *was)
{
	Turned now = {op, op->kind, op->nix, op->ix[0]};
	op->kind = was->kind;
	op->nix = was->nix;
	op->ix[0] = was->ix;
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
