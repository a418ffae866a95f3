/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* spread.c - which thread holds which elements of a register tile. Accumulators are spread as their
 * mma has it; all that is computed from one, combined with one or assigned to one is spread alike,
 * along as many steps as it takes.
 *     mma %acc, %sA, %sB ; copy %c, %t ; %x = add %acc, %c
 * ->  %acc, %c, %x : reg f32 (64,256):(1,64) tv ((4,8,4),(2,2,32)):((128,1,16),(64,8,512)) */
#include "passes/pass.h"

static bool is_registers(const Val *v)
{
	return v && v->type->kind == TY_TILE && v->type->space == SP_REG;
}

/* Whether all register tiles that op names are spread over threads alike. */
static bool spreads_alike(const Op *op)
{
	return op_rows[op->kind].flags & OPF_ELT ||
	       (op->kind == OP_COPY && is_registers(op->in[0].val) && is_registers(op->in[1].val));
}

enum { MOST_TILES = 4 }; /* of one op: operands and a result */

static int tiles_of(const Op *op, Val **at)
{
	int n = 0;
	for (int i = 0; i < op->nin; i++)
		if (is_registers(op->in[i].val))
			at[n++] = op->in[i].val;
	if (is_registers(op->out))
		at[n++] = op->out;
	return n;
}

/* What is known of one tile of the op holds for the others; true where that is new. */
static bool pass_on(Kernel *k, Op *op)
{
	Val *at[MOST_TILES];
	int n = tiles_of(op, at);
	bool news = false;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n && at[i]->type->tv; j++) {
			const Type *t = at[j]->type;
			if (t->tv || t->layout != at[i]->type->layout)
				continue;
			at[j]->type = type_frag(k->ctx, t->elem, t->layout, at[i]->type->tv);
			news = true;
		}
	return news;
}

static void pass_on_all(Kernel *k)
{
	for (bool news = true; news;) {
		news = false;
		for (Op *op = kernel_first(k); op; op = op_next(op))
			news |= spreads_alike(op) && pass_on(k, op);
	}
}

/* What has to do with no accumulator is spread as the first of its shape. */
static bool adopt(Kernel *k, Val *v)
{
	for (const Op *op = kernel_find(k, OP_MMA); op; op = op_find_next(op, OP_MMA)) {
		const Type *acc = op->in[0].val->type;
		if (acc->layout != v->type->layout)
			continue;
		v->type = type_frag(k->ctx, v->type->elem, acc->layout, acc->tv);
		return true;
	}
	return false;
}

static void adopt_rest(Kernel *k)
{
	for (Op *op = kernel_first(k); op; op = op_next(op)) {
		if (op->kind != OP_FRAG || op->out->type->tv)
			continue;
		if (!adopt(k, op->out)) {
			const Op *mma = kernel_find(k, OP_MMA);
			const Layout *acc = mma ? mma->in[0].val->type->layout : NULL;
			diag_remedy(k->ctx,
				    diag(k->ctx, op->loc, D_E0405,
					 "a tile of %s is read, the accumulator's is %s",
					 layout_str(k->ctx, op->out->type->layout),
					 acc ? layout_str(k->ctx, acc) : "none"),
				    "an epilogue reads tiles of the accumulator's shape");
			return;
		}
		pass_on_all(k);
	}
}

static void check_alike(Kernel *k, const Op *op)
{
	Val *at[MOST_TILES];
	int n = tiles_of(op, at);
	for (int i = 1; i < n; i++)
		if (at[i]->type->tv != at[0]->type->tv) {
			diag_remedy(
				k->ctx,
				diag(k->ctx, op->loc, D_E0405,
				     "%%%s and %%%s lie in registers in two orders, each as its "
				     "mma has it",
				     at[0]->name, at[i]->name),
				"give both mma the same N and the same arrangement");
			return;
		}
}

void spread_registers(Kernel *k)
{
	for (Op *op = kernel_find(k, OP_MMA); op; op = op_find_next(op, OP_MMA)) {
		Val *acc = op->in[0].val;
		acc->type = type_frag(k->ctx, acc->type->elem, acc->type->layout,
				      tiled_mma_tv(k->ctx, op_tiled_mma(op)));
	}
	pass_on_all(k);
	adopt_rest(k);
	for (Op *op = kernel_first(k); op && !pass_failed(k); op = op_next(op))
		if (spreads_alike(op))
			check_alike(k, op);
}
