/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* escape.c - text that a user wrote, as messages show it: bytes that a terminal would obey, and
 * marks that turn the order of a line around, become visible; what has no end is cut; JSON is UTF-8
 *     "a\033[2Jb"  ->  a<1B>[2Jb */
#include "base/ctx.h"

#include <string.h>

enum { WORD_MAX = 240, WORD_HEAD = 120, WORD_TAIL = 40 };

/* ------------------------------------------------------------------ characters */
/* Bytes of the UTF-8 character at s, 0 where there is none (RFC 3629). */
int utf8_length(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	int n = u[0] < 0x80   ? 1
		: u[0] < 0xc2 ? 0
		: u[0] < 0xe0 ? 2
		: u[0] < 0xf0 ? 3
		: u[0] < 0xf5 ? 4
			      : 0;
	for (int i = 1; i < n; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
	    (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
		return 0;
	return n;
}

static unsigned code_point(const char *s, int n)
{
	const unsigned char *u = (const unsigned char *)s;
	unsigned c = n == 1 ? u[0] : u[0] & (0x7fu >> n);
	for (int i = 1; i < n; i++)
		c = c << 6 | (u[i] & 0x3f);
	return c;
}

/* What has no picture of its own, or changes that of others: controls, marks of direction, joiners,
 * separators, tags. */
static bool is_hidden(unsigned c)
{
	static const struct {
		unsigned from, to;
	} ranges[] = {{0, 0x1f},        {0x7f, 0x9f},      {0xad, 0xad},     {0x61c, 0x61c},
		      {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f}, {0xfeff, 0xfeff},
		      {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
	for (size_t i = 0; i < COUNTOF(ranges); i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return true;
	return false;
}

/* Adds the character at s, and gives its bytes. */
static int add_visible(const char *s, Buf *out)
{
	int n = utf8_length(s);
	if (n == 0 || (n == 1 && is_hidden((unsigned char)*s)))
		buf_printf(out, "<%02X>", (unsigned char)*s);
	else if (is_hidden(code_point(s, n)))
		buf_printf(out, "<U+%04X>", code_point(s, n));
	else
		buf_add(out, s, (size_t)n);
	return n ? n : 1;
}

/* ------------------------------------------------------------------ texts */
/* From `at` back or on to where a character begins. */
static size_t whole(const char *s, size_t at)
{
	while (at > 0 && ((unsigned char)s[at] & 0xc0) == 0x80)
		at--;
	return at;
}

void text_cut(const char *s, Buf *out)
{
	buf_add(out, "", 0);
	while (*s) {
		size_t n = strcspn(s, " \t\n");
		if (n > WORD_MAX) {
			size_t tail = whole(s, n - WORD_TAIL);
			buf_add(out, s, whole(s, WORD_HEAD));
			buf_printf(out, "<...>");
			buf_add(out, s + tail, n - tail);
		} else {
			buf_add(out, s, n);
		}
		s += n;
		buf_add(out, s, *s != 0);
		s += *s != 0;
	}
}

void text_visible(const char *s, size_t n, Buf *out)
{
	const char *end = s + n;
	while (s < end)
		if (*s == '\n' || *s == '\t')
			buf_add(out, s++, 1);
		else
			s += add_visible(s, out);
}

int text_width(const char *s, size_t n)
{
	Buf b = {0};
	int width = 0;
	text_visible(s, n, &b);
	for (size_t i = 0; i < b.n; i++)
		width += ((unsigned char)b.s[i] & 0xc0) != 0x80;
	buf_free(&b);
	return width;
}

/* A byte that is no UTF-8 becomes the replacement character. */
void text_json(const char *s, Buf *out)
{
	buf_add(out, "\"", 1);
	while (*s) {
		unsigned char ch = (unsigned char)*s;
		int n = utf8_length(s);
		if (ch == '"' || ch == '\\')
			buf_printf(out, "\\%c", ch);
		else if (n == 0)
			buf_printf(out, "\\ufffd");
		else if (n <= 3 && is_hidden(code_point(s, n)))
			buf_printf(out, "\\u%04x", code_point(s, n));
		else
			buf_add(out, s, (size_t)n);
		s += n ? n : 1;
	}
	buf_add(out, "\"", 1);
}
