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
	bool copies = op->kind == OP_CP_ASYNC, store = op->kind == OP_ST_GLOBAL;
	LLVMValueRef index =
		cg_reg(g, cg_val(g, IN(op, INDEX).val), cg_first_register(g, &IN(op, INDEX)));
	const Stepping *s =
		stepping(g, op->in[!store].val, (int)attrs_int(&op->attrs, A_GATHER, 0), copies);
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

typedef struct {
	KIndexKind kind;
	int list, tensor, mode;
	LLVMValueRef index, at, limit; /* i32, i64, i64 */
} Note;

static void note_first(Cg *g, const Note *n, LLVMValueRef to)
{
	note(g, to, offsetof(KIndexNote, list), cg_int32(g, n->list));
	note(g, to, offsetof(KIndexNote, tensor), cg_int32(g, n->tensor));
	note(g, to, offsetof(KIndexNote, mode), cg_int32(g, n->mode));
	note(g, to, offsetof(KIndexNote, kind), cg_int32(g, n->kind));
	note(g, to, offsetof(KIndexNote, index), n->index);
	note(g, to, offsetof(KIndexNote, extent), n->limit);
	note(g, to, offsetof(KIndexNote, at), n->at);
}

/* Counts, and notes the first. */
static void note_if(Cg *g, LLVMValueRef is, const Note *n)
{
	LLVMBasicBlockRef bad = cg_new_block(g, "bad"), first = cg_new_block(g, "first"),
			  after = cg_new_block(g, "checked");
	LLVMValueRef to = noted(g);
	cg_branch(g, is, bad, after, bad);
	LLVMValueRef had = LLVMBuildAtomicRMW(g->b, LLVMAtomicRMWBinOpAdd, to, cg_int32(g, 1),
					      LLVMAtomicOrderingMonotonic, false);
	cg_branch(g, LLVMBuildICmp(g->b, LLVMIntEQ, had, cg_int32(g, 0), ""), first, after, first);
	note_first(g, n, to);
	cg_goto(g, after);
}

/* -1 says that there is none. */
static void check_index(Cg *g, const Op *op, LLVMValueRef index, LLVMValueRef extent,
			LLVMValueRef where)
{
	LLVMValueRef wide = LLVMBuildSExt(g->b, index, g->m->i64, "");
	LLVMValueRef out = LLVMBuildICmp(g->b, LLVMIntUGE, wide, extent, "");
	LLVMValueRef some = LLVMBuildICmp(g->b, LLVMIntNE, index, cg_int32(g, -1), "");
	Note n = {KI_INDEX,
		  IN(op, FROM).val->arg,
		  IN(op, CHECKED).val->arg,
		  (int)attrs_int(&op->attrs, A_CHECKS, 0),
		  index,
		  where,
		  extent};
	note_if(g, LLVMBuildAnd(g->b, out, some, ""), &n);
}

void cg_check_number(Cg *g, const Op *op, LLVMValueRef number)
{
	Ctx *c = g->m->ctx;
	int mode = (int)attrs_int(&op->attrs, A_CHECKS, 0);
	if (attrs_int(&g->k->attrs, A_CHECKS, 0))
		noted(g); /* the runtime asks for it, whether there is anything to note or not */
	if (!HAS_IN(op, CHECKED))
		return;
	const Ix *all = layout_size(c, layout_mode(c, IN(op, CHECKED).val->type->layout, mode));
	const Ix *tiles = ix_ceil_div(c, all, ix_const(c, attrs_int(&op->attrs, A_ROWS, 1)));
	check_index(g, op, number, cg_i64(g, tiles), cg_i64(g, IX(op, WHICH)));
}

void cg_check_indices(Cg *g, const Op *op)
{
	int mode = (int)attrs_int(&op->attrs, A_CHECKS, 0), n = (int)attrs_int(&op->attrs, A_N, 1),
	    from = cg_first_register(g, &IN(op, TO));
	LLVMValueRef extent =
		cg_i64(g, tup_get(IN(op, CHECKED).val->type->layout->shape, mode)->leaf);
	for (int i = 0; i < n; i++)
		check_index(g, op, cg_reg(g, cg_val(g, IN(op, TO).val), from + i), extent,
			    LLVMBuildAdd(g->b, cg_i64(g, IX(op, ELEMENT)),
					 LLVMConstInt(g->m->i64, (uint64_t)i, false), ""));
}

/* ------------------------------------------------------------------ groups */
/* Also where the kernel itself does not ask for it. */
static LLVMValueRef hardware(Cg *g, const char *name, const char *sreg)
{
	name = ctx_str(g->m->ctx, name);
	return cg_find_name(g, name) ? cg_i32(g, ix_sym(g->m->ctx, name))
				     : cg_call(g, sreg, NULL, NULL, 0);
}

/* One warp of all, as each counts the same groups; of one that each CTA has, one thread of it. */
static LLVMValueRef is_first(Cg *g, const Op *op, LLVMValueRef group)
{
	LLVMValueRef me = hardware(g, "tid", "llvm.nvvm.read.ptx.sreg.tid.x");
	if (op->kind != OP_GROUPS_AT) {
		LLVMValueRef cta = hardware(g, "cta", "llvm.nvvm.read.ptx.sreg.ctaid.x");
		me = LLVMBuildOr(g->b, LLVMBuildLShr(g->b, me, cg_int32(g, 5), ""), cta, "");
	}
	LLVMValueRef is = LLVMBuildICmp(g->b, LLVMIntEQ, me, cg_int32(g, 0), "");
	LLVMValueRef has = LLVMBuildICmp(g->b, LLVMIntSLT, group, cg_i32(g, IX(op, GROUPS)), "");
	return LLVMBuildAnd(g->b, is, has, "");
}

static void check_limit(Cg *g, const Op *op, LLVMValueRef group, LLVMIntPredicate bad,
			const Note *like, LLVMValueRef limit)
{
	Note n = *like;
	LLVMValueRef is = LLVMBuildICmp(g->b, bad, n.index, limit, "");
	n.limit = LLVMBuildSExt(g->b, limit, g->m->i64, "");
	note_if(g, LLVMBuildAnd(g->b, is, is_first(g, op, group), ""), &n);
}

/* An end is at least the one before it, and at most all rows; what is used of a group, at most what
 * it holds. */
void cg_check_group(Cg *g, const Op *op, LLVMValueRef group, LLVMValueRef said, LLVMValueRef before)
{
	int list = IN(op, ENDS).val->arg;
	LLVMValueRef at = LLVMBuildSExt(g->b, group, g->m->i64, "");
	Note n = {before ? KI_SHRINKS : KI_NEGATIVE, list, list, 0, said, at, NULL};
	if (!attrs_int(&g->k->attrs, A_CHECKS, 0))
		return;
	check_limit(g, op, group, LLVMIntSLT, &n, before ? before : cg_int32(g, 0));
	n.kind = before ? KI_BEYOND : KI_CAPACITY;
	check_limit(g, op, group, LLVMIntSGT, &n, cg_i32(g, IX(op, ROWS)));
}
