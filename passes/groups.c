/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* groups.c - how many groups may stay in flight from iteration to iteration: a group's registers,
 * its accumulators and what it reads as A, are its own until it is done, whatever else the loop
 * wants of them.
 *     for k { move %acc, %x ; mma.wgmma %acc, .. }   ->   none: %acc is assigned to */
#include "passes/sync.h"

/* Whether op uses registers that one of the group uses, as its accumulator or A. */
static bool shares_registers(const Op *op, const Op *first, const Op *last)
{
	for (const Op *of = first; of != last->next; of = of->next)
		for (int i = 0; i < of->nin; i++) {
			const Val *v = of->in[i].val;
			if (v->type->space != SP_REG || !op_effect(of, i))
				continue;
			if (op->out == v)
				return true;
			for (int j = 0; j < op->nin; j++)
				if (op->in[j].val == v)
					return true;
		}
	return false;
}

int group_inflight(const Op *loop, const Op *first, const Op *last, int inflight)
{
	for (const Op *op = loop->body->first; op && op_inside(op, loop); op = op_next(op)) {
		if (op == first)
			op = last;
		else if (shares_registers(op, first, last))
			return 0;
	}
	return inflight;
}
