/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_int.c - the rows of elementwise.def that integers of 32 bits have: of s32 and of u32 a
 * function each, where they differ. Sums and products wrap.
 *     %y = shr %x, 4 : reg u32 ..   ->   lshr i32 %x, 4        s32: ashr */
#include "codegen/cg.h"

typedef LLVMValueRef V;

static V either(Cg *g, V some, V then, V otherwise)
{
	return LLVMBuildSelect(g->b, some, then, otherwise, "");
}

/* 1 where it holds, else 0 */
static V holds(Cg *g, V some)
{
	return LLVMBuildZExt(g->b, some, g->m->i32, "");
}

static V is_some(Cg *g, V x)
{
	LLVMTypeRef t = LLVMTypeOf(x);
	return LLVMGetTypeKind(t) == LLVMIntegerTypeKind
		       ? LLVMBuildICmp(g->b, LLVMIntNE, x, LLVMConstInt(t, 0, false), "")
		       : LLVMBuildFCmp(g->b, LLVMRealUNE, x, LLVMConstReal(t, 0), "");
}

V cg_chosen(Cg *g, V *x)
{
	return either(g, is_some(g, x[0]), x[1], x[2]);
}

static V minus(Cg *g, V x)
{
	return LLVMBuildSub(g->b, cg_int32(g, 0), x, "");
}

static V least(Cg *g, bool sign, V a, V b)
{
	V x[2] = {a, b};
	return cg_call(g, sign ? "llvm.smin" : "llvm.umin", g->m->i32, x, 2);
}

static V largest(Cg *g, bool sign, V a, V b)
{
	V x[2] = {a, b};
	return cg_call(g, sign ? "llvm.smax" : "llvm.umax", g->m->i32, x, 2);
}

static V high_product(Cg *g, bool sign, V *x)
{
	LLVMTypeRef i64 = g->m->i64;
	V p = LLVMBuildMul(g->b, LLVMBuildIntCast2(g->b, x[0], i64, sign, ""),
			   LLVMBuildIntCast2(g->b, x[1], i64, sign, ""), "");
	return LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, p, LLVMConstInt(i64, 32, false), ""),
			      g->m->i32, "");
}

/* By a positive constant; a remainder below zero takes one more from the quotient. */
static V remainder_of(Cg *g, bool sign, V *x)
{
	if (!sign)
		return LLVMBuildURem(g->b, x[0], x[1], "");
	V r = LLVMBuildSRem(g->b, x[0], x[1], "");
	V below = LLVMBuildICmp(g->b, LLVMIntSLT, r, cg_int32(g, 0), "");
	return either(g, below, LLVMBuildAdd(g->b, r, x[1], ""), r);
}

static V quotient(Cg *g, bool sign, V *x)
{
	if (!sign)
		return LLVMBuildUDiv(g->b, x[0], x[1], "");
	V r = LLVMBuildSRem(g->b, x[0], x[1], "");
	V below = LLVMBuildICmp(g->b, LLVMIntSLT, r, cg_int32(g, 0), "");
	return LLVMBuildAdd(g->b, LLVMBuildSDiv(g->b, x[0], x[1], ""),
			    LLVMBuildSExt(g->b, below, g->m->i32, ""), "");
}

/* A count of 32 and more shifts all out in PTX, and is undefined in LLVM (PTX ISA: shl, shr). */
static V shifted(Cg *g, V *x, const char *text,
		 LLVMValueRef (*build)(LLVMBuilderRef, V, V, const char *))
{
	bool known = LLVMIsAConstantInt(x[1]) && LLVMConstIntGetZExtValue(x[1]) < 32;
	return known ? build(g->b, x[0], x[1], "")
		     : cg_asm(g, ASM_COMPUTES, g->m->i32, text, "=r,r,r", x, 2);
}

/* ------------------------------------------------------------------ rows */
#define SAME(name, of)                   \
	static V any_##name(Cg *g, V *x) \
	{                                \
		return of;               \
	}
#define DIFFER(name, of)                      \
	static V signed_##name(Cg *g, V *x)   \
	{                                     \
		const bool sign = true;       \
		return of;                    \
	}                                     \
	static V unsigned_##name(Cg *g, V *x) \
	{                                     \
		const bool sign = false;      \
		return of;                    \
	}
#define COMPARED(name, s, u) \
	DIFFER(name, holds(g, LLVMBuildICmp(g->b, sign ? LLVMInt##s : LLVMInt##u, x[0], x[1], "")))

SAME(NEG, minus(g, x[0]))
SAME(ADD, LLVMBuildAdd(g->b, x[0], x[1], ""))
SAME(SUB, LLVMBuildSub(g->b, x[0], x[1], ""))
SAME(MUL, LLVMBuildMul(g->b, x[0], x[1], ""))
SAME(EQ, holds(g, LLVMBuildICmp(g->b, LLVMIntEQ, x[0], x[1], "")))
SAME(NE, holds(g, LLVMBuildICmp(g->b, LLVMIntNE, x[0], x[1], "")))
SAME(SELECT, cg_chosen(g, x))
SAME(BOTH, holds(g, LLVMBuildAnd(g->b, is_some(g, x[0]), is_some(g, x[1]), "")))
SAME(EITHER, holds(g, LLVMBuildOr(g->b, is_some(g, x[0]), is_some(g, x[1]), "")))
SAME(NEITHER, holds(g, LLVMBuildNot(g->b, is_some(g, x[0]), "")))
SAME(BIT_AND, LLVMBuildAnd(g->b, x[0], x[1], ""))
SAME(BIT_OR, LLVMBuildOr(g->b, x[0], x[1], ""))
SAME(BIT_XOR, LLVMBuildXor(g->b, x[0], x[1], ""))
SAME(BIT_NOT, LLVMBuildNot(g->b, x[0], ""))
SAME(SHL, shifted(g, x, "shl.b32 $0, $1, $2;", LLVMBuildShl))
DIFFER(SHR, sign ? shifted(g, x, "shr.s32 $0, $1, $2;", LLVMBuildAShr)
		 : shifted(g, x, "shr.u32 $0, $1, $2;", LLVMBuildLShr))
DIFFER(ABS, sign ? largest(g, sign, x[0], minus(g, x[0])) : x[0])
DIFFER(MIN, least(g, sign, x[0], x[1]))
DIFFER(MAX, largest(g, sign, x[0], x[1]))
DIFFER(CLAMP, least(g, sign, largest(g, sign, x[0], x[1]), x[2]))
DIFFER(DIV, quotient(g, sign, x))
DIFFER(MODULO, remainder_of(g, sign, x))
DIFFER(MULHI, high_product(g, sign, x))
COMPARED(LT, SLT, ULT)
COMPARED(LE, SLE, ULE)
COMPARED(GT, SGT, UGT)
COMPARED(GE, SGE, UGE)

#undef SAME
#undef DIFFER
#define SAME(name)   [OP_##name] = {any_##name, any_##name}
#define DIFFER(name) [OP_##name] = {unsigned_##name, signed_##name}
static const Value values[OP_COUNT][2] = {
	SAME(NEG),     SAME(ADD),     SAME(SUB),    SAME(MUL),      SAME(EQ),      SAME(NE),
	SAME(SELECT),  SAME(BOTH),    SAME(EITHER), SAME(NEITHER),  SAME(BIT_AND), SAME(BIT_OR),
	SAME(BIT_XOR), SAME(BIT_NOT), SAME(SHL),    DIFFER(SHR),    DIFFER(ABS),   DIFFER(MIN),
	DIFFER(MAX),   DIFFER(CLAMP), DIFFER(DIV),  DIFFER(MODULO), DIFFER(MULHI), DIFFER(LT),
	DIFFER(LE),    DIFFER(GT),    DIFFER(GE),
};

Value cg_int_value(OpKind op, bool sign)
{
	return values[op][sign];
}
