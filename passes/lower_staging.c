/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lower_staging.c - a warpgroup's rows of a chunk: between registers and shared memory by the atoms
 * that copy_match.c finds, from there on by TMA or by threads. With trans=1 the buffer holds
 * columns of the tile as its rows.
 *     store.shared %sD[s], %c[32]
 *     ->  stmatrix %sD[s], %c[32] (row * 128 + xor(chunk, row % 8) * 16) n=4 ; ... */
#include "passes/lower.h"
#include "passes/place.h"

/* ------------------------------------------------------------------ registers */
/* n= registers of the op's from reg on, or to them. */
static void copy_at(Kernel *k, Op *op, const CopyRow *row, int regs, int reg, const Ix *byte)
{
	Op *copy = op_before(k, op, (OpKind)row->op);
	for (int i = 0; i < 2; i++) {
		const Operand *in = &op->in[i];
		const Ix *at = i == regs ? ix_add(k->ctx, in->at, ix_int(k, reg)) : in->at;
		op_in(k, copy, in->val, at);
	}
	for (int i = 0; i < op->nix; i++) /* whose memory it is */
		op_ix(k, copy, op->ix[i]);
	op_ix(k, copy, byte);
	op_int(k, copy, A_N, row->n);
	if (row->trans)
		op_int(k, copy, A_TRANS, 1);
}

/* Where the atom's lanes are, of a thread's first registers. */
static Place lanes_place(Kernel *k, const Val *buffer, const Spread *h, const CopyMatch *m)
{
	Place p = place_in(k->ctx, buffer->type);
	place_add(&p, h->warps, ix_sym(k->ctx, "warp"));
	place_add(&p, m->lanes, ix_sym(k->ctx, "lane"));
	return p;
}

/* The instructions that copy the registers from `reg` on; how many registers they took. */
static int copy_run(Kernel *k, Op *op, const Spread *h, const CopyMatches *all, int reg, int n)
{
	int regs = op->in[0].val->type->space != SP_REG, first = reg;
	const CopyMatch *m = copy_first(all, h, reg, n);
	if (!m)
		panic("no atom of %s takes register %d of %%%s", op_rows[op->kind].name, reg,
		      op->in[regs].val->name);
	Place lanes = lanes_place(k, op->in[1 - regs].val, h, m);
	for (; copy_first(all, h, reg, n) == m; reg += m->row->regs) {
		Place p = lanes;
		place_step(&p, layout_at_int(h->values, reg) + attrs_int(&op->attrs, A_SKIP, 0));
		copy_at(k, op, m->row, regs, reg, place_byte(&p));
	}
	return reg - first;
}

/* Where several threads hold the same elements, one of them stores these. */
static void by_one_of_alike(Kernel *k, Op *op)
{
	Op *only = op_before(k, op, OP_IF);
	op_one_of_alike(k, op, false, only);
	if (!only->nix) {
		op_remove(only);
		return;
	}
	op_remove(op);
	block_append(op_body(k, only), op);
}

void lower_shared(Kernel *k, Op *op)
{
	int regs = op->in[0].val->type->space != SP_REG;
	const Val *buffer = op->in[1 - regs].val, *frag = op->in[regs].val;
	Spread h;
	const char *why =
		spread_in_slot(k, buffer->type, frag->type, attrs_int(&op->attrs, A_TRANS, 0), &h);
	if (why)
		panic("%%%s: %s", frag->name, why);
	CopyMatches atoms = copy_matches(k, &h, op->kind, elem_rows[buffer->type->elem].bits);
	int n = spread_values(k->ctx, &h);
	if (regs)
		by_one_of_alike(k, op);
	for (int reg = 0; reg < n;)
		reg += copy_run(k, op, &h, &atoms, reg, n);
	op_remove(op);
}

/* ------------------------------------------------------------------ tensors */
static SlotForm form_of(Kernel *k, const Val *buffer)
{
	SlotForm f;
	const char *why = slot_form(k->ctx, buffer->type, &f);
	if (why || f.fast != 1)
		panic("%%%s is not a staging buffer: %s", buffer->name, why ? why : "its columns");
	return f;
}

/* Which mode of the tile is contiguous. */
static int fast_mode(const Kernel *k, const Val *tile)
{
	return ix_is(tile_stride(k, tile, 0), 1) ? 0 : 1;
}

/* A box for each span of the buffer. */
void lower_store_tma(Kernel *k, Op *op)
{
	Val *tile = op->in[0].val;
	SlotForm f = form_of(k, op->in[1].val);
	int fast = fast_mode(k, tile);
	for (int col = 0; col < f.cols; col += f.span) {
		const Ix *more[2] = {ix_int(k, 0), ix_int(k, 0)};
		Op *st = op_before(k, op, (OpKind)copy_row_of(op->kind)->op);
		op_in(k, st, op->in[1].val, op->in[1].at);
		op_in(k, st, op->in[2].val, NULL);
		op_ix(k, st, ix_int(k, slot_byte(op->in[1].val->type, 0, col)));
		more[fast] = ix_int(k, col);
		op_box(k, st, tile, more);
	}
	op_remove(op);
}

/* tensor <- buffer at (row, col) of the buffer, unless that is outside the tensor. */
static void copy_one(Kernel *k, const Op *op, Block *to, const Ix *row, const Ix *col)
{
	const Val *tile = op->in[0].val;
	const Type *buffer = op->in[1].val->type;
	const Ix *of_mode[2], *at[MODES_MOST];
	Place p = place_in(k->ctx, buffer);
	Op *inside = op_append(k, to, OP_IF, op->loc);
	of_mode[fast_mode(k, tile)] = col;
	of_mode[1 - fast_mode(k, tile)] = row;
	for (int m = 0; m < tile->def->nix; m++)
		at[m] = tile->def->ix[m];
	for (int m = 0; m < 2; m++)
		at[tile_mode(k, tile, m)] = ix_add(k->ctx, tile_at(k, tile, m), of_mode[m]);
	Val *tensor = tile->def->in[0].val;
	const Ix *offset = op_inside_tensor(k, inside, tensor, at);
	if (tile->def->in[0].at)
		op_ix(k, inside,
		      ix_new(k->ctx, IX_LT, at[tile_end_mode(k, tile)], tile->def->in[0].at));
	Op *st = op_append(k, op_body(k, inside), (OpKind)copy_row_of(op->kind)->op, op->loc);
	op_in(k, st, tensor_arg(tensor), NULL);
	op_in(k, st, op->in[1].val, op->in[1].at);
	op_ix(k, st, offset);
	place_add(&p, layout_mode(k->ctx, buffer->layout, 0), row);
	place_add(&p, layout_mode(k->ctx, buffer->layout, 1), col);
	op_ix(k, st, place_byte(&p));
}

/* The thread's number in its warpgroup. What only it decides is the same for all tiles, and ptxas
 * would keep all that in registers while the main loop runs. */
static const Ix *thread_here(Kernel *k, Op *at)
{
	Op *let = op_before(k, at, OP_LET);
	const char *name = kernel_fresh(k, "me");
	op_sym(k, let, name);
	op_ix(k, let, ix_mod(k->ctx, ix_sym(k->ctx, "tid"), ix_int(k, GROUP_THREADS)));
	op_int(k, let, A_HERE, 1);
	return ix_sym(k->ctx, name);
}

/* Neighbouring threads take neighbours of the tensor's fast mode; a round is so many rows of the
 * buffer. */
void lower_store_staged(Kernel *k, Op *op)
{
	Ctx *c = k->ctx;
	SlotForm f = form_of(k, op->in[1].val);
	Op *loop = op_before(k, op, OP_FOR);
	const Ix *cols = ix_int(k, f.cols), *me = thread_here(k, loop);
	const char *name = kernel_fresh(k, "e");
	op_sym(k, loop, name);
	op_ix(k, loop, ix_int(k, 0));
	op_ix(k, loop, ix_int(k, f.rows * f.cols / GROUP_THREADS));
	op_int(k, loop, A_UNROLL, 0);
	const Ix *at = ix_add(c, ix_mul(c, ix_sym(c, name), ix_int(k, GROUP_THREADS)), me);
	IxFacts facts = kernel_facts(k);
	copy_one(k, op, op_body(k, loop), ix_simplify(c, ix_div(c, at, cols), facts),
		 ix_simplify(c, ix_mod(c, at, cols), facts));
	op_remove(op);
}
