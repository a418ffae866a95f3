/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ctx.c - what one compilation owns: an arena, the interning tables, sources and messages. */
#include "base/ctx.h"

#include <string.h>

struct Ctx {
	Arena *arena, *tmp;
	void *slots[CTX_SLOTS];
	SrcVec srcs;
	DiagList diags;
};

Ctx *ctx_new(void)
{
	Ctx *c = heap_alloc(sizeof *c);
	c->arena = arena_new();
	c->tmp = arena_new();
	return c;
}

void ctx_free(Ctx *c)
{
	if (!c)
		return;
	arena_free(c->arena);
	arena_free(c->tmp);
	heap_free(c);
}

Arena *ctx_arena(Ctx *c)
{
	return c->arena;
}

Arena *ctx_tmp(Ctx *c)
{
	return c->tmp;
}

void *ctx_table(Ctx *c, CtxSlot slot, size_t size)
{
	if (!c->slots[slot])
		c->slots[slot] = arena_alloc(c->arena, size);
	return c->slots[slot];
}

SrcVec *ctx_srcs(Ctx *c)
{
	return &c->srcs;
}

DiagList *ctx_diags(Ctx *c)
{
	return &c->diags;
}

static uint64_t hash_bytes(const void *p, size_t n)
{
	const unsigned char *s = p;
	uint64_t h = 0xcbf29ce484222325u;
	for (size_t i = 0; i < n; i++)
		h = (h ^ s[i]) * 0x100000001b3u;
	return hash_mix(h, n);
}

static void intern_grow(InternSet *s, uint64_t (*hash_of)(const void *), Arena *a)
{
	InternSet old = *s;
	s->cap = old.cap ? 2 * old.cap : 64;
	s->at = NEWN(a, void *, s->cap);
	for (size_t i = 0; i < old.cap; i++) {
		if (!old.at[i])
			continue;
		size_t at = hash_of(old.at[i]) & (s->cap - 1);
		while (s->at[at])
			at = (at + 1) & (s->cap - 1);
		s->at[at] = old.at[i];
	}
}

void *intern_find(InternSet *s, uint64_t hash, bool (*eq)(const void *entry, const void *key),
		  uint64_t (*hash_of)(const void *entry), const void *key, Arena *a, void ***where)
{
	if (2 * s->n >= s->cap)
		intern_grow(s, hash_of, a);
	size_t at = hash & (s->cap - 1);
	for (; s->at[at]; at = (at + 1) & (s->cap - 1))
		if (eq(s->at[at], key))
			return s->at[at];
	*where = &s->at[at];
	s->n++;
	return NULL;
}

/* Strings: an entry is the text itself; a key also has a length. */
typedef struct {
	const char *s;
	size_t n;
} StrKey;

static bool str_eq(const void *entry, const void *key)
{
	const StrKey *k = key;
	return strlen(entry) == k->n && !memcmp(entry, k->s, k->n);
}

static uint64_t str_hash(const void *entry)
{
	return hash_bytes(entry, strlen(entry));
}

const char *ctx_strn(Ctx *c, const char *s, size_t n)
{
	StrKey key = {s, strnlen(s, n)};
	void **where;
	char *found = intern_find(ctx_table(c, CTX_STR, sizeof(InternSet)), hash_bytes(s, key.n),
				  str_eq, str_hash, &key, c->arena, &where);
	if (!found)
		*where = found = arena_strndup(c->arena, s, key.n);
	return found;
}

const char *ctx_str(Ctx *c, const char *s)
{
	return ctx_strn(c, s, strlen(s));
}

const char *ctx_buf(Ctx *c, Buf *b)
{
	const char *s = ctx_strn(c, b->n ? b->s : "", b->n);
	buf_free(b);
	return s;
}

const char *ctx_vstrf(Ctx *c, const char *fmt, va_list ap)
{
	Buf b = {0};
	buf_vprintf(&b, fmt, ap);
	return ctx_buf(c, &b);
}

const char *ctx_strf(Ctx *c, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *s = ctx_vstrf(c, fmt, ap);
	va_end(ap);
	return s;
}
