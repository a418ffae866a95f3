/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* run.h - private to core.c, memory.c, write.c and lanes.c: a letter on its way. */
#ifndef DSL_VERIFY_RUN_H
#define DSL_VERIFY_RUN_H

#include "verify/run/core.h"

enum { WARP_LANES = 32 };

typedef struct {
	const Machine *m;
	State *s;
	const Letter *letter;
	Why *why;
	StepSeen *seen;
	void *user;
	struct {
		int n;
	} at[MAX_AGENTS];           /* steps done */
	int agent, pool[MAX_RANKS]; /* registers that warps of a CTA gave back: it has no others */
	const Step *step;
	bool blocked, moved;
	bool holds; /* nobody is given registers, to see who gives some back without that */
} Run;

bool run_wrong(Run *r, WhyId id, int key, int cell, int other); /* false */
bool run_can_arrive(Run *r, int key);
bool run_count_bytes(Run *r, int key, int64_t more); /* announced; < 0: delivered */
bool run_complete(Run *r, int key);                  /* the phase, if nothing lacks */
void run_meet(Run *r);                               /* the lanes of a warp: all have read */
void run_reads_end(Run *r, const uint64_t *cells);   /* of the agent, where none goes on */
bool run_memory(Run *r, const Step *st);             /* memory.c */
bool run_copies_to(const AgentState *a, int cell);   /* a group on its way does */
void run_tell_copies(Run *r, int key);               /* what copies of all lanes wrote */

/* Cells are counted from the first of the agent's CTA. */
static inline bool cell_in(const uint64_t *cells, int cell)
{
	return cells[cell / 64] >> (cell % 64) & 1;
}
static inline void cell_put(uint64_t *cells, int cell, bool in)
{
	uint64_t bit = (uint64_t)1 << (cell % 64);
	cells[cell / 64] = in ? cells[cell / 64] | bit : cells[cell / 64] & ~bit;
}

static inline bool run_is_far(const Run *r, int cell)
{
	return r->m->cells[cell].rank != r->m->agents[r->agent].rank;
}
static inline int fact_of(const Run *r, const int *facts, int cell, int agent)
{
	return facts[cell * r->m->na + agent];
}
bool run_knows(const Run *r, int fact);
/* The first of `agents` of whom a fact is not known; -1: none. */
int run_unknown_of(const Run *r, const int *facts, int cell, AgentSet agents);
/* With those after them. */
void run_forget_all(Run *r, const int *facts, int cell, AgentSet agents);
bool run_global_ok(Run *r);
bool known_by(const Machine *m, const State *s, int rank, int fact); /* one there does */
/* write.c */
bool state_writes_done(const Machine *m, State *s, int cell); /* where all have exited */
bool run_load(Run *r, const Step *st);
bool run_write(Run *r, const Step *st);
bool run_wrote(const Run *r, int cell); /* what is there, or a part of it */

/* A load of a part, when others of the slot reach, or reached, another barrier. */
bool run_parts_apart(const Run *r, const Step *st);
/* lanes.c */
/* Who reads or writes there knows what other lanes of the warp did. */
bool run_knows_lanes(Run *r, const Step *st, int cell);
/* What of its warp's lanes may be there yet, each lane of this read wrote itself. */
bool run_reads_own(const Run *r);
/* All lanes, each for itself: they tell that barrier, not each other. */
void run_each_arrives(Run *r, int key);
bool run_reads_anew(Run *r, int cell); /* what they told is of an earlier read */
void run_lane_did(Run *r, const Step *st);
/* By what is ordered after it, of which lanes learn otherwise; but: an agent's own lane. */
void run_overwritten(Run *r, int cell, int but);
void run_sends(Run *r, int key);    /* an arrival at another CTA */
void run_join(Run *r);              /* the lanes of a warp meet: all know what each did */
void run_learn(Run *r, int holder); /* what is told there all know */

#endif
