/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* interp_grid.c - the reference interpreter's grids: tiles of an output one by one, or those of
 * groups of rows, whose ends a tensor holds.
 *     ends 130, 130, 200 of 180 rows, tiles of 128  ->  0 (0..130): rows 0, 128; 2 (130..180): 130
 * An end counts as at least the one before it, and as at most all rows. With counts=1
 * each group has as many rows of its own, and it says how many of them are used. */
#include "ir/interp.h"

enum { GROUP, FIRST, LAST, BEFORE };

typedef struct {
	int64_t groups, rows, tile;
	bool counts; /* rows are those of each group, of which so many are used */
	double *end;
} Groups;

static bool groups_of(Interp *in, const Op *op, Groups *g)
{
	const Slot *ends = interp_operand(in, op, 0);
	g->tile = attrs_int(&op->attrs, A_ROWS, 1);
	if (!interp_eval(in, IX(op, GROUPS), &g->groups) ||
	    !interp_eval(in, IX(op, ROWS), &g->rows))
		return false;
	g->counts = attrs_int(&op->attrs, A_COUNTS, 0);
	if (g->groups > ends->n)
		return interp_fail(in, "there are more groups than ends");
	g->end = interp_elements(in, ends);
	return true;
}

static int64_t tiles_of(const Groups *g, const int64_t *at)
{
	return (at[LAST] - at[FIRST] + g->tile - 1) / g->tile;
}

/* The group after at, or the first where that is empty and its number -1. */
static bool next_group(const Groups *g, int64_t *at)
{
	int64_t i = at[GROUP] + 1;
	at[BEFORE] += tiles_of(g, at);
	at[FIRST] = g->counts ? 0 : at[LAST];
	at[GROUP] = i;
	if (i >= g->groups)
		return false;
	at[LAST] = g->end[i] < (double)at[FIRST] ? at[FIRST] : (int64_t)g->end[i];
	at[LAST] = at[LAST] > g->rows ? g->rows : at[LAST];
	return true;
}

bool run_count(Interp *in, const Op *op)
{
	Groups g;
	int64_t at[4] = {-1, 0, 0, 0};
	if (!groups_of(in, op, &g))
		return false;
	while (next_group(&g, at))
		;
	interp_bind(in, op->sym[0], at[BEFORE]);
	return true;
}

bool run_find(Interp *in, const Op *op)
{
	Groups g;
	int64_t at[4] = {-1, 0, 0, 0}, x;
	if (!groups_of(in, op, &g) || !interp_eval(in, IX(op, WHICH), &x))
		return false;
	while (next_group(&g, at))
		if (x < at[BEFORE] + tiles_of(&g, at))
			break;
	if (at[GROUP] >= g.groups)
		return interp_fail(in, "no group has the tile");
	for (int i = 0; i < op->nsym; i++)
		interp_bind(in, op->sym[i], at[i]);
	return true;
}

bool run_at(Interp *in, const Op *op)
{
	Groups g;
	int64_t at[4] = {-1, 0, 0, 0}, group;
	if (!groups_of(in, op, &g) || !interp_eval(in, IX(op, WHICH), &group))
		return false;
	while (at[GROUP] < group && next_group(&g, at))
		;
	if (at[GROUP] != group || group >= g.groups)
		return interp_fail(in, "there is no such group");
	interp_bind(in, op->sym[0], at[FIRST]);
	interp_bind(in, op->sym[1], at[LAST]);
	interp_bind(in, op->sym[2], at[LAST] - at[FIRST]);
	return true;
}

/* ------------------------------------------------------------------ tickets */
/* Any order of draws is one of a run: here all draw by turns. */
bool run_tickets(Interp *in, const Op *op)
{
	int64_t first, tiles, step;
	if (!interp_eval(in, IX(op, FIRST), &first) || !interp_eval(in, IX(op, TILES), &tiles) ||
	    !interp_eval(in, IX(op, STEP), &step))
		return false;
	interp_bind(in, op->sym[0], first < tiles ? (tiles - first + step - 1) / step : 0);
	return true;
}

bool run_ticket(Interp *in, const Op *op)
{
	int64_t tile;
	if (!interp_eval(in, IX(op, WHICH), &tile))
		return false;
	interp_bind(in, op->sym[0], tile);
	return true;
}

/* ------------------------------------------------------------------ grids */
typedef struct {
	Interp *in;
	const Op *op;
	int64_t extent[MAX_RANK], at[MAX_RANK];
	int64_t ran; /* tiles so far */
} Grid;

/* All tiles of the names from `from` on. */
static bool run_tiles(Grid *g, int from)
{
	int n = g->op->nix;
	int64_t tiles = 1;
	for (int i = from; i < n; i++) {
		if (g->extent[i] <= 0)
			return true;
		if (tiles > INT64_MAX / g->extent[i])
			return interp_fail(g->in, "the grid has more than 2^63 tiles");
		tiles *= g->extent[i];
	}
	for (int64_t t = 0; t < tiles; t++) {
		int64_t rest = t;
		for (int i = from; i < n; i++, rest /= g->extent[i - 1])
			g->at[i] = rest % g->extent[i];
		if (interp_wanted(g->in, g->ran++) &&
		    !interp_with(g->in, g->op->sym, g->at, n, g->op->body))
			return false;
	}
	return true;
}

static bool run_group_tiles(Grid *g)
{
	Groups of;
	int64_t at[4] = {-1, 0, 0, 0};
	if (!groups_of(g->in, g->op, &of))
		return false;
	while (next_group(&of, at))
		for (int64_t row = at[FIRST]; row < at[LAST]; row += of.tile) {
			g->at[GROUP] = at[GROUP];
			g->at[FIRST] = row;
			g->at[LAST] = at[LAST];
			if (!run_tiles(g, LAST + 1))
				return false;
		}
	return true;
}

bool run_grid(Interp *in, const Op *op)
{
	Grid g = {.in = in, .op = op};
	if (op->nix > MAX_RANK)
		return interp_fail(in, "a grid has at most five coordinates");
	for (int i = 0; i < op->nix; i++)
		if (!interp_eval(in, op->ix[i], &g.extent[i]))
			return false;
	return op->nin ? run_group_tiles(&g) : run_tiles(&g, 0);
}
