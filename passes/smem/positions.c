/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* positions.c - each access of a ring gets its position: a fill the number of fills before it in
 * program order, over the loops around it and all that stands before; a read that of the fill it
 * sees. Copies that follow each other into different buffers of a ring are one fill.
 *     for k (0, T) { load.tma %sA }  for l (0, U) { load.tma %sA }
 * ->  load.tma %sA[k] ; load.tma %sA[T + l]
 * A loop whose iterations do not all fill the ring as often carries the number:
 *     for t (0, n) { let m (..)  for k (0, m + 1) { load.tma %sA } }
 * ->  for t, fills (0, n, 0, m + 1) { ... load.tma %sA[fills + k] } */
#include "passes/smem/rings.h"

typedef struct {
	Kernel *k;
	const char *ring;
	IxFacts facts;
	bool counts; /* only counts, and changes nothing */
	bool own;    /* of a ring that its readers write: staging buffers, values in turn */
} Walk;

/* At one place of a block. */
typedef struct {
	const Ix *before; /* fills before it; NULL: no expression says it */
	const Ix *at;     /* position of the last fill that a read here sees; NULL: there is none */
	const Op *first;  /* of that fill's copies, where it goes on here */
} Place;

static Place walk_block(const Walk *w, Block *b, Place p);

/* ------------------------------------------------------------------ iterations */
static const Ix *trips_of(const Walk *w, const Op *loop)
{
	const Ix *trips = ix_sub(w->k->ctx, IX(loop, TO), IX(loop, FROM));
	bool never_less = ix_least(trips, w->facts) >= 0;
	return never_less ? trips : ix_new(w->k->ctx, IX_MAX, trips, ix_int(w->k, 0));
}

static bool is_bound_in(const Op *loop, const char *name)
{
	for (int i = 0; i < loop->nsym; i++)
		if (loop->sym[i] == name)
			return true;
	for (const Op *op = loop->body->first; op; op = op->next)
		for (int i = 0; op_only_names(op) && i < op->nsym; i++)
			if (op->sym[i] == name)
				return true;
	return false;
}

typedef struct {
	const Op *loop;
	bool found;
} Names;

static void find_bound(void *user, const char *name)
{
	Names *n = user;
	n->found |= is_bound_in(n->loop, name);
}

bool varies_in(const Ix *x, const Op *loop)
{
	Names n = {loop, false};
	ix_names(x, find_bound, &n);
	return n.found;
}

bool trips_vary(const Op *loop)
{
	const Op *outer = NULL;
	for (const Op *up = op_parent(loop); up; up = op_parent(up))
		outer = up->kind == OP_FOR ? up : outer;
	return outer && (varies_in(IX(loop, FROM), outer) || varies_in(IX(loop, TO), outer));
}

/* Of all iterations together, where each has its own number: a + b * i of iteration i. NULL: no
 * such numbers. */
static const Ix *sum_of(const Walk *w, const Op *loop, const Ix *each)
{
	Ctx *c = w->k->ctx;
	const char *i = loop->sym[0];
	const Ix *a = ix_subst(c, each, i, ix_int(w->k, 0));
	const Ix *b = ix_sub(c, ix_subst(c, each, i, ix_int(w->k, 1)), a);
	const Ix *line = ix_add(c, a, ix_mul(c, b, ix_sym(c, i)));
	if (varies_in(a, loop) || varies_in(b, loop) ||
	    !ix_is(ix_simplify(c, ix_sub(c, line, each), w->facts), 0))
		return NULL;
	const Ix *trips = trips_of(w, loop), *last = ix_sub(c, IX(loop, TO), ix_int(w->k, 1));
	const Ix *ends = ix_mul(c, ix_add(c, IX(loop, FROM), last), trips);
	return ix_add(c, ix_mul(c, a, trips), ix_mul(c, b, ix_div(c, ends, ix_int(w->k, 2))));
}

/* The name that has `start` in the first iteration, and `step` of each is added to. */
static const Ix *counter(const Walk *w, Op *loop, const Ix *start, const Ix *step)
{
	Kernel *k = w->k;
	for (int i = 1; i < loop->nsym; i++)
		if (loop->ix[2 * i] == start && loop->ix[2 * i + 1] == step)
			return ix_sym(k->ctx, loop->sym[i]);
	const char *name = kernel_fresh(k, "fills");
	op_sym(k, loop, name);
	op_ixs(k, loop, start, step);
	return ix_sym(k->ctx, name);
}

static bool is_known(const Walk *w, Loc loc, const Ix *x)
{
	if (x)
		return true;
	if (!w->counts)
		diag(w->k->ctx, loc, D_E0407,
		     "how often pipeline %s is filled before this depends on a loop with other "
		     "iterations each time: no expression counts them\n"
		     "fill what follows through a pipeline of its own",
		     w->ring);
	return false;
}

static Place walk_loop(const Walk *w, Op *loop, Place p)
{
	Ctx *c = w->k->ctx;
	Walk count = *w;
	count.counts = true;
	const Ix *zero = ix_int(w->k, 0);
	const Ix *each = walk_block(&count, loop->body, (Place){zero, NULL, NULL}).before;
	if (each == zero) {
		walk_block(w, loop->body, (Place){p.before, p.at, NULL});
		return p;
	}
	if (!is_known(w, loop->loc, p.before) || !is_known(w, loop->loc, each))
		return (Place){NULL, NULL, NULL};
	bool varies = varies_in(each, loop);
	const Ix *here = ix_sub(c, ix_sym(c, loop->sym[0]), IX(loop, FROM));
	const Ix *base = varies ? p.before : ix_add(c, p.before, ix_mul(c, here, each));
	if (varies && !w->counts)
		base = counter(w, loop, p.before, each);
	if (!w->counts)
		walk_block(w, loop->body, (Place){base, p.at, NULL});
	const Ix *all = varies ? sum_of(w, loop, each) : ix_mul(c, trips_of(w, loop), each);
	return (Place){all ? ix_add(c, p.before, all) : NULL, NULL, NULL};
}

/* ------------------------------------------------------------------ copies */
/* A staging buffer is written by the threads that read it, or whose TMA does. */
static bool fills(const Walk *w, const Op *op)
{
	return op_fills(op, w->ring) || (w->own && op_touches(op, w->ring, FX_W));
}

/* Whether the buffer is filled already by the copies from first on. */
static bool is_filled(const Walk *w, const Op *first, const Op *copy)
{
	for (const Op *op = first; op != copy; op = op->next)
		if (fills(w, op) && IN(op, TO).val == IN(copy, TO).val)
			return true;
	return false;
}

static void set_positions(const Walk *w, Op *op, const Ix *at)
{
	for (int i = 0; i < op->nin && !w->counts; i++)
		if (operand_on_ring(&op->in[i], w->ring) && !op->in[i].at)
			op->in[i].at = at;
}

static Place walk_fill(const Walk *w, Op *op, Place p)
{
	if (!is_known(w, op->loc, p.before))
		return p;
	if (!p.first || is_filled(w, p.first, op))
		p = (Place){ix_add(w->k->ctx, p.before, ix_int(w->k, 1)), p.before, op};
	set_positions(w, op, p.at);
	return p;
}

static Place walk_block(const Walk *w, Block *b, Place p)
{
	for (Op *op = b->first; op; op = op->next) {
		if (op->kind == OP_FOR)
			p = walk_loop(w, op, p);
		else if (op->body)
			walk_block(w, op->body, (Place){p.before, p.at, NULL});
		else if (fills(w, op))
			p = walk_fill(w, op, p);
		else
			set_positions(w, op, p.at ? p.at : p.before);
	}
	return p;
}

/* ------------------------------------------------------------------ copies of one fill together */
/* After the copy before it in the fill, with the tile that it takes. */
static void pull(Op *copy, Op *behind)
{
	Op *tile = IN(copy, FROM).val->def;
	op_insert_after(behind, copy);
	if (tile->block != copy->block)
		return;
	op_insert_before(copy, tile);
}

/* What is announced on a barrier comes in one go. */
static void join_fills(Block *b, const char *ring)
{
	Op *last = NULL;
	for (Op *op = b->first, *next; op; op = next) {
		next = op->next;
		if (op->body)
			join_fills(op->body, ring);
		if (!op_fills(op, ring))
			continue;
		bool joins = last && IN(last, TO).at == IN(op, TO).at, near = joins;
		for (const Op *between = last; near && between != op; between = between->next)
			near = between == last || (op_rows[between->kind].flags & OPF_PURE);
		if (joins && !near)
			pull(op, last);
		last = op;
	}
}

bool ring_takes_turns(Kernel *k, const char *ring)
{
	Walk w = {k, ring, kernel_facts(k), true, true};
	return walk_block(&w, &k->body, (Place){ix_int(k, 0), NULL, NULL}).before;
}

void ring_positions(Kernel *k, const char *ring)
{
	const Op *op = kernel_ring(k, ring);
	bool turns = attrs_get(&op->attrs, A_PUT) && attrs_int(&op->attrs, A_SLOTS, 1) > 1;
	Walk w = {k, ring, kernel_facts(k), false, turns || ring_is_own(k, ring)};
	walk_block(&w, &k->body, (Place){ix_int(k, 0), NULL, NULL});
	join_fills(&k->body, ring);
}
