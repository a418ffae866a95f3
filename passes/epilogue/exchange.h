/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* exchange.h - private to passes/: what the threads of a CTA tell each other through buffers that
 * all write and all read. Every exchange is a position of its ring. Of two slots or more each is
 * written again only after the meeting of the next position, where all have read it; so where
 * tiles follow each other, a ring has two at least. */
#ifndef DSL_EXCHANGE_H
#define DSL_EXCHANGE_H

#include "passes/pass.h"

/* Whether there is room for the buffer of one exchange a tile. */
bool exchange_fits(const Kernel *k, const Op *at, const Type *buffer);
/* A ring for so many exchanges a tile, and its buffer. */
Val *exchange_buffer(Kernel *k, const Op *at, const char *ring, const Type *t, int64_t times);
/* The position of exchange i of so many of a tile. */
const Ix *exchange_at(const Kernel *k, const Op *at, int64_t times, int64_t i);

#endif
