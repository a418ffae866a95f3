/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* split_owners.h - private to passes/: which of the CTAs that share the k of a tile goes on with
 * which part of the tile after the sum. */
#ifndef DSL_OWNERS_H
#define DSL_OWNERS_H

#include "base/ptrmap.h"
#include "passes/tile/split.h"

/* Accumulators in pieces of as many registers: of each, a bit for
 * each piece. */
typedef struct {
	const Val *acc;
	int regs, pieces;
} Pieces;

/* Ops that follow each other, and use no value of the others'. */
typedef struct {
	Op *first, *last;
	int owner;
	uint64_t *needs; /* of each accumulator: pieces that are read there */
} Segment;
typedef struct {
	Op *begin; /* the first op of the first segment: what is ahead of it all CTAs do */
	VEC(Segment) at;
	int owners;
} Owners;

/* Of what follows `sum` in its block; one segment, of owner 0, where it cannot be taken apart. */
Owners owners_find(Kernel *k, Op *sum, const Pieces *accs, int naccs);

const Ix *owner_part(const Kernel *k); /* the number of this CTA's part */
/* A condition of the CTAs of these parts, a bit each. */
const Ix *owner_among(const Kernel *k, uint64_t parts);

#endif
