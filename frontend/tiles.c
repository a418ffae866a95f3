/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tiles.c - tensors cut into tiles, and one tile of them.
 *     gA = A / (128,64);  gA[m,k]
 *  -> %t = tile %A (m * 128, k * 64) : global bf16 (128,64):(K,1)
 * The last tile of a mode may hang over: reads give zero there, writes are dropped. */
#include "frontend/sema.h"

#include <inttypes.h>

enum { EXTENT_MAX = 65536 };

/* `_`: as long as the mode is. */
static bool whole_mode(Sema *s, const Tensor *t, int mode, Loc loc, int64_t *out)
{
	Value v = {.kind = V_INT, .loc = loc};
	v.ix = tensor_extent(s, t, mode);
	if (ix_is_const(v.ix, NULL))
		return want_int(s, &v, 1, EXTENT_MAX, "the extent of a tile", out);
	return reject(s, loc, D_E0203,
		      "'_' is all of mode %d of '%s', whose extent is known only at run time\n"
		      "write the extent of a tile; 1 is one element",
		      mode, t->name);
}

static bool tiler_extent(Sema *s, const Tensor *t, const Value *tiler, int mode, int64_t *out)
{
	Value v = {.kind = V_INT, .loc = tiler->loc, .ix = tiler->ix};
	const Tup *one = tiler->kind == V_TUPLE ? tiler->tup->at[mode] : NULL;
	if (tiler->kind == V_ANY || (one && tup_is_any(one)))
		return whole_mode(s, t, mode, tiler->loc, out);
	if (one && !tup_is_leaf(one))
		return reject(s, tiler->loc, D_E0301,
			      "not built yet: tilers with modes inside modes\n"
			      "write plain extents, as A / (128,64)");
	if (one)
		v.ix = one->leaf;
	return want_int(s, &v, 1, EXTENT_MAX, "the extent of a tile", out);
}

static bool tiler_extents(Sema *s, const Value *tensor, const Value *tiler, Tiling *t)
{
	t->rank = tiler->kind == V_TUPLE ? tiler->tup->n : 1;
	if (t->rank != layout_rank(tensor->tensor->layout))
		return reject(s, tiler->loc, D_E0206,
			      "a tiler of rank %d for '%s', which has rank %d\n"
			      "write an extent for each mode, 1 for one element",
			      t->rank, tensor->tensor->name, layout_rank(tensor->tensor->layout));
	for (int i = 0; i < t->rank; i++)
		if (!tiler_extent(s, tensor->tensor, tiler, i, &t->extent[i]))
			return false;
	return true;
}

Value tiles_divide(Sema *s, Loc loc, const Value *tensor, const Value *tiler)
{
	Value v = value_of(V_TILES);
	Tiling *t = NEW(s->arena, Tiling);
	(void)loc;
	if (tiler->kind != V_INT && tiler->kind != V_ANY && !want(s, tiler, V_TUPLE, "a tiler"))
		return value_bad();
	t->tensor = tensor->tensor;
	if (!tiler_extents(s, tensor, tiler, t))
		return value_bad();
	v.tiling = t;
	return v;
}

const Ix *tensor_extent(Sema *s, const Tensor *t, int mode)
{
	return layout_size(s->ctx, layout_mode(s->ctx, t->layout, mode));
}

const Ix *tiling_extent(Sema *s, const Tiling *t, int mode)
{
	return tensor_extent(s, t->tensor, mode);
}

const Ix *tiles_count(Sema *s, const Tiling *t, int mode)
{
	return ix_ceil_div(s->ctx, tiling_rows(s, t, mode), ix_const(s->ctx, t->extent[mode]));
}

bool one_tile_along(Sema *s, const Tiling *t, int mode)
{
	return ix_most(tiles_count(s, t, mode), facts_seen(&s->facts)) <= 1;
}

bool tiling_repeats(Sema *s, const Tiling *t, int mode)
{
	const Layout *parts = layout_mode(s->ctx, t->tensor->layout, mode);
	return !tup_is_leaf(parts->stride) && ix_is(tiling_stride(s, t, mode)->leaf, 0);
}

/* Whether a where clause says that the index counts an element for each tile here:
 * P == (V + 127) / 128. */
static bool is_one_a_tile(Sema *s, const Tiling *t, int mode, const Coord *c)
{
	const Ix *tiles = c->tile == 1 ? tiles_count(s, t, mode) : NULL;
	for (int i = 0; i < s->kernel->facts.n && tiles; i++) {
		const Ix *x = s->kernel->facts.at[i].cond;
		if (x->kind == IX_EQ &&
		    ((x->a == c->extent && x->b == tiles) || (x->b == c->extent && x->a == tiles)))
			return true;
	}
	return false;
}

/* Elements that repeat may be more than there are of others. */
static bool counts_others(Sema *s, const Tiling *t, int mode, const Coord *c)
{
	return c && !is_one_a_tile(s, t, mode, c) &&
	       (c->tile != t->extent[mode] ||
		(c->extent != tiling_extent(s, t, mode) && !tiling_repeats(s, t, mode)));
}

static DiagMsg *report_other_extent(Sema *s, const Tiling *t, int mode, const Value *at, DiagId id)
{
	const Coord *c = at->coord;
	return diag(s->ctx, at->loc, id,
		    "'%s' counts tiles of %" PRId64 " of %s, mode %d of '%s' has tiles of %" PRId64
		    " of %s",
		    c->name, c->tile, ix_text(s->ctx, c->extent), mode, t->tensor->name,
		    t->extent[mode], ix_text(s->ctx, tiling_extent(s, t, mode)));
}

const Symbol *name_that_counts(Sema *s, const Tiling *t, int mode)
{
	for (int i = s->symbols.n; i-- > 0;) {
		const Symbol *sym = &s->symbols.at[i];
		const Coord *c = sym->value.kind == V_INT ? sym->value.coord : NULL;
		if (c && !counts_others(s, t, mode, c))
			return sym;
	}
	return NULL;
}

/* Whether the tensor has one element for each tile that the index counts: a scale of 128 columns.
 * An output may have one for each part of a tile, too: a sum of 16 rows. */
static bool is_for_each(Sema *s, const Tiling *t, int mode, const Coord *c)
{
	const Ix *extent = tiling_extent(s, t, mode);
	bool parts = t->tensor->is_out && c->tile % t->extent[mode] == 0;
	return (parts || t->extent[mode] == 1) && c->tile > t->extent[mode] &&
	       c->extent != extent && !ix_is(extent, 1) &&
	       tup_is_leaf(layout_mode(s->ctx, t->tensor->layout, mode)->shape);
}

/* The index counts other tiles, where no name counts these. */
static void report_swapped(Sema *s, const Tiling *t, int mode, const Value *at)
{
	const Symbol *sym = name_that_counts(s, t, mode);
	if (!sym && is_for_each(s, t, mode, at->coord))
		return;
	DiagMsg *m = report_other_extent(s, t, mode, at, D_W0203);
	int other = t->rank;
	while (--other >= 0 && counts_others(s, t, other, at->coord))
		;
	if (sym)
		diag_fix(s->ctx, diag_remedy(s->ctx, m, "did you mean '%s'?", sym->name), m->loc,
			 "%s", sym->name);
	else if (s->grid && s->grid->names && at->ix == s->grid_at[s->grid->gather])
		diag_remedy(s->ctx, m, "rows here are those that '%s' names: write %s[%s]",
			    s->grid->names->name, s->grid->names->name, at->coord->name);
	else if (other >= 0)
		diag_remedy(s->ctx, m, "it counts those of mode %d: exchange the indices", other);
	else
		diag_remedy(s->ctx, m, "if this is meant, -Wno-W0203 silences it");
}

/* The name of tiles that are counted from that row on, of this tensor or (NULL) of any. */
static const char *tiles_from_row(const Sema *s, const Ix *first, const Tensor *of)
{
	for (int i = 0; i < s->symbols.n; i++) {
		const Value *v = &s->symbols.at[i].value;
		if (v->kind == V_TILES && v->tiling->first == first &&
		    (!of || v->tiling->tensor == of))
			return s->symbols.at[i].name;
	}
	return NULL;
}

/* The tiles of a loop over rows from a place on, and here those of the same rows from another. */
static void report_other_first(Sema *s, const Tiling *t, int mode, const Value *at)
{
	const char *own = tiles_from_row(s, at->coord->first, t->tensor),
		   *counted = tiles_from_row(s, at->coord->first, NULL);
	DiagMsg *m = diag(s->ctx, at->loc, D_W0203,
			  "'%s' counts tiles of %s from a row on, and here those along mode %d of "
			  "'%s' are counted from %s",
			  at->coord->name, counted ? ctx_strf(s->ctx, "'%s'", counted) : "a tensor",
			  mode, t->tensor->name, t->first ? "another" : "the first");
	if (own)
		diag_remedy(s->ctx, m, "write %s[..]", own);
	else
		diag_remedy(s->ctx, m, "count both from one row: let g%sb = g%s from .. , as there",
			    t->tensor->name, t->tensor->name);
}

void warn_of_other_tiles(Sema *s, const Tiling *t, int mode, const Value *at)
{
	const Ix *first = tiling_begins(t, mode) ? t->first : NULL;
	if (counts_others(s, t, mode, at->coord))
		report_swapped(s, t, mode, at);
	else if (at->coord && at->coord->first && at->coord->first != first)
		report_other_first(s, t, mode, at);
}

/* Of an index of names that count tiles, p + r: what bounds it, "P <= 65536, R <= 65536"; NULL: it
 * has other names, or none. */
static const char *bounds_of(Sema *s, const Ix *at)
{
	enum { MANY = 65536 };
	const char *all = NULL;
	for (int i = 0; i < s->symbols.n; i++) {
		const Value *v = &s->symbols.at[i].value;
		if (v->kind != V_INT || v->ix->kind != IX_SYM || !ix_uses(at, v->ix->name))
			continue;
		if (!v->coord || v->coord->extent->kind != IX_SYM)
			return NULL;
		all = ctx_strf(s->ctx, "%s%s%s <= %d", all ? all : "", all ? ", " : "",
			       v->coord->extent->name, MANY);
	}
	return all;
}

static bool report_origin(Sema *s, const Tiling *t, int mode, const Value *at, bool below)
{
	const char *bounds = bounds_of(s, at->ix);
	const char *help = ctx_strf(s->ctx, "an index counts tiles, here of %" PRId64 " elements",
				    t->extent[mode]);
	if (bounds && below)
		help = ctx_strf(s->ctx, "to read the first tile again there, write max(%s, 0)",
				ix_spelled(s, at->ix));
	else if (bounds)
		help = ctx_strf(s->ctx, "say how many there are: where %s", bounds);
	return reject(s, at->loc, D_E0211,
		      "this tile may begin outside 0..2147483647 of mode %d of '%s'\n"
		      "%s",
		      mode, t->tensor->name, help);
}

/* How many names of loops and of the grid are added up: sizes are none, nor are products. */
static int names_added(const Sema *s, const Ix *x)
{
	bool size = false;
	for (int i = 0; i < s->kernel->syms.n && x->kind == IX_SYM; i++)
		size |= s->kernel->syms.at[i].name == x->name;
	return x->kind == IX_ADD ? names_added(s, x->a) + names_added(s, x->b)
				 : x->kind == IX_SYM && !size;
}

static void warn_of_sum(Sema *s, const Tiling *t, int mode, const Value *at)
{
	if (t->extent[mode] == 1 || names_added(s, at->ix) < 2)
		return;
	diag(s->ctx, at->loc, D_W0204,
	     "'%s' counts tiles of %" PRId64 " elements of mode %d of '%s', not elements\n"
	     "to move by one element, give '%s' one mode more, of the same stride, and tiles "
	     "of 1 along it: (P,S,K):(K,K,1); if tiles are meant, -Wno-W0204 silences this",
	     ix_spelled(s, at->ix), t->extent[mode], mode, t->tensor->name, t->tensor->name);
}

/* Whether a loop around here, but not around `acc`, moves the index. */
static bool moves(Sema *s, const Ix *at, const Val *acc)
{
	bool found = false;
	for (const Op *op = s->block->owner; at && op; op = op_parent(op))
		found |= op->kind == OP_FOR && !op_inside(acc->def, op) && ix_uses(at, op->sym[0]);
	return found;
}

/* for k in gA[m] { sB <- gB[k,n]; acc += mm(sA, sB); }: the mma sums over mode 1 of a tile, and the
 * loop goes along mode 0. A sum of products, as of gA[m,0] and gB[k,0], is no such mistake. */
void warn_of_transposed(Sema *s, Loc loc, const Tile *t, const Tile *other, const Val *acc)
{
	ModeList m = t ? tiling_modes(s, t->tiling) : (ModeList){0};
	const Ix *row = m.n == 2 ? t->at[m.at[0]] : NULL;
	bool both = !other;
	if (!moves(s, row, acc) || row->kind != IX_SYM || moves(s, t->at[m.at[1]], acc))
		return;
	for (int i = 0; other && i < other->tiling->rank; i++)
		both |= other->at[i] && ix_uses(other->at[i], row->name);
	const Tensor *b = t->tiling->tensor;
	const Layout *turned[RANK_MAX];
	for (int i = 0; i < t->tiling->rank; i++)
		turned[i] = layout_mode(s->ctx, b->layout, i);
	turned[m.at[0]] = layout_mode(s->ctx, b->layout, m.at[1]);
	turned[m.at[1]] = layout_mode(s->ctx, b->layout, m.at[0]);
	if (both)
		diag(s->ctx, loc, D_W0208,
		     "the mma sums over mode %d of '%s', the loop goes along mode %d, '%s': each "
		     "tile is multiplied as its transpose\n"
		     "declare %s : %s, the same memory, and exchange the indices of its tiles; if "
		     "this is meant, -Wno-W0208 silences it",
		     m.at[1], b->name, m.at[0], row->name, b->name,
		     layout_str(s->ctx, layout_cat(s->ctx, turned, t->tiling->rank)));
}

static bool report_others(Sema *s, const Tiling *t, int mode, const Value *at)
{
	const Coord *c = at->coord;
	DiagMsg *m = report_other_extent(s, t, mode, at, D_E0211);
	if (c->extent == tiling_extent(s, t, mode))
		diag_remedy(s->ctx, m, "divide both into tiles of as many elements along it");
	else if (c->tile == 1)
		diag_remedy(s->ctx, m,
			    "if there is one for each of these tiles, say where %s == %s",
			    ix_text(s->ctx, c->extent), ix_text(s->ctx, tiles_count(s, t, mode)));
	else
		diag_remedy(s->ctx, m, "write the indices in the order of the modes of '%s'",
			    t->tensor->name);
	return false;
}

/* A number that none of the mode's tiles has, whatever its extent is: it would read zeros. */
static bool is_beyond(Sema *s, const Tiling *t, int mode, const Value *at)
{
	int64_t tile, most = ix_most(tiles_count(s, t, mode), facts_seen(&s->facts));
	if (!ix_is_const(at->ix, &tile) || tile < most || !tile)
		return false;
	reject(s, at->loc, D_E0211,
	       "tile %" PRId64 " of mode %d of '%s' lies beyond its end, for all sizes\n"
	       "tiles count from 0: the last that there can be is %" PRId64,
	       tile, mode, t->tensor->name, most > 0 ? most - 1 : 0);
	return true;
}

/* Origins are 32-bit for TMA, whatever the expression. */
static bool origin_fits(Sema *s, const Tiling *t, int mode, const Value *at)
{
	if (!groups_index_fits(s, t, mode, at))
		return false;
	if (at->ix == s->along.name)
		return true; /* it begins before the group's end */
	if (is_beyond(s, t, mode, at))
		return false;
	const Ix *origin = tile_origin(s, t, mode, at->ix);
	if (tiling_begins(t, mode)) /* its tiles have rows of the tensor */
		origin = ix_sub(s->ctx, origin, t->first);
	bool each = at->coord && at->ix->kind == IX_SYM && is_one_a_tile(s, t, mode, at->coord);
	if (each || ix_within(origin, facts_seen(&s->facts), 0, INT32_MAX))
		return true;
	if (counts_others(s, t, mode, at->coord))
		return report_others(s, t, mode, at);
	return report_origin(s, t, mode, at, ix_least(origin, facts_seen(&s->facts)) < 0);
}

/* Elements for each of the tiles that the index counts: the launcher checks that there are as many,
 * as those after the last would read as zeros, or not be written. */
static void has_all(Sema *s, const Tiling *t, int mode, const Coord *c)
{
	bool repeats = tiling_repeats(s, t, mode);
	bool each_tile = c && is_for_each(s, t, mode, c) && !name_that_counts(s, t, mode);
	if (!c || (!repeats && !each_tile))
		return;
	int64_t each = repeats ? 1 : c->tile / t->extent[mode], holds;
	const Ix *needs = ix_ceil_div(s->ctx, c->extent, ix_const(s->ctx, each));
	const Ix *all = ix_new(s->ctx, IX_LE, needs, tiling_extent(s, t, mode));
	bool known = ix_is_const(all, &holds);
	for (int i = 0; i < s->kernel->facts.n; i++)
		known |= s->kernel->facts.at[i].cond == all;
	if (!known)
		kernel_fact(s->kernel, all, ix_text(s->ctx, all),
			    ctx_strf(s->ctx, "mode %d of '%s' is for all of %s", mode,
				     t->tensor->name, ix_text(s->ctx, c->extent)),
			    t->tensor->decl->loc);
}

Value tiles_index(Sema *s, Loc loc, const Value *tiles, Value *at, int n)
{
	Value v = value_of(V_TILE);
	Tile *t = NEW(s->arena, Tile);
	*t = (Tile){.tiling = tiles->tiling};
	if (n > t->tiling->rank) {
		const char *name = t->tiling->tensor->name;
		return rejected(s, loc, D_E0206,
				"%d indices for '%s', which has rank %d\n"
				"each mode has an index: %s",
				n, name, t->tiling->rank, tile_example(s, t->tiling));
	}
	for (int i = 0; i < n; i++)
		if (at[i].kind == V_TENSOR)
			return tiles_by_indices(s, tiles, at, n);
	for (int i = 0; i < n; i++) {
		if (at[i].kind == V_ANY)
			continue;
		if (t->tiling->names && t->tiling->gather == i) {
			if (!tile_by_indices(s, t, &at[i], at[i].loc))
				return value_bad();
			continue;
		}
		if (at[i].kind == V_TILE) {
			if (!tile_gathers(s, t, i, &at[i]))
				return value_bad();
			continue;
		}
		if (!want(s, &at[i], V_INT, "an index of a tile"))
			return value_bad();
		if (s->kernel && is_from_memory(s, at[i].ix)) {
			t->at[i] = number_tile(s, t->tiling, i, at[i].ix);
			continue;
		}
		if (!s->kernel || !origin_fits(s, t->tiling, i, &at[i]))
			return value_bad();
		warn_of_other_tiles(s, t->tiling, i, &at[i]);
		has_all(s, t->tiling, i, at[i].coord);
		warn_of_sum(s, t->tiling, i, &at[i]);
		t->at[i] = at[i].ix;
	}
	v.tile = t;
	return v;
}

int tile_open(const Tile *t, int *mode)
{
	int n = 0;
	for (int i = 0; i < t->tiling->rank; i++)
		if (!t->at[i] && !n++)
			*mode = i;
	return n;
}

/* ------------------------------------------------------------------ one tile */
const Tup *tiling_stride(Sema *s, const Tiling *t, int mode)
{
	const Tup *stride = layout_mode(s->ctx, t->tensor->layout, mode)->stride;
	while (!tup_is_leaf(stride))
		stride = tup_get(stride, 0);
	return stride;
}

/* shape:stride of one tile: its extents, the tensor's strides */
static const Type *tile_type(Sema *s, const Tiling *t)
{
	const Layout *modes[RANK_MAX];
	for (int i = 0; i < t->rank; i++)
		modes[i] =
			layout_new(s->ctx, tup_int(s->ctx, t->extent[i]), tiling_stride(s, t, i));
	return type_tile(s->ctx, SP_GLOBAL, t->tensor->elem,
			 t->rank == 1 ? modes[0] : layout_cat(s->ctx, modes, t->rank));
}

ModeList tiling_modes(Sema *s, const Tiling *t)
{
	return type_modes(s->ctx, tile_type(s, t));
}

const Layout *tiling_shape(Sema *s, const Tiling *t)
{
	const Tup *at[RANK_MAX];
	ModeList m = tiling_modes(s, t);
	for (int i = 0; i < m.n; i++)
		at[i] = tup_int(s->ctx, t->extent[m.at[i]]);
	return layout_left(s->ctx, m.n == 1 ? at[0] : tup_new(s->ctx, at, m.n));
}

Val *tile_build(Sema *s, const Tile *t, Loc loc)
{
	Kernel *k = s->kernel;
	const Tiling *g = t->tiling;
	Val *names = t->names ? gather_names(s, t, loc) : NULL;
	Op *op = build_in(s, build(s, OP_TILE, loc), g->tensor->val);
	if (names) {
		build_in(s, op, names);
		op_int(k, op, A_GATHER, t->gather);
	}
	for (int i = 0; i < g->rank; i++)
		op_ix(k, op, tile_origin(s, g, i, t->at[i]));
	tile_ends(s, t, op);
	return op_result(k, op, "t", tile_type(s, g));
}
