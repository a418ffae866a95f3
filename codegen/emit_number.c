/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_number.c - an integer of a tensor, which index expressions then use by its name. Each thread
 * reads it for itself: all of a warp read one address.
 *     number n %len (b, b < B)   ->   n = b < B ? load i32, %len + b : 0 */
#include "codegen/cg.h"

static LLVMValueRef load_number(Cg *g, const Op *op)
{
	LLVMValueRef at = cg_global_ptr(g, IN(op, FROM).val, IX(op, WHICH));
	LLVMValueRef v = LLVMBuildLoad2(g->b, g->m->i32, at, "");
	LLVMSetAlignment(v, 4);
	cg_check_number(g, op, v);
	return v;
}

/* Where the conditions hold; what is computed there is not known after it. */
static LLVMValueRef load_if(Cg *g, const Op *op, LLVMValueRef cond)
{
	LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), yes = cg_new_block(g, "inside"),
			  after = cg_new_block(g, "number");
	cg_branch(g, cond, yes, after, yes);
	Mark mark = cg_mark(g);
	LLVMValueRef in[2] = {load_number(g, op), cg_int32(g, 0)};
	cg_release(g, mark);
	LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(g->b), before};
	cg_goto(g, after);
	LLVMValueRef v = LLVMBuildPhi(g->b, g->m->i32, "");
	LLVMAddIncoming(v, in, from, 2);
	return v;
}

void emit_NUMBER(Cg *g, const Op *op)
{
	LLVMValueRef all = NULL;
	for (int i = IX_PLACE(op, COND); i < op->nix; i++) {
		LLVMValueRef one = cg_cond(g, op->ix[i]);
		all = all ? LLVMBuildAnd(g->b, all, one, "") : one;
	}
	LLVMValueRef v = all ? load_if(g, op, all) : load_number(g, op);
	cg_bind_name(g, op->sym[0], (IxFact){.lo = INT32_MIN, .hi = INT32_MAX, .div = 1}, v);
}
