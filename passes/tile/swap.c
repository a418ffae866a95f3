/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* swap.c - where the schedule says `swap`, the rows of B are the M of an mma and those of A its N:
 * few rows of A then waste nothing. Every register tile that has to do with an accumulator is
 * transposed, and so are the tiles of tensors that it comes from or goes to, as tiles of a view
 * whose modes stand the other way round; buffers stay as they are.
 *     mma %acc, %sB, %sA swap=1                          acc : (16,128)
 *     %t = tile %D (m * 16, n * 128) ; copy %t, %acc     D : (M,N):(N,1)
 * ->  mma %acc, %sB, %sA                                 acc : (128,16)
 *     %t = tile %D.t (n * 128, m * 16) ; copy %t, %acc   D.t = view %D : (N,M):(1,N) */
#include "base/ptrmap.h"
#include "passes/why.h"

typedef struct {
	Kernel *k;
	PtrMap kept;  /* register tiles that an mma reads: they lie as it reads them */
	PtrMap turns; /* tiles of tensors -> the same, transposed */
} Swap;

static bool is_turned(const Swap *w, const Val *v)
{
	return val_is_registers(v) && !ptrmap_get(&w->kept, v);
}

static void refuse(const Swap *w, const Op *op, const char *what, const char *remedy)
{
	if (!pass_failed(w->k))
		diag(w->k->ctx, op->loc, D_E0407,
		     "'swap': %s\n"
		     "%s",
		     what, remedy);
}

/* ------------------------------------------------------------------ which are transposed */
/* Whether values of op lie alike; one element lies like all. */
static bool joins_values(const Op *op)
{
	return (op_rows[op->kind].flags & OPF_ELT) || op->kind == OP_REDUCE ||
	       op->kind == OP_SCAN || op->kind == OP_COPY;
}

static bool keep(Swap *w, Val *v)
{
	if (!val_is_registers(v) || val_is_one(v) || ptrmap_get(&w->kept, v))
		return false;
	ptrmap_set(&w->kept, v, v);
	return true;
}

static bool has_kept(const Swap *w, const Op *op)
{
	bool some = op->out && ptrmap_get(&w->kept, op->out);
	for (int i = 0; i < op->nin; i++)
		some |= ptrmap_get(&w->kept, op->in[i].val) != NULL;
	return some;
}

static bool keep_beside(Swap *w, const Op *op)
{
	bool news = false;
	if (!joins_values(op) || !has_kept(w, op))
		return false;
	for (int i = 0; i < op->nin; i++)
		news |= keep(w, op->in[i].val);
	return (op->out && keep(w, op->out)) || news;
}

static bool is_put(const Op *op)
{
	return op->kind == OP_COPY && val_is_registers(IN(op, FROM).val) &&
	       IN(op, TO).val->type->space == SP_SHARED;
}

/* What an mma reads from registers, or from a buffer that these are written to, and all that it is
 * computed from. */
static void find_kept(Swap *w)
{
	for (const Op *op = kernel_first(w->k); op; op = op_next(op))
		if (is_put(op))
			keep(w, IN(op, FROM).val);
	for (Op *op = kernel_mma(w->k, NULL); op; op = kernel_mma(w->k, op))
		for (int i = 1; i <= 2; i++)
			keep(w, op->in[i].val);
	for (bool news = true; news;) {
		news = false;
		for (Op *op = kernel_first(w->k); op; op = op_next(op))
			news |= keep_beside(w, op);
	}
}

/* ------------------------------------------------------------------ what cannot be */
/* Joined alone: a value for each column of the transposed tile is not held by any warp. */
static bool is_only_joined(const Swap *w, const Val *v)
{
	for (const Op *op = kernel_first(w->k); op; op = op_next(op))
		for (int i = 0; i < op->nin; i++)
			if (op->in[i].val == v &&
			    !(op->kind == OP_COPY && i == 1 && combine_of(op)))
				return false;
	return true;
}

/* A value for several columns, of which the transposed tile would have one for several rows. */
static bool is_of_groups(const Swap *w, const Op *op, const Val *whole)
{
	for (int i = 0; i < op->nin; i++) {
		const Val *part = op->in[i].val;
		if (is_turned(w, part) && val_extent(part, 1) != 1 &&
		    val_extent(part, 1) != val_extent(whole, 1))
			return true;
	}
	return false;
}

/* In a loop of the program's, not in that over tiles. */
static bool is_in_loop(const Swap *w, const Op *op)
{
	const Op *up = op_parent(op);
	return up && !loop_is_of_tiles(w->k, up);
}

static void check_reduce(const Swap *w, const Op *op)
{
	const Val *from = IN(op, X).val, *to = op->out;
	if (val_extent(to, 0) != 1 && val_extent(to, 1) != 1)
		refuse(w, op,
		       "groups of rows or columns lie the other way in the transposed tile, where "
		       "they are not reduced",
		       "reduce whole rows or columns, or leave swap out");
	else if (val_extent(to, 1) == 1 && val_extent(from, 1) > 1 && !is_only_joined(w, to) &&
		 is_in_loop(w, op))
		refuse(w, op,
		       "a row of the tile lies in the registers of several warps, which exchange "
		       "what they have of it after the loops alone",
		       "reduce it there, or leave swap out");
}

static void check_copy(const Swap *w, const Op *op)
{
	if (is_turned(w, IN(op, TO).val) && IN(op, FROM).val->type->space == SP_SHARED)
		refuse(w, op, "a buffer is not transposed, and what it is copied to is",
		       "read a tile of the tensor where it is used, or leave swap out");
}

/* An operand that comes from an accumulator, which is then no less an operand. */
static void check_operands(const Swap *w)
{
	bool accumulates = false;
	for (Op *op = kernel_mma(w->k, NULL); op; op = kernel_mma(w->k, op))
		accumulates |= !is_turned(w, IN(op, TO).val);
	for (Op *op = kernel_mma(w->k, NULL); op && accumulates; op = kernel_mma(w->k, op))
		if (val_is_registers(IN(op, A).val) || val_is_registers(IN(op, B).val))
			refuse(w, op,
			       "an operand is computed from an accumulator, which is transposed",
			       "leave swap out, and make it operand A: mm(P, sB)");
	for (const Op *op = kernel_first(w->k); op && accumulates; op = op_next(op))
		if (is_put(op))
			refuse(w, op,
			       "a value that is written to a buffer is computed from an "
			       "accumulator, which is transposed",
			       "leave swap out");
}

static void check(const Swap *w)
{
	check_operands(w);
	for (const Op *op = kernel_first(w->k); op && !pass_failed(w->k); op = op_next(op)) {
		bool turned = is_turned(w, op->out);
		if (op->kind == OP_REDUCE && turned)
			check_reduce(w, op);
		else if (op->kind == OP_COPY)
			check_copy(w, op);
		else if (op->kind == OP_SCAN && turned)
			refuse(w, op,
			       "a scan of rows would be one of columns of the transposed tile",
			       "leave swap out");
		else if ((op_rows[op->kind].flags & OPF_ELT) && turned &&
			 is_of_groups(w, op, op->out))
			refuse(w, op,
			       "a value for a group of columns would be one for a group of rows of "
			       "the transposed tile",
			       "read a value for each column, or leave swap out");
	}
}

/* ------------------------------------------------------------------ tiles of tensors */
/* Modes of the tensor such that those of the tile's matrix stand the other way round. The mode of
 * stride 1 moves past the other, so that the rest keep their order: a tensor map's. */
static void turned_modes(const Kernel *k, const Val *tile, int *at)
{
	int a = tile_mode(k, tile, 0), b = tile_mode(k, tile, 1), rank = tile->def->nix, n = 0;
	bool first = ix_is(tile_stride(k, tile, 0), 1);
	for (int i = 0; i < rank; i++) {
		if (i == a && !first)
			at[n++] = b;
		if (i != (first ? a : b))
			at[n++] = i;
		if (i == b && first)
			at[n++] = a;
	}
}

static int tile_span(const Kernel *k, const Val *tile, int mode)
{
	return val_extent(tile, tile_mode(k, tile, mode));
}

static Val *turned_tile(Swap *w, Val *tile);

/* Rows that indices name have become columns that the same name. */
static void turn_indices(Swap *w, Op *op, const Val *tile, const int *at)
{
	Val *indices = tile_indices(tile);
	if (!indices)
		return;
	op_in(w->k, op, turned_tile(w, indices), NULL);
	for (int i = 0; i < tile->def->nix; i++)
		if (at[i] == attrs_int(&tile->def->attrs, A_GATHER, 0))
			op_int(w->k, op, A_GATHER, i);
}

static Val *turned_tile(Swap *w, Val *tile)
{
	Kernel *k = w->k;
	int at[MODES_MOST];
	Op *old = tile->def;
	Val *turned = ptrmap_get(&w->turns, tile);
	if (turned || (tile_span(k, tile, 0) == 1 && tile_span(k, tile, 1) == 1))
		return turned ? turned : tile;
	turned_modes(k, tile, at);
	Val *view = tensor_view(k, IN(old, OF).val,
				layout_in_order(k->ctx, IN(old, OF).val->type->layout, at));
	Op *op = op_before(k, old, OP_TILE);
	op_of_tensor(k, op, view, tile, at);
	turn_indices(w, op, tile, at);
	for (int i = 0; i < old->nix; i++)
		op_ix(k, op, old->ix[at[i]]);
	const Layout *l = layout_in_order(k->ctx, tile->type->layout, at);
	turned = op_result(k, op, tile->name, type_tile(k->ctx, SP_GLOBAL, tile->type->elem, l));
	ptrmap_set(&w->turns, tile, turned);
	return turned;
}

/* ------------------------------------------------------------------ the program */
/* Compact along the columns, as (M,N):(1,M); a vector has one column or one row. */
static void turn_registers(Kernel *k, Val *v)
{
	int at[] = {1, 0}, m = val_extent(v, 0), n = val_extent(v, 1);
	const Layout *l = m > 1 && n > 1 ? layout_2d(k->ctx, n, m, 1, n)
					 : layout_in_order(k->ctx, v->type->layout, at);
	if (!val_is_one(v))
		v->type = type_frag(k->ctx, v->type->elem, l, NULL);
}

static void turn_inside(Swap *w, Op *op)
{
	const Attr *edges = attrs_get(&op->attrs, A_EDGES);
	int64_t turned[2] = {edges->i[1], edges->i[0]};
	IN(op, FROM).val = turned_tile(w, IN(op, FROM).val);
	op_ints(w->k, op, A_EDGES, turned, 2);
}

/* What a row is reduced to is joined from all of it: each warp joins what it has. */
static void join_whole(Op *join)
{
	const Op *reduce = IN(join, FROM).val->def;
	if (reduce && reduce->kind == OP_REDUCE && combine_of(reduce) == combine_of(join) &&
	    val_extent(IN(reduce, X).val, 0) > 1)
		IN(join, FROM).val = IN(reduce, X).val;
}

/* Columns that have become rows are reduced by the lanes that hold them. */
static void join_rows(Kernel *k, Op *join)
{
	Val *from = IN(join, FROM).val, *to = IN(join, TO).val;
	if (val_extent(from, 1) == 1 || tile_span(k, to, 1) != 1 || tile_span(k, to, 0) == 1)
		return;
	Op *reduce = op_in(k, op_before(k, join, OP_REDUCE), from, NULL);
	op_str(k, reduce, A_COMBINE, combine_of(join)->name);
	const Layout *l = layout_2d(k->ctx, val_extent(from, 0), 1, 1, 0);
	IN(join, FROM).val = op_result(k, reduce, "r", type_frag(k->ctx, EL_F32, l, NULL));
}

static void turn_copy(Swap *w, Op *op)
{
	for (int i = 0; i < 2; i++) {
		Val *v = op->in[i].val;
		if (is_turned(w, op->in[1 - i].val) && v->def && v->def->kind == OP_TILE)
			op->in[i].val = turned_tile(w, v);
	}
	if (combine_of(op) && is_turned(w, IN(op, FROM).val)) {
		join_whole(op);
		join_rows(w->k, op);
	}
}

static void turn(Swap *w)
{
	for (Op *op = kernel_first(w->k); op; op = op_next(op))
		if (is_turned(w, op->out))
			turn_registers(w->k, op->out);
	for (Op *op = kernel_first(w->k); op; op = op_next(op)) {
		if (op_is_mma(op))
			attrs_drop(&op->attrs, A_SWAP);
		else if (op->kind == OP_COPY)
			turn_copy(w, op);
		else if (op->kind == OP_INSIDE && is_turned(w, op->out))
			turn_inside(w, op);
	}
}

/* Each of them, then. */
static bool is_asked_for(const Kernel *k)
{
	bool some = false;
	for (const Op *op = kernel_mma(k, NULL); op; op = kernel_mma(k, op))
		some |= attrs_int(&op->attrs, A_SWAP, 0);
	return some;
}

PASS_OF(swap)
{
	Arena *a = ctx_arena(k->ctx);
	Swap w = {.k = k, .kept = {.arena = a}, .turns = {.arena = a}};
	if (!is_asked_for(k))
		return;
	find_kept(&w);
	check(&w);
	if (pass_failed(k))
		return;
	turn(&w);
	kernel_sweep(k);
	drop_unused(k, OP_VIEW);
	why_swap(k);
}
