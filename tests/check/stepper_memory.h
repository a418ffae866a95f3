/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_memory.h - private to stepper_run.c, stepper_clock.c and stepper_memory.c: one
 * interleaving on its way. */
#ifndef DSL_TESTS_CHECK_STEPPER_MEMORY_H
#define DSL_TESTS_CHECK_STEPPER_MEMORY_H

#include "stepper.h"

/* What is known of each part: known: it is over; fenced: and a proxy fence stands between; own: one
 * by who did it; inits: and it is an init with its fence. The four lie after each other. */
typedef struct {
	int *known, *fenced, *own, *inits;
} Clock;
enum { CLOCKS = 4, MOST_COMMITS = 16, MOST_TX = (1 << 20) - 1 };

/* A read or a write of a cell that no later write is ordered after. */
typedef struct {
	int part, time, warp; /* warp: of what is generic */
	bool write, generic,
		old; /* old: a read through the generic proxy of what was there before */
	const Op *op;
} Touch;
typedef struct {
	Touch *at;
	int n, cap;
	uint64_t written; /* when, of the run; 0: never */
	int slot;         /* that the last write filled */
	bool loaded;      /* by it */
} CellNow;

/* A slot, not its bytes: whole slots are what is filled and read. */
typedef struct {
	uint64_t written, read; /* when last; 0: never */
	uint64_t filled;        /* since when: the first write after a read */
	uint64_t loaded;        /* when a load last wrote there */
	bool by_threads;        /* threads have written to it */
	bool stored;            /* and since then otherwise than by copies */
	bool gone;              /* another buffer was written over it since */
} SlotNow;

typedef struct {
	bool made;
	int by, when; /* part, time of the init */
	int count, pending, phase;
	int64_t tx;
	int landed; /* the last phase in which a load did, from 1 */
	Clock sum, done;
} BarNow;

typedef struct {
	int phase, arrived, threads;
	Clock sum;
} MeetNow;

typedef struct {
	const PtxStep *step;
	int cta, warp, index, *seen;
	int class, time; /* of an arrival after copies: whose, and of which times */
	Clock clock;
} LoadNow;

typedef struct {
	int at, standing; /* step; 1 + the phase it stands in */
	bool gone;
	Clock waited;
	int sets, set_at;                                    /* registers */
	int groups, groups_done;                             /* of wgmmas */
	int bulk[LANES], bulk_done[LANES], last_bulk[LANES]; /* groups of each class */
	/* Copies of each class: times that are over to begin with, that have ended; groups, and the
	 * times that the last ones closed. */
	int copies[LANES], copies_done[LANES], commits[LANES], closed[LANES][MOST_COMMITS];
	int regs;
} WarpNow;

typedef struct {
	PtxTrace *t;
	Finding *out;
	bool wrong;
	uint64_t random, now;
	WarpNow *warp;
	Clock *clock; /* of each part that is a class of lanes */
	CellNow *cells;
	SlotNow *slots;
	BarNow *bars;
	MeetNow *named, cluster;
	LoadNow *loads;
	int nloads, cap_loads;
	int *pool; /* registers of each CTA that are free */
	int *sent; /* [cta][part]: time of the last arrival at another CTA */
	Clock scratch;
	int alive;
} Run;

#define EACH_CLASS(c, w, lanes_)                \
	for (int c = 0; c < (w)->nclasses; c++) \
		if ((w)->classes[c] & (lanes_))

/* stepper_clock.c */
bool run_fail(Run *r, const char *what, const Op *op, const Op *other); /* false */
void clock_join(const Run *r, Clock to, Clock from);
Clock clock_new(Run *r);
void clock_free(Clock c);
void clock_copy(const Run *r, Clock to, Clock from);
static inline const PtxWarp *run_warp(const Run *r, int w)
{
	return &r->t->warp[w];
}

static inline Clock run_clock(const Run *r, int w, int class)
{
	return r->clock[run_warp(r, w)->first_part + class];
}

void run_give(Run *r, int w, uint32_t lanes, Clock to);
void run_give_common(Run *r, int w, Clock to);
void run_take(Run *r, int w, uint32_t lanes, Clock from);
bool run_same_phase(Run *r, int *seen, int phase, const Op *op);
int *run_seen(const Run *r, int w);

/* stepper_run.c */
BarNow *bar_now(const Run *r, int cta, int bar);
bool bar_made(Run *r, const BarNow *b, Clock by, const Op *op);
bool bar_known(Run *r, int w, const PtxStep *s, const BarNow *b); /* its init, by the lanes */
void bar_complete(Run *r, int cta, int bar);                      /* if nothing lacks */

/* stepper_loads.c */
bool loads_issue(Run *r, int w, const PtxStep *s);
bool loads_tell(Run *r, int w, const PtxStep *s);
bool loads_land(Run *r, int i);

/* stepper_groups.c */
bool groups_copy(Run *r, int w, const PtxStep *s);
void groups_copy_commit(Run *r, int w, const PtxStep *s);
void groups_copy_wait(Run *r, int w, const PtxStep *s);
void groups_copy_told(const Run *r, const LoadNow *l, Clock to); /* that they are there */
bool groups_bulk_store(Run *r, int w, const PtxStep *s);
void groups_bulk_wait(Run *r, int w, const PtxStep *s);

/* stepper_memory.c */
/* One access of cells; `generic`: through that proxy. */
bool memory_touch(Run *r, int cta, const Foot *f, int class, Clock by, Touch touch, int slot);
void memory_look(Run *r, int cta, int slot, Clock by);
bool memory_end(Run *r);
void memory_free(Run *r);

#endif
