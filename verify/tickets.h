/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tickets.h - private to verify/: a kernel as it runs where all CTAs draw by turns. */
#ifndef DSL_CHECK_TICKETS_H
#define DSL_CHECK_TICKETS_H

#include "ir/ir.h"

typedef struct {
	Op *op;
	OpKind kind;
	int nix;
	const Ix *ix;
} Turned;
typedef VEC(Turned) TurnedVec;

bool kernel_has_tickets(const Kernel *k);
void tickets_by_turns(const Kernel *k, TurnedVec *all); /* until they are exchanged again */
void tickets_exchange(TurnedVec *all);

#endif
