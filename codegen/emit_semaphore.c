/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_semaphore.c - semaphores between CTAs of the grid, 64 bits each: the number of the launch
 * that counts in the upper ones, below it how many have arrived. What an earlier launch has left,
 * one that failed, is less than this launch's number, and counts as nothing. When all have arrived,
 * one takes the arrivals back, so that a graph, whose launches have one number, finds what it began
 * with; who looks then finds all of them or none, and neither before. Nothing waits for the results
 * of two red, as it would for those of one atom.
 *     sem.arrive %W (2) count=4
 * ->  red.max [s + 16], epoch ; red.release.add [s + 16], 1
 *     sem.wait %W (2, part) count=4
 * ->  do n = ld.acquire [s + 16] % 65536 while (n != 4 and n != 0)
 *     if (part == 0) red.add [s + 16], -4 */
#include "codegen/cg.h"

LLVMValueRef cg_semaphore(Cg *g, LLVMValueRef number)
{
	return LLVMBuildGEP2(g->b, g->m->i64, cg_name(g, ctx_str(g->m->ctx, PARAM_SEMAPHORES)),
			     &number, 1, "");
}

static LLVMValueRef semaphore(Cg *g, const Op *op)
{
	return cg_semaphore(g, cg_i64(g, IX(op, WHICH)));
}

void emit_SEM_ARRIVE(Cg *g, const Op *op)
{
	LLVMValueRef args[2] = {semaphore(g, op), cg_name(g, ctx_str(g->m->ctx, PARAM_EPOCH))};
	cg_asm(g, ASM_ACTS, g->m->tvoid, "red.relaxed.gpu.global.max.u64 [$0], $1;",
	       "l,l,~{memory}", args, 2);
	cg_asm(g, ASM_ACTS, g->m->tvoid, "red.release.gpu.global.add.u64 [$0], 1;", "l,~{memory}",
	       args, 1);
}

/* Those of all, by one of those who have waited. */
static void take_back(Cg *g, const Op *op, LLVMValueRef at)
{
	LLVMBasicBlockRef one = cg_new_block(g, "last"), after = cg_new_block(g, "taken");
	LLVMValueRef first =
		cg_cond(g, ix_new(g->m->ctx, IX_EQ, IX(op, WHO), ix_const(g->m->ctx, 0)));
	const char *text = ctx_strf(g->m->ctx, "red.relaxed.gpu.global.add.u64 [$0], -%d;",
				    (int)attrs_int(&op->attrs, A_COUNT, 1));
	LLVMBuildCondBr(g->b, first, one, after);
	LLVMPositionBuilderAtEnd(g->b, one);
	cg_asm(g, ASM_ACTS, g->m->tvoid, text, "l,~{memory}", &at, 1);
	cg_goto(g, after);
}

void emit_SEM_WAIT(Cg *g, const Op *op)
{
	LLVMTypeRef i64 = g->m->i64;
	LLVMBasicBlockRef wait = cg_new_block(g, "wait"), done = cg_new_block(g, "all");
	LLVMValueRef at = semaphore(g, op), none = LLVMConstInt(i64, 0, false);
	LLVMValueRef count = LLVMConstInt(i64, (uint64_t)attrs_int(&op->attrs, A_COUNT, 1), false);
	cg_goto(g, wait);
	LLVMValueRef n = cg_asm(g, ASM_ACTS, i64, "ld.acquire.gpu.global.u64 $0, [$1];",
				"=l,l,~{memory}", &at, 1);
	n = LLVMBuildAnd(g->b, n, LLVMConstInt(i64, KD_EPOCH - 1, false), "");
	LLVMValueRef all = LLVMBuildOr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, n, count, ""),
				       LLVMBuildICmp(g->b, LLVMIntEQ, n, none, ""), "");
	LLVMBuildCondBr(g->b, all, done, wait);
	LLVMPositionBuilderAtEnd(g->b, done);
	take_back(g, op, at);
}
