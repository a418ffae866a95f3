/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sync.h - private to sync*.c. */
#ifndef DSL_SYNC_H
#define DSL_SYNC_H

#include "passes/pass.h"

void sync_staging(Kernel *k, const Op *ring);
/* Whether the position is one of the first `slots`: every slot is free then. */
bool on_first_lap(const Kernel *k, const Ix *at, int64_t slots);

/* groups.c: of those `inflight`, how many the group from first to last may leave in the loop */
int group_inflight(const Op *loop, const Op *first, const Op *last, int inflight);

#endif
