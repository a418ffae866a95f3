/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sync_copies.c - what lanes copy into a slot: a run of copies is a group of each thread, which
 * waits for its own. If readers go through the async proxy, each lane fences for it; the lanes of
 * the warp meet, and one arrives on the slot's barrier. In a loop, as many groups stay under way as
 * leave the readers a slot to go on with; behind it all end.
 *     for k (0, T) { load.async %sB[k] }
 * ->  for k (0, T) {
 *       mbar.wait %empty[k] lap=1; load.async %sB[k]; cp.commit; cp.wait n=2
 *       fence.proxy.async; bar.warp; if (2 <= k) { elect { mbar.arrive %full[k - 2] } }
 *     }
 *     cp.wait n=0; fence.proxy.async; bar.warp
 *     if (2 <= T) { elect { mbar.arrive %full[T - 2] } }  if (1 <= T) { .. %full[T - 1] } */
#include "passes/sync.h"

/* Copies of one position. cond: of the branch in the loop that they stand in, or NULL. */
typedef struct {
	Op *first, *last, *loop;
	const Ix *at, *cond;
	const DoneRow *done;
} Run;
typedef VEC(Run) Runs;

static Runs runs_of(const Sync *s)
{
	Runs all = {0};
	for (Op *op = kernel_first(s->k); op; op = op_next(op)) {
		const Ix *at = sync_copy_at(s, op);
		Run *last = all.n ? &all.at[all.n - 1] : NULL;
		if (!at)
			continue;
		if (last && last->at == at && last->last->block == op->block)
			last->last = op;
		else
			vec_push(ctx_arena(s->k->ctx), &all,
				 ((Run){.first = op, .last = op, .at = at, .done = op_done(op)}));
	}
	return all;
}

/* The loop that the run is all of what fills the ring in, position by position. */
static void find_loop(const Sync *s, const Runs *all, Run *r)
{
	Ctx *c = s->k->ctx;
	Op *up = op_parent(r->first);
	bool branch = up->kind == OP_IF && up->nix == 1 && up->body->last == r->last;
	Op *loop = branch ? op_parent(up) : up;
	if (!loop || loop->kind != OP_FOR)
		return;
	const char *name = loop->sym[0];
	const Ix *next = ix_subst(c, r->at, name, ix_add(c, ix_sym(c, name), ix_const(c, 1)));
	int runs = 0;
	for (int i = 0; i < all->n; i++)
		runs += op_inside(all->at[i].first, loop);
	if (runs > 1 || !ix_is(ix_simplify(c, ix_sub(c, next, r->at), s->facts), 1))
		return;
	r->loop = loop;
	r->cond = branch ? up->ix[0] : NULL;
}

/* ------------------------------------------------------------------ what stands behind copies */
static Op *end_groups(const Sync *s, const Run *r, Op *behind, int left)
{
	Kernel *k = s->k;
	Op *wait = op_after(k, behind, r->done->wait);
	op_int(k, wait, A_N, left);
	return sync_meet(s, wait, FX_AR);
}

static Op *arrive(const Sync *s, Loc loc, const Ix *at)
{
	Op *elect = op_new(s->k, OP_ELECT, loc);
	block_append(op_body(s->k, elect), sync_barrier_op(s->k, OP_MBAR_ARRIVE, loc, s->full, at));
	return elect;
}

/* Tells of what iteration x of the loop copied, where it was one of its own and did; or NULL. */
static Op *tell_of(const Sync *s, const Run *r, const Ix *x, const Ix *is_one)
{
	Kernel *k = s->k;
	const char *name = r->loop->sym[0];
	const Ix *did =
		r->cond ? ix_simplify(k->ctx, ix_subst(k->ctx, r->cond, name, x), s->facts) : NULL;
	if (did && ix_is(did, 0))
		return NULL;
	Op *some = op_new(k, OP_IF, r->first->loc);
	op_ix(k, some, is_one);
	if (did)
		op_ix(k, some, did);
	block_append(op_body(k, some), arrive(s, r->first->loc, ix_subst(k->ctx, r->at, name, x)));
	return some;
}

static void drain(const Sync *s, const Run *r, int late)
{
	Ctx *c = s->k->ctx;
	const Ix *from = r->loop->ix[0], *to = r->loop->ix[1];
	Op *end = NULL;
	for (int back = late; back > 0; back--) {
		const Ix *n = ix_const(c, back), *x = ix_sub(c, to, n);
		Op *told = tell_of(s, r, x, ix_new(c, IX_LE, from, x));
		if (!told)
			continue;
		end = end ? end : end_groups(s, r, r->loop, 0);
		op_insert_after(end, told);
		end = told;
	}
}

static void end_late(const Sync *s, const Run *r, int late)
{
	Kernel *k = s->k;
	Ctx *c = k->ctx;
	Op *behind = r->cond ? op_parent(r->first) : r->last;
	const Ix *n = ix_const(c, late), *x = ix_sub(c, ix_sym(c, r->loop->sym[0]), n);
	Op *end = end_groups(s, r, op_after(k, behind, r->done->commit), late);
	Op *told = tell_of(s, r, x, ix_new(c, IX_LE, r->loop->ix[0], x));
	if (told)
		op_insert_after(end, told);
	drain(s, r, late);
}

static void sync_run(const Sync *s, Run *r, int late)
{
	Kernel *k = s->k;
	if (s->empty && !on_first_lap(s->facts, r->at, s->slots))
		op_insert_before(r->first,
				 sync_wait(k, r->first->loc, s->empty, r->at, LAP_BEFORE));
	if (r->loop && late > 0)
		end_late(s, r, late);
	else
		op_insert_after(end_groups(s, r, op_after(k, r->last, r->done->commit), 0),
				arrive(s, r->first->loc, r->at));
}

void sync_copies(const Sync *s, int inflight)
{
	Runs all = runs_of(s);
	for (int i = 0; i < all.n; i++)
		find_loop(s, &all, &all.at[i]);
	for (int i = 0; i < all.n; i++)
		sync_run(s, &all.at[i], (int)s->slots - 1 - inflight);
}
