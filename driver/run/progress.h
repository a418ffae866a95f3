/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* progress.h - private to driver/: how far long work is, on a terminal and nowhere else. */
#ifndef DSL_DRIVER_PROGRESS_H
#define DSL_DRIVER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
	double start, drawn; /* seconds; when it began and was last drawn */
	int part, parts;     /* of equal weight */
	bool on, shown;
} Progress;

void progress_start(Progress *p, int parts);
void progress_at(Progress *p, int64_t done, int64_t all); /* of this part */
void progress_next(Progress *p);                          /* part */
void progress_hide(Progress *p); /* erases the bar: before each line that is printed, and last */

#endif
