/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_tickets.c - tiles that are dealt out while others are computed. How many turns there are is
 * known when the last ticket is none of a tile; until then, that there are more than so far. Under
 * pingpong, of two turns the tile is known at a time. What is drawn is said by emit_draw.c.
 * In a launch without clusters st.async is an illegal instruction on an H100: there a lane stores
 * and arrives (ticket.draw).
 *     ticket.deal %s[slot], %full[slot] (0, ctas, tiles, listed, 3)
 * ->  next = .. ; st.async [s of rank 0], next, [full of rank 0] ; the same of rank 1
 *     ticket.get %s[slot] (t, tiles)
 * ->  next = ld.shared [s] ; turns = next < tiles ? more : t + 1 */
#include "codegen/cg.h"

enum { MORE = 1 << 30 /* turns than any CTA has */ };

LLVMValueRef cg_stored(Cg *g, LLVMValueRef at)
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
	LLVMValueRef first = cg_i32(g, IX(op, FIRST)), tiles = cg_i32(g, IX(op, TILES));
	LLVMValueRef tile[MOST_TICKETS], turns = cg_int32(g, MORE);
	g->tickets = (int)attrs_int(&op->attrs, A_TURNS, 1);
	g->turns_at = cg_storage(g);
	g->turns = op->sym[0];
	g->ticket_first = first;
	g->ticket_step = cg_i32(g, IX(op, STEP));
	g->ticket_own = cg_storage(g);
	LLVMBuildStore(g->b, cg_int32(g, 0), g->ticket_own);
	cg_bind_name(g, op->sym[0], fact, g->turns_at);
	for (int i = 0; i < g->tickets; i++) {
		tile[i] = i ? LLVMBuildAdd(g->b, tile[i - 1], g->ticket_step, "") : first;
		g->ticket_at[i] = cg_storage(g);
		LLVMBuildStore(g->b, tile[i], g->ticket_at[i]);
	}
	for (int i = g->tickets - 1; i >= 0; i--)
		turns = turns_by(g, tile[i], tiles, cg_int32(g, i), turns);
	LLVMBuildStore(g->b, turns, g->turns_at);
}

void emit_TICKET_AT(Cg *g, const Op *op)
{
	IxFact fact = ticket_fact(op, (IxFacts){.at = g->facts.at, .n = g->facts.n});
	cg_bind_name(g, op->sym[0], fact, cg_stored(g, g->ticket_at[0]));
}

/* The tile of the last turn that is known; before it are those of the others. */
void emit_TICKET_GET(Cg *g, const Op *op)
{
	LLVMValueRef tile = cg_stored(g, cg_smem_ptr(g, IN(op, FROM), NULL));
	LLVMValueRef turns =
		LLVMBuildAdd(g->b, cg_i32(g, IX(op, TURN)), cg_int32(g, g->tickets), "");
	for (int i = 1; i < g->tickets; i++) {
		LLVMBuildStore(g->b, cg_stored(g, g->ticket_at[i]), g->ticket_at[i - 1]);
		LLVMValueRef known = cg_stored(g, g->turns_at);
		LLVMValueRef less = LLVMBuildICmp(g->b, LLVMIntSLT, known, turns, "");
		turns = LLVMBuildSelect(g->b, less, known, turns, "");
	}
	LLVMBuildStore(g->b, tile, g->ticket_at[g->tickets - 1]);
	turns = turns_by(g, tile, cg_i32(g, IX(op, TILES)), turns, cg_int32(g, MORE));
	LLVMBuildStore(g->b, turns, g->turns_at);
}

void emit_TICKET_DRAW(Cg *g, const Op *op)
{
	LLVMBuildStore(g->b, cg_ticket(g, IX(op, FIRST), IX(op, TILES), IX(op, LISTED)),
		       cg_smem_ptr(g, IN(op, TO), NULL));
}

/* As a load lands, and is told of, in each CTA. */
void emit_TICKET_DEAL(Cg *g, const Op *op)
{
	static const char text[] =
		"st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0], $1, [$2];";
	int64_t mask;
	LLVMValueRef n = cg_ticket(g, IX(op, FIRST), IX(op, TILES), IX(op, LISTED));
	if (!ix_is_const(IX(op, MASK), &mask))
		panic("a ticket for CTAs that are not known");
	for (int rank = 0; mask >> rank; rank++) {
		const Ix *to = ix_const(g->m->ctx, rank);
		if (!(mask >> rank & 1))
			continue;
		LLVMValueRef args[3] = {cg_smem_ptr_of(g, IN(op, TO), to, IX(op, BYTE)), n,
					cg_smem_ptr_of(g, IN(op, BARRIER), to, NULL)};
		cg_asm(g, ASM_ACTS, g->m->tvoid, text, "l,r,l,~{memory}", args, 3);
	}
}
