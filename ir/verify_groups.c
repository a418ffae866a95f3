/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify_groups.c - the rules of groups of rows, whose ends the device reads.
 *     groups.at first, last, rows %ends (G, M, g)     of `arg %ends : global s32 (G):(1)`: right */
#include "ir/verify_rules.h"

/* An end for each group. */
const char *rule_ends(const Kernel *k, const Op *op)
{
	const Type *ends = IN(op, ENDS).val->type;
	(void)k;
	if (ends->elem != EL_I32 || IN(op, ENDS).val->arg < 0 || layout_rank(ends->layout) != 1)
		return "the ends of groups are an s32 tensor of one mode";
	return NULL;
}

const char *rule_groups(const Kernel *k, const Op *op)
{
	const char *why = rule_ends(k, op);
	if (!why && attrs_int(&op->attrs, A_ROWS, 0) < 1)
		why = "a tile has at least one row";
	return why;
}

const char *rule_grid(const Kernel *k, const Op *op)
{
	if (!op->nin)
		return rule_some(k, op);
	if (op->nsym < 3)
		return "a grid over groups has names for the group, its first row and the one "
		       "after its last";
	return rule_groups(k, op);
}
