/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* join.c - values of each tile, joined to what an output holds for each row, each column or all of
 * them: of all tiles, in any order.
 *     S[m] += rowsum(x);              ->   copy %t, %r combine=sum
 *     S[m] <- max(S[m], rowmax(x));   ->   copy %t, %r combine=max
 *     S[n] += colsum(x);              ->   copy %t, %x combine=sum, %t is (1,N) */
#include "frontend/sema.h"

static bool node_same(const Node *a, const Node *b)
{
	bool same = a->kind == b->kind && a->op == b->op && a->num == b->num &&
		    a->name == b->name && a->kids.n == b->kids.n;
	for (int i = 0; i < a->kids.n && same; i++)
		same = node_same(a->kids.at[i], b->kids.at[i]);
	return same;
}

enum { HELD = 1, JOINED = 2 }; /* max(S[m], x) */

/* A call where S[m], the place that is written, is this operand. */
static const CombineRow *joined_by(const Node *to, const Node *from, int held)
{
	bool call = from->kind == N_CALL && from->kids.n == 3 && from->kids.at[0]->kind == N_NAME &&
		    node_same(to, from->kids.at[held]);
	const EltRow *row = call ? elt_by_name(from->kids.at[0]->name) : NULL;
	return row ? combine_by_op(row->op) : NULL;
}

static bool is_column(const Layout *shape)
{
	return shape_extent(shape, 1) == 1;
}

/* An element for each row, each column or all of a tile. */
static bool is_left(const Layout *shape)
{
	return is_column(shape) || shape_extent(shape, 0) == 1;
}

/* A tile as large as what is written: nothing of it is reduced. */
static bool report_whole(Sema *s, const Tensor *t, const Value *v)
{
	return reject(s, v->loc, D_E0203,
		      "what is joined to '%s' is a value for each row of the tile, this is a "
		      "whole tile\n"
		      "%swrite g%s[m,n] <- %s(x + g%s[m,n])",
		      t->name, t->is_inout ? "" : "declare it inout, and ", t->name,
		      elem_rows[t->elem].name, t->name);
}

/* By what is left of a tile: a row, a column, one element of it. */
static const struct {
	const char *what, *example;
} left[2][2] = {
	{{"for each row of the tile",
	  "[m] += rowsum(x), and index it with the grid's name of the rows"},
	 {"for each row, each column or all of the tile",
	  "[m] += rowsum(x), where it has an element for each row"}},
	{{"of the tile", "[0] += tilesum(x)"},
	 {"for each column of the tile",
	  "[n] += colsum(x), and index it with the grid's name of the columns"}},
};

static bool report_no_row(Sema *s, const Tensor *t, const Value *v, const Layout *to)
{
	bool row = shape_extent(to, 0) == 1;
	return reject(s, v->loc, D_E0203,
		      "what is joined to '%s' is a value %s, this is %s\n"
		      "write %s%s",
		      t->name, left[row][!is_column(to)].what,
		      v->kind == V_FRAG ? shape_str(s, v->val->type->layout) : value_text(v),
		      t->name, left[row][!is_column(to)].example);
}

/* Of a value for each row; or where all of a tile is reduced on its way, of what that leaves. */
static bool shape_fits(Sema *s, const Tensor *t, const Value *v, const Layout *to,
		       const Reduction *r)
{
	bool held = v->kind == V_FRAG || v->kind == V_ACC;
	if (held && !elt_whole(s, v))
		return false;
	if (!r && held && shape_same(s, v->val->type->layout, to))
		return is_left(to) || report_whole(s, t, v);
	if (!r)
		return report_no_row(s, t, v, to);
	if (shape_same(s, reduced_shape(s, v->val->type->layout, r->kept), to))
		return true;
	return reject(s, v->loc, D_E0203,
		      "'%s' has %s, and %s is what a tile leaves of it\n"
		      "%s",
		      t->name, shape_str(s, to),
		      shape_str(s, reduced_shape(s, v->val->type->layout, r->kept)),
		      r->kept == 1 ? "declare it out f32 (N), and index it with the grid's name of "
				     "the columns"
				   : "declare it out f32 (1), and index it with 0");
}

static bool value_fits(Sema *s, const Value *to, const Value *v, const Layout *shape,
		       const Reduction *r)
{
	const Tensor *t = to->tile->tiling->tensor;
	if (!shape_fits(s, t, v, shape, r))
		return false;
	if (t->elem != EL_F32)
		reject(s, to->loc, D_E0205,
		       "'%s' holds %s, and tiles are joined in f32\n"
		       "declare it out f32",
		       t->name, elem_rows[t->elem].name);
	return t->elem == EL_F32;
}

/* colsum(x), tilesum(x): what a tile is reduced by on its way. */
static bool is_reduced(Sema *s, const Node *from, const CombineRow *by, Reduction *r)
{
	const Node *callee = from->kind == N_CALL && from->kids.n == 2 ? from->kids.at[0] : NULL;
	return callee && callee->kind == N_NAME && !scope_find(s, callee->name) &&
	       reduction_named(callee->name, r) && r->kept != 0 && r->by == by;
}

static Value joined_value(Sema *s, const Node *from, bool reduced)
{
	Value v = eval(s, reduced ? from->kids.at[1] : from);
	if (reduced && v.kind != V_BAD && !elt_reducible(s, from, &v))
		return value_bad();
	return v;
}

static void join(Sema *s, const Node *n, const Value *to, const CombineRow *by, const Node *from)
{
	const Layout *shape;
	Reduction r;
	if (!may_write(s, to) || !is_whole_tile(s, to))
		return;
	if (to->tile->names) {
		reject_indices(s, to->loc, "of what tiles are joined to");
		return;
	}
	bool reduced = is_reduced(s, from, by, &r);
	Value v = joined_value(s, from, reduced);
	Val *t = v.kind == V_BAD ? NULL : vector_tile(s, to, &shape);
	if (!t || !value_fits(s, to, &v, shape, reduced ? &r : NULL) || !reads_before(s, &v, v.val))
		return;
	Val *x = reduced ? elt_inside(s, from->loc, v.val, &r) : v.val;
	Op *op = build_copy(s, n->loc, t, x);
	op_str(s->kernel, op, A_COMBINE, by->name);
	to->tile->tiling->tensor->writes++;
}

void stmt_add(Sema *s, const Node *n, const Value *to)
{
	join(s, n, to, combine_by_op(OP_ADD), n->kids.at[1]);
}

static void say_order(Sema *s, const Node *from, const Value *to)
{
	const char *name = to->tile->tiling->tensor->name, *by = from->kids.at[0]->name;
	reject(s, from->kids.at[JOINED]->loc, D_E0306,
	       "what '%s' holds is the first operand of the %s that joins tiles to it, "
	       "this is the second\n"
	       "swap them: %s(%s[...], x)",
	       name, by, by, name);
}

bool stmt_joins(Sema *s, const Node *n, const Value *to)
{
	const Node *place = n->kids.at[0], *from = n->kids.at[1];
	const CombineRow *by = joined_by(place, from, HELD);
	bool swapped = !by && joined_by(place, from, JOINED);
	if (by)
		join(s, n, to, by, from->kids.at[JOINED]);
	else if (swapped)
		say_order(s, from, to);
	return by || swapped;
}

/* ------------------------------------------------------------------ in an order */
/* What is joined to an element for each row, not to one of all. */
static bool is_of_rows(Sema *s, const Op *op)
{
	const Layout *tensor = IN(IN(op, TO).val->def, OF).val->type->layout;
	return is_column(IN(op, FROM).val->type->layout) && !ix_is(layout_size(s->ctx, tensor), 1);
}

/* Whether a tile of the grid holds a row of its output. */
static bool tile_holds_row(Sema *s)
{
	ModeList matrix = s->grid ? tiling_modes(s, s->grid) : (ModeList){0};
	return matrix.n == BUFFER_RANK && one_tile_along(s, matrix.at[1]);
}

/* Of a sum of f32 the bits; each element of a row that one tile holds is added to once. */
static bool needs_order(Sema *s, const Op *op)
{
	const CombineRow *by = op->kind == OP_COPY ? combine_of(op) : NULL;
	return by && by->op == OP_ADD &&
	       !(is_of_rows(s, op) && tile_holds_row(s) && !sched_swaps(s));
}

/* Of a sum whose tiles come in any order, what the program may write instead. */
static const char *help_order(Sema *s, const Op *op, const char *name)
{
	const Layout *to = IN(op, TO).val->type->layout;
	int64_t cols = shape_extent(to, layout_rank(to) - 1);
	if (is_of_rows(s, op) && tile_holds_row(s))
		return "leave swap out: a row lies in several warps with it, which add to it one "
		       "after the other";
	if (is_of_rows(s, op))
		return ctx_strf(s->ctx,
				"write a value for each row and each tile, g%s[m,n] <- rowsum(x) "
				"of %s : out f32 (M,T), and add these up where they are read",
				name, name);
	return ctx_strf(s->ctx,
			"write a value for each tile of rows, g%s[m,n] <- %s(x) of %s : out f32 "
			"(T,%s), and add these up where they are read",
			name, cols > 1 ? "colsum" : "tilesum", name, cols > 1 ? "N" : "U");
}

void joins_in_order(Sema *s)
{
	for (const Op *op = kernel_first(s->kernel); op; op = op_next(op)) {
		if (!needs_order(s, op))
			continue;
		const char *name = tensor_name(IN(op, TO).val);
		reject(s, op->loc, D_E0308,
		       "tiles add to '%s' in any order, and the schedule says deterministic\n%s",
		       name, help_order(s, op, name));
	}
}
