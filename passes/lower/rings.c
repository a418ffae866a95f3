/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* rings.c - positions become slots and phases. A loop whose accesses run along a ring carries
 * both as names of its own, so that nothing is divided in it; elsewhere they are computed from the
 * position.
 *     for k (0, T) { mbar.wait %full[t * T + k] lap=0 }
 * ->  for.ring k, slot, phase (0, T, t * T) slots=4 { mbar.wait %full[slot] (phase) } */
#include "base/ptrmap.h"
#include "passes/lower/lower.h"

/* A loop's ring: position `start` is slot, phase of its names in the first iteration. */
typedef struct {
	const Op *loop;
	const Ix *position; /* of the names, as an expression of the loop's variable */
	int64_t slots;
} Cursor;

typedef struct {
	VEC(Cursor) at;
	PtrMap of; /* of each loop: its number, from 1 */
} Cursors;

static int64_t slots_of(const Val *v)
{
	return v->def ? attrs_int(&v->def->attrs, A_SLOTS, 0) : 0;
}

static bool is_position(const Op *op, int i)
{
	return op->in[i].at && slots_of(op->in[i].val) && op->in[i].val->type->space != SP_REG &&
	       op->kind != OP_MBAR_INIT;
}

static Op *loop_around(const Op *op)
{
	Op *loop = op_parent(op);
	while (loop && (loop->kind != OP_FOR || attrs_int(&loop->attrs, A_UNROLL, 0)))
		loop = op_parent(loop);
	return loop && loop->nsym == 1 ? loop : NULL; /* not one that carries other numbers */
}

/* Whether the position moves by one with the loop's variable. */
static bool runs_along(Kernel *k, const Op *loop, const Ix *at)
{
	const Ix *k0 = ix_sym(k->ctx, loop->sym[0]);
	return !ix_uses(ix_sub(k->ctx, at, k0), loop->sym[0]) && ix_uses(at, loop->sym[0]);
}

static const Cursor *cursor_of(const Cursors *all, const Op *loop)
{
	intptr_t at = (intptr_t)ptrmap_get(&all->of, loop);
	return at ? &all->at.at[at - 1] : NULL;
}

/* Every loop takes the first ring that it runs along, with barriers if there is such: their phase
 * is carried, too. */
static void find_cursors(Kernel *k, Cursors *all, bool barriers)
{
	for (Op *op = kernel_first(k); op; op = op_next(op))
		for (int i = 0; i < op->nin; i++) {
			Op *loop = loop_around(op);
			if (!is_position(op, i) || !loop || cursor_of(all, loop) ||
			    (barriers && op->in[i].val->type->kind != TY_MBAR) ||
			    !runs_along(k, loop, op->in[i].at))
				continue;
			vec_push(ctx_arena(k->ctx), &all->at,
				 ((Cursor){loop, op->in[i].at, slots_of(op->in[i].val)}));
			ptrmap_set(&all->of, loop, (void *)(intptr_t)all->at.n);
		}
}

static void carry(Kernel *k, const Cursor *c, IxFacts facts)
{
	Op *loop = (Op *)(uintptr_t)c->loop;
	const Ix *base = ix_subst(k->ctx, c->position, loop->sym[0], IX(loop, FROM));
	loop->kind = OP_FOR_RING;
	op_sym(k, loop, kernel_fresh(k, "slot"));
	op_sym(k, loop, kernel_fresh(k, "phase"));
	op_ix(k, loop, ix_simplify(k->ctx, base, facts));
	op_int(k, loop, A_SLOTS, c->slots);
}

/* Slot and lap of a position, the lap modulo 2 or not: near the loop's own by a constant distance,
 * or from scratch. A barrier's phase (its parity) is the lap modulo 2. */
typedef struct {
	const Ix *slot, *lap;
} Place;

static Place place_near(Kernel *k, const Cursor *c, int64_t distance)
{
	Ctx *x = k->ctx;
	const Ix *slot = ix_sym(x, c->loop->sym[1]), *phase = ix_sym(x, c->loop->sym[2]);
	const Ix *n = ix_int(k, c->slots);
	int64_t back = distance < 0 ? (c->slots - 1 - distance) / c->slots : 0; /* whole laps */
	const Ix *moved = ix_add(x, slot, ix_int(k, distance + back * c->slots));
	return (Place){ix_mod(x, moved, n),
		       ix_add(x, ix_add(x, phase, ix_div(x, moved, n)), ix_int(k, back))};
}

static Place place_of(Kernel *k, const Cursors *all, const Op *op, const Operand *in)
{
	Ctx *x = k->ctx;
	int64_t distance;
	const Ix *n = ix_int(k, slots_of(in->val));
	for (const Op *up = op_parent(op); up; up = op_parent(up)) {
		const Cursor *c = cursor_of(all, up);
		if (c && c->slots == slots_of(in->val) &&
		    ix_is_const(ix_sub(x, in->at, c->position), &distance))
			return place_near(k, c, distance);
	}
	return (Place){ix_mod(x, in->at, n), ix_div(x, in->at, n)};
}

/* A buffer of which each warpgroup has its own slots. */
static const Ix *own_slot(Kernel *k, const Val *v, const Ix *slot)
{
	Ctx *c = k->ctx;
	if (attrs_int(&v->def->attrs, A_GROUPS, 1) == 1)
		return slot;
	return ix_add(c, ix_mul(c, ix_warpgroup(k), ix_int(k, slots_of(v))), slot);
}

static void lower_op(Kernel *k, const Cursors *all, Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		Operand *in = &op->in[i];
		if (!is_position(op, i))
			continue;
		Place p = place_of(k, all, op, in);
		if (op->kind == OP_MBAR_WAIT) {
			const Ix *lap = ix_int(k, attrs_int(&op->attrs, A_LAP, 0));
			op_ix(k, op, ix_mod(k->ctx, ix_add(k->ctx, p.lap, lap), ix_int(k, 2)));
			attrs_drop(&op->attrs, A_LAP);
		}
		in->at = own_slot(k, in->val, p.slot);
	}
}

void lower_rings(Kernel *k)
{
	Cursors all = {.of.arena = ctx_arena(k->ctx)};
	find_cursors(k, &all, true);
	find_cursors(k, &all, false);
	IxFacts facts = kernel_facts(k);
	for (int i = 0; i < all.at.n; i++)
		carry(k, &all.at.at[i], facts);
	for (Op *op = kernel_first(k); op; op = op_next(op))
		lower_op(k, &all, op);
}
