/* random - role programs made at random, each judged twice: by the verifier for all trip
 * counts, and by exploring every interleaving for small trip counts. The verdicts must agree.
 *     random [PROGRAMS [SEED]]
 * A program has up to 4 roles and 3 rings; most begin right and have up to three steps changed. */
#include "passes/check/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROLES = 4, RINGS = 3, STEPS = 24, LOAD_BYTES = 16, PERIOD = 4, MOST_TRIPS = 7, WORD = 256 };

/* A step of the loop's body: of a ring, at a distance from the trip's own position. */
typedef struct {
	StepKind kind;
	int ring, off, parity, n;
} Move;
typedef struct {
	Move at[STEPS];
	int n;
} Body;
typedef struct {
	int slots[RINGS], full[RINGS], empty[RINGS], cell[RINGS]; /* first of each */
	int count_full[RINGS], count_empty[RINGS];
	Body body[ROLES];
	int rings, roles;
	Machine m;
	Words words;
	Letter letters[2 + PERIOD];
	Step steps[2 + PERIOD][ROLES][2 * STEPS];
} Prog;

static uint64_t seed;
static int below(int n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((seed >> 33) % (uint64_t)n);
}

/* ------------------------------------------------------------------ programs */
static void add(Body *b, StepKind kind, int ring, int parity, int n)
{
	b->at[b->n++] = (Move){kind, ring, 0, parity, n};
}

static void add_ring(Prog *p, int r)
{
	int producer = below(p->roles), consumers = 0;
	bool load = below(2);
	p->slots[r] = 1 + below(2);
	Body *b = &p->body[producer];
	add(b, STEP_WAIT, r, 1, 0);
	if (load) {
		add(b, STEP_EXPECT, r, 0, LOAD_BYTES);
		add(b, STEP_LOAD, r, 0, LOAD_BYTES);
	} else {
		add(b, STEP_WRITE, r, 0, 0);
		add(b, STEP_ARRIVE, r, 0, 1);
	}
	for (int a = 0; a < p->roles; a++) {
		if (a == producer || (consumers && below(2)))
			continue;
		consumers++;
		add(&p->body[a], STEP_WAIT, r, 0, 0);
		add(&p->body[a], STEP_READ, r, 0, 0);
		add(&p->body[a], STEP_ARRIVE, r, 1, 1); /* parity 1: the barrier that frees */
	}
	p->count_full[r] = 1;
	p->count_empty[r] = consumers;
}

static void change(Prog *p)
{
	Body *b = &p->body[below(p->roles)];
	int r = below(p->rings), how = below(9);
	if (how == 0)
		p->count_empty[r] += p->count_empty[r] > 1 && below(2) ? -1 : 1;
	if (!b->n)
		return;
	int i = below(b->n);
	Move *at = &b->at[i];
	if (how <= 2) {
		memmove(at, at + 1, sizeof *at * (size_t)(b->n-- - i - 1));
	} else if (how == 3 && b->n < STEPS) {
		memmove(at + 1, at, sizeof *at * (size_t)(b->n++ - i));
	} else if (how <= 5 && i + 1 < b->n) {
		Move other = at[1];
		at[1] = at[0];
		at[0] = other;
	} else if (how == 6) {
		at->off++;
	} else if (how == 7 && at->kind == STEP_WAIT) {
		at->parity ^= 1;
	} else if (how == 8 && at->kind == STEP_EXPECT) {
		at->n += below(2) ? 8 : -8;
	}
}

/* Which barrier a step is about: WAIT and ARRIVE with parity 1 are about the one that frees. */
static int key_of_move(const Prog *p, const Move *m)
{
	bool frees = (m->kind == STEP_WAIT || m->kind == STEP_ARRIVE) && m->parity & 2;
	return frees ? p->empty[m->ring] : p->full[m->ring];
}

static Step step_at(const Prog *p, const Move *m, int trip)
{
	Step s;
	int at = trip + m->off, S = p->slots[m->ring];
	memset(&s, 0, sizeof s);
	s.kind = (int8_t)m->kind;
	s.lanes = 1;
	s.key = (int16_t)(key_of_move(p, m) + at % S);
	s.cell = (int16_t)(p->cell[m->ring] + at % S);
	s.cell2 = -1;
	s.mask = m->kind == STEP_LOAD;
	s.n = m->kind == STEP_WAIT ? (at / S + (m->parity & 1)) % 2 : m->n;
	return s;
}

/* parity: bit 0 of the parity, bit 1: about the barrier that frees. */
static void mark_frees(Prog *p)
{
	for (int a = 0; a < p->roles; a++)
		for (int i = 0; i < p->body[a].n; i++) {
			Move *m = &p->body[a].at[i];
			if (m->kind == STEP_WAIT && m->parity)
				m->parity = 3;
			if (m->kind == STEP_ARRIVE && m->parity)
				m->parity = 2;
		}
}

static const Letter *letter_at(void *user, const Point *at, int *id)
{
	Prog *p = user;
	*id = at->seg == SEG_START  ? 1
	      : at->seg == SEG_END  ? 2
	      : at->seg < SEG_INNER ? 3 + PERIOD
				    : 3 + (int)(at->trip % PERIOD);
	static const Letter nothing;
	return *id == 3 + PERIOD ? &nothing : &p->letters[*id - 1];
}

static void put(Prog *p, int letter, int agent, Step s)
{
	Part *part = &p->letters[letter].of[agent];
	p->steps[letter][agent][part->n++] = s;
	part->steps = p->steps[letter][agent];
}

static Step plain(StepKind kind, int key, int n)
{
	Step s;
	memset(&s, 0, sizeof s);
	s.kind = (int8_t)kind;
	s.lanes = 1;
	s.key = (int16_t)key;
	s.cell = s.cell2 = -1;
	s.n = n;
	return s;
}

static void make_machine(Prog *p, Arena *arena)
{
	Machine *m = &p->m;
	int meet, all = (1 << p->roles) - 1;
	m->arena = arena;
	m->na = p->roles;
	m->keys = NEWN(arena, Key, 32);
	m->cells = NEWN(arena, Cell, 16);
	for (int a = 0; a < p->roles; a++)
		m->agents[a] = (Agent){.name = "role", .warps = 1};
	for (int r = 0; r < p->rings; r++) {
		p->full[r] = m->nk;
		p->empty[r] = m->nk + p->slots[r];
		p->cell[r] = m->nc;
		for (int i = 0; i < 2 * p->slots[r]; i++) {
			bool frees = i >= p->slots[r];
			put(p, 0, 0,
			    plain(STEP_INIT, m->nk, frees ? p->count_empty[r] : p->count_full[r]));
			m->keys[m->nk++] = (Key){.name = frees ? "empty" : "full",
						 .slot = i % p->slots[r],
						 .waiters = (uint32_t)all,
						 .arrivers = (uint32_t)all};
		}
		for (int i = 0; i < p->slots[r]; i++)
			m->cells[m->nc++] = (Cell){.name = "buffer",
						   .slot = i,
						   .full = 1,
						   .readers = (uint32_t)all,
						   .writers = (uint32_t)all};
	}
	meet = m->nk;
	m->keys[m->nk++] = (Key){.name = "all", .slot = -1, .named = true, .warps = p->roles};
	put(p, 0, 0, plain(STEP_FENCE_INIT, -1, 0));
	for (int a = 0; a < p->roles; a++) {
		put(p, 0, a, plain(STEP_BAR, meet, p->roles));
		put(p, 1, a, plain(STEP_EXIT, -1, 0));
	}
	m->exact = true;
	machine_layout(m);
	/* Interleavings know no order that is weaker than time: here a load orders what went
	 * before. */
	memset(m->timely, 0xff, sizeof *m->timely * (size_t)m->words);
}

static Prog *make(Arena *arena)
{
	Prog *p = NEW(arena, Prog);
	p->roles = 2 + below(ROLES - 1);
	p->rings = 1 + below(RINGS);
	for (int r = 0; r < p->rings; r++)
		add_ring(p, r);
	mark_frees(p);
	for (int n = below(4); n > 0; n--)
		change(p);
	make_machine(p, arena);
	for (int k = 0; k < PERIOD; k++)
		for (int a = 0; a < p->roles; a++)
			for (int i = 0; i < p->body[a].n; i++)
				put(p, 2 + k, a, step_at(p, &p->body[a].at[i], k));
	p->words = (Words){.inner = 1,
			   .trips_hi = INT64_MAX,
			   .tile_period = 1,
			   .trip_period = PERIOD,
			   .tile_repeat = 1,
			   .trip_repeat = PERIOD,
			   .ways = 1,
			   .user = p,
			   .letter = letter_at};
	return p;
}

/* ------------------------------------------------------------------ all interleavings */
/* What is seen must not depend on the order: the phase of an arrival, the phases done when a wait
 * passes, the content that is read or overwritten. */
typedef struct {
	uint8_t at[ROLES];
	struct {
		uint8_t arrived, phase;
		int16_t tx;
	} key[16];
	struct {
		uint16_t content, coming; /* 1 + role * WORD + step that wrote it; 0: none */
		uint8_t read, to;
	} cell[8];
} Now;
enum { TABLE = 1 << 21 };
typedef struct {
	const Prog *p;
	Step word[ROLES][WORD];
	int length[ROLES];
	int saw[ROLES][WORD][2]; /* 1 + what was seen */
	Now *stack;
	uint32_t *table; /* 1 + index of a state in `stack` */
	int n;
	bool wrong, full;
} Brute;

static void see(Brute *b, int a, int i, int what, int value)
{
	int *saw = &b->saw[a][i][what];
	if (*saw && *saw != value + 1)
		b->wrong = true;
	*saw = value + 1;
}

static void push(Brute *b, const Now *s)
{
	uint64_t h = 1;
	for (size_t i = 0; i < sizeof *s; i++)
		h = (h ^ ((const unsigned char *)s)[i]) * 0x100000001b3u;
	for (h ^= h >> 32;; h++) {
		uint32_t *e = &b->table[h & (TABLE - 1)];
		if (*e && !memcmp(&b->stack[*e - 1], s, sizeof *s))
			return;
		if (*e)
			continue;
		if (b->n == TABLE / 2) {
			b->full = true;
			return;
		}
		memcpy(&b->stack[b->n++], s, sizeof *s);
		*e = (uint32_t)b->n;
		return;
	}
}

static int need_of(const Prog *p, int key)
{
	for (int r = 0; r < p->rings; r++) {
		if (key >= p->full[r] && key < p->full[r] + p->slots[r])
			return p->count_full[r];
		if (key >= p->empty[r] && key < p->empty[r] + p->slots[r])
			return p->count_empty[r];
	}
	return 1;
}

static void complete(Brute *b, Now *s, int key)
{
	int need = need_of(b->p, key);
	if (s->key[key].arrived > need)
		b->wrong = true;
	if (s->key[key].arrived < need || s->key[key].tx)
		return;
	s->key[key].arrived = 0;
	s->key[key].phase++;
}

static void access_cell(Brute *b, Now *s, int a, int i, const Step *st)
{
	uint16_t me = (uint16_t)(1 + a * WORD + i);
	if (s->cell[st->cell].coming) {
		b->wrong = true;
		return;
	}
	see(b, a, i, 0, s->cell[st->cell].content);
	if (st->kind == STEP_READ) {
		b->wrong |= !s->cell[st->cell].content;
		s->cell[st->cell].read = 1;
	} else if (st->kind == STEP_WRITE) {
		s->cell[st->cell].content = me;
		s->cell[st->cell].read = 0;
	} else {
		b->wrong |= s->cell[st->cell].content && !s->cell[st->cell].read;
		s->cell[st->cell].coming = me;
		s->cell[st->cell].to = (uint8_t)st->key;
	}
}

/* One step of one role; false when it must wait. */
static bool advance(Brute *b, Now *s, int a)
{
	int i = s->at[a];
	const Step *st = &b->word[a][i];
	if (st->kind == STEP_WAIT) {
		if ((s->key[st->key].phase & 1) == st->n)
			return false;
		see(b, a, i, 0, s->key[st->key].phase);
	} else if (st->kind == STEP_ARRIVE || st->kind == STEP_EXPECT) {
		see(b, a, i, 0, s->key[st->key].phase);
		s->key[st->key].arrived++;
		s->key[st->key].tx =
			(int16_t)(s->key[st->key].tx + (st->kind == STEP_EXPECT ? st->n : 0));
		complete(b, s, st->key);
	} else {
		access_cell(b, s, a, i, st);
	}
	s->at[a]++;
	return true;
}

static void land(Brute *b, Now *s, int cell)
{
	int id = s->cell[cell].coming - 1, key = s->cell[cell].to;
	see(b, id / WORD, id % WORD, 1, s->key[key].phase);
	s->cell[cell].content = s->cell[cell].coming;
	s->cell[cell].coming = 0;
	s->cell[cell].read = 0;
	s->key[key].tx = (int16_t)(s->key[key].tx - LOAD_BYTES);
	complete(b, s, key);
}

static void expand(Brute *b, const Now *from)
{
	bool moved = false, done = true, coming = false;
	for (int a = 0; a < b->p->roles; a++) {
		Now s = *from;
		if (s.at[a] == b->length[a])
			continue;
		done = false;
		if (advance(b, &s, a)) {
			moved = true;
			push(b, &s);
		}
	}
	for (int c = 0; c < b->p->m.nc; c++) {
		Now s = *from;
		if (!s.cell[c].coming)
			continue;
		coming = true;
		land(b, &s, c);
		push(b, &s);
	}
	for (int k = 0; done && k < b->p->m.nk; k++)
		b->wrong |= from->key[k].tx != 0;
	for (int c = 0; done && c < b->p->m.nc; c++) {
		int id = from->cell[c].content - 1;
		b->wrong |= id >= 0 && !from->cell[c].read &&
			    b->word[id / WORD][id % WORD].kind == STEP_WRITE;
	}
	b->wrong |= done ? coming : !moved && !coming;
}

static bool brute_wrong(Brute *b, const Prog *p, int trips)
{
	Now first;
	memset(&first, 0, sizeof first);
	memset(b->saw, 0, sizeof b->saw);
	memset(b->table, 0, sizeof *b->table * TABLE);
	b->p = p;
	b->n = 0;
	b->wrong = b->full = false;
	for (int a = 0; a < p->roles; a++) {
		b->length[a] = 0;
		for (int k = 0; k < trips; k++) {
			const Part *part = &p->letters[2 + k % PERIOD].of[a];
			for (int i = 0; i < part->n; i++)
				b->word[a][b->length[a]++] = part->steps[i];
		}
	}
	push(b, &first);
	for (int i = 0; i < b->n && !b->wrong && !b->full; i++) {
		Now s = b->stack[i];
		expand(b, &s);
	}
	return b->wrong;
}

/* ------------------------------------------------------------------ both */
typedef struct {
	int proved, covered, refuted, cut, large, wrong;
} Tally;

static bool checker_wrong(const Prog *p, int trips)
{
	Why why = {0};
	return !words_run(&p->m, &p->words, 1, trips, 0, NULL, NULL, &why);
}

static void disagree(const Prog *p, int number, int trips, bool refuted)
{
	printf("program %d, %d trips: the verifier says %s, the interleavings do not\n", number,
	       trips, refuted ? "refuted" : "proved");
	for (int a = 0; a < p->roles; a++)
		for (int i = 0; i < p->body[a].n; i++) {
			const Move *m = &p->body[a].at[i];
			printf("  role %d: kind %d ring %d off %d parity %d n %d\n", a, m->kind,
			       m->ring, m->off, m->parity, m->n);
		}
	for (int r = 0; r < p->rings; r++)
		printf("  ring %d: %d slots, counts %d %d\n", r, p->slots[r], p->count_full[r],
		       p->count_empty[r]);
}

static void judge(Brute *b, const Prog *p, int number, Tally *t)
{
	WordsResult w, joined;
	WordsLimits limits = {{1, 1, 1, 1}, 20000};
	words_prove(&p->m, &p->words, limits, &w);
	bool refuted = w.verdict == WORDS_REFUTED;
	bool covered = words_cover(&p->m, &p->words, 20000, &joined);
	t->covered += covered;
	if (covered && refuted) {
		printf("program %d is refuted, but proved when states are joined\n", number);
		t->wrong++;
	}
	int most = refuted ? (int)w.at.trips : 3;
	if (refuted && !checker_wrong(p, most)) {
		t->cut++; /* only the ends of letters are in the way: the answer is unknown */
		return;
	}
	for (int trips = refuted ? most : 0; trips <= most && trips <= MOST_TRIPS; trips++) {
		bool wrong = brute_wrong(b, p, trips);
		t->large += b->full;
		if (b->full || wrong == refuted)
			continue;
		disagree(p, number, trips, refuted);
		t->wrong++;
		return;
	}
	t->large += most > MOST_TRIPS;
	t->refuted += refuted;
	t->proved += !refuted;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10000;
	Brute *b = calloc(1, sizeof *b);
	Tally t = {0};
	seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
	b->stack = calloc(TABLE / 2 + 1, sizeof *b->stack);
	b->table = calloc(TABLE, sizeof *b->table);
	for (int i = 0; i < n && t.wrong < 3; i++) {
		Arena *arena = arena_new();
		judge(b, make(arena), i, &t);
		arena_free(arena);
	}
	printf("%d programs: %d proved (%d by joining states), %d refuted, %d left open, %d too "
	       "large, "
	       "%d wrong\n",
	       n, t.proved, t.covered, t.refuted, t.cut, t.large, t.wrong);
	free(b->stack);
	free(b->table);
	free(b);
	return t.wrong || t.proved < n / 10 || t.refuted < n / 10 || t.large > n / 100;
}
