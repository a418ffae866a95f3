/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stmt.c - what a kernel does: copies, the write of the output. Each statement is checked and built
 * at once.
 *     sA <- gA[m,k];
 *  -> %t = tile %A (m * 128, k * 64) : global bf16 (128,64):(K,1)
 *     copy %sA, %t */
#include "frontend/sema.h"

#include <inttypes.h>

Op *build(Sema *s, OpKind kind, Loc loc)
{
	Op *op = op_new(s->kernel, kind, loc);
	block_append(s->block, op);
	return op;
}

Op *build_in(Sema *s, Op *op, Val *v)
{
	op_in(s->kernel, op, v, NULL);
	return op;
}

Op *build_copy(Sema *s, Loc loc, Val *to, Val *from)
{
	return build_in(s, build_in(s, build(s, OP_COPY, loc), to), from);
}

Op *build_fill(Sema *s, Loc loc, Val *to, double value)
{
	Op *op = build_in(s, build(s, OP_FILL, loc), to);
	op_real(s->kernel, op, A_VALUE, value);
	return op;
}

/* ------------------------------------------------------------------ copies */
/* Open modes of one tile are at that tile. */
bool is_whole_tile(Sema *s, const Value *v)
{
	const Tiling *t = v->tile->tiling;
	int first, open = 0, given = t->rank - tile_open(v->tile, &first);
	for (int i = 0; i < t->rank; i++)
		open += !v->tile->at[i] && !ix_is(tiles_count(s, t, i), 1);
	if (open)
		reject(s, v->loc, D_E0206,
		       "%d ind%s for '%s', which has rank %d\n"
		       "each mode has an index: %s",
		       given, given == 1 ? "ex" : "ices", t->tensor->name, t->rank,
		       tile_example(s, t));
	return !open;
}

/* Whether a tile's rows or columns lie side by side. */
static bool has_lines(Sema *s, const Tiling *t)
{
	ModeList modes = tiling_modes(s, t);
	for (int i = 0; i < modes.n; i++)
		if (ix_is(tiling_stride(s, t, modes.at[i])->leaf, 1))
			return true;
	return false;
}

/* TMA begins with a mode whose neighbours lie side by side, and a tile runs along it. */
static bool has_fast_mode(Sema *s, const Value *v)
{
	const Tensor *t = v->tile->tiling->tensor;
	bool fast = false;
	if (has_lines(s, v->tile->tiling))
		return true;
	for (int i = 0; i < v->tile->tiling->rank; i++)
		fast |= ix_is(tiling_stride(s, v->tile->tiling, i)->leaf, 1);
	return reject(
		s, v->loc, D_E0301,
		"not built yet: this layout of '%s': %s\n"
		"built are contiguous rows or columns of the tile: (M,K):(lda,1), (M,K):(1,lda)",
		t->name,
		fast ? "along the mode of stride 1 a tile has one "
		       "element, not as in (L,M,K):(S,K,1)"
		     : "one of its strides is 1, as in (M,K):(K,1) or "
		       "(M,K):(1,M)");
}

static bool load_fits(Sema *s, const Value *to, const Value *from)
{
	Buffer *b = to->buffer;
	const Tiling *t = from->tile->tiling;
	if (!is_whole_tile(s, from))
		return false;
	if (b->put)
		return reject(s, to->loc, D_E0305,
			      "'%s' is written from registers, and filled with a tile here\n"
			      "declare another buffer for the tile",
			      b->name);
	if (t->tensor->is_out)
		return reject(s, from->loc, D_E0213,
			      "'%s' is an output: no buffer is filled from it\n"
			      "read it after the loops, where it is inout: bf16(acc + g%s[m,n])",
			      t->tensor->name, t->tensor->name);
	if (b->type->elem != t->tensor->elem)
		return reject(s, from->loc, D_E0205,
			      "'%s' holds %s, '%s' has %s\n"
			      "declare the buffer %s : %s, and convert what is read of it",
			      b->name, elem_rows[b->type->elem].name, t->tensor->name,
			      elem_rows[t->tensor->elem].name, b->name,
			      elem_rows[t->tensor->elem].name);
	if (!shape_same(s, b->type->layout, tiling_shape(s, t)))
		return reject(s, from->loc, D_E0204,
			      "a tile of %s does not fill '%s' of %s\n"
			      "give the tile and the buffer one shape",
			      shape_str(s, tiling_shape(s, t)), b->name,
			      shape_str(s, b->type->layout));
	if (b->load && b->load->tensor != t->tensor)
		return reject(s, from->loc, D_E0312,
			      "'%s' is filled by a tma load of '%s', not of '%s'", b->name,
			      b->load->tensor->name, t->tensor->name);
	return has_fast_mode(s, from) && gather_fits(s, from) && groups_fill_fits(s, from) &&
	       window_fill_fits(s, from) && fill_fits(s, b, to->loc);
}

void own_ring(Sema *s, Buffer *b)
{
	Ring *r = NEW(s->arena, Ring);
	*r = (Ring){.name = kernel_fresh(s->kernel, ctx_strf(s->ctx, "%s.once", b->name)),
		    .slots = 1,
		    .loc = b->decl->name_loc,
		    .own = true,
		    .put = b->put};
	vec_push(s->arena, &r->buffers, b);
	vec_push(s->arena, &s->rings, r);
	b->ring = r;
	ring_build(s, r);
}

static void load(Sema *s, const Node *n, const Value *to, const Value *from)
{
	if (!to->buffer->ring)
		own_ring(s, to->buffer);
	fill(s, to->buffer, n->loc);
	scope_find(s, to->buffer->name)->value.tile = from->tile;
	if (!from->tile->names && !group_loop_has(s, from->tile)) /* none names a row of none */
		fill_needs_elements(s, from->tile->tiling->tensor, n->loc);
	Val *t = tile_build(s, from->tile, from->loc);
	if (!t)
		return;
	if (!attrs_get(&t->def->attrs, A_RAGGED))
		IN(t->def, OF).at = NULL; /* a buffer's rows may go on in the next group */
	Op *copy = build_copy(s, n->loc, to->buffer->val, t);
	if (to->buffer->load && to->buffer->load->multicast)
		op_str(s->kernel, copy, A_MULTICAST, to->buffer->load->multicast);
	if (to->buffer->load && to->buffer->load->cache)
		op_str(s->kernel, copy, A_CACHE, to->buffer->load->cache);
	if (to->buffer->load && to->buffer->load->via)
		op_str(s->kernel, copy, A_VIA, to->buffer->load->via);
	else if (to->buffer->load && from->tile->names) /* as the program asks */
		op_str(s->kernel, copy, A_VIA, ctx_str(s->ctx, "tma.rows"));
	if (to->buffer->load && to->buffer->load->bytes)
		op_int(s->kernel, copy, A_BYTES, to->buffer->load->bytes);
}

bool is_at_loops_tile(const Sema *s)
{
	return s->grid_open < 0 || s->grid_at[s->grid_open];
}

bool mode_at_grid(Sema *s, const Tile *to, int i)
{
	const Tiling *t = to->tiling, *g = s->grid;
	const Ix *at = to->at[i] ? to->at[i] : ix_const(s->ctx, 0);
	if (t->rank != g->rank)
		return false;
	if (to->names && to->gather == i)
		return true; /* scatter_fits */
	return at == s->grid_at[i] && tiling_extent(s, t, i) == tiling_extent(s, g, i) &&
	       t->extent[i] == g->extent[i];
}

static const char *help_index(Sema *s, const Value *to, int i)
{
	const char *name = to->tile->tiling->tensor->name;
	if (!is_at_loops_tile(s))
		return ctx_strf(
			s->ctx,
			"write it in a loop over these tiles: for n in g%s[m] { g%s[m,n] <- .. }",
			name, name);
	if (s->grid_open >= 0 && to->tile->tiling->rank < s->grid->rank)
		return "write it after the loop, where all of a row is known";
	if (i < s->grid->rank && ix_is(s->grid_at[i], 0))
		return ctx_strf(
			s->ctx,
			"the grid has one tile there: take all of mode %d of '%s' as a tile", i,
			name);
	return "index it with the names of the grid, in their order";
}

/* The first mode of the grid along which several tiles have the elements of a vector's tile. */
static int shared_along(Sema *s, const Tile *to)
{
	for (int i = 0; i < s->grid->rank; i++) {
		bool named = one_tile_along(s, s->grid, i);
		for (int j = 0; j < to->tiling->rank; j++)
			named |= to->at[j] == s->grid_at[i];
		if (!named)
			return i;
	}
	return 0;
}

/* A vector: each of its elements belongs to several tiles. */
static bool report_shared(Sema *s, const Value *to)
{
	const char *name = to->tile->tiling->tensor->name;
	int mode = shared_along(s, to->tile);
	const char *at = "";
	for (int i = 0; i < to->tile->tiling->rank; i++)
		at = ctx_strf(s->ctx, "%s%s%s", at, i ? "," : "",
			      to->tile->at[i] ? ix_spelled(s, to->tile->at[i]) : "0");
	return reject(s, to->loc, D_E0306,
		      "an element of '%s' belongs to several tiles of the output, and each of "
		      "them would write it\n"
		      "join them, %s[%s] += ... or %s[%s] <- max(%s[%s], ...); or write where "
		      "%s <= %" PRId64 ", if there is one",
		      name, name, at, name, at, name, at,
		      ix_text(s->ctx, tiling_extent(s, s->grid, mode)), s->grid->extent[mode]);
}

static bool report_index(Sema *s, const Value *to, int i)
{
	bool vector = to->tile->tiling->rank < s->grid->rank;
	if (vector && is_at_loops_tile(s) && s->grid_open < 0)
		return report_shared(s, to);
	return reject(s, to->loc, D_E0306,
		      "each tile of '%s' must be written once: index %d is not the grid's name "
		      "for that mode\n%s",
		      to->tile->tiling->tensor->name, i, help_index(s, to, i));
}

/* The mode that counts groups of columns, of which a tile of the grid has several. */
static bool counts_groups(Sema *s, const Tile *to, int i, int columns)
{
	int64_t extent = to->tiling->extent[i], all = s->grid->extent[i];
	return i == columns && extent < all && all % extent == 0 &&
	       tiling_extent(s, to->tiling, i) != tiling_extent(s, s->grid, i);
}

/* Of what holds a value for each row and each tile, the mode that counts tiles of columns; or of a
 * value for each column and so many rows, that which counts these. */
static bool counts_tiles(Sema *s, const Tile *to, int i)
{
	ModeList matrix = tiling_modes(s, s->grid);
	if (to->tiling->rank != s->grid->rank || matrix.n != BUFFER_RANK ||
	    to->at[i] != s->grid_at[i])
		return false;
	int64_t extent = to->tiling->extent[i];
	return (i == matrix.at[1] && extent == 1) || counts_groups(s, to, i, matrix.at[1]) ||
	       (i == matrix.at[0] && extent < s->grid->extent[i] &&
		s->grid->extent[i] % extent == 0 &&
		tiling_extent(s, to->tiling, i) != tiling_extent(s, s->grid, i));
}

/* The mode of the grid that the name at mode j of a tensor counts tiles of, of the same extents;
 * -1: none. */
static int mode_named(Sema *s, const Tile *to, int j)
{
	const Tiling *t = to->tiling, *g = s->grid;
	for (int i = 0; to->at[j] && to->at[j]->kind == IX_SYM && i < g->rank; i++)
		if (to->at[j] == s->grid_at[i] && t->extent[j] == g->extent[i] &&
		    tiling_extent(s, t, j) == tiling_extent(s, g, i))
			return i;
	return -1;
}

/* A value for each row, or each row of a batch, which one iteration of the grid has all of: modes
 * of the grid without a name here have one tile, or their tiles are those of a loop that is over.
 */
static bool holds_rows(Sema *s, const Tile *to)
{
	const Tiling *t = to->tiling, *g = s->grid;
	unsigned named = 0;
	for (int j = 0; j < t->rank; j++) {
		int i = mode_named(s, to, j);
		if (i < 0 || named >> i & 1)
			return false;
		named |= 1u << i;
	}
	for (int i = 0; i < g->rank; i++) {
		bool one = i == s->grid_open ? !s->grid_at[i] : one_tile_along(s, s->grid, i);
		if (!(named >> i & 1) && !one)
			return false;
	}
	return t->rank < g->rank;
}

enum { OF_GROUPS = 3 }; /* names of a group, a row and an end, which count no tiles */

/* After an mma tiles may leave through TMA, whose tensors have elements: a launch without any is
 * refused, as it would write no value. */
static void refuse_empty_rows(Sema *s, const Tile *to, const Ix *tiles, Loc loc)
{
	const Kernel *k = s->kernel;
	const char *why = ctx_strf(s->ctx, "an mma has no tile then, and '%s' would not be written",
				   to->tiling->tensor->name);
	for (int i = 0; i < k->syms.n; i++)
		if (k->syms.at[i].lo < 1 && ix_uses(tiles, k->syms.at[i].name))
			needs_some(s, k->syms.at[i].name, why, loc);
}

/* A row of no elements has a value, too: the one tile that would hold it is there, and empty. */
static void fill_empty_rows(Sema *s, const Tile *to, Loc loc)
{
	Op *op = s->grid_op;
	for (int i = s->groups.row ? OF_GROUPS : 0; i < op->nsym; i++) {
		bool named = false;
		for (int j = 0; j < to->tiling->rank; j++)
			named |= to->at[j] == ix_sym(s->ctx, op->sym[i]);
		if (named || ix_least(op->ix[i], facts_seen(&s->facts)) >= 1)
			continue;
		if (s->mma_loc.src >= 0)
			refuse_empty_rows(s, to, op->ix[i], loc);
		else
			op->ix[i] = ix_const(s->ctx, 1);
	}
}

/* Whether it is the one tile of its mode, and the grid's mode has one for all sizes. */
static bool is_only_tile(Sema *s, const Tile *to, int i)
{
	const Tiling *t = to->tiling, *g = s->grid;
	return t->rank == g->rank && to->at[i] && ix_is(to->at[i], 0) && one_tile_along(s, t, i) &&
	       ix_is(tiles_count(s, g, i), 1);
}

static bool store_at_grid(Sema *s, const Value *to)
{
	if (holds_rows(s, to->tile)) {
		fill_empty_rows(s, to->tile, to->loc);
		return true;
	}
	for (int i = 0; i < to->tile->tiling->rank; i++)
		if (!mode_at_grid(s, to->tile, i) && !counts_tiles(s, to->tile, i) &&
		    !is_only_tile(s, to->tile, i))
			return report_index(s, to, i);
	return true;
}

bool is_held_whole(Sema *s, const Value *v, const char *what)
{
	return v->kind == V_ACC || v->kind == V_FRAG ? elt_whole(s, v) : want(s, v, V_FRAG, what);
}

bool elem_fits(Sema *s, const Value *v, const char *name, const char *has, Elem e)
{
	Elem own = v->val->type->elem;
	Loc begin = {v->loc.src, v->loc.begin, v->loc.begin};
	Loc end = {v->loc.src, v->loc.end, v->loc.end};
	if (own == e)
		return true;
	DiagMsg *m = diag(s->ctx, v->loc, D_E0205, "'%s' %s %s, this is %s\nconvert it: %s(...)",
			  name, has, elem_rows[e].name, elem_rows[own].name, elem_rows[e].name);
	diag_fix(s->ctx, m, begin, "%s(", elem_rows[e].name);
	diag_fix(s->ctx, m, end, ")");
	return false;
}

static void say_out(Sema *s, DiagMsg *m, const Tensor *t)
{
	Loc type = t->decl->kids.at[0]->loc;
	diag_remedy(s->ctx, m, "declare it out to write to it");
	diag_fix(s->ctx, m, (Loc){type.src, type.begin, type.begin}, "out ");
}

static bool report_shape(Sema *s, const Tiling *t, const Layout *shape, const Value *v)
{
	const Layout *is = v->val->type->layout;
	const char *name = t->tensor->name;
	if (t->rank == 1 && shape_extent(is, 0) == 1 &&
	    shape_extent(is, 1) == shape_extent(shape, 0))
		return reject(s, v->loc, D_E0204,
			      "a tile of %s does not fit a tile of %s of '%s'\n"
			      "declare '%s' as one row, (1,N):(N,1), in tiles of one row",
			      shape_str(s, is), shape_str(s, shape), name, name);
	return reject(s, v->loc, D_E0204, "a tile of %s does not fit a tile of %s of '%s'",
		      shape_str(s, is), shape_str(s, shape), name);
}

static bool store_value_fits(Sema *s, const Value *to, const Layout *shape, const Value *v)
{
	const Tiling *t = to->tile->tiling;
	bool held = v->kind == V_FRAG && v->wide && shape_same(s, v->val->type->layout, shape);
	if (!held && !is_held_whole(s, v, "what is written"))
		return false;
	if (!shape_same(s, v->val->type->layout, shape))
		return report_shape(s, t, shape, v);
	return elem_fits(s, v, t->tensor->name, "holds", t->tensor->elem);
}

bool may_write(Sema *s, const Value *to)
{
	Tensor *t = tiling_tensor(to->tile->tiling);
	if (!t->is_out)
		say_out(s, diag(s->ctx, to->loc, D_E0213, "'%s' is an input", t->name), t);
	else if (t->writes)
		reject(s, to->loc, D_E0306,
		       "'%s' is written twice\n"
		       "write one expression, or a second output for the other",
		       t->name);
	else if (s->mma_loc.src >= 0 && s->work_loc.src < 0)
		reject(s, to->loc, D_E0309,
		       "'%s' is written before an mma\n"
		       "write acc += mm(sA, sB); before it",
		       t->name);
	else
		return true;
	return false;
}

static bool store_fits(Sema *s, const Value *to)
{
	return may_write(s, to) && is_whole_tile(s, to) && scatter_fits(s, to) &&
	       (s->place == AT_GRID ? store_at_grid : is_written_once)(s, to);
}

static void store(Sema *s, const Node *n, const Value *to, const Value *v)
{
	const Layout *shape;
	Val *t = vector_tile(s, to, &shape);
	if (!t || !store_value_fits(s, to, shape, v) || !reads_before(s, v, v->val))
		return;
	build_copy(s, n->loc, t, v->val);
	tiling_tensor(to->tile->tiling)->writes++;
}

bool via_fits(Sema *s, const Node *n, const Value *to)
{
	if (n->kind == N_NONE)
		return true;
	Value v = eval(s, n);
	if (v.kind == V_SIMT)
		return simt_fits(s, n, v.simt, to);
	if (!want(s, &v, V_TMA, "what follows via"))
		return false;
	if (v.load->stores && to->kind == V_TILE &&
	    v.load->tensor == tiling_tensor(to->tile->tiling))
		return true;
	if (to->kind == V_BUFFER && v.load->buffer == to->buffer) {
		to->buffer->load = v.load;
		said(s, SAID_VIA, to->buffer->name, n->loc, n->name);
		return true;
	}
	if (v.load->stores)
		reject(s, n->loc, D_E0312, "'%s' stores tiles of '%s'", n->name,
		       v.load->tensor->name);
	else
		reject(s, n->loc, D_E0312, "'%s' fills '%s'", n->name, v.load->buffer->name);
	return false;
}

static bool from_is_tile(Sema *s, const Value *from)
{
	if (from->kind == V_TILES || from->kind == V_TENSOR)
		return reject(s, from->loc, D_E0312, "a buffer is filled with one tile\n%s",
			      help_value(s, from));
	if (from->kind == V_TILE || from->kind == V_BAD)
		return from->kind == V_TILE;
	return reject(s, from->loc, D_E0203,
		      "what fills a buffer is a tile of a tensor or a value in registers, this is "
		      "%s\n%s",
		      value_text(from),
		      is_buffer(from) ? "convert it to a value: bf16(f32(sX))"
				      : "write a value of the buffer's shape");
}

static bool may_be_filled(Sema *s, const Node *n, const Buffer *b)
{
	if (b->leaves)
		reject(s, n->kids.at[0]->loc, D_E0213,
		       "tiles of an output leave through '%s', which is filled with these\n"
		       "write the tile: gD[m,n] <- ...",
		       b->name);
	return !b->leaves;
}

static void copy_to_buffer(Sema *s, const Node *n, const Value *to)
{
	Value from = eval(s, n->kids.at[1]);
	if (!may_be_filled(s, n, to->buffer))
		return;
	if (is_put(&from))
		to->buffer->broken |= !stmt_put(s, n, to, &from);
	else if (from.kind != V_BAD && via_fits(s, n->kids.at[2], to) && from_is_tile(s, &from) &&
		 load_fits(s, to, &from))
		load(s, n, to, &from);
	else
		to->buffer->broken = true;
}

static void copy_to_tile(Sema *s, const Node *n, const Value *to)
{
	if (stmt_joins(s, n, to) || !store_fits(s, to))
		return;
	Value from = eval(s, n->kids.at[1]);
	number_to_tile(&from);
	if (from.kind == V_TILE && !elt_read(s, &from))
		return;
	if (from.kind != V_BAD && via_fits(s, n->kids.at[2], to))
		store(s, n, to, &from);
}

static void report_no_place(Sema *s, const Value *to)
{
	bool tensor = to->kind == V_TENSOR || to->kind == V_TILES;
	reject(s, to->loc, D_E0213, "%s cannot be written to\n%s", value_text(to),
	       tensor ? help_value(s, to)
	       : to->kind == V_VIEW
		       ? ctx_strf(s->ctx, "fill the whole buffer, %s <- ...", to->buffer->name)
	       : is_elementwise(to) ? "a value keeps its name: let z = ... names another"
				    : "");
}

void stmt_copy(Sema *s, const Node *n)
{
	Value to = eval(s, n->kids.at[0]);
	if (to.kind == V_BUFFER)
		copy_to_buffer(s, n, &to);
	else if (to.kind == V_TILE)
		copy_to_tile(s, n, &to);
	else if (to.kind == V_ACC)
		acc_assign(s, n, &to);
	else if (to.kind != V_BAD)
		report_no_place(s, &to);
}
