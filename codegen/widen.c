/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* widen.c - small elements that were loaded as pairs become f32, both from the word that holds
 * them; exactly, and without the converter, of which an SM has few.
 *     s8:  bytes b1 b0  ->  0x4b0000b0 ^ 0x80, which is 2^23 + 128 + b0, less 2^23 + 128 */
#include "codegen/cg.h"

#include <math.h>

enum { SUM = 23 }; /* 2^SUM: an integer in the low bits of its fraction is added to it */

static LLVMValueRef as_f32(Cg *g, LLVMValueRef x)
{
	return LLVMBuildBitCast(g->b, x, g->m->f32, "");
}

static LLVMValueRef less(Cg *g, LLVMValueRef x, double by)
{
	return LLVMBuildFSub(g->b, as_f32(g, x), LLVMConstReal(g->m->f32, by), "");
}

/* The bits of 2^(SUM - at): an integer at bit `at` of its fraction is added to it. */
static uint32_t sum_at(int at)
{
	return (uint32_t)(127 + SUM - at) << 23;
}

/* (x & mask) ^ flip as one instruction: LLVM has none for it, and ptxas does not join two that have
 * a constant each. */
LLVMValueRef cg_masked(Cg *g, LLVMValueRef x, uint32_t mask, uint32_t flip)
{
	LLVMValueRef args[3] = {x, cg_int32(g, (int32_t)mask), cg_int32(g, (int32_t)flip)};
	return cg_asm(g, ASM_COMPUTES, g->m->i32, "lop3.b32 $0, $1, $2, $3, 0x6a;", "=r,r,r,r",
		      args, 3);
}

/* ------------------------------------------------------------------ of each type, from bit `at` */
static LLVMValueRef widen_U4(Cg *g, LLVMValueRef x, int at)
{
	return less(g, cg_masked(g, x, 15u << at, sum_at(at)), ldexp(1, SUM - at));
}

static LLVMValueRef widen_S4(Cg *g, LLVMValueRef x, int at)
{
	return less(g, cg_masked(g, x, 15u << at, sum_at(at) | 8u << at), ldexp(1, SUM - at) + 8);
}

/* The sign to bit 31, exponent and fraction to bits 24 .. 22, and 2^126 times: subnormals, too. */
static LLVMValueRef widen_E2M1(Cg *g, LLVMValueRef x, int at)
{
	x = LLVMBuildShl(g->b, x, cg_int32(g, 28 - at), "");
	x = LLVMBuildAShr(g->b, x, cg_int32(g, 6), "");
	x = LLVMBuildAnd(g->b, x, cg_int32(g, (int32_t)0x81c00000u), "");
	return LLVMBuildFMul(g->b, as_f32(g, x), LLVMConstReal(g->m->f32, 0x1p126), "");
}

/* Byte at / 8 below the other bytes of 2^SUM (PTX ISA: prmt). */
static LLVMValueRef widen_U8(Cg *g, LLVMValueRef x, int at)
{
	LLVMValueRef in[3] = {x, cg_int32(g, sum_at(0)), cg_int32(g, 0x7540 | at / 8)};
	return less(g, cg_call(g, "llvm.nvvm.prmt", NULL, in, 3), ldexp(1, SUM));
}

static LLVMValueRef widen_I8(Cg *g, LLVMValueRef x, int at)
{
	x = LLVMBuildXor(g->b, x, cg_int32(g, 0x8080), "");
	LLVMValueRef in[3] = {x, cg_int32(g, sum_at(0)), cg_int32(g, 0x7540 | at / 8)};
	return less(g, cg_call(g, "llvm.nvvm.prmt", NULL, in, 3), ldexp(1, SUM) + 128);
}

static LLVMValueRef unpacked(Cg *g, LLVMValueRef x, int at, Elem e)
{
	x = LLVMBuildTrunc(g->b, x, g->m->i16, "");
	x = cg_call(g, cg_unpack(e), NULL, &x, 1);
	x = LLVMBuildExtractElement(g->b, x, cg_int32(g, at / 8), "");
	return LLVMBuildFPExt(g->b, x, g->m->f32, "");
}

static LLVMValueRef widen_E4M3(Cg *g, LLVMValueRef x, int at)
{
	return unpacked(g, x, at, EL_E4M3);
}

static LLVMValueRef widen_E5M2(Cg *g, LLVMValueRef x, int at)
{
	return unpacked(g, x, at, EL_E5M2);
}

/* ------------------------------------------------------------------ */
static LLVMValueRef (*const widens[EL_COUNT])(Cg *g, LLVMValueRef x, int at) = {
	[EL_I8] = widen_I8,     [EL_U8] = widen_U8,     [EL_S4] = widen_S4,     [EL_U4] = widen_U4,
	[EL_E2M1] = widen_E2M1, [EL_E4M3] = widen_E4M3, [EL_E5M2] = widen_E5M2,
};

bool cg_widens(Elem e)
{
	return widens[e];
}

Bound cg_widened(Cg *g, const Bound *from, Elem e)
{
	Bound to = {.val = from->val, .n = from->n, .type = g->m->f32};
	to.reg = NEWN(g->arena, LLVMValueRef, to.n);
	for (int i = 0; i < to.n; i++) {
		LLVMValueRef x = LLVMBuildZExt(g->b, cg_word(g, from, i / 2), g->m->i32, "");
		to.reg[i] = widens[e](g, x, i % 2 * elem_rows[e].bits);
	}
	return to;
}
