/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* vector.c - tensors that have one element for each row or column of the output. The name of the
 * grid that indexes one says along which mode of the accumulator it lies; along the other it is the
 * same everywhere.
 *     bias : f32 (N);  bias[n]
 *  -> %bias.n = view %bias : global f32 (1,N):(0,1)
 *     %t = tile %bias.n (0, n * 256) : global f32 (1,256):(0,1) */
#include "frontend/sema.h"

#include <inttypes.h>

/* ------------------------------------------------------------------ names of the grid */
/* Which mode of the output the index counts tiles of, groups after them; -1: none by name. */
static int grid_mode(const Sema *s, const Ix *at)
{
	for (int i = 0; s->grid && at && at->kind == IX_SYM && i < s->grid->rank; i++)
		if (s->grid_at[i] == at)
			return i;
	return s->groups.row && at == s->groups.group ? s->grid->rank : -1;
}

/* Where nothing is multiplied, also which mode of the tiles that the loop around goes through. */
static int turn_mode(const Sema *s, const Ix *at)
{
	for (int i = 0; s->mma_loc.src < 0 && s->turn && at && i < s->turn->tiling->rank; i++)
		if (s->turn->at[i] == at && at->kind == IX_SYM)
			return i;
	return -1;
}

int side_of(Sema *s, const Ix *at)
{
	int mode = grid_mode(s, at);
	const Tiling *t = mode >= 0 ? s->grid : NULL;
	if (mode < 0 && (mode = turn_mode(s, at)) >= 0)
		t = s->turn->tiling;
	ModeList matrix = t ? tiling_modes(s, t) : (ModeList){0};
	for (int i = 0; i < matrix.n; i++)
		if (matrix.at[i] == mode)
			return i;
	return -1;
}

/* Of what the name counts tiles, of how many elements each; NULL: it is no such name. */
static const Ix *extent_by(Sema *s, const Ix *at, int64_t *tile)
{
	int mode = grid_mode(s, at), turn = mode < 0 ? turn_mode(s, at) : -1;
	const Tiling *t = turn < 0 ? s->grid : s->turn->tiling;
	bool group = mode >= 0 && mode == s->grid->rank;
	mode = turn < 0 ? mode : turn;
	if (mode < 0)
		return NULL;
	*tile = group ? 1 : t->extent[mode];
	return group ? s->groups.extent : tensor_extent(s, t->tensor, mode);
}

/* ------------------------------------------------------------------ bias[n] */
static bool report_no_name(Sema *s, const Tensor *t, const Value *at)
{
	return reject(s, at->loc, D_E0203,
		      "'%s' has an element for each row or column of the output, and this is "
		      "not the grid's name for these\n%s",
		      t->name, help_tensor(s, t));
}

const char *grid_name_of(Sema *s, const Ix *extent)
{
	for (int i = 0; s->grid && i < s->grid->rank; i++)
		if (s->grid_at[i] && s->grid_at[i]->kind == IX_SYM &&
		    tensor_extent(s, s->grid->tensor, i) == extent)
			return s->grid_at[i]->name;
	return s->groups.row && s->groups.extent == extent ? s->groups.group->name : NULL;
}

static bool report_other_length(Sema *s, const Tensor *t, int mode, const Value *at)
{
	const Ix *here = tensor_extent(s, t, mode);
	int64_t tile;
	const char *name = grid_name_of(s, here),
		   *there = ix_text(s->ctx, extent_by(s, at->ix, &tile));
	return reject(s, at->loc, D_E0211,
		      "'%s' has %s elements along mode %d, and the index counts tiles of %s\n"
		      "%s",
		      t->name, ix_text(s->ctx, here), mode, there,
		      name ? ctx_strf(s->ctx, "index it with %s, or give it the extent %s", name,
				      there)
			   : ctx_strf(s->ctx, "give it the extent of the output: %s", there));
}

/* Its extent of a tile, as the output's tiles have it. */
static bool index_fits(Sema *s, Tiling *t, int mode, const Value *at)
{
	t->extent[mode] = 1;
	if (at->kind == V_TILE) { /* of any length: it holds indices */
		const Tiling *names = at->tile->tiling;
		for (int i = 0; i < names->rank; i++)
			t->extent[mode] *= names->extent[i];
		return true;
	}
	if (at->kind == V_INT && ix_is(at->ix, 0) && ix_is(tensor_extent(s, t->tensor, mode), 1))
		return true;
	const Ix *extent = at->kind == V_INT ? extent_by(s, at->ix, &t->extent[mode]) : NULL;
	if (!extent)
		return report_no_name(s, t->tensor, at);
	return tensor_extent(s, t->tensor, mode) == extent ||
	       report_other_length(s, t->tensor, mode, at);
}

const Tile *vector_element(Sema *s, const Value *tensor, const Value *at, int n)
{
	Tiling *t = NEW(s->arena, Tiling);
	Tile *tile = NEW(s->arena, Tile);
	*t = (Tiling){.tensor = tensor->tensor, .rank = n};
	*tile = (Tile){.tiling = t};
	for (int i = 0; i < n; i++) {
		const Ix *all = tensor_extent(s, tensor->tensor, i);
		bool first = ix_is(at[i].ix, 0) && ix_is(all, 1);
		t->extent[i] = 1;
		if (!first && extent_by(s, at[i].ix, &t->extent[i]) != all)
			return NULL;
		tile->at[i] = at[i].ix;
	}
	return tile;
}

bool is_vector_index(Sema *s, const Tensor *t, const Value *at, int n)
{
	int sides = 0, batches = 0;
	for (int i = 0; i < n; i++) {
		int64_t tile;
		bool of = at[i].kind == V_INT && s->grid && extent_by(s, at[i].ix, &tile);
		bool side = of && side_of(s, at[i].ix) >= 0;
		sides += side || at[i].kind == V_TILE;
		batches += of && !side;
	}
	return layout_rank(t->layout) == 1 || (sides == 1 && sides + batches == n);
}

Value vector_index(Sema *s, Loc loc, const Value *tensor, Value *at, int n)
{
	Value tiles = value_of(V_TILES);
	Tiling *t = NEW(s->arena, Tiling);
	*t = (Tiling){.tensor = tensor->tensor, .rank = layout_rank(tensor->tensor->layout)};
	if (n != t->rank)
		return rejected(s, loc, D_E0206, "%d ind%s for '%s', which has rank %d\n%s", n,
				n == 1 ? "ex" : "ices", t->tensor->name, t->rank,
				help_value(s, tensor));
	for (int i = 0; i < n; i++)
		if (!index_fits(s, t, i, &at[i]))
			return value_bad();
	tiles.tiling = t;
	return tiles_index(s, loc, &tiles, at, n);
}

/* ------------------------------------------------------------------ as a matrix */
/* The mode along which the tile is longer than 1, where there is just one; of one mode, that. */
static int long_mode(const Tiling *t)
{
	int mode = t->rank == 1 ? 0 : -1;
	for (int i = 0; i < t->rank; i++) {
		if (t->extent[i] == 1)
			continue;
		if (mode >= 0 && mode != i)
			return -1;
		mode = i;
	}
	return mode;
}

static const Layout *one_of(Ctx *c, int side, const Tup *shape, const Tup *stride)
{
	const Layout *modes[2];
	modes[side] = layout_new(c, shape, stride);
	modes[1 - side] = layout_new(c, tup_int(c, 1), tup_int(c, 0));
	return layout_cat(c, modes, 2);
}

const Layout *vector_shape(Sema *s, int side, int64_t n)
{
	return one_of(s->ctx, side, tup_int(s->ctx, n), tup_int(s->ctx, 1));
}

/* The tensor's modes as a view has them: the others in their order, then the matrix. */
static int others_of(const Tiling *t, int *at)
{
	int n = 0, along = long_mode(t);
	for (int i = 0; i < t->rank; i++)
		if (i != along)
			at[n++] = i;
	return n;
}

static const Layout *view_layout(Sema *s, const Tiling *t, int side, bool tile)
{
	Ctx *c = s->ctx;
	int others[RANK_MAX], n = others_of(t, others), along = long_mode(t);
	const Layout *modes[RANK_MAX + 1], *l = t->tensor->layout;
	for (int i = 0; i <= n; i++) {
		int mode = i < n ? others[i] : along;
		const Layout *m = layout_mode(c, l, mode);
		modes[i] =
			tile ? layout_new(c, tup_int(c, t->extent[mode]), tiling_stride(s, t, mode))
			     : m;
	}
	const Layout *matrix = one_of(c, side, modes[n]->shape, modes[n]->stride);
	modes[n] = layout_mode(c, matrix, 0);
	modes[n + 1] = layout_mode(c, matrix, 1);
	return layout_cat(c, modes, n + 2);
}

/* One for each tensor and each layout. */
static Val *view_of(Sema *s, const Tensor *t, const Layout *l, const char *stem)
{
	const Type *type = type_tile(s->ctx, SP_GLOBAL, t->elem, l);
	for (const Op *op = s->kernel->body.first; op; op = op->next)
		if (op->kind == OP_VIEW && IN(op, OF).val == t->val && op->out->type == type)
			return op->out;
	Op *op = op_new(s->kernel, OP_VIEW, t->decl->loc);
	op_insert_before(s->grid_op, op);
	op_in(s->kernel, op, t->val, NULL);
	return op_result(s->kernel, op, ctx_strf(s->ctx, "%s.%s", t->name, stem), type);
}

static bool report_parts(Sema *s, const Tiling *t, int mode, const Ix *first, Loc loc)
{
	bool known = ix_is_const(first, NULL);
	return reject(s, loc, D_E0211,
		      "a tile of %" PRId64 " of '%s' may lie in two parts of its mode %d\n"
		      "a tile's extent divides the first part, %s%s",
		      t->extent[mode], t->tensor->name, mode, ix_text(s->ctx, first),
		      known ? ", or is a multiple of it" : "");
}

/* A first part that repeats has one element: the tile is of the other parts, so many elements of
 * them, or lies in one. */
static bool skip_repeated(Sema *s, const Layout *parts, int64_t *extent, const Ix **x)
{
	int64_t all;
	if (!ix_is_const(tup_get(parts->shape, 0)->leaf, &all) || (*extent % all && all % *extent))
		return false;
	if (*extent < all)
		*x = ix_div(s->ctx, *x, ix_const(s->ctx, all / *extent));
	*extent = *extent < all ? 1 : *extent / all;
	return true;
}

/* The parts of one mode as modes of f, and in `modes` as the tensor has them: the tile lies in the
 * first, of which it is a whole part, or packs some, which stay one mode. */
static bool split_mode(Sema *s, const Tile *t, int mode, Tile *f, Tiling *g, const Layout **modes,
		       Loc loc)
{
	Ctx *c = s->ctx;
	const Layout *parts = layout_flat(c, layout_mode(c, t->tiling->tensor->layout, mode));
	const Layout *at[RANK_MAX];
	int n = layout_rank(parts), from = tiling_repeats(s, t->tiling, mode);
	int64_t extent = t->tiling->extent[mode];
	const Ix *x = t->at[mode] ? t->at[mode] : ix_const(c, 0);
	if (from && !skip_repeated(s, parts, &extent, &x))
		return report_parts(s, t->tiling, mode, tup_get(parts->shape, 0)->leaf, loc);
	for (int i = 0; i < n; i++)
		at[i] = layout_mode(c, parts, i);
	const Layout *own = layout_cat(c, at + from, n - from);
	int packed = parts_of_tile(c, own->shape, extent, facts_seen(&s->facts));
	if (!packed)
		return report_parts(s, t->tiling, mode, at[from]->shape->leaf, loc);
	for (int i = 0, next; i < n; i = next) {
		next = i == from ? from + packed : i + 1;
		const Layout *l = next > i + 1 ? layout_cat(c, at + i, packed) : at[i];
		const Ix *tiles = i < from ? ix_const(c, 1) : layout_size(c, l);
		tiles = i == from ? ix_div(c, tiles, ix_const(c, extent)) : tiles;
		modes[g->rank] = l;
		g->extent[g->rank] = i == from ? extent : 1;
		f->at[g->rank++] = next < n ? ix_mod(c, x, tiles) : x;
		x = next < n ? ix_div(c, x, tiles) : x;
	}
	return true;
}

/* The same tile of the tensor whose modes are the parts; NULL: reported. */
static const Tile *flat_tile(Sema *s, const Tile *t, Loc loc)
{
	Tile *f = NEW(s->arena, Tile);
	Tiling *g = NEW(s->arena, Tiling);
	Tensor *flat = NEW(s->arena, Tensor);
	const Layout *modes[RANK_MAX];
	*flat = *t->tiling->tensor;
	*g = (Tiling){.tensor = flat};
	*f = (Tile){.tiling = g};
	f->names = t->names;
	for (int i = 0; i < t->tiling->rank; i++) {
		f->gather = i == t->gather ? g->rank : f->gather;
		if (!split_mode(s, t, i, f, g, modes, loc))
			return NULL;
	}
	flat->layout = layout_cat(s->ctx, modes, g->rank);
	return f;
}

static Val *build_view(Sema *s, const Tile *t, int side, Loc loc)
{
	Ctx *c = s->ctx;
	const Tiling *g = t->tiling;
	int others[RANK_MAX], n = others_of(g, others), along = long_mode(g);
	Val *view = view_of(s, g->tensor, view_layout(s, g, side, false), side ? "n" : "m");
	Val *names = t->names ? gather_names(s, t, loc) : NULL;
	Op *op = build_in(s, build(s, OP_TILE, loc), view);
	if (names) {
		build_in(s, op, names);
		op_int(s->kernel, op, A_GATHER, n + side);
	}
	for (int i = 0; i < n; i++)
		op_ix(s->kernel, op, t->at[others[i]] ? t->at[others[i]] : ix_const(c, 0));
	for (int i = 0; i < 2; i++)
		op_ix(s->kernel, op,
		      i == side ? tile_origin(s, g, along, t->at[along]) : ix_const(c, 0));
	tile_ends(s, t, op);
	if (attrs_get(&op->attrs, A_RAGGED))
		reject(s, loc, D_E0301,
		       "not built yet: vectors along a group that a loop runs over; a tensor's "
		       "tile, scaled in a "
		       "kernel of its own, is");
	const Type *type = type_tile(c, SP_GLOBAL, g->tensor->elem, view_layout(s, g, side, true));
	return op_result(s->kernel, op, "t", type);
}

/* Whether the index is the name of a loop, which says nothing of rows and columns. */
static bool is_loops_name(Sema *s, const Ix *at)
{
	int64_t tile;
	return at && at->kind == IX_SYM && !extent_by(s, at, &tile);
}

/* Of the output's extent along its side. */
static bool length_fits(Sema *s, const Value *v, int mode)
{
	const Tile *t = v->tile;
	Value at = {.kind = V_INT, .loc = v->loc, .ix = t->at[mode]};
	int64_t tile;
	if ((t->names && t->gather == mode) || is_loops_name(s, at.ix) ||
	    (t->turned && !extent_by(s, at.ix, &tile)))
		return true;
	if (tensor_extent(s, t->tiling->tensor, mode) == extent_by(s, at.ix, &tile))
		return true;
	return report_other_length(s, t->tiling->tensor, mode, &at);
}

bool tile_repeats(Sema *s, const Tile *t)
{
	bool repeats = false;
	for (int i = 0; i < t->tiling->rank; i++)
		repeats |= tiling_repeats(s, t->tiling, i);
	return repeats;
}

/* Where the tile is along a mode; by indices, where these are. */
static const Ix *place_along(const Tile *t, int mode)
{
	int of = t->names && t->gather == mode ? long_mode(t->names->tiling) : -1;
	return of < 0 ? t->at[mode] : t->names->at[of];
}

/* Of the accumulator, or of a tile whose elements repeat: as this has it. It may be of an operand,
 * whose rows lie along the accumulator's columns. */
static int side_of_tile(Sema *s, const Tile *t, const Ix *at)
{
	ModeList matrix = tiling_modes(s, t->tiling);
	for (int i = 0; i < matrix.n && tile_repeats(s, t); i++)
		if (!tiling_repeats(s, t->tiling, matrix.at[i]))
			return i;
	return side_of(s, at);
}

/* The tile itself, or as one of parts of which those that repeat have one element. */
static const Tile *each_once(Sema *s, const Tile *t, Loc loc)
{
	return tile_repeats(s, t) ? flat_tile(s, t, loc) : t;
}

/* A tile of a tensor whose modes are the parts. */
static Val *build_parts(Sema *s, const Tile *t, Loc loc)
{
	Tile tile = *t;
	Tiling tiling = *t->tiling;
	Tensor parts = *tiling.tensor;
	parts.val = view_of(s, &parts, parts.layout, "parts");
	tiling.tensor = &parts;
	tile.tiling = &tiling;
	return tile_build(s, &tile, loc);
}

bool is_vector_twice(Sema *s, const Value *a, const Value *b)
{
	if (a->kind != V_TILE || b->kind != V_TILE)
		return false;
	const Tile *x = a->tile, *y = b->tile;
	bool same = x->tiling->tensor == y->tiling->tensor && x->names == y->names &&
		    long_mode(x->tiling) >= 0 && long_mode(x->tiling) == long_mode(y->tiling) &&
		    tiling_shape(s, x->tiling) == tiling_shape(s, y->tiling);
	for (int i = 0; same && i < x->tiling->rank; i++)
		same = x->at[i] == y->at[i];
	return same;
}

/* Along the rows (0) or the columns (1) of what is computed, of `shape` as it lies in the tensor;
 * -1: the names do not say. */
static int side_of_vector(Sema *s, const Value *of, const Tile *t, const Layout *shape, int mode)
{
	if (t->tiling->rank == 1 && t->tiling->extent[0] == 1)
		return 0;
	int side = mode < 0 ? -1 : side_of_tile(s, of->tile, place_along(t, mode));
	if (side < 0 && t->tiling->rank == 1 && is_loops_name(s, t->at[0]))
		side = 1;
	if (!of->tile->turned || mode < 0 || (side < 0 && t->tiling->rank == 1))
		return side;
	return side >= 0 ? 1 - side : shape_extent(shape, 0) > 1;
}

Val *vector_tile(Sema *s, const Value *of, const Layout **shape)
{
	Value once = *of, *v = &once;
	v->tile = each_once(s, of->tile, of->loc);
	if (!v->tile)
		return NULL;
	const Tiling *t = v->tile->tiling;
	*shape = tiling_shape(s, t);
	int mode = long_mode(t), side = side_of_vector(s, of, v->tile, *shape, mode);
	bool one = t->rank == 1 && t->extent[0] == 1;
	if (side < 0 && t->rank == 1) {
		report_no_name(s, t->tensor, v);
		return NULL;
	}
	if (side < 0 || *shape == vector_shape(s, side, t->extent[mode]))
		return v->tile == of->tile ? tile_build(s, v->tile, v->loc)
					   : build_parts(s, v->tile, v->loc);
	*shape = vector_shape(s, side, t->extent[mode]);
	bool fits = one || length_fits(s, v, mode);
	const Tile *tile = fits ? flat_tile(s, v->tile, v->loc) : NULL;
	if (!tile)
		return NULL;
	if (tile->tiling->rank < RANK_MAX)
		return build_view(s, tile, side, v->loc);
	reject(s, v->loc, D_E0301, "not built yet: vectors of rank %d", tile->tiling->rank);
	return NULL;
}
