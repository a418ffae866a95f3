/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* split_owners.c - an epilogue that goes chunk by chunk falls into segments that share nothing but
 * the accumulators: no value, no slot of shared memory. They are dealt out: each CTA adds up the
 * registers that its segments read, and no others, so that all of a cluster read at one time, and
 * each little. A chain of CTAs, or the last one for all, would read the sums of all parts.
 *     %p = part %acc[0] ; .. store.tma %t, ..     owner 0: registers 0 to 31
 *     %q = part %acc[32] ; .. store.tma %u, ..    owner 1: registers 32 to 63
 * What cannot be taken apart is the first CTA's. */
#include "passes/epilogue/split_owners.h"

const Ix *owner_part(const Kernel *k)
{
	Ctx *c = k->ctx;
	const Ix *tiles = ix_int(k, split_tiles(k)), *parts = ix_int(k, split_parts(k));
	if (split_by_workspace(k))
		return ix_mod(c, ix_sym(c, split_tiles(k) > 1 ? "cluster" : "cta"), parts);
	return ix_div(c, ix_sym(c, "rank"), tiles);
}

const Ix *owner_among(const Kernel *k, uint64_t parts)
{
	Ctx *c = k->ctx;
	const Ix *part = owner_part(k), *any = NULL;
	int n = __builtin_popcountll(parts);
	if ((parts & (parts + 1)) == 0)
		return ix_new(c, IX_LT, part, ix_int(k, n));
	for (int i = 0; parts >> i; i++) {
		const Ix *is = ix_new(c, IX_EQ, part, ix_int(k, i));
		if (parts >> i & 1)
			any = any ? ix_new(c, IX_OR, any, is) : is;
	}
	return any;
}

/* ------------------------------------------------------------------ what an op uses */
/* The next of the op's own, or of those in it; NULL: none. */
static const Op *next_in(const Op *op, const Op *top)
{
	const Op *next = op_next(op);
	return next && op_inside(next, top) ? next : NULL;
}

static int acc_of(const Val *v, const Pieces *accs, int n)
{
	for (int i = 0; i < n; i++)
		if (accs[i].acc == v)
			return i;
	return -1;
}

/* Pieces of the accumulator that the operand reads. */
static uint64_t pieces_read(const Op *op, int i, const Pieces *p)
{
	int64_t first = 0, n = (int64_t)p->regs * p->pieces;
	uint64_t all = 0;
	if (op->kind == OP_PART && ix_is_const(op->in[i].at, &first))
		n = type_regs(op->out->type);
	for (int64_t piece = first / p->regs; piece * p->regs < first + n; piece++)
		all |= UINT64_C(1) << piece;
	return all;
}

static bool reads_sums(const Op *top, const Pieces *accs, int n)
{
	for (const Op *op = top; op; op = next_in(op, top))
		for (int i = 0; i < op->nin; i++)
			if (acc_of(op->in[i].val, accs, n) >= 0)
				return true;
	return false;
}

static void add_needs(const Op *top, const Pieces *accs, int n, uint64_t *needs)
{
	for (const Op *op = top; op; op = next_in(op, top))
		for (int i = 0; i < op->nin; i++) {
			int a = acc_of(op->in[i].val, accs, n);
			if (a >= 0)
				needs[a] |= pieces_read(op, i, &accs[a]);
		}
}

/* Whether op has part in what others of the block rely on beside its values. */
static bool is_tied(const Op *top, const PtrMap *made)
{
	for (const Op *op = top; op; op = next_in(op, top)) {
		for (int i = 0; i < op->nin; i++) {
			const Val *v = op->in[i].val;
			if (val_is_registers(v) && op_effect(op, i) & (FX_W | FX_AW) &&
			    !ptrmap_get(made, v))
				return true;
		}
		if (op->kind == OP_LET || op_fills_shared(op))
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------ segments */
/* A slot of shared memory that is written after the sum: by which op of the block, and which is
 * the last that goes to it. */
typedef struct {
	const Val *buffer;
	const Ix *at;
	Op *first, *last;
} Slot;
typedef struct {
	PtrMap made; /* of values made here: the last op of the block that uses them */
	VEC(Slot) slots;
	Op *begin;
} Uses;

static Slot *slot_of(const Uses *u, const Operand *in)
{
	for (int i = 0; i < u->slots.n; i++)
		if (u->slots.at[i].buffer == in->val && u->slots.at[i].at == in->at)
			return &u->slots.at[i];
	return NULL;
}

static void note_operand(Uses *u, const Op *op, int i, Op *top)
{
	const Operand *in = &op->in[i];
	Slot *slot = slot_of(u, in);
	bool shared = in->val->type->kind == TY_TILE && in->val->type->space == SP_SHARED;
	if (ptrmap_get(&u->made, in->val))
		ptrmap_set(&u->made, in->val, top);
	if (slot)
		slot->last = top;
	else if (shared && op_effect(op, i) & FX_W)
		vec_push(u->made.arena, &u->slots, ((Slot){in->val, in->at, top, top}));
}

static void note(Uses *u, Op *top)
{
	for (const Op *op = top; op; op = next_in(op, top)) {
		if (op->out)
			ptrmap_set(&u->made, op->out, top);
		for (int i = 0; i < op->nin; i++)
			note_operand(u, op, i, top);
	}
}

static Op *later(Op *a, Op *b)
{
	return a && a != b && op_precedes(b, a) ? a : b;
}

/* The last op of the segment that begins with `first`. */
static Op *end_of(const Uses *u, Op *first)
{
	Op *end = first;
	for (Op *top = first; top; top = top == end ? NULL : top->next) {
		for (const Op *op = top; op; op = next_in(op, top))
			end = later(op->out ? ptrmap_get(&u->made, op->out) : NULL, end);
		for (int i = 0; i < u->slots.n; i++)
			if (u->slots.at[i].first == top)
				end = later(u->slots.at[i].last, end);
	}
	return end;
}

static void put_segment(Kernel *k, Owners *o, Op *first, Op *last, const Pieces *accs, int n)
{
	Segment s = {first, last, 0, NEWN(ctx_arena(k->ctx), uint64_t, n)};
	for (Op *op = first;; op = op->next) {
		add_needs(op, accs, n, s.needs);
		if (op == last)
			break;
	}
	vec_push(ctx_arena(k->ctx), &o->at, s);
}

static void share_out(const Kernel *k, Owners *o)
{
	int n = o->at.n, parts = (int)split_parts(k);
	o->owners = n < parts ? n : parts;
	for (int i = 0; i < n; i++)
		o->at.at[i].owner = i * o->owners / n;
}

static bool can_share(const Kernel *k, const Uses *u)
{
	for (const Op *op = u->begin; op; op = op->next)
		if (is_tied(op, &u->made))
			return false;
	return !attrs_int(&k->attrs, A_PERSISTENT, 0) && !attrs_int(&k->attrs, A_DETERMINISTIC, 0);
}

Owners owners_find(Kernel *k, Op *sum, const Pieces *accs, int naccs)
{
	Owners o = {.begin = sum->next};
	while (o.begin && !reads_sums(o.begin, accs, naccs) &&
	       (op_rows[o.begin->kind].flags & OPF_PURE))
		o.begin = o.begin->next;
	Uses u = {.made.arena = ctx_arena(k->ctx), .begin = o.begin};
	Op *last = NULL;
	for (Op *op = o.begin; op; op = op->next) {
		note(&u, op);
		last = op;
	}
	if (!o.begin)
		return o;
	bool shared = can_share(k, &u);
	for (Op *op = o.begin; op;) {
		Op *end = shared ? end_of(&u, op) : last;
		put_segment(k, &o, op, end, accs, naccs);
		op = end->next;
	}
	share_out(k, &o);
	return o;
}
