/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* wgmma_groups.c - wgmma: a run of instructions that read the same slots is a group, committed and
 * waited for. In a loop whose own instructions alone need the results, `inflight` groups stay under
 * way from iteration to iteration, and after it all end; wgmma_waits.c has the waits of all others.
 *     for k { mma.wgmma %acc, %sA[k], %sB[k] }
 * ->  for k { wgmma.fence; mma.wgmma ...; wgmma.commit; wgmma.wait n=1 }  wgmma.wait n=0 */
#include "passes/sync/sync.h"

static bool is_group_op(const Op *op)
{
	return op && op_done_by(op, DONE_BY_WARPGROUP);
}

static bool reads_slot(const Op *op, const Operand *of)
{
	const char *ring = attrs_str(&of->val->def->attrs, A_RING, "");
	for (int i = 0; i < op->nin; i++)
		if (op->in[i].at == of->at && operand_on_ring(&op->in[i], ring))
			return true;
	return false;
}

/* Whether op reads no slot that the first of the run does not; where each sum is waited for by
 * itself, it adds to the same one. */
static bool joins(const Op *first, const Op *op, bool keeps)
{
	if (!keeps && IN(op, TO).val != IN(first, TO).val)
		return false;
	for (int i = 0; i < op->nin; i++)
		if (op->in[i].val->type->kind == TY_TILE &&
		    op->in[i].val->type->space == SP_SHARED && !reads_slot(first, &op->in[i]))
			return false;
	return true;
}

Op *sync_groups_wait(Kernel *k, const DoneRow *done, Loc loc, int groups)
{
	Op *op = op_new(k, done->wait, loc);
	op_int(k, op, A_N, groups);
	return op;
}

/* What gives another warpgroup its turn need not wait for this one's groups. */
static bool is_signal(const Op *op)
{
	return op && op->kind == OP_IF && op->body->first && op->body->first->kind == OP_BAR_ARRIVE;
}

static GroupLoop *loop_of(Kernel *k, Groups *all, Op *loop, const DoneRow *done)
{
	for (int i = 0; i < all->loops.n; i++)
		if (all->loops.at[i].loop == loop)
			return &all->loops.at[i];
	vec_push(ctx_arena(k->ctx), &all->loops, ((GroupLoop){.loop = loop, .done = done}));
	return &all->loops.at[all->loops.n - 1];
}

void sync_drain(Kernel *k, Groups *all, Op *loop, const DoneRow *done)
{
	Op *last = loop;
	while (is_signal(last->next))
		last = last->next;
	GroupLoop *l = loop_of(k, all, loop, done);
	l->drain = sync_groups_wait(k, done, loop->loc, 0);
	op_insert_after(last, l->drain);
}

static void add_group(Kernel *k, Groups *all, Op *first)
{
	Op *up = op_parent(first);
	const Group *before = all->at.n ? &all->at.at[all->at.n - 1] : NULL;
	bool keeps = before && op_parent(before->first) == up ? before->loop != NULL
							      : up && loop_keeps_groups(up);
	Group g = {.first = first, .last = first, .loop = keeps ? up : NULL};
	g.done = op_done(first);
	while (is_group_op(g.last->next) && joins(first, g.last->next, keeps))
		g.last = g.last->next;
	if (g.loop)
		g.index = loop_of(k, all, g.loop, g.done)->groups++;
	vec_push(ctx_arena(k->ctx), &all->at, g);
	for (const Op *op = first; op != g.last->next; op = op->next)
		ptrmap_set(&all->of, op, (void *)(intptr_t)all->at.n);
}

static void put_group(Kernel *k, Groups *all, Group *g)
{
	g->fence = op_before(k, g->first, g->done->fence);
	Op *commit = op_after(k, g->last, g->done->commit);
	if (!g->loop)
		return;
	g->wait = sync_groups_wait(k, g->done, g->last->loc, all->inflight);
	op_insert_after(commit, g->wait);
	vec_push(ctx_arena(k->ctx), &loop_of(k, all, g->loop, g->done)->waits, g->wait);
}

/* Where a loop keeps groups in flight, each ends at the wait of a later one. */
static void find_end(const Groups *all, Group *g)
{
	const GroupLoop *l = g->loop ? group_loop(all, g->loop) : NULL;
	if (!l)
		return;
	g->later = (g->index + all->inflight) / l->waits.n;
	g->wait = l->waits.at[(g->index + all->inflight) % l->waits.n];
}

Groups sync_groups(Kernel *k)
{
	Groups all = {.inflight = (int)attrs_int(&k->attrs, A_INFLIGHT, 0),
		      .of.arena = ctx_arena(k->ctx)};
	for (Op *op = kernel_first(k); op; op = op_next(op))
		if (is_group_op(op) && !group_of(&all, op))
			add_group(k, &all, op);
	for (int i = 0; i < all.at.n; i++)
		put_group(k, &all, &all.at.at[i]);
	for (int i = 0; i < all.at.n; i++)
		find_end(&all, &all.at.at[i]);
	for (int i = 0; i < all.loops.n && all.inflight; i++)
		sync_drain(k, &all, all.loops.at[i].loop, all.loops.at[i].done);
	sync_group_waits(k, &all);
	return all;
}

const Group *group_of(const Groups *all, const Op *op)
{
	intptr_t at = (intptr_t)ptrmap_get(&all->of, op);
	return at ? &all->at.at[at - 1] : NULL;
}

const GroupLoop *group_loop(const Groups *all, const Op *loop)
{
	for (int i = 0; i < all->loops.n; i++)
		if (all->loops.at[i].loop == loop)
			return &all->loops.at[i];
	return NULL;
}

bool loop_is_kept(const Groups *all, const Op *loop)
{
	const GroupLoop *l = group_loop(all, loop);
	return l && l->groups;
}
