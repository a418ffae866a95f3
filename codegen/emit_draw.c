/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_draw.c - which tile is drawn. Of those below `listed` each CTA has a list, of the tiles that
 * it would have at fixed distances, so that CTAs that run beside each other have tiles that lie
 * beside each other; the rest is dealt out by one counter; and when that is at its end, who has
 * none takes of another's list, the first that is not empty from its own on.
 *     list l of L: tiles first + l + i * L, i = 0, 1, ..
 *     i = atom.add [list own], 1 ; tile = first + own + i * L
 *     if (tile >= listed) i = atom.add [pool], 1 ; tile = listed + i
 *     while (tile >= tiles and not all are dealt)
 *       4 lists at a time: the first that has some; i = atom.add [list v], 1 ; tile = ..
 * Counters are semaphores, with the number of the launch above 32 bits: what a launch that failed
 * has left is less, and counts as nothing. A CTA draws until it has found none as often as it began
 * with tiles: who is the last to do so sets all back to 0, as a graph found them. */
#include "codegen/cg.h"

#include <stdio.h>

enum { AT_ONCE = 4 /* a producer has few registers */ };

typedef struct {
	Cg *g;
	LLVMValueRef epoch;      /* in the upper half */
	LLVMValueRef lists, own; /* how many there are; this CTA's */
	LLVMValueRef first, listed,
		tiles;     /* where lists begin, and end; how many tiles there are */
	LLVMValueRef tile; /* storage: the result */
} Draw;

LLVMValueRef cg_storage(Cg *g)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
	LLVMPositionBuilderAtEnd(g->b, g->entry);
	LLVMValueRef at = LLVMBuildAlloca(g->b, g->m->i32, "");
	LLVMPositionBuilderAtEnd(g->b, here);
	return at;
}

/* ------------------------------------------------------------------ numbers */
static LLVMValueRef add(Draw *d, LLVMValueRef a, LLVMValueRef b)
{
	return LLVMBuildAdd(d->g->b, a, b, "");
}

static LLVMValueRef below(Draw *d, LLVMValueRef a, LLVMValueRef b)
{
	return LLVMBuildICmp(d->g->b, LLVMIntSLT, a, b, "");
}

static LLVMValueRef least(Draw *d, LLVMValueRef a, LLVMValueRef b)
{
	return LLVMBuildSelect(d->g->b, below(d, a, b), a, b, "");
}

/* Tile i of a list. */
static LLVMValueRef tile_of(Draw *d, LLVMValueRef list, LLVMValueRef i)
{
	LLVMValueRef behind = LLVMBuildMul(d->g->b, i, d->lists, "");
	return add(d, add(d, d->first, list), behind);
}

/* ------------------------------------------------------------------ counters */
static LLVMValueRef counter(Draw *d, int number)
{
	return cg_semaphore(d->g, LLVMConstInt(d->g->m->i64, (unsigned)number, false));
}

static LLVMValueRef counter_of(Draw *d, LLVMValueRef list)
{
	LLVMValueRef number = add(d, list, cg_int32(d->g, KD_LISTS));
	return cg_semaphore(d->g, LLVMBuildZExt(d->g->b, number, d->g->m->i64, ""));
}

static void memory(Draw *d, const char *text, LLVMValueRef at, LLVMValueRef by)
{
	LLVMValueRef args[2] = {at, by};
	cg_asm(d->g, ASM_ACTS, d->g->m->tvoid, text, "l,l,~{memory}", args, 2);
}

static void raise_to_launch(Draw *d, LLVMValueRef at)
{
	memory(d, "red.relaxed.gpu.global.max.u64 [$0], $1;", at, d->epoch);
}

/* What it was in this launch. */
static LLVMValueRef count_one(Draw *d, LLVMValueRef at, const char *text)
{
	raise_to_launch(d, at);
	LLVMValueRef n = cg_asm(d->g, ASM_ACTS, d->g->m->i64, text, "=l,l,~{memory}", &at, 1);
	return LLVMBuildTrunc(d->g->b, n, d->g->m->i32, "");
}

/* Of the i-th after the counter; the place in the text takes no register. */
static LLVMValueRef look(Draw *d, LLVMValueRef at, int i)
{
	char text[64];
	snprintf(text, sizeof text, "ld.relaxed.gpu.global.u64 $0, [$1+%d];", 8 * i);
	return cg_asm(d->g, ASM_ACTS, d->g->m->i64, text, "=l,l,~{memory}", &at, 1);
}

/* Of what a look found; 0: it was another launch. */
static LLVMValueRef count_of(Draw *d, LLVMValueRef seen)
{
	LLVMBuilderRef b = d->g->b;
	LLVMValueRef here = LLVMBuildICmp(b, LLVMIntUGE, seen, d->epoch, "");
	LLVMValueRef n = LLVMBuildTrunc(b, seen, d->g->m->i32, "");
	return LLVMBuildSelect(b, here, n, cg_int32(d->g, 0), "");
}

/* ------------------------------------------------------------------ other lists */
/* The first of a block of lists that has some; else lists. */
static LLVMValueRef first_of(Draw *d, LLVMValueRef block)
{
	LLVMValueRef seen[AT_ONCE], found = d->lists;
	LLVMValueRef base = LLVMBuildMul(d->g->b, block, cg_int32(d->g, AT_ONCE), "");
	LLVMValueRef at = counter_of(d, base);
	for (int i = 0; i < AT_ONCE; i++)
		seen[i] = look(d, at, i);
	for (int i = AT_ONCE - 1; i >= 0; i--) {
		LLVMValueRef list = add(d, base, cg_int32(d->g, i));
		LLVMValueRef tile = tile_of(d, list, count_of(d, seen[i]));
		LLVMValueRef some = LLVMBuildAnd(d->g->b, below(d, tile, d->listed),
						 below(d, list, d->lists), "");
		found = LLVMBuildSelect(d->g->b, some, list, found, "");
	}
	return found;
}

static LLVMValueRef drawn(Draw *d, LLVMValueRef counter)
{
	return count_one(d, counter, "atom.relaxed.gpu.global.add.u64 $0, [$1], 1;");
}

/* After the list's end there is none. */
static LLVMValueRef take_of(Draw *d, LLVMValueRef list)
{
	LLVMValueRef tile = tile_of(d, list, drawn(d, counter_of(d, list)));
	LLVMValueRef some = below(d, tile, d->listed);
	LLVMBuildStore(d->g->b, LLVMBuildSelect(d->g->b, some, tile, d->tiles, ""), d->tile);
	return tile;
}

static LLVMValueRef got(Draw *d)
{
	return below(d, cg_stored(d->g, d->tile), d->tiles);
}

static LLVMValueRef blocks_of(Draw *d)
{
	LLVMValueRef more = add(d, d->lists, cg_int32(d->g, AT_ONCE - 1));
	return LLVMBuildUDiv(d->g->b, more, cg_int32(d->g, AT_ONCE), "");
}

/* By blocks, this CTA's first, until one is taken or all are dealt: each is looked at until it is
 * empty. */
static void take_of_others(Draw *d)
{
	Cg *g = d->g;
	LLVMBasicBlockRef looks = cg_new_block(g, "looks"), some = cg_new_block(g, "some"),
			  none = cg_new_block(g, "none"), on = cg_new_block(g, "on"),
			  end = cg_new_block(g, "taken");
	LLVMValueRef at = cg_storage(g), left = cg_storage(g), blocks = blocks_of(d);
	LLVMBuildStore(g->b, LLVMBuildUDiv(g->b, d->own, cg_int32(g, AT_ONCE), ""), at);
	LLVMBuildStore(g->b, blocks, left);
	cg_branch(g, below(d, d->first, d->listed), looks, end, looks);
	LLVMValueRef block = cg_stored(d->g, at), list = first_of(d, block);
	cg_branch(g, below(d, list, d->lists), some, none, some);
	take_of(d, list);
	cg_branch(g, got(d), end, on, none);
	LLVMValueRef next = add(d, block, cg_int32(g, 1));
	next = LLVMBuildSelect(g->b, below(d, next, blocks), next, cg_int32(g, 0), "");
	LLVMBuildStore(g->b, next, at);
	LLVMBuildStore(g->b, add(d, cg_stored(d->g, left), cg_int32(g, -1)), left);
	LLVMBuildBr(g->b, on);
	LLVMPositionBuilderAtEnd(g->b, on);
	LLVMValueRef dealt = count_of(d, look(d, counter(d, KD_DEALT), 0));
	LLVMValueRef more = below(d, cg_int32(g, 0), cg_stored(d->g, left));
	LLVMValueRef all = LLVMBuildSub(g->b, d->tiles, d->first, "");
	more = LLVMBuildAnd(g->b, more, below(d, dealt, all), "");
	cg_branch(g, more, looks, end, end);
}

/* ------------------------------------------------------------------ the CTA's own, and the rest */
/* Unless it has found its list empty. */
static void take_of_own(Draw *d)
{
	Cg *g = d->g;
	LLVMBasicBlockRef own = cg_new_block(g, "own"), end = cg_new_block(g, "of_own");
	LLVMBuildStore(g->b, d->tiles, d->tile);
	LLVMValueRef begins = below(d, add(d, d->first, d->own), d->listed);
	LLVMValueRef more = below(d, cg_stored(d->g, g->ticket_own), d->listed);
	cg_branch(g, LLVMBuildAnd(g->b, begins, more, ""), own, end, own);
	LLVMBuildStore(g->b, take_of(d, d->own), g->ticket_own);
	cg_goto(g, end);
}

static void take_of_pool(Draw *d)
{
	LLVMValueRef i = drawn(d, counter(d, KD_POOL));
	LLVMBuildStore(d->g->b, least(d, add(d, d->listed, i), d->tiles), d->tile);
}

/* ------------------------------------------------------------------ the end */
static void set_back(Draw *d)
{
	Cg *g = d->g;
	LLVMBasicBlockRef lists = cg_new_block(g, "back"), end = cg_new_block(g, "all_back");
	LLVMValueRef at = cg_storage(g), zero = LLVMConstInt(g->m->i64, 0, false);
	static const char text[] = "st.relaxed.gpu.global.u64 [$0], $1;";
	for (int i = KD_POOL; i <= KD_ENDED; i++)
		memory(d, text, counter(d, i), zero);
	LLVMBuildStore(g->b, cg_int32(g, 0), at);
	cg_goto(g, lists);
	LLVMValueRef i = cg_stored(d->g, at);
	memory(d, text, counter_of(d, i), zero);
	i = add(d, i, cg_int32(g, 1));
	LLVMBuildStore(g->b, i, at);
	cg_branch(g, below(d, i, d->lists), lists, end, end);
}

/* It has found none: of all that do, the last, after all that they have counted. */
static void end_of_draws(Draw *d)
{
	Cg *g = d->g;
	LLVMBasicBlockRef last = cg_new_block(g, "last"), end = cg_new_block(g, "drawn");
	LLVMValueRef before =
		count_one(d, counter(d, KD_ENDED), "atom.acq_rel.gpu.global.add.u64 $0, [$1], 1;");
	LLVMValueRef n = add(d, before, cg_int32(g, 1));
	LLVMValueRef all = least(d, d->first, d->tiles);
	cg_branch(g, LLVMBuildICmp(g->b, LLVMIntEQ, n, all, ""), last, end, last);
	set_back(d);
	cg_goto(g, end);
}

static void count_dealt(Draw *d)
{
	LLVMValueRef at = counter(d, KD_DEALT);
	raise_to_launch(d, at);
	memory(d, "red.relaxed.gpu.global.add.u64 [$0], $1;", at,
	       LLVMConstInt(d->g->m->i64, 1, false));
}

static Draw draw_of(Cg *g, const Ix *first, const Ix *tiles, const Ix *listed)
{
	Draw d = {.g = g, .first = cg_i32(g, first), .tiles = cg_i32(g, tiles)};
	LLVMValueRef bits = LLVMConstInt(g->m->i64, KD_TICKET_BITS - KD_EPOCH_BITS, false);
	LLVMValueRef epoch = cg_name(g, ctx_str(g->m->ctx, PARAM_EPOCH));
	d.epoch = LLVMBuildShl(g->b, epoch, bits, "");
	d.listed = cg_i32(g, listed);
	d.lists = least(&d, g->ticket_step, cg_int32(g, KD_LISTS_MOST));
	d.own = LLVMBuildURem(g->b, g->ticket_first, d.lists, "");
	d.tile = cg_storage(g);
	return d;
}

/* Where there is one, goes on there. */
static void unless_got(Draw *d, LLVMBasicBlockRef there)
{
	LLVMBasicBlockRef next = cg_new_block(d->g, "next");
	cg_branch(d->g, got(d), there, next, next);
}

LLVMValueRef cg_ticket(Cg *g, const Ix *first, const Ix *tiles, const Ix *listed)
{
	Draw d = draw_of(g, first, tiles, listed);
	LLVMBasicBlockRef some = cg_new_block(g, "some"), end = cg_new_block(g, "ticket");
	take_of_own(&d);
	unless_got(&d, some);
	take_of_pool(&d);
	unless_got(&d, some);
	take_of_others(&d);
	unless_got(&d, some);
	end_of_draws(&d);
	cg_leave(g, end, some);
	count_dealt(&d);
	cg_goto(g, end);
	return cg_stored(g, d.tile);
}
