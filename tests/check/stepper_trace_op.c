/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_trace_op.c - the steps of one op of the ptx stage that is no loop and no branch.
 *     mbar.wait %full[slot] (phase), slot = 1, phase = 0  ->  wait %full[1], parity 0
 */
#include "stepper_trace.h"

#include <string.h>

/* ------------------------------------------------------------------ single ops */
/* The launch ahead writes none of it. */
static bool is_constant(const Tracer *r, const Val *v)
{
	const Val *tensor = v->def ? v->def->in[0].val : v;
	return r->t->k->args.at[tensor->arg].is_constant;
}

/* Of the buffer, from that index operand on. */
static void trace_bytes(Tracer *r, const Op *op, int at, uint32_t lanes)
{
	bool staged = trace_is_staged(op), copies = op->kind == OP_CP_ASYNC;
	bool peer = op->kind == OP_LD_PEER;
	int64_t cta = peer ? trace_value(r, op, op->ix[0], lanes) : r->w->cta;
	int buffer = op->in[0].val->type->space == SP_SHARED ? 0 : 1;
	int slot = trace_slot(r, op, &op->in[buffer], lanes);
	if (trace_is_matrix(op) && lanes != ALL_LANES)
		trace_wrong(r, op, "an aligned instruction by some lanes");
	if (slot < 0)
		return;
	int foot = trace_lanes_foot(r, op, &op->in[buffer], slot, op->ix[at], lanes);
	if (cta < 0 || cta >= r->t->ctas) {
		trace_wrong(r, op, "a read in a CTA that is not in the cluster");
		return;
	}
	PtxStep *s = trace_push(r, op, op->kind, lanes);
	s->cta = (int)cta;
	s->foot = foot;
	s->global = staged || (copies && !is_constant(r, op->in[1].val));
	s->slot = trace_number(&r->first_slot, op->in[buffer].val) + slot;
}

/* Lanes read units of others too, of the same rows: all that a warp does. */
static void trace_generic(Tracer *r, const Op *op, uint32_t lanes)
{
	bool unit = op->kind == OP_ST_UNIT;
	bool second = op->kind == OP_ST_STAGED || op->kind == OP_LD_PEER;
	trace_bytes(r, op, unit ? IX_PLACE(op, BYTE) : second, lanes);
	if (unit)
		trace_bytes(r, op, IX_PLACE(op, BEFORE), lanes);
}

static int64_t box_bytes(const Op *map, const Operand *in)
{
	const Attr *box = map ? attrs_get(&map->attrs, A_BOX) : NULL;
	int64_t bits = elem_rows[in->val->type->elem].bits;
	for (int i = 0; box && i < box->n; i++)
		bits *= box->i[i];
	return bits / 8;
}

static void check_map(Tracer *r, const Op *op)
{
	const Op *map = op->in[1].val->def;
	int64_t there;
	for (int i = 0; map && i < map->nsym; i++)
		if (names_int(r->names, ix_sym(r->c, map->sym[i]), &there) && !there)
			trace_wrong(r, op, "a tensor map that the launch has not");
}

/* Each lane issues its own. */
static void trace_tma(Tracer *r, const Op *op, uint32_t lane)
{
	bool load = op->kind == OP_TMA_LOAD, shared = attrs_int(&op->attrs, A_SHARED, 0);
	int slot = trace_slot(r, op, &op->in[0], lane);
	int bar = load ? trace_slot(r, op, &op->in[2], lane) : 0;
	int64_t bytes = box_bytes(op->in[1].val->def, &op->in[0]), mask = (int64_t)1 << r->w->cta;
	bytes *= load ? attrs_int(&op->attrs, A_N, 1) : 1;
	if (slot < 0 || bar < 0)
		return;
	check_map(r, op);
	if (load && shared)
		mask = trace_value(r, op, op->ix[op->nix - 1], lane);
	if (load && (mask <= 0 || mask >> r->t->ctas))
		trace_wrong(r, op, "a mask of CTAs that are not in the cluster");
	int foot = trace_foot(r, op, &op->in[0], slot, trace_value(r, op, op->ix[0], lane), bytes,
			      true);
	PtxStep *s = trace_push(r, op, op->kind, lane);
	s->foot = foot;
	s->bytes = bytes;
	s->global = !load || !is_constant(r, op->in[1].val);
	s->slot = trace_number(&r->first_slot, op->in[0].val) + slot;
	s->cta = load ? (int)mask : r->w->cta;
	s->bar = load ? trace_number(&r->first_bar, op->in[2].val) + bar : -1;
}

/* Rows of 16 bytes and more: whole groups of eight rows. */
static int operand_foot(Tracer *r, const Op *op, int i, int slot, int rows)
{
	const Attr *sbo = attrs_get(&op->attrs, A_SBO);
	int64_t eight = sbo && sbo->n == 2 ? sbo->i[i] : 0,
		byte = trace_value(r, op, op->ix[i], ALL_LANES);
	if (eight > 0 && byte >= 0)
		byte = byte / eight * eight;
	return trace_foot(r, op, &op->in[1 + i], slot, byte, rows / 8 * eight, false);
}

static void trace_wgmma(Tracer *r, const Op *op)
{
	Atom atom = attrs_get(&op->attrs, A_ATOM)->atom;
	bool in_registers = op->in[1].val->type->space == SP_REG; /* see stepper_registers.c */
	int a = in_registers ? 0 : trace_slot(r, op, &op->in[1], ALL_LANES),
	    b = trace_slot(r, op, &op->in[2], ALL_LANES);
	if (a < 0 || b < 0)
		return;
	int foot = in_registers ? -1 : operand_foot(r, op, 0, a, atom_rows[atom.id].m);
	int foot2 = operand_foot(r, op, 1, b, atom.n);
	PtxStep *s = trace_push(r, op, op->kind, ALL_LANES);
	s->foot = foot;
	s->foot2 = foot2;
	s->slot = in_registers ? -1 : trace_number(&r->first_slot, op->in[1].val) + a;
	s->n = trace_number(&r->first_slot, op->in[2].val) + b;
	r->together = trace_mix(r->together, (uint64_t)(uintptr_t)op);
	r->together = trace_mix(r->together, trace_mix((uint64_t)foot, (uint64_t)foot2));
}

static PtxStep *push_at_bar(Tracer *r, const Op *op, uint32_t lanes)
{
	int slot = trace_slot(r, op, &op->in[0], lanes);
	PtxStep *s = trace_push(r, op, op->kind, lanes);
	s->bar = trace_number(&r->first_bar, op->in[0].val) + (slot < 0 ? 0 : slot);
	return s;
}

static void trace_expect(Tracer *r, const Op *op, uint32_t lanes)
{
	for (int i = 0; i < LANES; i++)
		if (lanes >> i & 1)
			push_at_bar(r, op, 1u << i)->bytes = attrs_int(&op->attrs, A_BYTES, 0);
}

static void trace_wait(Tracer *r, const Op *op, uint32_t lanes)
{
	int64_t parity = trace_value(r, op, op->ix[0], lanes);
	PtxStep *s = push_at_bar(r, op, lanes);
	if (parity != 0 && parity != 1)
		trace_wrong(r, op, "a parity that is neither 0 nor 1");
	s->n = (int)(parity & 1);
}

/* Of lanes that arrive at one barrier nobody knows the order: they arrive as one. */
static void arrive_lanes(Tracer *r, const Op *op, uint32_t lanes, int64_t cta, int64_t count)
{
	PtxStep *s = push_at_bar(r, op, lanes);
	s->n = (int)(count < -MOST_COUNT || count > MOST_COUNT ? MOST_COUNT : count) *
	       __builtin_popcount(lanes);
	if (cta < 0 || cta >= r->t->ctas)
		trace_wrong(r, op, "an arrival at a CTA that is not in the cluster");
	else
		s->cta = (int)cta;
}

static void trace_arrive(Tracer *r, const Op *op, uint32_t lanes)
{
	int64_t count = attrs_int(&op->attrs, A_COUNT, 1);
	LaneValue cta = {0}, slot = {0};
	if (count < 1 || count > MOST_COUNT)
		trace_wrong(r, op, "an arrival counts at least 1");
	for (int i = 0; i < LANES; i++)
		cta.at[i] = r->w->cta;
	if (op->nix)
		names_eval(r->names, op->ix[0], &cta);
	if (op->in[0].at)
		names_eval(r->names, op->in[0].at, &slot);
	if ((cta.bad | slot.bad) & lanes)
		r->give_up = "an expression has no value";
	while (lanes) {
		int first = __builtin_ctz(lanes);
		uint32_t same = 0;
		for (int i = first; i < LANES; i++)
			if (cta.at[i] == cta.at[first] && slot.at[i] == slot.at[first])
				same |= lanes & 1u << i;
		arrive_lanes(r, op, same, cta.at[first], count);
		lanes &= ~same;
	}
}

static void trace_init(Tracer *r, const Op *op, uint32_t lanes)
{
	int64_t count =
		op->nix ? trace_value(r, op, op->ix[0], lanes) : attrs_int(&op->attrs, A_COUNT, 1);
	PtxStep *s = push_at_bar(r, op, lanes);
	s->n = (int)count;
	if (count < 1 || count > MOST_COUNT)
		trace_wrong(r, op, "a barrier counts at least 1 arrival");
	if (lanes & (lanes - 1))
		trace_wrong(r, op, "a barrier is made by several lanes");
}

static void trace_named(Tracer *r, const Op *op, uint32_t lanes)
{
	PtxStep *s;
	int64_t id = op->kind == OP_BAR_CTA ? 0 : trace_value(r, op, op->ix[0], lanes);
	int64_t all = r->t->cta_warps * LANES;
	int64_t n = op->kind == OP_BAR_CTA ? all : attrs_int(&op->attrs, A_THREADS, 0);
	if (id < 0 || id >= NAMED_BARRIERS)
		trace_wrong(r, op, "a named barrier that does not exist");
	if (n <= 0 || n % LANES || n > all)
		trace_wrong(r, op, "a barrier for threads that are not whole warps of the CTA");
	s = trace_push(r, op, op->kind, lanes);
	s->bar = (int)(id & (NAMED_BARRIERS - 1));
	s->n = (int)n;
	int *meet = &r->meet[s->bar]; /* of all CTAs */
	if (*meet && *meet != s->n)
		trace_wrong(r, op, "warps meet at one barrier with other counts");
	*meet = s->n;
}

static void trace_plain(Tracer *r, const Op *op, uint32_t lanes)
{
	PtxStep *s = trace_push(r, op, op->kind, lanes);
	s->n = (int)attrs_int(&op->attrs, A_N, 0);
	s->relaxed = attrs_int(&op->attrs, A_RELAXED, 0);
	s->global = op->kind == OP_ST_GLOBAL ||
		    (op->kind == OP_LD_GLOBAL && !is_constant(r, op->in[1].val)) ||
		    (op->kind == OP_PREFETCH_GLOBAL && !is_constant(r, op->in[0].val));
	if (op->kind == OP_SETMAXNREG) {
		s->bytes = r->regs_left = attrs_int(&op->attrs, A_REGS, 0);
		r->registers =
			trace_mix(r->registers, trace_mix((uint64_t)s->n, (uint64_t)s->bytes));
	}
	if (op->kind == OP_WGMMA_COMMIT)
		r->together = trace_mix(r->together, 1);
}

bool trace_is_aligned(OpKind kind)
{
	switch ((int)kind) {
	case OP_LDMATRIX:
	case OP_STMATRIX:
	case OP_WGMMA:
	case OP_WGMMA_FENCE:
	case OP_WGMMA_COMMIT:
	case OP_WGMMA_WAIT:
	case OP_BAR_CTA:
	case OP_BAR_CLUSTER:
	case OP_BAR_WARP:
	case OP_BAR_SYNC:
	case OP_BAR_ARRIVE:
	case OP_SETMAXNREG:
	case OP_ELECT:
	case OP_GROUPS_COUNT:
	case OP_GROUPS_FIND:
	case OP_GROUPS_AT:
		return true;
	default:
		return false;
	}
}

static void trace_boxes(Tracer *r, const Op *op, uint32_t lanes)
{
	for (int i = 0; i < LANES; i++)
		if (lanes >> i & 1)
			trace_tma(r, op, 1u << i);
}

void trace_step(Tracer *r, const Op *op, uint32_t lanes)
{
	switch ((int)op->kind) {
	case OP_LDMATRIX:
	case OP_STMATRIX:
	case OP_LD_SHARED:
	case OP_LD_PEER:
	case OP_ST_SHARED:
	case OP_ST_STAGED:
	case OP_ST_UNIT:
	case OP_CP_ASYNC:
		trace_generic(r, op, lanes);
		break;
	case OP_TMA_LOAD:
	case OP_TMA_STORE:
		trace_boxes(r, op, lanes);
		break;
	case OP_WGMMA:
		trace_wgmma(r, op);
		break;
	case OP_MBAR_INIT:
		trace_init(r, op, lanes);
		break;
	case OP_MBAR_EXPECT:
		trace_expect(r, op, lanes);
		break;
	case OP_MBAR_ARRIVE:
		trace_arrive(r, op, lanes);
		break;
	case OP_COPY_ARRIVE:
		push_at_bar(r, op, lanes);
		break;
	case OP_MBAR_WAIT:
		trace_wait(r, op, lanes);
		break;
	case OP_BAR_CTA:
	case OP_BAR_SYNC:
	case OP_BAR_ARRIVE:
		trace_named(r, op, lanes);
		break;
	case OP_FENCE_INIT:
	case OP_FENCE_ASYNC:
	case OP_BAR_CLUSTER:
	case OP_BAR_WARP:
	case OP_WGMMA_COMMIT:
	case OP_WGMMA_WAIT:
	case OP_COPY_COMMIT:
	case OP_COPY_WAIT:
	case OP_BULK_COMMIT:
	case OP_BULK_WAIT:
	case OP_BULK_WAIT_READ:
	case OP_GRID_WAIT:
	case OP_SETMAXNREG:
	case OP_LD_GLOBAL:
	case OP_ST_GLOBAL:
	case OP_PREFETCH_GLOBAL:
		trace_plain(r, op, lanes);
		break;
	default:
		break; /* registers, which are no other warp's, and hints */
	}
}
