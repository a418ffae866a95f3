/* pipeline.c - rings. Each buffer of a pipeline gets the ring's slots, each access its position:
 * the iteration of the loop it stands in. A role that both loads and multiplies is
 * software-pipelined: loads run `ahead` iterations before, the first of them in a prologue. for k
 * (0, T) { load.tma %sA; mma.wgmma %sA }
 * ->  for p (0, min(S - inflight, T)) { load.tma %sA[p] }
 *     for k (0, T) { mma.wgmma %sA[k]; if (k + S - inflight < T) { load.tma %sA[k + S - inflight] }
 * } */
#include "passes/pass.h"

#include <string.h>

enum { MOST_STAGES = 8, BARRIER_BYTES = 8 };

static bool on_ring(const Operand *in, const char *ring)
{
	return in->val->type->kind == TY_TILE && in->val->type->space == SP_SHARED &&
	       attrs_str(&in->val->def->attrs, A_RING, "") == ring;
}

static bool op_on_ring(const Op *op, const char *ring)
{
	for (int i = 0; i < op->nin; i++)
		if (on_ring(&op->in[i], ring))
			return true;
	return false;
}

static bool is_load(void *ring, const Op *op)
{
	return (op_rows[op->kind].flags & OPF_PURE) ||
	       ((op_rows[op->kind].effects & FX_ONE) && op_on_ring(op, ring));
}

/* ------------------------------------------------------------------ stages */
static int64_t stage_bytes(const Kernel *k, const char *ring)
{
	int64_t bytes = 0;
	for (const Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED))
		if (attrs_str(&op->attrs, A_RING, "") == ring)
			bytes += type_slot_bytes(op->out->type);
	return bytes;
}

static int stages_that_fit(const Kernel *k, const char *ring)
{
	int64_t bytes = stage_bytes(k, ring) + (int64_t)2 * BARRIER_BYTES;
	int64_t fit = target_by_name(k->target)->smem_bytes / (bytes ? bytes : 1);
	return fit > MOST_STAGES ? MOST_STAGES : fit < 1 ? 1 : (int)fit;
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
	for (op = op_parent(op); op; op = op_parent(op))
		if (op->kind == OP_FOR)
			return ix_sub(k->ctx, ix_sym(k->ctx, op->sym[0]), op->ix[0]);
	return ix_int(k, 0);
}

static void set_positions(Kernel *k, const char *ring)
{
	for (Op *op = kernel_first(k); op; op = op_next(op))
		for (int i = 0; i < op->nin; i++)
			if (on_ring(&op->in[i], ring) && !op->in[i].at)
				op->in[i].at = position(k, op);
}

/* ------------------------------------------------------------------ one role */
/* The loop whose body both fills and empties the ring. */
static Op *mixed_loop(const Kernel *k, const char *ring)
{
	for (Op *loop = kernel_find(k, OP_FOR); loop; loop = op_find_next(loop, OP_FOR)) {
		bool loads = false, others = false;
		for (const Op *op = loop->body->first; op; op = op->next) {
			bool one = op_rows[op->kind].effects & FX_ONE;
			loads |= op_on_ring(op, ring) && one;
			others |= op_on_ring(op, ring) && !one;
		}
		if (loads && others)
			return loop;
	}
	return NULL;
}

static void drop_loads(Op *loop, const char *ring)
{
	for (Op *op = loop->body->first, *next; op; op = next) {
		next = op->next;
		if ((op_rows[op->kind].effects & FX_ONE) && op_on_ring(op, ring))
			op_remove(op);
	}
}

static void look_ahead(Kernel *k, Op *loop, const char *ring, int ahead)
{
	Ctx *c = k->ctx;
	const Ix *from = loop->ix[0], *to = loop->ix[1];
	Op *prologue = op_before(k, loop, OP_FOR);
	const char *name = kernel_fresh(k, loop->sym[0]);
	const Ix *last = ix_add(c, from, ix_int(k, ahead));
	op_sym(k, prologue, name);
	op_ix(k, prologue, from);
	op_ix(k, prologue, ix_new(c, IX_MIN, last, to));
	SymSub early = {loop->sym[0], ix_sym(c, name)};
	block_copy(k, loop->body, op_body(k, prologue), &early, 1, is_load,
		   (void *)(uintptr_t)ring);

	const Ix *later = ix_add(c, ix_sym(c, loop->sym[0]), ix_int(k, ahead));
	SymSub late = {loop->sym[0], later};
	Op *rest = op_new(k, OP_IF, loop->loc);
	op_ix(k, rest, ix_new(c, IX_LT, later, to));
	block_copy(k, loop->body, op_body(k, rest), &late, 1, is_load, (void *)(uintptr_t)ring);
	drop_loads(loop, ring);
	block_append(loop->body, rest);
}

/* ------------------------------------------------------------------ */
static bool check_stages(Kernel *k, const Op *ring, int stages, int inflight, bool mixed)
{
	if (stages > inflight)
		return true;
	diag_remedy(k->ctx,
		    diag(k->ctx, ring->loc, D_E0406,
			 "pipeline %s has %d stage%s with %d wgmma group%s in flight: %s would "
			 "wait for a slot "
			 "that is never released",
			 ring->sym[0], stages, stages > 1 ? "s" : "", inflight,
			 inflight > 1 ? "s" : "", mixed ? "the role" : "the producer"),
		    "use at least %d stages, or inflight %d", inflight + 1, stages - 1);
	return false;
}

void pass_pipeline(Kernel *k)
{
	int inflight = (int)attrs_int(&k->attrs, A_INFLIGHT, 1);
	for (Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING)) {
		const char *name = ring->sym[0];
		int stages = ring_stages(k, ring);
		Op *mixed = mixed_loop(k, name);
		if (!check_stages(k, ring, stages, inflight, mixed != NULL))
			return;
		set_slots(k, ring, stages);
		set_positions(k, name);
		if (mixed)
			look_ahead(k, mixed, name, stages - inflight);
	}
	kernel_int(k, A_INFLIGHT, inflight);
	kernel_sweep(k);
}
