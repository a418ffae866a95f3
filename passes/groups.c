/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* groups.c - whether groups may stay in flight from iteration to iteration: a group's registers,
 * its accumulators and what it reads as A, are its own until it is done, whatever else the loop
 * wants of them. Groups that add to one accumulator follow each other by themselves.
 *     for k { move %acc, %x ; mma.wgmma %acc, .. }   ->   none: %acc is assigned to */
#include "passes/pass.h"

static bool is_group_op(const Op *op)
{
	return op_done_by(op, DONE_BY_WARPGROUP);
}

/* Whether op must wait until the group has done with its operand i. */
static bool wants(const Op *op, const Op *group, int i)
{
	const Val *v = group->in[i].val;
	int writes = op_effect(group, i) & FX_AW;
	if (op->out == v)
		return true;
	for (int j = 0; j < op->nin; j++)
		if (op->in[j].val == v &&
		    (!is_group_op(op) || writes != (op_effect(op, j) & FX_AW)))
			return true;
	return false;
}

static bool wants_registers(const Op *op, const Op *group)
{
	for (int i = 0; i < group->nin; i++)
		if (group->in[i].val->type->space == SP_REG && op_effect(group, i) &&
		    wants(op, group, i))
			return true;
	return false;
}

bool loop_keeps_groups(const Op *loop)
{
	bool issues = false;
	if (loop->kind != OP_FOR)
		return false;
	for (const Op *op = loop->body->first; op && op_inside(op, loop); op = op_next(op)) {
		if (is_group_op(op) && op_parent(op) != loop)
			return false;
		for (const Op *g = loop->body->first; g; g = g->next)
			if (is_group_op(g) && wants_registers(op, g))
				return false;
		issues |= is_group_op(op);
	}
	return issues;
}
