/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* failed_tries.c - a table of keys of several numbers: open addressing, never more than half full.
 * Once it is large it takes no more: then the search does what it did before.
 *     (12 tiles, 3 CTAs)  ->  in vain, whatever M and N made them
 */
#include "verify/report/failed_tries.h"

#include <string.h>

enum { FIRST = 64, MOST = 1 << 16 };

typedef struct {
	const int64_t *key;
	InVain what;
} Row;

struct Tried {
	Arena *arena;
	Row *rows;
	int numbers, n, cap;
};

Tried *tried_new(Arena *a, int numbers)
{
	Tried *t = NEW(a, Tried);
	*t = (Tried){.arena = a, .rows = NEWN(a, Row, FIRST), .numbers = numbers, .cap = FIRST};
	return t;
}

static size_t bytes(const Tried *t)
{
	return sizeof(int64_t) * (size_t)t->numbers;
}

/* Of the key, or where it would be. */
static Row *row_of(const Tried *t, const int64_t *key)
{
	uint64_t at = 0;
	for (int i = 0; i < t->numbers; i++) {
		at = (at ^ (uint64_t)key[i]) * 0x9e3779b97f4a7c15u;
		at ^= at >> 29;
	}
	at &= (uint64_t)(t->cap - 1);
	while (t->rows[at].key && memcmp(t->rows[at].key, key, bytes(t)))
		at = (at + 1) & (uint64_t)(t->cap - 1);
	return &t->rows[at];
}

const InVain *tried_find(const Tried *t, const int64_t *key)
{
	const Row *row = row_of(t, key);
	return row->key ? &row->what : NULL;
}

static void grow(Tried *t)
{
	Tried old = *t;
	t->cap *= 2;
	t->rows = NEWN(t->arena, Row, t->cap);
	for (int i = 0; i < old.cap; i++)
		if (old.rows[i].key)
			*row_of(t, old.rows[i].key) = old.rows[i];
}

void tried_add(Tried *t, const int64_t *key, InVain what)
{
	if (t->n == MOST)
		return;
	if (2 * t->n >= t->cap)
		grow(t);
	int64_t *own = NEWN(t->arena, int64_t, t->numbers + 1);
	memcpy(own, key, bytes(t));
	*row_of(t, key) = (Row){own, what};
	t->n++;
}
