/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* elt.c - values that exist on the device: accumulators, scalars and tiles in registers. Whatever
 * elementwise.def has a row for may be written; numbers become constants of the kernel.
 *     bf16(alpha * acc)   ->   %x = mul %alpha, %acc : reg f32 (128,256):(1,128)
 *                              %c = cvt %x : reg bf16 (128,256):(1,128) */
#include "frontend/sema.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { ARITY_MAX = 3 };

bool is_number(const Value *v)
{
	return v->kind == V_REAL || (v->kind == V_INT && ix_is_const(v->ix, NULL));
}

bool is_size(const Value *v)
{
	return v->kind == V_INT && !is_number(v);
}

bool is_elementwise(const Value *v)
{
	return v->kind == V_INT || v->kind == V_REAL || v->kind == V_ACC || v->kind == V_SCALAR ||
	       v->kind == V_FRAG || v->kind == V_TILE;
}

double value_number(const Value *v)
{
	int64_t i = 0;
	if (v->kind == V_REAL)
		return v->real;
	ix_is_const(v->ix, &i);
	return (double)i;
}

/* Operations run where tiles do. */
static bool elt_place(Sema *s, Loc loc)
{
	if (s->place & (AT_LOOP | AT_GRID))
		return true;
	return reject(s, loc, D_E0309, "values on tiles and scalars are computed in the grid");
}

static const Type *type_like(Sema *s, Elem e, const Layout *shape)
{
	return shape ? type_tile(s->ctx, SP_REG, e, shape) : type_elem(s->ctx, e);
}

static Value result(Val *val)
{
	Value v = value_of(val->type->kind == TY_TILE ? V_FRAG : V_SCALAR);
	v.val = val;
	return v;
}

static const Layout *shape_of_frag(const Value *v)
{
	return v->wide ? v->wide : v->val->type->layout;
}

bool elt_whole(Sema *s, const Value *v)
{
	if (!v->wide)
		return true;
	return reject(s, v->loc, D_E0204,
		      "each element of this tile of %s stands for several of one of %s\n"
		      "combine it with a tile that has all of them",
		      shape_str(s, v->val->type->layout), shape_str(s, v->wide));
}

/* A value whose elements stand for one of this shape. */
static Value result_for(Val *val, const Layout *shape)
{
	Value v = result(val);
	bool differs = false;
	for (int i = 0; v.kind == V_FRAG && shape && i < BUFFER_RANK; i++)
		differs |= shape_extent(val->type->layout, i) != shape_extent(shape, i);
	v.wide = differs ? shape : NULL;
	return v;
}

/* Whether each element of a tile of `part` stands for as many of `whole`. */
static bool is_part(const Layout *part, const Layout *whole)
{
	return layout_rank(part) == BUFFER_RANK && layout_rank(whole) == BUFFER_RANK &&
	       shape_extent(whole, 0) % shape_extent(part, 0) == 0 &&
	       shape_extent(whole, 1) % shape_extent(part, 1) == 0;
}

static bool may_read(Sema *s, const Value *v)
{
	const Tensor *t = v->tile->tiling->tensor;
	if (!is_whole_tile(s, v) || !elt_place(s, v->loc))
		return false;
	if (v->tile->names && t->is_inout)
		return reject_indices(s, v->loc,
				      ctx_strf(s->ctx, "of '%s', which is inout", t->name));
	if (!t->is_out || t->is_inout)
		return !t->is_inout || reads_in_place(s, v);
	return reject(s, v->loc, D_E0213,
		      "'%s' is an output: it is written, not read\n"
		      "%s",
		      t->name,
		      layout_rank(t->layout) == 1
			      ? "what tiles are joined to is complete when the kernel has "
				"ended: the next one reads it"
			      : "declare it inout to read what it held before");
}

/* A tile of a tensor comes into registers, as e: the type that it has, or a wider one. */
static bool read_tile(Sema *s, Value *v, Elem e)
{
	const Tiling *t = v->tile->tiling;
	if (!may_read(s, v))
		return false;
	if (elem_rows[t->tensor->elem].bits < 8)
		return reject(s, v->loc, D_E0301,
			      "not built yet: elements of %s without a buffer\n"
			      "built are tiles that a buffer holds: sQ <- gQ[m,k], and f32(sQ)",
			      elem_rows[t->tensor->elem].name);
	const Layout *shape;
	Val *from = vector_tile(s, v, &shape);
	if (!from || !names_lie_along(s, v, from))
		return false;
	Op *frag = build(s, OP_FRAG, v->loc);
	Val *to = op_result(s->kernel, frag, t->tensor->name, type_like(s, t->tensor->elem, shape));
	build_copy(s, v->loc, to, from);
	if (e != t->tensor->elem) {
		Op *op = build_in(s, build(s, OP_CVT, v->loc), to);
		to = op_result(s->kernel, op, "x", type_like(s, e, shape));
	}
	const Layout *whole = tile_repeats(s, v->tile) ? tiling_shape(s, t) : NULL;
	if (whole && !is_part(shape, whole))
		return reject(s, v->loc, D_E0301,
			      "not built yet: elements that repeat here; those along a tile's "
			      "rows and columns may");
	Loc loc = v->loc;
	*v = result_for(to, whole);
	v->loc = loc;
	return true;
}

bool elt_read(Sema *s, Value *v)
{
	return read_tile(s, v, elt_elem(v));
}

/* A slot of a buffer comes into registers as it is; algebra on buffers is that of their layouts. */
static bool read_buffer(Sema *s, Value *v)
{
	Buffer *b = v->buffer;
	if (!elt_place(s, v->loc) || !fill_is_seen(s, b, v->loc))
		return false;
	Loc loc = v->loc;
	Op *frag = build(s, OP_FRAG, loc);
	Val *to = op_result(s->kernel, frag, b->name,
			    type_like(s, b->type->elem, shape_of(s, b->type->layout)));
	Op *copy = build(s, OP_COPY, loc);
	op_in(s->kernel, copy, to, ix_const(s->ctx, 0));
	build_in(s, copy, b->val);
	b->read = true;
	*v = result(to);
	v->loc = loc;
	return true;
}

static bool read_operands(Sema *s, const EltRow *row, Value *args, Elem e)
{
	Elem each[ARITY_MAX];
	for (int i = 0; i < row->arity; i++)
		each[i] = elt_operand_type(row, args, i, e);
	for (int i = 0; i < row->arity; i++)
		if (args[i].kind == V_TILE && !read_tile(s, &args[i], each[i]))
			return false;
	return true;
}

/* Of integers alone: bits of 64. */
static Value fold_bits(Sema *s, Loc loc, const EltRow *row, const Value *args)
{
	enum { EXACT_BITS = 53 };
	double x[ARITY_MAX] = {0};
	for (int i = 0; i < row->arity; i++) {
		x[i] = value_number(&args[i]);
		if (args[i].kind != V_INT || fabs(x[i]) >= ldexp(1, EXACT_BITS))
			return rejected(s, args[i].loc, D_E0203,
					"%s is of integers below 2^%d, this is %s", row->name,
					EXACT_BITS, value_text(&args[i]));
	}
	double v = row->whole(EL_I64, x[0], x[1], x[2]);
	return fabs(v) < ldexp(1, EXACT_BITS)
		       ? value_int(s, (int64_t)v)
		       : rejected(s, loc, D_E0207, "this does not fit %d bits", EXACT_BITS);
}

static Value fold(const EltRow *row, const Value *args)
{
	float x[ARITY_MAX] = {0};
	Value v = value_of(V_REAL);
	for (int i = 0; i < row->arity; i++)
		x[i] = (float)value_number(&args[i]);
	v.real = (double)row->value(x[0], x[1], x[2]);
	return v;
}

/* By way of f32 where no one conversion does it. */
static Val *converted(Sema *s, Loc loc, Val *v, Elem e)
{
	const Type *t = v->type;
	if (!elem_converts(t->elem, e))
		v = converted(s, loc, v, EL_F32);
	Op *op = build_in(s, build(s, OP_CVT, loc), v);
	return op_result(s->kernel, op, "z",
			 type_like(s, e, t->kind == TY_TILE ? t->layout : NULL));
}

/* A condition is of any type, and so are numbers and sizes. */
static Val *operand(Sema *s, const Value *v, Elem e)
{
	if (v->val)
		return v->val->type->elem == e ? v->val : converted(s, v->loc, v->val, e);
	Op *op = build(s, is_size(v) ? OP_SIZEVAL : OP_CONST, v->loc);
	if (!is_size(v)) {
		op_real(s->kernel, op, A_VALUE, elem_round(e, value_number(v)));
		return op_result(s->kernel, op, "z", type_elem(s->ctx, e));
	}
	op_ix(s->kernel, op, v->ix);
	Elem at_first = elem_pairs(e) ? EL_F32 : e;
	Val *size = op_result(s->kernel, op, "z", type_elem(s->ctx, at_first));
	return at_first == e ? size : converted(s, v->loc, size, e);
}

/* Read or computed, of several elements. */
static bool is_tile_value(const Value *v)
{
	return v->val && v->val->type->kind == TY_TILE;
}

const Layout *reduced_shape(Sema *s, const Layout *tile, int kept)
{
	int64_t rows = kept == 0 ? shape_extent(tile, 0) : 1,
		cols = kept == 1 ? shape_extent(tile, 1) : 1;
	return layout_left(s->ctx,
			   tup_new(s->ctx,
				   (const Tup *[]){tup_int(s->ctx, rows), tup_int(s->ctx, cols)},
				   2));
}

/* The shape of both together, each of which has the other's extents, or 1; NULL: there is none. */
static const Layout *joined(Sema *s, const Layout *a, const Layout *b)
{
	const Tup *both[BUFFER_RANK];
	if (shape_same(s, a, b))
		return a;
	if (layout_rank(a) != BUFFER_RANK || layout_rank(b) != BUFFER_RANK)
		return NULL;
	for (int i = 0; i < BUFFER_RANK; i++) {
		int64_t x = shape_extent(a, i), y = shape_extent(b, i);
		if (x != y && x != 1 && y != 1)
			return NULL;
		both[i] = tup_int(s->ctx, x > y ? x : y);
	}
	return layout_left(s->ctx, tup_new(s->ctx, both, BUFFER_RANK));
}

/* A vector that has as many elements as the other has along its other mode. */
static bool fits_turned(const Layout *vector, const Layout *whole)
{
	if (layout_rank(vector) != BUFFER_RANK || layout_rank(whole) != BUFFER_RANK)
		return false;
	int side = shape_extent(vector, 0) == 1;
	return shape_extent(vector, 1 - side) == 1 &&
	       shape_extent(vector, side) == shape_extent(whole, 1 - side);
}

static const char *help_shapes(const Layout *a, const Layout *b)
{
	if (fits_turned(a, b) || fits_turned(b, a))
		return "transpose the vector where it is read, x[m,n]', so that it lies along the "
		       "other mode";
	return "tiles that are combined are of one shape: divide tensors, and "
	       "declare accumulators, as the output is divided, and reduce "
	       "groups of as many rows";
}

static bool operands_fit(Sema *s, const EltRow *row, const Value *args, const Layout **shape)
{
	for (int i = 0; i < row->arity; i++) {
		if (!is_tile_value(&args[i]))
			continue;
		const Layout *l = shape_of_frag(&args[i]),
			     *both = *shape ? joined(s, *shape, l) : l;
		if (!both)
			return reject(s, args[i].loc, D_E0204, "a tile of %s and a tile of %s\n%s",
				      shape_str(s, *shape), shape_str(s, l),
				      help_shapes(*shape, l));
		*shape = both;
	}
	return true;
}

static int64_t held_extent(const Value *v, int mode)
{
	return is_tile_value(v) ? shape_extent(v->val->type->layout, mode) : 1;
}

/* The extents of what is held: the most that an operand has, of which others have parts. NULL:
 * reported. */
static const Layout *held_shape(Sema *s, const EltRow *row, const Value *args, Loc loc)
{
	const Tup *both[BUFFER_RANK];
	for (int m = 0; m < BUFFER_RANK; m++) {
		int64_t most = 1, parts = 1;
		for (int i = 0; i < row->arity; i++)
			most = held_extent(&args[i], m) > most ? held_extent(&args[i], m) : most;
		for (int i = 0; i < row->arity; i++)
			parts = most % held_extent(&args[i], m) ? held_extent(&args[i], m) : parts;
		if (parts > 1) {
			reject(s, loc, D_E0204,
			       "of %" PRId64 " groups and %" PRId64
			       ", one is no multiple of the other",
			       most, parts);
			return NULL;
		}
		both[m] = tup_int(s->ctx, most);
	}
	return layout_left(s->ctx, tup_new(s->ctx, both, BUFFER_RANK));
}

/* clamp(x, 1, -1) would be -1 everywhere. */
static bool bounds_fit(Sema *s, const EltRow *row, const Value *args)
{
	bool known = row->op == OP_CLAMP && is_number(&args[1]) && is_number(&args[2]);
	double lo = known ? value_number(&args[1]) : 0, hi = known ? value_number(&args[2]) : 0;
	if (lo <= hi)
		return true;
	return reject(s, args[1].loc, D_E0211,
		      "the least that clamp leaves, %g, is above the largest, %g\n"
		      "write clamp(x, %g, %g)",
		      lo, hi, hi, lo);
}

/* What is 1 or 0, in each type. */
static bool gives_condition(OpKind op)
{
	static const OpKind all[] = {OP_LT, OP_LE,   OP_GT,     OP_GE,     OP_EQ,
				     OP_NE, OP_BOTH, OP_EITHER, OP_NEITHER};
	for (size_t i = 0; i < COUNTOF(all); i++)
		if (all[i] == op)
			return true;
	return false;
}

static Value apply(Sema *s, Loc loc, const EltRow *row, Value *args, Elem e)
{
	const Layout *shape = NULL;
	Val *in[ARITY_MAX];
	if (!operands_fit(s, row, args, &shape) || !elt_place(s, loc))
		return value_bad();
	const Layout *held = shape ? held_shape(s, row, args, loc) : NULL;
	if (shape && !held)
		return value_bad();
	for (int i = 0; i < row->arity; i++)
		in[i] = operand(s, &args[i], elt_operand_type(row, args, i, e));
	Op *op = build(s, row->op, loc);
	for (int i = 0; i < row->arity; i++)
		build_in(s, op, in[i]);
	Value v = result_for(op_result(s->kernel, op, "x", type_like(s, e, held)), shape);
	v.is_condition = gives_condition(row->op);
	return v;
}

static bool compares(OpKind op)
{
	return gives_condition(op) && op != OP_BOTH && op != OP_EITHER && op != OP_NEITHER;
}

/* g[i] - g[j] and i >= j ask for one of the two along rows, and one along columns. */
static bool sides_differ(Sema *s, Loc loc, const EltRow *row, const Value *args)
{
	bool less = row->op == OP_SUB;
	if (less && is_vector_twice(s, &args[0], &args[1]))
		return reject(
			s, loc, D_E0203,
			"both are the same values of '%s', along the same mode: the "
			"difference is 0\n"
			"transpose one of them: x' - x is the difference of each two elements",
			args[0].tile->tiling->tensor->name);
	int side = less || compares(row->op) ? coords_side(&args[0], &args[1]) : -1;
	if (side < 0)
		return true;
	return reject(s, loc, D_E0203,
		      "both coordinates lie along the %s, so that this is the same for all "
		      "elements of a tile\n"
		      "transpose one of them: i >= j'",
		      side ? "columns" : "rows");
}

/* What && or || of a condition and a number is, for all elements alike; false: it is neither. */
static bool decided(Sema *s, const EltRow *row, const Value *args, Value *v)
{
	if (row->op != OP_BOTH && row->op != OP_EITHER)
		return false;
	int number = is_number(&args[0]) ? 0 : 1;
	if (!is_number(&args[number]) || !args[1 - number].is_condition)
		return false;
	bool one = value_number(&args[number]) != 0;
	*v = one == (row->op == OP_EITHER) ? value_int(s, one) : args[1 - number];
	return true;
}

Value elt_apply(Sema *s, Loc loc, const EltRow *row, Value *args)
{
	bool numbers = true;
	Value v;
	for (int i = 0; i < row->arity; i++)
		numbers &= is_number(&args[i]);
	if (numbers)
		return row->value ? fold(row, args) : fold_bits(s, loc, row, args);
	if (decided(s, row, args, &v))
		return v;
	Elem e = elt_type_of(row, args);
	if (!bounds_fit(s, row, args) || !sides_differ(s, loc, row, args) ||
	    !elt_types_fit(s, loc, row, args, e) || !read_operands(s, row, args, e))
		return value_bad();
	return apply(s, loc, row, args, e);
}

/* What one conversion does of a tile, or of a scalar of 32 bits. */
static bool converts_here(const Value *arg, Elem to)
{
	const Type *t = arg->val->type;
	bool scalar = t->kind != TY_TILE && (to == EL_F32 || elem_is_word(to)) &&
		      (t->elem == EL_F32 || elem_is_word(t->elem));
	return scalar || (t->kind == TY_TILE && elem_rows[to].bits >= 8 &&
			  (elem_rows[to].bits <= 32 || elem_is_wide(to)));
}

/* s32(L) * j: a size as a scalar. */
static Value cast_size(Sema *s, Loc loc, Elem to, const Value *arg)
{
	if (to != EL_F32 && !elem_is_word(to))
		return rejected(s, loc, D_E0301,
				"not built yet: sizes as %s; they are computed with as f32, s32 "
				"and u32",
				elem_rows[to].name);
	return elt_place(s, loc) && elt_size_fits(s, arg, to) ? result(operand(s, arg, to))
							      : value_bad();
}

static Value report_steps(Sema *s, Loc loc, Elem to, Elem from)
{
	const char *is = elem_rows[from].name, *wanted = elem_rows[to].name;
	if (elem_converts(from, EL_F32))
		return rejected(s, loc, D_E0205,
				"%s becomes %s in two steps, each rounded\n"
				"write %s(f32(...))",
				is, wanted, wanted);
	return rejected(s, loc, D_E0205, "%s is only copied: it converts to no type\n%s", is,
			help_copied());
}

/* f32(x - y) of u32: 2 - 3 is 4294967295. */
static void warn_of_wrapped(Sema *s, Loc loc, Elem to, const Value *arg)
{
	const Op *op = arg->val->def;
	if (op && op->kind == OP_SUB && arg->val->type->elem == EL_U32 && elem_is_float(to))
		diag(s->ctx, loc, D_W0211,
		     "a difference of u32 is never below 0: it wraps before it becomes %s\n"
		     "write %s(s32(...)), or convert both before; if this is meant, -Wno-W0211 "
		     "silences it",
		     elem_rows[to].name, elem_rows[to].name);
}

Value elt_cast(Sema *s, Loc loc, Elem to, Value *arg)
{
	if (!is_elementwise(arg) && arg->kind != V_BUFFER)
		return rejected(s, arg->loc, D_E0203, "%s converts tiles and numbers, this is %s",
				elem_rows[to].name, value_text(arg));
	if (arg->kind == V_TILE && !read_tile(s, arg, elt_elem(arg)))
		return value_bad();
	if (arg->kind == V_BUFFER && !read_buffer(s, arg))
		return value_bad();
	if (is_size(arg))
		return cast_size(s, loc, to, arg);
	if (elt_elem(arg) == to) {
		arg->is_condition = false;
		return *arg;
	}
	if (is_number(arg))
		return rejected(s, loc, D_E0203,
				"a number is not converted: it has the type "
				"of what it is combined with\n"
				"write the number itself");
	if (!converts_here(arg, to))
		return rejected(s, loc, D_E0301,
				"not built yet: converting %s to %s; tiles are, to types of 8, 16 "
				"and 32 bits, and f64",
				value_text(arg), elem_rows[to].name);
	if (!elem_converts(elt_elem(arg), to))
		return report_steps(s, loc, to, elt_elem(arg));
	if (!elt_place(s, loc))
		return value_bad();
	warn_of_wrapped(s, loc, to, arg);
	Op *op = build_in(s, build(s, OP_CVT, loc), arg->val);
	const Layout *shape = is_tile_value(arg) ? arg->val->type->layout : NULL;
	return result_for(op_result(s->kernel, op, "c", type_like(s, to, shape)), arg->wide);
}

/* ------------------------------------------------------------------ row vectors */
bool reduction_named(const char *name, Reduction *r)
{
	static const struct {
		const char *head;
		int kept;
	} heads[] = {{"row", 0}, {"col", 1}, {"tile", -1}};
	for (size_t i = 0; i < COUNTOF(heads); i++) {
		size_t n = strlen(heads[i].head);
		const CombineRow *by =
			strncmp(name, heads[i].head, n) ? NULL : combine_by_name(name + n);
		if (by && r)
			*r = (Reduction){by, heads[i].kept};
		if (by)
			return true;
	}
	return false;
}

/* The tile whose place decides which elements of such a shape lie in a tensor: the grid's, or where
 * nothing is multiplied that of the loop around. False: neither has the shape. */
static bool tile_around(Sema *s, const Layout *shape, Tile *t)
{
	if (s->place == AT_GRID && is_at_loops_tile(s) && shape == tiling_shape(s, s->grid)) {
		*t = (Tile){.tiling = s->grid};
		memcpy(t->at, s->grid_at, sizeof t->at);
		return true;
	}
	bool turns = s->turn && s->mma_loc.src < 0 && shape == tiling_shape(s, s->turn->tiling);
	if (turns)
		*t = *s->turn;
	return turns;
}

/* What has one row for all of the tile has none of its own; a tile of one row is the tile. */
static bool has_rows(Sema *s, const char *what, const Value *v)
{
	Tile t;
	const Layout *l = v->val->type->layout;
	bool like_grid = s->mma_loc.src < 0 && s->grid && l == tiling_shape(s, s->grid);
	if (shape_extent(l, 0) > 1 || like_grid || tile_around(s, l, &t))
		return true;
	return reject(s, v->loc, D_E0203,
		      "%s is of the rows of a tile, and this has one element for each column\n"
		      "combine it with a tile first: %s(acc + bias[n])",
		      what, what);
}

static bool has_columns(Sema *s, const Node *call, const Value *v)
{
	if (shape_extent(v->val->type->layout, 1) > 1)
		return true;
	bool one_mode = s->mma_loc.src < 0 && s->grid && s->grid->rank == 1;
	return reject(
		s, v->loc, D_E0203,
		"%s is of the elements of a row, and this has one for each row\n%s",
		call->kids.at[0]->name,
		one_mode ? "declare what has one mode as one row, (1,N):(N,1), in tiles of one "
			   "row"
			 : "write the value itself");
}

/* Elements of integers are computed with as `word` says, others as they are. */
static bool is_of_values(Sema *s, const Node *call, Value *arg, Elem word)
{
	const char *name = call->kids.at[0]->name;
	bool number = !arg->tile && !is_tile_value(arg) && is_elementwise(arg);
	if (!is_elementwise(arg) || number)
		return reject(s, arg->loc, D_E0203, "%s takes a tile, this is %s\n%s", name,
			      value_text(arg),
			      number ? "write the number itself" : help_value(s, arg));
	Elem e = elt_computed_in(arg, 1);
	if (arg->kind == V_TILE && !read_tile(s, arg, elem_is_word(e) ? word : e))
		return false;
	return elt_whole(s, arg) && elt_place(s, call->loc);
}

bool elt_reducible(Sema *s, const Node *call, Value *arg)
{
	const char *name = call->kids.at[0]->name;
	return is_of_values(s, call, arg, EL_F32) && has_rows(s, name, arg) &&
	       elt_is_f32(s, name, arg);
}

enum { WARP_ROWS = 16 }; /* neighbours that one warp holds, of any accumulator */

/* Columns lie across warps, which meet for each tile of the grid; elsewhere they are joined. */
static Value report_joined_only(Sema *s, const Node *call, const Reduction *r)
{
	const char *name = call->kids.at[0]->name, *to = r->kept == 1 ? "S[n]" : "S[0]";
	bool add = r->by->op == OP_ADD;
	const char *join = add ? ctx_strf(s->ctx, "%s += %s(x)", to, name)
			       : ctx_strf(s->ctx, "%s <- %s(%s, %s(x))", to, r->by->name, to, name);
	return rejected(s, call->loc, D_E0203,
			"the %s of %s is joined to an output, and has no other use in front of the "
			"end of the loops\n"
			"write %s, or use it after the loops",
			r->by->name, r->kept == 1 ? "each column" : "all elements", join);
}

/* Of a tile like the output's, elements beyond its edge change nothing that is reduced. What is
 * left for a row beyond it is of no use to anyone, and so for a column. */
Val *elt_inside(Sema *s, Loc loc, Val *v, const Reduction *r)
{
	int64_t edges[2] = {r->kept != 0, r->kept != 1};
	Tile tile;
	if (!tile_around(s, v->type->layout, &tile))
		return v;
	if (edges[0] && tile.tiling->names)
		reject_indices(s, loc, "of rows that are reduced to one");
	Val *place = tile_build(s, &tile, loc);
	Op *op = build_in(s, build_in(s, build(s, OP_INSIDE, loc), v), place);
	op_real(s->kernel, op, A_VALUE, r->by->neutral);
	op_ints(s->kernel, op, A_EDGES, edges, 2);
	return op_result(s->kernel, op, "x", v->type);
}

static Val *reduce(Sema *s, Loc loc, const Reduction *r, Val *v, const Layout *to)
{
	Op *op = build_in(s, build(s, OP_REDUCE, loc), v);
	op_str(s->kernel, op, A_COMBINE, r->by->name);
	return op_result(s->kernel, op, "r", type_like(s, EL_F32, to));
}

/* How many rows share a value: those of one warp, or fewer. */
static bool rows_fit(Sema *s, const Node *call, const Value *given, int64_t rows, int64_t *n)
{
	const char *name = call->kids.at[0]->name;
	if (s->mma_loc.src < 0)
		return reject(s, call->loc, D_E0301,
			      "not built yet: %s of some rows without an mma; rowsum, rowmax and "
			      "rowmin are, of a "
			      "tensor whose modes are swapped",
			      name);
	if (!want_int(s, given, 2, rows, "the rows that share a value", n))
		return false;
	if (WARP_ROWS % *n == 0 && rows % *n == 0)
		return true;
	return reject(s, given->loc, D_E0211,
		      "%" PRId64 " rows lie in several warps, and each adds up its own: %d "
		      "rows, or a half, a quarter .. of them\n"
		      "write %s(x, %d), and a tile of the output with a row for each %d",
		      *n, WARP_ROWS, name, WARP_ROWS, WARP_ROWS);
}

/* rowmax(x, 128): a value for each 128 columns of a row, whatever the tile's width. */
static Value reduce_groups(Sema *s, const Node *call, const Reduction *r, Value *args)
{
	const char *name = call->kids.at[0]->name;
	if (!elt_reducible(s, call, args) || !has_columns(s, call, args))
		return value_bad();
	const Layout *whole = args->val->type->layout;
	int64_t rows = shape_extent(whole, 0), cols = shape_extent(whole, 1), n;
	if (!want_int(s, &args[1], -1, cols, "the columns that share a value", &n))
		return value_bad();
	if (n < 2)
		return rejected(s, args[1].loc, D_E0211,
				"the columns that share a value are 2 or more, not %" PRId64 "\n"
				"write %s(x): along which mode, the name says",
				n, name);
	if (cols % n)
		return rejected(s, args[1].loc, D_E0211,
				"a tile of %" PRId64
				" columns is no whole number of groups of %" PRId64 "\n"
				"write %s(x, %" PRId64
				"), or another divisor of the tile's columns",
				cols, n, name, cols % 128 ? cols : 128);
	Val *v = elt_inside(s, call->loc, args->val, r);
	v = reduce(s, call->loc, r, v,
		   layout_left(s->ctx, layout_2d(s->ctx, rows, cols / n, 1, rows)->shape));
	op_int(s->kernel, v->def, A_N, n);
	return cols == n ? result(v) : result_for(v, whole);
}

/* rowsum(x) is of each row, colsum(x) of each column and tilesum(x) of all of the tile. The second
 * operand of colsum(x, 16) is how many rows share a value. */
Value elt_reduce(Sema *s, const Node *call, const Reduction *r, Value *args, int n)
{
	if (r->kept == 0 && n > 1)
		return reduce_groups(s, call, r, args);
	bool across = n > 1 || s->place == AT_GRID;
	if (r->kept != 0 && !across)
		return report_joined_only(s, call, r);
	if (!elt_reducible(s, call, args) || (r->kept == 0 && !has_columns(s, call, args)))
		return value_bad();
	Val *v = args->val;
	int64_t rows = shape_extent(v->type->layout, 0), cols = shape_extent(v->type->layout, 1),
		shared = rows;
	if (n > 1 && !rows_fit(s, call, &args[1], rows, &shared))
		return value_bad();
	v = elt_inside(s, call->loc, v, r);
	if (r->kept < 0 && cols > 1)
		v = reduce(s, call->loc, r, v, reduced_shape(s, v->type->layout, 0));
	const Layout *to = reduced_shape(s, v->type->layout, r->kept);
	if (n > 1)
		to = layout_2d(s->ctx, rows / shared, r->kept < 0 ? 1 : cols, 1, rows / shared);
	return result(reduce(s, call->loc, r, v, to));
}

bool scan_named(const char *name)
{
	return !strcmp(name, "cumsum");
}

/* cumsum(x): of each row, the sum of an element and of all before it. */
Value elt_scan(Sema *s, const Node *call, Value *arg)
{
	Elem e = is_elementwise(arg) ? elt_computed_in(arg, 1) : EL_F32;
	if (!is_of_values(s, call, arg, e) || !has_columns(s, call, arg) ||
	    (!elem_is_word(e) && !elt_is_f32(s, call->kids.at[0]->name, arg)))
		return value_bad();
	Op *op = build_in(s, build(s, OP_SCAN, call->loc), arg->val);
	return result(op_result(s->kernel, op, "x", arg->val->type));
}

/* Of what each row, or each element, has a value; NULL: reported. */
static const Layout *shape_with_values(Sema *s, const Value *of, bool rows)
{
	const char *name = rows ? "rows" : "tile";
	if (of->kind == V_TILES)
		return tiling_shape(s, of->tiling);
	if (of->kind == V_ACC || of->kind == V_FRAG)
		return !rows || has_rows(s, name, of) ? of->val->type->layout : NULL;
	if (of->kind != V_BAD)
		reject(s, of->loc, D_E0203, "%s takes an accumulator, this is %s\n%s", name,
		       value_text(of),
		       of->kind == V_TILE
			       ? ctx_strf(s->ctx, "name the tiles of the tensor: %s(gX)", name)
			       : "");
	return NULL;
}

/* rows(acc), the shape of a value for each row of a tile; tile(gX), of one for each element. */
Value elt_shape(Sema *s, const Node *call, bool rows)
{
	Value v = value_of(V_SHAPE);
	Value of = call->kids.n == 2 ? eval(s, call->kids.at[1]) : value_bad();
	if (call->kids.n != 2)
		reject(s, call->loc, D_E0206, "%s takes an accumulator, %s(acc)",
		       rows ? "rows" : "tile", rows ? "rows" : "tile");
	const Layout *shape = shape_with_values(s, &of, rows);
	if (!shape)
		return value_bad();
	v.layout = rows || layout_rank(shape) == 1 ? reduced_shape(s, shape, 0) : shape;
	v.elem = EL_F32;
	return v;
}
