/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* split.h - private to passes/: tiles whose k several CTAs share (split_k N), of one cluster
 * or, where they see each other's sums in the launch's workspace, of the grid. */
#ifndef DSL_SPLIT_H
#define DSL_SPLIT_H

#include "passes/pass.h"

/* Registers of an accumulator up to which one CTA adds up all of them. */
enum { SPLIT_SMALL = 32 };

bool numbers_bound(const Kernel *k, const Op *loop); /* numbers.c: memory says how often it runs */
int64_t split_parts(const Kernel *k);                /* of the k of a tile; 1: it is not split */
int64_t split_tiles(const Kernel *k); /* of a cluster: parts of one tile are so many ranks apart */
bool split_by_workspace(const Kernel *k);
/* CTAs that may wait for each other: launches have no more, and no more than run at one time. */
enum { SPLIT_CTAS = 2048 };
int64_t split_bytes(const Kernel *k); /* of the buffers in which CTAs see each other's sums */

#endif
