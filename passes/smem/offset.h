/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* offset.h - private to passes/: the byte in a slot of what coordinates name, as an index
 * expression. The coordinates are of any layouts whose offsets add up to one of the slot's:
 *     (64,64):(64,1) after a swizzle of 128 bytes, row lane % 16, column lane / 16 * 8
 * ->  lane % 16 * 128 + xor(lane / 16, lane % 8) * 16 */
#ifndef DSL_PLACE_H
#define DSL_PLACE_H

#include "passes/pass.h"

typedef struct {
	Ctx *c;
	const Type *buffer;
	const Ix *row, *col; /* the row of the swizzle, and the element in it */
} Place;

Place place_in(Ctx *c, const Type *buffer);
void place_add(Place *p, const Layout *l, const Ix *x); /* l(x) elements further */
void place_step(Place *p, int64_t elements);
const Ix *place_byte(const Place *p);

/* copy_match.c: how threads hold a slot, and what moves it. Offsets in elements of the slot. */
typedef struct {
	const Layout *lanes, *warps, *values; /* warps: again from the first where all had a turn */
	int64_t skip;                         /* in front of all of them */
} Spread;
/* NULL, or why the registers are not of such a slot. */
const char *spread_in_slot(Kernel *k, const Type *buffer, const Type *frag, bool columns,
			   Spread *out);
const char *spread_of_copy(Kernel *k, const Op *op,
			   Spread *out);    /* of what the op reads or writes */
int spread_values(Ctx *c, const Spread *h); /* registers of a thread */

/* An atom that copies registers that are so held. */
typedef struct {
	const CopyRow *row;
	const Layout *lanes; /* where the address of each lane is */
} CopyMatch;
typedef struct {
	CopyMatch at[COPY_COUNT];
	int n;
} CopyMatches;
CopyMatches copy_matches(Kernel *k, const Spread *h, OpKind of, int bits);
/* The first that takes registers from there on; NULL: none. */
const CopyMatch *copy_first(const CopyMatches *m, const Spread *h, int reg, int regs);

#endif
