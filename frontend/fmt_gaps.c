/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fmt_gaps.c - what stands before each piece: nothing, a blank, or a line break. Between two tokens
 * their looks decide; comments stay where they are: after a token on its line, or on lines of
 * their own.
 *     a ;// b
 *  -> a; // b */
#include "frontend/fmt.h"

#include <ctype.h>

enum { DEPTH_MAX = AST_DEPTH_MAX + 2 };

/* The braces around a piece. */
typedef struct {
	Fmt *f;
	int n, line; /* open braces; where the line began */
	struct {
		bool lines; /* what is in it has lines of its own */
	} at[DEPTH_MAX];
} Braces;

/* ------------------------------------------------------------------ on one line */
/* Two tokens that would be another one, or the start of a comment, side by side. */
static bool must_part(const Fmt *f, const Piece *a, const Piece *b)
{
	static const char *const pairs[] = {"<-", "<=", ">=", "==", "!=", "+=", "..",
					    "&&", "||", "<<", ">>", "//", "/*"};
	const char *text = f->src->text;
	char x = text[a->loc.end - 1], y = text[b->loc.begin];
	bool word = isalnum((unsigned char)x) || x == '_';
	if (word && (isalnum((unsigned char)y) || y == '_'))
		return true;
	if (y == '.' && isdigit((unsigned char)text[a->loc.begin]))
		return true;
	for (size_t i = 0; i < COUNTOF(pairs); i++)
		if (x == pairs[i][0] && y == pairs[i][1])
			return true;
	return false;
}

static bool ends_operand(const Fmt *f, const Piece *a)
{
	char x = f->src->text[a->loc.end - 1];
	return isalnum((unsigned char)x) || strchr("_)]>'", x);
}

static bool is_tight(const Fmt *f, const Piece *a, const Piece *b)
{
	bool opens = piece_is(f, b, "(") || piece_is(f, b, "[");
	if (must_part(f, a, b))
		return false;
	if (b->before == LOOK_GLUE || a->after == LOOK_TIGHT)
		return true;
	return b->before == LOOK_TIGHT && (!opens || ends_operand(f, a));
}

/* ------------------------------------------------------------------ blocks on one line */
static int closing(const Fmt *f, int open)
{
	int n = 0;
	for (int i = open; i < f->pieces.n; i++) {
		const Piece *p = &f->pieces.at[i];
		n += piece_is(f, p, "{") - piece_is(f, p, "}");
		if (n == 0)
			return i;
	}
	return f->pieces.n - 1;
}

/* Columns of the pieces from..to on one line; above FMT_WIDTH where they cannot be on one. */
static int width_of(const Fmt *f, int from, int to, int column)
{
	for (int i = from; i <= to && column <= FMT_WIDTH; i++) {
		const Piece *p = &f->pieces.at[i];
		if (p->is_line || (p->is_comment && piece_has_lines(f, p)))
			return FMT_WIDTH + 1;
		column += piece_width(f, p) + (i > from && !is_tight(f, p - 1, p));
	}
	return column;
}

/* As its author began it, if it fits. */
static bool has_lines(const Braces *b, int open)
{
	const Fmt *f = b->f;
	int end = closing(f, open);
	if (f->pieces.at[open].after == LOOK_LINE)
		return true;
	if (!b->at[b->n - 1].lines || end == open + 1)
		return false;
	return f->pieces.at[open + 1].newlines > 0 ||
	       width_of(f, b->line, end, f->pieces.at[b->line].indent * FMT_INDENT) > FMT_WIDTH;
}

static int level(const Braces *b)
{
	int n = 0;
	for (int i = 1; i < b->n; i++)
		n += b->at[i].lines;
	return n;
}

/* ------------------------------------------------------------------ between tokens */
static bool breaks(const Braces *b, Look look)
{
	return look == LOOK_LINE || look == LOOK_HALF ||
	       (look == LOOK_OPEN && b->at[b->n - 1].lines);
}

/* A comma where a list may be broken, as its author did. */
static bool is_loose_comma(const Fmt *f, const Piece *a)
{
	return piece_is(f, a, ",") && a->after == LOOK_SPACE;
}

static Gap token_gap(const Braces *b, const Piece *before, const Piece *p, int newlines)
{
	if (!before)
		return GAP_LINE;
	if (p->before != LOOK_GLUE && (breaks(b, p->before) || breaks(b, before->after)))
		return GAP_LINE;
	if (newlines && is_loose_comma(b->f, before))
		return GAP_WRAP;
	return is_tight(b->f, before, p) ? GAP_NONE : GAP_SPACE;
}

/* ------------------------------------------------------------------ comments */
static int newlines_within(const Fmt *f, int from, int to)
{
	int n = 0;
	for (int i = from; i <= to && i < f->pieces.n; i++)
		n += f->pieces.at[i].newlines + f->pieces.at[i].is_line;
	return n;
}

static Gap comment_gap(const Fmt *f, int i, Gap broken)
{
	const Piece *p = &f->pieces.at[i], *before = i ? p - 1 : NULL;
	if (!before || p->newlines || before->is_line)
		return broken;
	return before->after == LOOK_TIGHT ? GAP_NONE : GAP_SPACE;
}

/* The gap of a token that the comments from..at-1 stand before, and `gap` without them. */
static Gap after_comments(const Fmt *f, int from, int at, Gap gap)
{
	const Piece *p = &f->pieces.at[at], *last = p - 1;
	Gap broken = gap == GAP_LINE ? GAP_LINE : GAP_WRAP;
	bool own_line = last->gap == GAP_LINE || last->gap == GAP_WRAP;
	bool begun = false;
	for (int i = from; i < at; i++)
		begun |= f->pieces.at[i].gap == GAP_LINE;
	bool begins = gap == GAP_LINE && p->before != LOOK_SPACE && p->before != LOOK_TIGHT;
	if (begins || last->is_line || (own_line && p->newlines))
		return broken;
	if (gap == GAP_LINE && !begun)
		return GAP_LINE;
	if (gap == GAP_WRAP && p->newlines)
		return GAP_WRAP;
	return gap == GAP_NONE && p->before == LOOK_GLUE ? GAP_NONE : GAP_SPACE;
}

/* Comments between two tokens: those after the first stay after it, unless the second goes on in
 * their line and begins another one. */
static void comment_gaps(Fmt *f, int from, int at, Gap gap)
{
	bool leading = gap == GAP_LINE && !newlines_within(f, from, at);
	for (int i = from; i < at; i++)
		f->pieces.at[i].gap = i == from && leading
					      ? GAP_LINE
					      : comment_gap(f, i, gap == GAP_LINE ? gap : GAP_WRAP);
	if (at < f->pieces.n)
		f->pieces.at[at].gap = from < at ? after_comments(f, from, at, gap) : gap;
}

/* ------------------------------------------------------------------ all */
static void push(Braces *b, int i)
{
	bool lines = has_lines(b, i);
	if (b->n < DEPTH_MAX)
		b->at[b->n++].lines = lines;
}

/* One empty line stays where statements are parted by one or more. */
static void blanks(Fmt *f, int from, int at, bool parted)
{
	for (int i = from; i <= at && i < f->pieces.n; i++) {
		Piece *p = &f->pieces.at[i];
		bool first = i == 0 || piece_is(f, p - 1, "{");
		p->blank = p->gap == GAP_LINE && p->newlines > 1 && !first &&
			   !piece_is(f, p, "}") && (parted || i > from);
	}
}

/* The piece at `at`, a token or the end, and the comments before it. */
static void place(Braces *b, const Piece *before, int from, int at)
{
	Fmt *f = b->f;
	Piece *p = at < f->pieces.n ? &f->pieces.at[at] : NULL;
	Gap gap = p ? token_gap(b, before, p, newlines_within(f, from, at)) : GAP_LINE;
	bool parted = !before || breaks(b, before->after), closes = p && piece_is(f, p, "}");
	comment_gaps(f, from, at, gap);
	for (int i = from; i <= at && i < f->pieces.n; i++)
		f->pieces.at[i].indent = level(b) + (p && p->before == LOOK_HALF);
	if (closes && b->n > 1 && p->before != LOOK_SPACE) {
		b->n--;
		p->indent = level(b);
	}
	blanks(f, from, at, parted);
	for (int i = from; i <= at && i < f->pieces.n; i++)
		if (f->pieces.at[i].gap == GAP_LINE)
			b->line = i;
	if (p && piece_is(f, p, "{") && p->after != LOOK_SPACE)
		push(b, at);
}

void fmt_gaps(Fmt *f)
{
	Braces b = {.f = f, .n = 1};
	b.at[0].lines = true;
	const Piece *before = NULL;
	int from = 0;
	for (int i = 0; i <= f->pieces.n; i++) {
		if (i < f->pieces.n && f->pieces.at[i].is_comment)
			continue;
		place(&b, before, from, i);
		before = i < f->pieces.n ? &f->pieces.at[i] : NULL;
		from = i + 1;
	}
}
