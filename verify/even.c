/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* even.c - whether steps are the same at all positions of the rings but for the names of slots:
 * then a state that recurs after one trip of the main loop, not after two laps, repeats for
 * ever.
 *     wait full[position % 4] (position / 4 % 2)  ->  in its frame always full[0], 0
 */
#include "verify/extract.h"

enum { SHORT_LOOP = 64 };

typedef struct {
	int first, slots; /* of the ring that turns; slots 0: it does not */
	const Ix *slot, *parity;
} Ringed;

/* What was found to be the same at all positions: roles have much in common. */
typedef struct {
	const Ix *slot, *parity, *to;
	const char *index; /* of a short loop to `to`; NULL: of none */
	int64_t slots, turns, turn;
	int seg;
} Looked;

typedef struct {
	Program *p;
	const Script *s;
	int seg;
	bool even;
	int64_t repeat; /* of tiles */
	VEC(Looked) looked;
} Evenness;

static void needs(void *user, const char *name, int64_t q)
{
	Evenness *e = user;
	if (name == e->p->tile)
		e->repeat = lcm(e->repeat, q * e->s->turns);
	else if (q > 1)
		e->even = false;
}

static bool is_below(const Ix *x, const Env *env, int64_t end, int64_t *v)
{
	return num_is_exact(num_eval(x, env), v) && *v >= 0 && *v < end;
}

/* What the frame makes of a slot and a parity: places from the frame's own, modulo a lap or two.
 * Below 0: there is no such slot or parity, which is looked at where it stands. */
static int64_t in_frame(const Ringed *x, const Env *env, int64_t frame)
{
	int64_t s, v = 0, S = x->slots;
	if (!is_below(x->slot, env, S, &s) || (x->parity && !is_below(x->parity, env, 2, &v)))
		return -1;
	int64_t at = frame % S, lap = frame / S;
	return (s - at + S) % S + (x->parity ? S * ((v + lap + (s < at)) & 1) : 0);
}

/* The most turns that a short loop takes. */
static int64_t turns_of(const Evenness *e, const Item *loop)
{
	Env env = {0};
	env_put(&env, e->p->trips, num_from(0, 1, 0));
	int64_t most = num_eval(loop->to, &env).hi;
	return most < SHORT_LOOP ? most : SHORT_LOOP;
}

static bool same_at(Evenness *e, const Ringed *x, Point at, const Item *loop, int64_t *first)
{
	Program *p = e->p;
	int64_t own = (at.tile - e->s->turn) / e->s->turns;
	int64_t frame = at.seg < SEG_INNER ? program_frame(p, &at) : at.trip;
	int64_t lap = x->parity ? 2 * x->slots : x->slots;
	for (int64_t i = 0; i < (loop ? turns_of(e, loop) : 1); i++) {
		Env env = {0};
		env_put(&env, p->tile, num_exact(own));
		env_put(&env, p->trips, num_exact(at.trips));
		env_put(&env, p->position, num_exact(at.trip));
		if (loop)
			env_put(&env, loop->op->sym[0], num_exact(i));
		int64_t v = in_frame(x, &env, frame);
		if (v < 0)
			return false;
		v = (v + SHORT_LOOP * lap - i) % lap;
		if (*first < 0)
			*first = v;
		if (*first != v)
			return false;
	}
	return true;
}

static bool was_looked_at(Evenness *e, const Ringed *x, const Item *loop)
{
	Looked new = {x->slot,
		      x->parity,
		      loop ? loop->to : NULL,
		      loop ? loop->op->sym[0] : NULL,
		      x->slots,
		      e->s->turns,
		      e->s->turn,
		      e->seg};
	for (int i = 0; i < e->looked.n; i++) {
		const Looked *old = &e->looked.at[i];
		if (old->slot == new.slot && old->parity == new.parity && old->to == new.to &&
		    old->index == new.index && old->slots == new.slots && old->turns == new.turns &&
		    old->turn == new.turn && old->seg == new.seg)
			return true;
	}
	vec_push(e->p->arena, &e->looked, new);
	return false;
}

static void check_turning(Evenness *e, const Ringed *x, const Item *loop)
{
	if (was_looked_at(e, x, loop))
		return;
	const Words *w = &e->p->words;
	int64_t first = -1, T = e->p->least.trips + w->trip_period;
	int64_t N = w->tiles ? e->p->least.tile + w->tile_period : 1;
	Point at = {.seg = e->seg, .clamp = {EXACT, EXACT, EXACT, EXACT}};
	if (e->seg >= SEG_INNER) {
		for (; at.trip < w->trip_period && e->even; at.trip++)
			e->even = same_at(e, x, at, loop, &first);
		return;
	}
	for (; at.tile < N && e->even; at.tile++)
		for (at.trips = 0; at.trips < T && e->even; at.trips++)
			if (at.tile % e->s->turns == e->s->turn && words_may_take(w, at.trips))
				e->even = same_at(e, x, at, loop, &first);
}

static void check_place(Evenness *e, const Ringed *x, const Item *loop)
{
	if (!x->slot)
		return;
	if (e->seg != SEG_START && x->slots) {
		check_turning(e, x, loop);
		return;
	}
	if (e->seg == SEG_START)
		e->even &= !ix_uses(x->slot, e->p->trips);
	else
		e->even &= !x->slots;
	ix_needs(x->slot, 1, needs, e);
	if (x->parity)
		ix_needs(x->parity, 1, needs, e);
}

static void check_items(Evenness *e, const Items *items, const Item *loop)
{
	const Machine *m = &e->p->m;
	for (int i = 0; i < items->n && e->even; i++) {
		const Item *it = items->at[i];
		int key = it->step.key, c1 = it->step.cell, c2 = it->step.cell2;
		Ringed k = {0, key < 0 ? 0 : m->keys[key].slots, it->at_key, it->number};
		Ringed x = {0, c1 < 0 ? 0 : m->cells[c1].slots, it->at_cell, NULL};
		Ringed y = {0, c2 < 0 ? 0 : m->cells[c2].slots, it->at_cell2, NULL};
		Ringed box = {0, 0, it->at_byte, NULL};
		check_place(e, &k, loop);
		check_place(e, &x, loop);
		check_place(e, &y, loop);
		check_place(e, &box, loop);
		for (int j = 0; j < it->nconds; j++)
			ix_needs(it->conds[j], 1, needs, e);
		if (it->kind == ITEM_LOOP) {
			ix_needs(it->from, 1, needs, e);
			ix_needs(it->to, 1, needs, e);
		}
		if (it->kind == ITEM_LOOP && loop)
			e->even = false;
		check_items(e, &it->body, it->kind == ITEM_LOOP ? it : loop);
	}
}

/* The first tile finds the rings where the start left them. */
static bool starts_at_zero(Program *p)
{
	Point at = {.seg = SEG_TILE, .clamp = {EXACT, EXACT, EXACT, EXACT}};
	for (; at.trips < p->least.trips + p->words.trip_period; at.trips++)
		if (words_may_take(&p->words, at.trips) && program_frame(p, &at) != 0)
			return false;
	return true;
}

/* All agents enter an inner loop at one position, in every tile. */
static bool bases_agree(Program *p)
{
	const Words *w = &p->words;
	int64_t N = w->tiles ? p->least.tile + w->tile_period : 1;
	Point at = {.clamp = p->least};
	for (int i = 0; i < w->inner; i++) {
		at.seg = SEG_INNER + i;
		for (at.tile = 0; at.tile < N; at.tile++)
			for (at.trips = 0; at.trips < at.clamp.trips + w->trip_period; at.trips++)
				if (words_may_take(w, at.trips) && !program_one_base(p, &at))
					return false;
	}
	return true;
}

void program_even(Program *p)
{
	Evenness e = {.p = p, .repeat = 1};
	e.even = p->words.trips_lo >= 0 && starts_at_zero(p) && bases_agree(p);
	p->words.tile_repeat = p->words.tile_period;
	p->words.trip_repeat = p->words.trip_period;
	for (int a = 0; a < p->m.na && e.even; a++) {
		e.s = &p->scripts[a];
		e.repeat = lcm(e.repeat, e.s->turns);
		for (e.seg = SEG_START; e.seg < SEG_COUNT && e.even; e.seg++)
			check_items(&e, &e.s->seg[e.seg], NULL);
	}
	if (!e.even)
		return;
	p->words.tile_repeat = e.repeat;
	p->words.trip_repeat = 1;
}
