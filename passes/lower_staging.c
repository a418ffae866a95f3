/* lower_staging.c - a warpgroup's 64 rows of a chunk: to shared memory by stmatrix (16-bit
 * elements) or plain vectors, at swizzled addresses, and from there by TMA. The accumulator's
 * registers come in fours for 8 columns: two columns of a row, two of the row 8 below. store.shared
 * %sD[s], %c[32]   ->   stmatrix %sD[s], %c[32] (row * 128 + xor(chunk, row % 8) * 16) n=4 ; ... */
#include "passes/lower.h"

enum { UNIT = 16 /* bytes that a swizzle moves together */, REGS_8_COLUMNS = 4 };

typedef struct {
	Kernel *k;
	Op *op;
	KMajor m;
	int bytes;
	const Ix *lane, *warp_row; /* first row of the warp in the chunk */
} Staging;

static Staging staging(Kernel *k, Op *op)
{
	Ctx *c = k->ctx;
	Staging s = {.k = k, .op = op, .lane = ix_sym(c, "lane")};
	const Ix *warp = ix_mod(c, ix_sym(c, "warp"), ix_int(k, 4));
	if (!layout_kmajor(c, op->in[0].val->type, &s.m))
		panic("%%%s is no staging buffer", op->in[0].val->name);
	s.bytes = elem_rows[op->in[0].val->type->elem].bits / 8;
	s.warp_row = ix_mul(c, warp, ix_int(k, 16));
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

static void put(const Staging *s, OpKind kind, int reg, const Ix *byte, int n)
{
	Kernel *k = s->k;
	Op *op = op_before(k, s->op, kind);
	op_in(k, op, s->op->in[0].val, s->op->in[0].at);
	op_in(k, op, s->op->in[1].val, ix_add(k->ctx, s->op->in[1].at, ix_int(k, reg)));
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
		const Ix *unit = ix_add(c, right, ix_int(s->k, col * s->bytes / UNIT));
		put(s, OP_STMATRIX, col / 8 * REGS_8_COLUMNS, address(s, row, unit), 4);
	}
}

static void by_vectors(const Staging *s)
{
	Ctx *c = s->k->ctx;
	const Ix *row = ix_add(c, s->warp_row, ix_div(c, s->lane, ix_int(s->k, 4)));
	const Ix *pair = ix_mul(c, ix_mod(c, s->lane, ix_int(s->k, 4)), ix_int(s->k, 2 * s->bytes));
	for (int col = 0; col < s->m.cols; col += 8) {
		const Ix *byte = ix_add(c, pair, ix_int(s->k, col * s->bytes));
		const Ix *unit = ix_div(c, byte, ix_int(s->k, UNIT)),
			 *rest = ix_mod(c, byte, ix_int(s->k, UNIT));
		for (int low = 0; low < 2; low++) {
			const Ix *r = ix_add(c, row, ix_int(s->k, 8 * low));
			put(s, OP_ST_SHARED, col / 8 * REGS_8_COLUMNS + 2 * low,
			    ix_add(c, address(s, r, unit), rest), 2);
		}
	}
}

void lower_store_shared(Kernel *k, Op *op)
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
