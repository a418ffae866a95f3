/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cluster_groups.h - private to passes/: which CTAs of a cluster load the same bulk. Derived from
 * the origin of a load's tile alone, as a function of `rank`, whatever made the function:
 *     (m * 128, k * 64) with m = (t * clusters + cluster) * 2 + rank % 2, 4 CTAs
 * ->  groups {0, 2} and {1, 3}: 0101 1010 0101 1010
 * "Same" means: for all values of everything else that the facts allow, at the same point of the
 * program. It is never claimed wrongly; "different" may be (the groups are then `narrowed`), and is
 * of CTAs that load the same at times only. */
#ifndef DSL_SAME_H
#define DSL_SAME_H

#include "ir/ir.h"

enum { CLUSTER_CTAS = 16 };

/* Sets of ranks are words: bit r is rank r. */
typedef struct {
	int ranks;
	bool narrowed;               /* two ranks of different groups may load the same */
	uint64_t rules;              /* of the simplifier that decided: ix_rule_theorem */
	uint16_t with[CLUSTER_CTAS]; /* those that load the same as r: its group */
} Same;

typedef struct {
	Ctx *ctx;
	IxFacts facts;
	int ranks; /* CTAs of a cluster; cta is cluster * ranks + rank */
} SameFrame;

Same same_bulk(const SameFrame *f, const Ix *const *origin, int n);

/* x as a function of rank: lets ahead of `at` whose value depends on the rank are read through. */
const Ix *same_resolve(const Kernel *k, const Op *at, const Ix *x);

#endif
