/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* heap.c - memory from malloc that a rescue gives back. A block has its Held in front of it. */
#include "base/base.h"

#include <stdlib.h>

typedef struct {
	Held held;
	max_align_t data[];
} Block;

static void drop(Held *h)
{
	free(h);
}

static Block *block_of(void *p)
{
	return (Block *)((char *)p - offsetof(Block, data));
}

void *heap_alloc(size_t size)
{
	Block *b = calloc(1, sizeof *b + size);
	if (!b)
		panic("out of memory (%zu bytes)", size);
	hold(&b->held, drop);
	return b->data;
}

void *heap_realloc(void *p, size_t size)
{
	if (!p)
		return heap_alloc(size);
	Block *old = block_of(p);
	bool held = old->held.from;
	hold_end(&old->held);
	Block *b = realloc(old, sizeof *b + size);
	if (!b) {
		free(old);
		panic("out of memory (%zu bytes)", size);
	}
	if (held)
		hold(&b->held, drop);
	return b->data;
}

void heap_free(void *p)
{
	if (!p)
		return;
	hold_end(&block_of(p)->held);
	free(block_of(p));
}
