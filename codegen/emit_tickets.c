/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_tickets.c - tiles that are dealt out while others are computed. The counter is one of the
 * launch's semaphores, with the number of the launch above 32 bits of tickets: what a launch that
 * failed has left is less, and counts as nothing; who draws the last ticket takes all back, so that
 * a graph finds what it began with. How many turns there are is known when the last ticket is none
 * of a tile; until then, that there are more than so far.
 *     ticket.draw %s[slot] (ctas, tiles)
 * ->  red.max [c], launch ; n = atom.add [c], 1 ; if (n + 1 == tiles) red.add [c], -tiles
 *     st.shared [s], ctas + n
 *     ticket.get %s[slot] (t, tiles)
 * ->  next = ld.shared [s] ; turns = next < tiles ? more : t + 1 */
#include "codegen/cg.h"

enum { MORE = 1 << 30 /* turns than any CTA has */ };

static LLVMValueRef storage(Cg *g)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
	LLVMPositionBuilderAtEnd(g->b, g->entry);
	LLVMValueRef at = LLVMBuildAlloca(g->b, g->m->i32, "");
	LLVMPositionBuilderAtEnd(g->b, here);
	return at;
}

/* The tile that is next, and what is known of turns by it. */
static void next_is(Cg *g, LLVMValueRef tile, LLVMValueRef tiles, LLVMValueRef turns)
{
	LLVMValueRef some = LLVMBuildICmp(g->b, LLVMIntSLT, tile, tiles, "");
	LLVMValueRef all = LLVMBuildSelect(g->b, some, cg_int32(g, MORE), turns, "");
	LLVMBuildStore(g->b, tile, g->ticket_at);
	LLVMBuildStore(g->b, all, g->turns_at);
}

void emit_TICKETS(Cg *g, const Op *op)
{
	IxFact fact = ticket_fact(op, (IxFacts){.at = g->facts.at, .n = g->facts.n});
	LLVMValueRef first = cg_i32(g, op->ix[0]), tiles = cg_i32(g, op->ix[1]);
	g->turns_at = storage(g);
	g->ticket_at = storage(g);
	g->turns = op->sym[0];
	cg_bind_name(g, op->sym[0], fact, g->turns_at);
	next_is(g, first, tiles, cg_int32(g, 0));
}

void emit_TICKET_AT(Cg *g, const Op *op)
{
	IxFact fact = ticket_fact(op, (IxFacts){.at = g->facts.at, .n = g->facts.n});
	cg_bind_name(g, op->sym[0], fact, LLVMBuildLoad2(g->b, g->m->i32, g->ticket_at, ""));
}

void emit_TICKET_GET(Cg *g, const Op *op)
{
	LLVMValueRef at = cg_smem_ptr(g, op->in[0], NULL);
	LLVMValueRef turn = LLVMBuildAdd(g->b, cg_i32(g, op->ix[0]), cg_int32(g, 1), "");
	next_is(g, LLVMBuildLoad2(g->b, g->m->i32, at, ""), cg_i32(g, op->ix[1]), turn);
}

/* ------------------------------------------------------------------ draws */
static LLVMValueRef counter(Cg *g)
{
	return cg_semaphore(g, LLVMConstInt(g->m->i64, KD_TICKETS, false));
}

/* As many are drawn as there are tiles: a CTA draws one while it computes one. */
static void take_back(Cg *g, LLVMValueRef at, LLVMValueRef drawn, LLVMValueRef tiles)
{
	LLVMBasicBlockRef one = cg_new_block(g, "last"), after = cg_new_block(g, "drawn");
	LLVMValueRef all = LLVMBuildAdd(g->b, drawn, cg_int32(g, 1), "");
	LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, all, tiles, ""), one, after);
	LLVMPositionBuilderAtEnd(g->b, one);
	LLVMValueRef less = LLVMBuildNeg(g->b, LLVMBuildZExt(g->b, tiles, g->m->i64, ""), "");
	LLVMValueRef args[2] = {at, less};
	cg_on_memory(g, g->m->tvoid, "red.relaxed.gpu.global.add.u64 [$0], $1;", "l,l,~{memory}",
		     args, 2);
	cg_goto(g, after);
}

static LLVMValueRef draw(Cg *g, LLVMValueRef tiles)
{
	LLVMValueRef bits = LLVMConstInt(g->m->i64, KD_TICKET_BITS - KD_EPOCH_BITS, false);
	LLVMValueRef epoch = cg_name(g, ctx_str(g->m->ctx, PARAM_EPOCH));
	LLVMValueRef args[2] = {counter(g), LLVMBuildShl(g->b, epoch, bits, "")};
	cg_on_memory(g, g->m->tvoid, "red.relaxed.gpu.global.max.u64 [$0], $1;", "l,l,~{memory}",
		     args, 2);
	LLVMValueRef n = cg_on_memory(g, g->m->i64, "atom.relaxed.gpu.global.add.u64 $0, [$1], 1;",
				      "=l,l,~{memory}", args, 1);
	n = LLVMBuildTrunc(g->b, n, g->m->i32, "");
	take_back(g, args[0], n, tiles);
	return n;
}

void emit_TICKET_DRAW(Cg *g, const Op *op)
{
	LLVMValueRef n = draw(g, cg_i32(g, op->ix[1]));
	LLVMValueRef ticket = LLVMBuildAdd(g->b, cg_i32(g, op->ix[0]), n, "");
	LLVMBuildStore(g->b, ticket, cg_smem_ptr(g, op->in[0], NULL));
}
