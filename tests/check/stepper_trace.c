/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_trace.c - each warp's steps for sizes that are numbers, and what is wrong in program
 * order alone: a slot that does not exist, an aligned instruction by some lanes, a parity of 2.
 *     for.ring k, slot, phase (0, 2, 0) { mbar.wait %full[slot] (phase) }
 *     ->  wait %full[0], parity 0; wait %full[1], parity 0 */
#include "stepper.h"

#include "layout/ptrmap.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_STEPS = 60000,
	MOST_TURNS = 4096,
	MOST_COUNTERS = 8,
	MOST_COUNT = (1 << 20) - 1,
	TABLE = 1 << 14
};

typedef struct {
	PtxTrace *t;
	Ctx *c;
	LaneNames *names;
	PtxWarp *w;
	int warp; /* of all */
	PtxRegisters *regs;
	PtrMap first_bar, first_slot, buffer_end; /* Val -> 1 + number of slot 0 */
	VEC(uint32_t) masks;
	const char *give_up;
	int total;
	uint64_t together; /* what the warps of a warpgroup must do alike */
	uint64_t registers;
	int64_t regs_left;        /* of a thread */
	int *table;               /* of feet: 1 + number */
	int meet[NAMED_BARRIERS]; /* threads */
} Tracer;

static void wrong(Tracer *r, const Op *op, const char *what)
{
	if (r->t->wrong)
		return;
	r->t->wrong = what;
	r->t->wrong_at = op;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* ------------------------------------------------------------------ values */
static int64_t value(Tracer *r, const Op *op, const Ix *x, uint32_t lanes)
{
	LaneValue v;
	int lane = __builtin_ctz(lanes);
	names_eval(r->names, x, &v);
	if (v.bad & lanes)
		r->give_up = "an expression has no value";
	for (int i = lane; v.varies && i < LANES; i++)
		if (lanes >> i & 1 && v.at[i] != v.at[lane])
			wrong(r, op, "lanes of one instruction disagree");
	return v.at[lane];
}

static int slots_of(const Val *v)
{
	const Attrs *a = v->def ? &v->def->attrs : NULL;
	return a ? (int)(attrs_int(a, A_SLOTS, 1) * attrs_int(a, A_GROUPS, 1)) : 1;
}

/* Slot of an operand that lanes share; -1: none. */
static int slot_of(Tracer *r, const Op *op, const Operand *in, uint32_t lanes)
{
	int64_t slot = in->at ? value(r, op, in->at, lanes) : 0;
	if (slot >= 0 && slot < slots_of(in->val))
		return (int)slot;
	wrong(r, op, "a slot that does not exist");
	return -1;
}

static int number_of(const PtrMap *m, const Val *v)
{
	return (int)(uintptr_t)ptrmap_get(m, v) - 1;
}

/* ------------------------------------------------------------------ steps */
static PtxStep *push(Tracer *r, const Op *op, int kind, uint32_t lanes)
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
	uint64_t h = mix(mix((uint64_t)f->warp, f->lanes), (uint64_t)f->bytes * 2 + f->together);
	for (int i = 0; i < LANES; i++)
		h = mix(h, (uint64_t)f->at[i]);
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
static int whole_foot(Tracer *r, const Op *op, const Operand *in, int slot, int64_t byte,
		      int64_t bytes, bool within)
{
	int64_t all = type_slot_bytes(in->val->type);
	Foot f = {.warp = -1, .lanes = ALL_LANES, .together = true};
	if (within && (byte < 0 || byte + bytes > all))
		wrong(r, op, "bytes beyond the slot");
	byte = byte < 0 || byte >= all ? 0 : byte;
	bytes = byte + bytes > all ? all - byte : bytes;
	f.at[0] = (int)(start_of(in->val, slot) + byte);
	f.bytes = (int)bytes;
	if (!is_in_memory(r, f.at[0], f.bytes))
		wrong(r, op, "bytes beyond the kernel's shared memory");
	return foot_of(r, &f);
}

static bool is_matrix(const Op *op)
{
	return op->kind == OP_LDMATRIX || op->kind == OP_STMATRIX;
}

/* A generic access: each lane at its own byte; of matrices a row of 16 bytes. */
static int lanes_foot(Tracer *r, const Op *op, const Operand *in, int slot, const Ix *byte,
		      uint32_t lanes)
{
	LaneValue v;
	int64_t all = type_slot_bytes(in->val->type), n = attrs_int(&op->attrs, A_N, 1);
	Foot f = {.warp = r->warp, .lanes = lanes};
	f.bytes = is_matrix(op) ? 16 : (int)(n * elem_rows[in->val->type->elem].bits / 8);
	if (op->kind == OP_ST_STAGED)
		f.bytes = elem_rows[in->val->type->elem].bits / 8;
	if (is_matrix(op) && n < 4)
		f.lanes &= (1u << 8 * n) - 1;
	names_eval(r->names, byte, &v);
	if (v.bad & lanes)
		r->give_up = "an expression has no value";
	for (int i = 0; i < LANES; i++) {
		bool in_slot = v.at[i] >= 0 && v.at[i] + f.bytes <= all;
		f.at[i] = lanes >> i & 1 ? (int)(start_of(in->val, slot) + (in_slot ? v.at[i] : 0))
					 : 0;
		if (lanes >> i & 1 && !is_in_memory(r, f.at[i], f.bytes))
			wrong(r, op, "bytes beyond the kernel's shared memory");
	}
	return foot_of(r, &f);
}

/* ------------------------------------------------------------------ single ops */
static void trace_generic(Tracer *r, const Op *op, uint32_t lanes)
{
	bool staged = op->kind == OP_ST_STAGED;
	int buffer = op->in[0].val->type->space == SP_SHARED ? 0 : 1;
	int slot = slot_of(r, op, &op->in[buffer], lanes);
	if (is_matrix(op) && lanes != ALL_LANES)
		wrong(r, op, "an aligned instruction by some lanes");
	if (slot < 0)
		return;
	int foot = lanes_foot(r, op, &op->in[buffer], slot, op->ix[staged], lanes);
	PtxStep *s = push(r, op, op->kind, lanes);
	s->foot = foot;
	s->global = staged;
	s->slot = number_of(&r->first_slot, op->in[buffer].val) + slot;
}

static int64_t box_bytes(const Op *map, const Operand *in)
{
	const Attr *box = map ? attrs_get(&map->attrs, A_BOX) : NULL;
	int64_t n = elem_rows[in->val->type->elem].bits / 8;
	for (int i = 0; box && i < box->n; i++)
		n *= box->i[i];
	return n;
}

static void check_map(Tracer *r, const Op *op)
{
	const Op *map = op->in[1].val->def;
	int64_t there;
	for (int i = 0; map && i < map->nsym; i++)
		if (names_int(r->names, ix_sym(r->c, map->sym[i]), &there) && !there)
			wrong(r, op, "a tensor map that the launch has not");
}

/* Each lane issues its own. */
static void trace_tma(Tracer *r, const Op *op, uint32_t lane)
{
	bool load = op->kind == OP_TMA_LOAD, shared = attrs_int(&op->attrs, A_SHARED, 0);
	int slot = slot_of(r, op, &op->in[0], lane);
	int bar = load ? slot_of(r, op, &op->in[2], lane) : 0;
	int64_t bytes = box_bytes(op->in[1].val->def, &op->in[0]), mask = (int64_t)1 << r->w->cta;
	if (slot < 0 || bar < 0)
		return;
	check_map(r, op);
	if (load && shared)
		mask = value(r, op, op->ix[op->nix - 1], lane);
	if (load && (mask <= 0 || mask >> r->t->ctas))
		wrong(r, op, "a mask of CTAs that are not in the cluster");
	int foot = whole_foot(r, op, &op->in[0], slot, value(r, op, op->ix[0], lane), bytes, true);
	PtxStep *s = push(r, op, op->kind, lane);
	s->foot = foot;
	s->bytes = bytes;
	s->global = true;
	s->slot = number_of(&r->first_slot, op->in[0].val) + slot;
	s->cta = load ? (int)mask : r->w->cta;
	s->bar = load ? number_of(&r->first_bar, op->in[2].val) + bar : -1;
}

/* Rows of 16 bytes and more: whole groups of eight rows. */
static int operand_foot(Tracer *r, const Op *op, int i, int slot, int rows)
{
	const Attr *sbo = attrs_get(&op->attrs, A_SBO);
	int64_t eight = sbo && sbo->n == 2 ? sbo->i[i] : 0,
		byte = value(r, op, op->ix[i], ALL_LANES);
	if (eight > 0 && byte >= 0)
		byte = byte / eight * eight;
	return whole_foot(r, op, &op->in[1 + i], slot, byte, rows / 8 * eight, false);
}

static void trace_wgmma(Tracer *r, const Op *op)
{
	Atom atom = attrs_get(&op->attrs, A_ATOM)->atom;
	int a = slot_of(r, op, &op->in[1], ALL_LANES), b = slot_of(r, op, &op->in[2], ALL_LANES);
	if (a < 0 || b < 0)
		return;
	int foot = operand_foot(r, op, 0, a, atom_rows[atom.id].m);
	int foot2 = operand_foot(r, op, 1, b, atom.n);
	PtxStep *s = push(r, op, op->kind, ALL_LANES);
	s->foot = foot;
	s->foot2 = foot2;
	s->slot = number_of(&r->first_slot, op->in[1].val) + a;
	s->n = number_of(&r->first_slot, op->in[2].val) + b;
	r->together = mix(r->together, (uint64_t)(uintptr_t)op);
	r->together = mix(r->together, mix((uint64_t)foot, (uint64_t)foot2));
}

static PtxStep *push_at_bar(Tracer *r, const Op *op, uint32_t lanes)
{
	int slot = slot_of(r, op, &op->in[0], lanes);
	PtxStep *s = push(r, op, op->kind, lanes);
	s->bar = number_of(&r->first_bar, op->in[0].val) + (slot < 0 ? 0 : slot);
	return s;
}

static void trace_wait(Tracer *r, const Op *op, uint32_t lanes)
{
	int64_t parity = value(r, op, op->ix[0], lanes);
	PtxStep *s = push_at_bar(r, op, lanes);
	if (parity != 0 && parity != 1)
		wrong(r, op, "a parity that is neither 0 nor 1");
	s->n = (int)(parity & 1);
}

/* Of lanes that arrive at one barrier nobody knows the order: they arrive as one. */
static void arrive_lanes(Tracer *r, const Op *op, uint32_t lanes, int64_t cta, int64_t count)
{
	PtxStep *s = push_at_bar(r, op, lanes);
	s->n = (int)(count < -MOST_COUNT || count > MOST_COUNT ? MOST_COUNT : count) *
	       __builtin_popcount(lanes);
	if (cta < 0 || cta >= r->t->ctas)
		wrong(r, op, "an arrival at a CTA that is not in the cluster");
	else
		s->cta = (int)cta;
}

static void trace_arrive(Tracer *r, const Op *op, uint32_t lanes)
{
	int64_t count = attrs_int(&op->attrs, A_COUNT, 1);
	LaneValue cta = {0}, slot = {0};
	if (count < 1 || count > MOST_COUNT)
		wrong(r, op, "an arrival counts at least 1");
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
		op->nix ? value(r, op, op->ix[0], lanes) : attrs_int(&op->attrs, A_COUNT, 1);
	PtxStep *s = push_at_bar(r, op, lanes);
	s->n = (int)count;
	if (count < 1 || count > MOST_COUNT)
		wrong(r, op, "a barrier counts at least 1 arrival");
	if (lanes & (lanes - 1))
		wrong(r, op, "a barrier is made by several lanes");
}

static void trace_named(Tracer *r, const Op *op, uint32_t lanes)
{
	PtxStep *s;
	int64_t id = op->kind == OP_BAR_CTA ? 0 : value(r, op, op->ix[0], lanes);
	int64_t all = r->t->cta_warps * LANES;
	int64_t n = op->kind == OP_BAR_CTA ? all : attrs_int(&op->attrs, A_THREADS, 0);
	if (id < 0 || id >= NAMED_BARRIERS)
		wrong(r, op, "a named barrier that does not exist");
	if (n <= 0 || n % LANES || n > all)
		wrong(r, op, "a barrier for threads that are not whole warps of the CTA");
	s = push(r, op, op->kind, lanes);
	s->bar = (int)(id & (NAMED_BARRIERS - 1));
	s->n = (int)n;
	int *meet = &r->meet[s->bar]; /* of all CTAs */
	if (*meet && *meet != s->n)
		wrong(r, op, "warps meet at one barrier with other counts");
	*meet = s->n;
}

static void trace_plain(Tracer *r, const Op *op, uint32_t lanes)
{
	PtxStep *s = push(r, op, op->kind, lanes);
	s->n = (int)attrs_int(&op->attrs, A_N, 0);
	s->relaxed = attrs_int(&op->attrs, A_RELAXED, 0);
	s->global = op->kind == OP_LD_GLOBAL || op->kind == OP_ST_GLOBAL;
	if (op->kind == OP_SETMAXNREG) {
		s->bytes = r->regs_left = attrs_int(&op->attrs, A_REGS, 0);
		r->registers = mix(r->registers, mix((uint64_t)s->n, (uint64_t)s->bytes));
	}
	if (op->kind == OP_WGMMA_COMMIT)
		r->together = mix(r->together, 1);
}

static bool is_aligned(OpKind kind)
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
		return true;
	default:
		return false;
	}
}

static void trace_step(Tracer *r, const Op *op, uint32_t lanes)
{
	switch ((int)op->kind) {
	case OP_LDMATRIX:
	case OP_STMATRIX:
	case OP_LD_SHARED:
	case OP_ST_SHARED:
	case OP_ST_STAGED:
		trace_generic(r, op, lanes);
		break;
	case OP_TMA_LOAD:
	case OP_TMA_STORE:
		for (int i = 0; i < LANES; i++)
			if (lanes >> i & 1)
				trace_tma(r, op, 1u << i);
		break;
	case OP_WGMMA:
		trace_wgmma(r, op);
		break;
	case OP_MBAR_INIT:
		trace_init(r, op, lanes);
		break;
	case OP_MBAR_EXPECT:
		for (int i = 0; i < LANES; i++)
			if (lanes >> i & 1)
				push_at_bar(r, op, 1u << i)->bytes =
					attrs_int(&op->attrs, A_BYTES, 0);
		break;
	case OP_MBAR_ARRIVE:
		trace_arrive(r, op, lanes);
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
	case OP_BULK_COMMIT:
	case OP_BULK_WAIT:
	case OP_BULK_WAIT_READ:
	case OP_GRID_WAIT:
	case OP_SETMAXNREG:
	case OP_LD_GLOBAL:
	case OP_ST_GLOBAL:
		trace_plain(r, op, lanes);
		break;
	default:
		break; /* registers, which are no other warp's, and hints */
	}
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

/* Reads that a guard keeps some lanes from count as made: how many there are hangs on sizes. */
static void look(Tracer *r, const Op *op, uint32_t lanes)
{
	for (const Op *in = op->body->first; in; in = in->next) {
		LaneValue v;
		if (in->body)
			look(r, in, lanes);
		if (in->kind != OP_ST_STAGED && in->kind != OP_LD_SHARED)
			continue;
		names_eval(r->names, in->in[1].at ? in->in[1].at : ix_const(r->c, 0), &v);
		int64_t slot = v.at[__builtin_ctz(lanes)];
		if (slot >= 0 && slot < slots_of(in->in[1].val))
			push(r, in, PTX_LOOK, lanes)->slot =
				number_of(&r->first_slot, in->in[1].val) + (int)slot;
	}
}

/* for t, n (from, to, start, step): what a loop carries in its symbols behind the first. */
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
			look(r, op, lanes);
		if (!on)
			return;
		if (base.bad & on || turn == MOST_TURNS)
			r->give_up = "a loop without a number of turns";
		else
			walk_turn(r, op, &from, &base, turn, on);
		step_counters(r, op);
	}
}

static void come_together(Tracer *r, const Op *op, uint32_t part, uint32_t lanes)
{
	if (part && part != lanes && !r->give_up)
		push(r, op, PTX_TOGETHER, lanes);
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
		wrong(r, op, "an aligned instruction by some lanes");
}

static void walk_role(Tracer *r, const Op *op, uint32_t lanes)
{
	int64_t first = attrs_int(&op->attrs, A_FIRST, 0);
	if (r->w->number < first || r->w->number >= first + attrs_int(&op->attrs, A_WARPS, 0))
		return;
	walk(r, op->body, lanes);
	if (attrs_int(&op->attrs, A_REGS, 0) > r->regs_left)
		wrong(r, op, "a role needs more registers than it is left with");
}

static void walk_op(Tracer *r, const Op *op, uint32_t lanes)
{
	uint32_t part = lanes;
	const char *why;
	if (is_aligned(op->kind) && lanes != ALL_LANES)
		wrong(r, op, "an aligned instruction by some lanes");
	switch ((int)op->kind) {
	case OP_FOR:
	case OP_FOR_RING:
		walk_loop(r, op, lanes);
		return;
	case OP_IF:
		part = where_true(r, op, lanes);
		if (part != lanes && sizes_decide(r->t->k, op) && !is_of_launch(r, op->ix[0]))
			look(r, op, lanes);
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
		why = registers_step(r->regs, op, r->names);
		if (why)
			wrong(r, op, why);
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
	push(r, NULL, PTX_EXIT, ALL_LANES);
	const char *why = registers_exit(r->regs);
	if (why)
		wrong(r, NULL, why);
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
			wrong(r, NULL, "the warps of a warpgroup go through different wgmmas");
		if (in && r->registers != registers)
			wrong(r, NULL, "the warps of a warpgroup set different registers");
		if (t->warp[i].number == t->cta_warps - 1 && !last && (r->together || r->registers))
			wrong(r, NULL, "a warpgroup has four warps");
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
				wrong(r, op, "a barrier's bytes are not its own");
			else
				taken[at + i] = true;
		}
	}
	for (int i = 0; i < t->feet.n; i++) {
		const Foot *f = &t->feet.at[i];
		for (int j = 0; j < (f->together ? 1 : LANES); j++)
			for (int b = 0; f->lanes >> j & 1 && b < f->bytes; b++)
				if (f->at[j] + b < all && taken[f->at[j] + b])
					wrong(r, NULL, "a barrier's bytes are not its own");
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
