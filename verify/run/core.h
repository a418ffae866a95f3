/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* core.h - private to verify/: an abstract machine of roles, barriers and buffers. A run
 * is a sequence of letters, which all roles read alike; a letter gives each role straight-line
 * steps. Waits are for phases, which only advance, so one greedy run stands for all
 * interleavings as long as everything that must be ordered is *known* to be ordered. See
 * docs/verification-inside.md. */
#ifndef DSL_VERIFY_CORE_H
#define DSL_VERIFY_CORE_H

#include "verify/limits.h"
#include "ir/ir.h"

typedef enum {
#define STEP(id, text) STEP_##id,
#include "verify/steps.def"
	STEP_COUNT
} StepKind;
typedef enum {
	WHY_NONE,
#define WHY(id, code, text) WHY_##id,
#include "verify/whys.def"
	WHY_COUNT
} WhyId;

enum {
	MAX_WARPS = 32,            /* of a CTA */
	MBAR_MOST = (1 << 20) - 1, /* arrivals, and bytes, that an mbarrier counts */
	NO_FACT = -1
};
__extension__ typedef unsigned __int128 AgentSet;
#define AGENT(a) ((AgentSet)1 << (a))
typedef uint64_t PartSet; /* boxes of a slot, in the order in which they are found */

/* The first of some. All of them: for (AgentSet left = set; left; left &= left - 1) */
static inline int agent_first(AgentSet set)
{
	uint64_t low = (uint64_t)set;
	return low ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t)(set >> 64));
}

/* Zeroed in full before it is filled: letters are compared by their bytes. */
typedef struct {
	const Op *op;
	PartSet mask; /* LOAD: parts of the slot; MMA, TOUCH: accumulators; WRITE, READ: Foot;
		       * ARRIVE: 1 if at other times other lanes arrive at the other CTA */
	int32_t n;    /* count, bytes, parity, groups left, warps that meet, registers; READ, FENCE:
		       * 1: by lanes that the warp has fences for, by these */
	int16_t key, cell, cell2; /* barrier; buffer slots; -1: none */
	int8_t kind, lanes;       /* lanes of each warp that do it: 1 or 32 */
	int16_t others;   /* 1: lanes do it that made no barrier, where another of the warp did */
	int16_t constant; /* LOAD: 1: of a tensor that no launch ahead may still write */
} Step;

/* Warps of a CTA that behave alike are one agent. */
typedef struct {
	const char *name;
	int warps, regs; /* regs: a thread has at entry */
	int rank;        /* of its CTA in the cluster */
} Agent;
typedef struct {
	const char *name;
	int slot;   /* -1: a barrier with a number */
	bool named; /* bar.sync and the like: counts warps, has no parity */
	int warps;  /* named: that meet */
	int rank;   /* -1: of the cluster */
	AgentSet waiters, arrivers;
	int first, slots; /* of the ring that turns with the main loop's position; slots 0: none */
} Key;
typedef struct {
	const char *name;
	int slot;
	PartSet full; /* parts that make the slot whole; 0: not loaded in parts */
	int rank;
	AgentSet readers, writers; /* writers through the generic proxy */
	int first, slots;          /* as of Key */
	/* cells of its CTA, from the first, that have bytes in common with it; that may have,
	 * wherever its ring and theirs stand */
	uint64_t over[MAX_CELLS / 64], over_turned[MAX_CELLS / 64];
} Cell;

typedef struct {
	Arena *arena;
	Agent agents[MAX_AGENTS];
	Key *keys;
	Cell *cells;
	int na, nk, nc;
	bool exact;     /* follow who arrived, so that it is known who knows that a phase is over */
	bool pdl;       /* earlier launches may still run */
	bool physical;  /* slots have their own names in this run, not those of a frame */
	int ranks;      /* CTAs of the cluster; their keys and cells are alike, rank by rank */
	int meet;       /* key of the cluster's barrier, which exits count for, plus 1; 0: none */
	bool regs_late; /* registers are taken after the start */
	AgentSet rough; /* who accesses slots by some lanes, as if all did, and arrives by these */
	bool in_turns;  /* other lanes of a warp fence for the async proxy at other places */
	AgentSet setters;            /* that set their registers more than once */
	AgentSet mates[MAX_AGENTS];  /* with warps of the same warpgroups, itself too */
	AgentSet senders[MAX_RANKS]; /* that arrive at barriers of another CTA */
	/* by such a step: of one lane, the same each time; of others */
	const Step *sent[MAX_RANKS][MAX_AGENTS], *sent_each[MAX_RANKS][MAX_AGENTS];
	/* Layout: made by machine_layout. Of what is one of two the second is the bit after the
	 * first: done and prev, came and came_last, read and left, made and fenced, set and
	 * set_before. */
	int words, nfacts, holders; /* of a set of facts; who may know one */
	int *f_init, *f_done, *f_prev, *f_seen, *f_came, *f_came_last, *f_wrote, *f_under, *f_read,
		*f_left, *f_made, *f_fenced, *f_sent, *f_sent_each, *f_set, *f_set_before;
	int f_grid; /* earlier launches are over */
	uint64_t *all;
	uint64_t *made;   /* f_made */
	uint64_t *timely; /* facts about what happened, not about memory: loads carry them */
	uint64_t *inits;  /* f_init: what a relaxed barrier carries */
	uint64_t *abroad; /* all but generic writes: what an arrival at another CTA carries */
	int cells_each;   /* of a CTA */
	uint64_t (*written)[MAX_CELLS / 64]; /* by agent: those of its CTA that it writes to */
	size_t off_keys, off_cells, off_facts, bytes;
	bool alike;       /* what one lane knows all know: by time alone it is so */
	bool inits_plain; /* the target has no fence of them, nor whom they would be fenced for */
	struct Fills *fills; /* of a replay: which bytes are written; NULL: slots alone */
} Machine;

typedef struct {
	uint64_t cells[MAX_CELLS / 64];
	uint32_t acc, pad;
} Group;
/* What stands in an agent's way, more of which forbids more: states that are joined have both. */
typedef struct {
	/* Read through the generic proxy and not fenced since: by all lanes, by one, by those for
	 * which the warp has fences of their own; fenced by all that read, which have not met
	 * since. */
	uint64_t bare[MAX_CELLS / 64], bare_one[MAX_CELLS / 64], bare_some[MAX_CELLS / 64],
		shut[MAX_CELLS / 64];
	/* Read by one lane, or stored from by one that waited for that; written by one: the others
	 * have not met it since. */
	uint64_t read_one[MAX_CELLS / 64], wrote_one[MAX_CELLS / 64];
	/* Written by one lane and fenced before the others knew of that: their fence was none. */
	uint64_t fenced_one[MAX_CELLS / 64];
	uint64_t handed[MAX_CELLS / 64]; /* written, and fenced by who wrote */
	uint64_t stored[MAX_CELLS / 64]; /* written other than by copies */
	uint64_t told[MAX_CELLS / 64]; /* read by all, each of which has arrived since for itself */
	/* So once, but that all have read does not say that each had fenced that before. */
	uint64_t told_bare[MAX_CELLS / 64];
	uint64_t again[MAX_CELLS / 64]; /* since then one lane read it: of the others it is lost */
	uint32_t dirty;                 /* accumulators used since the last wgmma.fence */
	uint32_t sent; /* CTAs at which lanes arrived each for itself, which have not met since */
	uint64_t made; /* 1: one lane made barriers, and the others have not met it since */
} Owed;
typedef struct {
	/* Those that are committed, oldest first; after them what came since the last commit.
	 * Cells are counted from the CTA's first. */
	Group mma[MAX_GROUPS + 1];
	Group bulk[MAX_GROUPS + 1];
	Group copies[MAX_GROUPS + 1]; /* writes of all lanes, each of which waits for its own */
	/* From here on to owed.dirty: sets of cells, which rename_slots.c takes as one list. Read,
	 * written, written and then fenced by its lanes, which have not met since. */
	uint64_t loose[MAX_CELLS / 64], wrote[MAX_CELLS / 64], fenced[MAX_CELLS / 64];
	/* Read in another CTA by lanes which have not met since: cells of that number there. */
	uint64_t far[MAX_CELLS / 64];
	Owed owed;
	int32_t regs;
	uint8_t nmma, nbulk, gone, sets; /* sets: setmaxnreg so far, modulo 2 */
	uint8_t ncopies, pad[7];
} AgentState;
typedef struct {
	int32_t need, arrived, tx;
	uint16_t parity;           /* of the phases that are done */
	uint8_t loads, last_loads; /* beside `from` and `last`: copies arrived too */
	AgentSet waited,
		meeting;     /* agents that saw the last phase; that stand at a named barrier */
	AgentSet from, last; /* agents that arrived in this phase, in the last */
} KeyState;
typedef enum { CELL_READ, CELL_WRITTEN } CellMode;
typedef struct {
	AgentSet readers, writers;
	PartSet mask;    /* parts loaded */
	int16_t pending; /* barrier that the load will reach, -1: none */
	uint8_t mode;
	uint8_t gone;   /* its bytes were written by way of another cell */
	uint8_t over;   /* what is there is over content that nobody read */
	uint8_t late;   /* threads wrote when parts were loaded already */
	uint8_t parted; /* parts were loaded when others had landed already */
} CellState;
typedef struct State State; /* Machine.bytes bytes; equal states are equal bytes */

bool why_is_open(WhyId id);
bool why_is_limit(WhyId id); /* the verifier does not follow it: unknown, not wrong */

typedef struct {
	WhyId id;
	int agent, other, key, cell;
	int64_t n, m, bytes;
	const Step *step;
} Why;

typedef struct {
	const Step *steps;
	int n;
} Part;
typedef struct {
	Part of[MAX_AGENTS];
} Letter;

/* Called after each step of a traced run; at the end, for each agent that is stuck at one. */
typedef void StepSeen(void *user, int agent, const Step *step, bool stuck);

void machine_layout(Machine *m); /* after agents, keys and cells are filled */
State *state_new(const Machine *m, Arena *a);
void machine_overlaps(Machine *m); /* after the rings that turn are known */

/* report/slot_bytes.c */
void fills_begin(struct Fills *f);
/* False: to bytes that the agent has written and fenced, and that nobody has read. */
bool fills_write(struct Fills *f, int agent, const Step *st);
void fills_fence(struct Fills *f, int agent);
void fills_read(struct Fills *f, int cell);
void fills_meet(struct Fills *f, int agent); /* the lanes of its warp */
/* Whether lanes read nothing that others of their warp wrote and they have not met since. */
bool fills_own(const struct Fills *f, int agent, const Step *st);

/* Runs each agent's steps to the end, in place. False with *why for what is wrong. */
bool letter_run(const Machine *m, State *s, const Letter *l, StepSeen *seen, void *user, Why *why);
bool state_finish(const Machine *m, const State *s, Why *why); /* all agents have exited */

/* rename_slots.c: the names of a ring's slots are relative to where the main loop stands, so that
 * its positions need not be told apart. A frame is a position; slot s of it is slot (s - frame) of
 * frame 0. */
typedef struct {
	uint64_t bits; /* of a word of facts, that move by so many */
	int word, by;
} Moved;
typedef struct {
	int16_t *key, *cell, *holder; /* new number of each */
	uint8_t *flip;                /* of each key: its phases have another parity */
	VEC(Moved) facts;             /* by word */
	uint64_t *word;               /* scratch: one of each holder */
} Turn;
/* The frame of each key, of each cell. */
Turn *turned_by(const Machine *m, Arena *a, const int64_t *keys, const int64_t *cells);
void turn_state(const Machine *m, const Turn *t, const State *from, State *to);

/* join_states.c: states that differ in what is known only, and in what it is needed for */
typedef struct {
	State *state;
	int version, done; /* of the state; that was followed */
} Stand;
typedef VEC(Stand) Head; /* states, no two of which are alike */
/* Settles the state and joins it to what stands there: its number. Where none is alike it stands
 * there itself, and *s is room for another. -1: it would be one more than so many. Scratch is room
 * for a set of facts. */
int head_join(const Machine *m, Arena *a, Head *h, int most, State **s, uint64_t *scratch);

/* The first cell of an agent's CTA, of m->cells_each. */
static inline int cells_of(const Machine *m, int agent)
{
	return m->cells_each * m->agents[agent].rank;
}
static inline AgentState *agent_of(const Machine *m, State *s, int agent)
{
	(void)m;
	return (AgentState *)(void *)s + agent;
}
static inline KeyState *key_of(const Machine *m, State *s, int key)
{
	return (KeyState *)(void *)((char *)s + m->off_keys) + key;
}
static inline CellState *cell_of(const Machine *m, State *s, int cell)
{
	return (CellState *)(void *)((char *)s + m->off_cells) + cell;
}

/* facts.c: who knows what. A holder is a number: an agent, each of its warps, of all; an agent,
 * each warp of itself only; a key, given by its last phase; a key, gathered by this one. */
static inline int knows_agent(const Machine *m, int agent)
{
	(void)m;
	return agent;
}
static inline int knows_own(const Machine *m, int agent)
{
	return m->na + agent;
}
static inline int knows_past(const Machine *m, int key)
{
	return 2 * m->na + key;
}
static inline int knows_next(const Machine *m, int key)
{
	return 2 * m->na + m->nk + key;
}
/* Word w of the facts of each holder, one after the other. */
static inline uint64_t *facts_word(const Machine *m, const State *s, int w)
{
	char *facts = (char *)(uintptr_t)s + m->off_facts;
	return (uint64_t *)(void *)facts + (size_t)w * (size_t)m->holders;
}
static inline uint64_t fact_bit(int fact)
{
	return (uint64_t)1 << (fact & 63);
}
static inline bool fact_in(const Machine *m, const State *s, int holder, int fact)
{
	return facts_word(m, s, fact >> 6)[holder] & fact_bit(fact);
}
static inline void fact_set(const Machine *m, State *s, int holder, int fact)
{
	facts_word(m, s, fact >> 6)[holder] |= fact_bit(fact);
}
static inline bool fact_known(const Machine *m, const State *s, int agent, int fact)
{
	return fact != NO_FACT && fact_in(m, s, knows_agent(m, agent), fact);
}
void fact_make(const Machine *m, State *s, int agent, int fact); /* by the agent, of itself */
void fact_forget(const Machine *m, State *s, int fact);          /* by everyone */
void pair_forget(const Machine *m, State *s, int fact);          /* and the one after it */
void pairs_forget(const Machine *m, State *s, const int *of_agent, AgentSet agents);
void facts_add(const Machine *m, State *s, int to, int from);
void facts_add_of(const Machine *m, State *s, int to, int from, const uint64_t *set);
void fact_age(const Machine *m, State *s, int fact); /* what it was is the one after it */
/* Who knows that all of `last` arrived in a key's last phase knows that it is over. */
void facts_settle(const Machine *m, State *s, int key, AgentSet last);
/* A phase is done: what was, is past, and what the key has gathered it gives. */
void facts_advance(const Machine *m, State *s, int key);

#endif
