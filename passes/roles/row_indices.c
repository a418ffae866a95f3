/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* row_indices.c - indices into registers: each thread that copies rows by indices holds those of
 * its rows, which it loads where the tile's rows are known: before the loop along k.
 *     for k (0, T) { %t = tile %A, %r (0, k * 64) gather=0 ; load.async %sA[k], %t warps=2 }
 * ->  %i = frag : reg s32 (128,1) tv ((8,8),16):((0,1),8)
 *     fill %i value=-1 ; load %i, %r first=9
 *     for k (0, T) { .. load.async %sA[k], %t, %i first=9 warps=2 } */
#include "passes/atoms/units.h"
#include "passes/atoms/copy_choice.h"

enum { NO_INDEX = -1 };

bool op_loads_rows(const Op *op)
{
	return op_is_atom(op) && op_done_by(op, DONE_BY_BARRIER) && tile_indices(IN(op, FROM).val);
}

int64_t rows_issued(const Op *load)
{
	int64_t parts = attrs_int(&load->attrs, A_SLICES, 1) * attrs_int(&load->attrs, A_WARPS, 1);
	int64_t gather = attrs_int(&IN(load, FROM).val->def->attrs, A_GATHER, 0);
	return val_extent(IN(load, FROM).val, (int)gather) / parts;
}

/* Whether in the region a name of the tile's indices is bound. */
static bool binds_name(const Op *region, const Op *tile)
{
	for (const Op *op = region; op == region || (op && op_inside(op, region)); op = op_next(op))
		for (int i = 0; i < op->nsym; i++)
			if (tile_named(tile, op->sym[i]))
				return true;
	return false;
}

/* In front of what the loads stand for: the outermost loop in which they are the same. */
static Op *place_of_load(Op *op, const Op *tile)
{
	Op *at = op;
	for (Op *up = op_parent(op); up && up->kind != OP_ROLE && !binds_name(up, tile);
	     up = op_parent(up))
		if (up->kind == OP_FOR)
			at = up;
	return at;
}

static bool same_tile(const Op *a, const Op *b)
{
	bool same = IN(a, OF).val == IN(b, OF).val && IN(a, OF).at == IN(b, OF).at &&
		    a->nix == b->nix && a->out->type == b->out->type;
	for (int i = 0; i < a->nix && same; i++)
		same = a->ix[i] == b->ix[i];
	return same;
}

/* Row r of the tile is copied by u.row threads, rows one after the other by the next; further
 * registers are of rows further on. */
static const Type *type_of_indices(Kernel *k, const Op *copy, const Val *indices)
{
	Ctx *c = k->ctx;
	Units u = units_of(k, copy);
	int rows = val_extent(indices, tile_mode(k, indices, 0)),
	    cols = val_extent(indices, tile_mode(k, indices, 1));
	int64_t apart = u.threads / u.row;
	const Tup *lanes[2] = {tup_int(c, u.row), tup_int(c, apart)},
		  *steps[2] = {tup_int(c, 0), tup_int(c, 1)};
	const Layout *modes[2] = {layout_new(c, tup_new(c, lanes, 2), tup_new(c, steps, 2)),
				  layout_new(c, tup_int(c, units_rows(&u)), tup_int(c, apart))};
	return type_frag(c, EL_I32, layout_2d(c, rows, cols, 1, rows), layout_cat(c, modes, 2));
}

/* What an earlier access to the same rows holds, alike; `first` as below. NULL: nothing that is
 * known here, or that is checked for this tensor. */
static Val *held(const Type *type, const Attr *first, const Op *at, const Op *of, const Op *tile)
{
	for (const Op *op = at->prev; op; op = op->prev)
		if (op->kind == OP_LOAD && IN(op, TO).val->type == type &&
		    same_tile(IN(op, FROM).val->def, tile) &&
		    attrs_int(&op->attrs, A_FIRST, 0) == (first ? first->i[0] : 0) &&
		    (!HAS_IN(op, CHECKED) || IN(op, CHECKED).val == IN(of, OF).val))
			return IN(op, TO).val;
	return NULL;
}

/* of: the tile that they are of, or the part `tile` of them. `first`: where they belong to threads
 * of a part of the role, its first warp. */
static Val *load_indices(Kernel *k, const Type *type, const Attr *first, Op *at, const Op *of,
			 const Op *tile)
{
	Op *t = op_before(k, at, OP_TILE), *frag = op_before(k, at, OP_FRAG),
	   *none = op_before(k, at, OP_FILL), *load = op_before(k, at, OP_LOAD);
	op_of_tensor(k, t, IN(tile, OF).val, tile->out, NULL);
	for (int i = 0; i < tile->nix; i++)
		op_ix(k, t, tile->ix[i]);
	op_result(k, t, "t", tile->out->type);
	Val *to = op_result(k, frag, "rows", type);
	op_in(k, none, to, NULL);
	op_real(k, none, A_VALUE, NO_INDEX);
	op_ins(k, load, to, t->out);
	if (attrs_int(&k->attrs, A_CHECKS, 0)) {
		op_in(k, load, IN(of, OF).val, NULL);
		op_int(k, load, A_CHECKS, attrs_int(&of->attrs, A_GATHER, 0));
	}
	if (first)
		op_int(k, load, A_FIRST, first->i[0]);
	return to;
}

/* A tile that the given one has at `from` along its longer mode. After its group's end it goes on
 * with the next one's rows, as one without indices does: a box of no row takes five times as long
 * as one of a row. Not where indices are checked: those after all groups may be none. */
static const Op *part_of_tile(Kernel *k, Op *at, const Op *tile, const Ix *from, int64_t n)
{
	Ctx *c = k->ctx;
	const Layout *l = tile->out->type->layout;
	const Tup *shape[MODES_MOST];
	Op *part = op_before(k, at, OP_TILE);
	op_of_tensor(k, part, IN(tile, OF).val, tile->out, NULL);
	if (!attrs_int(&k->attrs, A_CHECKS, 0))
		IN(part, OF).at = NULL;
	int along = tile_mode(k, tile->out, 0);
	if (val_extent(tile->out, along) == 1)
		along = tile_mode(k, tile->out, 1);
	for (int i = 0; i < tile->nix; i++) {
		shape[i] = i == along ? tup_int(c, n) : tup_get(l->shape, i);
		op_ix(k, part, i == along ? ix_add(c, tile->ix[i], from) : tile->ix[i]);
	}
	l = layout_new(c, tup_new(c, shape, tile->nix), l->stride);
	op_result(k, part, "t", type_tile(c, SP_GLOBAL, tile->out->type->elem, l));
	return part;
}

static const Layout *matrix_of(const Kernel *k, const Val *tile)
{
	int rows = val_extent(tile, tile_mode(k, tile, 0)),
	    cols = val_extent(tile, tile_mode(k, tile, 1));
	return layout_2d(k->ctx, rows, cols, 1, rows);
}

/* All that a lane issues boxes for, in each lane. */
static void for_boxes(Kernel *k, Op *op, const Val *indices)
{
	enum { LANES = 32 };
	Ctx *c = k->ctx;
	Op *at = place_of_load(op, indices->def);
	int64_t n = rows_issued(op), warps = attrs_int(&op->attrs, A_WARPS, 1);
	const Ix *from = ix_int(k, attrs_int(&op->attrs, A_SHARE, 0) * n);
	if (op->nix)
		from = ix_add(c, from, ix_mul(c, IX(op, PARTS), ix_int(k, n * warps)));
	const Op *part = part_of_tile(k, at, indices->def, from, n);
	const Layout *modes[2] = {layout_new(c, tup_int(c, LANES), tup_int(c, 0)),
				  layout_new(c, tup_int(c, n), tup_int(c, 1))};
	const Type *type = type_frag(c, EL_I32, matrix_of(k, part->out), layout_cat(c, modes, 2));
	op_in(k, op, load_indices(k, type, NULL, at, IN(op, FROM).val->def, part), NULL);
}

/* Of indices, in the registers of the threads that hold rows of a tile. */
static const Type *type_like(Kernel *k, const Type *of, const Val *indices)
{
	const Layout *l = matrix_of(k, indices);
	return type_frag(k->ctx, EL_I32, l, tv_of_part(k->ctx, of->tv, of->layout, l));
}

/* Before the loops in which they are the same; of a copy, for the threads from `first` on. */
static void before_loops(Kernel *k, Op *op, const Type *type, const Attr *first)
{
	const Op *of = IN(op, FROM).val->def, *tile = IN(of, INDEX).val->def;
	Op *at = place_of_load(op, tile);
	Val *has = held(type, first, at, of, tile);
	op_in(k, op, has ? has : load_indices(k, type, first, at, of, tile), NULL);
}

static void for_copy(Kernel *k, Op *op, const Val *indices)
{
	before_loops(k, op, type_of_indices(k, op, indices), attrs_get(&op->attrs, A_FIRST));
}

/* Those of the rows that a thread holds of what is read. */
static void for_load(Kernel *k, Op *op, const Val *indices)
{
	before_loops(k, op, type_like(k, IN(op, TO).val->type, indices), NULL);
}

/* Those of the rows that a thread holds of what is written. */
static void for_store(Kernel *k, Op *op, const Val *indices)
{
	const Type *type = type_like(k, IN(op, FROM).val->type, indices);
	op_in(k, op, load_indices(k, type, NULL, op, IN(op, TO).val->def, indices->def), NULL);
}

PASS_OF(indices)
{
	for (Op *op = kernel_first(k); op; op = op_next(op)) {
		bool copies = op_fills_shared(op) && op_done_by(op, DONE_BY_LANES);
		bool stores = way_rows[WAY_STORE].first == op->kind;
		bool loads = way_rows[WAY_GATHER].first == op->kind;
		const Val *indices = copies || loads ? tile_indices(IN(op, FROM).val)
				     : stores        ? tile_indices(IN(op, TO).val)
						     : NULL;
		if (indices && !HAS_IN(op, INDEX))
			(copies ? for_copy : loads ? for_load : for_store)(k, op, indices);
		else if (op_loads_rows(op) && !HAS_IN(op, INDEX))
			for_boxes(k, op, tile_indices(IN(op, FROM).val));
	}
}
