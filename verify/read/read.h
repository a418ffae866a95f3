/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* read.h - private to extract.c, shape.c, script.c and static_rules.c: a kernel being read. */
#ifndef DSL_VERIFY_READ_H
#define DSL_VERIFY_READ_H

#include "verify/read/extract.h"

typedef struct {
	const Val *val;
	int first; /* key or cell of slot 0 in the first CTA */
	int64_t slots;
} Place;
typedef struct {
	const Op *op;
	const Ix *trip;
	int depth;
	int64_t lo, hi;
} Loop;
typedef VEC(Loop) Loops;
/* A loop with the trips of another, but no more than so many. */
typedef struct {
	const Op *op, *by;
	const Ix *most;
} Led;
/* An expression that tells warps apart. Of an open one, a condition of what only reads, it matters
 * only whether it is decided for the warp: else a run may go either way. */
typedef struct {
	const Ix *x;
	bool open;
} ByWarp;

/* What the kernel's facts make of an expression, and within which bounds it is. */
typedef struct {
	const Ix *of, *x;
	int64_t lo, hi;
} Simple;

enum { LANES = 32 };

/* What each lane of a warp sees of an expression. */
typedef struct {
	bool known;     /* the thread alone decides it, in each lane */
	uint32_t which; /* lanes in which it is not 0 */
	int64_t value[LANES];
} ByLane;

/* What was made of expressions before, whichever program, agent or turn asked: they are the
 * context's, and what is kept of one is a matter of it alone. */
typedef struct Recall {
	PtrMap by_lane;  /* an expression, to what each lane sees of it */
	PtrMap names_in; /* an expression, to its names */
	PtrMap made;     /* of replays: stage_once's */
} Recall;

/* Which view it is. Of one agent no two have all of these in common: names stay when their loop
 * ends. */
typedef struct {
	int names, counts;
	const Ix *total, *passed, *rest, *core, *core_by;
} Here;

typedef struct Reader {
	Program *p;
	IxFacts facts;
	VEC(Named) equals;  /* sizes that facts say are another */
	VEC(Named) fixed;   /* sizes of which they leave one value */
	VEC(Simple) simple; /* asked for before: agents have much in common */
	const char *warp, *tid, *lane;
	VEC(const Val *) accs;
	VEC(Place) places;
	VEC(ByWarp) by_warp;
	VEC(BoxPart) parts;
	int first_named, named_ids[16 * MAX_RANKS + 1];
	int cta_keys, cta_cells; /* of one CTA */
	View of_rank[MAX_RANKS]; /* the kernel's lets, with the rank put in */
	/* of the agent that is being read */
	Script *s;
	View lets;    /* with its warp put in */
	PtrMap made;  /* what was made of expressions with them; before, with one warp put in */
	Loops loops;  /* its shared loops, in order */
	PtrMap bound; /* the names of these, and of the tiles that their turns draw */
	VEC(Led) led; /* in a tree: others, of few trips */
	/* script.c */
	View view;   /* of the segment that is being filled */
	Here here;   /* which view it is */
	PtrMap seen; /* what was made of expressions with it */
	int agent, lanes;
	uint32_t which; /* lanes; 0: one that elect chooses */
	bool parted;    /* lanes may go another way, and which is not known */
	bool certain;   /* not within a condition that a run decides */
	bool outside;   /* a copy's elements, none of which lies within its tensor */
	Items *list;
} Reader;

Simple read_simple(Reader *r, const Ix *x);
bool read_problem(Reader *r, DiagId code, Loc loc, const char *fmt, ...) PRINTF(4, 5); /* false */
bool read_limit(Reader *r, LimitId limit, Loc loc);        /* false: it was met */
bool read_is_constant(const Kernel *k, const Operand *in); /* of what is constant, or its map */
bool read_counts(const Reader *r, const Op *op);           /* does anything here */
bool read_is_aligned(const Op *op);                        /* asks for whole warps */
uint32_t read_acc_mask(const Reader *r, const Op *op);
const Place *read_place(const Reader *r, const Val *v);
int read_named(Reader *r, int64_t id, int warps, int rank);  /* rank -1: the cluster's */
int read_first(const Reader *r, const Place *at, int rank);  /* key or cell of slot 0 */
void read_begin(Reader *r, Script *s);                       /* its lets and shared loops */
const Ix *read_seen(const Reader *r, const Ix *x, int rank); /* with the kernel's lets */
bool read_only_reads(const Op *op); /* nothing in it waits or writes shared memory */
bool read_is_loop(const Op *op);
const Op *read_outer_loop(const Op *op); /* NULL: it is in none */
bool read_is_plain(const Op *op);        /* no barrier in it, nothing asynchronous */
bool read_is_shared_loop(const Reader *r, const Op *op);
const Led *read_led(const Reader *r, const Op *op); /* NULL: it is none */
const Ix *read_trips(Reader *r, const Ix *from, const Ix *to);

/* sums/loaded_numbers.c: what operations find, as functions of what they are asked */
void read_found(Reader *r);
void read_put_names(Reader *r, const Op *op, View *v); /* that it binds, or let */

bool read_is_once(const Reader *r,
		  const Op *op); /* single_tile.c: its trips, of one or none, are known */

/* agents.c: warps that are alike */
void read_put_choices(Reader *r, View *v);
void read_by_warp(Reader *r);
void read_put_warp(Reader *r, View *v, int warp);
const Op *read_role_of(const Kernel *k, int warp); /* NULL: it has none */
bool read_agents(Reader *r);
bool read_is_tile(const Val *v, Space s); /* extract.c */

/* expr.c: with lets and names put in */
const Ix *read_expr(Reader *r, const Ix *x);
void read_put_name(Reader *r, const char *name, const Ix *by);
void read_put_ring(Reader *r, const Op *op, const Ix *position); /* slot and phase of its loop */
const ByLane *read_by_lane(const Program *p, const Ix *x);
bool read_of_lane(Reader *r, const Ix *x);
/* Of which lanes a condition on the lane alone holds; false: it is about more. */
bool read_lanes_of(Reader *r, const Ix *x, uint32_t *which);
bool read_is_by_lane(Reader *r, const Ix *x); /* the thread alone decides it, in each lane */
/* Whether each lane of one warp sees the number that it sees in the other. */
bool read_same_by_lane(Reader *r, const Ix *x, const Ix *y);

/* sums/size_facts.c: what facts say of sizes */
void read_facts(Reader *r, bool launched);
void read_equals(Reader *r);
void read_put_equals(Reader *r, View *v);
Num read_number(Reader *r, const Ix *x); /* of sizes */

bool read_statics(Reader *r);         /* static_rules.c: storage, boxes, counts */
bool read_tickets(Reader *r);         /* tickets.c: tiles that CTAs draw */
bool read_grid(Reader *r);            /* rules/grid_waits.c: CTAs that wait for each other */
int64_t read_box_bytes(const Op *op); /* of its tensor map; 0: it has none */
PartSet read_part(const Reader *r, const Op *op, int from, int to, int64_t *bytes);
bool read_goes_to(const Reader *r, const Op *op, int rank, int to); /* a CTA's load, into another */
bool read_script(Reader *r, int agent);                             /* script.c: steps */
Item *read_item(Reader *r, ItemKind kind, const Op *op);
bool read_into(Reader *r, Items *to, const Block *b);
/* script_op.c */
void read_put(Reader *r, Item *it, StepKind kind);
bool read_in_space(const Operand *in, Space s);
bool read_by_whole_warps(Reader *r, const Op *op);
bool read_op(Reader *r, const Op *op);
/* tree.c, branch.c: loops in any way */
bool read_tree(Reader *r);                           /* which trips each role takes */
bool read_branch(Reader *r, const Op *op);           /* a loop in a role */
const Ix *read_led_by(Reader *r, const Led *led);    /* how often it runs */
bool read_names_loops(const Reader *r, const Ix *x); /* whether r->loops bind a name of it */
void read_counts_in(Reader *r, const Op *loop);      /* how often loops in it run; NULL: all */
bool read_merge(Reader *r);                          /* the loops of all roles */
bool read_takes_turns(Reader *r, Script *s, const Ix *tiles, const Ix *trip); /* shape.c */
/* E0414, where sizes make them differ */
bool read_differ(Reader *r, int a, const Op *at, const Ix *x, int b, const Ix *y);
const Ix *read_core(const Ix *trip, int64_t *more); /* + more */
bool read_repeats(StepKind kind);                   /* repeat.c: once may be as good as often */
bool read_said(const Machine *m, const Items *list, const Item *it);
void read_own(Reader *r, Script *s); /* rules/thread_rules.c: what other lanes do does nothing */
bool read_groups(Reader *r);         /* rules/warpgroup_rules.c: warpgroups go together */
bool read_registers(Reader *r);      /* registers.c: roles have what they need */

#endif
