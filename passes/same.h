/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* same.h - private to passes/: which CTAs of a cluster load the same bulk. Derived from the origin
 * of a load's tile alone, as a function of `rank`, whatever made the function:
 *     (m * 128, k * 64) with m = (t * clusters + cluster) * 2 + rank % 2, 4 CTAs
 * ->  groups {0, 2} and {1, 3}: 0101 1010 0101 1010
 * "Same" means: for all values of everything else that the facts allow, at the same point of the
 * program. It is never claimed wrongly; "different" may be (the relation is then `narrowed`). */
#ifndef DSL_SAME_H
#define DSL_SAME_H

#include "ir/ir.h"
#include "passes/judge.h"

enum { CLUSTER_CTAS = 16, SAME_KEYS = 8 };

/* What a relation between ranks depends on, beside the ranks. */
typedef enum { SAME_CONSTANT, SAME_BY_LAUNCH, SAME_BY_CLUSTER, SAME_BY_ITERATION } SameDepends;

/* Sets of ranks are words: bit r is rank r. */
typedef struct {
	int ranks;
	SameDepends depends;
	bool narrowed;  /* two ranks may count as different that load the same */
	bool by_period; /* one period of what is unknown decided some pair */
	bool by_isl;    /* isl decided some pair */
	uint64_t rules; /* of the simplifier that decided the others: ix_rule_theorem */
	/* Those that load the same as r for all values: a partition, and the relation itself
	 * where that is constant. */
	uint16_t always[CLUSTER_CTAS];
	/* Those that load the same for some values, as far as is known. */
	uint16_t ever[CLUSTER_CTAS];
	/* The relation: two ranks load the same where all keys, functions of `rank`, are equal. */
	const Ix *key[SAME_KEYS];
	int nkeys;
} Same;

/* Names that change while a kernel runs: loops' and lets'. */
typedef struct {
	const char *name;
	SameDepends depends;
} SameName;

typedef struct {
	Ctx *ctx;
	Judge *judge;
	IxFacts facts;
	int ranks; /* CTAs of a cluster; cta is cluster * ranks + rank */
	const SameName *names;
	int nnames;
} SameFrame;

Same same_bulk(const SameFrame *f, const Ix *const *origin, int n);

/* Whether rank `other` loads the same as `rank`: a condition on `rank` and run-time names. */
const Ix *same_with(const SameFrame *f, const Same *s, int other);

/* What is known at an op of a kernel with clusters of so many CTAs. */
SameFrame same_frame(const Kernel *k, const Op *at, Judge *j, int ranks);
/* x as a function of rank: lets ahead of `at` whose value depends on the rank are read through. */
const Ix *same_resolve(const Kernel *k, const Op *at, const Ix *x);

#endif
