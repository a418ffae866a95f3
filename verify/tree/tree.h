/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tree.h - private to verify/: a kernel whose loops are nested and follow each other in any
 * way. All roles go through one tree of loops; between two loops stands a segment, in which each
 * role has straight-line steps.
 *     for t { for k (0, T) .. for j (0, U) .. }  ->  s0 (s1 (s2)^T s3 (s4)^U s5)^N s6
 */
#ifndef DSL_VERIFY_TREE_H
#define DSL_VERIFY_TREE_H

#include "verify/read/read.h"

enum {
	MAX_UNITS = 64 /* rings of slots */
};

typedef struct Branch Branch;

/* How often loops run: those of one number have one, which is chosen where all its names are. */
typedef struct {
	const Ix *trip; /* of the role that is asked first */
	int agent;
	Branch *home;   /* in each of whose trips it is chosen; NULL: once */
	const Ix *by;   /* what stands for it: a name, or its number */
	const Ix *none; /* the same where it is below 0 */
	int64_t lo, hi, mod, res;
	int of;         /* another one that says it; -1: none does */
	const Ix *as;   /* in the name of that one */
	bool says;      /* it says others */
	bool rests;     /* it is made of remainders by numbers */
	bool below;     /* it may be below 0, and is used beside as the number of trips */
	uint8_t *lives; /* in which segments it must be chosen */
	int begins;     /* the first of them */
} Count;

/* A loop in one role. */
struct Shared {
	const Op *op;
	const Ix *trip, *raw;   /* in the names of the role's outer loops */
	const char *own, *rest; /* trips of this role so far; trips to come of all */
	int64_t turns, turn;    /* it takes trips turn, turn + turns, .. */
	int counters;
	const char *counter[MAX_COUNTERS + 1];
	const Ix *start[MAX_COUNTERS + 1], *step[MAX_COUNTERS + 1];
	const Ix *
		begin[MAX_COUNTERS + 1]; /* the start, and what is added, with no name for counts */
	const Ix *more[MAX_COUNTERS + 1];
	int drawn; /* the counter that is the tile of each turn, and goes on by none; -1: none */
	int count; /* of the role's */
	uint64_t touches[MAX_RANKS]; /* barriers and buffers, by place */
};

/* A step that names a slot, in a segment. */
typedef struct {
	int agent, unit; /* of the declaration's first group */
	const Ix *at, *parity;
	bool guarded; /* by a condition that is not known */
} Use;
typedef VEC(Use) Uses;

typedef struct {
	Items of[MAX_AGENTS];
	int id;
	Branch *in; /* NULL: in none */
	int at;     /* in its sequence */
	Uses *uses; /* by unit of a declaration's first group */
	VEC(struct OpenRefs *) refs;
} Segment;

typedef struct {
	VEC(Branch *) loops;
	VEC(Segment *) parts; /* one more */
} Sequence;

struct Branch {
	int id;
	Branch *up;
	int at; /* in the sequence that it stands in */
	Count *count;
	Sequence body;
	const Shared *of[MAX_AGENTS];              /* NULL: the role does not have it */
	const char *name;                          /* of its trips so far, by the period */
	int counter[MAX_AGENTS][MAX_COUNTERS + 1]; /* of the tree's: what each role's are */
	int64_t period;                            /* residues of trips that are told apart */
	int64_t first, last; /* trips at its ends that are told apart: 1, or more */
};

/* A counter that a loop carries: those of roles that begin and go on alike are one. */
typedef struct {
	const char *name;
	const Branch *of;
	int agent, number; /* who says so */
} Carried;

/* Which uses of a ring tell where it stands: all; of those on a condition, the ones whose slot goes
 * with their loop; of these, the ones in loops without others; those on no condition; of a
 * barrier's, those that test a phase, on no condition or in slots that go with their loop. */
enum { TRUST_ALL, TRUST_GOING, TRUST_INNER, TRUST_SURE, TRUST_TESTING };

/* Slots that are used in turn; in each CTA of the cluster alike, or in one. */
typedef struct {
	int first, slots; /* key or cell of the first CTA, or of that one */
	int group;        /* of its declaration's */
	bool barrier;
	int trust;  /* of which uses its position is */
	bool turns; /* of a buffer: a use names a slot by more than a number */
	bool plain; /* slots have their own names: they are not known to go in turn */
} Unit;

typedef VEC(const char *) Asked;    /* names that conditions of a role ask for */
typedef VEC(const Ix *) RoleCounts; /* trip counts of a role, in its names */

typedef struct {
	const Op *op, *role;
} Numbered;

typedef struct Tree Tree;
struct Tree {
	Arena *arena;                    /* of a tour */
	Asked *asked;                    /* by segment and role */
	RoleCounts *of_role[MAX_AGENTS]; /* one for those of a role who take the same turns */
	Program *p;
	IxFacts facts;
	RoleCounts forms;       /* in which roles write trip counts that sizes decide */
	VEC(Numbered) numbered; /* loops, in each role from 0 on */
	VEC(Loop) outer;        /* loops of few trips with others in them */
	Sequence root;
	VEC(Branch *) loops;
	VEC(Segment *) segments;
	Count counts[MAX_COUNTS];
	const char *count_name[MAX_COUNTS]; /* in a role: of its i-th */
	int ncounts;
	Carried carried[MAX_CARRIED];
	int ncarried;
	Count *count_of[MAX_AGENTS][MAX_COUNTS]; /* what a role's count is */
	Unit units[MAX_UNITS];
	int nunits;
	int *unit_of_key, *unit_of_cell; /* of all CTAs; -1: none */
	int cta_keys, cta_cells;
	bool apart;    /* loops of CTAs may differ: what no other CTA reaches is a ring of each */
	bool launched; /* what the launch says of sizes counts */
	bool among;    /* those of one role's code go one after the other, whosever they are */
	int open;      /* a unit that is found not to go in turn; -1: none */
	const Ix *unclear;             /* by how far it goes then; NULL: it is not that */
	PtrMap seen;                   /* ring.c: slots as seen from where rings stand */
	const Ix *turn_of[MAX_AGENTS]; /* the trip count of which a role takes some in turn */
};

/* branch.c: names of a role's loops, as its expressions have them */
const char *branch_own(Ctx *c, int loop);
const char *branch_rest(Ctx *c, int loop);
const char *branch_drawn(Ctx *c, int loop);
/* In the turn that is so many from the loop's ('+'), or has this number ('@') */
const char *branch_drawn_in(Ctx *c, const char *drawn, char from, int64_t turn);
const char *branch_count(Ctx *c, int count);
/* Of a count of the tree, where it is above 0, or below */
const char *branch_trips(Ctx *c, int count, bool some);

/* sums/difference.c: whether times a - b is a number, modulo mod where that is not 0; by what facts
 * say too */
bool ix_is_half(const Ix *x); /* of what is even whatever its names are: n * (n - 1) / 2 */
bool ix_apart(const Ix *a, int64_t times, const Ix *b, int64_t mod, int64_t *by);
bool ix_apart_by(Ctx *c, const Ix *a, const Ix *b, IxFacts facts, int64_t mod, int64_t *by);
bool ix_same(Ctx *c, const Ix *a, const Ix *b, IxFacts facts);

/* Where a run is: in which trip of each loop, and how often loops run. */
typedef enum { TRIP_NONE, TRIP_EXACT, TRIP_STEADY, TRIP_LAST } TripKind;
typedef struct {
	int32_t kind;
	int32_t n;       /* exact: trips done; last: trips to do */
	int32_t residue; /* of trips done */
} Trip;
typedef enum { CLASS_NONE, CLASS_BELOW, CLASS_LONG, CLASS_EXACT /* and its number */ } Class;
typedef struct {
	Trip trip[MAX_BRANCHES];
	int32_t count[MAX_COUNTS]; /* class */
} Where;

/* ring.c */
typedef struct {
	const Ix *x;  /* of which a slot or a parity is made; NULL: of none */
	int64_t each; /* slots for each 1 of x */
} Position;
Position position_in(Ctx *c, const Ix *x, int64_t each);
/* Which of a declaration's groups a slot is of; below 0: it is not known. */
int group_in(const Tree *t, int unit, const Ix *at, const Position *p);

/* With what facts say of what is compared in it; NULL stays. */
const Ix *frame_simple(const Tree *t, const Ix *x);
/* frame.c: where rings stand. Trips done are period * u + residue. */
typedef struct {
	const Ix *u[MAX_BRANCHES]; /* NULL: not in it */
	int64_t residue[MAX_BRANCHES];
	const Ix *carried[MAX_CARRIED];
	int32_t count[MAX_COUNTS];
	bool gone[MAX_COUNTS];    /* it has another value there, which is not known */
	bool ahead[MAX_BRANCHES]; /* not in it yet, and it may have no trip */
} Scope;
typedef struct {
	const Ix *of[MAX_UNITS]; /* NULL: it is not used again */
	const Where *at;         /* NULL: anywhere */
} Refs;
void find_units(Tree *t);
void find_uses(Tree *t);
void scope_at(const Tree *t, const Where *at, Scope *s);
bool takes_part(const Branch *in, const Where *at, int agent);
/* The position of each ring from which its slots are named in a segment: anywhere in its loops,
 * and where a run is. */
typedef struct OpenRefs {
	Where at;
	Refs refs, bare;         /* where no count is below 0; as they are made */
	View *views[MAX_AGENTS]; /* made when asked for */
} OpenRefs;
OpenRefs *refs_open(Tree *t, const Segment *g, const Where *at);
const View *view_open(const Tree *t, OpenRefs *open, int agent); /* a role's names there */
void refs_at(Tree *t, const Segment *g, const Where *at, Refs *refs);
/* How far rings turn from one segment to another; in the second, names are `then` in those of the
 * first. False: it is not known of t->open. */
typedef struct {
	Tree *t;
	const Branch *into, *next, *out; /* what is begun, what goes on, what is left; NULL: none */
	const Where *from, *to;
	const Refs *before, *after;
} Move;
bool move_turns(const Move *m, int64_t *by_unit);
/* A use in its frame. 1: done; 0: its unit is plain; -1: it is not known */
int frame_use(Tree *t, const Refs *refs, const View *v, int first, bool barrier, const Ix *at,
	      const Ix *parity, int64_t *slot, int64_t *phase);
void scope_view(const Tree *t, const Scope *s, int agent, View *v);

/* A count of a class; trips of a loop so far. */
const Ix *count_is(const Tree *t, const int32_t *class, int i);
const Ix *scope_trips(const Tree *t, const Scope *s, const Branch *b);
/* What a role says in names of the tree; whether it takes part in a trip of a loop. */
const Ix *scope_put(const Tree *t, const Scope *s, int agent, const Ix *x);
bool is_in_turn(const Branch *in, const Scope *s, int agent);

/* read/counters.c: what the i-th counter of the tree is, in a trip of its loop. */
const Ix *scope_carried(const Tree *t, const Scope *s, int i, const Trip *trip);

/* distinct_trips.c: false where nothing more is told apart. `ends`: x hangs on trips. */
bool tell_apart(Tree *t, const Ix *x, int agent, Env *known, bool *ends);
bool tell_counts(Tree *t);
/* What one proof of a kernel told apart, from which the next one starts. */
typedef struct Told {
	Arena *arena; /* of one tour, then of the next */
	int loops, units;
	int64_t first[MAX_BRANCHES], last[MAX_BRANCHES];
	int trust[MAX_UNITS];
	bool plain[MAX_UNITS];
} Told;
void told_keep(Told *told, const Tree *t);
void told_use(const Told *told, Tree *t);
bool tell_few(Tree *t);

/* sums/dependent_counts.c: counts that trips of outer loops say, and that others say. */
const Ix *scope_said(const Tree *t, const Scope *s, const Count *n); /* NULL: none says it */
void find_said(Tree *t);
bool counts_agree(const Tree *t, const int32_t *class); /* there is a run with these */
/* Whether x is a number modulo mod, with sizes for counts, and what those say that are numbers. */
bool apart_by_sizes(const Tree *t, const Scope *s, const View *known, const Ix *x, int64_t mod,
		    int64_t *by);
bool apart_at(const Tree *t, const Where *at, const Ix *x, int64_t mod, int64_t *by);
/* What is 0 where a run is; NULL: anywhere. */
typedef struct {
	const Ix *at[MAX_COUNTS];
	int n;
	View sizes; /* counts as sizes have them */
} Zeros;
void zeros_at(const Tree *t, const Where *at, Zeros *z);
int64_t most_trip(const Branch *b); /* of a loop that has any: the number of its last */
void find_bounds(Tree *t);
const Ix *frame_within(const Tree *t, const Ix *x, int64_t n); /* as a remainder, if it is one */

/* residue.c: all that expressions can be modulo something where others are 0; false: `seen` says
 * no, or there is too much to try. */
enum { MAX_RESIDUES = 3 };
typedef struct {
	const Ix *x;
	int64_t mod;
} Residue;
typedef bool ResiduesSeen(void *user, const int64_t *v);
void find_rests(Tree *t);
bool residues_agree(const Tree *t, const Where *at); /* counts that are numbers there */
bool residues_try(const Residue *of, int n, const Zeros *z, ResiduesSeen *seen, void *user);

/* steps_between.c: steps of roles that are stuck in a segment go after the next loop, which they
 * leave out; false: there are none. */
bool put_off(Tree *t, const Segment *g, State *s, const Letter *letter);

/* sums/counts.c */
int64_t long_from(const Tree *t, const Count *n);
Num count_num(const Tree *t, const Count *n, int32_t class);
bool put_numbers(const Tree *t, const Segment *g, const Where *at, int agent, Env *e);
int64_t steady_from(const Branch *b, const Shared *sh);
Num trips_at(const Count *n, const Where *at); /* where it is chosen */

/* span.c */
bool find_residues(Tree *t); /* false: some recur too late */
void find_spans(Tree *t, bool once);
void name_slots(Tree *t);

/* tour.c: all runs through the tree */
typedef struct {
	bool proved;
	int states;
	const char *limit; /* NULL: a run seems to fail, or is not followed */
	LimitId met;       /* LIMIT_NONE: the limit is something that is not followed */
	Why why;
} TourResult;
void tree_tour(Tree *t, int max_states, TourResult *out);

#endif
