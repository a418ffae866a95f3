/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* units.h - private to passes/: how threads share out a tile that they copy into a slot. */
#ifndef DSL_UNITS_H
#define DSL_UNITS_H

#include "passes/pass.h"

/* How threads share out a tile: units of n elements side by side, those of a row of the swizzle one
 * after the other, so that neighbours read from, and write to, places side by side. */
typedef struct {
	SlotForm f;
	int n;                       /* elements of a unit */
	int64_t row, units, threads; /* units of a row of the swizzle; of the tile */
} Units;
Units units_of(const Kernel *k, const Op *op); /* lower/lanes.c; of a copy that has its warps */
int64_t units_rows(const Units *u);            /* those that one thread copies of */

#endif
