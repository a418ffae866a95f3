/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* random.h - random role programs: what they are made of, and the two judges of random.c.
 *     Source (rings, roles, their moves) -> prog_build -> Machine and letters -> run_wrong(trips)
 */
#ifndef DSL_TESTS_CHECK_RANDOM_H
#define DSL_TESTS_CHECK_RANDOM_H

#include "verify/run/core.h"

enum {
	ROLES = 4,
	WARPS = 4, /* of all roles */
	RINGS = 3,
	CTAS = 2,
	NAMED = 6,
	MOVES = 48, /* of a role, in one part */
	LOAD_BYTES = 16,
	PERIOD = 4,
	MOST_TRIPS = 7
};

/* Where a move stands: before the loop, in it, after it. */
typedef enum { PRE, LOOP, POST, PARTS } BodyPart;
typedef enum { AT_FULL, AT_EMPTY, AT_NAMED } Barrier;

/* A step of a role, of a ring at a distance from the trip's own position. */
typedef struct {
	StepKind kind;
	Barrier barrier;
	int ring; /* or the named barrier */
	int by;   /* LOAD: the ring whose barrier it reaches */
	int rank; /* of the barrier and the slot */
	int off;
	int n, parity, lanes;
	uint32_t part;
	bool late;    /* not in the first trip; after the loop: only if there was a trip */
	bool nowhere; /* at a slot that there is not */
} Move;
typedef struct {
	Move at[MOVES];
	int n;
} Body;
typedef struct {
	int slots; /* 0: it has named barriers, and one slot */
	int parts; /* that loads fill; 0: generic */
	int count[2][CTAS];
} Ring;
typedef struct {
	int rank, warps;
	Body part[PARTS];
	bool meets_first, meets_last;
} Role;
typedef struct {
	int rings, roles, ctas, named;
	Ring ring[RINGS];
	Role role[ROLES];
	struct {
		int rank, warps;
	} barrier[NAMED];
	bool fenced[CTAS]; /* the inits */
	bool relaxed, drains;
	int trips_lo, trips_hi; /* trips_hi 0: any number */
} Source;

/* The letters: the start; the end with no trip, with 0 to 3 modulo 4; trip 0; trips modulo 4. */
enum { L_START, L_NONE, L_END, L_FIRST = L_END + PERIOD, L_TRIP, LETTERS = L_TRIP + PERIOD };
typedef struct {
	Source src;
	int first_key[RINGS], first_cell[RINGS], cta_keys, cta_cells, first_named;
	Machine m;
	Letter letters[LETTERS];
	Step steps[LETTERS][ROLES][MOVES + 32];
} Prog;

int random_below(int n);
bool chance(int percent);
void random_seed(uint64_t seed);

/* random_make.c: one move after those of a part */
Move *move_put(Source *s, int role, BodyPart part, Move m);
Move move_on(StepKind kind, Barrier barrier, int ring, int rank);
Move move_plain(StepKind kind, int n);
/* random_read.c */
typedef enum { BY_READ, BY_MMA, BY_STORE } Way;
typedef struct {
	int ring, by; /* whose slots; whose barrier says that they are full */
	Way way;
	bool each;       /* lane gives the slot back for itself */
	bool late;       /* gives the slot back one trip later */
	bool fences;     /* the reader does */
	bool free[CTAS]; /* at whose barriers */
} Reader;
Way way_random(bool groups);
void reading_generic(Source *s, int role, int ring, int lanes, bool each);
void reading_put(Source *s, int role, const Reader *r);
void reader_put(Source *s, int role, const Reader *r);

Source source_make(void);
void source_change(Source *s);
void source_print(const Source *s);
int source_warps(const Source *s, int rank); /* of a CTA; -1: of all */
bool source_uses(const Source *s, StepKind kind);
bool source_loads_abroad(const Source *s);
bool source_sends(const Source *s, int role); /* arrives at barriers of another CTA */
Prog *prog_build(Arena *arena, const Source *s);

/* What the verifier says of it. By time, a load orders what its issuer did before; by knowledge it
 * does not. In neither case is what an arrival at another CTA hands on less than what it knows. */
typedef enum { BY_TIME, BY_KNOWLEDGE } Order;
typedef enum { SAID_PROVED, SAID_REFUTED, SAID_OPEN } SaidKind;
typedef struct {
	SaidKind verdict;
	int trips; /* refuted: in a run of so many */
	Why why;
} Said;
bool prog_prove(Prog *p, Order order, Said *said); /* false: open, or the run does not fail */
bool prog_joins(Prog *p);                          /* proved by joining states */

/* Takes one move after another from a source, as long as it differs. */
typedef bool SourceDiffers(void *user, const Source *s);
void source_shrink(Source *s, SourceDiffers *differs, void *user);

/* All interleavings of one trip count. */
typedef struct Runs Runs;
Runs *runs_new(void);
void runs_free(Runs *r);
bool runs_wrong(Runs *r, const Prog *p, int trips);
bool runs_full(const Runs *r); /* not all were explored */
int runs_states(const Runs *r);
const char *runs_why(const Runs *r);

#endif
