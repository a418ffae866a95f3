/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lanes.c - a copy of a tile by threads: each moves units of 4, 8 or 16 bytes, zeros where
 * the tile lies outside its tensor. Threads take units in the order in which they lie in rows of
 * the swizzle, so that eight neighbours read 128 bytes side by side and write to all banks once.
 *     load.async %sB[p], %t bytes=16 first=9 warps=2
 * ->  for v (0, 8) unroll=0 {
 *       for u (0, 2) unroll=1 {
 *         cp.async %sB[slot], %B (byte in the slot, element, n < N, k < K) n=8
 *       }
 *     } */
#include "passes/lower/lower.h"
#include "passes/smem/offset.h"
#include "passes/atoms/units.h"

enum { FEW = 2 };

static const CopyRow *unit_row(const Op *op)
{
	for (int id = 0; id < COPY_COUNT; id++)
		if (copy_rows[id].of == (int)op->kind &&
		    copy_rows[id].n == attrs_int(&op->attrs, A_BYTES, 0))
			return &copy_rows[id];
	panic("no atom of %s", op_rows[op->kind].name);
}

Units units_of(const Kernel *k, const Op *op)
{
	Units u = {.n = unit_row(op)->n * 8 / elem_rows[IN(op, TO).val->type->elem].bits};
	const char *why = slot_form(k->ctx, IN(op, TO).val->type, &u.f);
	if (why)
		panic("%s: %s", IN(op, TO).val->name, why);
	u.row = u.f.span / u.n;
	u.units = (int64_t)u.f.rows * u.f.cols / u.n;
	u.threads = WARP_THREADS * attrs_int(&op->attrs, A_WARPS, 1);
	return u;
}

/* Of the units of rows one swizzle wide; those of the next swizzles are of the same rows. */
int64_t units_rows(const Units *u)
{
	return u->f.rows * u->row / u->threads;
}

/* Where the tile's element lies in the tensor that is so far into the tile. */
static void unit_place(Kernel *k, const Val *tile, const Ix *const more[2], const Ix **at)
{
	for (int m = 0; m < tile->def->nix; m++)
		at[m] = tile->def->ix[m];
	for (int i = 0; i < 2; i++) {
		int mode = tile_mode(k, tile, i);
		at[mode] = ix_add(k->ctx, at[mode], more[i]);
	}
}

/* The element that the copy begins with, and what says that it is inside. Along the mode that an
 * index names, the copy itself says so. */
static void from_tensor(Kernel *k, const Op *op, Op *copy, const Ix *const more[2], const Ix *reg)
{
	const Val *tile = IN(op, FROM).val;
	Val *tensor = IN(tile->def, OF).val;
	const Ix *at[MODES_MOST];
	int64_t gather = attrs_int(&tile->def->attrs, A_GATHER, -1);
	Op *inside = op_new(k, OP_IF, op->loc);
	unit_place(k, tile, more, at);
	if (gather >= 0) {
		at[gather] = ix_int(k, 0);
		op_in(k, copy, IN(op, INDEX).val, reg);
		op_int(k, copy, A_GATHER, gather);
	}
	op_ix(k, copy, op_inside_tensor(k, inside, tensor, at));
	if (IN(tile->def, OF).at)
		op_ix(k, inside,
		      ix_new(k->ctx, IX_LT, at[tile_end_mode(k, tile)], IN(tile->def, OF).at));
	for (int i = 0; i < inside->nix; i++)
		if (i != gather)
			op_ix(k, copy, inside->ix[i]);
}

/* The copy of unit x, of the rows that reg is the index of, where there are indices. */
static void lower_unit(Kernel *k, Op *op, Op *loop, Units u, const Ix *x, const Ix *reg)
{
	Ctx *c = k->ctx;
	const Ix *in_row = ix_mod(c, x, ix_int(k, u.row)), *line = ix_div(c, x, ix_int(k, u.row));
	const Ix *block = ix_div(c, line, ix_int(k, u.f.rows));
	const Ix *more[2];
	more[1 - u.f.fast] = ix_mod(c, line, ix_int(k, u.f.rows));
	more[u.f.fast] =
		ix_add(c, ix_mul(c, block, ix_int(k, u.f.span)), ix_mul(c, in_row, ix_int(k, u.n)));
	Op *copy = op_append(k, op_body(k, loop), (OpKind)unit_row(op)->op, op->loc);
	Place p = {c, IN(op, TO).val->type, line, ix_mul(c, in_row, ix_int(k, u.n))};
	op_in(k, copy, IN(op, TO).val, IN(op, TO).at);
	op_in(k, copy, tensor_arg(IN(IN(op, FROM).val->def, OF).val), NULL);
	op_ix(k, copy, place_byte(&p));
	from_tensor(k, op, copy, more, reg);
	op_int(k, copy, A_N, u.n);
}

/* A few copies one after the other; of more, their addresses would not fit into the registers of
 * who loads. */
static void few_by_few(Kernel *k, Op *op, Op *loop, Units u, const Ix *at)
{
	Ctx *c = k->ctx;
	int64_t all = u.units / u.threads, few = all % FEW ? 1 : FEW;
	const char *name = kernel_fresh(k, "u");
	if (all > FEW) {
		const Ix *outer = op_turns(k, loop, kernel_fresh(k, "v"), ix_int(k, all / few), 0);
		at = ix_add(c, at, ix_mul(c, outer, ix_int(k, few * u.threads)));
		loop = op_append(k, op_body(k, loop), OP_FOR, op->loc);
		all = few;
	}
	const Ix *inner = op_turns(k, loop, name, ix_int(k, all), 1);
	at = ix_add(c, at, ix_mul(c, inner, ix_int(k, u.threads)));
	lower_unit(k, op, loop, u, at, NULL);
}

/* Of each row whose index a register holds, a copy for each width of the swizzle. */
static void row_by_row(Kernel *k, Op *op, Op *loop, Units u, const Ix *at)
{
	Ctx *c = k->ctx;
	const char *row = kernel_fresh(k, "r"), *block = kernel_fresh(k, "u");
	op_turns(k, loop, row, ix_int(k, units_rows(&u)), 1);
	Op *blocks = op_append(k, op_body(k, loop), OP_FOR, op->loc);
	op_turns(k, blocks, block, ix_int(k, u.f.cols / u.f.span), 1);
	at = ix_mod(c, at, ix_int(k, u.threads));
	at = ix_add(c, at, ix_mul(c, ix_sym(c, row), ix_int(k, u.threads)));
	at = ix_add(c, at, ix_mul(c, ix_sym(c, block), ix_int(k, u.f.rows * u.row)));
	lower_unit(k, op, blocks, u, at, ix_sym(c, row));
}

void lower_by_threads(Kernel *k, Op *op)
{
	const Ix *first = ix_int(k, WARP_THREADS * attrs_int(&op->attrs, A_FIRST, 0));
	const Ix *at = ix_sub(k->ctx, ix_sym(k->ctx, "tid"), first);
	Op *loop = op_before(k, op, OP_FOR);
	(HAS_IN(op, INDEX) ? row_by_row : few_by_few)(k, op, loop, units_of(k, op), at);
	op_remove(op);
}
