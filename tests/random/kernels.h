/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernels.h - private to tests/random/kernels*.c: a random kernel with its schedule, and sizes that
 * its facts allow. The same seed gives the same of all. */
#ifndef DSL_RANDOM_KERNELS_H
#define DSL_RANDOM_KERNELS_H

#include "base/base.h"

enum { MOST_SIZES = 24 };

typedef struct {
	Buf text; /* a .gemm with one kernel, called random */
	struct {
		char name[8];
		int64_t value;
	} sizes[MOST_SIZES];
	int nsizes;
	bool open;        /* the compiler chooses the schedule, for these sizes */
	int sms;          /* that a persistent kernel fills; 0: all */
	bool approximate; /* its value is an approximate function's: the last bit may differ */
	bool linear; /* errors of the sums are not made larger: normal numbers tell something */
} Made;

void kernel_make(uint64_t seed, Made *m);
void kernel_made_free(Made *m);

#endif
