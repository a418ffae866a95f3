/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* copy_choice.h - private to passes/: which atoms copy a tile from one home to another, as rows of
 * copies.def that are walked in order.
 *     copy %sA, %t (a tile of a tensor)   ->   TMA_LOAD: yes
 *     store %t, %c, rows of 200 bytes     ->   STAGED_OUT: no, "its stride of 200 bytes ..";
 *                                              KEPT_OUT: yes */
#ifndef DSL_WAYS_H
#define DSL_WAYS_H

#include "passes/pass.h"

typedef enum {
#define HOME(id, ...) HOME_##id,
#include "passes/atoms/copies.def"
	HOME_COUNT
} Home;

typedef enum {
#define WAY(id, ...) WAY_##id,
#include "passes/atoms/copies.def"
	WAY_COUNT
} WayId;

typedef enum { FIT_NO, FIT_YES, FIT_LAUNCH } Fit;

/* Why a way is not taken: text NULL is that the schedule said so. */
typedef struct {
	DiagId id;
	const char *text, *remedy;
} Refusal;

typedef struct Epilogue Epilogue;
/* What is to be copied: an op whose operands are a destination and a source. */
typedef struct {
	Kernel *k;
	const Op *op;
	Epilogue *e; /* of what may take a stop in shared memory */
	bool asked;  /* a way before this one is the launch's to decide */
} Copying;

typedef struct {
	OpKind of;
	Home from, to;
	OpKind first, last;
	Fit (*fits)(Copying *c, Refusal *why);
	const char *words;
} WayRow;
extern const WayRow way_rows[WAY_COUNT];

typedef struct {
	WayId way, other; /* other: where the launch refuses `way`; WAY_COUNT: none */
	WayId tried[WAY_COUNT];
	Refusal why[WAY_COUNT];
	int refused;
} WayChoice;
WayChoice way_choose(Copying *c);
bool way_has_map(WayId way); /* one of its homes is a tensor map */
/* No way: what was tried, and why each would not do. */
void way_none(const Copying *c, const WayChoice *w);

/* FIT_NO; as in diag, a line break in fmt ends the cause, and the remedy follows. */
Fit way_refuse(const Copying *c, Refusal *why, DiagId id, const char *fmt, ...) PRINTF(4, 5);

/* Conditions of rows that need more than the row: copy_by_tma.c, epilogue/chunks.c, epilogue.c */
Fit fits_box(Copying *c, Refusal *why);
Fit fits_rows(Copying *c, Refusal *why); /* copy_rows.c */
Fit fits_units(Copying *c, Refusal *why);
/* Of a copy of threads: bytes that each moves at a time, as the program says or as fit; 0: none. */
int units_bytes(const Copying *c);
Fit fits_source(Copying *c, Refusal *why);
Fit fits_held(Copying *c, Refusal *why); /* fragments.c */
Fit fits_put(Copying *c, Refusal *why);
Fit fits_chunks(Copying *c, Refusal *why);

#endif
