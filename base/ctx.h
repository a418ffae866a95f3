/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ctx.h - of layout/ and ir/ alone: where each interning table hangs. A file that interns owns one
 * slot and keeps a struct of its own in it, in the ctx's arena. */
#ifndef DSL_CTX_H
#define DSL_CTX_H

#include "base/base.h"

typedef enum { CTX_STR, CTX_IX, CTX_TUP, CTX_LAYOUT, CTX_TYPE, CTX_ATOM, CTX_SLOTS } CtxSlot;

/* An open-addressing set of pointers; equality is the caller's. */
typedef struct InternSet InternSet;
struct InternSet {
	void **at;
	size_t n, cap;
};

Arena *ctx_tmp(Ctx *c); /* for what does not outlive an operation: mark, use, release */
void *ctx_table(Ctx *c, CtxSlot slot, size_t size); /* zeros on first use */
/* The entry equal to `key` (hash given), or NULL with *where set for intern_put. */
void *intern_find(InternSet *s, uint64_t hash, bool (*eq)(const void *entry, const void *key),
		  uint64_t (*hash_of)(const void *entry), const void *key, Arena *a, void ***where);
static inline uint64_t hash_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* escape.c: text of a user in messages */
int utf8_length(const char *s);
void text_cut(const char *s, Buf *out); /* words without an end are cut in the middle */
void text_visible(const char *s, size_t n, Buf *out); /* what a terminal would obey is spelled */
int text_width(const char *s, size_t n);              /* columns of that */
void text_json(const char *s, Buf *out);

/* Sources and messages */
typedef VEC(Src *) SrcVec;
typedef struct {
	DiagMsg *first, *last;
	int errors;
	unsigned char level[D_COUNT + 1]; /* a DiagLevel */
} DiagList;
SrcVec *ctx_srcs(Ctx *c);
DiagList *ctx_diags(Ctx *c);

#endif
