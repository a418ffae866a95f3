/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* judge.h - private to passes/: whether a condition on names holds, decided by isl as a question
 * about quasi-affine sets. What isl cannot say (products of names) and what would take more than
 * the allowed operations is unknown.
 *     judge_holds(j, M % 64 < 64, facts)  ->  yes */
#ifndef DSL_JUDGE_H
#define DSL_JUDGE_H

#include "layout/ix.h"

typedef enum { JUDGED_NO, JUDGED_YES, JUDGED_UNKNOWN } Verdict;

typedef struct Judge Judge;
Judge *judge_new(unsigned long operations); /* of isl, for each question; 0: no limit */
void judge_free(Judge *j);

/* Yes: for all values that the facts allow; no: for none; unknown: for some, or not decided. */
Verdict judge_holds(Judge *j, const Ix *condition, IxFacts facts);

#endif
