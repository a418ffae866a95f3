/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* work.h - private to driver/: what a kernel multiplies, as the cost model and dslc bench ask. */
#ifndef DSL_DRIVER_WORK_H
#define DSL_DRIVER_WORK_H

#include "ir/ir.h"
#include "runtime/cost.h"

typedef struct {
	const Kernel *kernel; /* NULL: the source has errors */
	CostProduct product;
	CostVariant variant; /* as the schedule has it */
	/* Over the sizes of the kernel; pitches in bytes. */
	const Ix *m, *n, *k, *batch, *pitch_a, *pitch_b;
	int tensor[2]; /* arguments of the kernel: A, B */
	bool several;  /* products that make up one, or groups */
} Work;

/* Reads the tile stage. False where the kernel is no product that the model knows: no mma, several
 * that are no halves of one, or operands whose tensors are not seen. */
bool work_of(const Kernel *k, Work *out);

#endif
