/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cover.c - proves all words with one state, or few, for each place where words come together: the
 * start of a tile, the steady part of a main loop. What arrives there is joined to what is
 * there until nothing changes. Quick, and enough for what is right in the usual way; what it
 * does not prove, words.c judges by following each state for itself.
 *     trip 0: fresh slots, trip 1: one slot used, ..  ->  steady: any number of slots used
 */
#include "verify/words.h"

#include <string.h>

enum { FEW_ALIKE = 12, MAX_TOLD = 40 };

typedef struct {
	const Machine *m;
	const Words *w;
	Arena *arena;
	Clamps clamp;
	int runs, max_states;
	int lacks;   /* clamps that were too low for a letter */
	bool longer; /* trip counts from steady_trips on, not one */
	Head *starts, *loops;
	int nstarts, nloops;
	ArenaMark mark; /* behind them: what stands there is of one trip count */
	Turn *turn;
	State *fresh;
	State *now;   /* that is being followed */
	State *other; /* scratch */
	uint64_t *facts;
} Cover;

/* ------------------------------------------------------------------ states */
static void go_from(Cover *c, const State *s)
{
	memcpy(c->now, s, c->m->bytes);
}

static int stand(Cover *c, Head *h)
{
	return head_join(c->m, c->arena, h, FEW_ALIKE, c->now, c->facts);
}

/* One letter. */
static bool step(Cover *c, const Point *p)
{
	int id;
	Why why;
	const Letter *l = c->w->letter(c->w->user, p, &id);
	c->lacks = l ? 0 : id;
	if (!l || ++c->runs > c->max_states || !letter_run(c->m, c->now, l, NULL, NULL, &why))
		return false;
	if (p->seg < SEG_INNER || !c->w->frame)
		return true;
	State *old = c->now;
	turn_state(c->m, c->turn, old, c->other);
	c->now = c->other;
	c->other = old;
	return true;
}

/* ------------------------------------------------------------------ places */
static int64_t tiles_told_apart(const Cover *c)
{
	return c->clamp.tile + c->w->tile_repeat;
}

static int64_t next_tile(const Cover *c, int64_t tile)
{
	return tile + 1 < tiles_told_apart(c) ? tile + 1 : c->clamp.tile;
}

/* Tiles to do that are told apart, from 0 on; a kernel without an outer loop has one to do. */
static int64_t most_left(const Cover *c)
{
	return c->clamp.tile > 1 ? c->clamp.tile - 1 : 1;
}

static int start_of(const Cover *c, int64_t tile, int64_t left)
{
	return (int)(tile * (most_left(c) + 2) + left + 1);
}

static Head *loop_of(const Cover *c, const Point *p)
{
	int64_t loop = start_of(c, p->tile, p->left);
	loop = loop * MAX_INNER + p->seg - SEG_INNER;
	return &c->loops[loop * c->w->trip_repeat + p->trip - p->clamp.trip];
}

/* ------------------------------------------------------------------ tiles */
static bool go_on(Cover *c, Point p, int inner);

/* The steady part of a main loop: trips until nothing changes, then the last trips and what
 * follows. */
static bool go_round(Cover *c, Point p)
{
	Head *h = loop_of(c, &p);
	int at = stand(c, h), id;
	if (at < 0)
		return false;
	int version = h->at[at].version;
	if (h->at[at].done == version)
		return true;
	h->at[at].done = version;
	Point next = p;
	next.trip = p.clamp.trip + (p.trip + 1 - p.clamp.trip) % c->w->trip_repeat;
	go_from(c, h->at[at].state);
	if (!step(c, &p) || !go_round(c, next))
		return false;
	int64_t rest = p.trips - p.trip, few = p.clamp.rest - 1; /* trips to do; told apart */
	if (h->at[at].version != version || (rest - few) % c->w->trip_repeat != 0)
		return true; /* followed from there; never the last steady one */
	go_from(c, h->at[at].state);
	p.trip = 0;
	c->w->letter(c->w->user, &p, &id); /* letters of this loop come next again */
	for (p.trip = p.trips - p.clamp.rest + 1; p.trip < p.trips; p.trip++)
		if (!step(c, &p))
			return false;
	return go_on(c, p, p.seg - SEG_INNER + 1);
}

static bool arrive(Cover *c, int64_t tile, int64_t left)
{
	return stand(c, &c->starts[start_of(c, tile, left)]) >= 0;
}

/* The rest of a tile, from the part before its inner loop of that number. */
static bool go_on(Cover *c, Point p, int inner)
{
	p.seg = SEG_TILE + inner;
	p.trip = 0;
	if (!step(c, &p))
		return false;
	if (inner == c->w->inner)
		return arrive(c, next_tile(c, p.tile), p.left == STEADY ? STEADY : p.left - 1);
	p.seg = SEG_INNER + inner;
	for (; p.trip < (c->longer ? p.clamp.trip : p.trips); p.trip++)
		if (!step(c, &p))
			return false;
	return c->longer ? go_round(c, p) : go_on(c, p, inner + 1);
}

/* What can follow a start: one tile, or the end. */
static bool follow(Cover *c, const State *from, Point p)
{
	Why why;
	if (!p.left) {
		p.seg = SEG_END;
		go_from(c, from);
		return step(c, &p) && state_finish(c->m, c->now, &why);
	}
	go_from(c, from);
	return go_on(c, p, 0);
}

/* Follows what changed where tiles start that have so many behind them, until nothing does. */
static bool settle(Cover *c, Point p)
{
	bool more;
	do {
		more = false;
		for (p.tile = 0; p.tile < tiles_told_apart(c); p.tile++) {
			Head *h = &c->starts[start_of(c, p.tile, p.left)];
			for (int i = 0; i < h->n; i++) {
				if (h->at[i].done == h->at[i].version)
					continue;
				more = true;
				h->at[i].done = h->at[i].version;
				if (!follow(c, h->at[i].state, p))
					return false;
			}
		}
	} while (more);
	return true;
}

/* What stands at the start of any tile may be the last `left` ones too. */
static bool near_the_end(Cover *c, Point p)
{
	bool ok = true;
	for (p.tile = 0; p.tile < tiles_told_apart(c); p.tile++) {
		Head *h = &c->starts[start_of(c, p.tile, STEADY)];
		for (int i = 0; i < h->n && ok; i++)
			for (p.left = 0; p.left < (c->w->uses_left ? p.clamp.tile : 1); p.left++) {
				go_from(c, h->at[i].state);
				ok = ok && arrive(c, p.tile, p.left);
			}
	}
	return ok;
}

static bool settle_all(Cover *c, Point p)
{
	bool ok = settle(c, p) && near_the_end(c, p);
	for (p.left = most_left(c); ok && p.left >= 0; p.left--)
		ok = settle(c, p);
	return ok;
}

/* ------------------------------------------------------------------ trip counts */
static Point point_of(const Cover *c, int64_t trips)
{
	return (Point){SEG_START, 0, STEADY, 0, trips, c->clamp, false};
}

/* The rings stand, at each start of a tile, where the last tile left them. */
static bool stands_on(const Cover *c, Point p)
{
	const Words *w = c->w;
	int64_t P = w->trip_period;
	for (p.tile = 0; w->frame && w->tiles && p.tile < tiles_told_apart(c); p.tile++) {
		Point next = p;
		p.seg = SEG_TILE;
		int64_t start = w->frame(w->user, &p);
		for (int i = 1; i <= w->inner; i++) {
			p.seg = SEG_TILE + i;
			if (w->frame(w->user, &p) != (start + i * p.trips) % P)
				return false;
		}
		next.seg = SEG_TILE;
		next.tile++;
		if (w->frame(w->user, &next) != (start + w->inner * p.trips) % P)
			return false;
	}
	return true;
}

/* So they do after so many trips or more, of which one number stands for all. */
static bool stands_on_from(const Cover *c, int64_t trips)
{
	bool ok = true;
	for (int64_t t = trips; ok && t < trips + c->w->trip_period; t++)
		ok = !words_may_take(c->w, t) || stands_on(c, point_of(c, t));
	return ok;
}

static bool cover_trips(Cover *c, int64_t trips)
{
	Point p = point_of(c, trips);
	memset(c->starts, 0, sizeof *c->starts * (size_t)c->nstarts);
	memset(c->loops, 0, sizeof *c->loops * (size_t)c->nloops);
	arena_release(c->arena, c->mark);
	go_from(c, c->fresh);
	return stands_on(c, p) && step(c, &p) && arrive(c, 0, c->w->tiles ? STEADY : 1) &&
	       settle_all(c, p);
}

/* Trip counts from here on differ in the number of steady trips only. */
static int64_t steady_trips(const Clamps *k)
{
	int64_t ends = k->trip + k->rest - 1;
	return ends > k->trips ? ends : k->trips;
}

static bool cover_long(Cover *c, int64_t steady)
{
	int64_t P = c->w->trip_repeat, longest = steady + c->clamp.trip + c->clamp.rest + P;
	c->longer = true;
	int64_t all = P > c->w->trip_period ? P : c->w->trip_period;
	if (!stands_on_from(c, longest))
		return false;
	for (int64_t residue = 0; residue < all; residue++) {
		if (!words_may_take(c->w, longest + residue))
			continue;
		if (!cover_trips(c, longest + residue))
			return false;
		if (P == 1)
			break;
	}
	c->longer = false;
	return true;
}

static bool cover_all(Cover *c)
{
	const Words *w = c->w;
	int64_t steady = steady_trips(&c->clamp);
	c->nstarts = start_of(c, tiles_told_apart(c), STEADY);
	c->starts = NEWN(c->arena, Head, c->nstarts);
	c->nloops = c->nstarts * MAX_INNER * (int)w->trip_repeat;
	c->loops = NEWN(c->arena, Head, c->nloops);
	c->mark = arena_mark(c->arena);
	if (w->inner && w->trips_hi >= steady && !cover_long(c, steady))
		return false;
	for (int64_t t = w->trips_lo; t <= w->trips_hi; t++) {
		if (w->inner && t >= steady)
			break;
		if (words_take(w, t) && !cover_trips(c, t))
			return false;
		if (!w->inner)
			break;
	}
	return true;
}

/* Raises what was too low. */
static bool raise_clamps(Cover *c)
{
	Clamps *k = &c->clamp;
	k->tile += (c->lacks & LACKS_TILE) != 0;
	k->trip += (c->lacks & LACKS_TRIP) != 0;
	k->rest += (c->lacks & LACKS_REST) != 0;
	k->trips += (c->lacks & LACKS_TRIPS) != 0;
	return c->lacks && k->tile < MAX_TOLD && k->trip < MAX_TOLD && k->rest < MAX_TOLD &&
	       k->trips < MAX_TOLD;
}

bool words_cover(const Machine *m, const Words *w, int max_states, WordsResult *out)
{
	Cover c = {.m = m, .w = w, .max_states = max_states, .arena = arena_new()};
	bool proved = false;
	c.facts = NEWN(c.arena, uint64_t, m->words);
	c.turn = turn_new(m, c.arena, 1);
	c.fresh = state_new(m, c.arena);
	c.now = arena_alloc(c.arena, m->bytes);
	c.other = arena_alloc(c.arena, m->bytes);
	c.clamp = (Clamps){1, 1, 1, 1};
	if (w->trip_repeat == 1 || !w->frame)
		do
			proved = cover_all(&c);
		while (!proved && raise_clamps(&c));
	*out = (WordsResult){.verdict = WORDS_PROVED, .states = c.runs};
	out->trips = steady_trips(&c.clamp);
	arena_free(c.arena);
	return proved;
}
