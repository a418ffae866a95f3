/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tuned.h - private to driver/: the lines of FILE.tune, each of which says what was fastest for one
 * kernel at one set of sizes on one GPU.
 *     NVIDIA H200; gemm; K=4096,M=16,N=4096; -DbM=16 -Dschedule="roles cooperative; swap;"; 9.31 us
 */
#ifndef DSL_DRIVER_TUNED_H
#define DSL_DRIVER_TUNED_H

#include "driver/compile.h"

typedef VEC(const char *) Defines; /* "bM=128", "schedule=roles cooperative; swap;" */
typedef struct {
	const char *card, *kernel;
	SizeArgs sizes; /* by name */
	Defines defines;
	double us;
	Loc loc;
} Tuned;
typedef VEC(Tuned) TunedVec;

/* The lines of source->tuned, if it has any; false after a message for each that is malformed. */
bool tuned_read(Ctx *c, const Source *source, TunedVec *out);
/* Adds it to lines in the order of the file, in the place of one for the same. */
void tuned_set(Ctx *c, TunedVec *all, Tuned x);
void tuned_put(const TunedVec *all, Buf *out);
/* The line for these sizes, or NULL. */
const Tuned *tuned_find(const TunedVec *all, const char *card, const char *kernel,
			const SizeArgs *sizes);

/* Reads `bN=128` or `schedule="roles cooperative;"` at the start of n bytes: what is in between is
 * out. The length, 0: it is none. */
size_t tuned_define(Ctx *c, const char *text, size_t n, const char **out);
/* -DbM=128 -Dschedule="roles cooperative; swap;" */
void defines_put(const Defines *d, Buf *out);

#endif
