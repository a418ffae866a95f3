/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lower.h - private to passes/lower/: what its files do for PASS_OF(lower). */
#ifndef DSL_LOWER_H
#define DSL_LOWER_H

#include "passes/pass.h"

/* vectors.c: guards for an element of a tensor; its offset */
const Ix *op_inside_tensor(Kernel *k, Op *guard, const Val *tensor, const Ix *const *at);
/* Of the threads that hold the same elements of the op's registers, the first; those of other warps
 * count where each warp has reduced its own. */
void op_one_of_alike(Kernel *k, const Op *op, bool by_warp, Op *guard);
void lower_vectors(Kernel *k, Op *op);
void lower_inside(Kernel *k, Op *op);
void lower_series(Kernel *k, Op *op); /* begins with the thread's first element */
void lower_rings(Kernel *k);          /* rings.c */
void lower_shared(Kernel *k, Op *op); /* staging.c */
void lower_store_tma(Kernel *k, Op *op);
void lower_store_staged(Kernel *k, Op *op);
void lower_by_threads(Kernel *k, Op *op); /* lanes.c */

#endif
