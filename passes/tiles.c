/* tiles.c - the grid becomes CTAs: how many there are (launch), and which tile each computes
 * (lets). In two dimensions `group` tile rows share a sweep along n, so that the CTAs that run at
 * one time read few rows of A and of B; the last group may be lower. grid m, n (R, C) { ... }
 * ->  launch (R * C, 1, 1)
 *     let m (cta / (G * C) * G + cta % (G * C) % height)
 *     let n (cta % (G * C) / height)
 *     ... */
#include "passes/why.h"

#include <string.h>

enum { DEFAULT_GROUP = 16, MOST_TILES = 1 << 30, MOST_CTAS = 1024 };

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

/* Groups of `group` tiles along one mode (m when the schedule does not say) share a sweep along the
 * other; serpentine sweeps turn back instead of starting over: what is in the L2 is used. */
static void raster_2d(Here h, const Op *grid, const Ix *tile)
{
	Ctx *c = h.k->ctx;
	const Attrs *schedule = &h.k->attrs;
	int64_t g = attrs_int(schedule, A_GROUP, 0);
	int grouped = !strcmp(attrs_str(schedule, A_ALONG, "m"), "n"), swept = 1 - grouped;
	const Ix *group = ix_int(h.k, g ? g : DEFAULT_GROUP);
	if (!g)
		why_group(h.k, DEFAULT_GROUP);
	const Ix *rows = let_fresh(h, "rows", grid->ix[grouped]);
	const Ix *cols = let_fresh(h, "cols", grid->ix[swept]);
	const Ix *sweep = ix_mul(c, group, cols), *which = ix_div(c, tile, sweep);
	const Ix *first = let_fresh(h, "first", ix_mul(c, which, group));
	const Ix *height = let_fresh(h, "height", ix_new(c, IX_MIN, group, ix_sub(c, rows, first)));
	const Ix *rest = let_fresh(h, "rest", ix_mod(c, tile, sweep));
	const Ix *along = ix_div(c, rest, height);
	if (attrs_int(schedule, A_SERPENTINE, 0)) {
		const Ix *last = ix_sub(c, cols, ix_int(h.k, 1));
		const Ix *back = ix_sub(c, last, ix_mul(c, along, ix_int(h.k, 2)));
		along = ix_add(c, along, ix_mul(c, ix_mod(c, which, ix_int(h.k, 2)), back));
	}
	let(h, grid->sym[grouped], below(h.k, ix_add(c, first, ix_mod(c, rest, height)), rows));
	let(h, grid->sym[swept], below(h.k, along, cols));
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

static const Ix *tile_count(const Kernel *k, const Op *grid)
{
	const Ix *tiles = ix_int(k, 1);
	for (int i = 0; i < grid->nix; i++)
		tiles = ix_mul(k->ctx, tiles, grid->ix[i]);
	return tiles;
}

static void launch(Here h, const Op *grid, const Ix *ctas)
{
	const Ix *one = ix_int(h.k, 1);
	Op *op = op_new(h.k, OP_LAUNCH, grid->loc);
	op_ix(h.k, op, ctas);
	op_ix(h.k, op, one);
	op_ix(h.k, op, one);
	op_insert_before(kernel_first(h.k), op);
}

static void raster(Here h, const Op *grid, const Ix *tile)
{
	if (grid->nsym == 2)
		raster_2d(h, grid, tile);
	else
		raster_plain(h, grid, tile);
}

/* A CTA computes the tiles cta, cta + ctas, ...: as many CTAs as run at once. Bounds that hold by
 * the launch are spelled as min, for range analysis. */
static void persistent(Here h, Op *grid)
{
	Kernel *k = h.k;
	Ctx *c = k->ctx;
	const Ix *most = ix_int(k, MOST_TILES), *all = tile_count(k, grid);
	launch(h, grid, ix_new(c, IX_MIN, all, ix_sym(c, "sms")));
	kernel_fact(k, ix_new(c, IX_LE, all, most), "tiles <= 1073741824",
		    "tiles are counted in 32 bits", grid->loc);
	const Ix *tiles = let_fresh(h, "tiles", ix_new(c, IX_MIN, all, most));
	const Ix *first =
		let_fresh(h, "me", ix_new(c, IX_MIN, ix_sym(c, "cta"), ix_int(k, MOST_CTAS - 1)));
	const Ix *step =
		let_fresh(h, "step", ix_new(c, IX_MIN, ix_sym(c, "ctas"), ix_int(k, MOST_CTAS)));
	Op *loop = op_before(k, grid, OP_FOR);
	const char *name = kernel_fresh(k, "t");
	op_sym(k, loop, name);
	op_ix(k, loop, ix_int(k, 0));
	op_ix(k, loop, ix_ceil_div(c, ix_sub(c, tiles, first), step));
	op_remove(grid);
	block_append(op_body(k, loop), grid);
	const Ix *tile = ix_add(c, first, ix_mul(c, ix_sym(c, name), step));
	raster(h, grid, let_fresh(h, "tile", below(k, tile, tiles)));
}

void pass_tiles(Kernel *k)
{
	Op *grid = kernel_find(k, OP_GRID);
	if (!grid)
		panic("kernel %s has no grid", k->name);
	Here h = {k, grid};
	if (attrs_int(&k->attrs, A_PERSISTENT, 0)) {
		persistent(h, grid);
	} else {
		launch(h, grid, tile_count(k, grid));
		raster(h, grid, ix_sym(k->ctx, "cta"));
	}
	op_unwrap(grid);
}
