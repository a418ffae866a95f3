/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_place.c - where a kernel can be changed, and what is made for a change.
 *     pick(c, is_wait)  ->  one of the kernel's mbar.wait, each as likely
 */
#include "stepper_place.h"

#include <string.h>

/* ------------------------------------------------------------------ places */
Op *pick(Change *c, Wanted wanted)
{
	int n = 0;
	Op *found = NULL;
	for (Op *op = kernel_first(c->k); op; op = op_next(op))
		if (wanted(op) && random_under(c->r, ++n) == 0)
			found = op;
	return found;
}

bool orders(const Op *op)
{
	switch ((int)op->kind) {
	case OP_MBAR_INIT:
	case OP_MBAR_EXPECT:
	case OP_MBAR_ARRIVE:
	case OP_MBAR_WAIT:
	case OP_COPY_COMMIT:
	case OP_COPY_WAIT:
	case OP_COPY_ARRIVE:
	case OP_FENCE_INIT:
	case OP_FENCE_ASYNC:
	case OP_BAR_CTA:
	case OP_BAR_CLUSTER:
	case OP_BAR_WARP:
	case OP_BAR_SYNC:
	case OP_BAR_ARRIVE:
	case OP_WGMMA_FENCE:
	case OP_WGMMA_COMMIT:
	case OP_WGMMA_WAIT:
	case OP_BULK_COMMIT:
	case OP_BULK_WAIT:
	case OP_BULK_WAIT_READ:
	case OP_GRID_WAIT:
	case OP_SETMAXNREG:
		return true;
	default:
		return false;
	}
}

bool is_staged(const Op *op)
{
	return op->kind == OP_ST_STAGED || op->kind == OP_ST_UNIT;
}

static bool accesses(const Op *op)
{
	return op->kind == OP_TMA_LOAD || op->kind == OP_TMA_STORE || op->kind == OP_WGMMA ||
	       op->kind == OP_LDMATRIX || op->kind == OP_STMATRIX || op->kind == OP_LD_SHARED ||
	       op->kind == OP_ST_SHARED || op->kind == OP_LD_PEER || is_staged(op);
}

bool acts(const Op *op)
{
	return orders(op) || accesses(op);
}

bool is_statement(const Op *op)
{
	return (acts(op) || op->kind == OP_IF || op->kind == OP_ELECT || op->kind == OP_FOR ||
		op->kind == OP_FOR_RING || op->kind == OP_CVT || op->kind == OP_FILL) &&
	       op_parent(op);
}

bool has_slot(const Op *op)
{
	for (int i = 0; i < op->nin; i++)
		if (op->in[i].at && op->in[i].val->def &&
		    attrs_int(&op->in[i].val->def->attrs, A_SLOTS, 0) > 1)
			return true;
	return false;
}

bool is_wait(const Op *op)
{
	return op->kind == OP_MBAR_WAIT;
}

bool is_arrive(const Op *op)
{
	return op->kind == OP_MBAR_ARRIVE;
}

bool is_loop(const Op *op)
{
	return op->kind == OP_FOR_RING || (op->kind == OP_FOR && !attrs_get(&op->attrs, A_UNROLL));
}

bool is_if(const Op *op)
{
	return op->kind == OP_IF;
}

bool is_branch(const Op *op)
{
	return (op->kind == OP_IF || op->kind == OP_ELECT) && op->body->first &&
	       op->body->first == op->body->last;
}

bool is_named(const Op *op)
{
	return op->kind == OP_BAR_SYNC || op->kind == OP_BAR_ARRIVE;
}

bool is_tma(const Op *op)
{
	return op->kind == OP_TMA_LOAD || op->kind == OP_TMA_STORE;
}

bool is_fill(const Op *op)
{
	return op->kind == OP_STMATRIX || op->kind == OP_ST_SHARED;
}

bool is_read(const Op *op)
{
	return op->kind == OP_LDMATRIX || op->kind == OP_LD_SHARED || is_staged(op);
}

bool is_cvt(const Op *op)
{
	return op->kind == OP_CVT && op->in[0].val->def && op->in[0].val->def->kind == OP_PART;
}

bool is_mma_step(const Op *op)
{
	return op->kind == OP_WGMMA || op->kind == OP_WGMMA_COMMIT || op->kind == OP_WGMMA_WAIT;
}

bool is_meeting(const Op *op)
{
	return op->kind == OP_BAR_SYNC || op->kind == OP_BAR_CTA || op->kind == OP_BAR_CLUSTER ||
	       op->kind == OP_BAR_WARP;
}

bool is_shared_load(const Op *op)
{
	return op->kind == OP_TMA_LOAD && attrs_int(&op->attrs, A_SHARED, 0);
}

bool has_number(const Op *op)
{
	return attrs_get(&op->attrs, A_COUNT) || attrs_get(&op->attrs, A_BYTES) ||
	       (orders(op) && attrs_get(&op->attrs, A_N)) || attrs_get(&op->attrs, A_THREADS);
}

/* ------------------------------------------------------------------ tools */
const Ix *ix_num(Change *c, int64_t v)
{
	return ix_const(c->k->ctx, v);
}

const Ix *ix_plus(Change *c, const Ix *x, int64_t v)
{
	return ix_add(c->k->ctx, x, ix_num(c, v));
}

const Ix *ix_name(Change *c, const char *s)
{
	return ix_sym(c->k->ctx, ctx_str(c->k->ctx, s));
}

Op *copy_of(Change *c, const Op *op)
{
	Op *o = op_new(c->k, op->kind, op->loc);
	for (int i = 0; i < op->nin; i++)
		op_in(c->k, o, op->in[i].val, op->in[i].at);
	for (int i = 0; i < op->nix; i++)
		op_ix(c->k, o, op->ix[i]);
	for (int i = 0; i < op->attrs.n; i++)
		attrs_set(c->k->ctx, &o->attrs, op->attrs.at[i]);
	if (op->out)
		op_result(c->k, o, kernel_fresh(c->k, op->out->name), op->out->type);
	return o;
}

/* The statement that holds op alone. */
Op *statement(Op *op)
{
	for (Op *up = op_parent(op);
	     up && !op->prev && !op->next && (up->kind == OP_IF || up->kind == OP_ELECT);
	     up = op_parent(op))
		op = up;
	return op;
}

/* The enclosing loop's variable, a size, or a warp's number. */
const Ix *something(Change *c, const Op *op)
{
	static const char *const names[] = {"warp", "lane", "tid"};
	const Op *up = op_parent(op);
	for (int skip = random_under(c->r, 3); up; up = op_parent(up))
		if ((up->kind == OP_FOR || up->kind == OP_FOR_RING) && skip-- <= 0)
			return ix_sym(c->k->ctx, up->sym[0]);
	return ix_name(c, names[random_under(c->r, (int)COUNTOF(names))]);
}

const Ix *some_lanes(Change *c)
{
	Ctx *x = c->k->ctx;
	const Ix *lane = ix_name(c, "lane"), *warp = ix_name(c, "warp"), *tid = ix_name(c, "tid");
	switch (random_under(c->r, 6)) {
	case 0:
		return ix_new(x, IX_EQ, lane, ix_num(c, 0));
	case 1:
		return ix_new(x, IX_LT, lane, ix_num(c, 1 + random_under(c->r, 31)));
	case 2:
		return ix_new(x, IX_EQ, ix_mod(x, warp, ix_num(c, 4)),
			      ix_num(c, random_under(c->r, 4)));
	case 3:
		return ix_new(x, IX_EQ, ix_mod(x, tid, ix_num(c, 128)), ix_num(c, 0));
	case 4:
		return ix_new(x, IX_NE, lane, ix_num(c, random_under(c->r, 32)));
	default:
		return ix_new(x, IX_LT, ix_num(c, random_under(c->r, 4)), ix_name(c, "warp"));
	}
}

Op *branch_before(Change *c, Op *at, const Ix *cond)
{
	Op *branch = op_new(c->k, OP_IF, at->loc);
	op_ix(c->k, branch, cond);
	op_insert_before(at, branch);
	return branch;
}

void put_into(Change *c, Op *region, Op *op)
{
	if (op->block)
		op_remove(op);
	block_append(op_body(c->k, region), op);
}
