/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* vectors.c - registers to and from a tensor: the widest vectors that lie side by side in
 * both, each under the conditions that it lies inside.
 *     store %t, %c   ->   for r (0, 4) unroll=1 {
 *                           if (8 * r + row < M, col < N) { st.global %D, %c[2 * r] (..) n=2 } } */
#include "passes/lower/lower.h"

/* `store %tile, %regs`, `load %regs, %tile`, `prefetch` and `inside` likewise */
static Val *tile_side(const Op *op)
{
	return op->kind == OP_STORE ? IN(op, TO).val : IN(op, FROM).val;
}

static Val *reg_side(const Op *op)
{
	return op->in->val->type->space == SP_REG ? op->in->val : IN(op, FROM).val;
}

/* The coordinate along tile mode `mode` of linear index x into thread (0) or value (1) modes. */
static const Ix *tv_coord(Kernel *k, const Layout *tv, int which, const Ix *x, int64_t rows,
			  int mode)
{
	Ctx *c = k->ctx;
	const Tup *shape = tup_get(tv->shape, which), *stride = tup_get(tv->stride, which);
	const Ix *sum = ix_int(k, 0);
	int64_t before = 1;
	for (int i = 0; i < tup_rank(shape); i++) {
		int64_t n = tv_leaf(tup_get(shape, i)), d = tv_leaf(tup_get(stride, i));
		int64_t step = mode == 0 ? d % rows : d / rows;
		const Ix *at = ix_div(c, x, ix_int(k, before));
		if (i < tup_rank(shape) - 1)
			at = ix_mod(c, at, ix_int(k, n));
		if (step)
			sum = ix_add(c, sum, ix_mul(c, at, ix_int(k, step)));
		before *= n;
	}
	return sum;
}

typedef struct {
	int modes;                /* of the tensor */
	const Ix *at[MODES_MOST]; /* of the element that the store begins with */
	const Ix *from[2],
		*step[2]; /* of the tile's modes: of the thread's first, and on from there */
} Place;

/* The thread's number among those over which the tile is spread. */
static const Ix *thread_of_tile(Kernel *k, const Op *op, const Layout *tv)
{
	Ctx *c = k->ctx;
	const Op *role = op_role(op);
	int64_t warp = attrs_int(&op->attrs, A_FIRST, attrs_int(&role->attrs, A_FIRST, 0));
	const Ix *first = ix_int(k, 32 * warp);
	const Ix *threads = tup_product(c, tup_get(tv->shape, 0));
	const Ix *thread = ix_sub(c, ix_sym(c, "tid"), first);
	return attrs_get(&role->attrs, A_TURNS) ? ix_mod(c, thread, threads) : thread;
}

static Place vector_place(Kernel *k, Op *op, const Ix *reg)
{
	static const char *const names[2] = {"row", "col"};
	const Val *tile = tile_side(op);
	const Layout *tv = reg_side(op)->type->tv;
	const Ix *thread = thread_of_tile(k, op, tv);
	int64_t rows = val_extent(reg_side(op), 0);
	Place p = {.modes = tile->def->nix};
	for (int m = 0; m < p.modes; m++)
		p.at[m] = tile->def->ix[m];
	for (int m = 0; m < 2; m++) {
		int mode = tile_mode(k, tile, m);
		const Ix *origin = ix_add(k->ctx, p.at[mode], tv_coord(k, tv, 0, thread, rows, m));
		p.from[m] = op_let(k, op, kernel_fresh(k, names[m]), origin);
		p.step[m] = tv_coord(k, tv, 1, reg, rows, m);
		p.at[mode] = ix_add(k->ctx, p.from[m], p.step[m]);
	}
	return p;
}

/* How many registers of a thread follow each other along the tile's mode `fast`. */
static int neighbours(Kernel *k, const Op *op, int fast)
{
	Ctx *c = k->ctx;
	const char *why = NULL;
	const Type *frag = reg_side(op)->type;
	int rows = val_extent(reg_side(op), 0), cols = val_extent(reg_side(op), 1);
	const Layout *tensor = layout_2d(c, rows, cols, fast ? cols : 1, fast ? 1 : rows);
	const Layout *at = layout_composition(c, tensor, frag->tv, &why);
	const Layout *one = at ? layout_left(c, tup_int(c, type_regs(frag))) : NULL;
	const Layout *run = one ? layout_max_common(c, layout_mode(c, at, 1), one, &why) : NULL;
	return run ? (int)layout_size_int(run) : 1;
}

/* Whether indices name the coordinates along the tile's mode: neighbours then lie anywhere. */
static bool is_named(const Kernel *k, const Val *tile, int mode)
{
	return tile_mode(k, tile, mode) == attrs_int(&tile->def->attrs, A_GATHER, -1);
}

/* What joins nothing has vectors of any length. */
static bool joins_so_many(const Kernel *k, const Op *op, int n)
{
	const CombineRow *by = combine_of(op);
	const JoinRow *row = by ? join_row(by, tile_side(op)->type->elem, n) : NULL;
	return !by || (row && target_has(k->target, row->feature));
}

/* The first atom whose registers are neighbours in memory too, begin at a multiple of their number
 * and are inside the tensor together. */
static const CopyRow *vector_of(Kernel *k, const Op *op)
{
	const Val *tile = tile_side(op);
	for (int id = 0; id < COPY_COUNT; id++)
		for (int fast = 0; fast < 2 && copy_rows[id].of == (int)op->kind; fast++) {
			int n = copy_rows[id].regs;
			if (n > 1 && is_named(k, tile, fast))
				continue;
			if (n > 1 && n * elem_rows[tile->type->elem].bits > 8 * widest_access(k))
				continue;
			if (n == 1 ||
			    (joins_so_many(k, op, n) && val_extent(reg_side(op), fast) % n == 0 &&
			     neighbours(k, op, fast) % n == 0 && tile_in_vectors(k, tile, fast, n)))
				return &copy_rows[id];
		}
	panic("no atom of %s", op_rows[op->kind].name);
}

/* Of a mode with parts, the last has the end. */
const Ix *op_inside_tensor(Kernel *k, Op *guard, const Val *tensor, const Ix *const *at)
{
	Ctx *c = k->ctx;
	const Layout *l = tensor->type->layout;
	const Ix *offset = ix_int(k, 0);
	for (int m = 0; m < tup_rank(l->shape); m++) {
		const Tup *parts = tup_get(l->shape, m), *stride = tup_get(l->stride, m);
		int last = tup_rank(parts) - 1;
		for (int i = 0; i <= last; i++) {
			const Ix *x = ix_in_part(k, at[m], parts, i);
			offset = ix_add(c, offset, ix_mul(c, x, tup_get(stride, i)->leaf));
			if (i == last)
				op_ix(k, guard, ix_new(c, IX_LT, x, tup_get(parts, i)->leaf));
		}
	}
	return offset;
}

void op_one_of_alike(Kernel *k, const Op *op, bool by_warp, Op *guard)
{
	Ctx *c = k->ctx;
	const Layout *tv = reg_side(op)->type->tv;
	const Tup *shape = tup_get(tv->shape, 0), *stride = tup_get(tv->stride, 0);
	const Ix *thread = thread_of_tile(k, op, tv);
	int64_t before = 1;
	for (int i = 0; i < tup_rank(shape) && (!by_warp || before < 32); i++) {
		int64_t n = tv_leaf(tup_get(shape, i));
		const Ix *at = ix_mod(c, ix_div(c, thread, ix_int(k, before)), ix_int(k, n));
		if (n > 1 && !tv_leaf(tup_get(stride, i)))
			op_ix(k, guard, ix_new(c, IX_EQ, at, ix_int(k, 0)));
		before *= n;
	}
}

/* What each warp has of a tile that is joined to less. */
static bool reduce_by_warp(Kernel *k, Op *op)
{
	Ctx *c = k->ctx;
	const Type *from = reg_side(op)->type;
	const Val *tile = tile_side(op);
	int rows = val_extent(tile, tile_mode(k, tile, 0)),
	    cols = val_extent(tile, tile_mode(k, tile, 1));
	const Layout *part = layout_2d(c, rows, cols, 1, rows);
	if (!combine_of(op) || layout_size_int(part) == layout_size_int(from->layout))
		return false;
	Op *reduce = op_in(k, op_before(k, op, OP_REDUCE), IN(op, FROM).val, NULL);
	op_str(k, reduce, A_COMBINE, combine_of(op)->name);
	const Layout *tv = tv_shared_out(c, from, part);
	IN(op, FROM).val = op_result(k, reduce, "r", type_frag(c, EL_F32, part, tv));
	return true;
}

/* Tensor and registers in the order of the op; of a prefetch, no registers. */
static void vector_operands(Kernel *k, const Op *op, Op *vector, Val *tensor, const Ix *reg)
{
	if (op->kind != OP_STORE && op->kind != OP_PREFETCH)
		op_in(k, vector, reg_side(op), reg);
	op_in(k, vector, tensor, NULL);
	if (op->kind == OP_STORE)
		op_in(k, vector, reg_side(op), reg);
}

/* The mode of the argument that is this one of its view. */
static int64_t mode_of_arg(Val *view, int64_t mode)
{
	const Layout *l = view->type->layout, *arg = tensor_arg(view)->type->layout;
	for (int i = 0; i < tup_rank(arg->shape); i++)
		if (tup_get(arg->shape, i)->leaf == tup_get(l->shape, (int)mode)->leaf &&
		    tup_get(arg->stride, i)->leaf == tup_get(l->stride, (int)mode)->leaf)
			return i;
	return mode;
}

/* Of the registers that hold indices, that of the rows of register `reg` of the tile. */
static const Ix *index_register(Kernel *k, const Op *op, const Ix *reg)
{
	Ctx *c = k->ctx;
	const Type *index = IN(op, INDEX).val->type;
	const Val *tile = tile_side(op);
	const Ix *at = tv_coord(k, reg_side(op)->type->tv, 1, reg, val_extent(reg_side(op), 0),
				is_named(k, tile, 1));
	const Tup *shape = tup_get(index->tv->shape, 1), *stride = tup_get(index->tv->stride, 1);
	const Ix *sum = ix_int(k, 0);
	int64_t before = 1;
	for (int i = 0; i < tup_rank(shape); i++) {
		int64_t n = tv_leaf(tup_get(shape, i)), step = tv_leaf(tup_get(stride, i));
		const Ix *one = step ? ix_mod(c, ix_div(c, at, ix_int(k, step)), ix_int(k, n))
				     : ix_int(k, 0);
		sum = ix_add(c, sum, ix_mul(c, one, ix_int(k, before)));
		before *= n;
	}
	return sum;
}

/* Conditions and offset of an access whose row an index names: all but what the index says. */
static const Ix *inside_by_index(Kernel *k, const Op *op, Op *guard, Place *p, Op *vector,
				 const Ix *reg)
{
	int64_t mode = attrs_int(&tile_side(op)->def->attrs, A_GATHER, 0);
	Op *all = op_new(k, OP_IF, op->loc);
	p->at[mode] = ix_int(k, 0);
	const Ix *offset = op_inside_tensor(k, all, IN(tile_side(op)->def, OF).val, p->at);
	for (int i = 0; i < all->nix; i++)
		if (i != mode)
			op_ix(k, guard, all->ix[i]);
	op_in(k, vector, IN(op, INDEX).val, index_register(k, op, reg));
	op_int(k, vector, A_GATHER, mode_of_arg(IN(tile_side(op)->def, OF).val, mode));
	return offset;
}

/* What a load of indices is to hold them to. */
static void check_coordinates(Kernel *k, const Op *op, Op *vector)
{
	const Attr *mode = attrs_get(&op->attrs, A_CHECKS);
	if (!mode)
		return;
	op_in(k, vector, tensor_arg(IN(op, CHECKED).val), NULL);
	op_int(k, vector, A_CHECKS, mode_of_arg(IN(op, CHECKED).val, mode->i[0]));
}

/* Where the tile says that it ends; NULL: it does not. */
static const Ix *end_of_tile(const Op *op)
{
	return IN(tile_side(op)->def, OF).at;
}

static void before_end(Kernel *k, const Op *op, Op *guard, const Place *p)
{
	const Ix *end = end_of_tile(op);
	if (end)
		op_ix(k, guard, ix_new(k->ctx, IX_LT, p->at[tile_end_mode(k, tile_side(op))], end));
}

/* The registers from `reg` on, of an access that lower_vectors writes. */
typedef struct {
	const CopyRow *atom;
	Place p;
	const Ix *reg;
	bool by_warp;
	int more; /* elements after the first that are inside, too */
} Vector;

static void lower_vector(Kernel *k, Op *op, Block *to, Vector v, int fast)
{
	Ctx *c = k->ctx;
	Op *inside = op_append(k, to, OP_IF, op->loc);
	Val *tensor = IN(tile_side(op)->def, OF).val;
	Op *vector = op_append(k, op_body(k, inside), (OpKind)v.atom->op, op->loc);
	int mode = tile_mode(k, tile_side(op), fast);
	v.p.at[mode] = ix_add(c, v.p.at[mode], ix_int(k, v.more));
	vector_operands(k, op, vector, tensor_arg(tensor), v.reg);
	bool named = HAS_IN(op, INDEX);
	const Ix *offset = named ? inside_by_index(k, op, inside, &v.p, vector, v.reg)
				 : op_inside_tensor(k, inside, tensor, v.p.at);
	before_end(k, op, inside, &v.p);
	op_ix(k, vector, ix_sub(c, offset, ix_int(k, v.more)));
	check_coordinates(k, op, vector);
	if (op->kind != OP_PREFETCH)
		op_int(k, vector, A_N, v.atom->n);
	if (op->kind == OP_STORE)
		op_one_of_alike(k, op, v.by_warp, inside);
	if (combine_of(op))
		op_str(k, vector, A_COMBINE, combine_of(op)->name);
}

/* Of a vector that the tensor's end cuts, one element after the other. */
static void lower_rest(Kernel *k, Op *op, Block *to, Vector v, int fast, int width)
{
	Ctx *c = k->ctx;
	const Val *tile = tile_side(op);
	int mode = tile_mode(k, tile, fast);
	const Ix *extent = tile_extent(k, tile, fast);
	Op *cut = op_append(k, to, OP_IF, op->loc);
	op_ix(k, cut, ix_new(c, IX_LE, extent, ix_add(c, v.p.at[mode], ix_int(k, width - 1))));
	Op *loop = op_append(k, op_body(k, cut), OP_FOR, op->loc);
	const Ix *one = op_turns(k, loop, kernel_fresh(k, "e"), ix_int(k, width), 1);
	v.p.at[mode] = ix_add(c, v.p.at[mode], one);
	v.reg = ix_add(c, v.reg, one);
	while (v.atom->regs > 1 || v.atom->of != (int)op->kind)
		v.atom++;
	v.more = 0;
	lower_vector(k, op, op_body(k, loop), v, fast);
}

void lower_vectors(Kernel *k, Op *op)
{
	Vector v = {.by_warp = reduce_by_warp(k, op)};
	v.atom = vector_of(k, op);
	int width = v.atom->regs, regs = type_regs(reg_side(op)->type);
	int fast = !ix_is(tile_stride(k, tile_side(op), 0), 1);
	const char *name = kernel_fresh(k, "r");
	v.reg = ix_mul(k->ctx, ix_sym(k->ctx, name), ix_int(k, width));
	v.p = vector_place(k, op, v.reg);
	Op *loop = op_before(k, op, OP_FOR);
	op_turns(k, loop, name, ix_int(k, regs / width), 1);
	bool cut = width > 1 && !tile_ends_whole(k, tile_side(op), fast, width);
	v.more = cut ? width - 1 : 0;
	lower_vector(k, op, op_body(k, loop), v, fast);
	if (cut)
		lower_rest(k, op, op_body(k, loop), v, fast, width);
	op_remove(op);
}

/* One row or one column: a coordinate of the tile is how far an element lies after the first. */
void lower_series(Kernel *k, Op *op)
{
	const Type *t = op->out->type;
	int64_t rows = val_extent(op->out, 0);
	const Ix *thread = thread_of_tile(k, op, t->tv);
	const Ix *on = tv_coord(k, t->tv, 0, thread, rows, rows == 1);
	IX(op, FROM) = ix_add(k->ctx, IX(op, FROM), on);
}

/* Whole tiles fill the mode, and no CTA of a cluster has one after the last. */
static bool is_filled(const Kernel *k, const Val *tile, int mode)
{
	int64_t n = val_extent(tile, mode);
	IxFacts facts = kernel_facts(k);
	const Tup *shape = IN(tile->def, OF).val->type->layout->shape;
	const Ix *extent = tup_product(k->ctx, tup_get(shape, mode));
	return kernel_cluster_ctas(k) == 1 && ix_divisor(extent, facts) % n == 0 &&
	       ix_divisor(tile->def->ix[mode], facts) % n == 0;
}

/* Where a register that begins at p lies beyond an edge: as many elements on as there are left. */
static void edge_conditions(Kernel *k, const Op *op, Op *loop, Op *fill, const Place *p)
{
	const Val *tile = tile_side(op);
	for (int i = 0; i < 2; i++) {
		int m = tile_mode(k, tile, i);
		const Ix *end =
			m == tile_end_mode(k, tile) ? end_of_tile(op) : tile_extent(k, tile, i);
		if (!attrs_get(&op->attrs, A_EDGES)->i[i] || is_filled(k, tile, m))
			continue;
		const Ix *left = ix_sub(k->ctx, end, p->from[i]);
		op_ix(k, fill,
		      ix_new(k->ctx, IX_LE, op_let(k, loop, kernel_fresh(k, "left"), left),
			     p->step[i]));
	}
}

/* A copy of the registers, of which those change that lie beyond one of the tensor's edges. */
void lower_inside(Kernel *k, Op *op)
{
	Val *x = IN(op, X).val;
	Op *copy = op_before(k, op, OP_FRAG), *move = op_before(k, op, OP_MOVE);
	Val *y = op_result(k, copy, "x", op->out->type);
	const char *name = kernel_fresh(k, "r");
	const Ix *reg = ix_sym(k->ctx, name);
	Place p = vector_place(k, op, reg);
	op_ins(k, move, y, x);
	Op *loop = op_before(k, op, OP_FOR);
	op_turns(k, loop, name, ix_int(k, type_regs(x->type)), 1);
	Op *fill = op_in(k, op_append(k, op_body(k, loop), OP_FILL, op->loc), y, reg);
	op_real(k, fill, A_VALUE, attrs_get(&op->attrs, A_VALUE)->real);
	edge_conditions(k, op, loop, fill, &p);
	if (!fill->nix)
		op_remove(loop);
	kernel_replace(k, op->out, y);
	op_remove(op);
}
