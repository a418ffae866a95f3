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

/* By what is left of a tile: a row or a column. */
static const struct {
	const char *what, *example;
} left[2][2] = {
	{{"for each row of the tile",
	  "[m] += rowsum(x), and index it with the grid's name of the rows"},
	 {NULL, NULL}},
	{{"of the tile", "[0] += tilesum(x)"},
	 {"for each column of the tile",
	  "[n] += colsum(x), and index it with the grid's name of the columns"}},
};

static bool report_shape(Sema *s, const Tensor *t, const Value *v, const Layout *to)
{
	bool row = shape_extent(to, 0) == 1, column = is_column(to);
	const char *is = v->kind == V_FRAG ? shape_str(s, v->val->type->layout) : value_text(v);
	if (!row && !column)
		return reject(s, v->loc, D_E0203,
			      "what is joined to '%s' is a tile of %s, this is %s\n"
			      "combine it with a tile of that shape; or declare '%s' with one mode "
			      "for a value for each row",
			      t->name, shape_str(s, to), is, t->name);
	return reject(s, v->loc, D_E0203,
		      "what is joined to '%s' is a value %s, this is %s\n"
		      "write %s%s",
		      t->name, left[row][!column].what, is, t->name, left[row][!column].example);
}

/* A tile, or a value for each row, as it is; or where a tile is reduced on its way, of what that
 * leaves. */
static bool shape_fits(Sema *s, const Tensor *t, const Value *v, const Layout *to,
		       const Reduction *r)
{
	bool held = v->kind == V_FRAG || v->kind == V_ACC;
	if (held && !elt_whole(s, v))
		return false;
	if (!r && held && shape_same(s, v->val->type->layout, to))
		return true;
	if (!r)
		return report_shape(s, t, v, to);
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

/* The types that memory joins by, "f32, bf16, s32". */
static const char *types_joined(Sema *s, const CombineRow *by)
{
	const char *all = "";
	for (Elem e = 0; e < EL_COUNT; e++)
		if (join_row(by, e, 1))
			all = ctx_strf(s->ctx, "%s%s%s", all, *all ? ", " : "", elem_rows[e].name);
	return all;
}

static bool type_fits(Sema *s, const Value *to, const CombineRow *by)
{
	const Tensor *t = tiling_tensor(to->tile->tiling);
	const JoinRow *row = join_row(by, t->elem, 1);
	if (!row)
		return reject(s, to->loc, D_E0205,
			      "'%s' holds %s, and tiles are joined by %s in %s\n"
			      "declare it %s %s",
			      t->name, elem_rows[t->elem].name, by->name, types_joined(s, by),
			      t->is_inout ? "inout" : "out",
			      elem_is_float(t->elem) ? "f32" : "s32");
	return target_takes(s, to->loc, row->feature,
			    ctx_strf(s->ctx, "declare '%s' of f32", t->name));
}

static bool value_fits(Sema *s, const Value *to, const Value *v, const Layout *shape,
		       const Reduction *r)
{
	const Tensor *t = tiling_tensor(to->tile->tiling);
	return shape_fits(s, t, v, shape, r) && elem_fits(s, v, t->name, "holds", t->elem);
}

/* colsum(x), tilesum(x): what a tile is reduced by on its way. */
static bool is_reduced(Sema *s, const Node *from, const CombineRow *by, Reduction *r)
{
	const Node *callee = from->kind == N_CALL && from->kids.n == 2 ? from->kids.at[0] : NULL;
	return callee && callee->kind == N_NAME && !scope_find(s, callee->name) &&
	       reduction_named(callee->name, r) && r->kept != 0 && r->by == by;
}

/* What is joined; a number is that of each element of the tile. */
static Value joined_value(Sema *s, const Node *from, bool reduced, const Type *each)
{
	Value v = eval(s, reduced ? from->kids.at[1] : from);
	if (!reduced && is_number(&v)) {
		Val *x = build_number(s, from, &v, each);
		v = value_of(x ? V_FRAG : V_BAD);
		v.loc = from->loc;
		v.val = x;
	}
	bool fits = v.kind == V_BAD ||
		    (reduced ? elt_reducible(s, from, &v) : v.kind != V_TILE || elt_read(s, &v));
	return fits ? v : value_bad();
}

static bool may_join(Sema *s, const Value *to, const CombineRow *by)
{
	return may_write(s, to) && is_whole_tile(s, to) && type_fits(s, to, by);
}

static bool is_never_read(Sema *s, const Value *to)
{
	const Tensor *t = tiling_tensor(to->tile->tiling);
	return !t->reads || reject(s, to->loc, D_E0306,
				   "tiles are joined to '%s', and it is read: other iterations "
				   "join to it meanwhile\n"
				   "read what it held from a tensor of its own",
				   t->name);
}

/* A vector may be out: its caller knows that it is joined to. */
static bool holds_before(Sema *s, const Value *to, const Layout *shape)
{
	const Tensor *t = tiling_tensor(to->tile->tiling);
	bool vector = !to->tile->names && (is_column(shape) || shape_extent(shape, 0) == 1);
	return t->is_inout || vector ||
	       reject(s, to->loc, D_E0306,
		      "tiles are joined to what '%s' holds before the launch, and it is out\n"
		      "declare it inout",
		      t->name);
}

static void join(Sema *s, const Node *n, const Value *to, const CombineRow *by, const Node *from)
{
	const Layout *shape;
	Reduction r;
	Val *t = may_join(s, to, by) ? vector_tile(s, to, &shape) : NULL;
	if (!t || !holds_before(s, to, shape))
		return;
	bool reduced = is_reduced(s, from, by, &r);
	Elem elem = t->type->elem;
	Value v = joined_value(s, from, reduced, type_tile(s->ctx, SP_REG, elem, shape));
	if (v.kind == V_BAD || !is_never_read(s, to) ||
	    !value_fits(s, to, &v, shape, reduced ? &r : NULL) || !reads_before(s, &v, v.val))
		return;
	Val *x = reduced ? elt_inside(s, from->loc, v.val, &r) : v.val;
	Op *op = build_copy(s, n->loc, t, x);
	op_str(s->kernel, op, A_COMBINE, by->name);
	Tensor *tensor = tiling_tensor(to->tile->tiling);
	tensor->writes++;
	tensor->kept = true;
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
	return matrix.n == BUFFER_RANK && one_tile_along(s, s->grid, matrix.at[1]);
}

static bool is_vector(Sema *s, const Op *op)
{
	const Layout *l = IN(op, TO).val->type->layout;
	int rank = layout_rank(l);
	bool column = ix_is(layout_size(s->ctx, layout_mode(s->ctx, l, rank - 1)), 1);
	return column || rank < 2 ||
	       ix_is(layout_size(s->ctx, layout_mode(s->ctx, l, rank - 2)), 1);
}

/* Each element is added to by one tile, and in it by one thread. */
static bool is_added_once(Sema *s, const Op *op)
{
	const Val *to = IN(op, TO).val;
	if (HAS_IN(to->def, INDEX))
		return false;
	if (is_vector(s, op))
		return is_of_rows(s, op) && tile_holds_row(s) && !sched_swaps(s);
	return !tiles_share(s->kernel, op, to);
}

/* Of a sum of floats the bits. */
static bool needs_order(Sema *s, const Op *op)
{
	const CombineRow *by = op->kind == OP_COPY ? combine_of(op) : NULL;
	return by && by->op == OP_ADD && elem_is_float(IN(op, TO).val->type->elem) &&
	       !is_added_once(s, op);
}

/* Of a sum whose tiles come in any order, what the program may write instead. */
static const char *help_order(Sema *s, const Op *op, const char *name)
{
	const Layout *to = IN(op, TO).val->type->layout;
	int64_t cols = shape_extent(to, layout_rank(to) - 1);
	if (HAS_IN(IN(op, TO).val->def, INDEX) || !is_vector(s, op))
		return "leave deterministic out of the schedule";
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
