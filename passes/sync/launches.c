/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* launches.c - programmatic dependent launch: a role waits for earlier launches before it
 * accesses what they may still access; all before that, and the next launch's beginning, overlaps.
 * What is constant nobody writes any more, so its reads wait for nothing.
 *     load.tma %sW[k] of `arg constant %W`, in a role that touches nothing else  ->  no grid.wait
 *     load.tma %sA[k] of `arg %A`  ->  grid.wait before the loop */
#include "passes/sync/sync.h"

/* Whether bytes from global memory arrive on the barrier. */
bool sync_announces_loads(const Kernel *k, const Val *barrier)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op_done_by(op, DONE_BY_BARRIER) && op_takes(op, barrier))
			return true;
	return false;
}

/* The tensor that an operand lies in, itself or through a tensor map; NULL: in none. */
static const Val *tensor_of(const Operand *in)
{
	const Val *v = in->val;
	while (v->arg < 0 && v->def && v->def->nin &&
	       (v->type->kind == TY_TMAP ||
		(v->type->kind == TY_TILE && v->type->space == SP_GLOBAL)))
		v = IN(v->def, OF).val;
	return v->arg >= 0 && v->type->kind == TY_TILE ? v : NULL;
}

/* The constant tensor that op reads through operand i, or NULL. */
static const Val *constant_read(const Kernel *k, const Op *op, int i)
{
	const Val *v = op_effect(op, i) ? tensor_of(&op->in[i]) : NULL;
	return v && k->args.at[v->arg].is_constant ? v : NULL;
}

/* Whether op accesses what earlier launches may still write or read. */
static bool touches_global(const Kernel *k, const Op *op)
{
	if (op_rows[op->kind].flags & OPF_GLOBAL)
		return true;
	for (int i = 0; i < op->nin; i++) {
		const Type *t = op->in[i].val->type;
		if (op_effect(op, i) && !constant_read(k, op, i) &&
		    (t->kind == TY_TMAP || (t->kind == TY_TILE && t->space == SP_GLOBAL)))
			return true;
	}
	return false;
}

/* Whether among the bytes that arrive on the barrier are some whose load has waited. */
static bool brings_waited(const Kernel *k, const Val *barrier)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op_done_by(op, DONE_BY_BARRIER) && op_takes(op, barrier) &&
		    touches_global(k, op))
			return true;
	return false;
}

/* Whether op always runs after a wait for bytes whose load has waited already. */
static bool follows_loads(const Kernel *k, const Op *op)
{
	for (; op && op->kind != OP_ROLE; op = op_parent(op))
		for (const Op *before = op->prev; before; before = before->prev)
			if (before->kind == OP_MBAR_WAIT &&
			    brings_waited(k, IN(before, BARRIER).val))
				return true;
	return false;
}

/* Whether op or what is in it must wait. */
static bool must_wait(const Kernel *k, const Op *region)
{
	for (const Op *op = region; op == region || (op && op_inside(op, region)); op = op_next(op))
		if (touches_global(k, op) && !follows_loads(k, op))
			return true;
	return false;
}

static bool has_loop(const Op *region)
{
	for (const Op *op = op_next(region); op && op_inside(op, region); op = op_next(op))
		if (op->kind == OP_FOR)
			return true;
	return false;
}

/* Where a role waits: as late as one wait serves all that must, but outside of innermost loops.
 * Addresses of the first tile are computed before; later tiles wait for nothing. */
static Op *place_of_wait(const Kernel *k, Op *region)
{
	Op *only = NULL;
	for (Op *op = region->body->first; op; op = op->next) {
		if (!must_wait(k, op))
			continue;
		if (only)
			return only;
		only = op;
	}
	return only && has_loop(only) ? place_of_wait(k, only) : only;
}

/* ------------------------------------------------------------------ what goes before */
static bool has_waited(const Op *op)
{
	for (; op; op = op_parent(op))
		for (const Op *before = op->prev; before; before = before->prev)
			if (op_has(before, FX_ACQUIRE_LAUNCHES))
				return true;
	return false;
}

/* Whether reads of the tensor wait; the ring that some of these fill, or NULL. */
static bool reads_wait(const Kernel *k, const Val *tensor, const char **ring)
{
	bool all = true;
	*ring = NULL;
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		for (int i = 0; i < op->nin; i++) {
			if (constant_read(k, op, i) != tensor)
				continue;
			all &= has_waited(op);
			if (has_waited(op) && op_done_by(op, DONE_BY_BARRIER))
				*ring = attrs_str(&IN(op, TO).val->def->attrs, A_RING, NULL);
		}
	return all || *ring;
}

static void say_constants(Kernel *k)
{
	for (int i = 0; i < k->args.n; i++) {
		const Val *v = k->args.at[i].val;
		const char *ring;
		if (!k->args.at[i].is_constant)
			continue;
		if (!reads_wait(k, v, &ring))
			kernel_why(k, REASON_CONSTANT, v->name, 1,
				   "its loads go before the wait for the launch ahead");
		else if (ring)
			kernel_why(k, REASON_CONSTANT, v->name, 0,
				   "its loads wait for the launch ahead: pipeline %s has others "
				   "that must; with a pipeline of its own they go before",
				   ring);
		else
			kernel_why(k, REASON_CONSTANT, v->name, 0,
				   "it is read after what must wait for the launch ahead");
	}
}

/* What all roles need to know is read before them. */
static void wait_before_roles(Kernel *k)
{
	for (Op *op = kernel_first(k); op && op->kind != OP_ROLE; op = op->next)
		if (must_wait(k, op)) {
			op_before(k, op, OP_GRID_WAIT);
			return;
		}
}

PASS_OF(launches)
{
	if (!attrs_int(&k->attrs, A_PDL, 1) || !target_has(k->target, FT_PDL))
		return;
	wait_before_roles(k);
	for (Op *role = kernel_find(k, OP_ROLE); role; role = op_find_next(role, OP_ROLE)) {
		Op *at = place_of_wait(k, role);
		if (at && !has_waited(role))
			op_before(k, at, OP_GRID_WAIT);
	}
	op_before(k, kernel_find(k, OP_ROLE), OP_GRID_LAUNCH);
	say_constants(k);
}
