/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* wgmma_inflight.c - whether groups may stay in flight from iteration to iteration: a group's
 * registers, its accumulators and what it reads as A, are its own until it is done, whatever else
 * the loop wants of them. Groups that add to one accumulator follow each other by themselves. Nor
 * do they where threads read the same ring, or write it: a slot is given back when both have read
 * it, and written when the groups have.
 *     for k { move %acc, %x ; mma.wgmma %acc, .. }   ->   none: %acc is assigned to */
#include "base/ptrmap.h"
#include "passes/pass.h"

static bool is_group_op(const Op *op)
{
	return op_done_by(op, DONE_BY_WARPGROUP);
}

enum { READ = 1, ADDED_TO = 2 };

static int use_of(const Op *group, int i)
{
	return op_effect(group, i) & FX_AW ? ADDED_TO : READ;
}

/* What the groups of the loop's own body do with registers. */
static bool find_uses(const Op *loop, PtrMap *uses)
{
	bool issues = false;
	for (const Op *g = loop->body->first; g; g = g->next) {
		issues |= is_group_op(g);
		for (int i = 0; i < g->nin && is_group_op(g); i++) {
			const Val *v = g->in[i].val;
			intptr_t use = (intptr_t)ptrmap_get(uses, v) | use_of(g, i);
			if (v->type->space == SP_REG && op_effect(g, i))
				ptrmap_set(uses, v, (void *)use);
		}
	}
	return issues;
}

/* Whether op must wait until some group has done with its registers. */
static bool wants_registers(const Op *op, const PtrMap *uses)
{
	if (op->out && ptrmap_get(uses, op->out))
		return true;
	for (int i = 0; i < op->nin; i++) {
		intptr_t use = (intptr_t)ptrmap_get(uses, op->in[i].val);
		if (use && (!is_group_op(op) || use != use_of(op, i)))
			return true;
	}
	return false;
}

/* Whether the groups of the loop's own body read slots of the ring. */
static bool groups_read(const Op *loop, const char *ring)
{
	for (const Op *g = loop->body->first; g; g = g->next)
		if (is_group_op(g) && op_touches(g, ring, FX_AR))
			return true;
	return false;
}

/* Whether op reads slots of a ring that groups read, too: these are given back once for both. Or
 * threads write them: the groups before have then read them. */
static bool shares_ring(const Op *op, const Op *loop)
{
	for (int i = 0; i < op->nin && !is_group_op(op); i++) {
		const Op *def = op->in[i].val->def;
		const char *ring = def ? attrs_str(&def->attrs, A_RING, NULL) : NULL;
		int own = op_fills(op, ring) ? FX_R : FX_R | FX_W;
		if (ring && (op_effect(op, i) & own) && groups_read(loop, ring))
			return true;
	}
	return false;
}

static bool keeps(const Op *loop, PtrMap *uses)
{
	if (!find_uses(loop, uses))
		return false;
	for (const Op *op = loop->body->first; op && op_inside(op, loop); op = op_next(op))
		if ((is_group_op(op) && op_parent(op) != loop) || wants_registers(op, uses) ||
		    shares_ring(op, loop))
			return false;
	return true;
}

bool loop_keeps_groups(const Op *loop)
{
	bool repeats = loop->kind == OP_FOR && !attrs_int(&loop->attrs, A_ONCE, 0);
	PtrMap uses = {.arena = repeats ? arena_new() : NULL};
	bool kept = uses.arena && keeps(loop, &uses);
	arena_free(uses.arena);
	return kept;
}
