/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* overlap.c - a loop of two chained products, the second of which reads values of the first as A,
 * issues the second of an iteration after the first of the next: the tensor core multiplies while
 * threads compute these values.
 *     for j (lo, hi) {
 *       copy %sK, .. ; mma %s, %sQ, %sK ; %p = f(%s) ; copy %sV, .. ; mma %acc, %p, %sV
 *     }
 * ->  copy %sK, .. ; mma %s, .. ; %p = f(%s) ; copy %carried, %p
 *     for j (lo + 1, hi) {
 *       copy %sK, .. ; mma %s, %sQ, %sK
 *       copy %sV, .. of j - 1 ; mma %acc, %carried, %sV
 *       %p = f(%s) ; copy %carried, %p
 *     }
 *     copy %sV, .. of hi - 1 ; mma %acc, %carried, %sV
 * Where the loop may have no iteration, what stands before and after it is a loop of at most one.
 * All that changes places is the first product of an iteration and the second of the one before:
 * they have no register and no buffer in common, so that each value stays the same in every bit. */
#include "base/ptrmap.h"
#include "passes/atoms/registers.h"
#include "passes/smem/rings.h"
#include "passes/tile/split.h"
#include "passes/why.h"

#include <string.h>

typedef struct {
	Kernel *k;
	Op *loop;
	Op *first, *second; /* the last mma before the second; the last op of the loop */
	PtrMap late;        /* ops of the second product: it, its copies and their tiles */
} Chain;

static bool is_late(const Chain *c, const Op *op)
{
	return ptrmap_get(&c->late, op);
}

/* ------------------------------------------------------------------ what belongs to the second */
static void find_late(Chain *c)
{
	ptrmap_set(&c->late, c->second, c);
	for (Op *op = c->loop->body->first; op; op = op->next) {
		bool fills = op->kind == OP_COPY && IN(op, TO).val->type->space == SP_SHARED &&
			     op_takes(c->second, IN(op, TO).val);
		const Op *tile = fills ? IN(op, FROM).val->def : NULL;
		if (fills)
			ptrmap_set(&c->late, op, c);
		if (tile && tile->block == op->block)
			ptrmap_set(&c->late, tile, c);
	}
}

static bool is_defined_in(const Op *loop, const Val *v)
{
	return v->def && op_inside(v->def, loop);
}

/* Whether all that the second product takes from the body, but A, is its own. */
static bool stands_alone(const Chain *c)
{
	const Val *a = IN(c->second, A).val;
	for (const Op *op = c->loop->body->first; op; op = op->next) {
		if (!is_late(c, op) && op->kind == OP_TILE)
			continue;
		for (int i = 0; i < op->nin; i++) {
			const Val *v = op->in[i].val;
			bool own = is_defined_in(c->loop, v) && is_late(c, v->def);
			if (is_late(c, op) ? is_defined_in(c->loop, v) && !own && v != a : own)
				return false;
		}
	}
	return true;
}

/* Whether one of them writes what the other takes. */
static bool conflict(const Op *x, const Op *y)
{
	for (int i = 0; i < x->nin; i++)
		for (int j = 0; j < y->nin; j++)
			if (x->in[i].val == y->in[j].val &&
			    ((op_effect(x, i) | op_effect(y, j)) & (FX_W | FX_AW)))
				return true;
	return false;
}

/* Whether the first product of an iteration and the second of the one before may change places. */
static bool may_swap(const Chain *c)
{
	const Op *end = c->first->next;
	const Val *a = IN(c->second, A).val;
	for (const Op *x = c->loop->body->first; x != end; x = x->next)
		for (const Op *y = c->loop->body->first; y && !is_late(c, x); y = y->next)
			if (x->out == a || (is_late(c, y) && conflict(x, y)))
				return false;
	return true;
}

static const char *filled_ring(const Op *op)
{
	const Op *to = op->kind == OP_COPY ? IN(op, TO).val->def : NULL;
	return to ? attrs_str(&to->attrs, A_RING, NULL) : NULL;
}

/* Whether copies for both products fill one ring: its slots are of one iteration. */
static bool share_ring(const Chain *c)
{
	for (const Op *x = c->loop->body->first; x; x = x->next)
		for (const Op *y = c->loop->body->first; y && is_late(c, x); y = y->next) {
			const char *a = filled_ring(x), *b = filled_ring(y);
			if (!is_late(c, y) && a && b && !strcmp(a, b))
				return true;
		}
	return false;
}

/* Whether v is computed from the accumulator of the first product. */
static bool comes_from(const Chain *c, const Val *v)
{
	PtrMap computed = {.arena = ctx_arena(c->k->ctx)};
	ptrmap_set(&computed, IN(c->first, TO).val, &computed);
	for (const Op *op = c->first->next; op; op = op->next)
		for (int i = 0; op->out && i < op->nin; i++)
			if (ptrmap_get(&computed, op->in[i].val))
				ptrmap_set(&computed, op->out, &computed);
	return ptrmap_get(&computed, v);
}

/* ------------------------------------------------------------------ loops */
static bool find_products(Chain *c)
{
	for (Op *op = c->loop->body->first; op; op = op->next) {
		if (op->body)
			return false;
		if (!op_is_mma(op))
			continue;
		c->first = c->second;
		c->second = op;
	}
	return c->first && !c->second->next;
}

static bool is_of_warpgroups(const Chain *c, const Op *mma)
{
	return atom_threads(c->k->ctx, attrs_get(&mma->attrs, A_ATOM)->atom) == GROUP_THREADS;
}

/* Whether the loop is known to have an iteration. */
static bool runs(const Chain *c)
{
	const Ix *trips = ix_sub(c->k->ctx, IX(c->loop, TO), IX(c->loop, FROM));
	return ix_least(trips, kernel_facts(c->k)) > 0;
}

static const char *why_not(Chain *c)
{
	if (c->loop->kind != OP_FOR || c->loop->nsym != 1 || !find_products(c))
		return "no loop ends with the second of two products";
	const Val *a = IN(c->second, A).val;
	if (!is_of_warpgroups(c, c->first) || !is_of_warpgroups(c, c->second) ||
	    a->type->space != SP_REG || !is_defined_in(c->loop, a) || !comes_from(c, a))
		return "no loop multiplies values that it computes from an accumulator of wgmma";
	if (trips_vary(c->loop) && !runs(c))
		return "the number of iterations differs between the tiles of a CTA, and may be 0";
	if (numbers_bound(c->k, c->loop) && attrs_get(&c->k->attrs, A_CLUSTER))
		return "memory says how often the loop runs, and CTAs of a cluster share its slots";
	find_late(c);
	if (share_ring(c))
		return "the two products load their operands into one pipeline";
	if (!stands_alone(c) || !may_swap(c))
		return "the first product of an iteration uses what the second of the one before "
		       "writes";
	return NULL;
}

/* ------------------------------------------------------------------ the change */
static bool is_early_op(void *user, const Op *op)
{
	return !is_late(user, op);
}

static bool is_late_op(void *user, const Op *op)
{
	return is_late(user, op);
}

/* Runs once if the loop has an iteration. */
static Op *loop_once(Chain *c)
{
	Ctx *x = c->k->ctx;
	const Ix *lo = IX(c->loop, FROM), *second = ix_add(x, lo, ix_const(x, 1));
	Op *once = op_new(c->k, OP_FOR, c->loop->loc);
	op_sym(c->k, once, kernel_fresh(c->k, c->loop->sym[0]));
	op_ixs(c->k, once, lo, ix_new(x, IX_MIN, second, IX(c->loop, TO)));
	op_int(c->k, once, A_ONCE, 1);
	op_body(c->k, once);
	return once;
}

/* A copy of some ops of the body, for one iteration, after `at`. */
static void copy_after(Chain *c, Op *at, const Ix *iteration,
		       bool (*keep)(void *user, const Op *op))
{
	Block ops = {0};
	SymSub sub = {c->loop->sym[0], iteration};
	Op *once = runs(c) ? NULL : loop_once(c);
	block_copy(c->k, c->loop->body, once ? once->body : &ops, &sub, 1, keep, c);
	if (once)
		op_insert_after(at, once);
	for (Op *op = ops.last, *prev; op; op = prev) {
		prev = op->prev;
		op_insert_after(at, op);
	}
}

/* The values that the second product reads, in registers that outlive the iteration. */
static Op *carry_operand(Chain *c)
{
	Operand *a = &IN(c->second, A);
	Op *frag = op_before(c->k, c->loop, OP_FRAG);
	Op *copy = op_after(c->k, a->val->def, OP_COPY);
	op_ins(c->k, copy, op_result(c->k, frag, a->val->name, a->val->type), a->val);
	a->val = frag->out;
	return frag;
}

static bool is_op(void *user, const Op *op)
{
	return op == user;
}

static bool names_late(const Chain *c, const Op *let)
{
	for (const Op *op = let->next; op; op = op->next)
		for (int i = 0; is_late(c, op) && i < let->nsym; i++)
			if (tile_named(op, let->sym[i]))
				return true;
	return false;
}

/* A number of memory that says where a tile of the second product begins is that of the iteration
 * before: a name of its own. */
static void own_name(Chain *c, Op *let)
{
	Ctx *x = c->k->ctx;
	Block one = {0};
	block_copy(c->k, c->loop->body, &one, NULL, 0, is_op, let);
	Op *own = one.first;
	op_remove(own);
	op_insert_after(let, own);
	ptrmap_set(&c->late, own, c);
	for (Op *op = own->next; op; op = op->next)
		for (int i = 0; is_late(c, op) && i < op->nix; i++)
			for (int s = 0; s < let->nsym; s++)
				op->ix[i] =
					ix_subst(x, op->ix[i], let->sym[s], ix_sym(x, own->sym[s]));
}

static void own_names(Chain *c)
{
	for (Op *op = c->loop->body->last, *prev; op; op = prev) {
		prev = op->prev;
		if (op_only_names(op) && !is_late(c, op) && names_late(c, op))
			own_name(c, op);
	}
}

static void delay(Chain *c, Op *op)
{
	Ctx *x = c->k->ctx;
	const char *j = c->loop->sym[0];
	const Ix *before = ix_sub(x, ix_sym(x, j), ix_const(x, 1));
	for (int i = 0; i < op->nix; i++)
		op->ix[i] = ix_subst(x, op->ix[i], j, before);
}

static void move_late(Chain *c)
{
	VEC(Op *) late = {0};
	Op *at = c->first;
	for (Op *op = c->loop->body->first; op; op = op->next)
		if (is_late(c, op))
			vec_push(ctx_arena(c->k->ctx), &late, op);
	for (int i = 0; i < late.n; i++) {
		delay(c, late.at[i]);
		op_insert_after(at, late.at[i]);
		at = late.at[i];
	}
}

/* What the second product reads if the loop has no iteration, and no product either. */
static Op *fill_operand(Chain *c, Op *frag)
{
	Op *fill = op_in(c->k, op_after(c->k, frag, OP_FILL), frag->out, NULL);
	op_real(c->k, fill, A_VALUE, 0);
	return fill;
}

static void overlap(Chain *c)
{
	Ctx *x = c->k->ctx;
	const Ix *lo = IX(c->loop, FROM), *hi = IX(c->loop, TO), *one = ix_const(x, 1);
	Op *frag = carry_operand(c);
	own_names(c);
	copy_after(c, runs(c) ? frag : fill_operand(c, frag), lo, is_early_op);
	copy_after(c, c->loop, ix_sub(x, hi, one), is_late_op);
	move_late(c);
	IX(c->loop, FROM) = ix_add(x, lo, one);
}

/* ------------------------------------------------------------------ whether */
/* Whether exp2 of whole tiles is computed between the products: measured to be slower with overlap
 * (tests/gpu/records/decisions.md). */
static bool takes_exp2(const Chain *c)
{
	for (const Op *op = c->first->next; op != c->second; op = op->next)
		if (op->kind == OP_EXP2 &&
		    layout_size_int(op->out->type->layout) ==
			    layout_size_int(IN(c->first, TO).val->type->layout))
			return true;
	return false;
}

/* Why overlap that nobody asked for would not help; NULL: it would. */
static const char *why_slower(const Chain *c)
{
	Kernel *k = c->k;
	int regs = needs_all(needs_of(k));
	int most = registers_of_tiles(k, op_tiled_mma(k->ctx, c->second));
	if (attrs_int(&k->attrs, A_THRIFT, 0)) /* products follow each other then */
		return "ptxas spilled registers with it";
	if (regs > most)
		return ctx_strf(k->ctx,
				"with two products in flight, tiles take %d registers of the %d "
				"that a thread has for them",
				regs, most);
	return takes_exp2(c) ? "exp2 takes several instructions, which makes overlap slower; "
			       "exp2_approx takes one"
			     : NULL;
}

static bool is_wanted(const Chain *c)
{
	const char *slower = why_slower(c);
	if (slower)
		why_no_overlap(c->k, slower);
	return !slower;
}

PASS_OF(overlap)
{
	int64_t asked = attrs_int(&k->attrs, A_OVERLAP, -1);
	const char *why = NULL;
	bool found = false;
	for (Op *loop = asked ? kernel_find(k, OP_FOR) : NULL; loop;
	     loop = op_find_next(loop, OP_FOR)) {
		Chain c = {.k = k, .loop = loop, .late.arena = ctx_arena(k->ctx)};
		const char *not = why_not(&c);
		why = !why || c.second ? not : why;
		if (not || (asked < 0 && !is_wanted(&c)))
			continue;
		why_flight(k, IN(c.first, TO).val, IN(c.second, TO).val, loop->sym[0]);
		overlap(&c);
		found = true;
	}
	if (found)
		why_overlap(k);
	else if (asked > 0)
		diag(k->ctx, k->loc, D_E0407,
		     "there is nothing to overlap: %s\n"
		     "leave overlap out of the schedule",
		     why ? why : "the kernel has no loop");
}
