/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* choose.h - private to driver/choose: what the source of a kernel leaves open, ways to close it,
 * and which of them is taken. */
#ifndef DSL_DRIVER_CHOOSE_H
#define DSL_DRIVER_CHOOSE_H

#include "driver/choose/sizes.h"
#include "driver/choose/tuned.h"

enum { PICKS_MOST = 12 };
#define WAYS_MOST 4096.0 /* 2 to the power of PICKS_MOST */
/* Where a candidate says what: the value of each pick, whether it swaps, then rows of the tables of
 * choices.c, of which the first is plain. */
enum { AT_SWAP = PICKS_MOST, AT_FORM, AT_CLUSTER, AT_SPLIT, AT_CTAS, AT_COUNT };
typedef struct {
	short at[AT_COUNT];
	CostVariant v;
} Candidate;
typedef VEC(Variant) VariantVec;

/* With or without swap: what the values of picks come to. */
typedef struct {
	bool legal;              /* some values are */
	short first[PICKS_MOST]; /* such values */
	Work work;               /* theirs */
	CostVariant
		*of[PICKS_MOST]; /* of each value, the others being first; tile_m 0: not legal */
} SwapState;

/* The choices of one kernel. */
typedef struct {
	Ctx *ctx;
	const Source *source;
	const CompileOpt *opt;
	const char *kernel;
	bool alone;              /* in its file: its defines need not name it */
	bool schedule;           /* is open */
	bool known;              /* the model knows the product, and something is legal */
	Choice pick[PICKS_MOST]; /* those of two values or more */
	int npicks;
	double ways;    /* in which their values combine; not opened: more than WAYS_MOST */
	unsigned outer; /* a bit for each pick that other kernels of the file see, too */
	SwapState swap[2];
} Choices;

/* choices.c. Tries the frontend on each value, and says what is legal and known. */
void choices_open(Choices *s);
const Work *choices_work(const Choices *s);
void choices_each(const Choices *s, void (*visit)(void *user, const Candidate *x), void *user);
/* "bM=128", "schedule=roles cooperative; persistent;". NULL: values that are legal together, and no
 * more of the schedule than they need. */
void choices_defines(const Choices *s, const Candidate *x, Defines *out);
/* The candidate that has these defines, without names of kernels in them; false: there is none. */
bool choices_find(const Choices *s, const Defines *d, Candidate *out);

/* A candidate that is the best, or near, at some size; us: at each. */
typedef struct {
	Candidate x;
	bool refused, taken;
	float *us;
} Entry;
/* Candidates that are like this one where a bit of AT_.. says so. */
typedef struct {
	Candidate x;
	unsigned where;
} Refusal;
typedef struct {
	Choices of;
	SizesVec sizes;
	CostDevice device;
	VEC(Entry *) pool;
	VEC(Refusal) refused;
	float *floor, *best; /* us at each size: of all; of those chosen */
	VEC(Entry *) chosen;
	const Tuned *line; /* of FILE.tune, for these sizes; NULL: there is none */
	Entry *measured;   /* what it says; NULL: the source does not leave that open */
	int tries;         /* compilations, short of code */
	const char *cause; /* why the first that was refused is */
} Chooser;

/* choose.c: the first of a kernel that the compiler accepts, best first, for one set of sizes; us
 * is an estimate. One that FILE.tune has for these sizes is the first. False after a message: there
 * is no choice, or none is accepted. */
typedef struct {
	const char *kernel;
	Defines defines; /* in the ctx of the caller */
	double us;
} Ranked;
typedef VEC(Ranked) RankedVec;
bool choose_ranked(Ctx *c, const Source *source, const CompileOpt *opt, int most, RankedVec *out);

/* The mean, over the sizes, of how much longer than the best of all it takes */
double chooser_loss(const Chooser *c);
const char *chosen_name(const Chooser *c, int i); /* of a kernel in the module */
/* report.c. " -DbM=64 -Dschedule=\"swap;\""; what was chosen, and why: a few lines. */
void chosen_defines(const Choices *s, const Candidate *x, Buf *out);
void report_chosen(const Chooser *c, Buf *out);

#endif
