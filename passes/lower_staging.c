/* lower_staging.c - a warpgroup's 64 rows of a chunk: between registers and shared memory by
 * stmatrix and ldmatrix (16-bit elements) or plain vectors, at swizzled addresses; and by TMA. An
 * accumulator has its registers in fours for 8 columns: two of a row, two of the row 8 below.
 *     store.shared %sD[s], %c[32]
 *     ->  stmatrix %sD[s], %c[32] (row * 128 + xor(chunk, row % 8) * 16) n=4 ; ... */
#include "passes/lower.h"

enum { UNIT = 16 /* bytes that a swizzle moves together */, REGS_8_COLUMNS = 4, WARP_ROWS = 16 };

typedef struct {
	Kernel *k;
	Op *op;
	int regs, buffer; /* operands */
	OpKind matrices, vectors;
	KMajor m;
	int bytes;
	const Ix *lane, *warp_row; /* first row of the warp in the chunk */
} Staging;

/* First row of the executing warp: 16 rows each; a buffer of several warpgroups' rows holds them
 * one after the other. */
static const Ix *first_row(Kernel *k, int rows)
{
	Ctx *c = k->ctx;
	return ix_mul(c, ix_mod(c, ix_sym(c, "warp"), ix_int(k, rows / WARP_ROWS)),
		      ix_int(k, WARP_ROWS));
}

static Staging staging(Kernel *k, Op *op)
{
	Staging s = {.k = k, .op = op, .lane = ix_sym(k->ctx, "lane")};
	bool reads = op->kind == OP_LOAD_SHARED;
	s.regs = !reads;
	s.buffer = reads;
	s.matrices = reads ? OP_LDMATRIX : OP_STMATRIX;
	s.vectors = reads ? OP_LD_SHARED : OP_ST_SHARED;
	const Val *buffer = op->in[s.buffer].val;
	if (!layout_kmajor(k->ctx, buffer->type, &s.m))
		panic("%%%s is no staging buffer", buffer->name);
	s.bytes = elem_rows[buffer->type->elem].bits / 8;
	s.warp_row = first_row(k, s.m.rows);
	return s;
}

/* Byte of (row, column): columns in spans as wide as the swizzle, a row's 16-byte units exchanged
 * by its place in the pattern. `unit` is the unit in the span. */
static const Ix *address(const Staging *s, const Ix *row, int span, const Ix *unit)
{
	Ctx *c = s->k->ctx;
	const Ix *every = ix_int(s->k, 128 / s->m.swizzle),
		 *width = ix_int(s->k, s->m.swizzle / UNIT);
	const Ix *turn = ix_mod(c, ix_div(c, row, every), width);
	const Ix *at = ix_mul(c, ix_new(c, IX_XOR, unit, turn), ix_int(s->k, UNIT));
	const Ix *before = ix_int(s->k, (int64_t)span * s->m.rows * s->m.swizzle);
	return ix_add(c, ix_add(c, ix_mul(c, row, ix_int(s->k, s->m.swizzle)), at), before);
}

static void access(const Staging *s, OpKind kind, int reg, const Ix *byte, int n)
{
	Kernel *k = s->k;
	Op *op = op_before(k, s->op, kind);
	for (int i = 0; i < 2; i++) {
		const Operand *in = &s->op->in[i];
		op_in(k, op, in->val,
		      i == s->regs ? ix_add(k->ctx, in->at, ix_int(k, reg)) : in->at);
	}
	op_ix(k, op, byte);
	op_int(k, op, A_N, n);
}

/* Four matrices of 8 x 8: lanes 0-15 name the rows of the left pair, lanes 16-31 of the right. */
static void by_matrices(const Staging *s)
{
	Ctx *c = s->k->ctx;
	const Ix *row = ix_add(c, s->warp_row, ix_mod(c, s->lane, ix_int(s->k, 16)));
	const Ix *right = ix_div(c, s->lane, ix_int(s->k, 16));
	for (int col = 0; col < s->m.cols; col += 16) {
		const Ix *unit = ix_add(c, right, ix_int(s->k, col % s->m.span * s->bytes / UNIT));
		access(s, s->matrices, col / 8 * REGS_8_COLUMNS,
		       address(s, row, col / s->m.span, unit), 4);
	}
}

static void by_vectors(const Staging *s)
{
	Ctx *c = s->k->ctx;
	const Ix *row = ix_add(c, s->warp_row, ix_div(c, s->lane, ix_int(s->k, 4)));
	const Ix *pair = ix_mul(c, ix_mod(c, s->lane, ix_int(s->k, 4)), ix_int(s->k, 2 * s->bytes));
	for (int col = 0; col < s->m.cols; col += 8) {
		const Ix *byte = ix_add(c, pair, ix_int(s->k, col % s->m.span * s->bytes));
		const Ix *unit = ix_div(c, byte, ix_int(s->k, UNIT)),
			 *rest = ix_mod(c, byte, ix_int(s->k, UNIT));
		for (int low = 0; low < 2; low++) {
			const Ix *r = ix_add(c, row, ix_int(s->k, 8 * low));
			access(s, s->vectors, col / 8 * REGS_8_COLUMNS + 2 * low,
			       ix_add(c, address(s, r, col / s->m.span, unit), rest), 2);
		}
	}
}

void lower_shared(Kernel *k, Op *op)
{
	Staging s = staging(k, op);
	if (s.bytes == 2)
		by_matrices(&s);
	else
		by_vectors(&s);
	op_remove(op);
}

void lower_store_tma(Kernel *k, Op *op)
{
	const Op *tile = op->in[0].val->def;
	Op *st = op_before(k, op, OP_TMA_STORE);
	op_in(k, st, op->in[1].val, op->in[1].at);
	op_in(k, st, op->in[2].val, NULL);
	op_ix(k, st, ix_int(k, 0));
	op_ix(k, st, tile->ix[1]);
	op_ix(k, st, tile->ix[0]);
	op_remove(op);
}
