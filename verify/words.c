/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* words.c - explores every word, with one trip count for all tiles. States and letters repeat:
 * a transition is run once and remembered. When a state recurs after a period in the steady
 * part of the inner loop, in every tile and for a whole period of trip counts, longer loops
 * only repeat it.
 *     T = 0, 1, 2, ..  tiles until (state, tile mod period) was seen  ->  proved for all T and N
 */
#include "verify/num.h"
#include "verify/words.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	uint64_t key;
	int value;
} Slot;
typedef struct {
	Slot *at;
	uint32_t cap, n;
} Map;

/* A state without its words that are 0: which those are, one bit each, and the others. */
typedef struct {
	uint64_t *at;
	size_t n;
} Packed;

/* Where a tile begins: tiles done and left, and the frame. */
typedef struct {
	int node;
	int64_t tile, left, frame;
} Start;

typedef struct {
	const Machine *m;
	const Words *w;
	WordsResult *out;
	Arena *arena;
	VEC(Packed) nodes;
	Map states, moves, seen;
	VEC(Start) starts; /* of tiles, for this trip count */
	State *scratch, *turned, *other;
	uint64_t *packed;
	int64_t frame; /* in which the current node's slots are named */
	Turn **turns;  /* by frame, made when needed */
	WordsLimits limits;
	bool recurs; /* so far, for this trip count */
} Explorer;

enum { NOWHERE = -1 };

/* ------------------------------------------------------------------ trip counts */
/* Mod 0: any. */
static bool is_residue(int64_t mod, int64_t res, int64_t trips)
{
	return !mod || (trips - res) % mod == 0;
}

bool words_take(const Words *w, int64_t trips)
{
	return trips >= w->trips_lo && trips <= w->trips_hi &&
	       is_residue(w->trips_mod, w->trips_res, trips);
}

bool words_may_take(const Words *w, int64_t trips)
{
	int64_t mod = w->trips_mod ? num_gcd(w->trips_mod, w->trip_period) : 0;
	return is_residue(mod, w->trips_res, trips);
}

/* Trip counts in a row, of those that facts allow, which have all residues that there are. */
static int64_t residues_of(const Words *w)
{
	return w->trips_mod ? w->trip_repeat / num_gcd(w->trips_mod, w->trip_repeat)
			    : w->trip_repeat;
}

/* ------------------------------------------------------------------ maps */
static uint64_t mix(uint64_t h)
{
	h = (h ^ h >> 31) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 30;
}

static void map_grow(Explorer *e, Map *m)
{
	Map old = *m;
	m->cap = old.cap ? old.cap * 2 : 512;
	m->at = NEWN(e->arena, Slot, m->cap);
	for (uint32_t i = 0; i < old.cap; i++) {
		uint32_t j = (uint32_t)mix(old.at[i].key);
		if (!old.at[i].value)
			continue;
		while (m->at[j & (m->cap - 1)].value)
			j++;
		m->at[j & (m->cap - 1)] = old.at[i];
	}
}

/* Its value, to be set by the caller when it is 0. */
static int *map_at(Explorer *e, Map *m, uint64_t key)
{
	if (2 * m->n >= m->cap)
		map_grow(e, m);
	uint32_t j = (uint32_t)mix(key);
	for (;; j++) {
		Slot *s = &m->at[j & (m->cap - 1)];
		if (!s->value) {
			s->key = key;
			return &s->value;
		}
		if (s->key == key)
			return &s->value;
	}
}

/* ------------------------------------------------------------------ states */
static size_t pack(const Explorer *e, const State *s, uint64_t *to)
{
	size_t words = e->m->bytes / 8, n = (words + 63) / 64;
	const uint64_t *from = (const void *)s;
	memset(to, 0, 8 * n);
	for (size_t i = 0; i < words; i++)
		if (from[i]) {
			to[i / 64] |= (uint64_t)1 << (i % 64);
			to[n++] = from[i];
		}
	return n;
}

static void unpack(const Explorer *e, int node, State *s)
{
	const uint64_t *from = e->nodes.at[node].at;
	size_t words = e->m->bytes / 8, n = (words + 63) / 64;
	uint64_t *to = (void *)s;
	memset(to, 0, e->m->bytes);
	for (size_t w = 0, next = n; w < n; w++)
		for (uint64_t bits = from[w]; bits; bits &= bits - 1)
			to[64 * w + (size_t)__builtin_ctzll(bits)] = from[next++];
}

static uint64_t hash_of(const uint64_t *at, size_t n)
{
	uint64_t h = 0x243f6a8885a308d3u;
	for (size_t i = 0; i < n; i++) {
		h = (h ^ at[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return h;
}

static int node_of(Explorer *e, const State *s)
{
	size_t n = pack(e, s, e->packed);
	uint64_t h = hash_of(e->packed, n);
	for (;; h++) {
		int *v = map_at(e, &e->states, h);
		if (!*v) {
			Packed copy = {arena_alloc(e->arena, 8 * n), n};
			memcpy(copy.at, e->packed, 8 * n);
			vec_push(e->arena, &e->nodes, copy);
			e->states.n++;
			*v = e->nodes.n;
			return e->nodes.n - 1;
		}
		if (e->nodes.at[*v - 1].n == n && !memcmp(e->nodes.at[*v - 1].at, e->packed, 8 * n))
			return *v - 1;
	}
}

static int fail(Explorer *e, int verdict, const Point *p)
{
	e->out->verdict = verdict;
	e->out->at = *p;
	return NOWHERE;
}

static const Turn *turn_by(Explorer *e, int64_t by)
{
	if (!e->turns[by])
		e->turns[by] = turn_new(e->m, e->arena, by);
	return e->turns[by];
}

/* Whether the letter ends one position further on, where its slots are named from then. */
static bool moves_on(const Explorer *e, const Point *p)
{
	return e->w->frame && p->seg >= SEG_INNER;
}

static int run_letter(Explorer *e, int node, const Letter *l, const Point *p)
{
	State *s = e->scratch;
	unpack(e, node, s);
	bool ok = letter_run(e->m, s, l, NULL, NULL, &e->out->why) &&
		  (p->seg != SEG_END || state_finish(e->m, s, &e->out->why));
	if (!ok)
		return fail(e, why_is_open(e->out->why.id) ? WORDS_LIMIT : WORDS_REFUTED, p);
	if (!moves_on(e, p))
		return node_of(e, s);
	turn_state(e->m, turn_by(e, 1), s, e->turned);
	return node_of(e, e->turned);
}

/* The same state with its slots named from `by` positions further on. */
static int turn(Explorer *e, int node, int64_t by)
{
	int *v = map_at(e, &e->moves, (uint64_t)node << 32 | 0x80000000u | (uint32_t)by);
	if (*v)
		return *v - 1;
	unpack(e, node, e->other);
	turn_state(e->m, turn_by(e, by), e->other, e->turned);
	int next = node_of(e, e->turned);
	e->moves.n++;
	*v = next + 1;
	return next;
}

static int to_frame(Explorer *e, int node, const Point *p)
{
	int64_t frame = e->w->frame ? e->w->frame(e->w->user, p) : 0, P = e->w->trip_period;
	if (frame != e->frame)
		node = turn(e, node, (frame - e->frame + P) % P);
	e->frame = frame;
	return node;
}

static int go(Explorer *e, int node, const Point *p)
{
	int id;
	const Letter *l = e->w->letter(e->w->user, p, &id);
	if (!l)
		return fail(e, WORDS_UNDECIDED, p);
	node = to_frame(e, node, p);
	int *v = map_at(e, &e->moves, (uint64_t)node << 32 | (uint32_t)id);
	if (moves_on(e, p))
		e->frame = (e->frame + 1) % e->w->trip_period;
	if (*v)
		return *v - 1;
	if (e->nodes.n >= e->limits.max_states) {
		e->out->limit =
			e->limits.max_states == MAX_STATES ? LIMIT_STATES : LIMIT_FULL_STATES;
		return fail(e, WORDS_LIMIT, p);
	}
	int next = run_letter(e, node, l, p);
	if (next == NOWHERE)
		return NOWHERE;
	v = map_at(e, &e->moves, (uint64_t)node << 32 | (uint32_t)id);
	e->moves.n++;
	*v = next + 1;
	return next;
}

/* ------------------------------------------------------------------ words */
static Point point(const Explorer *e, int seg, int64_t tile, int64_t left, int64_t trips)
{
	return (Point){seg, tile, left, 0, trips, e->limits.clamp, false};
}

/* The inner loop; whether its last steady period came back to where it began. */
static int run_inner(Explorer *e, int node, Point p)
{
	int64_t P = e->w->trip_repeat, clamp = e->limits.clamp.trip, start = p.trips - clamp - P;
	int mark = NOWHERE;
	for (p.trip = 0; p.trip < p.trips && node != NOWHERE; p.trip++) {
		if (p.trip == start)
			mark = node;
		if (p.trip == start + P && mark != node)
			e->recurs = false;
		node = go(e, node, &p);
	}
	if (start < clamp)
		e->recurs = false;
	return node;
}

static int run_tile(Explorer *e, int node, Point p)
{
	for (int i = 0; i <= e->w->inner && node != NOWHERE; i++) {
		p.seg = SEG_TILE + i;
		p.trip = 0;
		node = go(e, node, &p);
		p.seg = SEG_INNER + i;
		if (i < e->w->inner && node != NOWHERE)
			node = run_inner(e, node, p);
	}
	return node;
}

/* Notes the start of a tile, or the end, where no run has been. */
static void arrive_at(Explorer *e, int node, int64_t tile, int64_t left)
{
	int64_t clamp = e->limits.clamp.tile, early = tile < clamp ? tile : clamp;
	int64_t where = early * e->w->tile_repeat + tile % e->w->tile_repeat;
	where = where * (clamp + 1) + left + 1;
	int *v = map_at(e, &e->seen, (uint64_t)node << 32 | (uint64_t)where);
	if (*v)
		return;
	*v = 1;
	e->seen.n++;
	Start start = {node, tile, left, e->frame};
	vec_push(e->arena, &e->starts, start);
}

/* One tile. In the steady part this may also be the last ones. */
static bool run_from(Explorer *e, const Start *from, int64_t trips)
{
	Point p = point(e, SEG_END, from->tile, from->left, trips);
	e->frame = from->frame;
	if (from->left == 0)
		return go(e, from->node, &p) != NOWHERE;
	for (int64_t i = 0;
	     from->left == STEADY && i < (e->w->uses_left ? e->limits.clamp.tile : 1); i++)
		arrive_at(e, from->node, from->tile, i);
	int node = run_tile(e, from->node, p);
	if (node == NOWHERE)
		return false;
	arrive_at(e, node, from->tile + 1, from->left == STEADY ? STEADY : from->left - 1);
	return true;
}

static bool run_trips(Explorer *e, int start, int64_t trips)
{
	Point p = point(e, SEG_START, 0, STEADY, trips);
	e->frame = 0;
	int node = go(e, start, &p);
	if (node == NOWHERE)
		return false;
	e->seen = (Map){0};
	e->starts.n = 0;
	e->recurs = true;
	arrive_at(e, node, 0, e->w->tiles ? STEADY : 1);
	for (int i = 0; i < e->starts.n; i++) {
		Start from = e->starts.at[i]; /* they may move */
		if (!run_from(e, &from, trips))
			return false;
	}
	return true;
}

static void explore(Explorer *e)
{
	const Words *w = e->w;
	Point p = point(e, SEG_START, 0, STEADY, 0);
	int start = node_of(e, state_new(e->m, e->arena));
	int64_t settled = 0; /* trip counts in a row whose inner loops all recur */
	int64_t more = 40 * (w->trip_period + w->trips_mod);
	int64_t most = w->trips_lo + 4 * e->limits.clamp.trip + more;
	for (int64_t t = w->trips_lo;; t++) {
		if (t > w->trips_hi || settled == residues_of(w) || (t && !w->inner))
			return;
		if (!words_take(w, t))
			continue;
		if (t > most) {
			fail(e, WORDS_LIMIT, &p);
			return;
		}
		if (!run_trips(e, start, t))
			return;
		e->out->trips = t;
		settled = e->recurs ? settled + 1 : 0;
	}
}

void words_prove(const Machine *m, const Words *w, WordsLimits limits, WordsResult *out)
{
	Explorer e = {.m = m, .w = w, .out = out, .limits = limits};
	*out = (WordsResult){.verdict = WORDS_PROVED};
	e.arena = arena_new();
	e.scratch = arena_alloc(e.arena, m->bytes);
	e.turned = arena_alloc(e.arena, m->bytes);
	e.other = arena_alloc(e.arena, m->bytes);
	e.packed = arena_alloc(e.arena, 2 * m->bytes + 8);
	e.turns = NEWN(e.arena, Turn *, w->trip_period + 1);
	explore(&e);
	out->states = e.nodes.n;
	arena_free(e.arena);
}

/* ------------------------------------------------------------------ one run */
typedef struct {
	Step *at;
	int n, cap;
} Steps;

static void append(Arena *a, Steps *to, const Part *p)
{
	while (to->n + p->n > to->cap)
		vec_grow(a, (void **)&to->at, &to->cap, sizeof *to->at);
	if (p->n)
		memcpy(to->at + to->n, p->steps, sizeof *to->at * (size_t)p->n);
	to->n += p->n;
}

static bool take(Arena *a, const Machine *m, const Words *w, Steps *all, Point p)
{
	int id;
	const Letter *l = w->letter(w->user, &p, &id);
	for (int i = 0; l && i < m->na; i++)
		append(a, &all[i], &l->of[i]);
	return l != NULL;
}

static const Clamps clamps_none = {EXACT, EXACT, EXACT, EXACT};

static bool take_word(Arena *a, const Machine *m, const Words *w, Steps *all, int64_t tiles,
		      int64_t trips)
{
	Point p = {SEG_START, 0, tiles, 0, trips, clamps_none, true};
	bool ok = take(a, m, w, all, p);
	for (; p.tile < tiles && ok; p.tile++, p.left--) {
		for (int i = 0; i <= w->inner && ok; i++) {
			p.seg = SEG_TILE + i;
			p.trip = 0;
			ok = take(a, m, w, all, p);
			p.seg = SEG_INNER + i;
			for (; i < w->inner && p.trip < trips && ok; p.trip++)
				ok = take(a, m, w, all, p);
		}
	}
	p.seg = SEG_END;
	p.trip = 0;
	return ok && take(a, m, w, all, p);
}

bool words_run(const Machine *m, const Words *w, int64_t tiles, int64_t trips, StepSeen *seen,
	       void *user, Why *why)
{
	Arena *a = arena_new();
	Steps all[MAX_AGENTS] = {0};
	Letter word = {0};
	bool ok = true;
	if (take_word(a, m, w, all, w->tiles ? tiles : 1, trips)) {
		State *s = state_new(m, a);
		for (int i = 0; i < m->na; i++)
			word.of[i] = (Part){all[i].at, all[i].n};
		ok = letter_run(m, s, &word, seen, user, why) && state_finish(m, s, why);
		if (!ok && why->step) { /* it outlives the word */
			Step *step = NEW(m->arena, Step);
			*step = *why->step;
			why->step = step;
		}
	}
	arena_free(a);
	return ok;
}
