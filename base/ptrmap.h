/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ptrmap.h - a map from pointers (interned names and expressions, ops, values) to pointers, in an
 * arena. NULL is no key; a key whose value is NULL is absent. */
#ifndef DSL_PTRMAP_H
#define DSL_PTRMAP_H

#include "base/base.h"

typedef struct {
	const void *key;
	void *value;
} PtrMapRow;
typedef struct PtrMap {
	Arena *arena;
	PtrMapRow *at;
	size_t n, cap; /* cap is 0 or a power of two */
} PtrMap;

void *ptrmap_get(const PtrMap *m, const void *key);
void ptrmap_set(PtrMap *m, const void *key, void *value);
void ptrmap_clear(PtrMap *m); /* keeps its room */
/* The map that stands there: a key of several pointers is one of each. */
PtrMap *ptrmap_in(PtrMap *m, const void *key);

#endif
