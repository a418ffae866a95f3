/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* random_run.h - private to the brute force: the states of a random program, and what is known of
 * each step before it runs.
 *     runs_read(r, 3)  ->  r->word[a]: START FIRST TRIP TRIP END of warp a, r->flight[a][i] ... */
#ifndef DSL_TESTS_CHECK_RANDOM_RUN_H
#define DSL_TESTS_CHECK_RANDOM_RUN_H

#include "random.h"

enum { WORD = 512, CELLS = 16, KEYS = 48, WALKS = 32, MOST_BYTES = 96 << 20, MADE = 1, FENCED = 2 };
enum {
	GENERIC = 4, /* fresh: parts loaded, or warps of the writing role, from this bit */
	WAS_READ = 1,
	LATE = 2, /* warps wrote when parts were loaded */
	FENCED_ALL = 12,
	READ_BY = 16, /* marks: warps that read through the generic proxy, from this bit */
	READERS = 240,
	ACC = 24 /* bits of flight for registers */
};

typedef struct {
	int16_t tx;
	uint8_t arrived, phase;
	uint8_t standing; /* warps */
	uint8_t init;
	uint8_t pad[2];
} KeyNow;
typedef struct {
	uint16_t content[2]; /* of each part: 1 + warp * WORD + step that wrote it; 0: none */
	uint8_t coming, fresh;
	uint8_t marks; /* WAS_READ, LATE, of fresh the warps whose writes are fenced, READERS */
	uint8_t to;    /* barrier of what is coming */
} CellNow;
typedef union {
	uint16_t at[WARPS];
	KeyNow key;
	CellNow cell;
	uint64_t bits;
} Unit;
/* Roles, then keys, then cells. */
typedef struct {
	Unit u[1 + KEYS + CELLS];
} Now;

struct Runs {
	const Prog *p;
	int nk, nc, units;
	int warps, role[WARPS], rank[WARPS], copy[WARPS]; /* of a role: 0, 1 */
	Step word[WARPS][WORD];
	uint32_t flight[WARPS][WORD + 1]; /* cells, registers of its groups before a step */
	uint32_t loose[WARPS][WORD + 1];  /* cells that its lanes may still read */
	uint32_t wrote[WARPS][WORD + 1];  /* .. write */
	uint32_t bare[WARPS][WORD + 1];   /* .. read, with no fence for the async proxy since */
	uint32_t handed[WARPS][WORD + 1]; /* .. wrote, and the warp fenced since */
	int length[WARPS], need[KEYS];
	int saw[WARPS][WORD][3];     /* 1 + what was seen */
	uint8_t filled[WARPS][WORD]; /* a write met unread content: fenced 1, not 2 */
	Unit *states;
	uint32_t *table; /* 1 + number of a state */
	int n, cap, table_size;
	uint64_t random;
	bool wrong, full;
	const char *why;
};

static inline bool wrong(Runs *r, bool is, const char *why)
{
	if (is && !r->wrong) {
		r->wrong = true;
		r->why = why;
	}
	return is;
}

void runs_read(Runs *r, int trips); /* the words of all warps, from the program r->p */

#endif
