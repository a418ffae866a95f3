/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* staging.c - a warpgroup's rows of a chunk: between registers and shared memory by the atoms
 * that copy_match.c finds, from there on by TMA or by threads. With trans=1 the buffer holds
 * columns of the tile as its rows.
 *     store.shared %sD[s], %c[32]
 *     ->  stmatrix %sD[s], %c[32] (row * 128 + xor(chunk, row % 8) * 16) n=4 ; ... */
#include "passes/lower/lower.h"
#include "passes/smem/offset.h"

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
	int regs = IN(op, TO).val->type->space != SP_REG, first = reg;
	const CopyMatch *m = copy_first(all, h, reg, n);
	if (!m)
		panic("no atom of %s takes register %d of %%%s", op_rows[op->kind].name, reg,
		      op->in[regs].val->name);
	Place lanes = lanes_place(k, op->in[1 - regs].val, h, m);
	for (; copy_first(all, h, reg, n) == m; reg += m->row->regs) {
		Place p = lanes;
		place_step(&p, h->skip + layout_at_int(h->values, reg));
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
	block_append(op_body(k, only), op);
}

void lower_shared(Kernel *k, Op *op)
{
	int regs = IN(op, TO).val->type->space != SP_REG;
	const Val *buffer = op->in[1 - regs].val, *frag = op->in[regs].val;
	Spread h;
	const char *why = spread_of_copy(k, op, &h);
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
	Val *tile = IN(op, TO).val;
	SlotForm f = form_of(k, IN(op, FROM).val);
	int fast = fast_mode(k, tile);
	for (int col = 0; col < f.cols; col += f.span) {
		const Ix *more[2] = {ix_int(k, 0), ix_int(k, 0)};
		Op *st = op_before(k, op, (OpKind)copy_row_of(op->kind)->op);
		op_in(k, st, IN(op, FROM).val, IN(op, FROM).at);
		op_in(k, st, IN(op, MAP).val, NULL);
		op_ix(k, st, ix_int(k, slot_byte(IN(op, FROM).val->type, 0, col)));
		more[fast] = ix_int(k, col);
		op_box(k, st, tile, more);
		if (combine_of(op))
			op_str(k, st, A_COMBINE, combine_of(op)->name);
	}
	op_remove(op);
}

/* A byte of the buffer at (row, col). */
static const Ix *byte_at(Kernel *k, const Type *buffer, const Ix *row, const Ix *col)
{
	Place p = place_in(k->ctx, buffer);
	place_add(&p, layout_mode(k->ctx, buffer->layout, 0), row);
	place_add(&p, layout_mode(k->ctx, buffer->layout, 1), col);
	return place_byte(&p);
}

/* op's atom, where (row, col) of the buffer is inside the tensor, with that element's offset. */
static Op *copy_inside(Kernel *k, const Op *op, Block *to, const CopyRow *atom, const Ix *row,
		       const Ix *col)
{
	const Val *tile = IN(op, TO).val;
	const Ix *of_mode[2], *at[MODES_MOST];
	Op *inside = op_append(k, to, OP_IF, op->loc);
	of_mode[fast_mode(k, tile)] = col;
	of_mode[1 - fast_mode(k, tile)] = row;
	for (int m = 0; m < tile->def->nix; m++)
		at[m] = tile->def->ix[m];
	for (int m = 0; m < 2; m++)
		at[tile_mode(k, tile, m)] = ix_add(k->ctx, tile_at(k, tile, m), of_mode[m]);
	Val *tensor = IN(tile->def, OF).val;
	const Ix *offset = op_inside_tensor(k, inside, tensor, at);
	if (IN(tile->def, OF).at)
		op_ix(k, inside,
		      ix_new(k->ctx, IX_LT, at[tile_end_mode(k, tile)], IN(tile->def, OF).at));
	Op *st = op_append(k, op_body(k, inside), (OpKind)atom->op, op->loc);
	op_in(k, st, tensor_arg(tensor), NULL);
	op_in(k, st, IN(op, FROM).val, IN(op, FROM).at);
	op_ix(k, st, offset);
	return st;
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

/* A loop of so many turns, in each of which the threads of a warpgroup take an item each: its
 * number is turn * 128 + thread. */
static const Ix *share(Kernel *k, Op *loop, const Ix *turns)
{
	Ctx *c = k->ctx;
	const char *name = kernel_fresh(k, "e");
	const Ix *me = thread_here(k, loop);
	const Ix *turn = op_turns(k, loop, name, turns, 0);
	return ix_add(c, ix_mul(c, turn, ix_int(k, GROUP_THREADS)), me);
}

static const Ix *divided(Kernel *k, const Ix *x, int by)
{
	return ix_simplify(k->ctx, ix_div(k->ctx, x, ix_int(k, by)), kernel_facts(k));
}

static const Ix *left(Kernel *k, const Ix *x, int by)
{
	return ix_simplify(k->ctx, ix_mod(k->ctx, x, ix_int(k, by)), kernel_facts(k));
}

/* Elements, neighbours of the fast mode by neighbouring threads: bands of so many columns, one
 * after the other. */
static void copy_elements(Kernel *k, const Op *op, Op *loop, SlotForm f, int band, const Ix *bands)
{
	Ctx *c = k->ctx;
	int a_band = f.rows * band;
	const Ix *item = share(k, loop, ix_mul(c, bands, ix_int(k, a_band / GROUP_THREADS)));
	const Ix *row = divided(k, left(k, item, a_band), band);
	const Ix *col = ix_add(c, ix_mul(c, divided(k, item, a_band), ix_int(k, band)),
			       left(k, item, band));
	Op *st = copy_inside(k, op, op_body(k, loop), copy_row_with(op->kind, 0), row, col);
	op_ix(k, st, byte_at(k, IN(op, FROM).val->type, row, col));
}

/* n elements a unit, where all columns are inside the tensor. */
static void copy_units(Kernel *k, const Op *op, Op *loop, SlotForm f, int n)
{
	Ctx *c = k->ctx;
	int units = f.cols / n;
	Block *body = op_body(k, loop);
	const Ix *item = share(k, loop, ix_int(k, f.rows * units / GROUP_THREADS));
	const Ix *row = divided(k, item, units), *unit = left(k, item, units);
	const Ix *before = ix_mod(c, ix_add(c, unit, ix_int(k, units - 1)), ix_int(k, units));
	const Ix *of[] = {unit, before, ix_int(k, 0), ix_int(k, units - 1)};
	Op *st = copy_inside(k, op, body, copy_row_of(op->kind), row, ix_int(k, 0));
	Op *inside = op_parent(st);
	op_ix(k, st, unit);
	for (int i = 0; i < 4; i++)
		op_ix(k, st,
		      byte_at(k, IN(op, FROM).val->type, row, ix_mul(c, of[i], ix_int(k, n))));
	for (int i = 0; i < inside->nix; i++)
		op_ix(k, st, inside->ix[i]);
	op_int(k, st, A_N, n);
	op_int(k, st, A_COUNT, units);
	op_remove(st);
	op_remove(inside);
	block_append(body, st);
}

/* Elements of a unit, if the rows of the buffer can leave by such; 0. */
static int unit_of(const Kernel *k, const Op *op, SlotForm f)
{
	const Val *tile = IN(op, TO).val;
	int bits = elem_rows[IN(op, FROM).val->type->elem].bits;
	int n = copy_row_of(op->kind)->n * 8 / bits, units = f.cols / n;
	int fast = fast_mode(k, tile);
	bool whole = f.cols % n == 0 && f.rows * units % GROUP_THREADS == 0 &&
		     f.rows * n % GROUP_THREADS == 0;
	bool lanes = units && units <= WARP_THREADS && WARP_THREADS % units == 0;
	bool dense = ix_is(tile_stride(k, tile, fast), 1) &&
		     tile_mode(k, tile, fast) != tile_end_mode(k, tile);
	return whole && lanes && dense && bits <= 32 && !attrs_get(&op->attrs, A_N) ? n : 0;
}

/* Of a chunk that hangs over the tensor's columns, bands of as many as a unit has: those that there
 * are, if sizes decide; else all, since what a chunk is written for it must be read for. */
static void copy_rest(Kernel *k, const Op *op, Op *rest, SlotForm f, int n)
{
	Ctx *c = k->ctx;
	const Val *tile = IN(op, TO).val;
	int fast = fast_mode(k, tile);
	const Ix *at = tile_at(k, tile, fast), *extent = tile_extent(k, tile, fast);
	const Ix *some = ix_new(c, IX_MIN, ix_sub(c, extent, at), ix_int(k, f.cols - 1));
	const Ix *bands = ix_div(c, ix_add(c, some, ix_int(k, n - 1)), ix_int(k, n));
	if (extent->kind == IX_CONST)
		bands = ix_int(k, f.cols / n);
	else
		op_ix(k, rest, ix_new(c, IX_LT, at, extent));
	copy_elements(k, op, op_append(k, op_body(k, rest), OP_FOR, op->loc), f, n, bands);
}

/* Units where a chunk's rows are inside the tensor from end to end, elements where they are not. */
void lower_store_staged(Kernel *k, Op *op)
{
	Ctx *c = k->ctx;
	SlotForm f = form_of(k, IN(op, FROM).val);
	const Val *tile = IN(op, TO).val;
	int n = unit_of(k, op, f), fast = fast_mode(k, tile);
	if (!n) {
		copy_elements(k, op, op_before(k, op, OP_FOR), f, f.cols, ix_int(k, 1));
		op_remove(op);
		return;
	}
	const Ix *extent = tile_extent(k, tile, fast);
	const Ix *end = ix_add(c, tile_at(k, tile, fast), ix_int(k, f.cols));
	Op *whole = op_before(k, op, OP_IF), *rest = op_before(k, op, OP_IF);
	op_ix(k, whole, ix_new(c, IX_LE, end, extent));
	op_ix(k, rest, ix_new(c, IX_LT, extent, end));
	copy_units(k, op, op_append(k, op_body(k, whole), OP_FOR, op->loc), f, n);
	copy_rest(k, op, rest, f, n);
	op_remove(op);
}
