/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* split_sums.c - the sum of a tile whose k is split. Each CTA leaves its registers in its own
 * shared memory, in the order of threads: nobody there needs to know where in the tile they lie.
 * Whoever goes on with them (split_owners.c) adds those of the others to its own, in the order of
 * their ranks from its own on. sync/exchange.c has the cluster meet.
 *     sum.parts %acc ; store %t, %acc                %acc (128,16) in 128 threads, split_k 2
 * ->  if (rank != 0) { store.shared %sP[0], %p }     %p = part %acc[0] : (128 threads, 16)
 *     if (rank < 1) {
 *       for part (1, 2) { load.peer %x, %sP[0] ((rank + part) % 2) ; add.to %acc[0], %x }
 *       store %t, %acc
 *     } */
#include "passes/epilogue/exchange.h"
#include "passes/epilogue/split_owners.h"
#include "passes/smem/rings.h"
#include "passes/tile/split.h"
#include "passes/atoms/copy_choice.h"
#include "passes/why.h"
#include "passes/smem/workspace.h"

enum { MOST_REGS = 16 /* that a thread adds at a time */, UNIT = 4 /* elements of 16 bytes */ };

/* An accumulator in pieces of as many registers of each thread. */
typedef struct {
	Val *acc;
	int threads, regs, pieces;
	const Type *piece; /* (threads, regs) */
	Val *buffer;       /* or workspace */
} Sums;

static const Type *piece_type(const Kernel *k, const Sums *s)
{
	Ctx *c = k->ctx;
	const Layout *modes[2] = {layout_new(c, tup_int(c, s->threads), tup_int(c, 1)),
				  layout_new(c, tup_int(c, s->regs), tup_int(c, s->threads))};
	if (split_by_workspace(k))
		return workspace_row(c, s->acc->type->elem, s->threads, s->regs);
	return type_frag(c, s->acc->type->elem, layout_2d(c, s->threads, s->regs, 1, s->threads),
			 layout_cat(c, modes, 2));
}

/* Units of all threads side by side, one after the other: no two in the same bank. */
static const Type *buffer_type(Ctx *c, const Sums *s)
{
	return type_tile(c, SP_SHARED, s->acc->type->elem, layout_in_units(c, s->threads, s->regs));
}

/* Where the CTAs share out what is added up, no piece is of two of them. */
static Sums sums_of(const Kernel *k, Val *acc)
{
	int all = type_regs(acc->type), share = all / (int)split_parts(k);
	Sums s = {.acc = acc, .regs = MOST_REGS};
	s.threads = (int)layout_size_int(layout_mode(k->ctx, acc->type->tv, 0));
	if (all > SPLIT_SMALL && share < s.regs)
		s.regs = share < UNIT ? UNIT : share;
	while (all % s.regs)
		s.regs--;
	s.pieces = all / s.regs;
	s.piece = piece_type(k, &s);
	return s;
}

int64_t split_bytes(const Kernel *k)
{
	int64_t bytes = 0;
	if (split_by_workspace(k))
		return 0;
	for (const Op *op = kernel_find(k, OP_SUM_PARTS); op; op = op_find_next(op, OP_SUM_PARTS)) {
		Sums s = sums_of(k, IN(op, TO).val);
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
	Op *ring = ring_new(k, "parts", s->pieces, loc), *first = kernel_find(k, OP_RING);
	if (first)
		op_insert_after(first, ring);
	else
		op_insert_before(kernel_first(k), ring);
	Val *buffer = ring_buffer(k, ring, "sP", buffer_type(k->ctx, s));
	over_stages(k, buffer->def);
	return buffer;
}

/* ------------------------------------------------------------------ the sum */
static Val *piece_of(Kernel *k, Block *b, const Sums *s, int piece)
{
	Op *part = op_append(k, b, OP_PART, s->acc->def->loc);
	op_in(k, part, s->acc, ix_int(k, (int64_t)piece * s->regs));
	return op_result(k, part, "p", s->piece);
}

/* Who adds the piece up; a bit each. */
static uint64_t adders(const Owners *o, int acc, int piece)
{
	uint64_t all = 0;
	for (int i = 0; i < o->at.n; i++)
		if (o->at.at[i].needs[acc] >> piece & 1)
			all |= UINT64_C(1) << o->at.at[i].owner;
	return all;
}

/* Who adds a piece up by himself does not read his own. */
static Block *but_by(Kernel *k, Op *at, uint64_t adder)
{
	if (adder & (adder - 1))
		return at->block;
	Op *some = op_before(k, at, OP_IF);
	op_ix(k, some, ix_new(k->ctx, IX_NE, owner_part(k), ix_int(k, __builtin_ctzll(adder))));
	return op_body(k, some);
}

/* Where the others find it. */
static void put_piece(Kernel *k, Block *b, const Sums *s, const Op *at, int piece, Val *p)
{
	bool far = split_by_workspace(k);
	Val *t = far ? workspace_tile(k, b, s->buffer, s->piece, s->pieces, owner_part(k), piece,
				      at->loc)
		     : s->buffer;
	Op *put = op_append(k, b, way_rows[far ? WAY_PARTS : WAY_PEERS].first, at->loc);
	op_in(k, put, t, far ? NULL : exchange_at(k, at, s->pieces, piece));
	op_in(k, put, p, far ? NULL : ix_int(k, 0));
}

static void leave_piece(Kernel *k, Op *at, const Sums *s, int piece, uint64_t by)
{
	Block own = {0}, *b = but_by(k, at, by);
	bool all = b == at->block;
	if (all)
		b = &own;
	Val *p = piece_of(k, b, s, piece);
	put_piece(k, b, s, at, piece, p);
	for (Op *op = all ? own.first : NULL, *next; op; op = next) {
		next = op->next;
		op_insert_before(at, op);
	}
}

static const Ix *away_by(const Kernel *k, const Ix *own, const Ix *far, int64_t of)
{
	return ix_mod(k->ctx, ix_add(k->ctx, own, far), ix_int(k, of));
}

/* What the CTA has there whose part is so many after this one's. */
static void get_piece(Kernel *k, Block *b, const Sums *s, const Op *at, int piece, Val *x,
		      const char *part)
{
	Ctx *c = k->ctx;
	int64_t parts = split_parts(k), tiles = split_tiles(k);
	const Ix *far = ix_sym(c, part);
	if (split_by_workspace(k)) {
		const Ix *whose = away_by(k, owner_part(k), far, parts);
		Val *t =
			workspace_tile(k, b, s->buffer, s->piece, s->pieces, whose, piece, at->loc);
		op_ins(k, op_append(k, b, way_rows[WAY_PARTS].last, at->loc), x, t);
		return;
	}
	Op *get = op_in(k, op_append(k, b, way_rows[WAY_PEERS].last, at->loc), x, ix_int(k, 0));
	op_in(k, get, s->buffer, exchange_at(k, at, s->pieces, piece));
	op_ix(k, get,
	      away_by(k, ix_sym(c, "rank"), ix_mul(c, far, ix_int(k, tiles)), parts * tiles));
}

/* To the piece, what each of the others has in the same registers: from the CTA after this one on,
 * so that no two read from one CTA at a time. at_once: all that an owner reads is under way
 * together. */
static void add_piece(Kernel *k, Block *b, const Sums *s, const Op *at, int piece, bool at_once)
{
	Loc loc = at->loc;
	Op *loop = op_append(k, b, OP_FOR, loc);
	const char *part = kernel_fresh(k, "part");
	op_sym(k, loop, part);
	op_ixs(k, loop, ix_int(k, 1), ix_int(k, split_parts(k)));
	op_int(k, loop, A_UNROLL, at_once);
	b = op_body(k, loop);
	Op *frag = op_append(k, b, OP_FRAG, loc);
	op_result(k, frag, "x", s->piece);
	get_piece(k, b, s, at, piece, frag->out, part);
	Op *add = op_append(k, b, OP_ADD_TO, loc);
	op_in(k, add, s->acc, ix_int(k, (int64_t)piece * s->regs));
	op_in(k, add, frag->out, NULL);
}

/* ------------------------------------------------------------------ who goes on */
typedef struct {
	Kernel *k;
	VEC(Op *) at; /* sum.parts */
	VEC(Sums) of;
	Owners owners;
	VEC(Op *) only; /* of each owner: what it does */
} Parting;

static Op *some_of(Kernel *k, Loc loc, uint64_t parts)
{
	Op *some = op_new(k, OP_IF, loc);
	op_ix(k, some, owner_among(k, parts));
	return some;
}

static void leave_all(Parting *s)
{
	for (int a = 0; a < s->at.n; a++)
		for (int piece = 0; piece < s->of.at[a].pieces; piece++) {
			uint64_t by = adders(&s->owners, a, piece);
			if (by)
				leave_piece(s->k, s->at.at[a], &s->of.at[a], piece, by);
		}
}

/* Registers for all that the owner reads are free beside the accumulators. */
static bool reads_few(const Parting *s, int owner)
{
	enum { FEW = 2 * SPLIT_SMALL };
	int64_t regs = 0;
	for (int a = 0; a < s->at.n; a++)
		for (int piece = 0; piece < s->of.at[a].pieces; piece++)
			regs += adders(&s->owners, a, piece) >> owner & 1 ? s->of.at[a].regs : 0;
	return regs * (split_parts(s->k) - 1) <= FEW / kernel_ctas(s->k);
}

/* The sums that the owner needs, then its segments. */
static void go_on(Parting *s, int owner, Op *at)
{
	Kernel *k = s->k;
	Op *only = some_of(k, at->loc, UINT64_C(1) << owner);
	Block *b = op_body(k, only);
	op_insert_before(at, only);
	for (int a = 0; a < s->at.n; a++)
		for (int piece = 0; piece < s->of.at[a].pieces; piece++)
			if (adders(&s->owners, a, piece) >> owner & 1)
				add_piece(k, b, &s->of.at[a], s->at.at[a], piece,
					  reads_few(s, owner));
	EACH(const Segment, g, s->owners.at)
		for (Op *op = g->first, *next; g->owner == owner; op = next) {
			next = op->next;
			block_append(b, op);
			if (op == g->last)
				break;
		}
	vec_push(ctx_arena(k->ctx), &s->only, only);
}

/* ------------------------------------------------------------------ what is loaded ahead */
static bool reads_slot(const Op *op, const Operand *slot)
{
	for (int i = 0; i < op->nin; i++)
		if (op_effect(op, i) & (FX_R | FX_AR) && op->in[i].val == slot->val &&
		    op->in[i].at == slot->at)
			return true;
	return false;
}

/* Which owner's the op is; -1: all CTAs come to it. */
static int owner_of(const Parting *s, const Op *op)
{
	for (int i = 0; i < s->only.n; i++)
		if (op_inside(op, s->only.at[i]))
			return i;
	return -1;
}

/* Parts that read what the op loads; all of them where it is read outside what owners do. */
static uint64_t readers(const Parting *s, const Op *load)
{
	uint64_t all = 0;
	for (const Op *op = op_next(load); op; op = op_next(op))
		if (reads_slot(op, &IN(load, TO)))
			all |= owner_of(s, op) < 0 ? ~UINT64_C(0) : UINT64_C(1) << owner_of(s, op);
	return all;
}

static void guard_loads(Parting *s)
{
	Op *first = s->only.at[0];
	uint64_t every = (UINT64_C(1) << split_parts(s->k)) - 1;
	for (Op *op = kernel_first(s->k), *next; op && op != first; op = next) {
		next = op_next(op);
		uint64_t by = op_fills_shared(op) ? readers(s, op) : 0;
		if (!by || (by & every) == every || op_parent(op) != op_parent(first))
			continue;
		Op *some = some_of(s->k, op->loc, by);
		op_insert_before(op, some);
		block_append(op_body(s->k, some), op);
	}
}

/* ------------------------------------------------------------------ */
/* The trips of this CTA's part: of the loop that the sums stand after. */
static const Ix *trips_of(const Parting *s)
{
	const Op *op = s->at.at[0];
	while (op && op->kind != OP_FOR)
		op = op->prev;
	return op ? IX(op, TO) : ix_int(s->k, 0);
}

static int64_t piece_bytes(const Sums *s)
{
	return elem_span(s->acc->type->elem, (int64_t)s->threads * s->regs);
}

static void say(const Parting *s)
{
	int64_t most = 0;
	for (int owner = 0; owner < s->owners.owners; owner++) {
		int64_t bytes = 0;
		for (int a = 0; a < s->at.n; a++)
			for (int piece = 0; piece < s->of.at[a].pieces; piece++)
				bytes += adders(&s->owners, a, piece) >> owner & 1
						 ? piece_bytes(&s->of.at[a])
						 : 0;
		most = bytes > most ? bytes : most;
	}
	why_parts(s->k, trips_of(s), s->owners.owners, most);
}

static void find_sums(Parting *s)
{
	Arena *a = ctx_arena(s->k->ctx);
	for (Op *op = kernel_find(s->k, OP_SUM_PARTS); op; op = op_find_next(op, OP_SUM_PARTS)) {
		vec_push(a, &s->at, op);
		vec_push(a, &s->of, sums_of(s->k, IN(op, TO).val));
	}
	Pieces *all = NEWN(a, Pieces, s->at.n + 1);
	for (int i = 0; i < s->at.n; i++)
		all[i] = (Pieces){s->of.at[i].acc, s->of.at[i].regs, s->of.at[i].pieces};
	if (s->at.n)
		s->owners = owners_find(s->k, s->at.at[s->at.n - 1], all, s->at.n);
}

PASS_OF(sums)
{
	Parting s = {.k = k};
	find_sums(&s);
	if (!s.at.n)
		return;
	for (int i = 0; i < s.at.n; i++)
		s.of.at[i].buffer = split_by_workspace(k)
					    ? workspace_of(k, s.of.at[i].piece, s.of.at[i].pieces)
					    : buffer_of(k, &s.of.at[i], s.at.at[i]->loc);
	say(&s);
	leave_all(&s);
	Op *at = op_ix(k, op_before(k, s.owners.begin, OP_IF), ix_int(k, 1));
	if (split_by_workspace(k))
		workspace_meet(k, at, s.of.at[0].buffer);
	for (int i = 0; i < s.owners.owners; i++)
		go_on(&s, i, at);
	op_remove(at);
	guard_loads(&s);
	for (int i = 0; i < s.at.n; i++)
		op_remove(s.at.at[i]);
}
