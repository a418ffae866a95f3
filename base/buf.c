/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* buf.c - text that grows; always NUL-terminated. */
#include "base/base.h"

#include <stdio.h>
#include <string.h>

static void buf_room(Buf *b, size_t more)
{
	if (b->n + more + 1 <= b->cap)
		return;
	size_t cap = b->cap ? b->cap : 256;
	while (cap < b->n + more + 1)
		cap *= 2;
	b->s = heap_realloc(b->s, cap);
	b->cap = cap;
}

void buf_add(Buf *b, const char *s, size_t n)
{
	buf_room(b, n);
	if (n)
		memcpy(b->s + b->n, s, n);
	b->n += n;
	b->s[b->n] = '\0';
}

void buf_vprintf(Buf *b, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	buf_room(b, (size_t)n);
	vsnprintf(b->s + b->n, (size_t)n + 1, fmt, ap);
	b->n += (size_t)n;
}

void buf_printf(Buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void buf_free(Buf *b)
{
	heap_free(b->s);
	*b = (Buf){0};
}
