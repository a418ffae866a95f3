/* judge.h - private to passes/: questions about layouts and conditions, decided by isl as questions
 * about quasi-affine maps. What isl cannot say (extents or strides known at run time, products of
 * names) and what would take more than the allowed operations is unknown.
 *     judge_holds(j, M % 64 < 64, facts)  ->  yes */
#ifndef DSL_JUDGE_H
#define DSL_JUDGE_H

#include "ir/layout.h"

typedef enum { JUDGED_NO, JUDGED_YES, JUDGED_UNKNOWN } Verdict;

typedef struct Judge Judge;
Judge *judge_new(unsigned long operations); /* of isl, for each question; 0: no limit */
void judge_free(Judge *j);

/* Whether they are one function on the same range of linear indices. */
Verdict judge_equal(Judge *j, const Layout *a, const Layout *b);
/* Whether r(i) = a(b(i)) for all i below b's size; a's last mode has no end. */
Verdict judge_composed(Judge *j, const Layout *r, const Layout *a, const Layout *b);
/* Whether a(b(i)) = i for all i below b's size. */
Verdict judge_inverse(Judge *j, const Layout *a, const Layout *b);
Verdict judge_injective(Judge *j, const Layout *l);
Verdict judge_ordered(Judge *j, const Layout *l);                   /* l(i) < l(i + 1) */
Verdict judge_disjoint(Judge *j, const Layout *a, const Layout *b); /* images meet in 0 alone */
Verdict judge_covers(Judge *j, const Layout *a, const Layout *b,
		     int64_t n); /* a(i) + b(k) = 0..n-1 */
/* Yes: for all values that the facts allow; no: for none; unknown: for some, or not decided. */
Verdict judge_holds(Judge *j, const Ix *condition, IxFacts facts);

#endif
