/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* thread_rules.c - what is a thread's own in one agent's steps: bulk groups, fences, what one lane
 * reads and writes. Needs all of them, as other steps of the agent say which lanes count.
 *     if (lane == 0) { tma.store .. }   if (lane == 1) { bulk.commit }   ->   no commit
 */
#include "verify/read/read.h"

typedef struct {
	uint32_t mask;
	bool elected; /* the one that elect takes */
} Lanes;

static bool is_partial(const Item *it, uint64_t kinds)
{
	return it->kind == ITEM_STEP && kinds >> it->step.kind & 1 && it->which != ~0u;
}

static void lanes_of_kinds(const Items *items, uint64_t kinds, Lanes *who)
{
	for (int i = 0; i < items->n; i++) {
		const Item *it = items->at[i];
		bool is = is_partial(it, kinds);
		who->mask |= is ? it->which : 0;
		who->elected |= is && !it->which;
		lanes_of_kinds(&it->body, kinds, who);
	}
}

static Lanes lanes_that(const Script *s, uint64_t kinds)
{
	Lanes who = {0};
	lanes_of_kinds(&s->items, kinds, &who);
	return who;
}

static bool does_for(const Item *it, const Lanes *who)
{
	if (it->which == ~0u || !it->which)
		return it->which || !who->mask;
	return !who->elected && !(who->mask & ~it->which);
}

static void leave_out(Items *items, uint64_t kinds, const Lanes *who)
{
	int n = 0;
	for (int i = 0; i < items->n; i++) {
		Item *it = items->at[i];
		leave_out(&it->body, kinds, who);
		if (it->kind != ITEM_STEP || !(kinds >> it->step.kind & 1) || does_for(it, who))
			items->at[n++] = it;
	}
	items->n = n;
}

/* Bulk groups and the fence of inits are those of the threads that stored and that made barriers:
 * what other lanes of the warp do does nothing for them. */
static void keep_own(Script *s)
{
	static const struct {
		uint64_t of, kinds;
	} own[] = {
		{1u << STEP_STORE,
		 1u << STEP_BULK_COMMIT | 1u << STEP_BULK_READ | 1u << STEP_BULK_WAIT},
		{1u << STEP_INIT, 1u << STEP_FENCE_INIT},
	};
	for (size_t i = 0; i < COUNTOF(own); i++) {
		Lanes who = lanes_that(s, own[i].of);
		leave_out(&s->items, own[i].kinds, &who);
	}
}

/* All lanes copy, each for itself: what some of them commit or wait for is nothing for others. */
static void copies_of_all(Items *items)
{
	uint64_t kinds = 1u << STEP_COPY_COMMIT | 1u << STEP_COPY_WAIT;
	int n = 0;
	for (int i = 0; i < items->n; i++) {
		Item *it = items->at[i];
		copies_of_all(&it->body);
		if (!is_partial(it, kinds))
			items->at[n++] = it;
	}
	items->n = n;
}

static void for_the_warp(Items *items, uint64_t kinds)
{
	for (int i = 0; i < items->n; i++) {
		Item *it = items->at[i];
		if (is_partial(it, kinds))
			it->step.lanes = 32;
		for_the_warp(&it->body, kinds);
	}
}

/* The lanes of each step of these kinds that not all do, each once; 0: the one that elect takes. */
typedef VEC(uint32_t) LaneSets;

static void sets_of(Arena *a, const Items *items, uint64_t kinds, LaneSets *sets)
{
	for (int i = 0; i < items->n; i++) {
		const Item *it = items->at[i];
		bool is_new = is_partial(it, kinds);
		for (int j = 0; j < sets->n && is_new; j++)
			is_new = sets->at[j] != it->which;
		if (is_new)
			vec_push(a, sets, it->which);
		sets_of(a, &it->body, kinds, sets);
	}
}

static LaneSets sets_that(Arena *a, const Script *s, uint64_t kinds)
{
	LaneSets sets = {0};
	sets_of(a, &s->items, kinds, &sets);
	return sets;
}

/* Whether lanes that access slots may be among those that act. */
static bool act_for(Arena *a, const Script *s, uint64_t acts, uint64_t touches)
{
	LaneSets by = sets_that(a, s, acts), of = sets_that(a, s, touches);
	for (int i = 0; i < by.n; i++)
		for (int j = 0; j < of.n; j++)
			if (by.at[i] ? of.at[j] && !(of.at[j] & ~by.at[i]) : !of.at[j])
				return true;
	return false;
}

/* What one lane reads and writes is over for its own arrivals at once; where another lane arrives
 * or stores, as what all lanes do, it is when they have met. */
static void touch_apart(Reader *r, Script *s)
{
	uint64_t touches = 1u << STEP_READ | 1u << STEP_PASS | 1u << STEP_WRITE;
	uint64_t acts = 1u << STEP_ARRIVE | 1u << STEP_EXPECT | 1u << STEP_STORE;
	Lanes who = lanes_that(s, touches | acts);
	if (who.elected ? !who.mask : !(who.mask & (who.mask - 1)))
		return;
	if (act_for(r->p->arena, s, acts, touches))
		r->p->m.rough |= AGENT(r->agent);
	for_the_warp(&s->items, touches);
}

static bool is_of_all(const Items *items, uint64_t kinds)
{
	for (int i = 0; i < items->n; i++) {
		const Item *it = items->at[i];
		bool is = it->kind == ITEM_STEP && kinds >> it->step.kind & 1 && it->which == ~0u;
		if (is || is_of_all(&it->body, kinds))
			return true;
	}
	return false;
}

static void fence_for(Items *items, const Lanes *who, int lanes)
{
	for (int i = 0; i < items->n; i++) {
		Item *it = items->at[i];
		if (is_partial(it, 1u << STEP_FENCE) && does_for(it, who)) {
			it->step.lanes = (int8_t)lanes;
			it->step.mask = 1;
		}
		fence_for(&it->body, who, lanes);
	}
}

static void fence_where(Script *s, uint64_t kinds, int lanes)
{
	Lanes who = lanes_that(s, kinds);
	if (!is_of_all(&s->items, kinds))
		fence_for(&s->items, &who, lanes);
}

static bool is_fence_of_some(const Item *it)
{
	return is_partial(it, 1u << STEP_FENCE) && it->which;
}

/* Fences with nothing between them are one, by the lanes of each. */
static void fences_as_one(Items *items)
{
	int n = 0;
	for (int i = 0; i < items->n; i++) {
		Item *it = items->at[i], *last = n ? items->at[n - 1] : NULL;
		fences_as_one(&it->body);
		if (last && is_fence_of_some(it) && is_fence_of_some(last)) {
			it->which |= last->which;
			it->step.lanes = (int8_t)__builtin_popcount(it->which);
			n--;
		}
		items->at[n++] = it;
	}
	items->n = n;
}

/* The lanes of all such fences, where these are the same; *differ: they are not. */
static void lanes_of_fences(const Items *items, uint32_t *lanes, bool *differ)
{
	for (int i = 0; i < items->n; i++) {
		const Item *it = items->at[i];
		if (is_fence_of_some(it)) {
			*differ |= *lanes && *lanes != it->which;
			*lanes = it->which;
		}
		lanes_of_fences(&it->body, lanes, differ);
	}
}

static void mark_among(Items *items, uint64_t kinds, uint32_t lanes)
{
	for (int i = 0; i < items->n; i++) {
		Item *it = items->at[i];
		if (is_partial(it, kinds) && it->which && !(it->which & ~lanes))
			it->step.n = 1;
		mark_among(&it->body, kinds, lanes);
	}
}

/* What lanes read that have fences of their own, these order, whatever other lanes do. */
static void fence_for_own(Reader *r, Script *s)
{
	uint64_t kinds = 1u << STEP_READ | 1u << STEP_PASS | 1u << STEP_FENCE;
	uint32_t lanes = 0;
	bool differ = false;
	lanes_of_fences(&s->items, &lanes, &differ);
	if (!differ)
		mark_among(&s->items, kinds, lanes);
	r->p->m.in_turns |= differ;
}

/* A fence by those lanes that read and write is one for all that the warp read and wrote; by those
 * that do all that the warp does to memory it is as good as one by all. */
static void fence_apart(Reader *r, Script *s)
{
	uint64_t touches = 1u << STEP_READ | 1u << STEP_PASS | 1u << STEP_WRITE | 1u << STEP_COPY;
	uint64_t others = 1u << STEP_MMA | 1u << STEP_STORE | 1u << STEP_LOAD | 1u << STEP_ARRIVE |
			  1u << STEP_EXPECT;
	fences_as_one(&s->items);
	fence_for_own(r, s);
	fence_where(s, touches, 1);
	fence_where(s, touches | others, 32);
}

/* Lanes that arrive at another CTA, by rank; the second time, it is noted where those that do are
 * not all that ever do. */
static void lanes_sent(Machine *m, int agent, Items *items, Lanes *who, bool note)
{
	for (int i = 0; i < items->n; i++) {
		Item *it = items->at[i];
		lanes_sent(m, agent, &it->body, who, note);
		if (!is_partial(it, 1u << STEP_ARRIVE))
			continue;
		int rank = m->keys[it->step.key].rank;
		Lanes *to = &who[rank];
		if (note) {
			uint32_t others = to->elected ? to->mask : to->mask & ~it->which;
			it->step.mask = others && rank != m->agents[agent].rank;
			if (it->step.mask)
				m->sent_each[rank][agent] = &it->step;
		}
		to->mask |= it->which;
		to->elected |= !it->which;
	}
}

static void sends_apart(Reader *r, Script *s)
{
	Lanes who[MAX_RANKS] = {{0}};
	for (int note = 0; note < 2; note++)
		lanes_sent(&r->p->m, r->agent, &s->items, who, note);
}

static void mark_others(Items *items, uint64_t kinds, const Lanes *makers)
{
	for (int i = 0; i < items->n; i++) {
		Item *it = items->at[i];
		bool same = it->which ? !makers->elected && it->which == makers->mask
				      : makers->elected && !makers->mask;
		if (it->kind == ITEM_STEP && kinds >> it->step.kind & 1)
			it->step.others = !same;
		mark_others(&it->body, kinds, makers);
	}
}

/* Who uses barriers and is not who made some. */
static void inits_apart(Script *s)
{
	uint64_t uses = 1u << STEP_WAIT | 1u << STEP_ARRIVE | 1u << STEP_EXPECT | 1u << STEP_LOAD |
			1u << STEP_COPY_ARRIVE;
	Lanes makers = lanes_that(s, 1u << STEP_INIT);
	if (makers.mask || makers.elected)
		mark_others(&s->items, uses, &makers);
}

void read_own(Reader *r, Script *s)
{
	inits_apart(s);
	sends_apart(r, s);
	keep_own(s);
	copies_of_all(&s->items);
	touch_apart(r, s);
	fence_apart(r, s);
}
