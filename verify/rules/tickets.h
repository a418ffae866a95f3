/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tickets.h - private to verify/: tiles that CTAs draw. */
#ifndef DSL_VERIFY_TICKETS_H
#define DSL_VERIFY_TICKETS_H

#include "ir/ir.h"

typedef struct {
	Op *op;
	OpKind kind;
	int nix;
	const Ix *ix;
} Turned;
typedef VEC(Turned) TurnedVec;

/* deal_once.c: whether each tile is some CTA's, and once. */
struct Reader;
bool read_deals(struct Reader *r, const Op *tickets, const Op *draw);

/* The kernel as it runs where all draw by turns. */
void tickets_by_turns(const Kernel *k, TurnedVec *all); /* until they are exchanged again */
void tickets_exchange(TurnedVec *all);

#endif
