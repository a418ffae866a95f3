/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify_rests.c - the rules of copies that the kernel finishes: the launcher is told how many rows
 * it makes before, and the record of a copy has one stride (runtime/kdesc.h).
 *     rest.copy %A.map (2048)     box=(64,128) of `bf16 (M,K):(lda,1)`: right
 *     rest.copy %A.map (m * 128)  refused */
#include "ir/verify_rules.h"

const char *rule_rest(const Kernel *k, const Op *op)
{
	const Op *map = op->in[0].val->def;
	const Attr *box = map ? attrs_get(&map->attrs, A_BOX) : NULL;
	int64_t ahead;
	(void)k;
	if (!box || box->n != 2 || map->nsym || attrs_get(&map->attrs, A_RAGGED))
		return "a kernel copies rows of tensors of two modes, whose maps it always has";
	if (op->kind == OP_REST_COPY &&
	    (!ix_is_const(op->ix[0], &ahead) || ahead < 1 || ahead > INT32_MAX))
		return "the rows that are copied before the launch are a number from 1 to 2^31 - 1";
	return NULL;
}
