/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* text.c - the text of an open file: positions as editors count them, in UTF-16 units, and what
 * is being written at one.
 *     "a\xc3\xa4 b", offset 4  ->  line 0, character 3 */
#include "driver/lsp/lsp.h"

#include <ctype.h>
#include <string.h>

/* ------------------------------------------------------------------ positions */
/* Bytes of the character at i, and its UTF-16 units; a byte that begins none counts as one. */
static size_t step(const Buf *text, size_t i, int64_t *units)
{
	unsigned char ch = (unsigned char)text->s[i];
	size_t n = ch >= 0xf0 ? 4 : ch >= 0xe0 ? 3 : ch >= 0xc0 ? 2 : 1;
	*units = n == 4 ? 2 : 1;
	return i + n <= text->n ? n : text->n - i;
}

/* After the end of the line at i, which may be \n, \r\n or \r; i: it does not end there. */
static size_t line_break(const Buf *text, size_t i)
{
	if (text->s[i] == '\n')
		return i + 1;
	if (text->s[i] != '\r')
		return i;
	return i + 1 < text->n && text->s[i + 1] == '\n' ? i + 2 : i + 1;
}

size_t text_offset(const Buf *text, int64_t line, int64_t character)
{
	size_t i = 0;
	int64_t at = 0, units;
	for (; at < line && i < text->n; i++) {
		size_t next = line_break(text, i);
		at += next > i;
		i = next > i ? next - 1 : i;
	}
	for (int64_t n = 0; i < text->n && n < character && at == line && line_break(text, i) == i;
	     n += units)
		i += step(text, i, &units);
	return i;
}

void text_position(const Buf *text, size_t offset, int64_t *line, int64_t *character)
{
	int64_t units;
	*line = *character = 0;
	for (size_t i = 0; i < offset && i < text->n;) {
		size_t next = line_break(text, i);
		if (next > i && next <= offset) {
			++*line;
			*character = 0;
			i = next;
		} else {
			i += step(text, i, &units);
			*character += next > i ? 0 : units;
		}
	}
}

static bool is_word(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_';
}

bool text_word(const Buf *text, size_t offset, size_t *begin, size_t *end)
{
	*begin = *end = offset < text->n ? offset : text->n;
	while (*begin > 0 && is_word(text->s[*begin - 1]))
		--*begin;
	while (*end < text->n && is_word(text->s[*end]))
		++*end;
	return *end > *begin;
}

/* ------------------------------------------------------------------ names of files */
static int hex(char ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	ch = (char)(ch | 0x20);
	return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

char *text_path(const char *uri)
{
	static const char scheme[] = "file://";
	bool is_file = !strncmp(uri, scheme, sizeof scheme - 1);
	const char *s = is_file ? uri + sizeof scheme - 1 : uri;
	char *path = heap_alloc(strlen(s) + 1), *to = path;
	while (*s) {
		int high = is_file && *s == '%' ? hex(s[1]) : -1;
		int low = high < 0 ? -1 : hex(s[2]), ch = high * 16 + low;
		if (low >= 0 && ch) {
			*to++ = (char)ch;
			s += 3;
		} else {
			*to++ = *s++;
		}
	}
	return path;
}

/* ------------------------------------------------------------------ what is being written */
enum { BRACES_MAX = 64 };

/* A reading of the text up to the offset, for what even broken text tells. */
typedef struct {
	const Buf *text;
	size_t at, end;
	bool schedule[BRACES_MAX]; /* each open brace: whether it is of a schedule */
	int braces;
	size_t clause, clause_end; /* the first word of the clause that is being written; or none */
	bool announced;            /* the word before is `schedule` */
	char before;               /* the last character that is no blank */
} Reading;

/* Moves over a comment or a string; true when the offset lies in it. */
static bool skip_aside(Reading *r)
{
	const char *s = r->text->s + r->at;
	size_t left = r->end - r->at;
	const char *end = NULL;
	if (left >= 2 && !memcmp(s, "//", 2))
		end = memchr(s, '\n', left);
	else if (left >= 2 && !memcmp(s, "/*", 2))
		for (size_t i = 3; i < left && !end; i++)
			end = s[i - 1] == '*' && s[i] == '/' ? s + i + 1 : NULL;
	else if (*s == '"')
		for (size_t i = 1; i < left && !end; i++)
			end = (s[i] == '"' && s[i - 1] != '\\') || s[i] == '\n' ? s + i + 1 : NULL;
	else
		return false;
	r->at = end ? (size_t)(end - r->text->s) : r->end;
	return !end;
}

static bool in_schedule(const Reading *r)
{
	return r->braces > 0 && r->braces <= BRACES_MAX && r->schedule[r->braces - 1];
}

static void read_word(Reading *r)
{
	size_t begin = r->at;
	while (r->at < r->end && is_word(r->text->s[r->at]))
		r->at++;
	r->announced = r->at - begin == 8 && !memcmp(r->text->s + begin, "schedule", 8);
	if (in_schedule(r) && r->clause_end == 0 && r->at < r->end) {
		r->clause = begin;
		r->clause_end = r->at;
	}
	r->before = 'a';
}

static void read_mark(Reading *r)
{
	char ch = r->text->s[r->at++];
	if (isspace((unsigned char)ch))
		return;
	if (ch == '{') {
		if (r->braces < BRACES_MAX)
			r->schedule[r->braces] = r->announced || in_schedule(r);
		r->braces++;
	}
	r->braces -= ch == '}' && r->braces > 0;
	if (strchr("{};", ch))
		r->clause_end = 0;
	r->announced = false;
	r->before = ch;
}

TextPlace text_place(const Buf *text, size_t offset, Buf *clause)
{
	Reading r = {.text = text, .end = offset < text->n ? offset : text->n};
	while (r.at < r.end) {
		size_t at = r.at;
		if (skip_aside(&r))
			return IN_COMMENT;
		if (r.at > at)
			continue;
		if (is_word(r.text->s[r.at])) {
			char before = r.before;
			read_word(&r);
			if (r.at == r.end) /* the word that is being written */
				r.before = before;
		} else {
			read_mark(&r);
		}
	}
	if (!in_schedule(&r))
		return r.before == ':' ? IN_TYPE : IN_CODE;
	if (!r.clause_end)
		return IN_SCHEDULE;
	buf_add(clause, text->s + r.clause, r.clause_end - r.clause);
	return IN_CLAUSE;
}
