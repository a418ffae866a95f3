/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_trace.c - each warp's steps for sizes that are numbers, and what is wrong in program
 * order alone: a slot that does not exist, an aligned instruction by some lanes, a parity of 2.
 *     for.ring k, slot, phase (0, 2, 0) { mbar.wait %full[slot] (phase) }
 *     ->  wait %full[0], parity 0; wait %full[1], parity 0 */
#include "stepper_trace.h"

#include <stdlib.h>
#include <string.h>

void trace_wrong(Tracer *r, const Op *op, const char *what)
{
	if (r->t->wrong)
		return;
	r->t->wrong = what;
	r->t->wrong_at = op;
}

uint64_t trace_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* ------------------------------------------------------------------ values */
int64_t trace_value(Tracer *r, const Op *op, const Ix *x, uint32_t lanes)
{
	LaneValue v;
	int lane = __builtin_ctz(lanes);
	names_eval(r->names, x, &v);
	if (v.bad & lanes)
		r->give_up = "an expression has no value";
	for (int i = lane; v.varies && i < LANES; i++)
		if (lanes >> i & 1 && v.at[i] != v.at[lane])
			trace_wrong(r, op, "lanes of one instruction disagree");
	return v.at[lane];
}

static int slots_of(const Val *v)
{
	const Attrs *a = v->def ? &v->def->attrs : NULL;
	return a ? (int)(attrs_int(a, A_SLOTS, 1) * attrs_int(a, A_GROUPS, 1)) : 1;
}

/* Slot of an operand that lanes share; -1: none. */
int trace_slot(Tracer *r, const Op *op, const Operand *in, uint32_t lanes)
{
	int64_t slot = in->at ? trace_value(r, op, in->at, lanes) : 0;
	if (slot >= 0 && slot < slots_of(in->val))
		return (int)slot;
	trace_wrong(r, op, "a slot that does not exist");
	return -1;
}

int trace_number(const PtrMap *m, const Val *v)
{
	return (int)(uintptr_t)ptrmap_get(m, v) - 1;
}

/* ------------------------------------------------------------------ steps */
PtxStep *trace_push(Tracer *r, const Op *op, int kind, uint32_t lanes)
{
	PtxStep s = {.kind = kind,
		     .op = op,
		     .lanes = lanes,
		     .cta = r->w->cta,
		     .bar = -1,
		     .foot = -1,
		     .foot2 = -1,
		     .slot = -1};
	if (++r->total > MOST_STEPS)
		r->give_up = "too many steps";
	for (int i = 0;; i++) {
		if (i == r->masks.n)
			vec_push(r->t->arena, &r->masks, lanes);
		if (r->masks.at[i] == lanes)
			break;
	}
	vec_push(r->t->arena, &r->w->steps, s);
	return &r->w->steps.at[r->w->steps.n - 1];
}

static int foot_of(Tracer *r, const Foot *f)
{
	PtxTrace *t = r->t;
	uint64_t h = trace_mix(trace_mix((uint64_t)f->warp, f->lanes),
			       (uint64_t)f->bytes * 2 + f->together);
	for (int i = 0; i < LANES; i++)
		h = trace_mix(h, (uint64_t)f->at[i]);
	for (uint64_t at = h % TABLE, n = 0; n < TABLE; at = (at + 1) % TABLE, n++) {
		int e = r->table[at] - 1;
		if (e < 0) {
			vec_push(t->arena, &t->feet, *f);
			t->feet.at[t->feet.n - 1].hash = (uint32_t)h;
			r->table[at] = t->feet.n;
			return t->feet.n - 1;
		}
		const Foot *g = &t->feet.at[e];
		if (g->warp == f->warp && g->lanes == f->lanes && g->bytes == f->bytes &&
		    g->together == f->together && !memcmp(g->at, f->at, sizeof g->at))
			return e;
	}
	r->give_up = "too many accesses";
	return 0;
}

static int64_t start_of(const Val *v, int slot)
{
	return attrs_int(&v->def->attrs, A_OFFSET, 0) + slot * type_slot_bytes(v->type);
}

static bool is_in_memory(const Tracer *r, int64_t at, int64_t bytes)
{
	return at >= 0 && at + bytes <= attrs_int(&r->t->k->attrs, A_SMEM, 0);
}

/* All bytes of a range of a slot, as one. What wgmma takes beyond its slot is cut off: nobody
 * promises to look at it. */
int trace_foot(Tracer *r, const Op *op, const Operand *in, int slot, int64_t byte, int64_t bytes,
	       bool within)
{
	int64_t all = type_slot_bytes(in->val->type);
	Foot f = {.warp = -1, .lanes = ALL_LANES, .together = true};
	if (within && (byte < 0 || byte + bytes > all))
		trace_wrong(r, op, "bytes beyond the slot");
	byte = byte < 0 || byte >= all ? 0 : byte;
	bytes = byte + bytes > all ? all - byte : bytes;
	f.at[0] = (int)(start_of(in->val, slot) + byte);
	f.bytes = (int)bytes;
	if (!is_in_memory(r, f.at[0], f.bytes))
		trace_wrong(r, op, "bytes beyond the kernel's shared memory");
	return foot_of(r, &f);
}

bool trace_is_staged(const Op *op)
{
	return op->kind == OP_ST_STAGED || op->kind == OP_ST_UNIT;
}

bool trace_is_matrix(const Op *op)
{
	return op->kind == OP_LDMATRIX || op->kind == OP_STMATRIX;
}

/* A generic access: each lane at its own byte; of matrices a row of 16 bytes. */
int trace_lanes_foot(Tracer *r, const Op *op, const Operand *in, int slot, const Ix *byte,
		     uint32_t lanes)
{
	LaneValue v;
	int64_t all = type_slot_bytes(in->val->type), n = attrs_int(&op->attrs, A_N, 1);
	int64_t start = start_of(in->val, slot);
	Foot f = {.warp = r->warp, .lanes = lanes};
	f.bytes = trace_is_matrix(op) ? 16 : (int)(n * elem_rows[in->val->type->elem].bits / 8);
	if (op->kind == OP_ST_STAGED)
		f.bytes = elem_rows[in->val->type->elem].bits / 8;
	if (trace_is_matrix(op) && n < 4)
		f.lanes &= (1u << 8 * n) - 1;
	names_eval(r->names, byte, &v);
	if (v.bad & lanes)
		r->give_up = "an expression has no value";
	for (int i = 0; i < LANES; i++) {
		bool in_slot = v.at[i] >= 0 && v.at[i] + f.bytes <= all;
		f.at[i] = lanes >> i & 1 ? (int)(start + (in_slot ? v.at[i] : 0)) : 0;
		if (lanes >> i & 1 && !is_in_memory(r, f.at[i], f.bytes))
			trace_wrong(r, op, "bytes beyond the kernel's shared memory");
	}
	return foot_of(r, &f);
}

/* ------------------------------------------------------------------ control flow */
static void walk(Tracer *r, const Block *b, uint32_t lanes);

static void walk_turn(Tracer *r, const Op *op, const LaneValue *from, const LaneValue *base,
		      int64_t turn, uint32_t lanes)
{
	LaneValue k = *from, slot = {.varies = true}, phase = {.varies = true};
	int64_t slots = attrs_int(&op->attrs, A_SLOTS, 1);
	k.varies = true;
	for (int i = 0; i < LANES; i++) {
		k.at[i] = from->at[i] + turn;
		int64_t at = base->at[i] + turn, q = at / slots - (at % slots < 0);
		slot.at[i] = at - q * slots;
		phase.at[i] = q & 1;
	}
	k.varies = from->varies;
	slot.varies = phase.varies = base->varies;
	names_bind(r->names, op->sym[0], &k);
	if (op->kind == OP_FOR_RING) {
		names_bind(r->names, op->sym[1], &slot);
		names_bind(r->names, op->sym[2], &phase);
	}
	walk(r, op->body, lanes);
}

/* Whether the launch alone decides a condition. */
static bool is_of_launch(const Tracer *r, const Ix *x)
{
	for (const Op *op = r->t->k->body.first; op; op = op->next)
		for (int i = 0; op->kind == OP_TMAP && i < op->nsym; i++)
			if (ix_uses(x, op->sym[i]))
				return true;
	return false;
}

/* Reads that a guard keeps some lanes from count as made: how many there are hangs on sizes. Copies
 * to a tensor do so by any guard of theirs: of a tensor whose sizes are numbers it is the thread
 * alone that a guard asks about. */
static void look(Tracer *r, const Op *op, uint32_t lanes, bool copies)
{
	for (const Op *in = op->body->first; in; in = in->next) {
		LaneValue v;
		if (in->body && (!copies || in->kind == OP_IF))
			look(r, in, lanes, copies);
		if (!trace_is_staged(in) && (copies || in->kind != OP_LD_SHARED))
			continue;
		names_eval(r->names, in->in[1].at ? in->in[1].at : ix_const(r->c, 0), &v);
		int64_t slot = v.at[__builtin_ctz(lanes)];
		if (slot >= 0 && slot < slots_of(in->in[1].val))
			trace_push(r, in, PTX_LOOK, lanes)->slot =
				trace_number(&r->first_slot, in->in[1].val) + (int)slot;
	}
}

static void look_past(Tracer *r, const Op *op, uint32_t lanes)
{
	bool sizes = sizes_decide(r->t->k, op);
	if (sizes || thread_decides(op))
		look(r, op, lanes, !sizes);
}

/* for t, n (from, to, start, step): what a loop carries in its symbols after the first. */
static int counters_of(const Op *op)
{
	return op->kind == OP_FOR ? op->nsym - 1 : 0;
}

static void start_counters(Tracer *r, const Op *op)
{
	for (int i = 0; i < counters_of(op); i++) {
		LaneValue v;
		names_eval(r->names, op->ix[2 + 2 * i], &v);
		names_bind(r->names, op->sym[1 + i], &v);
	}
}

/* All steps are of the turn that ends, whatever each counter becomes. */
static void step_counters(Tracer *r, const Op *op)
{
	LaneValue next[MOST_COUNTERS];
	int n = counters_of(op);
	if (n > MOST_COUNTERS)
		r->give_up = "a loop carries too much";
	for (int i = 0; i < n && !r->give_up; i++) {
		const Ix *now = ix_sym(r->c, op->sym[1 + i]);
		names_eval(r->names, ix_add(r->c, now, op->ix[3 + 2 * i]), &next[i]);
	}
	for (int i = 0; i < n && !r->give_up; i++)
		names_bind(r->names, op->sym[1 + i], &next[i]);
}

static void walk_loop(Tracer *r, const Op *op, uint32_t lanes)
{
	LaneValue from, to, base = {0};
	start_counters(r, op);
	names_eval(r->names, op->ix[0], &from);
	names_eval(r->names, op->ix[1], &to);
	if (op->kind == OP_FOR_RING)
		names_eval(r->names, op->ix[2], &base);
	if ((from.bad | to.bad) & lanes)
		r->give_up = "an expression has no value";
	for (int64_t turn = 0; !r->give_up; turn++) {
		uint32_t on = 0;
		for (int i = 0; i < LANES; i++)
			on |= (uint32_t)(from.at[i] + turn < to.at[i]) << i;
		on &= lanes;
		if (!on && !turn)
			look(r, op, lanes, false);
		if (!on)
			return;
		if (base.bad & on || turn == MOST_TURNS || ++r->turns > MOST_STEPS)
			r->give_up = "a loop without a number of turns";
		else
			walk_turn(r, op, &from, &base, turn, on);
		step_counters(r, op);
	}
}

static void come_together(Tracer *r, const Op *op, uint32_t part, uint32_t lanes)
{
	if (part && part != lanes && !r->give_up)
		trace_push(r, op, PTX_TOGETHER, lanes);
}

static uint32_t where_true(Tracer *r, const Op *op, uint32_t lanes)
{
	for (int i = 0; i < op->nix && lanes; i++) {
		LaneValue v;
		names_eval(r->names, op->ix[i], &v);
		if (v.bad & lanes)
			r->give_up = "a condition has no value";
		for (int j = 0; j < LANES; j++)
			if (!v.at[j])
				lanes &= ~(1u << j);
	}
	return lanes;
}

static void walk_let(Tracer *r, const Op *op, uint32_t lanes)
{
	LaneValue v;
	names_eval(r->names, op->ix[0], &v);
	names_bind(r->names, op->sym[0], &v);
	if (attrs_get(&op->attrs, A_HERE) && lanes != ALL_LANES)
		trace_wrong(r, op, "an aligned instruction by some lanes");
}

static void walk_role(Tracer *r, const Op *op, uint32_t lanes)
{
	int64_t first = attrs_int(&op->attrs, A_FIRST, 0);
	if (r->w->number < first || r->w->number >= first + attrs_int(&op->attrs, A_WARPS, 0))
		return;
	walk(r, op->body, lanes);
	if (attrs_int(&op->attrs, A_REGS, 0) > r->regs_left)
		trace_wrong(r, op, "a role needs more registers than it is left with");
}

static void walk_op(Tracer *r, const Op *op, uint32_t lanes)
{
	uint32_t part = lanes;
	const char *why;
	if (trace_is_aligned(op->kind) && lanes != ALL_LANES)
		trace_wrong(r, op, "an aligned instruction by some lanes");
	switch ((int)op->kind) {
	case OP_FOR:
	case OP_FOR_RING:
		walk_loop(r, op, lanes);
		return;
	case OP_IF:
		part = where_true(r, op, lanes);
		if (part != lanes && !is_of_launch(r, op->ix[0]))
			look_past(r, op, lanes);
		if (part)
			walk(r, op->body, part);
		come_together(r, op, part, lanes);
		return;
	case OP_ELECT:
		part = 1u << r->t->sizes->leader;
		walk(r, op->body, part);
		come_together(r, op, part, lanes);
		return;
	case OP_ROLE:
		walk_role(r, op, lanes);
		return;
	case OP_LET:
		walk_let(r, op, lanes);
		return;
	default:
		names_bind_found(r->names, op, r->t->sizes);
		why = registers_step(r->regs, op, r->names);
		if (why)
			trace_wrong(r, op, why);
		trace_step(r, op, lanes);
	}
}

static void walk(Tracer *r, const Block *b, uint32_t lanes)
{
	for (const Op *op = b->first; op && !r->give_up; op = op->next)
		walk_op(r, op, lanes);
}

/* ------------------------------------------------------------------ all warps */
static void split(PtxWarp *w, uint32_t mask)
{
	for (int i = 0, n = w->nclasses; i < n; i++) {
		uint32_t in = w->classes[i] & mask, out = w->classes[i] & ~mask;
		if (!in || !out)
			continue;
		w->classes[i] = in;
		w->classes[w->nclasses++] = out;
	}
}

static void trace_warp(Tracer *r, int warp)
{
	PtxTrace *t = r->t;
	r->w = &t->warp[warp];
	r->warp = warp;
	r->regs = registers_new(t->arena);
	r->masks.n = 0;
	r->together = r->registers = 0;
	r->regs_left = target_entry_regs(target_by_name(t->k->target), t->cta_warps * LANES);
	names_of_warp(r->names, r->c, r->w->number);
	walk(r, &t->k->body, ALL_LANES);
	trace_push(r, NULL, PTX_EXIT, ALL_LANES);
	const char *why = registers_exit(r->regs);
	if (why)
		trace_wrong(r, NULL, why);
	r->w->classes[r->w->nclasses++] = ALL_LANES;
	for (int i = 0; i < r->masks.n; i++)
		split(r->w, r->masks.at[i]);
	r->w->seen = NEWN(t->arena, int, r->w->steps.n * t->ctas);
}

/* The four warps of a warpgroup go through the same wgmmas and the same setmaxnreg. */
static void trace_groups(Tracer *r, int64_t ctas)
{
	PtxTrace *t = r->t;
	uint64_t together = 0, registers = 0;
	for (int i = 0; i < t->warps && !r->give_up; i++) {
		int in = t->warp[i].number % GROUP_WARPS;
		bool last = in == GROUP_WARPS - 1;
		if (!t->warp[i].number)
			names_of_cta(r->names, r->c, t->sizes, ctas, t->ctas, t->warp[i].cta);
		trace_warp(r, i);
		if (in && r->together != together)
			trace_wrong(r, NULL,
				    "the warps of a warpgroup go through different wgmmas");
		if (in && r->registers != registers)
			trace_wrong(r, NULL, "the warps of a warpgroup set different registers");
		if (t->warp[i].number == t->cta_warps - 1 && !last && (r->together || r->registers))
			trace_wrong(r, NULL, "a warpgroup has four warps");
		together = r->together;
		registers = r->registers;
	}
}

static void place_slots(PtxTrace *t)
{
	int n = 0;
	t->slot = NEWN(t->arena, PtxSlot, t->slots + 1);
	for (const Op *op = t->k->body.first; op; op = op->next)
		for (int i = 0; op->kind == OP_SHARED && i < slots_of(op->out); i++)
			t->slot[n++] =
				(PtxSlot){start_of(op->out, i), type_slot_bytes(op->out->type)};
}

static void number_slots(Tracer *r)
{
	PtxTrace *t = r->t;
	for (const Op *op = t->k->body.first; op; op = op->next) {
		bool bar = op->kind == OP_MBARRIER;
		int *n = bar ? &t->bars : &t->slots;
		if (!bar && op->kind != OP_SHARED)
			continue;
		ptrmap_set(bar ? &r->first_bar : &r->first_slot, op->out,
			   (void *)(uintptr_t)(1 + *n));
		*n += slots_of(op->out);
	}
	place_slots(t);
	for (const Op *op = kernel_first(t->k); op; op = op_next(op))
		t->waits_for_grid |= op->kind == OP_GRID_WAIT;
}

/* No byte of a barrier is another's or a buffer's. */
static void check_barriers(Tracer *r)
{
	PtxTrace *t = r->t;
	int64_t all = attrs_int(&t->k->attrs, A_SMEM, 0);
	bool *taken = calloc((size_t)all + 1, 1);
	for (const Op *op = t->k->body.first; op; op = op->next) {
		int64_t at = attrs_int(&op->attrs, A_OFFSET, 0);
		for (int i = 0; op->kind == OP_MBARRIER && i < 8 * slots_of(op->out); i++) {
			if (at + i >= all || taken[at + i])
				trace_wrong(r, op, "a barrier's bytes are not its own");
			else
				taken[at + i] = true;
		}
	}
	for (int i = 0; i < t->feet.n; i++) {
		const Foot *f = &t->feet.at[i];
		for (int j = 0; j < (f->together ? 1 : LANES); j++)
			for (int b = 0; f->lanes >> j & 1 && b < f->bytes; b++)
				if (f->at[j] + b < all && taken[f->at[j] + b])
					trace_wrong(r, NULL, "a barrier's bytes are not its own");
	}
	free(taken);
}

static void make_warps(PtxTrace *t)
{
	t->warp = NEWN(t->arena, PtxWarp, t->warps);
	for (int i = 0; i < t->warps; i++) {
		t->warp[i].cta = i / t->cta_warps;
		t->warp[i].number = i % t->cta_warps;
	}
}

PtxTrace *stepper_trace(Arena *arena, const Kernel *k, const Sizes *sizes, const char **why)
{
	PtxTrace *t = NEW(arena, PtxTrace);
	Tracer r = {.t = t, .c = k->ctx, .names = names_new(arena)};
	*t = (PtxTrace){.arena = arena, .k = k, .sizes = sizes};
	names_of_sizes(r.names, r.c, sizes);
	int64_t ctas = launch_ctas(k, r.names);
	t->ctas = cluster_ctas(k);
	t->cta_warps = (int)(attrs_int(&k->attrs, A_BLOCK, 32) / LANES);
	t->warps = t->ctas * t->cta_warps;
	*why = "nothing is launched";
	if (ctas < (sizes->cluster + 1) * t->ctas)
		return NULL;
	r.first_bar.arena = r.first_slot.arena = arena;
	r.table = NEWN(arena, int, TABLE);
	number_slots(&r);
	make_warps(t);
	trace_groups(&r, ctas);
	*why = r.give_up;
	if (r.give_up)
		return NULL;
	check_barriers(&r);
	if (!t->wrong)
		stepper_cells(t);
	return t;
}
