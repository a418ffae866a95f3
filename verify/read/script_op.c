/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* script_op.c - what one op adds to the script of the agent that is being read. What an op does is
 * asked of its row in ops.def.
 *     tma.store %sD[slot]  ->  store sD[position % 4]
 */
#include "verify/read/read.h"

#include <string.h>

/* ------------------------------------------------------------------ items */
Item *read_item(Reader *r, ItemKind kind, const Op *op)
{
	Item *it = NEW(r->p->arena, Item);
	it->kind = kind;
	it->op = op;
	it->step.op = op;
	it->step.key = it->step.cell = it->step.cell2 = -1;
	it->step.lanes = (int8_t)r->lanes;
	it->which = r->which;
	return it;
}

void read_put(Reader *r, Item *it, StepKind kind)
{
	it->step.kind = (int8_t)kind;
	if (!read_repeats(kind) || !read_said(&r->p->m, r->list, it))
		vec_push(r->p->arena, r->list, it);
}

static void mark_agents(Reader *r, const Place *at, int rank, StepKind kind)
{
	Machine *m = &r->p->m;
	AgentSet me = AGENT(r->agent);
	int first = read_first(r, at, rank);
	for (int i = first; i < first + at->slots; i++) {
		if (kind == STEP_WAIT)
			m->keys[i].waiters |= me;
		else if (kind == STEP_ARRIVE || kind == STEP_EXPECT || kind == STEP_COPY_ARRIVE)
			m->keys[i].arrivers |= me;
		else if (kind == STEP_WRITE || kind == STEP_COPY)
			m->cells[i].writers |= me;
		else if (kind == STEP_READ || kind == STEP_PASS || kind == STEP_MMA ||
			 kind == STEP_STORE)
			m->cells[i].readers |= me;
	}
}

static void set_key(Reader *r, Item *it, const Operand *in, int rank, StepKind kind)
{
	const Place *at = read_place(r, in->val);
	int first = read_first(r, at, rank);
	it->step.key = (int16_t)first;
	it->key_slots = at->slots;
	it->at_key = in->at ? read_expr(r, in->at) : ix_const(r->p->k->ctx, 0);
	mark_agents(r, at, rank, kind);
}

static void set_cell(Reader *r, Item *it, const Operand *in, int rank, StepKind kind)
{
	const Place *at = read_place(r, in->val);
	const Ix *x = in->at ? read_expr(r, in->at) : ix_const(r->p->k->ctx, 0);
	int first = read_first(r, at, rank);
	mark_agents(r, at, rank, kind);
	if (it->step.cell < 0) {
		it->step.cell = (int16_t)first;
		it->cell_slots = at->slots;
		it->at_cell = x;
	} else {
		it->step.cell2 = (int16_t)first;
		it->cell2_slots = at->slots;
		it->at_cell2 = x;
	}
}

/* ------------------------------------------------------------------ ops that order */
static bool put_barrier(Reader *r, const Op *op, StepKind kind, int64_t id, int64_t threads)
{
	Item *it = read_item(r, ITEM_STEP, op);
	if (id < 0 || id > 15 || threads <= 0 || threads % 32)
		return read_problem(
			r, D_E0411, op->loc,
			"a named barrier has a number 0..15 and threads in whole warps");
	it->step.n = (int32_t)(threads / 32);
	it->step.key = (int16_t)read_named(r, id, it->step.n, r->s->rank - r->p->rank);
	r->p->m.keys[it->step.key].arrivers |= AGENT(r->agent);
	read_put(r, it, kind);
	return true;
}

static bool put_named(Reader *r, const Op *op, StepKind kind)
{
	int64_t id;
	if (!ix_is_const(read_expr(r, IX(op, NUMBER)), &id))
		return read_problem(r, D_W0411, op->loc, "a barrier whose number a run decides");
	return put_barrier(r, op, kind, id, attrs_int(&op->attrs, A_THREADS, 0));
}

/* All warps of the cluster. */
static bool put_cluster(Reader *r, const Op *op)
{
	Machine *m = &r->p->m;
	Item *it = read_item(r, ITEM_STEP, op);
	it->step.n = (int32_t)(attrs_int(&r->p->k->attrs, A_BLOCK, 0) / 32 * m->ranks);
	it->step.key = (int16_t)read_named(r, 0, it->step.n, -1);
	m->meet = it->step.key + 1;
	read_put(r, it, attrs_int(&op->attrs, A_RELAXED, 0) ? STEP_BAR_RELAXED : STEP_BAR);
	return true;
}

/* Which lanes arrive at each rank's barrier. */
static bool find_arrivals(Reader *r, const Op *op, uint32_t *lanes)
{
	Ctx *c = r->p->k->ctx;
	const char *lane = ctx_str(c, "lane");
	const Ix *to = read_expr(r, IX(op, RANK));
	if (!r->which && ix_uses(to, lane))
		return read_problem(
			r, D_W0411, op->loc,
			"an arrival at a rank that depends on the lane that elect takes");
	for (int i = 0; i < 32; i++) {
		int64_t rank;
		if (!(r->which ? r->which >> i & 1 : !i))
			continue;
		if (!ix_value_at(c, to, lane, i, &rank))
			return read_problem(r, D_W0411, op->loc,
					    "an arrival at a rank that a run decides");
		if (rank < 0 || rank >= r->p->ctas)
			return read_problem(r, D_E0411, op->loc,
					    "an arrival at rank %d of a cluster of %d CTAs",
					    (int)rank, r->p->ctas);
		lanes[rank] |= 1u << i;
	}
	return true;
}

/* Lanes that arrive at barriers of CTAs by rank, their own among them. */
static bool put_arrivals(Reader *r, const Op *op, int64_t n)
{
	uint32_t lanes[MAX_RANKS] = {0};
	if (!find_arrivals(r, op, lanes))
		return false;
	for (int to = 0; to < r->p->ctas; to++) {
		Item *it = read_item(r, ITEM_STEP, op);
		if (!lanes[to])
			continue;
		it->step.n = (int32_t)n;
		it->step.lanes = (int8_t)__builtin_popcount(lanes[to]);
		it->which = r->which ? lanes[to] : 0;
		set_key(r, it, &IN(op, BARRIER), to, STEP_ARRIVE);
		read_put(r, it, STEP_ARRIVE);
		if (to == r->s->rank)
			continue;
		r->p->m.senders[to] |= AGENT(r->agent);
		if (it->step.lanes == 1)
			r->p->m.sent[to][r->agent] = &it->step;
		else
			r->p->m.sent_each[to][r->agent] = &it->step;
	}
	return true;
}

static bool put_mbar(Reader *r, const Op *op, StepKind kind, int64_t n)
{
	Item *it = read_item(r, ITEM_STEP, op);
	if (op->kind == OP_MBAR_ARRIVE && op->nix)
		return put_arrivals(r, op, n);
	it->step.n = (int32_t)n;
	set_key(r, it, &IN(op, BARRIER), r->s->rank, kind);
	if (HAS_IX(op, PHASE))
		it->number = read_expr(r, IX(op, PHASE));
	else if (HAS_IX(op, COUNT))
		it->number = read_expr(r, IX(op, COUNT));
	read_put(r, it, kind);
	return true;
}

static bool put_plain(Reader *r, const Op *op, StepKind kind)
{
	Item *it = read_item(r, ITEM_STEP, op);
	it->step.n = (int32_t)attrs_int(&op->attrs, kind == STEP_REGS ? A_REGS : A_N, 0);
	if (op->nin)
		set_key(r, it, &IN(op, BARRIER), r->s->rank, kind);
	read_put(r, it, kind);
	return true;
}

static const struct {
	OpKind of;
	StepKind step;
} plain_steps[] = {
#define PLAIN(of, step) {OP_##of, STEP_##step},
#include "verify/steps.def"
};

static bool put_sync(Reader *r, const Op *op)
{
	int64_t block = attrs_int(&r->p->k->attrs, A_BLOCK, 0);
	switch (op->kind) {
	case OP_MBAR_INIT:
		return put_mbar(r, op, STEP_INIT, attrs_int(&op->attrs, A_COUNT, 1));
	case OP_MBAR_EXPECT:
		return put_mbar(r, op, STEP_EXPECT, attrs_int(&op->attrs, A_BYTES, 0));
	case OP_MBAR_ARRIVE:
		return put_mbar(r, op, STEP_ARRIVE, attrs_int(&op->attrs, A_COUNT, 1));
	case OP_MBAR_WAIT:
		return put_mbar(r, op, STEP_WAIT, 0);
	case OP_BAR_CTA:
		return put_barrier(r, op, STEP_BAR, 0, block);
	case OP_BAR_CLUSTER:
		return put_cluster(r, op);
	case OP_BAR_SYNC:
		return put_named(r, op, STEP_BAR);
	case OP_BAR_ARRIVE:
		return put_named(r, op, STEP_BAR_ARRIVE);
	default:
		break;
	}
	if (op_rows[op->kind].flags & OPF_GLOBAL) {
		/* semaphores: that a wait ends is seen in rules/grid_waits.c */
		read_put(r, read_item(r, ITEM_STEP, op), STEP_GLOBAL);
		return true;
	}
	for (size_t i = 0; i < COUNTOF(plain_steps); i++)
		if (plain_steps[i].of == op->kind)
			return put_plain(r, op, plain_steps[i].step);
	return read_problem(r, D_W0411, op->loc, "the op %s", op_rows[op->kind].name);
}

/* ------------------------------------------------------------------ ops that access */
bool read_in_space(const Operand *in, Space s)
{
	return in->val->type->kind == TY_TILE && in->val->type->space == s;
}

static bool put_load_to(Reader *r, const Op *op, int to)
{
	Item *it = read_item(r, ITEM_STEP, op);
	int64_t bytes = 0;
	for (int i = 0; i < op->nin; i++) {
		if (op_effect(op, i) & FX_AW)
			set_cell(r, it, &op->in[i], to, STEP_LOAD);
		else if (op->in[i].val->type->kind == TY_MBAR)
			set_key(r, it, &op->in[i], to, STEP_LOAD);
	}
	it->step.mask = read_part(r, op, r->s->rank, to, &bytes);
	it->step.n = (int32_t)bytes;
	it->step.constant = HAS_IN(op, MAP) && read_is_constant(r->p->k, &IN(op, MAP));
	if (!it->step.mask || it->step.cell < 0 || it->step.key < 0)
		return read_problem(r, D_W0411, op->loc, "a load into a place that a run decides");
	read_put(r, it, STEP_LOAD);
	return true;
}

/* The same of a replay, where the mask is a number. */
static bool put_sized_load(Reader *r, const Op *op)
{
	int64_t mask = INT64_C(1) << r->s->rank;
	bool shared = attrs_int(&op->attrs, A_SHARED, 0) != 0;
	if (shared && !ix_is_const(read_expr(r, op->ix[op->nix - 1]), &mask))
		return read_problem(r, D_W0411, op->loc, "a mask that sizes do not decide");
	for (int to = 0; to < r->p->ctas; to++)
		if (mask >> to & 1 && !put_load_to(r, op, to))
			return false;
	return true;
}

/* One into each CTA that it goes to. */
static bool put_load(Reader *r, const Op *op)
{
	if (r->p->sized)
		return put_sized_load(r, op);
	for (int to = 0; to < r->p->ctas; to++)
		if (read_goes_to(r, op, r->s->rank, to) && !put_load_to(r, op, to))
			return false;
	return true;
}

static bool box_beyond(Reader *r, const Op *op, int64_t first)
{
	return read_problem(r, D_E0412, op->loc,
			    "a box of %d bytes from byte %lld of a slot of %%%s, which "
			    "has %d",
			    (int)read_box_bytes(op), (long long)first, IN(op, FROM).val->name,
			    (int)type_slot_bytes(IN(op, FROM).val->type));
}

/* Where the lane decides it: each that may do it is within the slot. */
static bool lanes_within(Reader *r, const Item *it)
{
	Ctx *c = r->p->k->ctx;
	const char *lane = ctx_str(c, "lane");
	for (int i = 0; i < 32; i++) {
		int64_t v;
		if (it->which && !(it->which >> i & 1))
			continue;
		if (!ix_value_at(c, it->at_byte, lane, i, &v) ||
		    (!it->which && (v < 0 || v > it->last_byte)))
			return read_problem(r, D_W0411, it->op->loc,
					    "a box from a place in its slot that the lane decides");
		if (v < 0 || v > it->last_byte)
			return box_beyond(r, it->op, v);
	}
	return true;
}

/* What a copy takes from a slot lies within it: here, or as letters are made. */
static bool put_within(Reader *r, Item *it, const Op *op)
{
	int64_t bytes = read_box_bytes(op), v;
	if (!bytes || !op->nix)
		return read_problem(r, D_W0411, op->loc, "a copy of a box that no map describes");
	it->at_byte = read_expr(r, IX(op, BYTE));
	it->last_byte = type_slot_bytes(IN(op, FROM).val->type) - bytes;
	if (ix_uses(it->at_byte, ctx_str(r->p->k->ctx, "lane"))) {
		bool ok = lanes_within(r, it);
		it->at_byte = NULL;
		return ok;
	}
	if (!r->p->sized && ix_is_const(it->at_byte, &v) && (v < 0 || v > it->last_byte))
		return box_beyond(r, op, v);
	return true;
}

static bool put_group_read(Reader *r, const Op *op, StepKind kind)
{
	Item *it = read_item(r, ITEM_STEP, op);
	for (int i = 0; i < op->nin; i++)
		if (op_effect(op, i) & FX_AR && read_in_space(&op->in[i], SP_SHARED))
			set_cell(r, it, &op->in[i], r->s->rank, kind);
	if (kind == STEP_STORE && !put_within(r, it, op))
		return false;
	it->step.mask = kind == STEP_MMA ? read_acc_mask(r, op) : 0;
	read_put(r, it, kind);
	return true;
}

static StepKind kind_of_access(const Reader *r, const Op *op, int fx)
{
	if (fx & FX_W)
		return op_done_by(op, DONE_BY_LANES) ? STEP_COPY : STEP_WRITE;
	return r->outside ? STEP_PASS : STEP_READ;
}

/* Whose shared memory the op reads: its own CTA's, or that of the rank that it names. */
static bool find_rank(Reader *r, const Op *op, int *rank)
{
	int64_t v = r->s->rank;
	bool peer = op_rows[op->kind].effects & FX_PEER;
	if (peer && !ix_is_const(read_expr(r, IX(op, RANK)), &v))
		return read_problem(r, D_W0411, op->loc, "a read in a CTA that a run decides");
	if (v < 0 || v >= r->p->ctas)
		return read_problem(r, D_E0412, op->loc,
				    "a read in rank %d of a cluster of %d CTAs", (int)v,
				    r->p->ctas);
	*rank = (int)v;
	return true;
}

static bool put_generic(Reader *r, const Op *op)
{
	int rank = 0;
	if (!find_rank(r, op, &rank))
		return false;
	if (op_rows[op->kind].flags & OPF_GLOBAL)
		read_put(r, read_item(r, ITEM_STEP, op), STEP_GLOBAL);
	for (int i = 0; i < op->nin; i++) {
		int fx = op_effect(op, i);
		Item *it = read_item(r, ITEM_STEP, op);
		if (!fx)
			continue;
		if (read_in_space(&op->in[i], SP_SHARED)) {
			StepKind kind = kind_of_access(r, op, fx);
			set_cell(r, it, &op->in[i], rank, kind);
			bool bytes = fx & FX_W || (kind == STEP_READ && !read_is_aligned(op));
			if (bytes && r->p->sized && HAS_IX(op, BYTE))
				it->at_byte = read_expr(r, IX(op, BYTE));
			read_put(r, it, kind);
		} else if (read_in_space(&op->in[i], SP_GLOBAL) && !r->outside &&
			   !(fx == FX_R && read_is_constant(r->p->k, &op->in[i]))) {
			read_put(r, it, STEP_GLOBAL);
		}
	}
	Item *it = read_item(r, ITEM_STEP, op);
	it->step.mask = read_acc_mask(r, op);
	if (it->step.mask && !r->outside)
		read_put(r, it, STEP_TOUCH);
	return true;
}

bool read_by_whole_warps(Reader *r, const Op *op)
{
	if (!read_is_aligned(op) || (r->lanes == 32 && !r->parted))
		return true;
	return read_problem(r, D_E0411, op->loc, "%s is for whole warps, and some lanes go past it",
			    op->kind == OP_LET ? "a let with here=1" : op_rows[op->kind].name);
}

bool read_op(Reader *r, const Op *op)
{
	int fx = op_rows[op->kind].effects;
	if (fx & FX_SYNC)
		return put_sync(r, op);
	if (op_done_by(op, DONE_BY_BARRIER))
		return put_load(r, op);
	if (op_done_by(op, DONE_BY_WARPGROUP))
		return put_group_read(r, op, STEP_MMA);
	if (op_done_by(op, DONE_BY_THREAD))
		return put_group_read(r, op, STEP_STORE);
	return put_generic(r, op);
}
