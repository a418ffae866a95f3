/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stmt.c - what a kernel does: the grid over the tiles of an output, the loop over k in it, copies,
 * the write of the output. Each statement is checked and built at once.
 *     for (m,n) in gD { ... sA <- gA[m,k]; ... }
 *  -> grid m, n ((M + 127) / 128, (N + 255) / 256) {
 *       ...
 *       %t = tile %A (m * 128, k * 64) : global bf16 (128,64):(K,1)
 *       copy %sA, %t */
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

/* ------------------------------------------------------------------ loops */
static void add_coord(Sema *s, const Node *name, const Tiling *t, int mode)
{
	Value v = value_ix(ix_sym(s->ctx, name->name));
	Coord *c = NEW(s->arena, Coord);
	const Layout *l = layout_mode(s->ctx, t->tensor->layout, mode);
	*c = (Coord){name->name, layout_size(s->ctx, l), t->extent[mode]};
	v.coord = c;
	scope_add(s, name, v);
}

static bool names_fit(Sema *s, const Node *names)
{
	bool good = true;
	int mark = scope_mark(s);
	for (int i = 0; i < names->kids.n; i++) {
		const Node *n = names->kids.at[i];
		good &= name_is_free(s, n->name, n->loc) && name_fits_ir(s, n->name, n->loc);
		if (good)
			scope_add(s, n, value_bad());
	}
	scope_leave(s, mark);
	return good;
}

static void body(Sema *s, const Node *block, Op *op, Place place)
{
	Block *outer = s->block;
	Place before = s->place;
	s->block = op_body(s->kernel, op);
	s->place = place;
	sema_block(s, block);
	s->block = outer;
	s->place = before;
}

static bool grid_fits(Sema *s, const Node *n, const Value *v)
{
	const Node *names = n->kids.at[0];
	if (v->kind != V_TILES) {
		DiagMsg *m;
		if (v->kind == V_BAD)
			return false;
		m = diag(s->ctx, v->loc, D_E0307,
			 "the grid is over the tiles of an output, not "
			 "over %s",
			 value_texts[v->kind]);
		diag_remedy(s->ctx, m, "write for (m,n) in gD, with let gD = D / (bM,bN)");
		return false;
	}
	const Tensor *t = v->tiling->tensor;
	if (!t->is_out)
		diag(s->ctx, v->loc, D_E0307,
		     "the grid is over the tiles of an output, and '%s' is "
		     "an input",
		     t->name);
	else if (names->kids.n != v->tiling->rank)
		diag(s->ctx, names->loc, D_E0206,
		     "%d name%s for the tiles of '%s', which has rank %d", names->kids.n,
		     names->kids.n == 1 ? "" : "s", t->name, v->tiling->rank);
	else if (v->tiling->rank != RANK_MAX)
		not_yet(s, v->loc, "outputs of rank %d; rank %d is", v->tiling->rank, RANK_MAX);
	else if (s->grid_loc.src >= 0)
		not_yet(s, n->loc, "a second grid in one kernel");
	else
		return names_fit(s, names);
	return false;
}

static void grid(Sema *s, const Node *n)
{
	const Node *names = n->kids.at[0];
	Value v = eval(s, n->kids.at[1]);
	int mark = scope_mark(s);
	if (!grid_fits(s, n, &v))
		return;
	s->grid_loc = n->loc;
	s->grid = v.tiling;
	buffers_build(s);
	Op *op = build(s, OP_GRID, n->loc);
	for (int i = 0; i < names->kids.n; i++) {
		op_sym(s->kernel, op, names->kids.at[i]->name);
		op_ix(s->kernel, op, tiles_count(s, v.tiling, i));
		add_coord(s, names->kids.at[i], v.tiling, i);
		s->grid_at[i] = ix_sym(s->ctx, names->kids.at[i]->name);
	}
	body(s, n->kids.at[2], op, AT_GRID);
	scope_leave(s, mark);
	if (diag_errors(s->ctx) == s->errors_before_kernel)
		buffers_check(s);
}

/* gA[m] in `for k in gA[m]`: all modes but the last are given */
static bool loop_fits(Sema *s, const Node *n, const Value *v)
{
	const Node *names = n->kids.at[0];
	if (v->kind == V_TILES && v->tiling->rank > 1) {
		DiagMsg *m = diag(s->ctx, v->loc, D_E0307, "this loop has %d modes to run over",
				  v->tiling->rank);
		diag_remedy(s->ctx, m, "give all but the last: for k in gA[m]");
		return false;
	}
	if (v->kind != V_TILES && !want(s, v, V_TILE, "what a loop runs over"))
		return false;
	if (v->kind == V_TILE && v->tile->n + 1 != v->tile->tiling->rank)
		diag(s->ctx, v->loc, D_E0307, "this leaves no mode to run over");
	else if (names->kids.n != 1)
		diag(s->ctx, names->loc, D_E0206, "%d names for one mode", names->kids.n);
	else if (s->loop_loc.src >= 0)
		not_yet(s, n->loc, "a second loop over k in one grid");
	else
		return names_fit(s, names);
	return false;
}

static void loop(Sema *s, const Node *n)
{
	const Node *name = n->kids.at[0]->kids.at[0];
	Value v = eval(s, n->kids.at[1]);
	int mark = scope_mark(s);
	bool fits = v.kind != V_BAD && loop_fits(s, n, &v);
	s->loop_loc = n->loc;
	if (!fits)
		return;
	const Tiling *t = v.kind == V_TILES ? v.tiling : v.tile->tiling;
	Op *op = build(s, OP_FOR, n->loc);
	op_sym(s->kernel, op, name->name);
	op_ix(s->kernel, op, ix_const(s->ctx, 0));
	op_ix(s->kernel, op, tiles_count(s, t, t->rank - 1));
	add_coord(s, name, t, t->rank - 1);
	body(s, n->kids.at[2], op, AT_LOOP);
	scope_leave(s, mark);
}

void stmt_for(Sema *s, const Node *n)
{
	if (s->place == AT_KERNEL)
		grid(s, n);
	else if (s->place == AT_GRID)
		loop(s, n);
	else
		not_yet(s, n->loc, "loops in the loop over k");
}

/* ------------------------------------------------------------------ copies */
bool is_whole_tile(Sema *s, const Value *v)
{
	if (v->tile->n == v->tile->tiling->rank)
		return true;
	diag(s->ctx, v->loc, D_E0206, "%d index for '%s', which has rank %d", v->tile->n,
	     v->tile->tiling->tensor->name, v->tile->tiling->rank);
	return false;
}

/* TMA begins with a mode whose neighbours lie side by side. */
static bool has_fast_mode(Sema *s, const Value *v)
{
	const Tensor *t = v->tile->tiling->tensor;
	for (int i = 0; i < v->tile->tiling->rank; i++)
		if (ix_is(layout_mode(s->ctx, t->layout, i)->stride->leaf, 1))
			return true;
	not_yet(s, v->loc,
		"this layout of '%s': one of its strides is 1, as in (M,K):(K,1) or (M,K):(1,M)",
		t->name);
	return false;
}

static bool load_fits(Sema *s, const Value *to, const Value *from)
{
	Buffer *b = to->buffer;
	const Tiling *t = from->tile->tiling;
	if (!is_whole_tile(s, from))
		return false;
	if (!b->ring)
		diag_remedy(s->ctx,
			    diag(s->ctx, to->loc, D_E0305, "'%s' is in no pipeline", b->name),
			    "declare one: pipeline ab(4) { %s }", b->name);
	else if (b->type->elem != t->tensor->elem)
		diag(s->ctx, from->loc, D_E0205, "'%s' holds %s, '%s' has %s", b->name,
		     elem_rows[b->type->elem].name, t->tensor->name,
		     elem_rows[t->tensor->elem].name);
	else if (!shape_same(s, b->type->layout, tile_shape(s, t)))
		diag(s->ctx, from->loc, D_E0204, "a tile of %s does not fill '%s' of %s",
		     shape_str(s, tile_shape(s, t)), b->name, shape_str(s, b->type->layout));
	else if (s->place != AT_LOOP)
		not_yet(s, to->loc, "filling a pipeline outside the loop over k");
	else if (b->filled.src >= 0)
		diag_note(s->ctx,
			  diag(s->ctx, to->loc, D_E0305, "'%s' is filled twice in one iteration",
			       b->name),
			  b->filled, "the first time here");
	else if (b->load && b->load->tensor != t->tensor)
		diag(s->ctx, from->loc, D_E0312,
		     "'%s' is filled by a tma load of '%s', not of '%s'", b->name,
		     b->load->tensor->name, t->tensor->name);
	else
		return has_fast_mode(s, from);
	return false;
}

static void load(Sema *s, const Node *n, const Value *to, const Value *from)
{
	to->buffer->filled = n->loc;
	Val *t = tile_build(s, from->tile, from->loc);
	Op *copy = build(s, OP_COPY, n->loc);
	build_in(s, build_in(s, copy, to->buffer->val), t);
	if (to->buffer->load && to->buffer->load->multicast)
		op_str(s->kernel, copy, A_MULTICAST, to->buffer->load->multicast);
}

static bool store_at_grid(Sema *s, const Value *to)
{
	const Tiling *t = to->tile->tiling, *g = s->grid;
	for (int i = 0; i < t->rank; i++) {
		const Ix *a = layout_size(s->ctx, layout_mode(s->ctx, t->tensor->layout, i));
		const Ix *b = layout_size(s->ctx, layout_mode(s->ctx, g->tensor->layout, i));
		if (to->tile->at[i] == s->grid_at[i] && a == b && t->extent[i] == g->extent[i])
			continue;
		DiagMsg *m = diag(s->ctx, to->loc, D_E0306,
				  "each tile of '%s' must be written once: index %d is not the "
				  "grid's name for that mode",
				  t->tensor->name, i);
		diag_remedy(s->ctx, m, "index it with the names of the grid, in their order");
		return false;
	}
	return true;
}

static bool store_value_fits(Sema *s, const Value *to, const Value *v)
{
	const Tiling *t = to->tile->tiling;
	Elem e = t->tensor->elem;
	if (v->kind != V_ACC && v->kind != V_FRAG) {
		want(s, v, V_FRAG, "what is written");
		return false;
	}
	if (!shape_same(s, v->val->type->layout, tile_shape(s, t)))
		diag(s->ctx, v->loc, D_E0204, "a tile of %s does not fit a tile of %s of '%s'",
		     shape_str(s, v->val->type->layout), shape_str(s, tile_shape(s, t)),
		     t->tensor->name);
	else if (v->val->type->elem != e)
		diag_remedy(s->ctx,
			    diag(s->ctx, v->loc, D_E0205, "'%s' holds %s, this is %s",
				 t->tensor->name, elem_rows[e].name,
				 elem_rows[v->val->type->elem].name),
			    "convert it: %s(...)", elem_rows[e].name);
	else
		return true;
	return false;
}

static bool store_fits(Sema *s, const Value *to)
{
	Tensor *t = to->tile->tiling->tensor;
	const Layout *row = layout_mode(s->ctx, t->layout, layout_rank(t->layout) - 1);
	const Layout *col = layout_mode(s->ctx, t->layout, 0);
	if (!t->is_out)
		diag_remedy(s->ctx, diag(s->ctx, to->loc, D_E0213, "'%s' is an input", t->name),
			    "declare it out to write to it");
	else if (s->place != AT_GRID)
		diag(s->ctx, to->loc, D_E0306,
		     "'%s' is written in the loop over k: each tile must "
		     "be written once, behind it",
		     t->name);
	else if (t->writes)
		diag(s->ctx, to->loc, D_E0306, "'%s' is written twice", t->name);
	else if (s->loop_loc.src < 0)
		not_yet(s, to->loc, "writing the output before the loop over k");
	else if (!ix_is(row->stride->leaf, 1) && !ix_is(col->stride->leaf, 1))
		not_yet(s, to->loc,
			"this layout of '%s': rows or columns must be contiguous, as (M,N):(N,1) "
			"or (M,N):(1,M)",
			t->name);
	else
		return is_whole_tile(s, to) && store_at_grid(s, to);
	return false;
}

static void store(Sema *s, const Node *n, const Value *to, const Value *v)
{
	if (!store_value_fits(s, to, v))
		return;
	Val *t = tile_build(s, to->tile, to->loc);
	build_in(s, build_in(s, build(s, OP_COPY, n->loc), t), v->val);
	to->tile->tiling->tensor->writes++;
}

bool via_fits(Sema *s, const Node *n, const Value *to)
{
	if (n->kind == N_NONE)
		return true;
	Value v = eval(s, n);
	if (!want(s, &v, V_TMA, "what stands behind via"))
		return false;
	if (to->kind == V_BUFFER && v.load->buffer == to->buffer) {
		to->buffer->load = v.load;
		said(s, SAID_VIA, to->buffer->name, n->loc, n->name);
		return true;
	}
	diag(s->ctx, n->loc, D_E0312, "'%s' fills '%s'", n->name, v.load->buffer->name);
	return false;
}

static bool from_is_tile(Sema *s, const Value *from)
{
	if (from->kind == V_TILES || from->kind == V_TENSOR) {
		diag_remedy(s->ctx,
			    diag(s->ctx, from->loc, D_E0312, "a buffer is filled with one tile"),
			    "write gA[m,k]");
		return false;
	}
	return want(s, from, V_TILE, "what fills a buffer");
}

static void copy_to_buffer(Sema *s, const Node *n, const Value *to)
{
	Value from = eval(s, n->kids.at[1]);
	if (from.kind != V_BAD && via_fits(s, n->kids.at[2], to) && from_is_tile(s, &from) &&
	    load_fits(s, to, &from))
		load(s, n, to, &from);
	else
		to->buffer->broken = true;
}

static void copy_to_tile(Sema *s, const Node *n, const Value *to)
{
	if (!store_fits(s, to))
		return;
	Value from = eval(s, n->kids.at[1]);
	if (from.kind == V_TILE)
		not_yet(s, from.loc, "copying and reading global tiles without a buffer");
	else if (from.kind != V_BAD && via_fits(s, n->kids.at[2], to))
		store(s, n, to, &from);
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
		diag(s->ctx, to.loc, D_E0213, "%s cannot be written to", value_texts[to.kind]);
}
