/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* words.h - private to verify/: all runs of a kernel as words over letters, and their
 * exploration.
 *     start (tile0 inner0^T tile1)^N end      T, N: any number in their ranges
 */
#ifndef DSL_CHECK_WORDS_H
#define DSL_CHECK_WORDS_H

#include "verify/core.h"

typedef enum {
	SEG_START,
	SEG_END,
	SEG_TILE,
	SEG_INNER = SEG_TILE + 8,
	SEG_COUNT = SEG_INNER + 8
} Seg;
enum { MAX_INNER = 7, STEADY = -1, EXACT = 1 << 20 /* no clamp */ };
enum { LACKS_TILE = 1, LACKS_TRIP = 2, LACKS_REST = 4, LACKS_TRIPS = 8 };

/* From where on counts are "that or more", with their residue: tiles done and to do, trips done,
 * trips to do, trips in all. */
typedef struct {
	int64_t tile, trip, rest, trips;
} Clamps;

/* Where a run is. */
typedef struct {
	int seg;
	int64_t tile,
		left; /* tiles done, tiles from here on with this one; STEADY: clamp.tile or more */
	int64_t trip, trips;
	Clamps clamp;
	bool absolute; /* the frame is 0 */
} Point;

typedef struct {
	bool tiles;     /* there is an outer loop */
	bool uses_left; /* a letter depends on how many tiles are left */
	int inner;      /* inner loops of one tile, all of the same trip count */
	int64_t trips_lo, trips_hi;
	int64_t trips_mod, trips_res;     /* they are trips_res modulo trips_mod; mod 0: any */
	int64_t tile_period, trip_period; /* residues that decide what a letter is */
	int64_t tile_repeat, trip_repeat; /* the same, when slots are named in frames */
	void *user;
	/* The position of the rings there, 0..trip_period - 1; NULL: always 0. Letters name
	 * slots by it. */
	int64_t (*frame)(void *user, const Point *p);
	/* The letter at a point, with a number of its own; NULL: not decided by what the point
	 * says, and *id is LACKS_*, which clamps are too low. */
	const Letter *(*letter)(void *user, const Point *p, int *id);
} Words;

/* Whether facts allow main loops of so many trips. */
bool words_take(const Words *w, int64_t trips);
/* The same of their residue alone, modulo the period of trips. */
bool words_may_take(const Words *w, int64_t trips);

typedef struct {
	enum {
		WORDS_PROVED,
		WORDS_REFUTED,
		WORDS_UNDECIDED, /* a letter depends on more than the clamp tells */
		WORDS_LIMIT
	} verdict;
	Why why;
	Point at; /* refuted, undecided: where */
	int states;
	int64_t trips; /* trip counts 0..trips were run */
	LimitId limit; /* that was met; LIMIT_NONE: so many trip counts */
} WordsResult;

typedef struct {
	Clamps clamp;
	int max_states;
} WordsLimits;
void words_prove(const Machine *m, const Words *w, WordsLimits limits, WordsResult *out);
/* The same by joining states; true: proved. False says nothing. */
bool words_cover(const Machine *m, const Words *w, int max_states, WordsResult *out);

/* One whole run with these numbers, not cut at the ends of letters. */
bool words_run(const Machine *m, const Words *w, int64_t tiles, int64_t trips, StepSeen *seen,
	       void *user, Why *why);

#endif
