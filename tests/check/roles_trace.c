/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* roles_trace.c - see roles_trace.h. A slot has 64 bytes: two boxes, or what two warps write, have
 * half of them each. One lane is lane 0; all others wait as it does.
 *     write of ring 0 by all lanes of the second of two warps  ->  a byte of 32..63 by each
 */
#include "roles_trace.h"

#include <string.h>

enum { SLOT = 64, GROUP = 32 };

typedef struct {
	PtxTrace *t;
	const Source *s;
	const Role *role;
	PtxWarp *w;
	int warp, copy, rank, warps; /* copy: of the role's warps; warps: of the CTA */
	int first_bar[RINGS], first_slot[RINGS];
	uint32_t open, busy[GROUP], dirty; /* accumulators: of wgmmas not committed, of groups */
	int groups, done;
} Tracer;

static void wrong(Tracer *r, bool is, const char *what)
{
	if (is && !r->t->wrong)
		r->t->wrong = what;
}

static PtxStep *push(Tracer *r, int kind, bool all)
{
	PtxStep s = {.kind = kind,
		     .lanes = all ? ALL_LANES : 1,
		     .cta = r->rank,
		     .bar = -1,
		     .foot = -1,
		     .foot2 = -1,
		     .slot = -1};
	vec_push(r->t->arena, &r->w->steps, s);
	return &r->w->steps.at[r->w->steps.n - 1];
}

/* A named barrier, whose number may be beyond those of the rings, has none. */
static int slots_of(const Source *s, int ring)
{
	return ring < RINGS && s->ring[ring].slots ? s->ring[ring].slots : 1;
}

/* ------------------------------------------------------------------ barriers */
static int bar_of(const Tracer *r, const Move *m, int ring, int at)
{
	int n = r->s->ring[ring].slots;
	return r->first_bar[ring] + (m->barrier == AT_EMPTY ? n : 0) + (n ? at % n : 0);
}

/* id: of the CTA; -1: of the cluster */
static void meet(Tracer *r, StepKind kind, int id, int warps)
{
	bool one = r->s->ctas == 1;
	int bar = id < 0 ? 0 : id + 1;
	PtxStep *st = push(r,
			   kind == STEP_BAR_ARRIVE ? OP_BAR_ARRIVE
			   : id < 0 && !one        ? OP_BAR_CLUSTER
						   : OP_BAR_SYNC,
			   true);
	st->relaxed = kind == STEP_BAR_RELAXED;
	st->bar = bar;
	st->n = LANES * warps;
	if (st->kind == OP_BAR_CLUSTER)
		return;
	wrong(r, id >= 0 && warps != r->s->barrier[id].warps, "warps meet with other counts");
}

static void trace_inits(Tracer *r)
{
	for (int ring = 0; ring < r->s->rings; ring++)
		for (int i = 0; i < 2 * r->s->ring[ring].slots; i++) {
			const Ring *of = &r->s->ring[ring];
			PtxStep *st = push(r, OP_MBAR_INIT, false);
			st->bar = r->first_bar[ring] + i;
			st->n = of->count[i >= of->slots][r->rank];
			st->n = st->n ? st->n : 1;
			wrong(r, st->n < 0, "a barrier counts at least 1 arrival");
		}
	if (r->s->fenced[r->rank])
		push(r, OP_FENCE_INIT, false);
}

static void trace_bar(Tracer *r, const Move *m, int at)
{
	int kind = m->kind == STEP_WAIT     ? OP_MBAR_WAIT
		   : m->kind == STEP_EXPECT ? OP_MBAR_EXPECT
					    : OP_MBAR_ARRIVE;
	bool all = m->kind == STEP_WAIT || m->lanes == LANES;
	PtxStep *st = push(r, kind, all);
	int lap = at / slots_of(r->s, m->ring);
	st->bar = bar_of(r, m, m->ring, at);
	st->cta = m->rank;
	st->bytes = m->kind == STEP_EXPECT ? m->n : 0;
	st->n = m->kind == STEP_WAIT ? (lap + m->parity) % 2 : m->n * (all ? LANES : 1);
	wrong(r, m->kind == STEP_WAIT && m->parity > 1, "a parity that is neither 0 nor 1");
	wrong(r, m->kind == STEP_ARRIVE && m->n < 1, "an arrival counts at least 1");
}

/* ------------------------------------------------------------------ slots */
static int foot(Tracer *r, Foot f)
{
	vec_push(r->t->arena, &r->t->feet, f);
	return r->t->feet.n - 1;
}

/* Each lane that reads reads all. */
static int foot_of_lanes(Tracer *r, int start, int bytes, bool all, bool each)
{
	Foot f = {.warp = r->warp, .lanes = all ? ALL_LANES : 1};
	f.bytes = all && each ? bytes / LANES : bytes;
	for (int i = 0; i < (all ? LANES : 1); i++)
		f.at[i] = start + (each ? i * f.bytes : 0);
	return foot(r, f);
}

static int foot_of_box(Tracer *r, int start, int bytes)
{
	Foot f = {.warp = -1, .lanes = ALL_LANES, .together = true, .bytes = bytes};
	f.at[0] = start;
	return foot(r, f);
}

static void trace_access(Tracer *r, const Move *m, int at)
{
	int slot = r->first_slot[m->ring] + at % slots_of(r->s, m->ring), start = SLOT * slot;
	bool all = m->lanes == LANES, halves = r->s->ring[m->ring].parts == 2;
	PtxStep *st = push(r,
			   m->kind == STEP_LOAD    ? OP_TMA_LOAD
			   : m->kind == STEP_STORE ? OP_TMA_STORE
			   : m->kind == STEP_MMA   ? OP_WGMMA
			   : m->kind == STEP_WRITE ? OP_ST_SHARED
						   : OP_LD_SHARED,
			   m->kind == STEP_MMA || all);
	int half = SLOT / 2;
	st->slot = slot;
	st->cta = m->rank;
	if (m->kind == STEP_LOAD) {
		st->cta = 1 << m->rank;
		st->bar = bar_of(r, m, m->by, at);
		st->bytes = m->n;
		st->foot = foot_of_box(r, start + (halves && m->part == 2 ? half : 0),
				       halves ? half : SLOT);
	} else if (m->kind == STEP_WRITE) {
		bool two = r->role->warps == 2;
		st->foot = foot_of_lanes(r, start + half * r->copy, two ? half : SLOT, all, true);
	} else if (m->kind == STEP_READ) {
		st->foot = foot_of_lanes(r, start, SLOT, all, false);
	} else {
		st->foot = st->foot2 = foot_of_box(r, start, SLOT);
		st->n = slot;
	}
}

/* ------------------------------------------------------------------ registers */
static uint32_t in_flight(const Tracer *r)
{
	uint32_t all = r->open;
	for (int i = r->done; i < r->groups; i++)
		all |= r->busy[i % GROUP];
	return all;
}

static void trace_registers(Tracer *r, const Move *m)
{
	uint32_t acc = 1u << m->ring;
	if (m->kind == STEP_MMA_FENCE)
		r->dirty = 0;
	if (m->kind == STEP_TOUCH) {
		wrong(r, in_flight(r) & acc, "an accumulator that a wgmma still writes");
		r->dirty |= acc;
	}
	if (m->kind == STEP_MMA) {
		wrong(r, r->dirty & acc, "a wgmma on registers without a fence");
		r->open |= acc;
	}
	if (m->kind == STEP_MMA_COMMIT) {
		r->busy[r->groups++ % GROUP] = r->open;
		r->open = 0;
	}
	if (m->kind == STEP_MMA_WAIT && r->groups - m->n > r->done)
		r->done = r->groups - m->n;
}

static void trace_plain(Tracer *r, const Move *m)
{
	static const struct {
		StepKind kind;
		int op;
		bool all;
	} rows[] = {
		{STEP_FENCE, OP_FENCE_ASYNC, true},
		{STEP_WARP, OP_BAR_WARP, true},
		{STEP_MMA_COMMIT, OP_WGMMA_COMMIT, true},
		{STEP_MMA_WAIT, OP_WGMMA_WAIT, true},
		{STEP_BULK_COMMIT, OP_BULK_COMMIT, false},
		{STEP_BULK_READ, OP_BULK_WAIT_READ, false},
		{STEP_BULK_WAIT, OP_BULK_WAIT, false},
	};
	for (size_t i = 0; i < COUNTOF(rows); i++)
		if (rows[i].kind == m->kind)
			push(r, rows[i].op, m->lanes ? m->lanes == LANES : rows[i].all)->n = m->n;
}

/* ------------------------------------------------------------------ a role */
static void trace_move(Tracer *r, const Move *m, int trip)
{
	int at = trip + m->off + PERIOD, slots = slots_of(r->s, m->ring);
	wrong(r, m->nowhere && at % slots + 1 == slots, "a slot that does not exist");
	trace_registers(r, m);
	switch ((int)m->kind) {
	case STEP_BAR:
	case STEP_BAR_ARRIVE:
		meet(r, m->kind, m->ring, m->n);
		return;
	case STEP_WAIT:
	case STEP_ARRIVE:
	case STEP_EXPECT:
		trace_bar(r, m, at);
		return;
	case STEP_LOAD:
	case STEP_STORE:
	case STEP_MMA:
	case STEP_WRITE:
	case STEP_READ:
		trace_access(r, m, at);
		return;
	default:
		trace_plain(r, m);
	}
}

static void trace_body(Tracer *r, BodyPart part, int trip, bool late)
{
	const Body *b = &r->role->part[part];
	for (int i = 0; i < b->n; i++)
		if (late || !b->at[i].late)
			trace_move(r, &b->at[i], trip);
}

static void trace_role(Tracer *r, bool inits, int trips)
{
	int all = source_warps(r->s, -1);
	StepKind first = r->s->relaxed && r->s->ctas == 2 ? STEP_BAR_RELAXED : STEP_BAR;
	r->open = 0;
	r->dirty = ~0u;
	r->groups = r->done = 0;
	if (inits)
		trace_inits(r);
	if (r->role->meets_first)
		meet(r, first, -1, all);
	trace_body(r, PRE, 0, false);
	for (int k = 0; k < trips; k++)
		trace_body(r, LOOP, k, k > 0);
	trace_body(r, POST, trips, trips > 0);
	if (r->role->meets_last)
		meet(r, STEP_BAR, -1, all);
	wrong(r, in_flight(r), "exits while a wgmma is in flight");
}

/* ------------------------------------------------------------------ all warps */
static const Kernel *shell(Ctx *c, int warps, int bytes)
{
	const char *text =
		ctx_strf(c, "kernel roles ptx sm_90a block=%d smem=%d after=simplify {\n}\n",
			 LANES * warps, bytes);
	Module *m = module_parse(c, ctx_src(c, "roles", text, strlen(text)));
	return m ? m->kernels.at[0] : NULL;
}

static void find_places(Tracer *r)
{
	PtxTrace *t = r->t;
	for (int ring = 0; ring < r->s->rings; ring++) {
		r->first_bar[ring] = t->bars;
		r->first_slot[ring] = t->slots;
		t->bars += 2 * r->s->ring[ring].slots;
		t->slots += slots_of(r->s, ring);
	}
	t->slot = NEWN(t->arena, PtxSlot, t->slots + 1);
	for (int i = 0; i < t->slots; i++)
		t->slot[i] = (PtxSlot){SLOT * i, SLOT};
}

static void make_warps(Tracer *r)
{
	PtxTrace *t = r->t;
	t->warp = NEWN(t->arena, PtxWarp, t->warps);
	for (int i = 0; i < t->warps; i++)
		t->warp[i] = (PtxWarp){.cta = i / t->cta_warps,
				       .number = i % t->cta_warps,
				       .nclasses = 2,
				       .classes = {1, ALL_LANES - 1}};
}

/* A CTA with fewer warps has some that leave at once. */
static void trace_cta(Tracer *r, int rank, int trips)
{
	PtxTrace *t = r->t;
	int n = rank * t->cta_warps;
	bool inits = true;
	r->rank = rank;
	for (int a = 0; a < r->s->roles; a++) {
		r->role = &r->s->role[a];
		if (r->role->rank != rank)
			continue;
		for (r->copy = 0; r->copy < r->role->warps; r->copy++, inits = false) {
			r->warp = n;
			r->w = &t->warp[n++];
			trace_role(r, inits, trips);
		}
	}
	for (int i = rank * t->cta_warps; i < (rank + 1) * t->cta_warps; i++) {
		r->w = &t->warp[i];
		push(r, PTX_EXIT, true);
		r->w->seen = NEWN(t->arena, int, r->w->steps.n * t->ctas);
	}
}

PtxTrace *roles_trace(Ctx *c, const Source *s, int trips)
{
	PtxTrace *t = NEW(ctx_arena(c), PtxTrace);
	Tracer r = {.t = t, .s = s};
	t->arena = ctx_arena(c);
	t->ctas = s->ctas;
	for (int rank = 0; rank < s->ctas; rank++)
		if (source_warps(s, rank) > t->cta_warps)
			t->cta_warps = source_warps(s, rank);
	t->warps = t->ctas * t->cta_warps;
	find_places(&r);
	t->k = shell(c, t->cta_warps, SLOT * t->slots);
	make_warps(&r);
	for (int rank = 0; rank < s->ctas; rank++)
		trace_cta(&r, rank, trips);
	if (!t->wrong)
		stepper_cells(t);
	return t;
}
