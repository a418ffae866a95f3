/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* dealt.c - tiles that are dealt out while they are computed: each CTA, or cluster, begins
 * with the tile of its number, and draws a ticket for each that follows.
 *     persistent=2, grid m, n (R, C)
 * ->  tickets turns (cta, R * C, ctas)
 *     for t (0, turns) { ticket.at tile (t, R * C, cta + t * ctas) .. }
 * Who draws, and how all of a CTA come to know, is said by tickets.c. */
#include "passes/tile/tiles.h"

bool tickets_drawn(const Kernel *k)
{
	return attrs_int(&k->attrs, A_PERSISTENT, 0) == 2;
}

static bool splits(const Kernel *k, const Plane *p)
{
	(void)k;
	return p->parts * p->shares > 1;
}

/* What goes without tiles that nobody knows ahead. */
static const struct {
	bool (*asked)(const Kernel *k, const Plane *p);
	const char *what, *remedy;
} refused[] = {
	{splits, "split_k: CTAs would have to draw the same tile to add up its sums",
	 "leave split_k out, or persistent"},
};

void tickets_check(Kernel *k, const Plane *p)
{
	for (size_t i = 0; i < COUNTOF(refused) && tickets_drawn(k); i++)
		if (refused[i].asked(k, p))
			diag(k->ctx, p->grid->loc, D_E0407,
			     "persistent dynamic goes without %s\n"
			     "%s",
			     refused[i].what, refused[i].remedy);
}

/* The launch has no more CTAs than tiles may be counted. */
const Ix *tiles_by_tickets(Here h, const Plane *p, Op *grid, const Ix *all)
{
	Kernel *k = h.k;
	Ctx *c = k->ctx;
	int held = MOST_CTAS * kernel_ctas(k);
	const Ix *tiles = ix_new(c, IX_MIN, all, ix_int(k, MOST_TILES));
	const Ix *first = ix_new(c, IX_MIN, tiles_me(k, p), ix_int(k, held - 1));
	const Ix *step = ix_new(c, IX_MIN, tiles_ctas(k, p), ix_int(k, held));
	Op *tickets = op_before(k, grid, OP_TICKETS);
	const char *turns = kernel_fresh(k, "turns"), *tile = kernel_fresh(k, "ticket");
	op_sym(k, tickets, turns);
	op_ixs(k, tickets, first, tiles, step);
	if (kernel_pingpong(k))
		op_int(k, tickets, A_TURNS, TURNS);
	const Ix *t = tiles_repeat(k, grid, ix_sym(c, turns));
	Op *at = op_before(k, h.at, OP_TICKET_AT);
	op_sym(k, at, tile);
	op_ixs(k, at, t, tiles, ix_add(c, first, ix_mul(c, t, step)));
	return tiles_let(h, "tile", tiles_below(k, ix_sym(c, tile), tiles));
}
