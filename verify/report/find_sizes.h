/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* find_sizes.h - private to verify/: concrete sizes of a launch that satisfy every fact.
 *     K % 256 == 0, (K + 63) / 64 == 4, tiles of this CTA == 2   ->   K 256, M 128, N 128, sms 1
 */
#ifndef DSL_VERIFY_SIZES_H
#define DSL_VERIFY_SIZES_H

#include "verify/read/extract.h"

enum { MAX_WISHES = 8, MAX_SIZES = 40 };

/* What a launch should be like, beside the facts. */
typedef struct {
	const Ix *cond[MAX_WISHES]; /* must not be 0 */
	int n;
	int64_t near[MAX_WISHES]; /* numbers that sizes may be multiples by */
	int nnear;
	int most;             /* launches to look at */
	int64_t *spent;       /* parts of conditions that all searches have evaluated */
	const Ix *cluster;    /* what its number is; NULL: any */
	const FoundBy *found; /* what operations find, by lists of numbers */
	int nfound;
	bool apart; /* which differ in the kernel's own sizes: one for each choice of these */
} Wishes;
void wish(Wishes *w, const Ix *cond);
void wish_near(Wishes *w, int64_t n);

/* Sizes, what the hardware binds and numbers of CTAs, as constants. */
typedef struct {
	Named at[MAX_SIZES];
	int n;
} Sizes;
const Ix *sizes_of(const Sizes *s, const char *name); /* NULL: none */

/* Calls until one is taken; false: none was. */
typedef bool SizesSeen(void *user, const Sizes *s);
bool sizes_find(const Kernel *k, int ctas, const Wishes *w, SizesSeen *seen, void *user);
#define SIZES_GROUP "a group" /* of CTAs that meet: its number */

#endif
