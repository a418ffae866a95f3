/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* masks.h - private to passes/: who issues a load for whom, from the groups of cluster_groups.h:
 * the multicast mask, the predicate, the slice, and the CTAs that must hear of a release.
 *     groups {0, 2} {1, 3}  ->  mask shl(5, rank % 2)
 *     by slices             ->  part rank / 2, into 0101 1010 0101 1010
 *     by leader             ->  issues rank / 2 == 0, into 0101 1010 0100 1000
 * Every CTA announces the bytes of whole tiles on its own full barrier, whoever issues: what lands
 * in it does not depend on how the loads are shared. */
#ifndef DSL_SHARE_H
#define DSL_SHARE_H

#include "passes/multicast/cluster_groups.h"

/* EACH: every CTA loads for itself. LEADER: the lowest rank of a group loads for all of it. SLICE:
 * each CTA of a group loads an equal part for all of it. */
typedef enum { ISSUE_AUTO, ISSUE_EACH, ISSUE_LEADER, ISSUE_SLICE } Issue;

typedef struct {
	Issue issue;      /* never AUTO */
	int slices;       /* parts of a tile; 1 unless SLICE */
	const Ix *mask;   /* of rank: whom this CTA's load goes to */
	const Ix *issues; /* 1 or a condition: whether this CTA issues */
	const Ix *slice;  /* which part it issues */
	int loads;        /* whole tiles that a cluster reads, of as many as it has CTAs */
	uint16_t into[CLUSTER_CTAS]; /* CTAs that rank r writes into, itself always among them */
} Share;

int ranks_count(unsigned set);

/* `parts`: how many equal parts the tile's box can be cut into, a part beginning wherever the
 * swizzle allows; SLICE becomes LEADER where groups do not have one size that divides it. */
Share share_load(Ctx *c, const Same *s, Issue wanted, int parts);

/* What the loads of one ring together mean for its barriers: for each rank, the CTAs whose slots it
 * writes (their consumers arrive on its empty barrier), and those that write its slots (on whose
 * empty barriers its consumers arrive). Each is there for itself. */
typedef struct {
	int ranks;
	uint16_t into[CLUSTER_CTAS], from[CLUSTER_CTAS];
} Releases;
void releases_add(Releases *all, int ranks, const Share *load);

/* An expression of `rank` that has these values for ranks 0..n-1: a constant, a multiple of
 * rank / a plus one of rank % b, or a sum of choices. */
const Ix *ix_of_ranks(Ctx *c, const int64_t *values, int n);
const Ix *ix_of_sets(Ctx *c, const uint16_t *sets, int n); /* shl(set, rank / a * a ...) too */

#endif
