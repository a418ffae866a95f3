/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tour.c - all runs through a tree of loops. A stop is a segment and what is known of where the run
 * is: in which trip of each loop, near its ends or not, and how often loops run: never, so many
 * times, or at least so often. What arrives at a stop is joined to what stands there, until
 * nothing changes.
 *     s0 (s1 (s2)^T s3)^N s4   ->   s2 in trip 0, in any later one; after it, with T = 0 or T > 0
 */
#include "verify/tree/tree.h"

#include <string.h>

enum { MAX_AGAIN = 100, FEW_COUNTS = 2, FEW_TRIPS = 16 };

typedef struct Stop Stop;
typedef struct {
	Stop *to;
	const Turn *turn; /* NULL: no ring turns */
} Way;

struct Stop {
	const Segment *seg;
	Where at;
	Refs refs;
	Letter letter;
	bool made, walked, queued;
	VEC(Way) ways;
	Head head;
};

typedef struct {
	int64_t by[MAX_UNITS];
	Turn *turn;
} Turned;

typedef struct RolePart RolePart;
typedef VEC(RolePart *) RoleParts;

typedef struct {
	Tree *t;
	Program *p;
	Machine *m;
	Arena *arena;
	TourResult *out;
	VEC(Stop *) stops, queue;
	int *index, cap; /* hash of stops */
	VEC(Turned) turns;
	RoleParts *parts; /* by segment and role */
	State *now, *other;
	uint64_t *facts;
	int max_states;
	bool again; /* something was raised: from the start */
	bool once;  /* counts that sizes decide are chosen once */
} Tour;

static bool met(Tour *u, LimitId limit)
{
	u->out->met = limit;
	u->out->limit = limit_text(u->p->k->ctx, limit);
	return false;
}

/* ------------------------------------------------------------------ stops */
static uint64_t hash_of(const Segment *g, const Where *at)
{
	int32_t x[sizeof *at / 4];
	uint64_t h = (uint64_t)g->id + 1;
	memcpy(x, at, sizeof x);
	for (size_t i = 0; i < COUNTOF(x); i++) {
		h = (h ^ (uint32_t)x[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return h;
}

static int *slot_of(Tour *u, const Segment *g, const Where *at)
{
	for (uint64_t i = hash_of(g, at);; i++) {
		int *to = &u->index[i & (uint64_t)(u->cap - 1)];
		if (!*to)
			return to;
		const Stop *s = u->stops.at[*to - 1];
		if (s->seg == g && !memcmp(&s->at, at, sizeof *at))
			return to;
	}
}

static void grow(Tour *u)
{
	u->cap = u->cap ? 2 * u->cap : 256;
	u->index = NEWN(u->arena, int, u->cap);
	for (int i = 0; i < u->stops.n; i++)
		*slot_of(u, u->stops.at[i]->seg, &u->stops.at[i]->at) = i + 1;
}

static Stop *stop_at(Tour *u, const Segment *g, const Where *at)
{
	if (2 * u->stops.n >= u->cap)
		grow(u);
	int *to = slot_of(u, g, at);
	if (*to)
		return u->stops.at[*to - 1];
	Stop *s = NEW(u->arena, Stop);
	s->seg = g;
	s->at = *at;
	refs_at(u->t, g, &s->at, &s->refs);
	vec_push(u->arena, &u->stops, s);
	*to = u->stops.n;
	return s;
}

/* ------------------------------------------------------------------ letters */
typedef struct {
	Tour *u;
	const Stop *s;
	int agent;
	const Refs *open; /* of the segment, wherever the run is */
	const View *view; /* anywhere */
	View *own;        /* where the run is, once that is asked for */
	int names;        /* of Env, that are not of short loops */
	bool special;     /* it is so in this stop only */
	bool below;       /* a loop runs fewer than no times */
} Framing;

/* With the names of short loops. */
static int frame_with(Framing *f, const Refs *refs, const View *of, const Env *env, int first,
		      bool barrier, const Ix *at, const Ix *parity, int64_t *slot, int64_t *phase)
{
	View v = *of;
	for (int i = f->names; i < env->n; i++) {
		vec_push(f->u->arena, &v.names,
			 ((Named){env->name[i], ix_const(f->u->p->k->ctx, env->value[i].lo)}));
		v.before = NULL;
	}
	return frame_use(f->u->t, refs, &v, first, barrier, at, parity, slot, phase);
}

static const View *own_view(Framing *f)
{
	Scope scope;
	if (!f->own) {
		f->own = NEW(f->u->arena, View);
		scope_at(f->u->t, &f->s->at, &scope);
		scope_view(f->u->t, &scope, f->agent, f->own);
	}
	return f->own;
}

static int frame_slot(void *user, const Env *env, int first, bool barrier, const Ix *at,
		      const Ix *parity, int64_t *slot, int64_t *phase)
{
	Framing *f = user;
	int done = f->below ? -1
			    : frame_with(f, f->open, f->view, env, first, barrier, at, parity, slot,
					 phase);
	if (done >= 0)
		return done;
	f->special = true;
	f->u->t->open = -1;
	return frame_with(f, &f->s->refs, own_view(f), env, first, barrier, at, parity, slot,
			  phase);
}

static bool cannot_make(Tour *u, int agent)
{
	Tree *t = u->t;
	bool ends = false;
	if (t->open >= 0) {
		Unit *unit = &t->units[t->open];
		int last = unit->barrier ? TRUST_TESTING : TRUST_SURE;
		bool told = tell_counts(t);
		unit->plain = !told && unit->trust == last;
		unit->trust += !told && !unit->plain;
		t->open = -1;
		u->again = true;
		return false;
	}
	u->again = tell_apart(t, u->p->vague_x, agent, &u->p->vague_in, &ends);
	if (!u->p->vague_x && !u->p->vague)
		return met(u, LIMIT_NAMES);
	u->out->limit = program_vague(u->p);
	u->out->met = ends && !u->again ? LIMIT_ENDS : LIMIT_NONE;
	if (u->out->met)
		u->out->limit = ctx_strf(u->p->k->ctx, "%s, which leaves open %s",
					 limit_text(u->p->k->ctx, LIMIT_ENDS), u->out->limit);
	return false;
}

/* Steps of one role in a segment, wherever what its conditions ask for is the same. */
struct RolePart {
	int agent, nasked;
	OpenRefs *open;
	Num *asked;
	Part part;
};

static void numbers_asked(const Tour *u, const Stop *s, const Env *env, RolePart *key)
{
	const Asked *asked = &u->t->asked[s->seg->id * u->m->na + key->agent];
	key->nasked = asked->n;
	key->asked = NEWN(u->arena, Num, asked->n + 1);
	for (int i = 0; i < asked->n; i++)
		for (int j = 0; j < env->n; j++)
			if (env->name[j] == asked->at[i])
				key->asked[i] = env->value[j];
}

static const Part *part_of(const Tour *u, const Stop *s, const RolePart *key)
{
	const RoleParts *parts = &u->parts[s->seg->id * u->m->na + key->agent];
	for (int i = 0; i < parts->n; i++) {
		const RolePart *p = parts->at[i];
		if (p->open == key->open &&
		    !memcmp(p->asked, key->asked, sizeof *p->asked * (size_t)p->nasked))
			return &p->part;
	}
	return NULL;
}

static bool make_part(Tour *u, Stop *s, int agent, const Env *env, RolePart *key)
{
	Program *p = u->p;
	Framing f = {.u = u,
		     .s = s,
		     .agent = agent,
		     .open = &key->open->refs,
		     .view = view_open(u->t, key->open, agent),
		     .names = env->n};
	Framer framer = {&f, frame_slot};
	for (int i = 0; i < u->t->ncounts; i++)
		f.below |= s->at.count[i] == CLASS_BELOW;
	p->steps.n = 0;
	if (!program_make(p, env, &s->seg->of[agent], &framer))
		return false;
	Step *all = arena_alloc(u->arena, sizeof(Step) * (size_t)p->steps.n + 1);
	if (p->steps.n)
		memcpy(all, p->steps.at, sizeof(Step) * (size_t)p->steps.n);
	key->part = (Part){all, p->steps.n};
	s->letter.of[agent] = key->part;
	if (f.special)
		return true;
	RolePart *kept = NEW(u->arena, RolePart);
	*kept = *key;
	vec_push(u->arena, &u->parts[s->seg->id * u->m->na + agent], kept);
	return true;
}

static bool make_letter(Tour *u, Stop *s)
{
	Program *p = u->p;
	OpenRefs *open = refs_open(u->t, s->seg, &s->at);
	for (int a = 0; a < p->m.na; a++) {
		Env env = {.n = 0};
		RolePart key = {.agent = a, .open = open};
		if (!s->seg->of[a].n || !takes_part(s->seg->in, &s->at, a))
			continue;
		p->vague_x = NULL;
		p->vague = NULL;
		if (!put_numbers(u->t, s->seg, &s->at, a, &env))
			return cannot_make(u, a);
		numbers_asked(u, s, &env, &key);
		const Part *old = part_of(u, s, &key);
		if (old)
			s->letter.of[a] = *old;
		else if (!make_part(u, s, a, &env, &key))
			return cannot_make(u, a);
	}
	s->made = true;
	return true;
}

/* ------------------------------------------------------------------ ways on */
static const Turn *turn_with(Tour *u, const int64_t *by)
{
	Machine *m = u->m;
	Tree *t = u->t;
	bool none = true;
	for (int i = 0; i < t->nunits; i++)
		none &= by[i] == 0;
	for (int i = 0; i < u->turns.n; i++)
		if (!memcmp(u->turns.at[i].by, by, sizeof u->turns.at[i].by))
			return u->turns.at[i].turn;
	if (none)
		return NULL;
	int64_t *keys = NEWN(u->arena, int64_t, m->nk + 1);
	int64_t *cells = NEWN(u->arena, int64_t, m->nc + 1);
	for (int i = 0; i < m->nk; i++) {
		int unit = i < t->cta_keys * m->ranks ? t->unit_of_key[i] : -1;
		keys[i] = unit < 0 ? 0 : by[unit];
	}
	for (int i = 0; i < m->nc; i++)
		cells[i] = t->unit_of_cell[i] < 0 ? 0 : by[t->unit_of_cell[i]];
	Turned new = {.turn = turned_by(m, u->arena, keys, cells)};
	memcpy(new.by, by, sizeof new.by);
	vec_push(u->arena, &u->turns, new);
	return new.turn;
}

static bool add_way(Tour *u, Stop *s, const Segment *g, const Where *at, Move move)
{
	int64_t by[MAX_UNITS] = {0};
	Stop *to = stop_at(u, g, at);
	move.t = u->t;
	move.from = &s->at;
	move.to = at;
	move.before = &s->refs;
	move.after = &to->refs;
	if (!move_turns(&move, by))
		return cannot_make(u, 0);
	Way way = {to, turn_with(u, by)};
	vec_push(u->arena, &s->ways, way);
	return true;
}

/* Each class of each count that is chosen there: where it must be known first, if it is not. */
static bool choose(Tour *u, Stop *s, const Segment *g, Where *at, Move move, int from)
{
	const Tree *t = u->t;
	while (from < t->ncounts &&
	       (t->counts[from].begins != g->id || at->count[from] != CLASS_NONE))
		from++;
	if (from == t->ncounts)
		return !counts_agree(t, at->count) || !residues_agree(t, at) ||
		       add_way(u, s, g, at, move);
	const Count *n = &t->counts[from];
	int64_t all = long_from(t, n);
	bool ok = true;
	Num is = trips_at(n, at);
	all = is.lo == is.hi && is.lo >= all && is.lo <= FEW_TRIPS ? is.lo + 1 : all;
	is.lo = n->lo > is.lo ? n->lo : is.lo;
	is.hi = n->hi < is.hi ? n->hi : is.hi;
	for (int64_t v = is.lo > 0 ? is.lo : 0; v < all && v <= is.hi && ok; v++) {
		at->count[from] = (int32_t)(CLASS_EXACT + v);
		if ((v - n->res) % n->mod == 0)
			ok = choose(u, s, g, at, move, from + 1);
	}
	at->count[from] = is.hi == all ? CLASS_EXACT + (int32_t)all : CLASS_LONG;
	if (ok && is.hi >= all)
		ok = choose(u, s, g, at, move, from + 1);
	at->count[from] = CLASS_BELOW;
	if (ok && n->below && is.lo < 0)
		ok = choose(u, s, g, at, move, from + 1);
	at->count[from] = CLASS_NONE;
	return ok;
}

/* What is not asked for any more is forgotten, and so is what has another value there. */
static bool go_to(Tour *u, Stop *s, const Segment *g, Where *at, Move move)
{
	const Tree *t = u->t;
	for (int i = 0; i < t->ncounts; i++) {
		const Branch *home = t->counts[i].home;
		bool fresh = home && (home == move.next || home == move.into);
		if (fresh || !t->counts[i].lives[g->id])
			at->count[i] = CLASS_NONE;
	}
	return choose(u, s, g, at, move, 0);
}

static bool begin_trip(Tour *u, Stop *s, const Branch *b, const Where *at, Move move)
{
	Where to = *at;
	return go_to(u, s, b->body.parts.at[0], &to, move);
}

static bool leave(Tour *u, Stop *s, const Branch *b, Where at)
{
	const Tree *t = u->t;
	const Sequence *q = b->up ? &b->up->body : &t->root;
	int32_t *class = &at.count[b->count - t->counts];
	if (at.trip[b->id].kind == TRIP_EXACT && (b->count->of >= 0 || b->count->says))
		*class = CLASS_EXACT + at.trip[b->id].n + 1;
	at.trip[b->id] = (Trip){TRIP_NONE, 0, 0};
	return go_to(u, s, q->parts.at[b->at + 1], &at, (Move){.out = b});
}

static bool next_trip(Tour *u, Stop *s, const Branch *b, Trip trip)
{
	Where at = s->at;
	trip.residue = trip.kind == TRIP_EXACT ? 0 : trip.residue;
	at.trip[b->id] = trip;
	return begin_trip(u, s, b, &at, (Move){.next = b});
}

/* So many trips, or modulo the period so many, may be all. */
static bool end_loop(Tour *u, Stop *s, const Branch *b, int32_t done)
{
	int32_t class = s->at.count[b->count - u->t->counts];
	Num all = count_num(u->t, b->count, class);
	bool more = s->at.trip[b->id].kind == TRIP_EXACT && done < all.lo;
	return more || (done - all.res) % num_gcd(all.mod, b->period) || leave(u, s, b, s->at);
}

/* After the last segment of a loop's body. */
static bool go_round(Tour *u, Stop *s, const Branch *b)
{
	const Trip *trip = &s->at.trip[b->id];
	int32_t class = s->at.count[b->count - u->t->counts];
	bool exact = trip->kind == TRIP_EXACT;
	int32_t done = exact ? trip->n + 1 : trip->residue + 1, last = (int32_t)b->last - 1;
	int32_t residue = (int32_t)(done % b->period);
	if (class >= CLASS_EXACT && done == class - CLASS_EXACT)
		return leave(u, s, b, s->at);
	if (class >= CLASS_EXACT || (exact && done < b->first))
		return next_trip(u, s, b, (Trip){TRIP_EXACT, done, 0});
	if (trip->kind == TRIP_LAST)
		return trip->n == 1 ? end_loop(u, s, b, done)
				    : next_trip(u, s, b, (Trip){TRIP_LAST, trip->n - 1, residue});
	if (!next_trip(u, s, b, (Trip){TRIP_STEADY, 0, residue}))
		return false;
	return last ? next_trip(u, s, b, (Trip){TRIP_LAST, last, residue})
		    : end_loop(u, s, b, done);
}

static bool find_ways(Tour *u, Stop *s)
{
	const Branch *in = s->seg->in;
	const Sequence *q = in ? &in->body : &u->t->root;
	s->walked = true;
	if (s->seg->at == q->loops.n)
		return !in || go_round(u, s, in);
	const Branch *b = q->loops.at[s->seg->at];
	int32_t class = s->at.count[b->count - u->t->counts];
	Where at = s->at;
	if (class == CLASS_BELOW || class == CLASS_EXACT)
		return go_to(u, s, q->parts.at[s->seg->at + 1], &at, (Move){.t = NULL});
	at.trip[b->id] = (Trip){TRIP_EXACT, 0, 0};
	return begin_trip(u, s, b, &at, (Move){.into = b});
}

/* ------------------------------------------------------------------ runs */
/* What stands in u->now arrives. */
static bool arrive(Tour *u, Stop *s)
{
	int i = head_join(u->m, u->arena, &s->head, MAX_ALIKE, &u->now, u->facts);
	if (i < 0)
		return met(u, LIMIT_ALIKE);
	if (s->head.at[i].version != s->head.at[i].done && !s->queued) {
		s->queued = true;
		vec_push(u->arena, &u->queue, s);
	}
	return true;
}

static bool run_on(Tour *u, Stop *s, const State *after)
{
	EACH(const Way, way, s->ways) {
		if (way->turn)
			turn_state(u->m, way->turn, after, u->now);
		else
			memcpy(u->now, after, u->m->bytes);
		if (!arrive(u, way->to))
			return false;
	}
	return true;
}

/* A role may wait for what comes after a loop that it leaves out. */
static bool failed(Tour *u, Stop *s, int i)
{
	memcpy(u->now, s->head.at[i].state, u->m->bytes);
	u->again |= u->out->why.id == WHY_DEADLOCK && put_off(u->t, s->seg, u->now, &s->letter);
	u->again |= tell_few(u->t);
	return false;
}

static bool run_one(Tour *u, Stop *s, int i)
{
	State *after = u->other;
	bool ends = !s->seg->in && s->seg->at == u->t->root.loops.n;
	s->head.at[i].done = s->head.at[i].version;
	memcpy(after, s->head.at[i].state, u->m->bytes);
	if (++u->out->states > u->max_states)
		return met(u, u->max_states == MAX_STATES ? LIMIT_STATES : LIMIT_FULL_STATES);
	if (u->stops.n > MAX_STOPS)
		return met(u, LIMIT_STOPS);
	if ((!s->made && !make_letter(u, s)) || (!s->walked && !find_ways(u, s)))
		return false;
	if (!letter_run(u->m, after, &s->letter, NULL, NULL, &u->out->why))
		return failed(u, s, i);
	return ends ? state_finish(u->m, after, &u->out->why) : run_on(u, s, after);
}

static bool run_all(Tour *u)
{
	for (int next = 0; next < u->queue.n; next++) {
		Stop *s = u->queue.at[next];
		s->queued = false;
		for (int i = 0; i < s->head.n; i++)
			if (s->head.at[i].done != s->head.at[i].version && !run_one(u, s, i))
				return false;
	}
	return true;
}

/* Rings stand at 0 where a run begins. */
static bool start(Tour *u)
{
	Where at;
	Stop *begin = NEW(u->arena, Stop);
	memset(&at, 0, sizeof at);
	begin->seg = u->t->root.parts.at[0];
	for (int i = 0; i < u->t->nunits; i++)
		begin->refs.of[i] = ix_const(u->p->k->ctx, 0);
	memcpy(u->other, state_new(u->m, u->arena), u->m->bytes);
	return choose(u, begin, begin->seg, &at, (Move){.t = NULL}, 0) &&
	       run_on(u, begin, u->other);
}

static bool tour_once(Tour *u)
{
	Machine *m = u->m;
	u->stops.n = u->stops.cap = u->queue.n = u->queue.cap = u->turns.n = u->turns.cap = 0;
	u->cap = 0;
	u->again = false;
	u->out->limit = NULL;
	u->out->met = LIMIT_NONE;
	u->out->why = (Why){.id = WHY_NONE};
	u->now = arena_alloc(u->arena, m->bytes);
	u->other = arena_alloc(u->arena, m->bytes);
	u->facts = NEWN(u->arena, uint64_t, m->words);
	u->t->arena = u->arena;
	u->parts = NEWN(u->arena, RoleParts, u->t->segments.n * m->na + 1);
	for (int i = 0; i < u->t->segments.n; i++)
		memset(&u->t->segments.at[i]->refs, 0, sizeof u->t->segments.at[i]->refs);
	find_uses(u->t);
	name_slots(u->t);
	if (!find_residues(u->t)) {
		return met(u, LIMIT_TRIP_PERIOD);
	}
	find_spans(u->t, u->once);
	return start(u) && run_all(u);
}

static void tour_with(Tour *u)
{
	int times = 0;
	Tree *t = u->t;
	do {
		arena_reset(u->arena);
		u->out->proved = tour_once(u);
		if (u->out->why.step) { /* it outlives the letters */
			Step *step = NEW(t->p->arena, Step);
			*step = *u->out->why.step;
			u->out->why.step = step;
		}
	} while (!u->out->proved && u->again && ++times < MAX_AGAIN);
}

void tree_tour(Tree *t, int max_states, TourResult *out)
{
	Tour u = {.t = t, .p = t->p, .m = &t->p->m, .arena = t->p->told->arena};
	u.out = out;
	u.max_states = max_states;
	int few = 0;
	for (int i = 0; i < t->ncounts; i++)
		few += !t->counts[i].home && t->counts[i].by->kind == IX_SYM;
	*out = (TourResult){.proved = false};
	find_said(t);
	find_rests(t);
	find_bounds(t);
	u.once = few <= FEW_COUNTS;
	tour_with(&u);
	u.once = !u.once;
	if (!out->proved && few)
		tour_with(&u);
}
