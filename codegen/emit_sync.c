/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_sync.c - barriers, fences and register budgets, each an intrinsic of LLVM. A wait spins on
 * try_wait, or on test_wait where there is none; a remote arrive is the form without a scope, which
 * needs no memory barrier before it. */
#include "codegen/cg.h"

static void plain(Cg *g, const char *intrinsic)
{
	cg_call(g, intrinsic, NULL, NULL, 0);
}

void emit_MBAR_INIT(Cg *g, const Op *op)
{
	LLVMValueRef args[2] = {cg_smem_ptr(g, IN(op, BARRIER), NULL),
				op->nix ? cg_i32(g, IX(op, COUNT))
					: cg_int32(g, attrs_int(&op->attrs, A_COUNT, 1))};
	cg_call(g, "llvm.nvvm.mbarrier.init.shared", NULL, args, 2);
}

void emit_MBAR_EXPECT(Cg *g, const Op *op)
{
	LLVMValueRef args[2] = {cg_smem_ptr(g, IN(op, BARRIER), NULL),
				cg_int32(g, attrs_int(&op->attrs, A_BYTES, 0))};
	cg_call(g, "llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta", NULL, args, 2);
}

/* Without FT_MBAR_TX a thread arrives once, and is told of the phase. */
static void arrive_alone(Cg *g, const Op *op)
{
	LLVMValueRef barrier = cg_smem_ptr(g, IN(op, BARRIER), NULL);
	for (int64_t n = attrs_int(&op->attrs, A_COUNT, 1); n > 0; n--)
		cg_call(g, "llvm.nvvm.mbarrier.arrive.shared", NULL, &barrier, 1);
}

void emit_MBAR_ARRIVE(Cg *g, const Op *op)
{
	const Ix *rank = op->nix ? IX(op, RANK) : NULL;
	if (!target_has(g->k->target, FT_MBAR_TX)) {
		arrive_alone(g, op);
		return;
	}
	LLVMValueRef args[2] = {rank ? cg_smem_ptr_of(g, IN(op, BARRIER), rank, NULL)
				     : cg_smem_ptr(g, IN(op, BARRIER), NULL),
				cg_int32(g, attrs_int(&op->attrs, A_COUNT, 1))};
	cg_call(g,
		rank ? "llvm.nvvm.mbarrier.arrive.scope.cta.space.cluster"
		     : "llvm.nvvm.mbarrier.arrive.scope.cta.space.cta",
		NULL, args, 2);
}

/* The barrier's count has these arrivals already (PTX ISA: cp.async.mbarrier.arrive, noinc). */
void emit_COPY_ARRIVE(Cg *g, const Op *op)
{
	LLVMValueRef barrier = cg_smem_ptr(g, IN(op, BARRIER), NULL);
	cg_call(g, "llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared", NULL, &barrier, 1);
}

void emit_MBAR_WAIT(Cg *g, const Op *op)
{
	LLVMValueRef args[2] = {cg_smem_ptr(g, IN(op, BARRIER), NULL), cg_i32(g, IX(op, PHASE))};
	LLVMBasicBlockRef wait = cg_new_block(g, "wait"), done = cg_new_block(g, "ready");
	cg_goto(g, wait);
	LLVMValueRef ok =
		cg_call(g,
			target_has(g->k->target, FT_MBAR_TX)
				? "llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta"
				: "llvm.nvvm.mbarrier.test.wait.parity.scope.cta.space.cta",
			NULL, args, 2);
	LLVMBuildCondBr(g->b, ok, done, wait);
	LLVMPositionBuilderAtEnd(g->b, done);
}

/* Operations that are an intrinsic without arguments. */
#define PLAIN(name, intrinsic)                \
	void emit_##name(Cg *g, const Op *op) \
	{                                     \
		(void)op;                     \
		plain(g, intrinsic);          \
	}
PLAIN(FENCE_INIT, "llvm.nvvm.fence.mbarrier_init.release.cluster")
PLAIN(FENCE_ASYNC, "llvm.nvvm.fence.proxy.async.shared_cta")
PLAIN(GRID_WAIT, "llvm.nvvm.griddepcontrol.wait")
PLAIN(GRID_LAUNCH, "llvm.nvvm.griddepcontrol.launch.dependents")
PLAIN(COPY_COMMIT, "llvm.nvvm.cp.async.commit.group")
PLAIN(BULK_COMMIT, "llvm.nvvm.cp.async.bulk.commit.group")
PLAIN(WGMMA_COMMIT, "llvm.nvvm.wgmma.commit_group.sync.aligned")

void emit_BAR_CTA(Cg *g, const Op *op)
{
	LLVMValueRef id = cg_int32(g, 0);
	(void)op;
	cg_call(g, "llvm.nvvm.barrier.cta.sync.aligned.all", NULL, &id, 1);
}

void emit_BAR_CLUSTER(Cg *g, const Op *op)
{
	plain(g, attrs_int(&op->attrs, A_RELAXED, 0)
			 ? "llvm.nvvm.barrier.cluster.arrive.relaxed.aligned"
			 : "llvm.nvvm.barrier.cluster.arrive.aligned");
	plain(g, "llvm.nvvm.barrier.cluster.wait.aligned");
}

void emit_BAR_WARP(Cg *g, const Op *op)
{
	LLVMValueRef mask = cg_int32(g, -1);
	(void)op;
	cg_call(g, "llvm.nvvm.bar.warp.sync", NULL, &mask, 1);
}

static void named_barrier(Cg *g, const Op *op, const char *intrinsic)
{
	LLVMValueRef args[2] = {cg_i32(g, IX(op, NUMBER)),
				cg_int32(g, attrs_int(&op->attrs, A_THREADS, 0))};
	cg_call(g, intrinsic, NULL, args, 2);
}

void emit_BAR_SYNC(Cg *g, const Op *op)
{
	named_barrier(g, op, "llvm.nvvm.barrier.cta.sync.aligned.count");
}

void emit_BAR_ARRIVE(Cg *g, const Op *op)
{
	named_barrier(g, op, "llvm.nvvm.barrier.cta.arrive.aligned.count");
}

void emit_SETMAXNREG(Cg *g, const Op *op)
{
	LLVMValueRef regs = cg_int32(g, attrs_int(&op->attrs, A_REGS, 0));
	cg_call(g,
		attrs_int(&op->attrs, A_N, 0) ? "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"
					      : "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32",
		NULL, &regs, 1);
}
