/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tickets.c - how all of a CTA come to know its next tile: while one is computed, a lane draws the
 * ticket of the next into a ring, as any load is made; at the end of the turn each role looks.
 *     for t (0, turns) { ticket.at tile (t, ..) .. }
 * ->  for t (0, turns) {
 *       ticket.at tile (t, ..) ; ticket.draw %sticket (ctas, R * C, listed)
 *       .. ticket.get %sticket (t, R * C) } */
#include "passes/pass.h"
#include "passes/multicast/cluster_groups.h"

/* Slots: the lane that draws is as far ahead. What is drawn early is dealt out early, which matters
 * where tiles differ in length; where they are alike, and short, who waits for the draw does. */
enum { SLOTS = 2, SLOTS_DIFFER = 1 };

/* The first CTA of a cluster draws for all: it waits for who reads in any of them. */
static void tell_cluster(Kernel *k, Op *ring, int ctas)
{
	int64_t into[CLUSTER_CTAS], from[CLUSTER_CTAS];
	for (int r = 0; r < ctas; r++) {
		into[r] = r ? INT64_C(1) << r : (INT64_C(1) << ctas) - 1;
		from[r] = INT64_C(1) << r | 1;
	}
	op_ints(k, ring, A_INTO, into, ctas);
	op_ints(k, ring, A_FROM, from, ctas);
}

/* Whether a loop in the tile is as long as a name of the tile's says. */
static bool differ(const Block *tile, const Block *b)
{
	bool by_name = false;
	for (const Op *op = b->first; op && !by_name; op = op->next) {
		by_name = op->body && differ(tile, op->body);
		for (const Op *at = tile->first; at && op->kind == OP_FOR; at = at->next)
			for (int i = 0; i < at->nsym && op_only_names(at); i++)
				by_name |= ix_uses(IX(op, FROM), at->sym[i]) ||
					   ix_uses(IX(op, TO), at->sym[i]);
	}
	return by_name;
}

/* Where tiles differ in length, one slot: with two, a CTA would hold a tile and two tickets, and
 * short CTAs find none left. Elsewhere two, since short tiles under pingpong would wait for the
 * draw. */
static Val *ticket_buffer(Kernel *k, const Block *tile, Loc loc)
{
	Ctx *c = k->ctx;
	Op *op = op_new(k, OP_SHARED, loc), *first = kernel_find(k, OP_SHARED);
	Op *ring = ring_new(k, "tickets", differ(tile, tile) ? SLOTS_DIFFER : SLOTS, loc);
	op_int(k, ring, A_EARLY, 1);
	if (kernel_cluster_ctas(k) > 1)
		tell_cluster(k, ring, kernel_cluster_ctas(k));
	op_insert_before(first ? first : kernel_first(k), ring);
	op_str(k, op, A_RING, ring->sym[0]);
	op_result(k, op, "sticket", type_tile(c, SP_SHARED, EL_I32, layout_2d(c, 1, 1, 1, 1)));
	op_insert_after(ring, op);
	return op->out;
}

/* After what names the tile, which takes whole warps: one lane does what follows. */
static Op *last_name(Op *at)
{
	while (at->next && op_only_names(at->next))
		at = at->next;
	return at;
}

/* Below it, CTAs have lists of tiles at fixed distances, so that neighbours have neighbours, and
 * rows of operands that several SMs read at one time are read once from the L2. With lists alone, a
 * CTA whose list is empty would look for tiles in all others, just when there are few. So what
 * evens out is dealt out by one counter: all that differs in length, else the last rounds; and all
 * tiles of groups, since the group of a tile is looked for from the one before on, and only a
 * counter's numbers grow. */
static const Ix *listed(Kernel *k, const Block *tile, const Op *tickets, const Ix *first)
{
	enum { LAST = 2 /* rounds */ };
	Ctx *c = k->ctx;
	const Ix *last = ix_mul(c, IX(tickets, STEP), ix_int(k, LAST));
	bool grows = differ(tile, tile) || kernel_find(k, OP_GROUPS_FIND);
	return grows ? first : ix_new(c, IX_MAX, ix_sub(c, IX(tickets, TILES), last), first);
}

static void draw_op(Kernel *k, Op *behind, Val *buffer, const Op *tickets)
{
	const Ix *turns = ix_int(k, attrs_int(&tickets->attrs, A_TURNS, 1));
	int ctas = kernel_cluster_ctas(k);
	Op *draw = op_after(k, behind, ctas > 1 ? OP_TICKET_DEAL : OP_TICKET_DRAW);
	op_in(k, draw, buffer, NULL);
	if (ctas > 1)
		op_ix(k, draw, ix_int(k, 0));
	op_ix(k, draw, ix_mul(k->ctx, IX(tickets, STEP), turns));
	op_ix(k, draw, IX(tickets, TILES));
	op_ix(k, draw, listed(k, behind->block, tickets, ix_mul(k->ctx, IX(tickets, STEP), turns)));
	if (ctas > 1) {
		op_ix(k, draw, ix_int(k, (INT64_C(1) << ctas) - 1));
		op_int(k, draw, A_SHARED, 1);
	}
}

PASS_OF(tickets)
{
	Op *tickets = kernel_find(k, OP_TICKETS), *at = kernel_find(k, OP_TICKET_AT);
	if (!tickets || !at)
		return;
	Val *buffer = ticket_buffer(k, at->block, tickets->loc);
	draw_op(k, last_name(at), buffer, tickets);
	Op *get = op_in(k, op_append(k, at->block, OP_TICKET_GET, at->loc), buffer, NULL);
	op_ixs(k, get, IX(at, TURN), IX(tickets, TILES));
}
