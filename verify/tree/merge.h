/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* merge.h - private to tree.c and shared_counters.c: the loops of all roles becoming one tree. */
#ifndef DSL_VERIFY_MERGE_H
#define DSL_VERIFY_MERGE_H

#include "verify/read/read.h"
#include "verify/tree/tree.h"

typedef struct {
	Reader *r;
	Program *p;
	Tree *t;
	Ctx *c;
} Merger;

/* Whether x of one role is y of another in each trip of `up` and what is around it. */
bool merge_same_in(const Merger *m, const Branch *up, int a, const Ix *x, int b, const Ix *y);
bool merge_takes_all(const Branch *in, int agent); /* all trips of all loops around */
bool merge_counters(Merger *m, Branch *b);         /* false: there are too many */

#endif
