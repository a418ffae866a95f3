/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_tickets.c - tiles that are dealt out while others are computed. The counter is one of the
 * launch's semaphores, with the number of the launch above 32 bits of tickets: what a launch that
 * failed has left is less, and counts as nothing; who draws the last ticket takes all back, so that
 * a graph finds what it began with. How many turns there are is known when the last ticket is none
 * of a tile; until then, that there are more than so far. Under pingpong, of two turns the tile is
 * known at a time.
 *     ticket.draw %s[slot] (ctas, tiles)
 * ->  red.max [c], launch ; n = atom.add [c], 1 ; if (n + 1 == tiles) red.add [c], -tiles
 *     st.shared [s], ctas + n
 *     ticket.deal %s[slot], %full[slot] (0, ctas, tiles, 3)
 * ->  .. st.async [s of rank 0], ctas + n, [full of rank 0] ; the same of rank 1
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

static LLVMValueRef load(Cg *g, LLVMValueRef at)
{
	return LLVMBuildLoad2(g->b, g->m->i32, at, "");
}

/* Where the tile is one, there are more turns than any CTA has, as far as is known. */
static LLVMValueRef turns_by(Cg *g, LLVMValueRef tile, LLVMValueRef tiles, LLVMValueRef turns,
			     LLVMValueRef more)
{
	LLVMValueRef some = LLVMBuildICmp(g->b, LLVMIntSLT, tile, tiles, "");
	return LLVMBuildSelect(g->b, some, more, turns, "");
}

void emit_TICKETS(Cg *g, const Op *op)
{
	IxFact fact = ticket_fact(op, (IxFacts){.at = g->facts.at, .n = g->facts.n});
	LLVMValueRef first = cg_i32(g, op->ix[0]), tiles = cg_i32(g, op->ix[1]);
	LLVMValueRef tile[MOST_TICKETS], turns = cg_int32(g, MORE);
	g->tickets = (int)attrs_int(&op->attrs, A_TURNS, 1);
	g->turns_at = storage(g);
	g->turns = op->sym[0];
	cg_bind_name(g, op->sym[0], fact, g->turns_at);
	for (int i = 0; i < g->tickets; i++) {
		tile[i] = i ? LLVMBuildAdd(g->b, tile[i - 1], cg_i32(g, op->ix[2]), "") : first;
		g->ticket_at[i] = storage(g);
		LLVMBuildStore(g->b, tile[i], g->ticket_at[i]);
	}
	for (int i = g->tickets - 1; i >= 0; i--)
		turns = turns_by(g, tile[i], tiles, cg_int32(g, i), turns);
	LLVMBuildStore(g->b, turns, g->turns_at);
}

void emit_TICKET_AT(Cg *g, const Op *op)
{
	IxFact fact = ticket_fact(op, (IxFacts){.at = g->facts.at, .n = g->facts.n});
	cg_bind_name(g, op->sym[0], fact, load(g, g->ticket_at[0]));
}

/* The tile of the last turn that is known; before it are those of the others. */
void emit_TICKET_GET(Cg *g, const Op *op)
{
	LLVMValueRef tile = load(g, cg_smem_ptr(g, op->in[0], NULL));
	LLVMValueRef turns = LLVMBuildAdd(g->b, cg_i32(g, op->ix[0]), cg_int32(g, g->tickets), "");
	for (int i = 1; i < g->tickets; i++) {
		LLVMBuildStore(g->b, load(g, g->ticket_at[i]), g->ticket_at[i - 1]);
		LLVMValueRef known = load(g, g->turns_at);
		LLVMValueRef less = LLVMBuildICmp(g->b, LLVMIntSLT, known, turns, "");
		turns = LLVMBuildSelect(g->b, less, known, turns, "");
	}
	LLVMBuildStore(g->b, tile, g->ticket_at[g->tickets - 1]);
	turns = turns_by(g, tile, cg_i32(g, op->ix[1]), turns, cg_int32(g, MORE));
	LLVMBuildStore(g->b, turns, g->turns_at);
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

static LLVMValueRef ticket(Cg *g, const Ix *first, const Ix *tiles)
{
	LLVMValueRef n = draw(g, cg_i32(g, tiles));
	return LLVMBuildAdd(g->b, cg_i32(g, first), n, "");
}

void emit_TICKET_DRAW(Cg *g, const Op *op)
{
	LLVMBuildStore(g->b, ticket(g, op->ix[0], op->ix[1]), cg_smem_ptr(g, op->in[0], NULL));
}

/* As a load lands, and is told of, in each CTA. */
void emit_TICKET_DEAL(Cg *g, const Op *op)
{
	enum { BYTE, FIRST, TILES, MASK };
	static const char text[] =
		"st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0], $1, [$2];";
	int64_t mask;
	LLVMValueRef n = ticket(g, op->ix[FIRST], op->ix[TILES]);
	if (!ix_is_const(op->ix[MASK], &mask))
		panic("a ticket for CTAs that are not known");
	for (int rank = 0; mask >> rank; rank++) {
		const Ix *to = ix_const(g->m->ctx, rank);
		if (!(mask >> rank & 1))
			continue;
		LLVMValueRef args[3] = {cg_smem_ptr_of(g, op->in[0], to, op->ix[BYTE]), n,
					cg_smem_ptr_of(g, op->in[1], to, NULL)};
		cg_on_memory(g, g->m->tvoid, text, "l,r,l,~{memory}", args, 3);
	}
}
