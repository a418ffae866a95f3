/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout_maps.h - private to tests/passes: questions about layouts, decided by isl as questions
 * about quasi-affine maps, which share nothing with the algebra of ir/. What isl cannot say
 * (extents or strides known at run time) and what would take more than the allowed operations is
 * unknown.
 *     maps_composed(m, 6:24, (8,8):(8,1), 6:3)  ->  no */
#ifndef DSL_TEST_LAYOUT_MAPS_H
#define DSL_TEST_LAYOUT_MAPS_H

#include "layout/layout.h"
#include "passes/judge.h"

typedef struct isl_ctx Maps;
Maps *maps_new(unsigned long operations); /* of isl, for each question */
void maps_free(Maps *m);

/* Whether they are one function on the same range of linear indices. */
Verdict maps_equal(Maps *m, const Layout *a, const Layout *b);
/* Whether r(i) = a(b(i)) for all i below b's size; a's last mode has no end. */
Verdict maps_composed(Maps *m, const Layout *r, const Layout *a, const Layout *b);
/* Whether a(b(i)) = i for all i below b's size. */
Verdict maps_inverse(Maps *m, const Layout *a, const Layout *b);
Verdict maps_injective(Maps *m, const Layout *l);
Verdict maps_ordered(Maps *m, const Layout *l);                   /* l(i) < l(i + 1) */
Verdict maps_disjoint(Maps *m, const Layout *a, const Layout *b); /* images meet in 0 alone */
Verdict maps_covers(Maps *m, const Layout *a, const Layout *b,
		    int64_t n); /* a(i) + b(k) = 0..n-1 */

#endif
