/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lower_staging.c - a warpgroup's 64 rows of a chunk: between registers and shared memory by
 * stmatrix and ldmatrix (16-bit elements) or plain vectors, at swizzled addresses; and by TMA. An
 * accumulator has its registers in fours for 8 columns: two of a row, two of the row 8 below. With
 * trans=1 the buffer holds columns of the tile as its rows.
 *     store.shared %sD[s], %c[32]
 *     ->  stmatrix %sD[s], %c[32] (row * 128 + xor(chunk, row % 8) * 16) n=4 ; ... */
#include "passes/lower.h"

enum {
	UNIT = 16, /* bytes that a swizzle moves together */
	REGS_8_COLUMNS = 4,
	GROUP_THREADS = 128,
	WARP_ROWS = 16
};

typedef struct {
	Kernel *k;
	Op *op;
	int regs; /* which operand */
	OpKind matrices, vectors;
	SlotForm m;
	int bytes;
	bool trans;                /* the buffer's rows are the registers' columns */
	const Ix *lane, *warp_row; /* first row of the warp in the chunk */
} Staging;

/* First row of the executing warp: 16 rows each; a buffer of several warpgroups' rows holds them
 * one after the other. */
static const Ix *first_row(Kernel *k, int rows)
{
	Ctx *c = k->ctx;
	const Ix *warp = ix_mod(c, ix_sym(c, "warp"), ix_int(k, rows / WARP_ROWS));
	return ix_mul(c, warp, ix_int(k, WARP_ROWS));
}

static Staging staging(Kernel *k, Op *op, const Val *buffer)
{
	bool reads = op->kind == OP_LOAD_SHARED;
	Staging s = {.k = k, .op = op, .regs = !reads, .lane = ix_sym(k->ctx, "lane")};
	s.matrices = reads ? OP_LDMATRIX : OP_STMATRIX;
	s.vectors = reads ? OP_LD_SHARED : OP_ST_SHARED;
	const char *why = slot_form(k->ctx, buffer->type, &s.m);
	if (why || s.m.fast != 1)
		panic("%%%s is not a staging buffer: %s", buffer->name, why ? why : "its columns");
	s.bytes = elem_rows[buffer->type->elem].bits / 8;
	s.trans = attrs_int(&op->attrs, A_TRANS, 0);
	return s;
}

/* Byte of (row, 16-byte unit): rows of the swizzle's width, units exchanged by the row's place in
 * the pattern. */
static const Ix *address(const Staging *s, const Ix *row, const Ix *unit)
{
	Ctx *c = s->k->ctx;
	const Ix *every = ix_int(s->k, 128 / s->m.swizzle),
		 *width = ix_int(s->k, s->m.swizzle / UNIT);
	const Ix *turn = ix_mod(c, ix_div(c, row, every), width);
	const Ix *at = ix_mul(c, ix_new(c, IX_XOR, unit, turn), ix_int(s->k, UNIT));
	return ix_add(c, ix_mul(c, row, ix_int(s->k, s->m.swizzle)), at);
}

/* Byte of an element of the buffer, whose spans lie one behind the other. */
static const Ix *element(const Staging *s, const Ix *row, const Ix *col)
{
	Ctx *c = s->k->ctx;
	const Ix *span = ix_int(s->k, s->m.span), *unit = ix_int(s->k, UNIT / s->bytes);
	const Ix *rest = ix_mul(c, ix_mod(c, col, unit), ix_int(s->k, s->bytes));
	if (s->m.cols > s->m.span) {
		const Ix *before = ix_mul(c, ix_div(c, col, span), ix_int(s->k, s->m.rows));
		row = ix_add(c, before, row);
		col = ix_mod(c, col, span);
	}
	return ix_add(c, address(s, row, ix_div(c, col, unit)), rest);
}

static void access(const Staging *s, OpKind kind, int reg, const Ix *byte, int n)
{
	Kernel *k = s->k;
	Op *op = op_before(k, s->op, kind);
	for (int i = 0; i < 2; i++) {
		const Operand *in = &s->op->in[i];
		const Ix *at = i == s->regs ? ix_add(k->ctx, in->at, ix_int(k, reg)) : in->at;
		op_in(k, op, in->val, at);
	}
	op_ix(k, op, byte);
	op_int(k, op, A_N, n);
	if (kind == OP_STMATRIX && s->trans)
		op_int(k, op, A_TRANS, 1);
}

/* Four matrices of 8 x 8: left above, left below, right above, right below, whose rows the lanes
 * name in eights. */
static void by_matrices(const Staging *s)
{
	Ctx *c = s->k->ctx;
	const Ix *sixteen = ix_int(s->k, 16), *right = ix_div(c, s->lane, sixteen);
	const Ix *row = ix_add(c, s->warp_row, ix_mod(c, s->lane, sixteen));
	for (int col = 0; col < s->m.cols; col += 16) {
		const Ix *unit = ix_add(c, right, ix_int(s->k, col % s->m.span * s->bytes / UNIT));
		int64_t before = (int64_t)(col / s->m.span) * s->m.rows * s->m.swizzle;
		const Ix *byte = ix_add(c, address(s, row, unit), ix_int(s->k, before));
		access(s, s->matrices, col / 8 * REGS_8_COLUMNS, byte, 4);
	}
}

/* The same four, but their columns are rows of the buffer; two where eight columns are left, and
 * the lanes from 16 on name nothing. */
static void by_transposed(const Staging *s)
{
	Ctx *c = s->k->ctx;
	const Ix *eight = ix_int(s->k, 8), *lane = s->lane;
	const Ix *right = ix_mul(c, ix_div(c, lane, ix_int(s->k, 16)), eight);
	const Ix *below = ix_mod(c, ix_div(c, lane, eight), ix_int(s->k, 2));
	const Ix *unit = ix_add(c, ix_div(c, s->warp_row, eight), below);
	for (int col = 0; col < s->m.rows; col += 16) {
		int n = s->m.rows - col < 16 ? 2 : 4;
		const Ix *row = ix_add(c, ix_mod(c, lane, eight), ix_int(s->k, col));
		row = n == 4 ? ix_add(c, row, right) : row;
		access(s, OP_STMATRIX, col / 8 * REGS_8_COLUMNS, address(s, row, unit), n);
	}
}

/* Two neighbours of a row at once, where rows of the buffer are rows of the tile. */
static void by_vectors(const Staging *s)
{
	Ctx *c = s->k->ctx;
	int cols = s->trans ? s->m.rows : s->m.cols, width = s->trans ? 1 : 2;
	const Ix *row = ix_add(c, s->warp_row, ix_div(c, s->lane, ix_int(s->k, 4)));
	const Ix *pair = ix_mul(c, ix_mod(c, s->lane, ix_int(s->k, 4)), ix_int(s->k, 2));
	for (int col = 0; col < cols; col += 8)
		for (int i = 0; i < REGS_8_COLUMNS; i += width) {
			const Ix *r = ix_add(c, row, ix_int(s->k, 8 * (i / 2)));
			const Ix *at = ix_add(c, pair, ix_int(s->k, col + i % 2));
			access(s, s->vectors, col / 8 * REGS_8_COLUMNS + i,
			       s->trans ? element(s, at, r) : element(s, r, at), width);
		}
}

void lower_shared(Kernel *k, Op *op)
{
	Staging s = staging(k, op, op->in[op->kind == OP_LOAD_SHARED].val);
	s.warp_row = first_row(k, s.trans ? s.m.cols : s.m.rows);
	if (s.bytes == 2 && s.trans)
		by_transposed(&s);
	else if (s.bytes == 2)
		by_matrices(&s);
	else
		by_vectors(&s);
	op_remove(op);
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
	Staging s = staging(k, op, op->in[1].val);
	int fast = fast_mode(k, tile);
	for (int col = 0; col < s.m.cols; col += s.m.span) {
		const Ix *more[2] = {ix_int(k, 0), ix_int(k, 0)};
		Op *st = op_before(k, op, OP_TMA_STORE);
		op_in(k, st, op->in[1].val, op->in[1].at);
		op_in(k, st, op->in[2].val, NULL);
		op_ix(k, st, ix_int(k, (int64_t)col * s.m.rows * s.bytes));
		more[fast] = ix_int(k, col);
		op_box(k, st, tile, more);
	}
	op_remove(op);
}

/* tensor <- buffer at (row, col) of the buffer, unless that is outside the tensor. */
static void copy_one(const Staging *s, Block *to, const Ix *row, const Ix *col)
{
	Kernel *k = s->k;
	const Val *tile = s->op->in[0].val;
	const Ix *of_mode[2], *at[MODES_MOST];
	Op *inside = op_append(k, to, OP_IF, s->op->loc);
	of_mode[fast_mode(k, tile)] = col;
	of_mode[1 - fast_mode(k, tile)] = row;
	for (int m = 0; m < tile->def->nix; m++)
		at[m] = tile->def->ix[m];
	for (int m = 0; m < 2; m++)
		at[tile_mode(k, tile, m)] = ix_add(k->ctx, tile_at(k, tile, m), of_mode[m]);
	Val *tensor = tile->def->in[0].val;
	const Ix *offset = op_inside_tensor(k, inside, tensor, at);
	Op *st = op_append(k, op_body(k, inside), OP_ST_STAGED, s->op->loc);
	op_in(k, st, tensor, NULL);
	op_in(k, st, s->op->in[1].val, s->op->in[1].at);
	op_ix(k, st, offset);
	op_ix(k, st, element(s, row, col));
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
	Staging s = staging(k, op, op->in[1].val);
	Op *loop = op_before(k, op, OP_FOR);
	int rows = GROUP_THREADS / s.m.cols;
	const Ix *cols = ix_int(k, s.m.cols), *me = thread_here(k, loop);
	const char *name = kernel_fresh(k, "e");
	op_sym(k, loop, name);
	op_ix(k, loop, ix_int(k, 0));
	op_ix(k, loop, ix_int(k, s.m.rows / rows));
	op_int(k, loop, A_UNROLL, 0);
	const Ix *row = ix_mul(c, ix_sym(c, name), ix_int(k, rows));
	copy_one(&s, op_body(k, loop), ix_add(c, row, ix_div(c, me, cols)), ix_mod(c, me, cols));
	op_remove(op);
}
