/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_index.c - accesses whose coordinate along a mode is an index in a register.
 *     cp.async %sA[s], %A, %i[3] (byte, offset) n=8 gather=0
 * ->  step = K * 2, extent = M, in front of the copies; p = %A + offset * 2 + i[3] * step, and
 *     16 bytes from there if i[3] < extent, unsigned, else none
 *     ld.global %i[3], %rows, %A (offset) checks=0
 * ->  if i[3] != -1 and not i[3] < M, unsigned: count it in gemm$indices, and the first time note
 *     it (runtime/kdesc.h) */
#include "codegen/cg.h"
#include "runtime/kdesc.h"

#include <stddef.h>

static LLVMValueRef pinned_64(Cg *g, LLVMValueRef x)
{
	LLVMTypeRef i32 = g->m->i32, i64 = g->m->i64;
	LLVMValueRef half = LLVMConstInt(i64, 32, false);
	LLVMValueRef low = cg_pinned(g, LLVMBuildTrunc(g->b, x, i32, ""));
	LLVMValueRef high =
		cg_pinned(g, LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, x, half, ""), i32, ""));
	return LLVMBuildOr(g->b, LLVMBuildZExt(g->b, low, i64, ""),
			   LLVMBuildShl(g->b, LLVMBuildZExt(g->b, high, i64, ""), half, ""), "");
}

/* Bytes from one coordinate to the next, in 64 bits, of which 32 are known to do or not. */
static LLVMValueRef step_bytes(Cg *g, const Val *tensor, int mode, bool pin)
{
	int64_t lo, hi, bytes = elem_rows[tensor->type->elem].bits / 8;
	const Ix *step = tup_get(tensor->type->layout->stride, mode)->leaf;
	LLVMValueRef all = LLVMBuildMul(g->b, cg_i64(g, step),
					LLVMConstInt(g->m->i64, (uint64_t)bytes, false), "");
	cg_range(g, step, &lo, &hi);
	if (lo < 0 || hi > UINT32_MAX / bytes)
		return pin ? pinned_64(g, all) : all;
	LLVMValueRef low = LLVMBuildTrunc(g->b, all, g->m->i32, "");
	return LLVMBuildZExt(g->b, pin ? cg_pinned(g, low) : low, g->m->i64, "");
}

/* Of the copies in a block once, and there: what is computed of an index alone would be computed
 * before the loop around, and take registers, three for each row. What stores need is needed once,
 * under conditions in which lanes do not meet. */
static const Stepping *stepping(Cg *g, const Val *tensor, int mode, bool pin)
{
	Stepping *s = &g->stepping;
	LLVMBasicBlockRef block = LLVMGetInsertBlock(g->b);
	LLVMValueRef extent = cg_i32(g, tup_get(tensor->type->layout->shape, mode)->leaf);
	if (s->block == block && s->tensor == tensor && s->mode == mode)
		return s;
	*s = (Stepping){.block = block,
			.tensor = tensor,
			.mode = mode,
			.step = step_bytes(g, tensor, mode, pin),
			.extent = pin ? cg_pinned(g, extent) : extent};
	return s;
}

LLVMValueRef cg_index_ptr(Cg *g, const Op *op, LLVMValueRef base, LLVMValueRef *some)
{
	bool copies = op->kind == OP_CP_ASYNC;
	LLVMValueRef index = cg_reg(g, cg_val(g, op->in[2].val), cg_first_register(g, &op->in[2]));
	const Stepping *s =
		stepping(g, op->in[copies].val, (int)attrs_int(&op->attrs, A_GATHER, 0), copies);
	LLVMValueRef at =
		LLVMBuildMul(g->b, LLVMBuildZExt(g->b, index, g->m->i64, ""), s->step, "");
	*some = LLVMBuildICmp(g->b, LLVMIntULT, index, s->extent, "");
	return LLVMBuildGEP2(g->b, g->m->i8, base, &at, 1, "");
}

/* ------------------------------------------------------------------ what is noted */
/* A variable of the module, which the runtime reads. */
static LLVMValueRef noted(Cg *g)
{
	CgMod *m = g->m;
	const char *name = ctx_strf(m->ctx, "%s" KD_INDICES, g->k->name);
	LLVMValueRef v = LLVMGetNamedGlobal(m->mod, name);
	LLVMTypeRef type = LLVMArrayType2(m->i64, sizeof(KIndexNote) / 8);
	if (v)
		return v;
	v = LLVMAddGlobalInAddressSpace(m->mod, type, name, 1);
	LLVMSetInitializer(v, LLVMConstNull(type));
	LLVMSetAlignment(v, 8);
	return v;
}

static void note(Cg *g, LLVMValueRef to, size_t byte, LLVMValueRef x)
{
	LLVMValueRef at = LLVMConstInt(g->m->i64, byte, false);
	LLVMBuildStore(g->b, x, LLVMBuildGEP2(g->b, g->m->i8, to, &at, 1, ""));
}

static void note_first(Cg *g, const Op *op, LLVMValueRef to, LLVMValueRef index,
		       LLVMValueRef extent, int at)
{
	LLVMTypeRef i64 = g->m->i64;
	LLVMValueRef where = LLVMBuildAdd(g->b, cg_i64(g, op->ix[0]),
					  LLVMConstInt(i64, (uint64_t)at, false), "");
	note(g, to, offsetof(KIndexNote, list), cg_int32(g, op->in[1].val->arg));
	note(g, to, offsetof(KIndexNote, tensor), cg_int32(g, op->in[2].val->arg));
	note(g, to, offsetof(KIndexNote, mode), cg_int32(g, attrs_int(&op->attrs, A_CHECKS, 0)));
	note(g, to, offsetof(KIndexNote, index), index);
	note(g, to, offsetof(KIndexNote, extent), extent);
	note(g, to, offsetof(KIndexNote, at), where);
}

/* -1 says that there is none. */
static void check_index(Cg *g, const Op *op, LLVMValueRef index, LLVMValueRef extent, int at)
{
	LLVMBasicBlockRef bad = cg_new_block(g, "bad"), first = cg_new_block(g, "first"),
			  after = cg_new_block(g, "checked");
	LLVMValueRef wide = LLVMBuildSExt(g->b, index, g->m->i64, ""), to = noted(g);
	LLVMValueRef out = LLVMBuildICmp(g->b, LLVMIntUGE, wide, extent, "");
	LLVMValueRef some = LLVMBuildICmp(g->b, LLVMIntNE, index, cg_int32(g, -1), "");
	LLVMBuildCondBr(g->b, LLVMBuildAnd(g->b, out, some, ""), bad, after);
	LLVMPositionBuilderAtEnd(g->b, bad);
	LLVMValueRef n = LLVMBuildAtomicRMW(g->b, LLVMAtomicRMWBinOpAdd, to, cg_int32(g, 1),
					    LLVMAtomicOrderingMonotonic, false);
	LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, n, cg_int32(g, 0), ""), first, after);
	LLVMPositionBuilderAtEnd(g->b, first);
	note_first(g, op, to, index, extent, at);
	cg_goto(g, after);
}

void cg_check_indices(Cg *g, const Op *op)
{
	int mode = (int)attrs_int(&op->attrs, A_CHECKS, 0), n = (int)attrs_int(&op->attrs, A_N, 1),
	    from = cg_first_register(g, &op->in[0]);
	LLVMValueRef extent = cg_i64(g, tup_get(op->in[2].val->type->layout->shape, mode)->leaf);
	for (int i = 0; i < n; i++)
		check_index(g, op, cg_reg(g, cg_val(g, op->in[0].val), from + i), extent, i);
}
