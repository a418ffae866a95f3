/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stand_in.c - a second kernel of the module, for kernels whose schedule asks for one: threads copy
 * what the first loads by TMA, so that a launch without workspace has a way where TMA's rules do
 * not hold. It has the facts that rows are multiples of what a thread copies.
 *     kernel gemm .. cp_async=8 { copy %sA, %t }
 * ->  the same, and
 *     kernel gemm_cp_async .. stands_in="gemm" { copy %sA, %t via="cp.async" bytes=8 } */
#include "ir/schedule.h"
#include "passes/ways.h"

#include <string.h>

static bool has_one(const Module *m, const Kernel *k)
{
	for (int i = 0; i < m->kernels.n; i++)
		if (schedule_stands_in(m->kernels.at[i]) == k->name)
			return true;
	return false;
}

static bool is_taken(const Module *m, const char *name)
{
	for (int i = 0; i < m->kernels.n; i++)
		if (!strcmp(m->kernels.at[i]->name, name))
			return true;
	return false;
}

static const char *free_name(const Module *m, const Kernel *k)
{
	const char *name = ctx_strf(m->ctx, "%s_cp_async", k->name);
	while (is_taken(m, name))
		name = ctx_strf(m->ctx, "%s_", name);
	return name;
}

/* A tile that TMA would bring into a buffer. */
static bool is_loaded(const Op *op)
{
	const Val *to = op->kind == OP_COPY ? op->in[0].val : NULL;
	const char *via = attrs_str(&op->attrs, A_VIA, "");
	return to && to->type->space == SP_SHARED && op->in[1].val->def &&
	       op->in[1].val->def->kind == OP_TILE && (*via || !tile_indices(op->in[1].val)) &&
	       strcmp(via, way_rows[WAY_CP_ASYNC].words) != 0;
}

static void learn(Kernel *k, const Ix *x, int64_t n, const char *rule, Loc loc)
{
	Ctx *c = k->ctx;
	int64_t known = ix_divisor(x, kernel_facts(k));
	int64_t both = known;
	if (known % n == 0)
		return;
	while (both % n)
		both += known;
	const Ix *cond = ix_new(c, IX_EQ, ix_new(c, IX_MOD, x, ix_const(c, n)), ix_const(c, 0));
	Buf text = {0};
	ix_print(cond, &text);
	kernel_fact(k, cond, text.s, rule, loc);
	buf_free(&text);
	if (x->kind == IX_SYM)
		kernel_sym(k, x->name, INT64_MIN, INT64_MAX, both);
}

/* Neighbours, and what lies beside them, in whole units. */
static void learn_modes(Kernel *k, const Tup *shape, const Tup *stride, int64_t n, const char *rule,
			Loc loc)
{
	if (!tup_is_leaf(stride)) {
		for (int i = 0; i < stride->n; i++)
			learn_modes(k, shape->at[i], stride->at[i], n, rule, loc);
		return;
	}
	bool neighbours = ix_is(stride->leaf, 1);
	const Ix *x = neighbours ? shape->leaf : stride->leaf;
	if (!ix_is_const(x, NULL))
		learn(k, x, n, rule, loc);
}

static void copy_by_threads(Kernel *k, Op *copy, int bytes)
{
	const Val *tensor = copy->in[1].val->def->in[0].val;
	const char *rule =
		ctx_strf(k->ctx, "threads copy %s, %d bytes at a time", tensor->name, bytes);
	int64_t n = (int64_t)bytes * 8 / elem_rows[tensor->type->elem].bits;
	op_str(k, copy, A_VIA, way_rows[WAY_CP_ASYNC].words);
	op_int(k, copy, A_BYTES, bytes);
	attrs_drop(&copy->attrs, A_MULTICAST);
	attrs_drop(&copy->attrs, A_CACHE);
	if (n > 1)
		learn_modes(k, tensor->type->layout->shape, tensor->type->layout->stride, n, rule,
			    copy->loc);
}

static int copy_all(Kernel *k, int bytes)
{
	int some = 0;
	for (Op *op = kernel_first(k); op; op = op_next(op))
		if (is_loaded(op)) {
			copy_by_threads(k, op, bytes);
			some++;
		}
	return some;
}

static bool needs_one(Kernel *k)
{
	bool some = false;
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		some |= is_loaded(op);
	if (some && target_has(k->target, way_rows[WAY_TMA_LOAD].first))
		return true;
	diag_remedy(
		k->ctx,
		diag(k->ctx, k->loc, D_E0407,
		     some ? "cp_async asks for a stand-in of kernel %s, all of whose copies are "
			    "by threads already: %s has no TMA"
			  : "cp_async asks for a stand-in of kernel %s, which loads no buffer "
			    "by TMA on %s",
		     k->name, k->target),
		"leave cp_async out of the schedule");
	return false;
}

static void add(Module *m, Kernel *k, int bytes)
{
	if (!needs_one(k))
		return;
	Kernel *in = kernel_copy(m, k, free_name(m, k));
	kernel_str(in, A_STANDS_IN, k->name);
	attrs_drop(&in->attrs, A_CP_ASYNC);
	attrs_drop(&in->attrs, A_ROLE_REGS); /* of one warp that issues, not of those that copy */
	copy_all(in, bytes);
	kernel_why(
		k, REASON_STAND_IN, in->name, bytes,
		"where a launch has no workspace for copies, and rows and addresses are multiples "
		"of %d bytes, the launcher takes %s of this module, whose threads copy so many "
		"at a time",
		bytes, in->name);
}

void add_stand_ins(Module *m)
{
	for (int i = 0, n = m->kernels.n; i < n; i++) {
		Kernel *k = m->kernels.at[i];
		int bytes = (int)attrs_int(&k->attrs, A_CP_ASYNC, 0);
		if (bytes && k->stage == ST_TILE && !has_one(m, k))
			add(m, k, bytes);
	}
}
