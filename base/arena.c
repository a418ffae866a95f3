/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* arena.c - bump allocation in blocks that double. Memory is zeroed and aligned for any type.
 *     Arena *a = arena_new(); int *p = NEWN(a, int, 100); arena_free(a);
 * Blocks that were given back wait to be taken again: so a loop of the same work asks the system
 * for nothing. ASan is told that nobody may look at them. */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, n)   (void)0
#define ASAN_UNPOISON_MEMORY_REGION(at, n) (void)0
#endif

enum {
	FIRST_BLOCK = 1 << 14,
#ifdef __SANITIZE_ADDRESS__
	LAST_BLOCK = 1 << 16, /* larger ones ASan gives back to the system, and asks it again */
#else
	LAST_BLOCK = 1 << 22,
#endif
	ALIGN = 16
};

typedef struct Chunk Chunk;
struct Chunk {
	Chunk *next;
	size_t size, used;
	max_align_t data[];
};
struct Arena {
	Held held;
	Chunk *chunks, *spare; /* the newest first; the oldest first, zeroed */
	size_t next_size, handed;
};

static Chunk *chunk_new(size_t size)
{
	Chunk *c = calloc(1, sizeof *c + size);
	if (!c)
		panic("out of memory (%zu bytes)", size);
	c->size = size;
	return c;
}

static Chunk *chunk_take(Arena *a, size_t size)
{
	for (Chunk **at = &a->spare; *at; at = &(*at)->next) {
		Chunk *c = *at;
		if (c->size < size)
			continue;
		*at = c->next;
		ASAN_UNPOISON_MEMORY_REGION(c->data, c->used);
		c->used = 0;
		return c;
	}
	size_t new_size = a->next_size;
	if (new_size < LAST_BLOCK)
		a->next_size *= 2;
	return chunk_new(size > new_size ? size : new_size);
}

static void chunk_give_back(Arena *a, Chunk *c)
{
	memset(c->data, 0, c->used);
	ASAN_POISON_MEMORY_REGION(c->data, c->used);
	c->next = a->spare;
	a->spare = c;
}

static void arena_drop(Held *h)
{
	arena_free((Arena *)h);
}

Arena *arena_new(void)
{
	Arena *a = calloc(1, sizeof *a);
	if (!a)
		panic("out of memory");
	a->next_size = FIRST_BLOCK;
	hold(&a->held, arena_drop);
	return a;
}

static void chunks_free(Chunk *c)
{
	while (c) {
		Chunk *next = c->next;
		free(c);
		c = next;
	}
}

void arena_free(Arena *a)
{
	if (!a)
		return;
	hold_end(&a->held);
	chunks_free(a->chunks);
	chunks_free(a->spare);
	free(a);
}

void arena_reset(Arena *a)
{
	arena_release(a, (ArenaMark){NULL, 0, 0});
}

void *arena_alloc(Arena *a, size_t size)
{
	size = (size + ALIGN - 1) / ALIGN * ALIGN;
	if (!a->chunks || a->chunks->size - a->chunks->used < size) {
		Chunk *c = chunk_take(a, size);
		c->next = a->chunks;
		a->chunks = c;
	}
	void *p = (char *)a->chunks->data + a->chunks->used;
	a->chunks->used += size;
	a->handed += size;
	return p;
}

char *arena_strndup(Arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1);
	if (n)
		memcpy(p, s, n);
	return p;
}

char *arena_printf(Arena *a, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *p = arena_alloc(a, (size_t)n + 1);
	vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return p;
}

ArenaMark arena_mark(const Arena *a)
{
	return (ArenaMark){a->chunks, a->chunks ? a->chunks->used : 0, a->handed};
}

/* The first block of all stays. */
void arena_release(Arena *a, ArenaMark mark)
{
	while (a->chunks && a->chunks != mark.chunk && a->chunks->next) {
		Chunk *next = a->chunks->next;
		chunk_give_back(a, a->chunks);
		a->chunks = next;
	}
	a->handed = mark.handed;
	if (!a->chunks)
		return;
	size_t used = a->chunks == mark.chunk ? mark.used : 0;
	memset((char *)a->chunks->data + used, 0, a->chunks->used - used);
	a->chunks->used = used;
}

size_t arena_bytes(const Arena *a)
{
	return a->handed;
}

void vec_grow(Arena *a, void **at, int *cap, size_t size)
{
	int more = *cap ? 2 * *cap : 8;
	void *p = arena_alloc(a, (size_t)more * size);
	if (*cap)
		memcpy(p, *at, (size_t)*cap * size);
	*at = p;
	*cap = more;
}
