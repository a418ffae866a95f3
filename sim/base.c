/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* base.c - pool, map of names and growing text of the simulator.
 *   load_fail(a, 12, "unknown instruction")  ->  a->line, a->error, back to a->fail */
#include "sim/base.h"

#include <stdio.h>
#include <stdlib.h>

struct Chunk {
	Chunk *next;
	size_t used, size;
	_Alignas(16) unsigned char bytes[];
};

void *pool_new(Pool *a, size_t size)
{
	size = (size + 15) & ~(size_t)15;
	Chunk *c = a->chunks;
	if (!c || c->size - c->used < size) {
		size_t room = size > 1u << 16 ? size : 1u << 16;
		c = room > SIZE_MAX - sizeof *c ? NULL : calloc(1, sizeof *c + room);
		if (!c) {
			a->no_memory = true;
			load_fail(a, 0, "no memory for a module");
		}
		c->size = room;
		c->next = a->chunks;
		a->chunks = c;
	}
	void *at = c->bytes + c->used;
	c->used += size;
	return at;
}

void *pool_grow(Pool *a, void *old, size_t old_size, size_t size)
{
	void *at = pool_new(a, size);
	if (old_size)
		memcpy(at, old, old_size);
	return at;
}

char *pool_text(Pool *a, const char *s, size_t n)
{
	char *at = pool_new(a, n + 1);
	memcpy(at, s, n);
	return at;
}

void pool_free(Pool *a)
{
	while (a->chunks) {
		Chunk *next = a->chunks->next;
		free(a->chunks);
		a->chunks = next;
	}
}

void load_fail(Pool *a, int line, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(a->error, sizeof a->error, fmt, ap);
	va_end(ap);
	a->line = line;
	longjmp(a->fail, 1);
}

static u64 name_hash(const char *s)
{
	u64 h = UINT64_C(14695981039346656037);
	for (; *s; s++)
		h = (h ^ (u8)*s) * UINT64_C(1099511628211);
	return h ^ h >> 29;
}

static u32 map_slot(const Map *m, const char *key)
{
	u32 i = (u32)name_hash(key) & (m->cap - 1);
	while (m->keys[i] && strcmp(m->keys[i], key) != 0)
		i = (i + 1) & (m->cap - 1);
	return i;
}

static void map_grow(Pool *a, Map *m)
{
	Map old = *m;
	m->cap = old.cap ? old.cap * 2 : 16;
	m->keys = pool_new(a, m->cap * sizeof *m->keys);
	m->values = pool_new(a, m->cap * sizeof *m->values);
	for (u32 i = 0; i < old.cap; i++) {
		if (!old.keys[i])
			continue;
		u32 at = map_slot(m, old.keys[i]);
		m->keys[at] = old.keys[i];
		m->values[at] = old.values[i];
	}
}

void map_put(Pool *a, Map *m, const char *key, s64 value)
{
	if (m->n * 2 >= m->cap)
		map_grow(a, m);
	u32 i = map_slot(m, key);
	m->n += !m->keys[i];
	m->keys[i] = key;
	m->values[i] = value;
}

bool map_get(const Map *m, const char *key, s64 *value)
{
	if (!m->cap)
		return false;
	u32 i = map_slot(m, key);
	if (!m->keys[i])
		return false;
	*value = m->values[i];
	return true;
}

bool list_grow(void *list, u32 *cap, u32 need, size_t each)
{
	void *at;
	u32 more = need * 2 + 8;
	if (need <= *cap)
		return true;
	memcpy(&at, list, sizeof at);
	at = realloc(at, more * each);
	if (!at)
		return false;
	memcpy(list, &at, sizeof at);
	*cap = more;
	return true;
}

void text_add(Text *t, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	size_t need = t->n + (size_t)(n < 0 ? 0 : n) + 1;
	if (need > t->cap) {
		size_t cap = need * 2 + 64;
		char *more = realloc(t->at, cap);
		if (!more) {
			va_end(again);
			return;
		}
		t->at = more;
		t->cap = cap;
	}
	vsnprintf(t->at + t->n, t->cap - t->n, fmt, again);
	va_end(again);
	t->n = need - 1;
}

void text_free(Text *t)
{
	free(t->at);
	*t = (Text){0};
}
