/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* split.h - private to passes/: tiles whose k several CTAs of a cluster share (split_k N). */
#ifndef DSL_SPLIT_H
#define DSL_SPLIT_H

#include "passes/pass.h"

/* Registers of an accumulator up to which one CTA adds up all of them. */
enum { SPLIT_SMALL = 32 };

int64_t split_parts(const Kernel *k); /* of the k of a tile; 1: it is not split */
int64_t split_tiles(const Kernel *k); /* of a cluster: parts of one tile are so many ranks apart */
/* The loop over k becomes that of this CTA's part, and its sums wait for those of the others. False
 * after an error. */
bool split_loop(Kernel *k);
int64_t split_bytes(const Kernel *k); /* of the buffers in which CTAs see each other's sums */

#endif
