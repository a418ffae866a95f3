/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* rings.h - private to passes/: what a ring is given, and where in it an access is. */
#ifndef DSL_RINGS_H
#define DSL_RINGS_H

#include "passes/pass.h"

/* Whether an expression counts the values that threads write to it. */
bool ring_takes_turns(Kernel *k, const char *ring);
void ring_positions(Kernel *k, const char *ring);
/* Whether the program's have slots given; and bytes that all take, with these or with two. */
bool rings_are_given(const Kernel *k);
int64_t rings_bytes(const Kernel *k);
/* A ring whose slots a pass has set is not the program's. */
bool ring_is_settled(const Kernel *k, const Op *ring);
/* Whether x names what each iteration of the loop has its own of. */
bool varies_in(const Ix *x, const Op *loop);
/* Whether the loop has another number of iterations for each tile, or for each of an outer loop. */
bool trips_vary(const Op *loop);

#endif
