/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* smem.c - addresses in shared memory: a buffer's place, its slot and a byte in the slot.
 *     %sA[k % 4], byte 32   ->   shared + offset + (k % 4) * slot bytes + 32 */
#include "codegen/cg.h"

static int64_t slot_bytes(const Val *v)
{
	return v->type->kind == TY_MBAR ? 8 : type_slot_bytes(v->type);
}

static const Ix *place(Cg *g, Operand buffer, const Ix *byte)
{
	Ctx *c = g->m->ctx;
	const Op *def = buffer.val->def;
	if (!def || (def->kind != OP_SHARED && def->kind != OP_MBARRIER))
		panic("%%%s does not lie in shared memory", buffer.val->name);
	const Ix *at = ix_const(c, attrs_int(&def->attrs, A_OFFSET, 0));
	if (buffer.at)
		at = ix_add(c, at, ix_mul(c, buffer.at, ix_const(c, slot_bytes(buffer.val))));
	return byte ? ix_add(c, at, byte) : at;
}

static LLVMValueRef moved(Cg *g, LLVMValueRef p, Sum s)
{
	LLVMValueRef at = cg_sum(g, &s, 32), rest = cg_int32(g, s.constant);
	if (at)
		p = LLVMBuildInBoundsGEP2(g->b, g->m->i8, p, &at, 1, "");
	return s.constant ? LLVMBuildInBoundsGEP2(g->b, g->m->i8, p, &rest, 1, "") : p;
}

static LLVMValueRef ptr_from(Cg *g, LLVMValueRef p, Operand buffer, const Ix *byte)
{
	return moved(g, p, cg_split(g, place(g, buffer, byte)));
}

LLVMValueRef cg_smem_ptr(Cg *g, Operand buffer, const Ix *byte)
{
	return ptr_from(g, g->m->smem, buffer, byte);
}

LLVMValueRef cg_smem_ptr_in(Cg *g, Operand buffer, const Ix *byte)
{
	Sum s = cg_split(g, byte);
	return moved(g, cg_smem_ptr(g, buffer, NULL), s);
}

/* Where shared memory of another CTA begins. LLVM's intrinsic may be executed early, by lanes whose
 * number is no rank, for which mapa is not defined; so it is written out. */
static LLVMValueRef mapa(Cg *g, LLVMValueRef rank)
{
	CgMod *m = g->m;
	LLVMValueRef args[2] = {LLVMBuildPtrToInt(g->b, m->smem, m->i64, ""), rank};
	LLVMValueRef at = cg_asm(g, ASM_COMPUTES, m->i64, "mapa.shared::cluster.u64 $0, $1, $2;",
				 "=l,l,r", args, 2);
	return LLVMBuildIntToPtr(g->b, at, m->p7, "");
}

LLVMValueRef cg_smem_ptr_of(Cg *g, Operand buffer, const Ix *rank, const Ix *byte)
{
	return ptr_from(g, mapa(g, cg_i32(g, rank)), buffer, byte);
}

LLVMValueRef cg_smem16(Cg *g, Operand buffer, const Ix *byte, int64_t plus)
{
	Ctx *c = g->m->ctx;
	IxFacts facts = {.at = g->facts.at, .n = g->facts.n};
	const Ix *at = place(g, buffer, byte);
	if (ix_divisor(at, facts) % 16)
		diag(c, g->op->loc, D_E0704,
		     "the byte in %%%s is not known to be a multiple of 16, as a descriptor's is",
		     buffer.val->name);
	Sum s = cg_split(g, ix_simplify(c, ix_div(c, at, ix_const(c, 16)), facts));
	LLVMValueRef v = g->smem16, rest = cg_sum(g, &s, 32);
	if (rest)
		v = LLVMBuildAdd(g->b, v, rest, "");
	return LLVMBuildAdd(g->b, v, cg_int32(g, s.constant + plus), "");
}
