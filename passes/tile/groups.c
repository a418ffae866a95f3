/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* groups.c - the tiles of groups of rows, whose number the device knows:
 *     grid g, m, end, n %ends (G, M, M + 1, C)
 * ->  groups.count x %ends (G, M)  let tiles (x * C)  for t (0, its tiles of a CTA) {
 *       let tile ..  groups.find g, first, end, before %ends (G, M, tile / C)
 *       let rest (tile - before * C)  let rows ((end - first + 127) / 128)
 *       let m (first + .. * 128) .. }
 * What a loop over one group begins with is read before the roles part, where a CTA has one tile:
 * groups.at .. (G, T, g) goes to the front, with what g is in its place. */
#include "passes/tile/tiles.h"

enum { GROUP, ROW, LAST, BEFORE };
/* So many that a tensor map of them can be clipped at the end of each group (ir/modes.c). */
enum { MOST_ROWS = (1 << 30) - BEYOND };

/* Of a block: a cluster's tiles along m are of one group, and the last may lie after it. */
static int64_t rows_of(const Plane *p)
{
	return p->tile[0] * p->cluster[0];
}

static Op *of_groups(Here h, const Plane *p, OpKind kind)
{
	Op *op = op_in(h.k, op_before(h.k, h.at, kind), IN(p->grid, ENDS).val, NULL);
	op_ixs(h.k, op, IX(p->grid, GROUPS), IX(p->grid, ROWS));
	op_int(h.k, op, A_ROWS, rows_of(p));
	if (attrs_get(&p->grid->attrs, A_COUNTS))
		op_int(h.k, op, A_COUNTS, 1);
	return op;
}

/* The group that the block is in, and its place in that. */
static void raster_group(Here h, const Plane *p, const Ix *block)
{
	Ctx *c = h.k->ctx;
	Plane own = *p;
	const Ix *each =
		tiles_let(h, "each", ix_new(c, IX_MIN, p->extent[1], ix_int(h.k, MOST_TILES)));
	Op *find = of_groups(h, p, OP_GROUPS_FIND);
	op_ix(h.k, find, ix_div(c, block, each));
	op_sym(h.k, find, p->grid->sym[GROUP]);
	op_sym(h.k, find, kernel_fresh(h.k, "start"));
	op_sym(h.k, find, p->grid->sym[LAST]);
	op_sym(h.k, find, kernel_fresh(h.k, "before"));
	own.row = ix_sym(c, find->sym[ROW]);
	const Ix *length = ix_sub(c, ix_sym(c, find->sym[LAST]), own.row);
	const Ix *rows = ix_ceil_div(c, length, ix_int(h.k, rows_of(p)));
	own.extent[0] = ix_new(c, IX_MAX, rows, ix_int(h.k, 1));
	const Ix *in = ix_mod(c, ix_sym(c, "rank"), ix_int(h.k, p->ctas));
	const Ix *ahead = ix_mul(c, ix_sym(c, find->sym[BEFORE]), each);
	block = tiles_let(h, "block", ix_new(c, IX_MAX, ix_sub(c, block, ahead), ix_int(h.k, 0)));
	tiles_raster(h, &own, block, in);
}

/* One each, for those CTAs that have one. */
static const Ix *one_each(Here h, const Plane *p, Op *grid, const Ix *all)
{
	Kernel *k = h.k;
	const Ix *most = ix_int(k, MOST_TILES);
	const Ix *tiles = tiles_let(h, "tiles", ix_new(k->ctx, IX_MIN, all, most));
	const Ix *first = tiles_let(h, "me", tiles_below(k, tiles_me(k, p), most));
	tiles_repeat(k, grid, ix_new(k->ctx, IX_LT, first, tiles));
	return tiles_let(h, "tile", tiles_below(k, first, tiles));
}

/* Tiles of all groups along their rows, at most. */
static const Ix *heights(Here h, const Plane *p)
{
	Ctx *c = h.k->ctx;
	const Ix *rows = IX(p->grid, ROWS), *groups = IX(p->grid, GROUPS),
		 *tile = ix_int(h.k, rows_of(p));
	if (attrs_get(&p->grid->attrs, A_COUNTS))
		return ix_mul(c, ix_ceil_div(c, rows, tile), groups);
	return ix_add(c, ix_div(c, rows, tile), groups);
}

/* Only the device knows how many blocks there are: as many CTAs as there may be are launched, or
 * run at once, and those after the last have none. */
void groups_tiles(Here h, const Plane *p, Op *grid)
{
	Ctx *c = h.k->ctx;
	bool turns = attrs_int(&h.k->attrs, A_PERSISTENT, 0);
	const Ix *most = ix_mul(c, heights(h, p), p->extent[1]);
	kernel_syms_most(h.k, IX(grid, ROWS), MOST_ROWS);
	tiles_launch(h, p, turns ? ix_new(c, IX_MIN, most, tiles_at_once(h.k, p)) : most);
	tiles_limit(h.k, most, grid->loc);
	Op *count = of_groups(h, p, OP_GROUPS_COUNT);
	op_sym(h.k, count, kernel_fresh(h.k, "heights"));
	const Ix *all = ix_mul(c, ix_sym(c, count->sym[0]), p->extent[1]);
	raster_group(h, p,
		     (tickets_drawn(h.k) ? tiles_by_tickets
		      : turns            ? tiles_by_turns
					 : one_each)(h, p, grid, all));
}

void groups_check(Kernel *k, const Plane *p)
{
	const Op *loop = kernel_find(k, OP_GROUPS_AT);
	if (!p->grid->nin)
		return;
	if (p->shares > 1)
		diag(k->ctx, p->grid->loc, D_E0407,
		     "a grid over groups goes without sums workspace: as many CTAs are launched as "
		     "there may be tiles, and all would have to run at one time\n"
		     "leave it out of the schedule; split_k in a cluster shares the k of a group's "
		     "tiles");
	if (loop)
		diag(k->ctx, loop->loc, D_E0407,
		     "a loop over a group goes without groups in its grid, which lie along the "
		     "rows of the output\n"
		     "write for k in gA[m], over all of k, or write a kernel for each");
}

/* Where a CTA has one tile, its group follows from the CTA's number: what names it on the way is
 * put in. Else each role reads in each turn how long the loop is. */
void groups_read_first(Kernel *k)
{
	bool turns = attrs_int(&k->attrs, A_PERSISTENT, 0);
	Op *first = kernel_first(k);
	while (first && (op_rows[first->kind].flags & OPF_DECL || first->kind == OP_LAUNCH))
		first = first->next;
	for (Op *op = kernel_find(k, OP_GROUPS_AT), *next; op; op = next) {
		next = op_find_next(op, OP_GROUPS_AT);
		kernel_syms_most(k, IX(op, ROWS), MOST_ROWS);
		if (turns)
			continue;
		for (const Op *up = op->prev; up; up = up->prev)
			if (up->kind == OP_LET)
				IX(op, WHICH) =
					ix_subst(k->ctx, IX(op, WHICH), up->sym[0], IX(up, VALUE));
		if (op == first)
			continue;
		op_insert_before(first, op);
	}
}
