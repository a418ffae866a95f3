/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* letters.c - the letter at a point: each agent's steps of that segment, with slots and
 * parities as numbers. Equal letters are one; points that must give equal letters are looked up
 * without making any.
 *     inner loop at position 5 (mod 8), not the first trip  ->  wait full[1] 1, wgmma sA[1], ..
 */
#include "verify/extract.h"

#include <string.h>

enum { LAST = 16 };

/* What a point says, in words of 32 bits. */
typedef struct {
	uint32_t at[MAX_AGENTS + 32];
	int n;
} PointKey;

typedef struct {
	Program *p;
	Env env;
	bool vague;
	const Framer *framer;
	bool framed; /* this step's phase is */
	struct {
		const Ix *x;
		Num is;
	} last[LAST]; /* that were evaluated with these names */
} Maker;

/* ------------------------------------------------------------------ values */
static int lacks(const Program *p, const Ix *x)
{
	bool tile = ix_uses(x, p->tile) || ix_uses(x, p->left);
	return (tile ? LACKS_TILE : 0) | (ix_uses(x, p->trip) ? LACKS_TRIP : 0) |
	       (ix_uses(x, p->rest) ? LACKS_REST : 0) | (ix_uses(x, p->trips) ? LACKS_TRIPS : 0);
}

/* In words that a user knows: #trip * M  ->  "trip * M, where trip is the trip of ..." */
const char *program_vague(const Program *p)
{
	const struct {
		const char *name, *word, *is;
	} names[] = {
		{p->tile, "tile", "the number of tiles before"},
		{p->left, "left", "the number of tiles left"},
		{p->trip, "trip", "the trip of the main loop"},
		{p->rest, "rest", "the number of trips of the main loop left"},
		{p->trips, "trips", "the number of trips of the main loop"},
		{p->position, "position", "the position of the main loop in its ring"},
	};
	Ctx *c = p->k->ctx;
	const Ix *x = p->vague_x;
	Buf b = {0}, where = {0};
	if (p->vague)
		return p->vague;
	for (size_t i = 0; i < COUNTOF(names); i++) {
		if (!ix_uses(x, names[i].name))
			continue;
		buf_printf(&where, "%s %s is %s", where.n ? " and" : ", where", names[i].word,
			   names[i].is);
		x = ix_subst(c, x, names[i].name, ix_sym(c, names[i].word));
	}
	ix_print(x, &b);
	const char *text = ctx_strf(c, "%s%s", b.s, where.s ? where.s : "");
	buf_free(&b);
	buf_free(&where);
	return text;
}

static void put_name(Maker *mk, const char *name, Num v)
{
	env_put(&mk->env, name, v);
	memset(mk->last, 0, sizeof mk->last);
}

/* Steps have much in common. */
static Num eval(Maker *mk, const Ix *x)
{
	int at = (int)(x->id % LAST);
	if (mk->last[at].x != x) {
		mk->last[at].x = x;
		mk->last[at].is = num_eval(x, &mk->env);
	}
	return mk->last[at].is;
}

static int64_t value(Maker *mk, const Ix *x, const Op *op)
{
	int64_t v = 0;
	if (!num_is_exact(eval(mk, x), &v) && !mk->vague) {
		mk->vague = true;
		mk->p->vague = NULL;
		mk->p->vague_x = x;
		mk->p->loc = op ? op->loc : mk->p->k->loc;
		mk->p->lacks = lacks(mk->p, x);
	}
	return v;
}

/* No count and no parity is beyond. */
static int32_t in_32_bits(int64_t v)
{
	return v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : (int32_t)v;
}

static int16_t place(Maker *mk, const Item *it, int16_t first, int64_t slots, const Ix *at,
		     bool barrier, Step *st)
{
	int64_t v, phase = 0;
	int framed = 0;
	if (!at || first < 0)
		return first;
	if (mk->framer) {
		bool waits = barrier && st->kind == STEP_WAIT;
		framed = mk->framer->slot(mk->framer->user, &mk->env, first, barrier, at,
					  waits ? it->number : NULL, &v, &phase);
		if (framed && waits)
			st->n = (int32_t)phase;
		mk->framed |= framed && waits;
	}
	mk->vague |= framed < 0;
	if (!framed)
		v = value(mk, at, it->op);
	if (v >= 0 && v < slots)
		return (int16_t)(first + v);
	st->kind = STEP_NOWHERE;
	st->n = in_32_bits(v);
	return first;
}

/* What a copy takes from a slot lies within it. */
static void check_byte(Maker *mk, const Item *it, Step *st)
{
	Num n = eval(mk, it->at_byte);
	if (st->kind == STEP_NOWHERE || (n.lo >= 0 && n.hi <= it->last_byte))
		return;
	int64_t v = value(mk, it->at_byte, it->op);
	st->kind = STEP_BEYOND;
	st->n = in_32_bits(v);
}

static void make_items(Maker *mk, const Items *items);

static void make_step(Maker *mk, const Item *it)
{
	Step st;
	memcpy(&st, &it->step, sizeof st);
	mk->framed = false;
	st.key = place(mk, it, st.key, it->key_slots, it->at_key, true, &st);
	st.cell = place(mk, it, st.cell, it->cell_slots, it->at_cell, false, &st);
	st.cell2 = place(mk, it, st.cell2, it->cell2_slots, it->at_cell2, false, &st);
	if (it->step.kind == STEP_PASS && st.kind == STEP_NOWHERE)
		return;
	if (it->at_byte && (st.kind == STEP_WRITE || st.kind == STEP_COPY || st.kind == STEP_READ))
		st.mask = (PartSet)foot_make(mk->p, it->op, it->at_byte, it->which, &mk->env);
	else if (it->at_byte)
		check_byte(mk, it, &st);
	if (it->number && !mk->framed && st.kind != STEP_NOWHERE)
		st.n = in_32_bits(value(mk, it->number, it->op));
	vec_push(mk->p->arena, &mk->p->steps, st);
}

/* Reads, and accesses to registers and global memory only, at least: to do more of these is to ask
 * for more. */
static bool is_mild_step(StepKind kind)
{
	return kind == STEP_TOUCH || kind == STEP_GLOBAL || kind == STEP_READ || kind == STEP_PASS;
}

bool items_are_mild(const Items *items)
{
	for (int i = 0; i < items->n; i++) {
		const Item *it = items->at[i];
		bool mild = it->kind == ITEM_STEP ? is_mild_step((StepKind)it->step.kind)
						  : items_are_mild(&it->body);
		if (!mild)
			return false;
	}
	return true;
}

static void make_if(Maker *mk, const Item *it)
{
	for (int i = 0; i < it->nconds; i++) {
		int64_t v = value(mk, it->conds[i], it->op);
		if (!mk->vague && !v)
			return;
	}
	if (!mk->vague)
		make_items(mk, &it->body);
}

static void make_loop(Maker *mk, const Item *it)
{
	int names = mk->env.n;
	int64_t from = value(mk, it->from, it->op);
	if (!mk->vague && eval(mk, it->to).hi <= from)
		return;
	int64_t to = value(mk, it->to, it->op);
	for (int64_t i = from; i < to && !mk->vague; i++) {
		put_name(mk, it->op->sym[0], num_exact(i));
		make_items(mk, &it->body);
		mk->env.n = names;
	}
	memset(mk->last, 0, sizeof mk->last);
}

static void make_items(Maker *mk, const Items *items)
{
	for (int i = 0; i < items->n && !mk->vague; i++) {
		const Item *it = items->at[i];
		if (it->kind == ITEM_STEP)
			make_step(mk, it);
		else if (it->kind == ITEM_IF)
			make_if(mk, it);
		else
			make_loop(mk, it);
	}
}

/* ------------------------------------------------------------------ what a point says */
static Num clamped(int64_t v, int64_t clamp, int64_t period)
{
	return v < clamp ? num_exact(v) : num_from(clamp, period, v);
}

static bool takes_part(const Script *s, const Point *at)
{
	return at->seg < SEG_TILE || at->tile % s->turns == s->turn;
}

/* The names of the tile loop, for one agent. */
static void put_tile(const Program *p, const Script *s, const Point *at, Env *e)
{
	int64_t own = (at->tile - s->turn) / s->turns, clamp = at->clamp.tile;
	if (!p->words.tiles || at->seg == SEG_START)
		return;
	Num tile = at->tile < clamp ? num_exact(own)
				    : num_from((clamp - s->turn + s->turns - 1) / s->turns,
					       p->words.tile_period / s->turns, own);
	env_put(e, p->tile, tile);
	env_put(e, p->left,
		at->left == STEADY || at->left >= clamp ? num_from(clamp, 1, 0)
							: num_exact(at->left));
}

/* Modulo the period; below 0: not decided. */
static int64_t base_of(Program *p, const Script *s, const Point *at, int inner)
{
	Env e = {0};
	const Ix *x = s->base[inner];
	if (!x)
		return 0;
	put_tile(p, s, at, &e);
	env_put(&e, p->trips, clamped(at->trips, at->clamp.trips, p->words.trip_period));
	int64_t v;
	Num n = num_mod(num_eval(x, &e), p->words.trip_period);
	return num_is_exact(n, &v) ? v : -1;
}

static void put_names(Program *p, const Script *s, const Point *at, int64_t base, Env *e)
{
	int64_t P = p->words.trip_period;
	put_tile(p, s, at, e);
	if (at->seg < SEG_INNER) {
		env_put(e, p->trips, clamped(at->trips, at->clamp.trips, P));
		return;
	}
	const Ix *start = s->base[at->seg - SEG_INNER];
	bool plain = !start || ix_is_const(start, NULL); /* the trip is as good as the position */
	env_put(e, p->trip, clamped(at->trip, at->clamp.trip, plain ? P : 1));
	env_put(e, p->rest, clamped(at->trips - at->trip, at->clamp.rest, 1));
	env_put(e, p->trips, clamped(at->trips, at->clamp.trips, P));
	env_put(e, p->position, num_from(0, P, base + at->trip));
}

/* ------------------------------------------------------------------ frames */
/* The position where a segment stands: of any agent that runs along a ring there. */
int64_t program_frame(void *program, const Point *at)
{
	Program *p = program;
	int inner = at->seg >= SEG_INNER ? at->seg - SEG_INNER
		    : at->seg > SEG_TILE ? at->seg - SEG_TILE - 1
					 : 0;
	int64_t more = at->seg >= SEG_INNER                                            ? at->trip
		       : at->seg > SEG_TILE || (at->seg == SEG_END && !p->words.tiles) ? at->trips
										       : 0;
	if (at->absolute || at->seg == SEG_START || !p->words.inner || at->trips < 0)
		return 0;
	for (int a = 0; a < p->m.na; a++) {
		const Script *s = &p->scripts[a];
		if (!s->loops || !s->base[inner] || at->tile % s->turns != s->turn)
			continue;
		int64_t base = at->seg >= SEG_INNER ? p->bases[a] : base_of(p, s, at, inner);
		return base < 0 ? 0 : (base + more) % p->words.trip_period;
	}
	return 0;
}

static void into_frame(Program *p, const Point *at, Step *steps, int n)
{
	int64_t frame = program_frame(p, at);
	if (!p->turns)
		p->turns = NEWN(p->arena, Turn *, p->words.trip_period + 1);
	if (frame && !p->turns[frame])
		p->turns[frame] = turn_new(&p->m, p->arena, frame);
	if (frame)
		turn_steps(p->turns[frame], steps, n);
}

/* ------------------------------------------------------------------ letters once */
static bool same(const Letter *x, const Letter *y, int na)
{
	for (int a = 0; a < na; a++)
		if (x->of[a].n != y->of[a].n ||
		    (x->of[a].n && memcmp(x->of[a].steps, y->of[a].steps,
					  sizeof(Step) * (size_t)x->of[a].n) != 0))
			return false;
	return true;
}

static uint64_t hash_of(const Letter *l, int na)
{
	uint64_t h = 1;
	for (int a = 0; a < na; a++)
		for (int i = 0; i < l->of[a].n; i++) {
			const Step *s = &l->of[a].steps[i];
			uint64_t x = (uint64_t)(uint16_t)s->key << 48 ^
				     (uint64_t)(uint16_t)s->cell << 32 ^
				     (uint64_t)(uint8_t)s->kind << 24 ^ (uint64_t)(uint32_t)s->n;
			h = (h ^ x ^ (uint64_t)a << 60) * 0x9e3779b97f4a7c15u;
			h ^= h >> 31;
		}
	return h;
}

static int intern(Program *p, const Letter *l)
{
	uint64_t h = hash_of(l, p->m.na);
	for (int i = 0; i < p->letters.n; i++)
		if (p->letters.at[i].hash == h && same(&p->letters.at[i].letter, l, p->m.na))
			return i + 1;
	Made made = {h, *l};
	for (int a = 0; a < p->m.na; a++) {
		size_t size = sizeof(Step) * (size_t)l->of[a].n;
		Step *copy = arena_alloc(p->arena, size + 1);
		if (size)
			memcpy(copy, l->of[a].steps, size);
		made.letter.of[a].steps = copy;
	}
	vec_push(p->arena, &p->letters, made);
	return p->letters.n;
}

static int make(Program *p, const Point *at, const int64_t *base)
{
	Letter l = {0};
	Maker mk = {.p = p};
	int begin[MAX_AGENTS];
	p->steps.n = 0;
	for (int a = 0; a < p->m.na; a++) {
		const Script *s = &p->scripts[a];
		begin[a] = p->steps.n;
		if (!takes_part(s, at))
			continue;
		mk.env.n = 0;
		memset(mk.last, 0, sizeof mk.last);
		put_names(p, s, at, base[a], &mk.env);
		make_items(&mk, &s->seg[at->seg]);
	}
	for (int a = 0; a < p->m.na; a++) {
		int end = a + 1 < p->m.na ? begin[a + 1] : p->steps.n;
		l.of[a] = (Part){p->steps.at + begin[a], end - begin[a]};
	}
	if (mk.vague)
		return 0;
	into_frame(p, at, p->steps.at, p->steps.n);
	return intern(p, &l);
}

bool program_make(Program *p, const Env *env, const Items *items, const Framer *framer)
{
	Maker mk = {.p = p, .env = *env, .framer = framer};
	p->vague_x = NULL;
	p->vague = NULL;
	make_items(&mk, items);
	return !mk.vague;
}

/* ------------------------------------------------------------------ points once */
static void put_int(PointKey *to, int64_t v)
{
	to->at[to->n++] = (uint32_t)v;
	to->at[to->n++] = (uint32_t)((uint64_t)v >> 32);
}

/* As Num clamped says: a number, or that or more with a residue. */
static void put_clamped(PointKey *to, int64_t v, int64_t clamp, int64_t period)
{
	put_int(to, v < clamp ? v : v % period);
	put_int(to, v < clamp ? -1 : clamp);
}

/* Who takes part outside the main loop, and where the rings stand there. */
static void put_place(Program *p, const Point *at, PointKey *to)
{
	AgentSet who = 0;
	for (int a = 0; a < p->m.na; a++)
		who |= takes_part(&p->scripts[a], at) ? AGENT(a) : 0;
	put_int(to, (int64_t)(uint64_t)who);
	put_int(to, (int64_t)(uint64_t)(who >> 64));
	put_int(to, program_frame(p, at));
}

static void put_bases(const Program *p, const Point *at, const int64_t *base, PointKey *to)
{
	for (int a = 0; a < p->m.na; a++) {
		const Script *s = &p->scripts[a];
		bool in = s->loops && takes_part(s, at);
		int64_t where = in ? (base[a] + at->trip) % p->words.trip_period : -1;
		to->at[to->n++] = (uint32_t)where;
	}
}

/* All that decides the letter. */
static void put_point(Program *p, const Point *at, const int64_t *base, PointKey *to)
{
	const Words *w = &p->words;
	int uses = p->uses[at->seg];
	const Clamps *clamp = &at->clamp;
	put_int(to, at->seg * 2 + at->absolute);
	if (uses & 1)
		put_clamped(to, at->tile, clamp->tile, w->tile_period);
	if (uses & 2)
		put_clamped(to, at->left == STEADY ? clamp->tile : at->left, clamp->tile, 1);
	if (uses & 8)
		put_clamped(to, at->trips, clamp->trips, w->trip_period);
	if (at->seg < SEG_INNER) {
		put_place(p, at, to);
		return;
	}
	put_clamped(to, at->trip, clamp->trip, uses & 4 ? w->trip_period : 1);
	put_clamped(to, at->trips - at->trip, clamp->rest, 1);
	put_bases(p, at, base, to);
}

static uint64_t hash_of_key(const PointKey *key)
{
	uint64_t h = 1;
	for (int i = 0; i < key->n; i++) {
		h = (h ^ key->at[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return h;
}

static bool same_key(const Cached *c, const PointKey *key, uint64_t hash)
{
	return c->hash == hash && c->n == key->n &&
	       memcmp(c->key, key->at, sizeof *key->at * (size_t)key->n) == 0;
}

static void grow_cache(Program *p)
{
	Cached *old = p->cache;
	int cap = p->cache_cap;
	p->cache_cap = cap ? 2 * cap : 1024;
	p->cache = NEWN(p->arena, Cached, p->cache_cap);
	for (int i = 0; i < cap; i++) {
		uint64_t to = old[i].hash >> 7;
		while (old[i].id && p->cache[to & (uint64_t)(p->cache_cap - 1)].id)
			to++;
		if (old[i].id)
			p->cache[to & (uint64_t)(p->cache_cap - 1)] = old[i];
	}
}

/* Where the point's letter is; id 0: it was not made yet. */
static Cached *cached(Program *p, const PointKey *key)
{
	uint64_t hash = hash_of_key(key);
	if (2 * p->ncache >= p->cache_cap)
		grow_cache(p);
	for (uint64_t i = hash >> 7;; i++) {
		Cached *c = &p->cache[i & (uint64_t)(p->cache_cap - 1)];
		if (c->id && !same_key(c, key, hash))
			continue;
		c->hash = hash;
		return c;
	}
}

static void keep(Program *p, Cached *c, const PointKey *key, int id)
{
	uint32_t *copy = arena_alloc(p->arena, sizeof *copy * (size_t)key->n);
	memcpy(copy, key->at, sizeof *copy * (size_t)key->n);
	c->key = copy;
	c->n = key->n;
	c->id = id;
	p->ncache++;
}

static bool find_bases(Program *p, const Point *at, int64_t *base)
{
	for (int a = 0; a < p->m.na; a++) {
		const Script *s = &p->scripts[a];
		base[a] = 0;
		if (at->seg < SEG_INNER || !s->loops || !takes_part(s, at))
			continue;
		base[a] = base_of(p, s, at, at->seg - SEG_INNER);
		if (base[a] < 0) {
			p->vague = "the position at which a loop enters its ring";
			return false;
		}
	}
	return true;
}

/* Whether all who take part run along their rings from one position. */
bool program_one_base(Program *p, const Point *at)
{
	int64_t base[MAX_AGENTS], one = -1;
	if (!find_bases(p, at, base))
		return false;
	for (int a = 0; a < p->m.na; a++) {
		const Script *s = &p->scripts[a];
		if (!s->loops || !takes_part(s, at) || !s->seg[at->seg].n)
			continue;
		if (!s->base[at->seg - SEG_INNER] || (one >= 0 && base[a] != one))
			return false;
		one = base[a];
	}
	return true;
}

const Letter *program_letter(void *program, const Point *at, int *id)
{
	Program *p = program;
	int64_t *base = p->bases;
	bool fresh = at->seg < SEG_INNER || !at->trip || at->clamp.trip == EXACT;
	if (fresh && !find_bases(p, at, base)) {
		*id = 0;
		return NULL;
	}
	PointKey key = {.n = 0};
	put_point(p, at, base, &key);
	Cached *c = cached(p, &key);
	int made = c->id ? c->id : make(p, at, base);
	if (made && !c->id)
		keep(p, c, &key, made);
	*id = made ? made : p->lacks;
	return made ? &p->letters.at[made - 1].letter : NULL;
}
