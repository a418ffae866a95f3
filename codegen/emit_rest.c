/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_rest.c - rows of an operand's copy that the launcher left to the kernel: to copy them, and
 * to wait for them, each a text of PTX that finds them in the copy's record (runtime/kdesc.h), or
 * is told that there are none.
 *     rest.copy %A.map (2048)            rest_copy.ptx
 *     rest.wait %A.map (m, m + 128)      rest_wait.ptx */
#include "codegen/cg.h"

extern const char rest_copy_ptx[], rest_wait_ptx[];

static LLVMValueRef record(Cg *g, const Op *op)
{
	return cg_name(g, param_rest(g->m->ctx, op));
}

void emit_REST_COPY(Cg *g, const Op *op)
{
	LLVMValueRef at = record(g, op);
	cg_on_memory(g, g->m->tvoid, rest_copy_ptx, "l,~{memory}", &at, 1);
}

void emit_REST_WAIT(Cg *g, const Op *op)
{
	LLVMValueRef args[] = {record(g, op), cg_i64(g, op->ix[0]), cg_i64(g, op->ix[1])};
	cg_on_memory(g, g->m->tvoid, rest_wait_ptx, "l,l,l,~{memory}", args, COUNTOF(args));
}
