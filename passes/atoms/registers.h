/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* registers.h - private to passes/: the registers of a thread that its tiles take. */
#ifndef DSL_PASSES_NEEDS_H
#define DSL_PASSES_NEEDS_H

#include "passes/pass.h"

typedef struct {
	int tiles;      /* accumulators, and others that the program assigns to */
	int acc;        /* their registers */
	int read;       /* of the tiles that the epilogue reads, of each tensor one at a time */
	int live;       /* of these, those that are there at one time */
	int a, b;       /* of an mma's operands that are copied into registers */
	const Op *most; /* the largest that the epilogue reads; NULL: it reads none */
	const Op *mma;  /* of those that are counted, the one of the largest tile; NULL: none */
} Needs;

Needs needs_of(const Kernel *k);
int needs_of_mma(const Op *mma);                             /* of its accumulator */
int needs_all(Needs n);                                      /* registers */
const char *needs_most(const Kernel *k, Needs n, int *regs); /* the tensor or ring it comes from */

int registers_of_tiles(const Kernel *k, TiledMma t); /* roles.c: what tiles may take */

#endif
