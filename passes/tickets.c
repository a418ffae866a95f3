/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tickets.c - how all of a CTA come to know its next tile: while one is computed, a lane draws the
 * ticket of the next into a ring, as any load is made; at the end of the turn each role looks.
 *     for t (0, turns) { ticket.at tile (t, ..) .. }
 * ->  for t (0, turns) {
 *       ticket.at tile (t, ..) ; ticket.draw %sticket (ctas, R * C)
 *       .. ticket.get %sticket (t, R * C) } */
#include "passes/pass.h"

/* One slot: the lane that draws is as far ahead, and what is drawn early is dealt out early. */
enum { SLOTS = 1 };

static Val *ticket_buffer(Kernel *k, Loc loc)
{
	Ctx *c = k->ctx;
	Op *ring = op_new(k, OP_RING, loc), *op = op_new(k, OP_SHARED, loc);
	const char *name = kernel_fresh(k, "tickets");
	Op *first = kernel_find(k, OP_SHARED);
	op_sym(k, ring, name);
	op_int(k, ring, A_SLOTS, SLOTS);
	op_int(k, ring, A_EARLY, 1);
	op_insert_before(first ? first : kernel_first(k), ring);
	op_str(k, op, A_RING, name);
	op_result(k, op, "sticket", type_tile(c, SP_SHARED, EL_I32, layout_2d(c, 1, 1, 1, 1)));
	op_insert_after(ring, op);
	return op->out;
}

/* Behind what names the tile, which takes whole warps: one lane does what follows. */
static Op *last_name(Op *at)
{
	while (at->next && op_only_names(at->next))
		at = at->next;
	return at;
}

void pass_tickets(Kernel *k)
{
	Op *tickets = kernel_find(k, OP_TICKETS), *at = kernel_find(k, OP_TICKET_AT);
	if (!tickets || !at)
		return;
	int64_t turns = attrs_int(&tickets->attrs, A_TURNS, 1);
	Val *buffer = ticket_buffer(k, tickets->loc);
	Op *draw = op_after(k, last_name(at), OP_TICKET_DRAW);
	Op *get = op_append(k, at->block, OP_TICKET_GET, at->loc);
	op_in(k, draw, buffer, NULL);
	op_ix(k, draw, ix_mul(k->ctx, tickets->ix[2], ix_int(k, turns)));
	op_ix(k, draw, tickets->ix[1]);
	op_in(k, get, buffer, NULL);
	op_ix(k, get, at->ix[0]);
	op_ix(k, get, tickets->ix[1]);
}
