/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tiles.c - the grid becomes CTAs: a raster order in which groups of tile rows, that the CTAs of
 * one time read few rows of A and of B; the last group may be lower.
 *     grid m, n (R, C) { ... }
 * ->  launch (R * C, 1, 1)
 *     let m (cta / (G * C) * G + cta % (G * C) % height)
 *     let n (cta % (G * C) / height)
 *     ...
 * A cluster computes a block of tiles; the order is then of blocks, and what it depends on is the
 * cluster's number alone: all its CTAs make the same loops. Tiles beyond the edge load zeros and
 * store nothing.
 *     cluster=(2,1)  ->  let m (block * 2 + rank % 2) */
#include "passes/why.h"

#include <string.h>

enum {
	MOST_TILES = 1 << 30,
	MOST_CTAS = 1024,
	BEYOND = 1 << 21 /* elements that tiles beyond an edge may lie behind it */
};

typedef struct {
	Kernel *k;
	Op *at; /* new ops go before it */
} Here;

static const Ix *let(Here h, const char *name, const Ix *x)
{
	Op *op = op_before(h.k, h.at, OP_LET);
	op_sym(h.k, op, name);
	op_ix(h.k, op, x);
	return ix_sym(h.k->ctx, name);
}

static const Ix *let_fresh(Here h, const char *stem, const Ix *x)
{
	return let(h, kernel_fresh(h.k, stem), x);
}

/* min(x, extent - 1) is x, but says to range analysis what the raster formula hides. */
static const Ix *below(const Kernel *k, const Ix *x, const Ix *extent)
{
	return ix_new(k->ctx, IX_MIN, x, ix_sub(k->ctx, extent, ix_int(k, 1)));
}

/* ------------------------------------------------------------------ the plane */
/* What is ordered: tiles, or blocks of tiles that belong together (a cluster's, a box). */
typedef struct {
	const Op *grid;
	int64_t cluster[2], ctas; /* CTAs of a cluster along m, n; all */
	int64_t block[2];
	bool boxed;          /* blocks are not what a cluster computes at a time */
	const Ix *extent[2]; /* in blocks */
	const Ix *blocks;
} Plane;

static void shape_attr(const Kernel *k, AttrId id, int64_t shape[2])
{
	const Attr *a = attrs_get(&k->attrs, id);
	for (int i = 0; i < 2; i++)
		shape[i] = a && i < a->n ? a->i[i] : 1;
}

static void narrow(void *user, const char *name)
{
	kernel_sym(user, name, INT64_MIN, INT32_MAX - BEYOND, 1);
}

static Plane plane_of(Kernel *k, const Op *grid)
{
	Plane p = {.grid = grid, .blocks = ix_int(k, 1)};
	shape_attr(k, A_CLUSTER, p.cluster);
	shape_attr(k, A_CLUSTER, p.block);
	if (attrs_get(&k->attrs, A_TILE_BOX))
		shape_attr(k, A_TILE_BOX, p.block);
	p.ctas = p.cluster[0] * p.cluster[1];
	p.boxed = p.block[0] != p.cluster[0] || p.block[1] != p.cluster[1];
	for (int i = 0; i < grid->nix; i++) {
		const Ix *x = grid->ix[i];
		if (i < 2)
			p.extent[i] = x = ix_ceil_div(k->ctx, x, ix_int(k, p.block[i]));
		p.blocks = ix_mul(k->ctx, p.blocks, x);
		if (p.block[0] * p.block[1] > 1)
			ix_names(grid->ix[i], narrow, k);
	}
	return p;
}

/* A number behind the last box's is beyond the plane, and stays so. */
static const Ix *within(Here h, const Plane *p, const Ix *x, int mode)
{
	if (p->boxed)
		return ix_new(h.k->ctx, IX_MIN, x, p->extent[mode]);
	return below(h.k, x, p->extent[mode]);
}

static const Ix *at_least_one(Here h, const Plane *p, const Ix *x)
{
	return p->boxed ? ix_new(h.k->ctx, IX_MAX, x, ix_int(h.k, 1)) : x;
}

/* Behind the block comes the place in it. */
static void let_mode(Here h, const Plane *p, int mode, const Ix *block, const Ix *in)
{
	Ctx *c = h.k->ctx;
	block = ix_mul(c, within(h, p, block, mode), ix_int(h.k, p->block[mode]));
	const Ix *m = ix_int(h.k, p->block[0]);
	const Ix *place = mode == 0 ? ix_mod(c, in, m) : ix_div(c, in, m);
	if (p->block[mode] > 1)
		block = ix_add(c, block, place);
	let(h, p->grid->sym[mode], block);
}

/* ------------------------------------------------------------------ orders */
/* Unless the schedule says: so many tiles (or blocks of a cluster) high that what all SMs compute
 * at one time is about a square, which reads the fewest rows of A and of B together. */
static int64_t group_of_square(const Kernel *k, int grouped)
{
	const Attr *cluster = attrs_get(&k->attrs, A_CLUSTER);
	const Op *mma = kernel_find(k, OP_MMA);
	int64_t at_once = target_by_name(k->target)->sms, side[2], group = 1;
	for (int i = 0; i < 2; i++) {
		int64_t ctas = cluster && i < cluster->n ? cluster->i[i] : 1;
		side[i] = ctas * (mma ? val_extent(mma->in[0].val, i) : 1);
		at_once /= ctas;
	}
	while ((group + 1) * (group + 1) * side[grouped] <= at_once * side[1 - grouped])
		group++;
	return group;
}

/* Groups of `group` tiles along one mode (m when the schedule does not say) share a sweep along the
 * other; serpentine sweeps turn back instead of starting over: what is in the L2 is used. */
static void raster_2d(Here h, const Plane *p, const Ix *tile, const Ix *in)
{
	Ctx *c = h.k->ctx;
	const Attrs *schedule = &h.k->attrs;
	int64_t g = attrs_int(schedule, A_GROUP, 0);
	int grouped = !strcmp(attrs_str(schedule, A_ALONG, "m"), "n"), swept = 1 - grouped;
	if (!g) {
		g = group_of_square(h.k, grouped);
		why_group(h.k, g);
	}
	const Ix *group = ix_int(h.k, g);
	const Ix *rows = let_fresh(h, "rows", p->extent[grouped]);
	const Ix *cols = let_fresh(h, "cols", p->extent[swept]);
	Plane named = *p;
	named.extent[grouped] = rows;
	named.extent[swept] = cols;
	const Ix *sweep = ix_mul(c, group, cols), *which = ix_div(c, tile, sweep);
	const Ix *first = let_fresh(h, "first", ix_mul(c, which, group));
	const Ix *left = ix_new(c, IX_MIN, group, ix_sub(c, rows, first));
	const Ix *height = let_fresh(h, "height", at_least_one(h, p, left));
	const Ix *rest = let_fresh(h, "rest", ix_mod(c, tile, sweep));
	const Ix *along = ix_div(c, rest, height);
	if (attrs_int(schedule, A_SERPENTINE, 0)) {
		const Ix *last = ix_sub(c, cols, ix_int(h.k, 1));
		const Ix *back = ix_sub(c, last, ix_mul(c, along, ix_int(h.k, 2)));
		if (p->boxed)
			back = ix_mul(c, back, ix_new(c, IX_LT, along, cols));
		along = ix_add(c, along, ix_mul(c, ix_mod(c, which, ix_int(h.k, 2)), back));
	}
	let_mode(h, &named, grouped, ix_add(c, first, ix_mod(c, rest, height)), in);
	let_mode(h, &named, swept, along, in);
}

/* Bands of RM rows; in a band, fields of RN columns; in a field, n first. The last of each may be
 * smaller. */
static void raster_fields(Here h, const Plane *p, const Ix *tile, const Ix *in)
{
	Ctx *c = h.k->ctx;
	int64_t shape[2];
	shape_attr(h.k, A_RASTER, shape);
	const Ix *rm = ix_int(h.k, shape[0]), *rn = ix_int(h.k, shape[1]);
	Plane named = *p;
	const Ix *rows = named.extent[0] = let_fresh(h, "rows", p->extent[0]);
	const Ix *cols = named.extent[1] = let_fresh(h, "cols", p->extent[1]);
	const Ix *band = ix_mul(c, rm, cols);
	const Ix *first = let_fresh(h, "first", ix_mul(c, ix_div(c, tile, band), rm));
	const Ix *left = ix_new(c, IX_MIN, rm, ix_sub(c, rows, first));
	const Ix *height = let_fresh(h, "height", at_least_one(h, p, left));
	const Ix *rest = let_fresh(h, "rest", ix_mod(c, tile, band)),
		 *field = ix_mul(c, rn, height);
	const Ix *side = let_fresh(h, "side", ix_mul(c, ix_div(c, rest, field), rn));
	left = ix_new(c, IX_MIN, rn, ix_sub(c, cols, side));
	const Ix *width = let_fresh(h, "width", at_least_one(h, p, left));
	const Ix *at = let_fresh(h, "at", ix_mod(c, rest, field));
	let_mode(h, &named, 0, ix_add(c, first, ix_div(c, at, width)), in);
	let_mode(h, &named, 1, ix_add(c, side, ix_mod(c, at, width)), in);
}

static void raster_plain(Here h, const Op *grid, const Ix *tile)
{
	Ctx *c = h.k->ctx;
	for (int i = 0; i < grid->nsym; i++) {
		bool last = i == grid->nsym - 1;
		let(h, grid->sym[i],
		    below(h.k, last ? tile : ix_mod(c, tile, grid->ix[i]), grid->ix[i]));
		tile = ix_div(c, tile, grid->ix[i]);
	}
}

/* `step` is what the cluster computes at a time: a block, or as many tiles of the boxes as it has
 * CTAs. */
static void raster(Here h, const Plane *p, const Ix *step)
{
	Ctx *c = h.k->ctx;
	const Ix *in = ix_sym(c, "rank"), *block = step;
	if (p->boxed) {
		const Ix *tiles = ix_int(h.k, p->block[0] * p->block[1]);
		const Ix *tile = ix_add(c, ix_mul(c, step, ix_int(h.k, p->ctas)), in);
		if (p->ctas == 1)
			tile = step;
		block = let_fresh(h, "box", ix_div(c, tile, tiles));
		in = let_fresh(h, "in", ix_mod(c, tile, tiles));
	}
	if (p->grid->nsym != 2)
		raster_plain(h, p->grid, block);
	else if (attrs_get(&h.k->attrs, A_RASTER))
		raster_fields(h, p, block, in);
	else
		raster_2d(h, p, block, in);
}

/* ------------------------------------------------------------------ launches */
static const Ix *step_count(const Kernel *k, const Plane *p)
{
	if (!p->boxed)
		return p->blocks;
	const Ix *tiles = ix_mul(k->ctx, p->blocks, ix_int(k, p->block[0] * p->block[1]));
	return ix_ceil_div(k->ctx, tiles, ix_int(k, p->ctas));
}

static void launch(Here h, const Plane *p, const Ix *clusters)
{
	const Ix *one = ix_int(h.k, 1);
	Op *op = op_new(h.k, OP_LAUNCH, p->grid->loc);
	op_ix(h.k, op, ix_mul(h.k->ctx, clusters, ix_int(h.k, p->ctas)));
	op_ix(h.k, op, one);
	op_ix(h.k, op, one);
	op_insert_before(kernel_first(h.k), op);
}

/* A cluster of one CTA goes by the CTA's names. */
static const Ix *me(const Kernel *k, const Plane *p)
{
	return ix_sym(k->ctx, p->ctas == 1 ? "cta" : "cluster");
}

static const Ix *at_once(const Kernel *k, const Plane *p)
{
	const Ix *sms = ix_sym(k->ctx, "sms");
	if (p->ctas == 1)
		return sms;
	return ix_new(k->ctx, IX_MAX, ix_div(k->ctx, sms, ix_int(k, p->ctas)), ix_int(k, 1));
}

/* A CTA computes the tiles cta, cta + ctas, ...: as many CTAs as run at once; with clusters, these.
 * Bounds that hold by the launch are spelled as min, for range analysis. */
static void persistent(Here h, const Plane *p, Op *grid)
{
	Kernel *k = h.k;
	Ctx *c = k->ctx;
	const Ix *most = ix_int(k, MOST_TILES), *all = step_count(k, p);
	launch(h, p, ix_new(c, IX_MIN, all, at_once(k, p)));
	kernel_fact(k, ix_new(c, IX_LE, all, most), "tiles <= 1073741824",
		    "tiles are counted in 32 bits", grid->loc);
	const Ix *tiles = let_fresh(h, "tiles", ix_new(c, IX_MIN, all, most));
	const Ix *first = let_fresh(h, "me", ix_new(c, IX_MIN, me(k, p), ix_int(k, MOST_CTAS - 1)));
	const Ix *ctas = ix_sym(c, p->ctas == 1 ? "ctas" : "clusters");
	const Ix *step = let_fresh(h, "step", ix_new(c, IX_MIN, ctas, ix_int(k, MOST_CTAS)));
	Op *loop = op_before(k, grid, OP_FOR);
	const char *name = kernel_fresh(k, "t");
	op_sym(k, loop, name);
	op_ix(k, loop, ix_int(k, 0));
	op_ix(k, loop, ix_ceil_div(c, ix_sub(c, tiles, first), step));
	op_remove(grid);
	block_append(op_body(k, loop), grid);
	const Ix *tile = ix_add(c, first, ix_mul(c, ix_sym(c, name), step));
	raster(h, p, let_fresh(h, "tile", below(k, tile, tiles)));
}

static bool check_cluster(Kernel *k, const Plane *p)
{
	int most = target_by_name(k->target)->cluster_max;
	bool ordered = p->block[0] * p->block[1] > 1 || attrs_get(&k->attrs, A_RASTER);
	if (p->ctas > most)
		diag(k->ctx, p->grid->loc, D_E0407,
		     "a cluster of %d x %d CTAs is more than the %d there can be",
		     (int)p->cluster[0], (int)p->cluster[1], most);
	else if ((p->ctas > 1 || ordered) && p->grid->nsym != 2)
		diag(k->ctx, p->grid->loc, D_E0407,
		     "clusters and boxes need a grid of two modes, this has %d", p->grid->nsym);
	return !pass_failed(k);
}

void pass_tiles(Kernel *k)
{
	Op *grid = kernel_find(k, OP_GRID);
	if (!grid)
		panic("kernel %s has no grid", k->name);
	Here h = {k, grid};
	Plane p = plane_of(k, grid);
	if (!check_cluster(k, &p))
		return;
	if (attrs_int(&k->attrs, A_PERSISTENT, 0)) {
		persistent(h, &p, grid);
	} else {
		launch(h, &p, step_count(k, &p));
		raster(h, &p, me(k, &p));
	}
	op_unwrap(grid);
}
