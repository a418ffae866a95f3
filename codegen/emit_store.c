/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_store.c - between registers and tensors by way of shared memory: stmatrix or plain stores
 * into a staging buffer, the bulk copy out of it, and its groups; ldmatrix or plain loads from a
 * buffer that TMA filled.
 *     stmatrix %sD[s], %c[0] (byte) n=4 ; tma.store %sD[s], %D.map (0, n * 256, m * 128)
 *     ->  stmatrix.sync.aligned.m8n8.x4 ; cp.async.bulk.tensor.2d.global.shared::cta.bulk_group */
#include "codegen/cg.h"

#include <stdio.h>

/* n matrices of 8 x 8, two registers of 16 bits a thread each (PTX ISA: stmatrix). */
void emit_STMATRIX(Cg *g, const Op *op)
{
	const Bound *from = cg_val(g, IN(op, FROM).val);
	int n = (int)attrs_int(&op->attrs, A_N, 4), first = cg_first_register(g, &IN(op, FROM));
	LLVMValueRef args[5] = {cg_smem_ptr(g, IN(op, TO), IX(op, BYTE))};
	char name[64];
	for (int i = 0; i < n; i++)
		args[1 + i] = cg_vector(g, from, first + 2 * i, 2);
	snprintf(name, sizeof name, "llvm.nvvm.stmatrix.sync.aligned.m8n8.x%d%s.b16", n,
		 attrs_int(&op->attrs, A_TRANS, 0) ? ".trans" : "");
	cg_call(g, name, g->m->p3, args, 1 + n);
}

void emit_ST_SHARED(Cg *g, const Op *op)
{
	const Bound *from = cg_val(g, IN(op, FROM).val);
	int n = (int)attrs_int(&op->attrs, A_N, 1);
	LLVMValueRef v = cg_vector(g, from, cg_first_register(g, &IN(op, FROM)), n);
	LLVMValueRef st = LLVMBuildStore(g->b, v, cg_smem_ptr(g, IN(op, TO), IX(op, BYTE)));
	LLVMSetAlignment(st, (unsigned)elem_span(IN(op, TO).val->type->elem, n));
}

void emit_LDMATRIX(Cg *g, const Op *op)
{
	const Bound *to = cg_val(g, IN(op, TO).val);
	int n = (int)attrs_int(&op->attrs, A_N, 4), first = cg_first_register(g, &IN(op, TO));
	LLVMValueRef from = cg_smem_ptr(g, IN(op, FROM), IX(op, BYTE));
	char name[64];
	snprintf(name, sizeof name, "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x%d%s.b16", n,
		 attrs_int(&op->attrs, A_TRANS, 0) ? ".trans" : "");
	int each = 32 / elem_rows[IN(op, TO).val->type->elem].bits;
	LLVMValueRef all = cg_call(g, name, g->m->p3, &from, 1);
	for (int i = 0; i < n; i++) {
		LLVMValueRef bits =
			n == 1 ? all : LLVMBuildExtractValue(g->b, all, (unsigned)i, "");
		cg_set_bits(g, to, first + each * i, bits);
	}
}

static void load_vector(Cg *g, const Op *op, LLVMValueRef from)
{
	const Bound *to = cg_val(g, IN(op, TO).val);
	int n = (int)attrs_int(&op->attrs, A_N, 1);
	LLVMValueRef ld = LLVMBuildLoad2(g->b, cg_vector_type(g, to, n), from, "");
	LLVMSetAlignment(ld, (unsigned)elem_span(IN(op, FROM).val->type->elem, n));
	cg_set_vector(g, to, cg_first_register(g, &IN(op, TO)), n, ld);
}

void emit_LD_SHARED(Cg *g, const Op *op)
{
	bool pairs = cg_by_pairs(cg_val(g, IN(op, TO).val));
	load_vector(g, op, (pairs ? cg_smem_ptr_in : cg_smem_ptr)(g, IN(op, FROM), IX(op, BYTE)));
}

void emit_LD_PEER(Cg *g, const Op *op)
{
	load_vector(g, op, cg_smem_ptr_of(g, IN(op, FROM), IX(op, RANK), IX(op, BYTE)));
}

void emit_TMA_STORE(Cg *g, const Op *op)
{
	LLVMValueRef args[2 + 5 + 2];
	int n = 0, rank = op->nix - 1;
	char name[64];
	if (rank < 1 || rank > 5)
		panic("tma.store of rank %d", rank);
	args[n++] = cg_smem_ptr(g, IN(op, FROM), IX(op, BYTE));
	args[n++] = cg_reg(g, cg_val(g, IN(op, MAP).val), 0);
	for (int i = 0; i < rank; i++)
		args[n++] = cg_i32(g, op->ix[1 + i]);
	args[n++] = LLVMConstInt(g->m->i64, 0, false); /* cache policy: */
	args[n++] = LLVMConstInt(g->m->i1, 0, false);  /* not used */
	snprintf(name, sizeof name, "llvm.nvvm.cp.async.bulk.tensor.%s.tile.%dd",
		 combine_of(op) ? "reduce.add" : "s2g", rank);
	cg_call(g, name, NULL, args, n);
}

/* From a coordinate on that an index names, as many bytes as args[2] says where there is such. */
static void by_index(Cg *g, const Op *op, LLVMValueRef *args)
{
	LLVMValueRef some;
	args[1] = cg_index_ptr(g, op, args[1], &some);
	args[2] = LLVMBuildSelect(g->b, some, args[2], cg_int32(g, 0), "");
}

/* 16 bytes pass by L1; of zeros alone nothing is read, wherever the address is (PTX ISA: cp.async,
 * src-size). */
void emit_CP_ASYNC(Cg *g, const Op *op)
{
	int bytes = (int)(attrs_int(&op->attrs, A_N, 1) *
			  elem_rows[IN(op, TO).val->type->elem].bits / 8);
	bool indexed = HAS_IN(op, INDEX), some = indexed || HAS_IX(op, COND);
	LLVMValueRef args[3] = {cg_smem_ptr(g, IN(op, TO), IX(op, BYTE)),
				cg_global_ptr(g, IN(op, FROM).val, IX(op, ELEMENT))};
	LLVMValueRef all = LLVMConstInt(g->m->i1, 1, false);
	char name[64];
	for (int i = IX_PLACE(op, COND); i < op->nix; i++)
		all = LLVMBuildAnd(g->b, all, cg_cond(g, op->ix[i]), "");
	if (some)
		args[2] = LLVMBuildSelect(g->b, all, cg_int32(g, bytes), cg_int32(g, 0), "");
	if (indexed)
		by_index(g, op, args);
	snprintf(name, sizeof name, "llvm.nvvm.cp.async.%s.shared.global.%d%s",
		 bytes == 16 ? "cg" : "ca", bytes, some ? ".s" : "");
	cg_call(g, name, NULL, args, some ? 3 : 2);
}

static void wait_groups(Cg *g, const Op *op, const char *intrinsic)
{
	LLVMValueRef n = cg_int32(g, attrs_int(&op->attrs, A_N, 0));
	cg_call(g, intrinsic, NULL, &n, 1);
}

#define WAIT(id, intrinsic)                    \
	void emit_##id(Cg *g, const Op *op)    \
	{                                      \
		wait_groups(g, op, intrinsic); \
	}
WAIT(BULK_WAIT_READ, "llvm.nvvm.cp.async.bulk.wait.group.read")
WAIT(BULK_WAIT, "llvm.nvvm.cp.async.bulk.wait.group")
WAIT(COPY_WAIT, "llvm.nvvm.cp.async.wait.group")
