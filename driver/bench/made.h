/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* made.h - private to driver/: dslc bench of a schedules file that a program made. */
#ifndef DSL_DRIVER_MADE_H
#define DSL_DRIVER_MADE_H

#include "driver/bench/bench.h"
#include "driver/options/options.h"

typedef struct {
	const char *lines;                /* text of a schedules file */
	const double *us;                 /* an estimate for each line of the text */
	double seconds;                   /* that rounds may take */
	void (*at)(void *user, int line); /* is about to run */
	void (*done)(void *user, Bench *b);
	void *user;
	bool lost; /* out: the GPU failed */
} BenchMade;
int bench_made(const Options *o, BenchMade *made); /* an exit code */

#endif
