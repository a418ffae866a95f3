/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* random_run.c - every interleaving of a random program with a number of trips, knowing nothing of
 * the verifier: a state is where each role stands, what each barrier has counted and what each
 * slot holds. A run is wrong if it hangs or breaks a rule; so is a program in which the phase of
 * an arrival, of a wait or of a landing, or what is read or overwritten, depends on the order.
 *     role 1 reads slot 0 @ content 7; in another order @ content 9  ->  wrong
 * A wgmma or a store reads until its role's wait for the group at the latest. That is when these
 * reads end here: an earlier end lets others do nothing that they could not do before. For the
 * same reason steps that only the role itself sees are taken with its next step. */
#include "random_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static KeyNow *key_in(Now *s, int key)
{
	return &s->u[1 + key].key;
}

static CellNow *cell_in(const Runs *r, Now *s, int cell)
{
	return &s->u[1 + r->nk + cell].cell;
}

static void see(Runs *r, int a, int i, int what, int value)
{
	int *saw = &r->saw[a][i][what];
	wrong(r, *saw && *saw != value + 1, "what a step sees depends on the order");
	*saw = value + 1;
}

/* ------------------------------------------------------------------ barriers */
static bool has_left(const Runs *r, const Now *s, int a)
{
	return s->u[0].at[a] == r->length[a];
}

static bool is_gone(const Runs *r, const Now *s, int rank)
{
	for (int a = 0; a < r->warps; a++)
		if (r->rank[a] == rank && !has_left(r, s, a))
			return false;
	return true;
}

static int need_of(const Runs *r, const Now *s, int key)
{
	int n = r->need[key];
	for (int a = 0; a < r->warps && r->p->m.keys[key].rank < 0; a++)
		n -= has_left(r, s, a);
	return n;
}

static void complete(Runs *r, Now *s, int key)
{
	int need = need_of(r, s, key);
	KeyNow *k = key_in(s, key);
	wrong(r, k->arrived > need, "more arrivals than the count");
	if (k->arrived < need || k->tx)
		return;
	for (int a = 0; a < r->warps; a++)
		s->u[0].at[a] = (uint16_t)(s->u[0].at[a] + (k->standing >> a & 1));
	k->standing = 0;
	k->arrived = 0;
	k->phase++;
}

static void arrive(Runs *r, Now *s, int a, int i, const Step *st)
{
	const Key *key = &r->p->m.keys[st->key];
	KeyNow *k = key_in(s, st->key);
	wrong(r, !key->named && !(k->init & FENCED), "no init");
	wrong(r, key->rank >= 0 && is_gone(r, s, key->rank), "an arrival at a CTA that is gone");
	wrong(r, st->kind == STEP_ARRIVE && st->n <= 0, "an arrival that is none");
	see(r, a, i, 0, k->phase);
	k->arrived = (uint8_t)(k->arrived + (st->kind == STEP_ARRIVE ? st->n * st->lanes : 1));
	complete(r, s, st->key);
}

/* bar.sync: false as it stands there, but the last one goes on. */
static bool meet(Runs *r, Now *s, int a, int i, const Step *st)
{
	KeyNow *k = key_in(s, st->key);
	if (k->standing >> a & 1)
		return false;
	wrong(r, r->p->m.keys[st->key].rank >= 0 && st->n != r->need[st->key], "meet with others");
	k->standing |= (uint8_t)(1 << a);
	s->u[0].at[a] = (uint16_t)i;
	arrive(r, s, a, i, st);
	return true;
}

/* ------------------------------------------------------------------ slots */
/* What this role's groups read is what they read now; of others, where they stand. */
static bool is_in_flight(const Runs *r, const Now *s, int cell, int a, int i)
{
	uint32_t all = r->flight[a][i] | r->loose[a][i];
	for (int b = 0; b < r->warps; b++) {
		int at = s->u[0].at[b];
		all |= b == a ? 0 : r->flight[b][at] | r->loose[b][at];
	}
	return all >> cell & 1;
}

static bool is_being_written(const Runs *r, const Now *s, int cell, int a, int i)
{
	uint32_t all = r->wrote[a][i];
	for (int b = 0; b < r->warps; b++)
		all |= b == a ? 0 : r->wrote[b][s->u[0].at[b]];
	return all >> cell & 1;
}

/* Through the generic proxy, with no fence since by each lane that read. */
static bool is_read_bare(const Runs *r, const Now *s, int cell, int marks, int a, int i)
{
	bool some = false;
	for (int b = 0; b < r->warps; b++)
		some |= marks & READ_BY << b && r->bare[b][b == a ? i : s->u[0].at[b]] >> cell & 1;
	return some;
}

/* All parts are loaded, this one with them: what warps wrote lies under them. */
static bool is_whole(const Runs *r, const CellNow *c, const Step *st)
{
	uint64_t full = r->p->m.cells[st->cell].full;
	return ((c->fresh % GENERIC | c->coming | st->mask) & full) == full;
}

/* Both parts, or what all warps of the writing role write. */
static uint32_t whole(const Runs *r, const CellNow *c, int cell)
{
	int by = c->content[0] ? r->role[(c->content[0] - 1) / WORD] : 0;
	uint32_t warps = (1u << r->p->src.role[by].warps) - 1;
	uint32_t loaded = c->fresh % GENERIC ? (uint32_t)r->p->m.cells[cell].full : 0;
	return c->fresh < GENERIC ? (uint32_t)r->p->m.cells[cell].full : loaded | GENERIC * warps;
}

static void read(Runs *r, Now *s, int a, int i, const Step *st)
{
	CellNow *c = cell_in(r, s, st->cell);
	bool generic = c->fresh >= GENERIC;
	wrong(r, is_being_written(r, s, st->cell, a, i), "a read of what lanes still write");
	wrong(r, c->coming, "a read of what is coming");
	wrong(r, c->fresh != whole(r, c, st->cell), "a read of what is not there");
	wrong(r,
	      generic && st->kind != STEP_READ &&
		      (c->marks & FENCED_ALL) != (c->fresh & FENCED_ALL),
	      "a read through the other proxy");
	see(r, a, i, 0, c->content[0]);
	see(r, a, i, 1, c->content[1]);
	if (!(c->marks & WAS_READ))
		c->marks &= (uint8_t)~READERS;
	c->marks |= (uint8_t)(WAS_READ | (st->kind == STEP_READ ? READ_BY << a : 0));
}

/* What was there is read: from now on something else is. */
static void renew(CellNow *c)
{
	if (!(c->marks & WAS_READ))
		return;
	c->fresh = 0;
	c->marks &= READERS;
}

static void write(Runs *r, Now *s, int a, int i, const Step *st)
{
	CellNow *c = cell_in(r, s, st->cell);
	wrong(r, c->coming, "a write over what is coming");
	wrong(r, is_in_flight(r, s, st->cell, a, i), "a write over what a group reads");
	int copy = r->copy[a], bit = GENERIC << copy;
	see(r, a, i, 0, c->content[copy]);
	bool again = r->handed[a][i] >> st->cell & 1 && c->fresh & bit;
	r->filled[a][i] |= !(c->marks & WAS_READ) && again ? 1 : 2;
	renew(c);
	c->marks |= c->fresh % GENERIC ? LATE : 0;
	c->content[copy] = (uint16_t)(1 + a * WORD + i);
	c->fresh |= (uint8_t)bit;
	c->marks &= (uint8_t)~bit;
}

static void load(Runs *r, Now *s, int a, int i, const Step *st)
{
	CellNow *c = cell_in(r, s, st->cell);
	int rank = r->p->m.cells[st->cell].rank, part = st->mask == 2;
	wrong(r, !(key_in(s, st->key)->init & FENCED), "no init");
	wrong(r, is_gone(r, s, rank), "a load into a CTA that is gone");
	wrong(r, c->coming && c->to != st->key, "loads of one slot at two barriers");
	wrong(r, is_in_flight(r, s, st->cell, a, i), "a load over what a group reads");
	wrong(r, is_being_written(r, s, st->cell, a, i), "a load over what lanes still write");
	wrong(r, is_read_bare(r, s, st->cell, c->marks, a, i),
	      "a load over what was read through the other proxy");
	renew(c);
	wrong(r, c->fresh >= GENERIC && (c->marks & FENCED_ALL) != (c->fresh & FENCED_ALL),
	      "a load over what was written through the other proxy");
	wrong(r, c->coming & st->mask, "a load over what is coming");
	see(r, a, i, 0, c->content[part]);
	if (c->fresh & st->mask) { /* what landed may go unread */
		c->fresh = 0;
		c->marks &= READERS;
	}
	if (!(c->marks & LATE) && is_whole(r, c, st))
		c->fresh &= GENERIC - 1;
	c->content[part] = (uint16_t)(1 + a * WORD + i);
	c->coming |= (uint8_t)st->mask;
	c->to = (uint8_t)st->key;
}

static void land(Runs *r, Now *s, int cell, int part)
{
	CellNow *c = cell_in(r, s, cell);
	int id = c->content[part] - 1, key = c->to;
	KeyNow *k = key_in(s, key);
	see(r, id / WORD, id % WORD, 2, k->phase);
	c->coming &= (uint8_t)~(1 << part);
	c->fresh |= (uint8_t)(1 << part);
	k->tx = (int16_t)(k->tx - r->word[id / WORD][id % WORD].n);
	complete(r, s, key);
	if (!c->coming)
		c->to = 0;
}

static void fence(const Runs *r, Now *s)
{
	for (int i = 0; i < r->nc; i++)
		cell_in(r, s, i)->marks |= cell_in(r, s, i)->fresh & FENCED_ALL;
}

/* ------------------------------------------------------------------ steps */
static bool is_own(StepKind kind)
{
	return kind == STEP_INIT || kind == STEP_FENCE_INIT || kind == STEP_MMA_COMMIT ||
	       kind == STEP_MMA_WAIT || kind == STEP_BULK_COMMIT || kind == STEP_BULK_READ ||
	       kind == STEP_BULK_WAIT || kind == STEP_MMA_FENCE || kind == STEP_TOUCH ||
	       kind == STEP_WARP;
}

static void own_step(Runs *r, Now *s, int a, const Step *st)
{
	if (st->kind == STEP_INIT) {
		key_in(s, st->key)->init = MADE;
		wrong(r, st->n <= 0, "a count of zero");
	}
	for (int i = 0; i < r->nk && st->kind == STEP_FENCE_INIT; i++)
		if (r->p->m.keys[i].rank == r->rank[a] && key_in(s, i)->init)
			key_in(s, i)->init = MADE | FENCED;
}

static void leave(Runs *r, Now *s, int a, int i)
{
	int rank = r->rank[a], meet = r->p->m.meet - 1;
	wrong(r, r->flight[a][i] != 0, "a group in flight at exit");
	s->u[0].at[a] = (uint16_t)r->length[a];
	for (int c = 0; c < r->nc && is_gone(r, s, rank); c++)
		wrong(r, r->p->m.cells[c].rank == rank && cell_in(r, s, c)->coming,
		      "a load is coming at exit");
	if (meet >= 0 && key_in(s, meet)->arrived)
		complete(r, s, meet);
}

/* Its own steps up to one that others see; false when it must wait there. */
static bool advance(Runs *r, Now *s, int a)
{
	int i = s->u[0].at[a];
	const Step *st = &r->word[a][i];
	for (; is_own((StepKind)st->kind); st++, i++)
		own_step(r, s, a, st);
	switch ((int)st->kind) {
	case STEP_BAR:
	case STEP_BAR_RELAXED:
		return meet(r, s, a, i, st);
	case STEP_EXIT:
		leave(r, s, a, i);
		return true;
	case STEP_WAIT:
		wrong(r, !(key_in(s, st->key)->init & FENCED), "no init");
		wrong(r, st->n < 0 || st->n > 1, "no parity");
		if ((key_in(s, st->key)->phase & 1) == st->n)
			return false;
		see(r, a, i, 0, key_in(s, st->key)->phase);
		break;
	case STEP_EXPECT:
		key_in(s, st->key)->tx = (int16_t)(key_in(s, st->key)->tx + st->n);
		arrive(r, s, a, i, st);
		break;
	case STEP_BAR_ARRIVE:
		wrong(r, st->n != r->need[st->key], "signal with others");
		arrive(r, s, a, i, st);
		break;
	case STEP_ARRIVE:
		arrive(r, s, a, i, st);
		break;
	case STEP_LOAD:
		load(r, s, a, i, st);
		break;
	case STEP_WRITE:
		write(r, s, a, i, st);
		break;
	case STEP_NOWHERE:
		wrong(r, true, "a slot that there is not");
		break;
	case STEP_FENCE:
		fence(r, s);
		break;
	default:
		read(r, s, a, i, st);
	}
	s->u[0].at[a] = (uint16_t)(i + 1);
	return true;
}

/* A role's step or a landing, by number; false: not now. */
static bool take(Runs *r, const Now *from, Now *to, int choice)
{
	int a = choice, c = (choice - WARPS) / 2, part = (choice - WARPS) % 2;
	if (a < WARPS ? a >= r->warps || has_left(r, from, a)
		      : !(from->u[1 + r->nk + c].cell.coming >> part & 1))
		return false;
	memcpy(to, from, sizeof *to->u * (size_t)r->units);
	if (a < WARPS)
		return advance(r, to, a);
	land(r, to, c, part);
	return true;
}

static int choices(const Runs *r)
{
	return WARPS + 2 * r->nc;
}

/* No more can be done: all have left, and nothing is open. */
static void finish(Runs *r, const Now *now)
{
	for (int a = 0; a < r->warps; a++)
		if (wrong(r, !has_left(r, now, a), "no role can go on"))
			return;
	for (int k = 0; k < r->nk; k++)
		wrong(r, now->u[1 + k].key.tx != 0, "bytes");
	for (int i = 0; i < r->nc; i++) {
		const CellNow *c = &now->u[1 + r->nk + i].cell;
		wrong(r, c->fresh >= GENERIC && !(c->marks & WAS_READ),
		      "what was written is not read");
	}
}

/* ------------------------------------------------------------------ states */
static uint64_t hash_of(const Unit *u, int n)
{
	uint64_t h = 0x243f6a8885a308d3u;
	for (int i = 0; i < n; i++) {
		h = (h ^ u[i].bits) * 0x9e3779b97f4a7c15u;
		h ^= h >> 31;
	}
	return h;
}

static Unit *state_at(const Runs *r, int i)
{
	return r->states + (size_t)i * (size_t)r->units;
}

static void grow(Runs *r)
{
	int old = r->table_size;
	uint32_t *from = r->table;
	r->table_size = 4 * old;
	r->table = calloc((size_t)r->table_size, sizeof *r->table);
	for (int i = 0; i < old; i++) {
		uint64_t h;
		if (!from[i])
			continue;
		h = hash_of(state_at(r, (int)from[i] - 1), r->units);
		while (r->table[h & (uint64_t)(r->table_size - 1)])
			h++;
		r->table[h & (uint64_t)(r->table_size - 1)] = from[i];
	}
	free(from);
}

static void push(Runs *r, const Now *s)
{
	size_t bytes = sizeof *s->u * (size_t)r->units;
	if (2 * r->n >= r->table_size)
		grow(r);
	for (uint64_t h = hash_of(s->u, r->units);; h++) {
		uint32_t *e = &r->table[h & (uint64_t)(r->table_size - 1)];
		if (*e && !memcmp(state_at(r, (int)*e - 1), s->u, bytes))
			return;
		if (*e)
			continue;
		r->full |= r->n == r->cap;
		if (r->full)
			return;
		memcpy(state_at(r, r->n++), s->u, bytes);
		*e = (uint32_t)r->n;
		return;
	}
}

static void expand(Runs *r, const Now *from)
{
	Now to;
	bool moved = false;
	for (int i = 0; i < choices(r) && !r->wrong; i++) {
		if (!take(r, from, &to, i))
			continue;
		moved = true;
		push(r, &to);
	}
	if (!moved)
		finish(r, from);
}

static void explore(Runs *r, const Now *first)
{
	Now s;
	push(r, first);
	for (int i = 0; i < r->n && !r->wrong && !r->full; i++) {
		memcpy(&s, state_at(r, i), sizeof *s.u * (size_t)r->units);
		expand(r, &s);
	}
}

/* ------------------------------------------------------------------ walks */
static int below(Runs *r, int n)
{
	r->random = r->random * 6364136223846793005u + 1442695040888963407u;
	return (int)((r->random >> 33) % (uint64_t)n);
}

static void swap(Runs *r, int *order, int i, int n)
{
	int j = i + below(r, n - i), was = order[i];
	order[i] = order[j];
	order[j] = was;
}

/* One run in which some warps and landings go before others, with a change of mind at times: most
 * of what is wrong shows in a few. */
static void walk(Runs *r, const Now *first, bool steady)
{
	Now now = *first, to;
	int order[WARPS + 2 * CELLS], n = choices(r);
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = 0; i < n; i++)
		swap(r, order, i, n);
	for (bool moved = true; moved && !r->wrong;) {
		moved = false;
		if (!steady && !below(r, 12))
			swap(r, order, below(r, n), n);
		for (int i = 0; i < n && !moved && !r->wrong; i++)
			moved = take(r, &now, &to, order[i]);
		if (moved)
			memcpy(&now, &to, sizeof *to.u * (size_t)r->units);
	}
	if (!r->wrong)
		finish(r, &now);
}

/* ------------------------------------------------------------------ a program */
bool runs_wrong(Runs *r, const Prog *p, int trips)
{
	Now first;
	memset(&first, 0, sizeof first);
	memset(r->saw, 0, sizeof r->saw);
	memset(r->filled, 0, sizeof r->filled);
	memset(r->table, 0, sizeof *r->table * (size_t)r->table_size);
	r->p = p;
	r->nk = p->m.nk;
	r->nc = p->m.nc;
	r->units = 1 + r->nk + r->nc;
	r->cap = MOST_BYTES / (int)sizeof(Unit) / r->units;
	r->n = 0;
	r->wrong = r->full = false;
	r->why = "";
	r->random = 1;
	runs_read(r, trips);
	for (int i = 0; i < WALKS && !r->wrong; i++)
		walk(r, &first, i % 2);
	if (!r->wrong)
		explore(r, &first);
	for (int a = 0; a < r->warps && !r->full; a++)
		for (int i = 0; i < r->length[a]; i++)
			wrong(r, r->filled[a][i] == 1, "a write over what was fenced and not read");
	return r->wrong;
}

bool runs_full(const Runs *r)
{
	return r->full;
}

int runs_states(const Runs *r)
{
	return r->n;
}

const char *runs_why(const Runs *r)
{
	return r->why;
}

Runs *runs_new(void)
{
	Runs *r = calloc(1, sizeof *r);
	r->table_size = 1 << 12;
	r->table = calloc((size_t)r->table_size, sizeof *r->table);
	r->states = malloc(MOST_BYTES);
	return r;
}

void runs_free(Runs *r)
{
	free(r->states);
	free(r->table);
	free(r);
}
