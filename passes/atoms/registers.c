/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* registers.c - how many registers of a thread the tiles of a program take, of each buffer that is
 * read the largest one at a time, of loops in sequence the one that takes the most, and of tiles in
 * sequence those that are there at one time: from where they are declared to their last use.
 *     acc (64,64) f32 in 128 threads, B (64,32) bf16 for mma.sync  ->  acc 32, b 32 */
#include "passes/atoms/registers.h"
#include "base/ptrmap.h"
#include "passes/smem/operand_layout.h"

/* The tensor, or its buffer, that a register tile is read from; NULL: it accumulates. */
static const Val *source_of(const Kernel *k, const Val *frag)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op)) {
		if (!copy_row_of(op->kind) || IN(op, TO).val != frag)
			continue;
		const Val *from = IN(op, FROM).val;
		return from->def->kind == OP_TILE ? IN(from->def, OF).val : from;
	}
	return NULL;
}

/* 1: A of an mma, 2: B; 0: neither. */
static int operand_of_mma(const Kernel *k, const Val *v)
{
	for (const Op *mma = kernel_mma(k, NULL); mma; mma = kernel_mma(k, mma))
		for (int i = 1; i <= 2; i++)
			if (mma->in[i].val == v)
				return i;
	return 0;
}

/* Small elements out of a buffer whose neighbours lie along k: each two are loaded as one, which
 * gives its register to what they become. */
static bool is_by_pairs(const Kernel *k, const Val *frag)
{
	SlotForm f;
	const Val *from = elem_rows[frag->type->elem].bits <= 8 ? source_of(k, frag) : NULL;
	return from && from->type->space == SP_SHARED && !slot_form(k->ctx, from->type, &f) &&
	       f.fast == 1;
}

/* What an mma reads lies there in words; of what threads compute with, an element takes one. */
static int frag_regs(const Kernel *k, const Op *op)
{
	if (op->kind != OP_FRAG || !op->out->type->tv)
		return 0;
	int regs = type_regs(op->out->type);
	return operand_of_mma(k, op->out) ? type_words(op->out->type)
	       : is_by_pairs(k, op->out)  ? 0
					  : regs;
}

/* Whether op is the first of the largest tiles that are read from there. */
static bool is_largest(const Kernel *k, const Op *op, const Val *from)
{
	bool before = true;
	for (const Op *other = kernel_first(k); other; other = op_next(other)) {
		before &= other != op;
		if (frag_regs(k, other) >= frag_regs(k, op) + !before &&
		    source_of(k, other->out) == from)
			return false;
	}
	return true;
}

/* Of each value: the op that uses it last; of each that an mma multiplies: the value. */
typedef struct {
	PtrMap last, operands;
} Uses;

static Uses uses_in(const Kernel *k)
{
	Uses u = {{.arena = ctx_arena(k->ctx)}, {.arena = ctx_arena(k->ctx)}};
	for (Op *op = kernel_first(k); op; op = op_next(op))
		for (int i = 0; i < op->nin; i++) {
			ptrmap_set(&u.last, op->in[i].val, op);
			if (i && op_is_mma(op))
				ptrmap_set(&u.operands, op->in[i].val, op);
		}
	return u;
}

/* Of the tile that op makes, if the program assigns to it or it is an operand of an mma. */
static int tile_regs(const Kernel *k, const Uses *u, const Op *op)
{
	const Type *t = op->out ? op->out->type : NULL;
	bool kept = op->kind == OP_FRAG ? frag_regs(k, op) && !source_of(k, op->out)
					: t && t->kind == TY_TILE && t->space == SP_REG &&
						  ptrmap_get(&u->operands, op->out);
	return kept ? type_words(t) : 0;
}

int needs_of_mma(const Op *mma)
{
	return type_regs(IN(mma, TO).val->type);
}

static void add_op(const Kernel *k, const Uses *u, const Op *op, Needs *n)
{
	int regs = frag_regs(k, op);
	const Val *from = regs ? source_of(k, op->out) : NULL;
	n->tiles += tile_regs(k, u, op) > 0;
	if (from && is_largest(k, op, from))
		*(int *[]){&n->read, &n->a, &n->b}[operand_of_mma(k, op->out)] += regs;
	if (from && !operand_of_mma(k, op->out) && (!n->most || regs > frag_regs(k, n->most)))
		n->most = op;
	if (op_is_mma(op) && (!n->mma || needs_of_mma(op) > needs_of_mma(n->mma)))
		n->mma = op;
}

/* The tile that op reads from a tensor or a buffer, and no mma takes; NULL: it reads none. */
static const Val *read_by(const Kernel *k, const Op *op)
{
	const Val *v = copy_row_of(op->kind) && op->nin ? IN(op, TO).val : NULL;
	bool reads = v && v->def && frag_regs(k, v->def) && source_of(k, v);
	return reads && !operand_of_mma(k, v) ? v : NULL;
}

static const Op *last_use(const Kernel *k, const Val *v)
{
	const Op *last = NULL;
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		last = op_takes(op, v) ? op : last;
	return last;
}

/* Of what a block reads so, from its load to its last use: the most that is there at one time, and
 * what is there beside the loop. */
typedef struct {
	int most, beside;
} Live;

static Live live_reads(const Kernel *k, const Block *b, const Op *loop)
{
	VEC(const Val *) live = {0};
	int now = 0;
	Live l = {0};
	for (const Op *op = b->first; op; op = op->next) {
		const Val *v = read_by(k, op);
		if (v)
			vec_push(ctx_arena(k->ctx), &live, v);
		now += v ? type_regs(v->type) : 0;
		l.most = now > l.most ? now : l.most;
		l.beside = op == loop ? now : l.beside;
		for (int i = 0; i < live.n; i++)
			if (last_use(k, live.at[i]) == op) {
				now -= type_regs(live.at[i]->type);
				live.at[i--] = live.at[--live.n];
			}
	}
	return l;
}

static Needs both(const Kernel *k, Needs a, Needs b)
{
	bool most = a.most && (!b.most || frag_regs(k, a.most) >= frag_regs(k, b.most));
	bool mma = a.mma && (!b.mma || needs_of_mma(a.mma) >= needs_of_mma(b.mma));
	return (Needs){.tiles = a.tiles + b.tiles,
		       .acc = a.acc + b.acc,
		       .read = a.read + b.read,
		       .live = a.live + b.live,
		       .a = a.a + b.a,
		       .b = a.b + b.b,
		       .most = most ? a.most : b.most,
		       .mma = mma ? a.mma : b.mma};
}

/* Tiles of a block, from where they are made to their last use. */
typedef struct {
	VEC(const Val *) at;
	int regs;
} Alive;

static void add_alive(const Kernel *k, const Uses *u, Alive *a, const Op *op)
{
	int regs = tile_regs(k, u, op);
	if (!regs)
		return;
	vec_push(ctx_arena(k->ctx), &a->at, op->out);
	a->regs += regs;
}

static void drop_dead(const Uses *u, Alive *a, const Op *op)
{
	for (int i = a->at.n; i-- > 0;) {
		const Val *v = a->at.at[i];
		const Op *last = ptrmap_get(&u->last, v);
		if (last && !op_inside(last, op))
			continue;
		a->regs -= type_words(v->type);
		a->at.at[i] = a->at.at[--a->at.n];
	}
}

/* Of the loops in a block, one at a time counts, beside the tiles that are there: the one that
 * takes the most. */
static Needs of_block(const Kernel *k, const Uses *u, const Block *b)
{
	Needs own = {0}, most = {0};
	const Op *loop = NULL;
	Alive alive = {0};
	int peak = 0, beside = 0;
	for (const Op *op = b->first; op; op = op->next) {
		Needs in = op->body ? of_block(k, u, op->body) : (Needs){0};
		add_op(k, u, op, &own);
		add_alive(k, u, &alive, op);
		peak = alive.regs > peak ? alive.regs : peak;
		if (op->body && needs_all(in) + alive.regs > needs_all(most) + beside) {
			most = in;
			loop = op;
			beside = alive.regs;
		}
		drop_dead(u, &alive, op);
	}
	bool nested = needs_all(most) + beside >= peak;
	own.acc = nested ? beside : peak;
	Live live = live_reads(k, b, loop);
	own.live = live.most;
	if (nested && loop)
		own.live =
			live.most - most.live > live.beside ? live.most - most.live : live.beside;
	return nested ? both(k, own, most) : own;
}

Needs needs_of(const Kernel *k)
{
	Uses u = uses_in(k);
	return of_block(k, &u, &k->body);
}

const char *needs_most(const Kernel *k, Needs n, int *regs)
{
	const Val *from = source_of(k, n.most->out);
	*regs = frag_regs(k, n.most);
	return from->type->space == SP_SHARED ? attrs_str(&from->def->attrs, A_RING, from->name)
					      : tensor_arg(from)->name;
}

int needs_all(Needs n)
{
	return n.acc + n.read + n.a + n.b;
}
