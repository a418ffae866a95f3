/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_elt.c - elementwise operations: each row of elementwise.def has one function value_ROW of
 * scalars; the framework applies it register by register. Conversions to 16 bits go by pairs, as
 * the hardware has them (PTX ISA: cvt.rn.bf16x2.f32).
 *     %c = add %a, %b : reg f32 ...   ->   one fadd a register */
#include "codegen/cg.h"

typedef LLVMValueRef (*Value)(Cg *g, LLVMValueRef *x);

/* The result is as long as the longest operand: a scalar counts for every register. */
static void elementwise(Cg *g, const Op *op, Value value)
{
	Bound in[3];
	int n = op->out->type->kind == TY_TILE ? type_regs(op->out->type) : 1;
	for (int i = 0; i < op->nin; i++)
		in[i] = *cg_val(g, op->in[i].val);
	Bound *out = cg_bind(g, op->out, n, cg_elem(g->m, op->out->type->elem));
	for (int r = 0; r < n; r++) {
		LLVMValueRef x[3];
		for (int i = 0; i < op->nin; i++)
			x[i] = cg_reg(g, &in[i], r);
		out->reg[r] = value(g, x);
	}
}

static LLVMValueRef value_NEG(Cg *g, LLVMValueRef *x)
{
	return LLVMBuildFNeg(g->b, x[0], "");
}

static LLVMValueRef value_ABS(Cg *g, LLVMValueRef *x)
{
	return cg_call(g, "llvm.fabs", g->m->f32, x, 1);
}

static LLVMValueRef value_ADD(Cg *g, LLVMValueRef *x)
{
	return LLVMBuildFAdd(g->b, x[0], x[1], "");
}

static LLVMValueRef value_SUB(Cg *g, LLVMValueRef *x)
{
	return LLVMBuildFSub(g->b, x[0], x[1], "");
}

static LLVMValueRef value_MUL(Cg *g, LLVMValueRef *x)
{
	return LLVMBuildFMul(g->b, x[0], x[1], "");
}

static LLVMValueRef value_DIV(Cg *g, LLVMValueRef *x)
{
	return LLVMBuildFDiv(g->b, x[0], x[1], "");
}

static LLVMValueRef value_MIN(Cg *g, LLVMValueRef *x)
{
	return cg_call(g, "llvm.minnum", g->m->f32, x, 2);
}

static LLVMValueRef value_MAX(Cg *g, LLVMValueRef *x)
{
	return cg_call(g, "llvm.maxnum", g->m->f32, x, 2);
}

static LLVMValueRef value_FMA(Cg *g, LLVMValueRef *x)
{
	return cg_call(g, "llvm.fma", g->m->f32, x, 3);
}

static LLVMValueRef value_SQRT(Cg *g, LLVMValueRef *x)
{
	return cg_call(g, "llvm.nvvm.sqrt.rn.f", NULL, x, 1);
}

static LLVMValueRef value_RSQRT(Cg *g, LLVMValueRef *x)
{
	return cg_call(g, "llvm.nvvm.rsqrt.approx.f", NULL, x, 1);
}

static LLVMValueRef value_EXP2(Cg *g, LLVMValueRef *x)
{
	return cg_call(g, "llvm.nvvm.ex2.approx", g->m->f32, x, 1);
}

/* max.f32 gives the operand that is a number, and 0 of the two zeros that is not negative. */
static LLVMValueRef value_RELU(Cg *g, LLVMValueRef *x)
{
	LLVMValueRef in[2] = {x[0], LLVMConstReal(g->m->f32, 0)};
	return cg_call(g, "llvm.maxnum", g->m->f32, in, 2);
}

/* 1 / (1 + 2^(-x log2 e)), both steps approximate */
static LLVMValueRef value_SIGMOID(Cg *g, LLVMValueRef *x)
{
	LLVMTypeRef f32 = g->m->f32;
	LLVMValueRef scale = LLVMConstReal(f32, -1.44269504), one = LLVMConstReal(f32, 1);
	LLVMValueRef power = LLVMBuildFMul(g->b, x[0], scale, "");
	power = cg_call(g, "llvm.nvvm.ex2.approx", f32, &power, 1);
	LLVMValueRef sum = LLVMBuildFAdd(g->b, power, one, "");
	return cg_call(g, "llvm.nvvm.rcp.approx.ftz.f", NULL, &sum, 1);
}

#define ELT(id, ...)                            \
	void emit_##id(Cg *g, const Op *op)     \
	{                                       \
		elementwise(g, op, value_##id); \
	}
#include "ir/elementwise.def"

/* ------------------------------------------------------------------ conversions */

/* What makes a pair of f32 one register, where the hardware has it. */
static const char *const pair_of_f32[EL_COUNT] = {[EL_BF16] = "llvm.nvvm.ff2bf16x2.rn",
						  [EL_F16] = "llvm.nvvm.ff2f16x2.rn"};

/* Registers i and i + 1, f32, as a vector of two of 16 bits; the first is the low half. */
static LLVMValueRef narrow_pair(Cg *g, const Bound *from, int i, Elem to)
{
	LLVMValueRef x[2] = {cg_reg(g, from, i + 1), cg_reg(g, from, i)};
	return cg_call(g, pair_of_f32[to], NULL, x, 2);
}

static LLVMValueRef convert_one(Cg *g, LLVMValueRef x, LLVMTypeRef from, LLVMTypeRef to)
{
	if (from == to)
		return x;
	if (to == g->m->f32)
		return LLVMBuildFPExt(g->b, x, to, "");
	if (from == g->m->f32)
		return LLVMBuildFPTrunc(g->b, x, to, "");
	return LLVMBuildFPTrunc(g->b, LLVMBuildFPExt(g->b, x, g->m->f32, ""), to, "");
}

void emit_CVT(Cg *g, const Op *op)
{
	const Type *type = op->out->type;
	int n = type->kind == TY_TILE ? type_regs(type) : 1, i = 0;
	Bound from = *cg_val(g, op->in[0].val);
	Bound *to = cg_bind(g, op->out, n, cg_elem(g->m, type->elem));
	if (op->in[0].val->type->elem == EL_F32 && pair_of_f32[type->elem] && from.n > 1) {
		to->pair = NEWN(g->arena, LLVMValueRef, n / 2);
		for (; i + 1 < n; i += 2) {
			LLVMValueRef pair = narrow_pair(g, &from, i, type->elem);
			to->pair[i / 2] = pair;
			to->reg[i] = LLVMBuildExtractElement(g->b, pair, cg_int32(g, 0), "");
			to->reg[i + 1] = LLVMBuildExtractElement(g->b, pair, cg_int32(g, 1), "");
		}
	}
	for (; i < n; i++)
		to->reg[i] = convert_one(g, cg_reg(g, &from, i), from.type, to->type);
}

/* Two registers of 16 bits as the vector that they came from. */
static LLVMValueRef pair_of(Cg *g, const Bound *v, int i)
{
	if (v->pair && i % 2 == 0)
		return v->pair[i / 2];
	LLVMValueRef pair = LLVMGetPoison(LLVMVectorType(v->type, 2));
	for (int j = 0; j < 2; j++)
		pair = LLVMBuildInsertElement(g->b, pair, cg_reg(g, v, i + j), cg_int32(g, j), "");
	return pair;
}

static LLVMValueRef as_i32(Cg *g, LLVMValueRef pair)
{
	return LLVMBuildBitCast(g->b, pair, g->m->i32, "");
}

LLVMValueRef cg_vector(Cg *g, const Bound *v, int first, int n)
{
	bool halves = v->type == g->m->bf16 || v->type == g->m->f16;
	if (n == 1)
		return cg_reg(g, v, first);
	int step = halves ? 2 : 1;
	if (halves && n == 2)
		return as_i32(g, pair_of(g, v, first));
	LLVMTypeRef unit = halves ? g->m->i32 : v->type;
	LLVMValueRef out = LLVMGetPoison(LLVMVectorType(unit, (unsigned)(n / step)));
	for (int i = 0; i < n; i += step) {
		LLVMValueRef x =
			halves ? as_i32(g, pair_of(g, v, first + i)) : cg_reg(g, v, first + i);
		out = LLVMBuildInsertElement(g->b, out, x, cg_int32(g, i / step), "");
	}
	return out;
}

static void set_pair(Cg *g, const Bound *v, int first, LLVMValueRef bits)
{
	LLVMValueRef pair = LLVMBuildBitCast(g->b, bits, LLVMVectorType(v->type, 2), "");
	for (int i = 0; i < 2; i++)
		cg_set_reg(g, v, first + i,
			   LLVMBuildExtractElement(g->b, pair, cg_int32(g, i), ""));
}

void cg_set_vector(Cg *g, const Bound *v, int first, int n, LLVMValueRef x)
{
	bool halves = v->type == g->m->bf16 || v->type == g->m->f16;
	int step = halves && n > 1 ? 2 : 1;
	for (int i = 0; i < n; i += step) {
		LLVMValueRef unit =
			n == step ? x : LLVMBuildExtractElement(g->b, x, cg_int32(g, i / step), "");
		if (step == 2)
			set_pair(g, v, first + i, unit);
		else
			cg_set_reg(g, v, first + i, unit);
	}
}

LLVMTypeRef cg_vector_type(const Cg *g, const Bound *v, int n)
{
	bool halves = v->type == g->m->bf16 || v->type == g->m->f16;
	LLVMTypeRef unit = halves && n > 1 ? g->m->i32 : v->type;
	int units = halves && n > 1 ? n / 2 : n;
	return units == 1 ? unit : LLVMVectorType(unit, (unsigned)units);
}

void emit_PART(Cg *g, const Op *op)
{
	int n = type_regs(op->out->type);
	int64_t first = 0, last;
	Bound from = *cg_val(g, op->in[0].val);
	cg_range(g, op->in[0].at, &first, &last);
	Bound *to = cg_bind(g, op->out, n, from.type);
	for (int i = 0; i < n; i++)
		to->reg[i] = cg_reg(g, &from, (int)first + i);
}
