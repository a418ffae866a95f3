/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lower_lanes.c - a copy of a tile by threads: each moves units of 4, 8 or 16 bytes, zeros where
 * the tile lies outside its tensor.
 *     load.async %sB[p], %t bytes=16 first=9 warps=2
 * ->  for v (0, 8) unroll=0 {
 *       for u (0, 2) unroll=1 {
 *         cp.async %sB[slot], %B (byte in the slot, element, n < N, k < K) n=8
 *       }
 *     } */
#include "passes/lower.h"
#include "passes/place.h"

enum { FEW = 2 };

/* How threads share out a tile: units of n elements side by side, those of a row of the swizzle one
 * behind the other, so that neighbours read from, and write to, places side by side. */
typedef struct {
	SlotForm f;
	int n;                       /* elements of a unit */
	int64_t row, units, threads; /* units of a row of the swizzle; of the tile */
} Units;

static const CopyRow *unit_row(const Op *op)
{
	for (int id = 0; id < COPY_COUNT; id++)
		if (copy_rows[id].of == (int)op->kind &&
		    copy_rows[id].n == attrs_int(&op->attrs, A_BYTES, 0))
			return &copy_rows[id];
	panic("no atom of %s", op_rows[op->kind].name);
}

static Units units_of(Kernel *k, const Op *op)
{
	Units u = {.n = unit_row(op)->n * 8 / elem_rows[op->in[0].val->type->elem].bits};
	const char *why = slot_form(k->ctx, op->in[0].val->type, &u.f);
	if (why)
		panic("%s: %s", op->in[0].val->name, why);
	u.row = u.f.span / u.n;
	u.units = (int64_t)u.f.rows * u.f.cols / u.n;
	u.threads = WARP_THREADS * attrs_int(&op->attrs, A_WARPS, 1);
	return u;
}

/* The copy of unit x: where it lies in the slot, in the tensor, and what says that it is inside. */
static void lower_unit(Kernel *k, Op *op, Op *loop, Units u, const Ix *x)
{
	Ctx *c = k->ctx;
	const Val *tile = op->in[1].val;
	const Ix *at[MODES_MOST], *in_row = ix_mod(c, x, ix_int(k, u.row));
	const Ix *line = ix_div(c, x, ix_int(k, u.row));
	const Ix *block = ix_div(c, line, ix_int(k, u.f.rows));
	const Ix *more[2];
	more[1 - u.f.fast] = ix_mod(c, line, ix_int(k, u.f.rows));
	more[u.f.fast] =
		ix_add(c, ix_mul(c, block, ix_int(k, u.f.span)), ix_mul(c, in_row, ix_int(k, u.n)));
	for (int m = 0; m < tile->def->nix; m++)
		at[m] = tile->def->ix[m];
	for (int i = 0; i < 2; i++)
		at[tile_mode(k, tile, i)] = ix_add(c, at[tile_mode(k, tile, i)], more[i]);
	Op *copy = op_append(k, op_body(k, loop), (OpKind)unit_row(op)->op, op->loc);
	Op *inside = op_new(k, OP_IF, op->loc);
	Val *tensor = tile->def->in[0].val;
	const Ix *offset = op_inside_tensor(k, inside, tensor, at);
	Place p = {c, op->in[0].val->type, line, ix_mul(c, in_row, ix_int(k, u.n))};
	op_in(k, copy, op->in[0].val, op->in[0].at);
	op_in(k, copy, tensor_arg(tensor), NULL);
	op_ix(k, copy, place_byte(&p));
	op_ix(k, copy, offset);
	for (int i = 0; i < inside->nix; i++)
		op_ix(k, copy, inside->ix[i]);
	op_int(k, copy, A_N, u.n);
}

static Op *turns(Kernel *k, Op *loop, const char *name, int64_t n, int unroll)
{
	op_sym(k, loop, name);
	op_ix(k, loop, ix_int(k, 0));
	op_ix(k, loop, ix_int(k, n));
	op_int(k, loop, A_UNROLL, unroll);
	return loop;
}

/* A few copies one behind the other; of more, their addresses would not fit into the registers of
 * who loads. */
void lower_by_threads(Kernel *k, Op *op)
{
	Ctx *c = k->ctx;
	Units u = units_of(k, op);
	int64_t all = u.units / u.threads, few = all % FEW ? 1 : FEW;
	const Ix *first = ix_int(k, WARP_THREADS * attrs_int(&op->attrs, A_FIRST, 0));
	const Ix *at = ix_sub(c, ix_sym(c, "tid"), first);
	const char *name = kernel_fresh(k, "u");
	Op *loop = op_before(k, op, OP_FOR);
	if (all > FEW) {
		const char *outer = kernel_fresh(k, "v");
		turns(k, loop, outer, all / few, 0);
		at = ix_add(c, at, ix_mul(c, ix_sym(c, outer), ix_int(k, few * u.threads)));
		loop = op_append(k, op_body(k, loop), OP_FOR, op->loc);
		all = few;
	}
	turns(k, loop, name, all, 1);
	lower_unit(k, op, loop, u, ix_add(c, at, ix_mul(c, ix_sym(c, name), ix_int(k, u.threads))));
	op_remove(op);
}
