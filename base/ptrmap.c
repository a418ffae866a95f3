/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ptrmap.c - open addressing, never more than half full; rows are never removed. */
#include "base/ptrmap.h"
#include "base/ctx.h"

#include <string.h>

static PtrMapRow *row_of(const PtrMap *m, const void *key)
{
	size_t i = hash_mix(0, (uintptr_t)key) & (m->cap - 1);
	while (m->at[i].key && m->at[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->at[i];
}

static void ptrmap_grow(PtrMap *m)
{
	PtrMap old = *m;
	m->cap = old.cap ? 2 * old.cap : 32;
	m->at = NEWN(m->arena, PtrMapRow, m->cap);
	for (size_t i = 0; i < old.cap; i++)
		if (old.at[i].key)
			*row_of(m, old.at[i].key) = old.at[i];
}

void *ptrmap_get(const PtrMap *m, const void *key)
{
	return m->cap ? row_of(m, key)->value : NULL;
}

void ptrmap_set(PtrMap *m, const void *key, void *value)
{
	if (2 * m->n >= m->cap)
		ptrmap_grow(m);
	PtrMapRow *row = row_of(m, key);
	m->n += !row->key;
	*row = (PtrMapRow){key, value};
}

void ptrmap_clear(PtrMap *m)
{
	if (m->n)
		memset(m->at, 0, sizeof *m->at * m->cap);
	m->n = 0;
}

PtrMap *ptrmap_in(PtrMap *m, const void *key)
{
	PtrMap *in = ptrmap_get(m, key);
	if (!in) {
		in = NEW(m->arena, PtrMap);
		in->arena = m->arena;
		ptrmap_set(m, key, in);
	}
	return in;
}
