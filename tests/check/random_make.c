/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* random_make.c - random role programs: rings of mbarriers, multicast ones among them, staging
 * buffers with named barriers, groups. They are right; most are then changed.
 *     load ring: wait empty, expect full, load; wait full, wgmma, commit, wait 0, arrive empty
 */
#include "random.h"

#include <stdio.h>
#include <string.h>

static uint64_t seed;

void random_seed(uint64_t s)
{
	seed = s;
}

int random_below(int n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((seed >> 33) % (uint64_t)n);
}

bool chance(int percent)
{
	return random_below(100) < percent;
}

/* ------------------------------------------------------------------ moves */
Move *move_put(Source *s, int role, BodyPart part, Move m)
{
	Body *b = &s->role[role].part[part];
	if (b->n == MOVES)
		panic("a role of more than %d moves", MOVES);
	b->at[b->n] = m;
	return &b->at[b->n++];
}

Move move_on(StepKind kind, Barrier barrier, int ring, int rank)
{
	Move m = {.kind = kind, .barrier = barrier, .ring = ring, .by = ring};
	m.rank = rank;
	m.n = 1;
	m.part = 1;
	m.parity = kind == STEP_WAIT && barrier == AT_EMPTY;
	return m;
}

Move move_plain(StepKind kind, int n)
{
	return (Move){.kind = kind, .n = n};
}

static int role_of_rank(const Source *s, int rank)
{
	int a;
	do
		a = random_below(s->roles);
	while (s->role[a].rank != rank);
	return a;
}

/* Loads and inits are one warp's. */
static int loader_of_rank(const Source *s, int rank)
{
	int a;
	do
		a = role_of_rank(s, rank);
	while (s->role[a].warps != 1);
	return a;
}

static int roles_of_rank(const Source *s, int rank)
{
	int n = 0;
	for (int a = 0; a < s->roles; a++)
		n += s->role[a].rank == rank;
	return n;
}

static int other_of_rank(const Source *s, int role)
{
	int a;
	do
		a = role_of_rank(s, s->role[role].rank);
	while (a == role);
	return a;
}

int source_warps(const Source *s, int rank)
{
	int n = 0;
	for (int a = 0; a < s->roles; a++)
		n += rank < 0 || s->role[a].rank == rank ? s->role[a].warps : 0;
	return n;
}

static int warps_of_two(const Source *s, int a, int b)
{
	return s->role[a].warps + s->role[b].warps;
}

static int new_named(Source *s, int rank, int warps)
{
	s->barrier[s->named].rank = rank;
	s->barrier[s->named].warps = warps;
	return s->named++;
}

static void put_named(Source *s, int role, BodyPart part, StepKind kind, int id)
{
	Move m = move_on(kind, AT_NAMED, id, s->role[role].rank);
	m.n = s->barrier[id].warps;
	move_put(s, role, part, m);
}

/* ------------------------------------------------------------------ rings */
static Reader new_reader(const Source *s, int ring, bool groups)
{
	Reader r = {.ring = ring, .by = ring, .way = way_random(groups)};
	r.each = r.way == BY_READ && chance(20);
	r.late = r.way != BY_READ && s->ring[ring].slots > 1 && chance(50);
	return r;
}

static void put_loads(Source *s, int role, int ring, const bool *to, uint32_t parts)
{
	for (int rank = 0; rank < s->ctas; rank++)
		for (uint32_t bit = 1; bit <= parts; bit <<= 1) {
			Move m = move_on(STEP_LOAD, AT_FULL, ring, rank);
			m.n = LOAD_BYTES;
			m.part = bit;
			if (to[rank] && parts & bit)
				move_put(s, role, LOOP, m);
		}
}

static void put_expect(Source *s, int role, int ring)
{
	Move m = move_on(STEP_EXPECT, AT_FULL, ring, s->role[role].rank);
	m.n = LOAD_BYTES * s->ring[ring].parts / s->role[role].warps;
	move_put(s, role, LOOP, m);
	s->ring[ring].count[AT_FULL][m.rank] = s->role[role].warps;
}

static void put_turn(Source *s, int role, int ring)
{
	int rank = s->role[role].rank;
	move_put(s, role, LOOP, move_on(STEP_WAIT, AT_EMPTY, ring, rank));
	for (int i = 0; s->drains && i < s->ring[ring].slots; i++)
		move_put(s, role, POST, move_on(STEP_WAIT, AT_EMPTY, ring, rank))->off = i;
}

/* One or more roles of the rank, which are not `not`, where there are others. */
static void put_readers(Source *s, int rank, Reader r, int not, bool groups)
{
	int n = 0, others = 0;
	for (int a = 0; a < s->roles; a++)
		others += s->role[a].rank == rank && a != not;
	for (int a = 0; a < s->roles; a++) {
		if (s->role[a].rank != rank || (a == not && others) || (n && chance(60)))
			continue;
		Reader mine = new_reader(s, r.ring, groups);
		memcpy(mine.free, r.free, sizeof mine.free);
		mine.by = r.by;
		mine.fences = r.fences && mine.way != BY_READ;
		reader_put(s, a, &mine);
		n++;
	}
}

/* By one lane, or by all, who meet after it. */
static void put_write(Source *s, int role, int ring, bool fences, bool meets)
{
	int lanes = chance(50) ? 32 : 1;
	move_put(s, role, LOOP, move_on(STEP_WRITE, AT_FULL, ring, s->role[role].rank))->lanes =
		lanes;
	if (fences)
		move_put(s, role, LOOP, move_plain(STEP_FENCE, 0));
	if (lanes > 1 && !meets)
		move_put(s, role, LOOP, move_plain(STEP_WARP, 0));
}

static void add_local(Source *s, int ring, bool groups)
{
	int producer = random_below(s->roles), rank = s->role[producer].rank;
	bool load = s->role[producer].warps == 1 && chance(50), fences = chance(50);
	bool here[CTAS] = {rank == 0, rank == 1};
	s->ring[ring].parts = load ? 1 + chance(20) : 0;
	put_turn(s, producer, ring);
	if (load) {
		put_expect(s, producer, ring);
		put_loads(s, producer, ring, here, s->ring[ring].parts == 2 ? 3 : 1);
	} else {
		put_write(s, producer, ring, fences, false);
		move_put(s, producer, LOOP, move_on(STEP_ARRIVE, AT_FULL, ring, rank));
		s->ring[ring].count[AT_FULL][rank] = s->role[producer].warps;
	}
	Reader r = {.ring = ring,
		    .by = ring,
		    .fences = !load && !fences,
		    .free = {here[0], here[1]}};
	put_readers(s, rank, r, producer, groups);
}

/* One role loads into both CTAs, or into the other one; a role there announces. */
static void add_leader(Source *s, int ring, bool groups)
{
	int rank = random_below(CTAS), other = !rank, leader = loader_of_rank(s, rank);
	int helper = role_of_rank(s, other); /* each warp announces its share */
	bool here = chance(70), to[CTAS] = {rank == 1 || here, rank == 0 || here};
	s->ring[ring].parts = 1;
	put_turn(s, leader, ring);
	if (here)
		put_expect(s, leader, ring);
	put_turn(s, helper, ring);
	put_expect(s, helper, ring);
	put_loads(s, leader, ring, to, 1);
	Reader r = {.ring = ring, .by = ring};
	r.free[rank] = true;
	if (here)
		put_readers(s, rank, r, leader, groups);
	r.free[other] = true;
	put_readers(s, other, r, helper, groups);
}

/* A role of each CTA loads its half into both. */
static void add_slices(Source *s, int ring, bool groups)
{
	int producer[CTAS];
	bool both[CTAS] = {true, true};
	s->ring[ring].parts = 2;
	for (int rank = 0; rank < CTAS; rank++) {
		producer[rank] = loader_of_rank(s, rank);
		put_turn(s, producer[rank], ring);
		put_expect(s, producer[rank], ring);
		put_loads(s, producer[rank], ring, both, 1u << rank);
	}
	Reader r = {.ring = ring, .by = ring, .free = {true, true}};
	for (int rank = 0; rank < CTAS; rank++)
		put_readers(s, rank, r, producer[rank], groups);
}

/* One role loads half of the slot, another the rest when that has landed; this half reaches the
 * barrier of a second ring. */
static void add_relay(Source *s, int ring, bool groups)
{
	int rank = random_below(s->ctas), a = loader_of_rank(s, rank);
	int b = loader_of_rank(s, rank);
	bool here[CTAS] = {rank == 0, rank == 1};
	s->ring[ring].parts = s->ring[ring + 1].parts = 1;
	s->ring[ring + 1].slots = s->ring[ring].slots;
	put_turn(s, a, ring);
	put_expect(s, a, ring);
	put_loads(s, a, ring, here, 1);
	move_put(s, b, LOOP, move_on(STEP_WAIT, AT_FULL, ring, rank));
	put_expect(s, b, ring + 1);
	put_loads(s, b, ring, here, 2);
	Body *body = &s->role[b].part[LOOP];
	body->at[body->n - 1].by = ring + 1;
	s->ring[ring].parts = 2;
	Reader r = {.ring = ring, .by = ring + 1, .free = {here[0], here[1]}};
	put_readers(s, rank, r, b, groups);
}

/* One role writes the slot, reads that back and loads over it. */
static void add_refill(Source *s, int ring, bool groups)
{
	int rank = random_below(s->ctas), a = loader_of_rank(s, rank);
	bool here[CTAS] = {rank == 0, rank == 1};
	s->ring[ring].parts = 1;
	put_turn(s, a, ring);
	put_write(s, a, ring, chance(30), false);
	reading_generic(s, a, ring, chance(50) ? 32 : 1, false);
	put_expect(s, a, ring);
	put_loads(s, a, ring, here, 1);
	Reader r = {.ring = ring, .by = ring, .free = {here[0], here[1]}};
	put_readers(s, rank, r, a, groups);
}

/* Arrivals without data, there and back. */
static void add_tokens(Source *s, int ring)
{
	int a = random_below(s->roles), b;
	do
		b = random_below(s->roles);
	while (b == a);
	int from = s->role[a].rank, to = s->role[b].rank;
	put_turn(s, a, ring);
	move_put(s, a, LOOP, move_on(STEP_ARRIVE, AT_FULL, ring, to));
	move_put(s, b, LOOP, move_on(STEP_WAIT, AT_FULL, ring, to));
	move_put(s, b, LOOP, move_on(STEP_ARRIVE, AT_EMPTY, ring, from));
	s->ring[ring].count[AT_FULL][to] = s->role[a].warps;
	s->ring[ring].count[AT_EMPTY][from] = s->role[b].warps;
}

/* ------------------------------------------------------------------ named barriers, staging */
/* One role writes and stores, with `slots` stores in flight. */
static void add_own_staging(Source *s, int ring)
{
	int rank = random_below(s->ctas), a = loader_of_rank(s, rank);
	int slots = s->ring[ring].slots;
	move_put(s, a, LOOP, move_plain(STEP_BULK_READ, slots - 1));
	put_write(s, a, ring, true, false);
	move_put(s, a, LOOP, move_on(STEP_STORE, AT_FULL, ring, rank));
	move_put(s, a, LOOP, move_plain(STEP_BULK_COMMIT, 0));
	move_put(s, a, POST, move_plain(chance(50) ? STEP_BULK_READ : STEP_BULK_WAIT, 0));
}

/* A buffer that goes from a to b and back by named barriers: both meet, or one goes on. */
static void add_staging(Source *s, int ring, int a, bool groups)
{
	int b = other_of_rank(s, a), rank = s->role[a].rank;
	int warps = warps_of_two(s, a, b);
	int full = new_named(s, rank, warps), empty = new_named(s, rank, warps);
	bool meet = chance(40), fences = chance(50);
	StepKind signal = meet ? STEP_BAR : STEP_BAR_ARRIVE;
	Reader r = {.ring = ring, .way = way_random(groups)};
	s->ring[ring].slots = 0;
	r.fences = !fences && r.way != BY_READ;
	if (!meet) {
		put_named(s, b, PRE, STEP_BAR_ARRIVE, empty);
		put_named(s, a, LOOP, STEP_BAR, empty);
	}
	put_write(s, a, ring, fences, true);
	put_named(s, a, LOOP, signal, full);
	if (meet)
		put_named(s, a, LOOP, STEP_BAR, empty);
	put_named(s, b, LOOP, STEP_BAR, full);
	reading_put(s, b, &r);
	put_named(s, b, LOOP, signal, empty);
}

/* a and b by turns. */
static void add_turns(Source *s, int a)
{
	int b = other_of_rank(s, a), rank = s->role[a].rank;
	int warps = warps_of_two(s, a, b);
	int mine = new_named(s, rank, warps), yours = new_named(s, rank, warps);
	put_named(s, b, PRE, STEP_BAR_ARRIVE, mine);
	put_named(s, a, LOOP, STEP_BAR, mine);
	put_named(s, a, LOOP, STEP_BAR_ARRIVE, yours);
	put_named(s, b, LOOP, STEP_BAR, yours);
	put_named(s, b, LOOP, STEP_BAR_ARRIVE, mine);
}

static void add_meeting(Source *s, int rank)
{
	int id = new_named(s, rank, source_warps(s, rank));
	for (int a = 0; a < s->roles; a++)
		if (s->role[a].rank == rank)
			put_named(s, a, LOOP, STEP_BAR, id);
}

/* A role that looks at the last filling only, and cannot tell it from one of two laps before. */
static void add_watcher(Source *s)
{
	int a = random_below(s->roles), ring = random_below(s->rings), rank = s->role[a].rank;
	StepKind kinds[] = {STEP_WAIT, STEP_READ};
	for (int i = 0; s->ring[ring].slots && i < 1 + chance(50); i++) {
		Move *m = move_put(s, a, POST, move_on(kinds[i], AT_FULL, ring, rank));
		m->off = -1;
		m->late = true;
	}
}

/* A pair of roles of one CTA by named barriers; false: there is none. */
static bool add_named(Source *s, int ring, bool groups)
{
	int a = random_below(s->roles);
	if (roles_of_rank(s, s->role[a].rank) < 2 || s->named + 2 > NAMED)
		return false;
	add_staging(s, ring, a, groups);
	return true;
}

/* The next ring. */
static int add_ring(Source *s, int ring, bool groups, bool named)
{
	s->ring[ring].slots = 1 + random_below(2);
	int how = random_below(s->ctas == 2 ? 9 : 3);
	if (named && chance(40) && add_named(s, ring, groups))
		return ring + 1;
	if (ring + 1 < s->rings && chance(15)) {
		add_relay(s, ring, groups);
		return ring + 2;
	}
	if (groups && chance(20))
		add_own_staging(s, ring);
	else if (chance(12))
		add_refill(s, ring, groups);
	else if (how == 3)
		add_tokens(s, ring);
	else if (how == 4 || how == 5)
		add_leader(s, ring, groups);
	else if (how >= 6)
		add_slices(s, ring, groups);
	else
		add_local(s, ring, groups);
	return ring + 1;
}

/* ------------------------------------------------------------------ a program */
static bool uses(const Role *r, StepKind kind, bool abroad)
{
	for (int part = 0; part < PARTS; part++)
		for (int i = 0; i < r->part[part].n; i++) {
			const Move *m = &r->part[part].at[i];
			if (m->kind == kind && (!abroad || m->rank != r->rank))
				return true;
		}
	return false;
}

bool source_sends(const Source *s, int role)
{
	return uses(&s->role[role], STEP_ARRIVE, true);
}

bool source_uses(const Source *s, StepKind kind)
{
	bool some = false;
	for (int a = 0; a < s->roles; a++)
		some |= uses(&s->role[a], kind, false);
	return some;
}

bool source_loads_abroad(const Source *s)
{
	bool some = false;
	for (int a = 0; a < s->roles; a++)
		some |= uses(&s->role[a], STEP_LOAD, true);
	return some;
}

/* The cluster's barrier does not wait for a role that has left; that it let others go tells nothing
 * of what that role did before. So a role that sends leaves by the barrier if any does, and
 * all meet first: otherwise others wait in the first letter for one that leaves in the last. */
static void keep_to_rules(Source *s)
{
	bool some = false;
	for (int a = 0; a < s->roles; a++)
		some |= s->role[a].meets_last;
	for (int a = 0; a < s->roles; a++) {
		s->role[a].meets_last |= some && source_sends(s, a);
		s->role[a].meets_first |= s->ctas == 2;
		s->relaxed &= s->role[a].meets_first;
	}
}

Source source_make(void)
{
	Source s;
	memset(&s, 0, sizeof s);
	bool groups = chance(40), named = chance(30);
	s.ctas = 1 + chance(45);
	s.roles = 2 + random_below(ROLES - 1);
	s.rings = 1 + random_below(s.roles == ROLES && s.ctas == 2 ? 2 : RINGS);
	s.drains = s.ctas == 2 && chance(30);
	s.relaxed = chance(50);
	s.trips_hi = chance(25) ? 1 + random_below(3) : 0;
	s.trips_lo = s.trips_hi && chance(50);
	for (int a = 0; a < s.roles; a++) {
		s.role[a].rank = s.ctas == 2 && (a == s.roles - 1 || (a && s.role[a - 1].rank) ||
						 (a && chance(40)));
		bool inits = !a || s.role[a - 1].rank != s.role[a].rank;
		s.role[a].warps = 1;
		s.role[a].warps +=
			!inits && source_warps(&s, -1) + s.roles - a <= WARPS && chance(50);
		s.role[a].meets_first = true;
		s.role[a].meets_last = s.ctas == 2 && !s.drains;
	}
	for (int i = 0; i < s.ctas; i++)
		s.fenced[i] = true;
	for (int r = 0; r < s.rings;)
		r = add_ring(&s, r, groups, named);
	int a = random_below(s.roles);
	if (named && roles_of_rank(&s, s.role[a].rank) > 1 && s.named + 2 <= NAMED && chance(50))
		add_turns(&s, a);
	else if (named && s.named < NAMED && chance(50))
		add_meeting(&s, s.role[a].rank);
	if (chance(5))
		add_watcher(&s);
	for (int n = random_below(4); n > 0; n--)
		source_change(&s);
	keep_to_rules(&s);
	return s;
}

void source_print(const Source *s)
{
	static const char *const texts[] = {
#define STEP(id, text) #id,
#include "verify/steps.def"
	};
	static const char *const parts[] = {"pre", "loop", "post"};
	static const char *const barriers[] = {"full", "empty", "named"};
	printf("  %d CTAs, trips %d to %d%s%s%s\n", s->ctas, s->trips_lo, s->trips_hi,
	       s->relaxed ? ", relaxed" : "", s->fenced[0] ? "" : ", 0 not fenced",
	       s->ctas == 1 || s->fenced[1] ? "" : ", 1 not fenced");
	for (int r = 0; r < s->rings; r++)
		printf("  ring %d: %d slots, %d parts, full %d %d, empty %d %d\n", r,
		       s->ring[r].slots, s->ring[r].parts, s->ring[r].count[0][0],
		       s->ring[r].count[0][1], s->ring[r].count[1][0], s->ring[r].count[1][1]);
	for (int a = 0; a < s->roles; a++) {
		const Role *role = &s->role[a];
		printf("  role %d@%d, %d warps%s%s\n", a, role->rank, role->warps,
		       role->meets_first ? "" : ", does not meet first",
		       role->meets_last ? ", meets last" : "");
		for (int part = 0; part < PARTS; part++)
			for (int i = 0; i < role->part[part].n; i++) {
				const Move *m = &role->part[part].at[i];
				printf("    %s%s %s by %d %s%d@%d off %d parity %d n %d part %u "
				       "lanes %d\n",
				       parts[part], m->late ? " late" : "", texts[m->kind], m->by,
				       barriers[m->barrier], m->ring, m->rank, m->off, m->parity,
				       m->n, m->part, m->lanes);
			}
	}
}
