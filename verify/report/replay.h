/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* replay.h - private to verify/: one launch, with numbers for all sizes, stepped through the
 * IR itself: no loops that stand for others.
 *     M 128, N 128, K 64, 1 CTA  ->  every step of every warp in order, and what is wrong there
 */
#ifndef DSL_VERIFY_REPLAY_H
#define DSL_VERIFY_REPLAY_H

#include "verify/report/find_sizes.h"

typedef struct {
	const Program *p; /* that was refuted, or could not be read to its end */
	Sizes sizes;
	Program *own; /* with these sizes, until the next replay */
	Why why;
	int64_t steps; /* that all agents have */
} Replay;

/* Those of one program. Searches for different runs come to the same sizes: what did not fail there
 * need not be stepped through again. */
typedef struct {
	Sizes sizes;
	int64_t steps;
} Passed;
typedef struct {
	Arena *arena; /* of the last replay's own */
	Arena *kept;
	VEC(Passed) passed;
} Replays;
Replays replays_new(void);
void replays_free(Replays *all);

/* Whether the launch with r->sizes fails; then own and why are set. False says nothing: what it
 * takes more than numbers of sizes to know, or too many steps, is not stepped through. Sets steps
 * in any case. */
bool replay_fails(Replay *r, Replays *before);
/* The same run, which fails, step by step. */
void replay_trace(const Replay *r, StepSeen *seen, void *user);

#endif
