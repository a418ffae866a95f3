/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* rings.c - each buffer of a pipeline gets the pipeline's slots, each access its position in the
 * ring: the number of iterations before it, over all loops around it. Roles are split later, so a
 * position is true of the program, whoever runs it.
 *     for t { for k (0, T) { load.tma %sA } }   ->   load.tma %sA[t * T + k] */
#include "passes/why.h"

enum { MOST_STAGES = 8, BARRIER_BYTES = 8, ALIGN = 1024 };

/* ------------------------------------------------------------------ stages */
static int64_t stage_bytes(const Kernel *k, const char *ring)
{
	int64_t bytes = 0;
	for (const Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED))
		if (attrs_str(&op->attrs, A_RING, "") == ring)
			bytes += type_slot_bytes(op->out->type);
	return bytes;
}

static int64_t settled_bytes(const Kernel *k)
{
	int64_t bytes = 0;
	for (const Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED))
		if (!attrs_get(&op->attrs, A_OVER))
			bytes += round_up(type_slot_bytes(op->out->type) *
						  attrs_int(&op->attrs, A_SLOTS, 0) *
						  attrs_int(&op->attrs, A_GROUPS, 1),
					  ALIGN);
	return bytes;
}

static int stages_that_fit(Kernel *k, const char *ring)
{
	int64_t bytes = stage_bytes(k, ring) + (int64_t)2 * BARRIER_BYTES;
	int64_t left = target_by_name(k->target)->smem_bytes - settled_bytes(k), fit = left / bytes;
	int stages = fit > MOST_STAGES ? MOST_STAGES : fit < 1 ? 1 : (int)fit;
	why_stages(k, ring, stages, bytes, left, MOST_STAGES);
	return stages;
}

static int ring_stages(Kernel *k, Op *ring)
{
	int64_t n = attrs_int(&k->attrs, A_STAGES, 0);
	if (!n)
		n = attrs_int(&ring->attrs, A_SLOTS, 0);
	return n ? (int)n : stages_that_fit(k, ring->sym[0]);
}

static void set_slots(Kernel *k, Op *ring, int slots)
{
	op_int(k, ring, A_SLOTS, slots);
	for (Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED))
		if (attrs_str(&op->attrs, A_RING, "") == ring->sym[0])
			op_int(k, op, A_SLOTS, slots);
}

/* ------------------------------------------------------------------ positions */
static const Ix *position(const Kernel *k, const Op *op)
{
	Ctx *c = k->ctx;
	const Op *loop = op_parent(op);
	while (loop && loop->kind != OP_FOR)
		loop = op_parent(loop);
	if (!loop)
		return ix_int(k, 0);
	const Ix *trips = ix_sub(c, loop->ix[1], loop->ix[0]), *here = ix_sym(c, loop->sym[0]);
	return ix_add(c, ix_mul(c, position(k, loop), trips), ix_sub(c, here, loop->ix[0]));
}

static void set_positions(Kernel *k, const char *ring)
{
	for (Op *op = kernel_first(k); op; op = op_next(op))
		for (int i = 0; i < op->nin; i++)
			if (operand_on_ring(&op->in[i], ring) && !op->in[i].at)
				op->in[i].at = position(k, op);
}

static bool check_stages(Kernel *k, const Op *ring, int stages, int inflight)
{
	if (stages > inflight)
		return true;
	diag_remedy(k->ctx,
		    diag(k->ctx, ring->loc, D_E0406,
			 "pipeline %s has %d stage%s with %d wgmma group%s in flight: a load would "
			 "wait for a "
			 "slot that is never released",
			 ring->sym[0], stages, stages > 1 ? "s" : "", inflight,
			 inflight > 1 ? "s" : ""),
		    "use at least %d stages, or inflight %d", inflight + 1, stages - 1);
	return false;
}

/* A ring whose slots a pass has set is not the user's. */
static bool is_settled(const Kernel *k, const Op *ring)
{
	for (const Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED))
		if (attrs_str(&op->attrs, A_RING, "") == ring->sym[0] &&
		    attrs_get(&op->attrs, A_SLOTS))
			return true;
	return false;
}

void pass_rings(Kernel *k)
{
	int inflight = (int)attrs_int(&k->attrs, A_INFLIGHT, 1);
	kernel_int(k, A_INFLIGHT, inflight);
	for (Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING)) {
		if (is_settled(k, ring))
			continue;
		int stages = ring_stages(k, ring);
		if (!check_stages(k, ring, stages, inflight))
			return;
		set_slots(k, ring, stages);
		set_positions(k, ring->sym[0]);
	}
}
