/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* text.c - lines of text in a fixed buffer, for sentences that list things: cut, never overrun. */
#include "runtime/rt.h"

#include <stdio.h>

void line_add(Line *l, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(l->at + l->n, sizeof l->at - l->n, fmt, ap);
	va_end(ap);
	size_t room = sizeof l->at - 1 - l->n;
	l->n += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool text_is_name(const char *s)
{
	if (!is_letter(*s))
		return false;
	while (is_letter(*s) || (*s >= '0' && *s <= '9'))
		s++;
	return !*s;
}
