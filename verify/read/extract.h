/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* extract.h - private to verify/: a kernel at the ptx stage as a machine and what its
 * roles do. */
#ifndef DSL_VERIFY_EXTRACT_H
#define DSL_VERIFY_EXTRACT_H

#include "base/ptrmap.h"
#include "verify/sums/num.h"
#include "verify/run/core.h"

typedef struct {
	const char *name;
	const Ix *by;
} Named;

typedef struct Item Item;
typedef VEC(Item *) Items;
typedef enum { ITEM_STEP, ITEM_IF, ITEM_LOOP, ITEM_SHARED } ItemKind;
typedef struct Shared Shared;

/* A step whose slots are still expressions, or what stays structured: conditions and short
 * loops. */
struct Item {
	ItemKind kind;
	const Op *op;
	Step step;                                      /* key, cell, cell2: of slot 0 */
	const Ix *at_key, *at_cell, *at_cell2, *number; /* NULL: none; number goes to step.n */
	int64_t key_slots, cell_slots, cell2_slots;
	const Ix *at_byte; /* of the slot; NULL: not asked */
	int64_t last_byte; /* that it may be */
	uint32_t which;    /* lanes that do it; 0: the one that elect takes */
	const Ix **conds;
	int nconds;
	const Ix *from, *to; /* ITEM_LOOP */
	Items body;
	Shared *shared; /* ITEM_SHARED: a loop of the tree */
};

typedef struct {
	const Val *buffer;
	int64_t offset, bytes;
	int rank; /* into whose slots */
} BoxPart;

/* What one agent does. */
typedef struct {
	int warp; /* the first of the agent's warps: what it does, all do */
	int rank; /* of its CTA; where CTAs are apart, the one that is looked at */
	const Op *role;
	int64_t turns, turn; /* takes tiles turn, turn + turns, .. */
	Items items;
} Script;

/* An operation that finds something in a list, and the two numbers that stand for what each of its
 * names is there (sums/loaded_numbers.c). */
typedef struct {
	const Op *op;
	const char *a[4], *b[4], *least; /* least: NULL unless it may be negative */
} FoundBy;

typedef struct Foot Foot; /* bytes that a warp writes or reads */
typedef struct Program Program;
struct Program {
	const Kernel *k;
	Arena *arena; /* the kernel's, but for a replay */
	Machine m;
	Script scripts[MAX_AGENTS];
	int agent_of_warp[MAX_RANKS][MAX_WARPS];
	int ctas;                       /* of the cluster */
	int rank;                       /* the first of m.ranks: 0, or where CTAs are apart any */
	Named choices[MAX_CHOICES + 1]; /* what the launch decides, as it does in these runs */
	const Ix *once,
		*once_is;  /* how often the loop around all runs; what that is here; or NULL */
	const Ix *cluster; /* its number, where it has a part of a group's tile; or NULL */
	int nchoices;
	const char *tile;  /* the name that stands for the tile of an outer loop */
	VEC(Step) steps;   /* of a role in a segment, as they are made */
	const Ix *vague_x; /* an expression that a point does not decide */
	Env vague_in;      /* with what was known of its names */
	const char *vague; /* or something else */
	/* refuted or unknown before anything ran */
	DiagId code;
	Loc loc;
	const char *problem;
	LimitId limit;     /* that was met; LIMIT_NONE: it is something else */
	const Ix *differ;  /* E0414: counts that are not known to agree, where it is not 0 */
	bool differ_apart; /* in different CTAs */
	const BoxPart *parts;
	int nparts;
	/* a replay: this program with numbers for its sizes; NULL: for all sizes */
	const Program *sized;
	struct Recall *recall; /* of all programs of a kernel */
	struct Told *told;     /* the same */
	const Named *sizes;
	int nsizes;
	VEC(FoundBy) found;
	VEC(const char *) lists; /* all their numbers */
	VEC(Foot) feet;          /* of its writes and reads: of step.mask - 1 */
	struct Tree *tree;       /* of loops; NULL: it is a replay */
};

/* single_tile.c: how often the loop runs that is around all and has a trip or none; NULL: there is
 * none */
const Ix *program_once(const Kernel *k);

/* report/slot_bytes.c: of a replay's write or read, 1 + its number among p->feet; 0: it is not
 * known. */
int foot_make(Program *p, const Op *op, const Ix *byte, uint32_t lanes, Env *e);
struct Fills *fills_new(Program *p); /* no writes */
/* CTAs of a cluster that has anything to do with each other; else 1, and each is a program. */
int program_peers(const Kernel *k, int *ctas);
bool program_goes_out(const Op *op); /* it reaches another CTA's barrier or buffer */
/* Whether no CTA reaches another's of it: a barrier or a buffer. */
bool program_is_local(const Kernel *k, const Val *v);

struct Recall *recall_new(Arena *a); /* expr.c: what is made of expressions */
/* The CTAs from p->rank on. False with code, loc and problem set. */
bool program_read(Program *p, const Kernel *k);

/* What names slots in a tree of loops: of a place, from the number of its first on. 1: so; 0: it
 * has its own name; -1: it is not known. */
typedef struct {
	void *user;
	int (*slot)(void *user, const Env *env, int first, bool barrier, const Ix *at,
		    const Ix *parity, int64_t *slot, int64_t *phase);
} Framer;
/* The steps of items, after those of p->steps; false: p->vague says what is not decided. */
bool program_make(Program *p, const Env *env, const Items *items, const Framer *framer);
bool items_are_mild(const Items *items);
const char *program_vague(const Program *p); /* what was not decided, in a user's words */

/* stage.c: expressions with lets and the warp put in */
typedef struct {
	const Ix *core, *by;
} Counted;
typedef struct {
	Ctx *ctx;
	PtrMap *before; /* what was made of expressions; NULL: names are still put in */
	VEC(Named) names;
	bool compares; /* comparisons become 0 <= .. */
	bool bare;     /* no count is put in: names are bares first */
	VEC(Named) bares;
	const Ix *total, *passed, *rest; /* total = passed + rest, where total is of no size */
	const Ix *core, *core_by;        /* tiles - something, wherever it occurs */
	VEC(Counted) counts;             /* the same, of loops of a tree: the last first */
} View;
const Ix *stage(const View *s, const Ix *x);
bool stage_of_sizes(const Ix *x); /* whether it has names that are not the verifier's */
/* The same modulo d, with no remainders that d makes needless. */
const Ix *stage_modulo(Ctx *c, const Ix *x, int64_t d);

#endif
