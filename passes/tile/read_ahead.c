/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* read_ahead.c - what a loop reads of vectors and groups, a few registers a thread, is read an
 * iteration ahead, and so is what is computed of these alone: it arrives while the one before
 * multiplies.
 *     for k (0, T) { mma %p, .. ; %v = copy of %s (m, k) ; %x = mul %v, %alpha ; use of %x, %p }
 * ->  %v.1 = copy of %s (m, 0) ; %x.next = mul %v.1, %alpha
 *     for k (0, T) {
 *       %v = copy of %s (m, k + 1) ; mma %p, .. ; use of %x.next, %p
 *       %x = mul %v, %alpha ; copy %x.next, %x
 *     }
 * What takes one register, an element for many rows, is prefetched one iteration further on; what
 * the mma itself reads is made of, which it waits for, several, and those before the loop. ptxas
 * makes this matter: it moves the product of two loaded scales before the wgmma, to wait there.
 * A prefetch counts as a read: before grid.wait it could bring what is not written yet. */
#include "base/ptrmap.h"
#include "passes/pass.h"

enum {
	FEW = 8,    /* registers: what is read ahead is there twice */
	CACHED = 1, /* iterations that the cache is ahead of these reads */
	URGENT = 4, /* and of those that an mma waits for: as long as memory takes */
	ALIKE = 1   /* registers of what is cached: each costs an access, and one brings little */
};

typedef VEC(Op *) Ops;

typedef struct {
	Kernel *k;
	Op *loop;
	PtrMap first;      /* of what is read ahead: its value in the first iteration */
	PtrMap next;       /* and of what others use: the registers that come from the last one */
	PtrMap urgent;     /* of what is read ahead: what operands of the mma are made of */
	Ops reads, others; /* copies of vectors; what is computed of these */
} Ahead;

static bool is_ahead(const Ahead *a, const Val *v)
{
	return ptrmap_get(&a->first, v);
}

/* A vector, or an element for each of a few groups. */
static bool is_small(const Val *v)
{
	const Type *t = v->type;
	if (t->kind != TY_TILE)
		return false;
	return val_is_vector(v) || (t->space == SP_REG && t->tv && type_regs(t) <= FEW);
}

/* The tile of indices right in front of the tile whose rows they name; NULL: none. */
static Op *names_of(const Op *tile)
{
	Op *names = HAS_IN(tile, INDEX) ? IN(tile, INDEX).val->def : NULL;
	return names && names->next == tile ? names : NULL;
}

/* The tile of a vector that a copy brings into registers of its own; NULL: another copy. */
static Op *vector_read(const Op *copy)
{
	if (copy->kind != OP_COPY || !is_small(IN(copy, TO).val))
		return NULL;
	Op *tile = IN(copy, FROM).val->def, *frag = IN(copy, TO).val->def;
	bool together = tile && frag && tile->next == frag && frag->next == copy;
	together = together && tile->kind == OP_TILE && frag->kind == OP_FRAG;
	return together && (!HAS_IN(tile, INDEX) || names_of(tile)) ? tile : NULL;
}

/* Its place, or that of its indices. */
static bool moves_by(const Op *tile, const char *name)
{
	const Op *names = names_of(tile);
	return tile_named(tile, name) || (names && tile_named(names, name));
}

/* By the loop's variable alone: what else the loop carries moves in its own way. */
static bool moves_with(const Op *loop, const Op *tile)
{
	if (type_regs(tile->next->out->type) > FEW)
		return false;
	for (int i = 1; i < loop->nsym; i++)
		if (moves_by(tile, loop->sym[i]))
			return false;
	return moves_by(tile, loop->sym[0]);
}

/* ------------------------------------------------------------------ the first iteration */
static Op *clone_before(Kernel *k, Op *at, const Op *op)
{
	Op *clone = op_before(k, at, op->kind);
	clone->attrs = op->attrs;
	return clone;
}

/* Whether an mma of the loop's reads what is computed of v. */
static bool is_for_mma(const Op *loop, const Val *v)
{
	for (const Op *op = loop->body->first; op; op = op->next)
		for (int i = 0; i < op->nin; i++) {
			bool on = op_rows[op->kind].flags & OPF_ELT && op->in[i].val == v;
			if ((op_is_mma(op) && i && op->in[i].val == v) ||
			    (on && is_for_mma(loop, op->out)))
				return true;
		}
	return false;
}

/* The tile that the loop begins with. */
static Val *first_tile(Ahead *a, const Op *tile)
{
	Kernel *k = a->k;
	const Op *names = names_of(tile);
	Val *named = names ? first_tile(a, names) : NULL;
	Op *there = clone_before(k, a->loop, tile);
	op_of_tensor(k, there, IN(tile, OF).val, tile->out, NULL);
	if (named)
		op_in(k, there, named, NULL);
	for (int i = 0; i < tile->nix; i++)
		op_ix(k, there, ix_subst(k->ctx, tile->ix[i], a->loop->sym[0], IX(a->loop, FROM)));
	return op_result(k, there, "t", tile->out->type);
}

static void read_first(Ahead *a, const Op *tile, const Op *copy)
{
	Kernel *k = a->k;
	const Val *v = IN(copy, TO).val;
	Val *from = first_tile(a, tile);
	Val *to = op_result(k, clone_before(k, a->loop, v->def), v->name, v->type);
	Op *read = clone_before(k, a->loop, copy);
	op_ins(k, read, to, from);
	ptrmap_set(&a->first, v, to);
	if (is_for_mma(a->loop, v))
		ptrmap_set(&a->urgent, v, read);
}

static void compute_first(Ahead *a, const Op *op)
{
	Op *clone = clone_before(a->k, a->loop, op);
	for (int i = 0; i < op->nin; i++) {
		Val *v = ptrmap_get(&a->first, op->in[i].val);
		op_in(a->k, clone, v ? v : op->in[i].val, op->in[i].at);
	}
	ptrmap_set(&a->first, op->out, op_result(a->k, clone, op->out->name, op->out->type));
}

/* Of vectors that are read ahead, and of scalars of the kernel. */
static bool is_computed_ahead(const Ahead *a, const Op *op)
{
	bool any = false;
	if (!(op_rows[op->kind].flags & OPF_ELT) || !is_small(op->out))
		return false;
	for (int i = 0; i < op->nin; i++) {
		const Val *v = op->in[i].val;
		any |= is_ahead(a, v);
		if (!is_ahead(a, v) && v->def)
			return false;
	}
	return any;
}

/* ------------------------------------------------------------------ the others */
/* After the first mma of the loop's own, which takes its time; else at the top. */
static void to_mma(Op *loop, Op *op)
{
	Op *at = loop->body->first;
	while (at && !op_is_mma(at))
		at = at->next;
	if (at)
		op_insert_after(at, op);
	else
		op_insert_before(loop->body->first, op);
}

static void behind_mma(Op *loop, Op *op)
{
	op_remove(op);
	to_mma(loop, op);
}

/* The place of the tile `by` iterations on, where `at` is the loop's variable. */
static const Ix *place_later(const Ahead *a, const Op *tile, int i, const Ix *at, int by)
{
	Ctx *c = a->k->ctx;
	return ix_subst(c, tile->ix[i], a->loop->sym[0], ix_add(c, at, ix_const(c, by)));
}

/* After op, a read into as many registers: of what the iteration `by` after `at` will read. */
static void cache_behind(Ahead *a, Op *op, const Op *copy, const Ix *at, int by)
{
	Kernel *k = a->k;
	const Op *tile = IN(copy, FROM).val->def;
	Op *there = op_new(k, OP_TILE, copy->loc), *prefetch = op_new(k, OP_PREFETCH, copy->loc);
	there->attrs = tile->attrs;
	op_in(k, there, IN(tile, OF).val, NULL);
	for (int i = 0; i < tile->nix; i++)
		op_ix(k, there, place_later(a, tile, i, at, by));
	op_ins(k, prefetch, IN(op, TO).val, op_result(k, there, "t", tile->out->type));
	op_insert_after(op, prefetch);
	op_insert_after(op, there);
}

/* What a read will take some iterations later is on its way into the cache by then. */
static void cache_later(Ahead *a, Op *copy)
{
	const Op *frag = IN(copy, TO).val->def;
	const Ix *at = ix_sym(a->k->ctx, a->loop->sym[0]);
	if (tile_indices(IN(copy, FROM).val))
		return;
	if (ptrmap_get(&a->urgent, IN(copy, TO).val))
		cache_behind(a, copy, copy, at, URGENT);
	else if (type_regs(frag->out->type) <= ALIKE)
		cache_behind(a, copy, copy, at, CACHED);
}

/* After the first read what the next ones take, of the iterations before which none can. */
static void cache_first(Ahead *a, const Op *copy)
{
	Op *first = ptrmap_get(&a->urgent, IN(copy, TO).val);
	for (int by = URGENT; first && by > 0 && !tile_indices(IN(copy, FROM).val); by--)
		cache_behind(a, first, copy, IX(a->loop, FROM), by);
}

/* Reads come from the next iteration's place. */
static void place_next(const Ahead *a, Op *tile)
{
	for (int i = 0; i < tile->nix; i++)
		tile->ix[i] = place_later(a, tile, i, ix_sym(a->k->ctx, a->loop->sym[0]), 1);
}

static void read_next(Ahead *a, Op *copy)
{
	Op *frag = IN(copy, TO).val->def, *tile = IN(copy, FROM).val->def, *names = names_of(tile);
	place_next(a, tile);
	if (names)
		place_next(a, names);
	behind_mma(a->loop, copy);
	cache_later(a, copy);
	behind_mma(a->loop, frag);
	behind_mma(a->loop, tile);
	if (names)
		behind_mma(a->loop, names);
}

/* Registers that the iteration before has left. */
static Val *left(Ahead *a, const Val *v)
{
	Val *to = ptrmap_get(&a->next, v);
	if (to)
		return to;
	const char *name = ctx_strf(a->k->ctx, "%s.next", v->name);
	to = op_result(a->k, op_before(a->k, a->loop, OP_FRAG), name, v->type);
	op_ins(a->k, op_before(a->k, a->loop, OP_COPY), to, ptrmap_get(&a->first, v));
	ptrmap_set(&a->next, v, to);
	return to;
}

static bool is_of_these(const Ahead *a, const Op *op)
{
	return (op->out && is_ahead(a, op->out)) ||
	       (op->kind == OP_COPY && is_ahead(a, IN(op, TO).val));
}

static void replace_uses(Ahead *a)
{
	for (Op *op = a->loop->body->first; op && op_inside(op, a->loop); op = op_next(op))
		for (int i = 0; i < op->nin && !is_of_these(a, op); i++)
			if (is_ahead(a, op->in[i].val))
				op->in[i].val = left(a, op->in[i].val);
}

static void leave(Ahead *a, Val *v)
{
	Val *to = ptrmap_get(&a->next, v);
	if (!to)
		return;
	op_ins(a->k, op_append(a->k, a->loop->body, OP_COPY, v->def->loc), to, v);
}

static void find(Ahead *a)
{
	Arena *arena = ctx_arena(a->k->ctx);
	for (Op *op = a->loop->body->first; op; op = op->next) {
		const Op *tile = vector_read(op);
		if (tile && moves_with(a->loop, tile)) {
			vec_push(arena, &a->reads, op);
			read_first(a, tile, op);
		} else if (is_computed_ahead(a, op)) {
			vec_push(arena, &a->others, op);
			compute_first(a, op);
		}
	}
}

static void read_ahead(Kernel *k, Op *loop)
{
	Arena *arena = ctx_arena(k->ctx);
	Ahead a = {.k = k, .loop = loop, .first.arena = arena, .next.arena = arena};
	a.urgent.arena = arena;
	find(&a);
	for (int i = 0; i < a.reads.n; i++)
		cache_first(&a, a.reads.at[i]);
	replace_uses(&a);
	for (int i = a.reads.n; i-- > 0;)
		read_next(&a, a.reads.at[i]);
	for (int i = 0; i < a.others.n; i++) {
		block_append(loop->body, a.others.at[i]);
	}
	for (int i = 0; i < a.reads.n; i++)
		leave(&a, IN(a.reads.at[i], TO).val);
	for (int i = 0; i < a.others.n; i++)
		leave(&a, a.others.at[i]->out);
}

/* ------------------------------------------------------------------ the same in all iterations */
static bool moves_by_names(const Op *loop, const Op *tile)
{
	bool moves = false;
	for (const Op *op = loop->body->first; op; op = op->next)
		for (int i = 0; op_only_names(op) && i < op->nsym; i++)
			moves |= moves_by(tile, op->sym[i]);
	return moves;
}

static void read_once(Op *loop)
{
	for (Op *op = loop->body->first, *next; op; op = next) {
		Op *tile = vector_read(op);
		next = op->next;
		bool moves = !tile;
		for (int i = 0; i < loop->nsym && !moves; i++)
			moves = moves_by(tile, loop->sym[i]);
		moves = moves || moves_by_names(loop, tile);
		for (Op *at = tile && names_of(tile) ? names_of(tile) : tile, *after;
		     !moves && at != next; at = after) {
			after = at->next;
			op_insert_before(loop, at);
		}
	}
}

/* A body's own names are not passed; what hangs on none of its numbers is. */
static bool has_names(const Op *loop, bool numbers)
{
	for (const Op *op = loop->body->first; op; op = op->next)
		if (op_only_names(op) && (numbers || op->kind != OP_NUMBER))
			return true;
	return false;
}

PASS_OF(early)
{
	for (Op *op = kernel_first(k); op; op = op_next(op)) {
		if (op->kind == OP_FOR && !has_names(op, false))
			read_once(op);
		if (op->kind == OP_FOR && !has_names(op, true))
			read_ahead(k, op);
	}
}
