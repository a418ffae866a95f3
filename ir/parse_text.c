/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* parse_text.c - the words of the text of IR, and the messages about them. One op a line; `#`
 * starts a comment, which is a blank.
 *     full[k] # of the ring  ->  word "full", '[', index k, ']', end of the line
 */
#include "ir/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ places and messages */
Loc line_place(const Parser *p, const char *begin, const char *end)
{
	return (Loc){p->src, (int)(begin - p->text), (int)(end - p->text)};
}

bool line_begins_word(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}

static bool is_word(char ch)
{
	return line_begins_word(ch) || (ch >= '0' && ch <= '9') || ch == '.';
}

/* The token at s, for messages. */
const char *line_token_end(const char *s)
{
	const char *e = s;
	while (is_word(*e))
		e++;
	return e > s || !*s ? e : s + 1;
}

bool line_fail(Parser *p, Loc at, DiagId id, const char *text, const char *remedy)
{
	if (p->errors++ >= MAX_ERRORS)
		return false;
	DiagMsg *m = diag(p->c, at, id, "%s", text);
	if (remedy)
		diag_remedy(p->c, m, "%s", remedy);
	return false;
}

bool line_expected(Parser *p, const char *what)
{
	const char *e = line_token_end(p->s);
	const char *text =
		!*p->s || *p->s == '\n' || *p->s == '\r'
			? arena_printf(ctx_arena(p->c), "expected %s before the end of the %s",
				       what, *p->s ? "line" : "text")
			: arena_printf(ctx_arena(p->c), "expected %s, found '%.*s'", what,
				       (int)(e - p->s > 40 ? 40 : e - p->s), p->s);
	return line_fail(p, line_place(p, p->s, e), D_E0701, text, NULL);
}

bool line_unknown(Parser *p, const char *begin, const char *end, const char *what,
		  const char *remedy)
{
	const char *text =
		arena_printf(ctx_arena(p->c), "unknown %s '%.*s'", what, (int)(end - begin), begin);
	return line_fail(p, line_place(p, begin, end), D_E0702, text, remedy);
}

bool line_duplicate(Parser *p, const char *begin, const char *what, const char *name)
{
	const char *text = arena_printf(ctx_arena(p->c), "%s '%s' is defined twice", what, name);
	return line_fail(p, line_place(p, begin, p->s), D_E0703, text, "give it another name");
}

/* ------------------------------------------------------------------ tokens */
void line_skip_blanks(Parser *p)
{
	while (*p->s == ' ' || *p->s == '\t' || *p->s == '\r')
		p->s++;
	if (*p->s == '#')
		p->s += strcspn(p->s, "\n");
}

void line_skip_lines(Parser *p)
{
	line_skip_blanks(p);
	while (*p->s == '\n') {
		p->s++;
		line_skip_blanks(p);
	}
}

bool line_accept(Parser *p, char ch)
{
	line_skip_blanks(p);
	if (*p->s != ch)
		return false;
	p->s++;
	return true;
}

bool line_expect(Parser *p, char ch)
{
	char what[] = {'\'', ch, '\'', 0};
	return line_accept(p, ch) || line_expected(p, what);
}

/* A subparser may have eaten the newline already. */
bool line_expect_eol(Parser *p)
{
	line_skip_blanks(p);
	if (!*p->s || *p->s == '\n' || *p->s == '}')
		return true;
	for (const char *s = p->s; s > p->text && strchr(" \t\r\n", s[-1]); s--)
		if (s[-1] == '\n')
			return true;
	return line_expected(p, "the end of the line");
}

const char *line_word(Parser *p)
{
	line_skip_blanks(p);
	const char *begin = p->s;
	if (!line_begins_word(*begin))
		return NULL;
	while (is_word(*p->s))
		p->s++;
	return ctx_strn(p->c, begin, (size_t)(p->s - begin));
}

const char *line_expect_word(Parser *p, const char *what)
{
	const char *w = line_word(p);
	if (!w)
		line_expected(p, what);
	return w;
}

/* Does a word with '=' after it stand here: an attribute? */
bool line_at_attr(Parser *p)
{
	line_skip_blanks(p);
	const char *s = p->s;
	if (!line_begins_word(*s))
		return false;
	while (is_word(*s))
		s++;
	return *s == '=' && s[1] != '=';
}

const char *line_value_name(Parser *p)
{
	const char *begin = p->s;
	while (is_word(*p->s))
		p->s++;
	if (p->s > begin)
		return ctx_strn(p->c, begin, (size_t)(p->s - begin));
	line_expected(p, "a value's name");
	return NULL;
}

bool line_expect_int(Parser *p, int64_t *v)
{
	char *end;
	line_skip_blanks(p);
	if (!(*p->s >= '0' && *p->s <= '9') && *p->s != '-')
		return line_expected(p, "an integer");
	errno = 0;
	long long x = strtoll(p->s, &end, 10);
	if (end == p->s || (*p->s == '-' && end == p->s + 1))
		return line_expected(p, "an integer");
	if (errno)
		return line_fail(p, line_place(p, p->s, end), D_E0701,
				 "the integer does not fit in 64 bits", NULL);
	p->s = end;
	*v = x;
	return true;
}

static int hex_digit(char ch)
{
	return ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

/* "text" with \" \\ and \xHH; NULL after a message. */
const char *line_expect_quoted(Parser *p)
{
	line_skip_blanks(p);
	if (*p->s != '"')
		return line_expected(p, "a text in quotes"), NULL;
	const char *s = p->s + 1;
	char *text = arena_alloc(ctx_arena(p->c), strcspn(s, "\n") + 1), *t = text;
	for (; *s && *s != '\n' && *s != '"'; s++) {
		if (*s == '\\' && s[1] == 'x' && hex_digit(s[2]) >= 0 && hex_digit(s[3]) >= 0) {
			*t++ = (char)(hex_digit(s[2]) * 16 + hex_digit(s[3]));
			s += 3;
		} else {
			s += *s == '\\' && (s[1] == '"' || s[1] == '\\');
			*t++ = *s;
		}
	}
	const char *begin = p->s;
	p->s = s;
	if (*s != '"') {
		line_fail(p, line_place(p, begin, s), D_E0701, "the text has no closing quote",
			  NULL);
		return NULL;
	}
	p->s++;
	return text;
}

const Ix *line_expect_ix(Parser *p)
{
	const char *why = NULL, *begin = p->s;
	const Ix *x = ix_parse(p->c, &p->s, &why);
	if (!x)
		line_fail(p, line_place(p, begin, line_token_end(p->s)), D_E0701,
			  why ? why : "expected an index expression", NULL);
	return x;
}

const Type *line_expect_type(Parser *p)
{
	const char *why = NULL;
	line_skip_blanks(p);
	const char *begin = p->s;
	const Type *t = type_parse(p->c, &p->s, &why);
	if (!t)
		line_fail(
			p, line_place(p, begin, line_token_end(p->s)), D_E0701,
			why ? why : "expected a type",
			"types are: f32 | global|shared|reg ELEM LAYOUT [tv LAYOUT] | tmap | mbar");
	return t;
}
