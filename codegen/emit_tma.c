/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_tma.c - tensor maps and the copies that read through them.
 *     tma.load %sA[s], %A.map, %full[s] (0, k * 64, m * 128)
 *     ->  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
 * A load for several CTAs (shared=1, mask last) lands in each at the same place of its own shared
 * memory, and completes on the same barrier there. */
#include "codegen/cg.h"

#include <stdio.h>

/* The kernel's parameter is bound to the map's value in module.c. */
void emit_TMAP(Cg *g, const Op *op)
{
	(void)cg_val(g, op->out);
}

/* Inline, since the intrinsic on a parameter comes out twice, in two state spaces (LLVM 22.1). */
void emit_TMAP_PREFETCH(Cg *g, const Op *op)
{
	LLVMValueRef map = cg_reg(g, cg_val(g, IN(op, MAP).val), 0);
	cg_asm(g, ASM_ACTS, g->m->tvoid, "prefetch.tensormap [$0];", "l,~{memory}", &map, 1);
}

/* An address of the CTA's own shared memory is one of the cluster's (PTX ISA: state spaces); a cast
 * by way of generic addresses would compute it anew. */
static LLVMValueRef own_in_cluster(Cg *g, LLVMValueRef p)
{
	LLVMValueRef at = LLVMBuildPtrToInt(g->b, p, g->m->i64, "");
	return LLVMBuildIntToPtr(g->b, at, g->m->p7, "");
}

/* What L2 is to keep of a load; ptxas makes a constant of it. NULL: as it does by itself. */
static LLVMValueRef cache_policy(Cg *g, const Op *op)
{
	const char *word = attrs_str(&op->attrs, A_CACHE, NULL);
	char text[80];
	if (!word)
		return NULL;
	snprintf(text, sizeof text, "createpolicy.fractional.L2::%s.b64 $0, 1.0;", word);
	return cg_asm(g, ASM_COMPUTES, g->m->i64, text, "=l", NULL, 0);
}

/* Of box j of several by indices, or of the one. */
static LLVMValueRef coordinate(Cg *g, const Op *op, int i, int j)
{
	Elem elem = IN(op, TO).val->type->elem; /* a map of those under 8 bits is of bytes */
	const Layout *tensor = IN(IN(op, MAP).val->def, OF).val->type->layout;
	int mode = (int)attrs_int(&op->attrs, A_GATHER, -1);
	if (mode >= 0 && map_coordinate(tensor, mode) == i)
		return cg_reg(g, cg_val(g, IN(op, INDEX).val),
			      cg_first_register(g, &IN(op, INDEX)) + j);
	bool bytes = !i && elem_rows[elem].bits < 8;
	return cg_i32(g, bytes ? elem_bytes_of(g->m->ctx, elem, IX(op, COORD)) : op->ix[1 + i]);
}

static int64_t box_bytes(const Op *op)
{
	const Attr *box = attrs_get(&IN(op, MAP).val->def->attrs, A_BOX);
	int64_t n = 1;
	for (int i = 0; i < box->n; i++)
		n *= box->i[i];
	return elem_span(IN(op, TO).val->type->elem, n);
}

static void call_load(Cg *g, const char *form, int rank, LLVMValueRef *args, int n)
{
	char name[64];
	snprintf(name, sizeof name, "llvm.nvvm.cp.async.bulk.tensor.%s.tile.%dd", form, rank);
	cg_call(g, name, NULL, args, n);
}

/* Into the CTAs of mask, or the own one where it is NULL. */
static void load_cluster(Cg *g, int rank, LLVMValueRef *args, const Ix *mask, LLVMValueRef *hint)
{
	CgMod *m = g->m;
	int n = 3 + rank;
	LLVMValueRef ctas = mask ? cg_i32(g, mask) : cg_int32(g, 0);
	args[0] = own_in_cluster(g, args[0]);
	args[n++] = LLVMBuildTrunc(g->b, ctas, m->i16, "");
	args[n++] = hint[0];
	args[n++] = LLVMConstInt(m->i1, mask != NULL, false);
	args[n++] = hint[1];
	args[n++] = cg_int32(g, 0);
	call_load(g, "g2s", rank, args, n);
}

/* Where there are no clusters ptxas keeps an address in one in local memory. */
static void load_own(Cg *g, int rank, LLVMValueRef *args, LLVMValueRef *hint)
{
	int n = 3 + rank;
	args[n++] = hint[0];
	args[n++] = hint[1];
	call_load(g, "g2s.cta", rank, args, n);
}

/* Box j, which lies after those before it. */
static void load_box(Cg *g, const Op *op, int j)
{
	CgMod *m = g->m;
	LLVMValueRef args[3 + 5 + 5];
	bool shared = attrs_int(&op->attrs, A_SHARED, 0);
	int n = 0, rank = op->nix - 1 - shared;
	const Ix *byte = j ? ix_add(m->ctx, IX(op, BYTE), ix_const(m->ctx, j * box_bytes(op)))
			   : IX(op, BYTE);
	if (rank < 1 || rank > 5)
		panic("tma.load of rank %d", rank);
	args[n++] = cg_smem_ptr(g, IN(op, TO), byte);
	args[n++] = cg_smem_ptr(g, IN(op, BARRIER), NULL);
	args[n++] = cg_reg(g, cg_val(g, IN(op, MAP).val), 0);
	for (int i = 0; i < rank; i++)
		args[n++] = coordinate(g, op, i, j);
	LLVMValueRef policy = cache_policy(g, op);
	LLVMValueRef hint[2] = {policy ? policy : LLVMConstInt(m->i64, 0, false),
				LLVMConstInt(m->i1, policy != NULL, false)};
	if (target_has(g->k->target, FT_CLUSTERS))
		load_cluster(g, rank, args, shared ? op->ix[1 + rank] : NULL, hint);
	else
		load_own(g, rank, args, hint);
}

void emit_TMA_LOAD(Cg *g, const Op *op)
{
	for (int j = 0; j < attrs_int(&op->attrs, A_N, 1); j++)
		load_box(g, op, j);
}
