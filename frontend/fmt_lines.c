/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fmt_lines.c - pieces with gaps to lines: statements are set in, what is too long is broken where
 * it is loosest, and comments after consecutive lines stand in one column.
 *     kernel f(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), C : ..., D : ...)
 *  -> kernel f(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1),
 *              C : ..., D : ...) */
#include "frontend/fmt.h"

#include <string.h>

enum { COMMENTS_FROM = 60, BRACKETS_TO = 60, NEVER = 1000 };

/* A line of the result; its comment, if it ends with one after something else. */
typedef struct {
	const char *code, *comment;
	int width; /* of the code; -1: of several lines */
} Line;

typedef struct {
	Fmt *f;
	VEC(Line) lines;
} Lines;

static const NodeKind columns[] = {
#define COLUMN(node) N_##node,
#include "frontend/looks.def"
};

/* ------------------------------------------------------------------ comments of several lines */
static int column_of(const char *text, int at)
{
	int begin = at, column = 0;
	while (begin > 0 && text[begin - 1] != '\n')
		begin--;
	for (int i = begin; i < at; i++)
		column = text[i] == '\t' ? column / 8 * 8 + 8
					 : column + (((unsigned char)text[i] & 0xc0) != 0x80);
	return column;
}

/* How far its lines are moved, all as its first one. */
static int moved_by(const Fmt *f, const Piece *p)
{
	return p->column - column_of(f->src->text, p->loc.begin);
}

/* The column of a comment's line after its blanks. */
static int moved_to(const char *s, int n, int moved, int *lead)
{
	int column = 0;
	for (*lead = 0; *lead < n && (s[*lead] == ' ' || s[*lead] == '\t'); ++*lead)
		column = s[*lead] == '\t' ? column / 8 * 8 + 8 : column + 1;
	return column + moved > 0 ? column + moved : 0;
}

/* The column after a piece: a comment's last line moves, too. */
static int column_after(const Fmt *f, const Piece *p)
{
	const char *last = f->src->text + p->loc.end;
	int n = 0, lead, moved = piece_has_lines(f, p) ? moved_by(f, p) : 0;
	if (!moved)
		return piece_width(f, p) + (piece_has_lines(f, p) ? 0 : p->column);
	for (; last[-1] != '\n'; n++)
		last--;
	int column = moved_to(last, n, moved, &lead);
	return column + column_of(last + lead, n - lead);
}

/* ------------------------------------------------------------------ brackets */
static bool is_bracket(const Fmt *f, int i, const char *set)
{
	const Piece *p = &f->pieces.at[i];
	char ch = f->src->text[p->loc.begin];
	if (p->is_comment || p->loc.end != p->loc.begin + 1 || !strchr(set, ch))
		return false;
	return (ch != '<' && ch != '>') || p->kind == N_TEMPLATE;
}

/* For the pieces of one statement: in which bracket of it each is. */
static void find_brackets(Fmt *f, int from, int to)
{
	int open = -1, depth = 0;
	for (int i = from; i < to; i++) {
		Piece *p = &f->pieces.at[i];
		if (is_bracket(f, i, ")]}>") && open >= 0) {
			open = f->pieces.at[open].open;
			depth--;
		}
		p->open = open;
		p->depth = depth;
		if (is_bracket(f, i, "([{<")) {
			open = i;
			depth++;
		}
	}
}

/* ------------------------------------------------------------------ where to break */
static bool is_operator(const Piece *p)
{
	return !p->is_comment && (p->kind == N_BINARY || p->kind == N_COMPOSE) &&
	       p->before == LOOK_SPACE && p->after == LOOK_SPACE;
}

/* How bad it is to begin a line with piece i. */
static int break_cost(const Fmt *f, int i)
{
	enum { DEEPER = 8, TIGHT_COMMA = 7, OPERATOR = 6, BLANK = 20 };
	const Piece *p = &f->pieces.at[i], *before = p - 1;
	bool comma = piece_is(f, before, ",");
	if (p->gap != GAP_SPACE && !(p->gap == GAP_NONE && comma))
		return NEVER;
	if (p->is_line || is_operator(before) || before->gap == GAP_LINE || piece_is(f, p, "=") ||
	    (p->open >= 0 && f->pieces.at[p->open].kind == N_TEMPLATE))
		return NEVER;
	int cost = p->depth * DEEPER;
	if (comma)
		return cost + (before->after == LOOK_TIGHT ? TIGHT_COMMA : 0);
	return cost + (is_operator(p) ? OPERATOR : BLANK);
}

/* The piece that begins the next line after one that begins with `start` in this column; its own
 * pieces get theirs. */
static int line_end(Fmt *f, int start, int end, int column, int pad)
{
	int best = -1, least = NEVER;
	for (int i = start; i < end; i++) {
		Piece *p = &f->pieces.at[i];
		if (i > start && p->gap == GAP_WRAP)
			return i;
		column += i > start && p->gap == GAP_SPACE;
		column += i == start + 1 ? pad : 0;
		int cost = i > start ? break_cost(f, i) : NEVER;
		if (cost < NEVER && cost <= least) {
			best = i;
			least = cost;
		}
		p->column = column;
		column = column_after(f, p);
		if (column > FMT_WIDTH && best >= 0 && !p->is_line)
			return best;
	}
	return end;
}

static bool begins_with_keyword(const Fmt *f, int start)
{
	const Piece *p = &f->pieces.at[start];
	return !p->is_comment && p->owner->kind != N_NAME && p->owner->kind != N_FILE &&
	       (!p->owner->name || p->loc.begin != p->owner->name_loc.begin);
}

/* Where piece i goes on with the statement that begins with `start`. */
static int go_on_column(const Fmt *f, int start, int i)
{
	const Piece *p = &f->pieces.at[i];
	int indent = f->pieces.at[start].indent * FMT_INDENT, open = p->open;
	if (open >= 0 && f->pieces.at[open + 1].column <= BRACKETS_TO && open + 1 < i)
		return f->pieces.at[open + 1].column;
	if (open >= 0)
		return indent + 2 * FMT_INDENT;
	if (!begins_with_keyword(f, start) || start + 1 >= i)
		return indent + FMT_INDENT;
	int list = f->pieces.at[start + 1].column;
	return piece_is(f, p - 1, ",") ? list : list + FMT_INDENT;
}

/* ------------------------------------------------------------------ lines */
/* A line of a comment, moved as its first one is. */
static void add_moved(const char *s, int n, int moved, Buf *out)
{
	int lead = 0;
	while (n && strchr(" \t\r\f\v", s[n - 1]))
		n--;
	if (moved && n)
		buf_printf(out, "%*s", moved_to(s, n, moved, &lead), "");
	buf_add(out, s + lead, (size_t)(n - lead));
}

static void add_comment(const Fmt *f, const Piece *p, Buf *out)
{
	const char *text = f->src->text, *s = text + p->loc.begin, *end = text + p->loc.end;
	int moved = moved_by(f, p);
	for (bool first = true;; first = false) {
		const char *stop = memchr(s, '\n', (size_t)(end - s));
		int n = (int)((stop ? stop : end) - s);
		add_moved(s, n, first ? 0 : moved, out);
		if (!stop)
			return;
		buf_add(out, "\n", 1);
		s = stop + 1;
	}
}

static void add_piece(const Fmt *f, int i, bool first, int pad, Buf *out)
{
	const Piece *p = &f->pieces.at[i];
	if (!first && p->gap == GAP_SPACE)
		buf_add(out, " ", 1);
	buf_printf(out, "%*s", pad, "");
	if (p->is_comment)
		add_comment(f, p, out);
	else
		buf_add(out, f->src->text + p->loc.begin, (size_t)(p->loc.end - p->loc.begin));
}

static void add_line(Lines *l, int start, int end, int column, int pad)
{
	Fmt *f = l->f;
	const Piece *last = &f->pieces.at[end - 1];
	Buf code = {0}, comment = {0};
	Line line = {0};
	int code_end = last->is_line && end - 1 > start ? end - 1 : end;
	buf_printf(&code, "%*s", column, "");
	for (int i = start; i < code_end; i++)
		add_piece(f, i, i == start, i == start + 1 ? pad : 0, &code);
	if (code_end < end)
		add_piece(f, code_end, true, 0, &comment);
	last = &f->pieces.at[code_end - 1];
	line.width = strchr(code.s, '\n') ? -1 : last->column + piece_width(f, last);
	line.code = arena_strndup(f->arena, code.s, code.n);
	line.comment = comment.n ? arena_strndup(f->arena, comment.s, comment.n) : NULL;
	vec_push(f->arena, &l->lines, line);
	buf_free(&code);
	buf_free(&comment);
}

static void add_statement(Lines *l, int start, int end, int pad)
{
	Fmt *f = l->f;
	int column = f->pieces.at[start].indent * FMT_INDENT;
	if (f->pieces.at[start].blank)
		vec_push(f->arena, &l->lines, ((Line){"", NULL, -1}));
	find_brackets(f, start, end);
	for (int at = start; at < end;) {
		int stop = line_end(f, at, end, column, at == start ? pad : 0);
		add_line(l, at, stop, column, at == start ? pad : 0);
		column = stop < end ? go_on_column(f, start, stop) : 0;
		at = stop;
	}
}

/* ------------------------------------------------------------------ columns */
static int statement_end(const Fmt *f, int start)
{
	int end = start + 1;
	while (end < f->pieces.n && f->pieces.at[end].gap != GAP_LINE)
		end++;
	return end;
}

/* Whether a statement has its names in a column with its neighbours. */
static bool is_in_column(const Fmt *f, int start)
{
	const Piece *p = &f->pieces.at[start];
	for (size_t i = 0; i < COUNTOF(columns) && !p->is_comment; i++)
		if (p->kind == columns[i] && p->loc.begin == p->owner->loc.begin)
			return true;
	return false;
}

/* The longest keyword of the run of such statements that begins here. */
static int column_width(const Fmt *f, int start)
{
	int most = 0;
	for (int at = start; at < f->pieces.n; at = statement_end(f, at)) {
		if (!is_in_column(f, at) || (at > start && f->pieces.at[at].blank))
			break;
		int width = piece_width(f, &f->pieces.at[at]);
		most = width > most ? width : most;
	}
	return most;
}

/* Comments after lines that follow each other. */
static int comment_column(const Lines *l, int first, int *end)
{
	int most = 0;
	for (*end = first; *end < l->lines.n; ++*end) {
		const Line *line = &l->lines.at[*end];
		if (!line->comment || line->width < 0 || line->width > COMMENTS_FROM)
			break;
		most = line->width > most ? line->width : most;
	}
	return most + 1;
}

static void print(const Lines *l, Buf *out)
{
	for (int i = 0, end = 0, column = 0; i < l->lines.n; i++) {
		const Line *line = &l->lines.at[i];
		if (i >= end)
			column = comment_column(l, i, &end);
		buf_printf(out, "%s", line->code);
		if (line->comment)
			buf_printf(out, "%*s%s", i < end ? column - line->width : 1, "",
				   line->comment);
		buf_add(out, "\n", 1);
	}
}

void fmt_lines(Fmt *f, Buf *out)
{
	Lines l = {.f = f};
	int width = 0;
	for (int at = 0; at < f->pieces.n;) {
		const Piece *p = &f->pieces.at[at];
		int end = statement_end(f, at);
		bool in = is_in_column(f, at);
		if (!in || p->blank || !width)
			width = in ? column_width(f, at) : 0;
		add_statement(&l, at, end, in ? width - piece_width(f, p) : 0);
		at = end;
	}
	print(&l, out);
}
