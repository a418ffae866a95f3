/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sums.c - the sum of a tile whose k is split. Each CTA leaves its registers in its own shared
 * memory, in the order of threads: nobody there needs to know where in the tile they lie. The first
 * of the CTAs adds those of the others to its own, in the order of their ranks, and is the one that
 * goes on. sync_exchange.c has the cluster meet.
 *     sum.parts %acc ; store %t, %acc                %acc (128,16) in 128 threads, split_k 2
 * ->  if (1 <= rank) { store.shared %sP[0], %p }     %p = part %acc[0] : (128 threads, 16)
 *     if (rank < 1) {
 *       for part (1, 2) { load.peer %x, %sP[0] (rank + part) ; %y = add %p, %x ; move %acc[0], %y }
 *       store %t, %acc
 *     } */
#include "passes/exchange.h"
#include "passes/rings.h"
#include "passes/split.h"
#include "passes/ways.h"
#include "passes/why.h"

enum { MOST_REGS = 16 /* that a thread adds at a time */, UNIT = 4 /* elements of 16 bytes */ };

/* An accumulator in pieces of as many registers of each thread. */
typedef struct {
	Val *acc;
	int threads, regs, pieces;
	const Type *piece; /* (threads, regs) */
	Val *buffer;
} Sums;

static const Type *piece_type(Ctx *c, const Sums *s)
{
	const Layout *modes[2] = {layout_new(c, tup_int(c, s->threads), tup_int(c, 1)),
				  layout_new(c, tup_int(c, s->regs), tup_int(c, s->threads))};
	return type_frag(c, s->acc->type->elem, layout_2d(c, s->threads, s->regs, 1, s->threads),
			 layout_cat(c, modes, 2));
}

/* Units of all threads side by side, one behind the other: no two in the same bank. */
static const Type *buffer_type(Ctx *c, const Sums *s)
{
	int unit = s->regs % UNIT ? 1 : UNIT;
	const Tup *shape[2] = {tup_int(c, unit), tup_int(c, s->regs / unit)};
	const Tup *stride[2] = {tup_int(c, 1), tup_int(c, (int64_t)unit * s->threads)};
	const Layout *modes[2] = {
		layout_new(c, tup_int(c, s->threads), tup_int(c, unit)),
		layout_new(c, tup_new(c, shape, 2), tup_new(c, stride, 2)),
	};
	return type_tile(c, SP_SHARED, s->acc->type->elem, layout_cat(c, modes, 2));
}

static Sums sums_of(Ctx *c, Val *acc)
{
	Sums s = {.acc = acc, .regs = MOST_REGS};
	int all = type_regs(acc->type);
	s.threads = (int)layout_size_int(layout_mode(c, acc->type->tv, 0));
	while (all % s.regs)
		s.regs--;
	s.pieces = all / s.regs;
	s.piece = piece_type(c, &s);
	return s;
}

int64_t split_bytes(const Kernel *k)
{
	int64_t bytes = 0;
	for (const Op *op = kernel_find(k, OP_SUM_PARTS); op; op = op_find_next(op, OP_SUM_PARTS)) {
		Sums s = sums_of(k->ctx, op->in[0].val);
		bytes += round_up(s.pieces * type_slot_bytes(buffer_type(k->ctx, &s)), 1024);
	}
	return bytes;
}

/* ------------------------------------------------------------------ the buffer */
static Op *loads_ring(const Kernel *k)
{
	Op *ring = kernel_find(k, OP_RING);
	while (ring && ring_is_settled(k, ring))
		ring = op_find_next(ring, OP_RING);
	return ring;
}

/* With one tile a CTA it takes memory that the stages do not need any more. */
static void over_stages(Kernel *k, Op *buffer)
{
	Op *loads = loads_ring(k);
	if (!loads || attrs_int(&k->attrs, A_PERSISTENT, 0))
		return;
	op_str(k, buffer, A_OVER, loads->sym[0]);
	for (Op *r = kernel_find(k, OP_RING); r; r = op_find_next(r, OP_RING))
		if (r != loads && !ring_is_settled(k, r))
			op_int(k, r, A_GIVES, 1);
}

static Val *buffer_of(Kernel *k, const Sums *s, Loc loc)
{
	Op *ring = op_new(k, OP_RING, loc), *op = op_new(k, OP_SHARED, loc);
	const char *name = kernel_fresh(k, "parts");
	Op *first = kernel_find(k, OP_RING);
	op_sym(k, ring, name);
	op_int(k, ring, A_SLOTS, s->pieces);
	if (first)
		op_insert_after(first, ring);
	else
		op_insert_before(kernel_first(k), ring);
	op_str(k, op, A_RING, name);
	op_int(k, op, A_SLOTS, s->pieces);
	op_result(k, op, "sP", buffer_type(k->ctx, s));
	op_insert_after(ring, op);
	over_stages(k, op);
	return op->out;
}

/* ------------------------------------------------------------------ the sum */
static Val *piece_of(Kernel *k, Block *b, const Sums *s, int piece)
{
	Op *part = op_append(k, b, OP_PART, s->acc->def->loc);
	op_in(k, part, s->acc, ix_int(k, (int64_t)piece * s->regs));
	return op_result(k, part, "p", s->piece);
}

static void leave(Kernel *k, Block *b, const Sums *s, const Op *at)
{
	for (int i = 0; i < s->pieces; i++) {
		Val *p = piece_of(k, b, s, i);
		Op *put = op_append(k, b, way_rows[WAY_PEERS].first, at->loc);
		op_in(k, put, s->buffer, exchange_at(k, at, s->pieces, i));
		op_in(k, put, p, ix_int(k, 0));
	}
}

/* To the piece, what each of the others has in the same registers. No two pieces are under way at a
 * time, or they would not fit beside the accumulator. */
static void add_piece(Kernel *k, Block *b, const Sums *s, const Op *at, int piece)
{
	Ctx *c = k->ctx;
	Loc loc = at->loc;
	Op *loop = op_append(k, b, OP_FOR, loc);
	const char *part = kernel_fresh(k, "part");
	op_sym(k, loop, part);
	op_ix(k, loop, ix_int(k, 1));
	op_ix(k, loop, ix_int(k, split_parts(k)));
	op_int(k, loop, A_UNROLL, 0);
	b = op_body(k, loop);
	Op *frag = op_append(k, b, OP_FRAG, loc);
	Op *get = op_append(k, b, way_rows[WAY_PEERS].last, loc);
	Val *own = piece_of(k, b, s, piece);
	Op *add = op_append(k, b, OP_ADD, loc), *move = op_append(k, b, OP_MOVE, loc);
	const Ix *away = ix_mul(c, ix_sym(c, part), ix_int(k, split_tiles(k)));
	op_in(k, get, op_result(k, frag, "x", s->piece), ix_int(k, 0));
	op_in(k, get, s->buffer, exchange_at(k, at, s->pieces, piece));
	op_ix(k, get, ix_add(c, ix_sym(c, "rank"), away));
	op_in(k, add, own, NULL);
	op_in(k, add, frag->out, NULL);
	op_in(k, move, s->acc, ix_int(k, (int64_t)piece * s->regs));
	op_in(k, move, op_result(k, add, "y", s->piece), NULL);
}

/* ------------------------------------------------------------------ who goes on */
static Op *by_first(Kernel *k, Loc loc)
{
	Op *only = op_new(k, OP_IF, loc);
	op_ix(k, only, ix_new(k->ctx, IX_LT, ix_sym(k->ctx, "rank"), ix_int(k, split_tiles(k))));
	return only;
}

static Op *by_others(Kernel *k, Loc loc)
{
	Op *some = op_new(k, OP_IF, loc);
	op_ix(k, some, ix_new(k->ctx, IX_LE, ix_int(k, split_tiles(k)), ix_sym(k->ctx, "rank")));
	return some;
}

/* What is loaded ahead for what follows, only the first needs. */
static void guard_loads(Kernel *k, const Op *only)
{
	for (Op *op = kernel_first(k), *next; op && op != only; op = next) {
		bool read = false;
		next = op_next(op);
		const Op *buffer = op_fills_shared(op) ? op->in[0].val->def : NULL;
		const char *ring = buffer ? attrs_str(&buffer->attrs, A_RING, "") : "";
		for (const Op *in = op_next(op); in && buffer && in != only; in = op_next(in))
			read |= op_touches(in, ring, FX_R | FX_AR);
		if (!buffer || read || op_parent(op) != op_parent(only))
			continue;
		Op *some = by_first(k, op->loc);
		op_insert_before(op, some);
		op_remove(op);
		block_append(op_body(k, some), op);
	}
}

void pass_sums(Kernel *k)
{
	VEC(Op *) all = {0};
	for (Op *op = kernel_find(k, OP_SUM_PARTS); op; op = op_find_next(op, OP_SUM_PARTS))
		vec_push(ctx_arena(k->ctx), &all, op);
	if (!all.n)
		return;
	Op *only = by_first(k, all.at[0]->loc), *others = by_others(k, all.at[0]->loc);
	op_insert_after(all.at[all.n - 1], only);
	op_insert_before(only, others);
	for (int i = 0; i < all.n; i++) {
		Sums s = sums_of(k->ctx, all.at[i]->in[0].val);
		s.buffer = buffer_of(k, &s, all.at[i]->loc);
		leave(k, op_body(k, others), &s, all.at[i]);
		for (int piece = 0; piece < s.pieces; piece++)
			add_piece(k, op_body(k, only), &s, all.at[i], piece);
		op_remove(all.at[i]);
	}
	for (Op *op = only->next, *next; op; op = next) {
		next = op->next;
		op_remove(op);
		block_append(op_body(k, only), op);
	}
	guard_loads(k, only);
}
