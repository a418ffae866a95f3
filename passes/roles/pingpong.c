/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pingpong.c - pingpong: the warpgroups of a role take tiles in turn. One multiplies while the
 * other stores; who has read what both read gives the turn away.
 *     for t (0, T) { for k { mma } store }
 * ->  for j (0, (T - w + 1) / 2) { let t (2 * j + w)
 *       if (1 <= t) { bar.sync w } for k { mma } if (t + 1 < T) { bar.arrive 1 - w } store } */
#include "passes/roles/pingpong.h"

static Op *turn_op(Kernel *k, OpKind kind, const Ix *cond, const Ix *which, Loc loc)
{
	Op *some = op_new(k, OP_IF, loc), *bar = op_new(k, kind, loc);
	op_ix(k, some, cond);
	op_ix(k, bar, which);
	op_int(k, bar, A_THREADS, (int64_t)TURNS * GROUP_THREADS);
	block_append(op_body(k, some), bar);
	return some;
}

static bool reads(const Op *op, const char *ring)
{
	for (const Op *in = op; in && op_inside(in, op); in = op_next(in))
		if (op_touches(in, ring, FX_R | FX_AR))
			return true;
	return false;
}

/* A warpgroup's own buffers count its own turns: positions of a ring follow each other in whoever
 * uses it, or waiting for all but the last few uses would miss one. */
static void own_positions(Kernel *k, Op *tiles, const char *t, const Ix *turn)
{
	for (Op *op = tiles->body->first; op && op_inside(op, tiles); op = op_next(op))
		for (int i = 0; i < op->nin; i++) {
			const Val *v = op->in[i].val;
			if (op->in[i].at && v->def && attrs_get(&v->def->attrs, A_GROUPS))
				op->in[i].at = ix_subst(k->ctx, op->in[i].at, t, turn);
		}
}

typedef struct {
	const Ix *w, *tile, *n; /* the warpgroup, its tile, tiles of this CTA */
} Turn;

/* Of the first tile of each turn: the slots that `at` names. False: not one by turn. */
static bool add_slots(Ctx *c, const Ix *at, const char *t, int64_t slots, uint64_t *by_turn)
{
	int64_t first, step;
	const Ix *next = ix_add(c, ix_sym(c, t), ix_const(c, TURNS));
	if (!ix_is_const(ix_sub(c, ix_subst(c, at, t, next), at), &step) || step % slots)
		return false;
	for (int turn = 0; turn < TURNS; turn++) {
		if (!ix_value_at(c, at, t, turn, &first))
			return false;
		by_turn[turn] |= (uint64_t)1 << first % slots;
	}
	return true;
}

/* Whether each slot is read by one warpgroup alone: turns take whole laps of the ring, and no slot
 * of the other's. */
static bool keeps_slots(const Kernel *k, const Op *tiles, const char *ring)
{
	int64_t slots = attrs_int(&kernel_ring(k, ring)->attrs, A_SLOTS, 1);
	uint64_t by_turn[TURNS] = {0};
	for (const Op *op = tiles->body->first; op && op_inside(op, tiles); op = op_next(op))
		for (int i = 0; i < op->nin; i++)
			if (operand_on_ring(&op->in[i], ring) &&
			    !add_slots(k->ctx, op->in[i].at, tiles->sym[0], slots, by_turn))
				return false;
	return !(by_turn[0] & by_turn[1]);
}

/* What reads a ring that is not its own goes through it in the order of tiles: who has read his
 * last position gives the turn to the other. So one multiplies while the other stores, and nobody
 * tests a phase of the ring a lap too early. */
static void order_reads(Kernel *k, Op *tiles, const char *ring, int named, Turn t)
{
	Ctx *c = k->ctx;
	Op *first = NULL, *last = NULL;
	for (Op *op = tiles->body->first; op; op = op->next)
		if (reads(op, ring)) {
			first = first ? first : op;
			last = op;
		}
	if (!first)
		return;
	const Ix *base = ix_int(k, named), *one = ix_int(k, 1);
	const Ix *mine = ix_add(c, base, t.w), *others = ix_sub(c, ix_add(c, base, one), t.w);
	const Ix *not_first = ix_new(c, IX_LE, one, t.tile);
	const Ix *not_last = ix_new(c, IX_LT, ix_add(c, t.tile, one), t.n);
	op_insert_before(first, turn_op(k, OP_BAR_SYNC, not_first, mine, first->loc));
	op_insert_after(last, turn_op(k, OP_BAR_ARRIVE, not_last, others, last->loc));
}

/* Each ring has a pair of its own. */
static int next_named(int named)
{
	return named == NAMED_TURN   ? NAMED_READ
	       : named == NAMED_READ ? NAMED_READ_MORE
				     : named + TURNS;
}

static bool only_names(void *user, const Op *op)
{
	(void)user;
	return op_only_names(op);
}

/* The value of the last of the loop's names where its variable is t: its lets, and what it finds,
 * once more, before `at`. */
static const Ix *last_let_at(Kernel *k, const Op *tiles, const Ix *t, Op *at)
{
	Block lets = {0};
	SymSub sub = {tiles->sym[0], t};
	const Ix *value = NULL;
	block_copy(k, tiles->body, &lets, &sub, 1, only_names, NULL);
	for (Op *op = lets.first, *next; op; op = next) {
		next = op->next;
		op_remove(op);
		if (!op_only_names(op))
			continue;
		op_insert_before(at, op);
		value = ix_sym(k->ctx, op->sym[0]);
	}
	return value;
}

/* A number that the loop carries goes on by two tiles a turn: this one, and the other's. */
static void count_both(Kernel *k, Op *tiles, const Ix *w)
{
	Ctx *c = k->ctx;
	const Ix *zero = ix_int(k, 0), *one = ix_int(k, 1);
	const Ix *next = ix_add(c, ix_sym(c, tiles->sym[0]), one);
	for (int i = 1; i < tiles->nsym; i++) {
		Op *mine = op_append(k, tiles->body, OP_LET, tiles->loc);
		Op *end = op_append(k, tiles->body, OP_BAR_WARP, tiles->loc);
		op_sym(k, mine, kernel_fresh(k, "step"));
		op_ix(k, mine, tiles->ix[2 * i + 1]);
		const Ix *first = last_let_at(k, tiles, zero, tiles);
		const Ix *other = last_let_at(k, tiles, next, end);
		op_remove(end);
		tiles->ix[2 * i] = ix_add(c, tiles->ix[2 * i], ix_mul(c, w, first));
		tiles->ix[2 * i + 1] = ix_add(c, ix_sym(c, mine->sym[0]), other);
	}
}

/* What all are told in each turn. */
static Op *told_to_all(const Op *tiles)
{
	Op *op = tiles->body->first;
	while (op && !(op_rows[op->kind].flags & OPF_EACH))
		op = op->next;
	return op;
}

static bool is_told_to_all(const Op *tiles, const char *ring)
{
	const Op *told = told_to_all(tiles);
	return told && operand_on_ring(&IN(told, FROM), ring);
}

/* Each warpgroup is told in the other's turns, too: when its own begins, of the turn before. */
static void hear_of_both(Kernel *k, Op *tiles, Turn t)
{
	Ctx *c = k->ctx;
	const Op *told = told_to_all(tiles);
	if (!told)
		return;
	Op *some = op_before(k, tiles->body->first, OP_IF);
	Op *op = op_append(k, op_body(k, some), told->kind, told->loc);
	const Ix *one = ix_int(k, 1), *before = ix_sub(c, t.tile, one);
	op_ix(k, some, ix_new(c, IX_LE, one, t.tile));
	op_in(k, op, IN(told, FROM).val, ix_subst(c, IN(told, FROM).at, t.tile->name, before));
	for (int i = 0; i < told->nix; i++)
		op_ix(k, op, ix_subst(c, told->ix[i], t.tile->name, before));
}

/* The consumers' warpgroups take tiles by turns, t = 2 j + w. */
void take_turns(Kernel *k, Op *tiles)
{
	Ctx *c = k->ctx;
	const char *t = tiles->sym[0], *j = kernel_fresh(k, "j");
	Op *let = op_new(k, OP_LET, tiles->loc);
	const Ix *two = ix_int(k, TURNS);
	Turn turn = {ix_mod(c, ix_warpgroup(k), two), ix_sym(c, t), IX(tiles, TO)};
	int named = NAMED_TURN;
	for (Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING)) {
		if (ring_is_own(k, ring->sym[0]) || is_told_to_all(tiles, ring->sym[0]) ||
		    keeps_slots(k, tiles, ring->sym[0]))
			continue;
		if (named + TURNS - 1 > NAMED_LAST) {
			diag(k->ctx, ring->loc, D_E0407,
			     "pingpong reads more tensors than there are named barriers to order");
			return;
		}
		order_reads(k, tiles, ring->sym[0], named, turn);
		named = next_named(named);
	}
	count_both(k, tiles, turn.w);
	hear_of_both(k, tiles, turn);
	own_positions(k, tiles, t, ix_sym(c, j));
	tiles->sym[0] = j;
	IX(tiles, TO) = ix_ceil_div(c, ix_sub(c, turn.n, turn.w), two);
	op_sym(k, let, t);
	op_ix(k, let, ix_add(c, ix_mul(c, ix_sym(c, j), two), turn.w));
	op_insert_before(tiles->body->first, let);
}
