/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* failed_tries.h - private to verify/: what a search found in vain before, by the numbers that it
 * hangs on. */
#ifndef DSL_VERIFY_TRIED_H
#define DSL_VERIFY_TRIED_H

#include "base/base.h"

typedef struct Tried Tried;
typedef struct {
	uint64_t why; /* which names would have to be others, as bits */
	int spent;    /* what it took to see that */
} InVain;

Tried *tried_new(Arena *a, int numbers); /* of a key */
const InVain *tried_find(const Tried *t, const int64_t *key);
void tried_add(Tried *t, const int64_t *key, InVain what); /* one that is not there */

#endif
