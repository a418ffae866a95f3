/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tiles.c - the grid becomes CTAs: a raster order in which groups of tile rows, that the CTAs of
 * one time read few rows of A and of B; the last group may be lower.
 *     grid m, n (R, C) { ... }
 * ->  launch (R * C, 1, 1)
 *     let m (cta / (G * C) * G + cta % (G * C) % height)
 *     let n (cta % (G * C) / height)
 *     ...
 * Matrices of a batch follow each other: the names of their modes change slowest.
 *     grid l, m, n (L, R, C)  ->  let plane (R * C)  let l (cta / plane)  let block (cta % plane)
 * A cluster computes a block of tiles; the order is then of blocks, and what it depends on is the
 * cluster's number alone: all its CTAs make the same loops. Tiles beyond the edge load zeros and
 * store nothing.
 *     cluster=(2,1)  ->  let m (block * 2 + rank % 2)
 * With split_k=4 a cluster has four times as many CTAs, and those 2 ranks apart the same tile. */
#include "passes/tile/tiles.h"
#include "passes/why.h"

#include <string.h>

const Ix *tiles_let(Here h, const char *stem, const Ix *x)
{
	return op_let(h.k, h.at, kernel_fresh(h.k, stem), x);
}

/* min(x, extent - 1) is x, but says to range analysis what the raster formula hides. */
const Ix *tiles_below(const Kernel *k, const Ix *x, const Ix *extent)
{
	return ix_new(k->ctx, IX_MIN, x, ix_sub(k->ctx, extent, ix_int(k, 1)));
}

/* ------------------------------------------------------------------ the plane */
/* The grid's name that an output's tile goes along with. */
static int name_of(const Op *grid, const Ix *at)
{
	for (int i = 0; i < grid->nsym; i++)
		if (ix_uses(at, grid->sym[i]))
			return i;
	return NONE;
}

/* The name that the tile goes along with: where indices name its rows, theirs does. */
static int name_of_mode(const Kernel *k, const Op *grid, const Val *tile, int mode)
{
	const Val *names = tile_indices(tile);
	int name = name_of(grid, tile_at(k, tile, mode));
	if (!names || tile_mode(k, tile, mode) != attrs_int(&tile->def->attrs, A_GATHER, 0))
		return name;
	for (int i = 0; i < names->def->nix && name == NONE; i++)
		name = name_of(grid, names->def->ix[i]);
	return name;
}

/* A name that is known to be 0 is in no index any more: that of one tile, not of the other mode. */
static int name_of_one(const Op *grid, int other)
{
	for (int i = 0; i < grid->nsym; i++)
		if (i != other && ix_is(grid->ix[i], 1))
			return i;
	return NONE;
}

/* How many names of the grid the tile's matrix goes along with. */
static int names_of(const Kernel *k, const Op *grid, const Val *tile)
{
	return (name_of_mode(k, grid, tile, 0) != NONE) + (name_of_mode(k, grid, tile, 1) != NONE);
}

/* Of the tiles that are written (joined: that are joined to), the first with most elements; of
 * joined ones, those that go along with most names of the grid come first. The others hold a value
 * for each row or group of rows. NULL: there is none. */
static const Val *largest_tile(const Kernel *k, const Op *grid, bool joined)
{
	const Val *most = NULL;
	int64_t elements = 0;
	int names = 0;
	for (const Op *op = kernel_find(k, OP_COPY); op; op = op_find_next(op, OP_COPY)) {
		const Val *to = IN(op, TO).val;
		if (!to->def || to->def->kind != OP_TILE || joined != !!combine_of(op))
			continue;
		int has = joined ? names_of(k, grid, to) : 0;
		int64_t n = (int64_t)val_extent(to, tile_mode(k, to, 0)) *
			    val_extent(to, tile_mode(k, to, 1));
		if (has < names || (has == names && n <= elements))
			continue;
		most = to;
		elements = n;
		names = has;
	}
	return most;
}

/* What is only joined to shapes the plane where it is a matrix, or has rows of a group. */
static const Val *output_tile(const Kernel *k, const Op *grid)
{
	const Val *to = largest_tile(k, grid, false);
	const Val *joined = to ? NULL : largest_tile(k, grid, true);
	bool matrix = joined && val_extent(joined, tile_mode(k, joined, 0)) > 1 &&
		      val_extent(joined, tile_mode(k, joined, 1)) > 1;
	return matrix || (joined && grid->nin) ? joined : to;
}

/* Along the modes of the output's matrix; where nothing is stored, along the first. */
static void plane_tile(const Kernel *k, Plane *p)
{
	const Val *to = p->to = output_tile(k, p->grid);
	int *name = p->name;
	for (int i = 0; i < 2; i++) {
		name[i] = to ? name_of_mode(k, p->grid, to, i) : i < p->grid->nsym ? i : NONE;
		p->tile[i] = to ? val_extent(to, tile_mode(k, to, i)) : 1;
	}
	for (int i = 0; i < 2 && to; i++)
		name[i] = name[i] == NONE ? name_of_one(p->grid, name[1 - i]) : name[i];
}

static bool in_plane(const Plane *p, int name)
{
	return name == p->name[0] || name == p->name[1];
}

static void cluster_shape(const Kernel *k, int64_t shape[2])
{
	const Attr *a = attrs_get(&k->attrs, A_CLUSTER);
	for (int i = 0; i < 2; i++)
		shape[i] = a && i < a->n ? a->i[i] : 1;
}

static void plane_extents(Kernel *k, Plane *p)
{
	Ctx *c = k->ctx;
	for (int i = 0; i < 2; i++)
		p->extent[i] = ix_int(k, 1);
	for (int i = 0; i < p->grid->nix; i++) {
		const Ix *x = p->grid->ix[i];
		if (!in_plane(p, i)) {
			p->all = ix_mul(c, p->all, x);
			continue;
		}
		int mode = i == p->name[1];
		p->extent[mode] = x = ix_ceil_div(c, x, ix_int(k, p->cluster[mode]));
		p->blocks = ix_mul(c, p->blocks, x);
		if (p->cluster[0] * p->cluster[1] > 1)
			kernel_syms_most(k, p->grid->ix[i], INT32_MAX - BEYOND);
	}
	p->all = ix_mul(c, p->all, p->blocks);
}

static Plane plane_of(Kernel *k, const Op *grid)
{
	Plane p = {.grid = grid, .blocks = ix_int(k, 1), .all = ix_int(k, 1)};
	plane_tile(k, &p);
	cluster_shape(k, p.cluster);
	p.ctas = p.cluster[0] * p.cluster[1];
	p.shares = split_by_workspace(k) ? split_parts(k) : 1;
	p.parts = split_parts(k) / p.shares;
	plane_extents(k, &p);
	return p;
}

/* After the block comes the place in it. */
static void let_mode(Here h, const Plane *p, int mode, const Ix *block, const Ix *in)
{
	Ctx *c = h.k->ctx;
	if (p->name[mode] == NONE)
		return;
	block = longest_first(h.k, p, mode, block);
	block = ix_mul(c, block, ix_int(h.k, p->cluster[mode]));
	const Ix *m = ix_int(h.k, p->cluster[0]);
	const Ix *place = mode == 0 ? ix_mod(c, in, m) : ix_div(c, in, m);
	if (p->cluster[mode] > 1)
		block = ix_add(c, block, place);
	if (mode == 0 && p->row)
		block = ix_add(c, p->row, ix_mul(c, block, ix_int(h.k, p->tile[0])));
	op_let(h.k, h.at, p->grid->sym[p->name[mode]], block);
}

/* ------------------------------------------------------------------ orders */
/* Unless the schedule says: so many tiles (or blocks of a cluster) high that what all SMs compute
 * at one time is about a square, which reads the fewest rows of A and of B together. */
static int64_t group_of_square(const Kernel *k, const Plane *p, int grouped)
{
	int64_t at_once = target_by_name(k->target)->sms * kernel_ctas(k), side[2], group = 1;
	for (int i = 0; i < 2; i++) {
		side[i] = p->cluster[i] * p->tile[i];
		at_once /= p->cluster[i] * (i ? 1 : p->parts * p->shares);
	}
	while ((group + 1) * (group + 1) * side[grouped] <= at_once * side[1 - grouped])
		group++;
	return group;
}

/* Of a kernel without an mma, tiles that run at one time are neighbours along the mode in which the
 * output is contiguous, a few abreast, so that what is written and what is read lies together:
 *     D[n,m] = X[m,n], 8192 x 8192, tiles of 128 x 128: 68.7 us, so 66.7 us
 * An order of tiles of a product goes by what is read twice instead. */
enum { GROUP_OF_MOVES = 4 };

/* Which of the two modes is grouped, and how many tiles of it. */
static int grouped_mode(Kernel *k, const Plane *p, int64_t *group)
{
	const char *along = attrs_str(&k->attrs, A_ALONG, NULL);
	*group = attrs_int(&k->attrs, A_GROUP, along ? GROUP_OF_MOVES : 0);
	if (*group)
		return along && !strcmp(along, "n");
	/* A group of several rows would begin with its longest, and end with its shortest. */
	int mode = tickets_drawn(k) ? lengths_differ_along(k, p) : NONE;
	if (mode != NONE) {
		*group = 1;
		kernel_str(k, A_ALONG, mode ? "n" : "m");
		why_group(k, *group, GROUP_LENGTHS);
		return mode;
	}
	if (kernel_multiplies(k)) {
		*group = group_of_square(k, p, 0);
		why_group(k, *group, GROUP_SQUARE);
		return 0;
	}
	bool rows = p->to && ix_is(tile_stride(k, p->to, 0), 1);
	*group = GROUP_OF_MOVES;
	kernel_str(k, A_ALONG, rows ? "n" : "m");
	why_group(k, *group, GROUP_MOVES);
	return rows;
}

/* Groups of `group` tiles along one mode share a sweep along the other. */
static void raster_2d(Here h, const Plane *p, const Ix *tile, const Ix *in)
{
	Ctx *c = h.k->ctx;
	int64_t g;
	int grouped = grouped_mode(h.k, p, &g), swept = 1 - grouped;
	const Ix *group = ix_int(h.k, g);
	const Ix *rows = tiles_let(h, "rows", p->extent[grouped]);
	const Ix *cols = tiles_let(h, "cols", p->extent[swept]);
	Plane named = *p;
	named.extent[grouped] = rows;
	named.extent[swept] = cols;
	const Ix *sweep = ix_mul(c, group, cols);
	const Ix *first = tiles_let(h, "first", ix_mul(c, ix_div(c, tile, sweep), group));
	const Ix *left = ix_new(c, IX_MIN, group, ix_sub(c, rows, first));
	const Ix *height = tiles_let(h, "height", left);
	const Ix *rest = tiles_let(h, "rest", ix_mod(c, tile, sweep));
	let_mode(h, &named, grouped, ix_add(c, first, ix_mod(c, rest, height)), in);
	let_mode(h, &named, swept, ix_div(c, rest, height), in);
}

/* Whether a matrix has tiles along one mode only. */
static bool is_line(const Plane *p)
{
	return p->name[0] == NONE || p->name[1] == NONE;
}

enum { MATRICES_OF_SECTION = 16 };

static int matrix_names(const Plane *p)
{
	int n = 0;
	for (int i = 0; i < p->grid->nsym; i++)
		n += !in_plane(p, i);
	return n;
}

/* Names the matrix of a batch. The last name counts fastest (last), or the first. */
static void let_matrix(Here h, const Plane *p, const Ix *matrix, bool last)
{
	Ctx *c = h.k->ctx;
	const Op *grid = p->grid;
	int left = matrix_names(p);
	for (int n = 0; n < grid->nsym; n++) {
		int i = last ? grid->nsym - 1 - n : n;
		if (in_plane(p, i))
			continue;
		const Ix *at = --left ? ix_mod(c, matrix, grid->ix[i]) : matrix;
		op_let(h.k, h.at, grid->sym[i], tiles_below(h.k, at, grid->ix[i]));
		matrix = ix_div(c, matrix, grid->ix[i]);
		if (last && left) /* divisors of 32 bits, in place of their product */
			matrix = tiles_let(h, "matrix", matrix);
	}
}

/* Tiles of a matrix differ in length: a group of matrices shares a sweep over them. The longest
 * tiles of the group go first, and what they read stays in L2. `blocks` bounds the block's
 * number. */
static const Ix *raster_sections(Here h, const Plane *p, const Ix *block, const Ix *plane,
				 const Ix *blocks)
{
	Ctx *c = h.k->ctx;
	const Ix *matrices = ix_int(h.k, 1);
	for (int i = 0; i < p->grid->nsym; i++)
		matrices = in_plane(p, i) ? matrices : ix_mul(c, matrices, p->grid->ix[i]);
	int64_t most = attrs_int(&h.k->attrs, A_GROUP, MATRICES_OF_SECTION);
	const Ix *group = ix_int(h.k, most), *one = ix_int(h.k, 1);
	const Ix *sweep = tiles_let(h, "sweep", ix_new(c, IX_MIN, ix_mul(c, group, plane), blocks));
	const Ix *first = tiles_let(h, "first", ix_mul(c, ix_div(c, block, sweep), group));
	const Ix *left = ix_new(c, IX_MIN, group, ix_sub(c, matrices, first));
	const Ix *height = tiles_let(h, "height", ix_new(c, IX_MAX, left, one));
	const Ix *rest = tiles_let(h, "rest", ix_mod(c, block, sweep));
	why_group(h.k, most, GROUP_SECTIONS);
	const Ix *matrix = ix_add(c, first, ix_mod(c, rest, height));
	let_matrix(h, p, tiles_let(h, "matrix", ix_new(c, IX_MIN, matrix, blocks)), true);
	return tiles_let(h, "block", ix_div(c, rest, height));
}

/* The block's number in its matrix of a batch. Where a block is a launched CTA's, or one of those
 * that are counted in 32 bits, so is the number of blocks of a matrix. */
static const Ix *raster_batch(Here h, const Plane *p, const Ix *block)
{
	Ctx *c = h.k->ctx;
	bool counted = attrs_int(&h.k->attrs, A_PERSISTENT, 0);
	const Ix *most = ix_int(h.k, counted ? MOST_TILES : INT32_MAX);
	if (!matrix_names(p))
		return block;
	const Ix *plane = tiles_let(h, "plane", ix_new(c, IX_MIN, p->blocks, most));
	if (is_line(p) && lengths_differ_along(h.k, p) != NONE)
		return raster_sections(h, p, block, plane, most);
	let_matrix(h, p, ix_div(c, block, plane), false);
	return tiles_let(h, "block", ix_mod(c, block, plane));
}

/* Tiles along one mode. */
static void raster_1d(Here h, const Plane *p, const Ix *block, const Ix *in)
{
	for (int i = 0; i < 2; i++)
		let_mode(h, p, i, block, in);
}

void tiles_raster(Here h, const Plane *p, const Ix *block, const Ix *in)
{
	if (is_line(p))
		raster_1d(h, p, block, in);
	else
		raster_2d(h, p, block, in);
}

static void raster(Here h, const Plane *p, const Ix *block)
{
	Ctx *c = h.k->ctx;
	const Ix *in = ix_mod(c, ix_sym(c, "rank"), ix_int(h.k, p->ctas));
	if (p->parts == 1)
		in = ix_sym(c, "rank");
	tiles_raster(h, p, raster_batch(h, p, block), in);
}

/* ------------------------------------------------------------------ launches */
void tiles_launch(Here h, const Plane *p, const Ix *clusters)
{
	const Ix *one = ix_int(h.k, 1);
	Op *op = op_new(h.k, OP_LAUNCH, p->grid->loc);
	int64_t each = p->ctas * p->parts * p->shares;
	op_ixs(h.k, op, ix_mul(h.k->ctx, clusters, ix_int(h.k, each)), one, one);
	op_insert_before(kernel_first(h.k), op);
}

/* A cluster of one CTA goes by the CTA's names. */
static bool is_alone(const Plane *p)
{
	return p->ctas * p->parts == 1;
}

const Ix *tiles_me(const Kernel *k, const Plane *p)
{
	const Ix *own = ix_sym(k->ctx, is_alone(p) ? "cta" : "cluster");
	return ix_div(k->ctx, own, ix_int(k, p->shares));
}

const Ix *tiles_ctas(const Kernel *k, const Plane *p)
{
	return ix_sym(k->ctx, is_alone(p) ? "ctas" : "clusters");
}

const Ix *tiles_at_once(const Kernel *k, const Plane *p)
{
	const Ix *held = ix_mul(k->ctx, ix_sym(k->ctx, "sms"), ix_int(k, kernel_ctas(k)));
	if (is_alone(p))
		return held;
	return ix_new(k->ctx, IX_MAX, ix_div(k->ctx, held, ix_int(k, p->ctas * p->parts)),
		      ix_int(k, 1));
}

/* The grid's body so many times; the loop's variable. */
const Ix *tiles_repeat(Kernel *k, Op *grid, const Ix *turns)
{
	Op *loop = op_before(k, grid, OP_FOR);
	const char *name = kernel_fresh(k, "t");
	op_sym(k, loop, name);
	op_ixs(k, loop, ix_int(k, 0), turns);
	block_append(op_body(k, loop), grid);
	return ix_sym(k->ctx, name);
}

void tiles_limit(Kernel *k, const Ix *all, Loc loc)
{
	kernel_fact(k, ix_new(k->ctx, IX_LE, all, ix_int(k, MOST_TILES)), "tiles <= 1073741824",
		    "tiles are counted in 32 bits", loc);
}

/* The tiles cta, cta + ctas, ..: the number of one of them. Bounds that hold by the launch are
 * spelled as min, for range analysis. */
const Ix *tiles_by_turns(Here h, const Plane *p, Op *grid, const Ix *all)
{
	Kernel *k = h.k;
	Ctx *c = k->ctx;
	const Ix *tiles = tiles_let(h, "tiles", ix_new(c, IX_MIN, all, ix_int(k, MOST_TILES)));
	int held = MOST_CTAS * kernel_ctas(k);
	const Ix *first =
		tiles_let(h, "me", ix_new(c, IX_MIN, tiles_me(k, p), ix_int(k, held - 1)));
	const Ix *step = tiles_let(h, "step", ix_new(c, IX_MIN, tiles_ctas(k, p), ix_int(k, held)));
	const Ix *t = tiles_repeat(k, grid, ix_ceil_div(c, ix_sub(c, tiles, first), step));
	return tiles_let(h, "tile", tiles_below(k, ix_add(c, first, ix_mul(c, t, step)), tiles));
}

/* As many CTAs as run at once; with clusters, these. */
static void persistent(Here h, const Plane *p, Op *grid)
{
	tiles_launch(h, p, ix_new(h.k->ctx, IX_MIN, p->all, tiles_at_once(h.k, p)));
	tiles_limit(h.k, p->all, grid->loc);
	raster(h, p, (tickets_drawn(h.k) ? tiles_by_tickets : tiles_by_turns)(h, p, grid, p->all));
}

/* Along a mode of one tile there is nothing to order. */
static void check_modes(Kernel *k, const Plane *p)
{
	static const char *const along[2] = {"m", "n"};
	for (int i = 0; i < 2; i++)
		if (p->name[i] == NONE && p->cluster[i] > 1)
			diag(k->ctx, p->grid->loc, D_E0407,
			     "a cluster has %d tiles along %s, of which the grid has one",
			     (int)p->cluster[i], along[i]);
}

/* Whether where a tile begins, or which rows, hangs on the name. */
static bool goes_along(const Val *tile, const char *name)
{
	const Val *indices = tile_indices(tile);
	for (int i = 0; i < tile->def->nix; i++)
		if (ix_uses(tile->def->ix[i], name))
			return true;
	return indices && goes_along(indices, name);
}

/* Whether the mode has as many tiles as the grid has along the name, which is its index. */
static bool counts_tiles(Kernel *k, const Val *tile, int i, const Ix *name, const Ix *tiles)
{
	Ctx *c = k->ctx;
	const Ix *each = layout_size(c, layout_mode(c, tile->type->layout, i));
	const Ix *all = layout_size(c, layout_mode(c, IN(tile->def, OF).val->type->layout, i));
	const Ix *more = ix_sub(c, ix_ceil_div(c, all, each), tiles);
	return tile->def->ix[i] == ix_mul(c, name, each) &&
	       ix_is(ix_simplify(c, more, kernel_facts(k)), 0);
}

/* Whether a tile beyond the grid's last one along the name lies beyond its tensor, too. One at
 * m / 2 may not, nor one at m of a longer tensor. What is written once has the grid's tiles. */
static bool ends_with_grid(Kernel *k, const Op *op, const Val *tile, const Ix *name,
			   const Ix *tiles)
{
	const Val *indices = tile_indices(tile);
	if (!combine_of(op))
		return goes_along(tile, name->name);
	for (int i = 0; i < tile->def->nix; i++)
		if (counts_tiles(k, tile, i, name, tiles))
			return true;
	return indices && ends_with_grid(k, op, indices, name, tiles);
}

/* Along a mode whose coordinates indices name, no tile is beyond. */
static int mode_of_origin(const Kernel *k, const Val *tile, int mode)
{
	bool named = tile_mode(k, tile, mode) == attrs_int(&tile->def->attrs, A_GATHER, -1);
	return named ? 1 - mode : mode;
}

/* A CTA of a cluster that is beyond the grid has no tile. Its outputs lie beyond their tensors, and
 * so do those that do not go along with that mode: a value for each row, where n names tiles of
 * columns.
 *     tile %S (m, 0)   ->   tile %S (m, n / tiles along n) */
static void outputs_beyond(Kernel *k, const Plane *p, int mode)
{
	const Ix *tiles = p->grid->ix[p->name[mode]],
		 *name = ix_sym(k->ctx, p->grid->sym[p->name[mode]]);
	for (Op *op = kernel_find(k, OP_COPY); op; op = op_find_next(op, OP_COPY)) {
		Val *to = IN(op, TO).val;
		if (!to->def || to->def->kind != OP_TILE || ends_with_grid(k, op, to, name, tiles))
			continue;
		int along = mode_of_origin(k, to, mode), at = tile_mode(k, to, along);
		to->def->ix[at] = ix_add(k->ctx, to->def->ix[at],
					 ix_mul(k->ctx, ix_new(k->ctx, IX_DIV, name, tiles),
						tile_extent(k, to, along)));
	}
}

PASS_OF(tiles)
{
	Op *grid = kernel_find(k, OP_GRID);
	if (!grid)
		panic("kernel %s has no grid", k->name);
	Here h = {k, grid};
	Plane p = plane_of(k, grid);
	for (int i = 0; i < k->args.n; i++)
		k->args.at[i].is_in_place |= kernel_reads_in_place(k, k->args.at[i].val);
	check_modes(k, &p);
	groups_check(k, &p);
	tickets_check(k, &p);
	if (pass_failed(k))
		return;
	for (int i = 0; i < 2; i++)
		if (p.name[i] != NONE && p.cluster[i] > 1)
			outputs_beyond(k, &p, i);
	if (grid->nin) {
		groups_tiles(h, &p, grid);
	} else if (attrs_int(&k->attrs, A_PERSISTENT, 0)) {
		persistent(h, &p, grid);
	} else {
		tiles_launch(h, &p, p.all);
		raster(h, &p, tiles_me(k, &p));
	}
	op_unwrap(grid);
	groups_read_first(k);
	numbers_read_first(k);
	if (p.parts > 1)
		kernel_ints(k, A_CLUSTER, (int64_t[]){p.cluster[0], p.cluster[1], p.parts}, 3);
}
