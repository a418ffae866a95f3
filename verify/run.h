/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* run.h - private to core.c and memory.c: a letter on its way. */
#ifndef DSL_CHECK_RUN_H
#define DSL_CHECK_RUN_H

#include "verify/core.h"

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
bool run_memory(Run *r, const Step *st);             /* memory.c */

#endif
