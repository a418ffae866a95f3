/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fmt.c - source in the one style of docs/fmt.md. The tokens of the lexer and the comments
 * between them stay what they are, in their order; the tree says whose token each is, and looks.def
 * what stands around it.
 *     for(m , n)in gD{acc:f32 mm.C( bM,bN )=0;}   // why
 *  -> for (m,n) in gD {
 *         acc : f32 mm.C(bM,bN) = 0;
 *     } // why */
#include "frontend/fmt.h"

#include "frontend/frontend.h"

#include <string.h>

/* ------------------------------------------------------------------ pieces */
bool piece_is(const Fmt *f, const Piece *p, const char *text)
{
	size_t n = (size_t)(p->loc.end - p->loc.begin);
	return !p->is_comment && n == strlen(text) && !memcmp(f->src->text + p->loc.begin, text, n);
}

bool piece_has_lines(const Fmt *f, const Piece *p)
{
	return memchr(f->src->text + p->loc.begin, '\n', (size_t)(p->loc.end - p->loc.begin));
}

int piece_width(const Fmt *f, const Piece *p)
{
	int n = 0;
	for (int i = p->loc.begin; i < p->loc.end; i++) {
		unsigned char ch = (unsigned char)f->src->text[i];
		n = ch == '\n' ? 0 : n + ((ch & 0xc0) != 0x80);
	}
	return n;
}

/* Blanks at the end of a comment are not of it. */
static int trimmed(const char *text, int begin, int end)
{
	while (end > begin && strchr(" \t\r\f\v", text[end - 1]))
		end--;
	return end;
}

/* The comment at `at`: where it ends. */
static int comment_end(const Src *s, int at, bool is_line)
{
	const char *from = s->text + at;
	const char *end =
		is_line ? memchr(from, '\n', s->size - (size_t)at) : strstr(from + 2, "*/");
	return end ? (int)(end - s->text) + (is_line ? 0 : 2) : (int)s->size;
}

/* Between two tokens are blanks and comments. */
static int add_comments(Fmt *f, int src, int at, int end)
{
	const char *text = f->src->text;
	int newlines = 0;
	while (at < end) {
		if (text[at] != '/') {
			newlines += text[at++] == '\n';
			continue;
		}
		bool is_line = text[at + 1] == '/';
		int after = comment_end(f->src, at, is_line);
		Loc loc = {src, at, is_line ? trimmed(text, at, after) : after};
		vec_push(f->arena, &f->pieces,
			 ((Piece){.loc = loc,
				  .is_comment = true,
				  .is_line = is_line,
				  .newlines = newlines,
				  .before = LOOK_SPACE,
				  .after = LOOK_SPACE}));
		newlines = 0;
		at = after;
	}
	return newlines;
}

static void read_pieces(Fmt *f, int src)
{
	TokenVec tokens = {0};
	int at = 0;
	lex_tokens(f->ctx, f->arena, src, &tokens);
	for (int i = 0; i < tokens.n; i++) {
		int newlines = add_comments(f, src, at, tokens.at[i].begin);
		vec_push(f->arena, &f->pieces,
			 ((Piece){.loc = tokens.at[i], .newlines = newlines}));
		at = tokens.at[i].end;
	}
	add_comments(f, src, at, (int)f->src->size);
}

/* ------------------------------------------------------------------ whose tokens */
static const struct {
	NodeKind node; /* N_NONE: of any */
	const char *token;
	Look before, after;
} looks[] = {
#define N_ANY                            N_NONE
#define LOOK(node, token, before, after) {N_##node, token, LOOK_##before, LOOK_##after},
#include "frontend/looks.def"
};

static void look(const Fmt *f, Piece *p)
{
	p->before = p->after = LOOK_SPACE;
	for (size_t i = 0; i < COUNTOF(looks); i++)
		if ((looks[i].node == p->kind || looks[i].node == N_ANY) &&
		    piece_is(f, p, looks[i].token)) {
			p->before = looks[i].before;
			p->after = looks[i].after;
			return;
		}
}

/* The first piece that begins at a byte or after it. */
static int piece_at(const Fmt *f, int byte)
{
	int lo = 0, hi = f->pieces.n;
	while (lo < hi) {
		int mid = lo + (hi - lo) / 2;
		if (f->pieces.at[mid].loc.begin < byte)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static NodeKind kind_of(const Node *n, NodeKind parent)
{
	if (n->kind == N_LIST || n->kind == N_BLOCK)
		return parent;
	return n->kind == N_CALL && n->kids.at[0]->kind == N_FIELD ? N_FIELD : n->kind;
}

/* Children take their tokens from their parents. */
static void own(Fmt *f, const Node *n, NodeKind parent)
{
	NodeKind kind = kind_of(n, parent);
	if (n->kind == N_NONE)
		return;
	for (int i = piece_at(f, n->loc.begin);
	     i < f->pieces.n && f->pieces.at[i].loc.end <= n->loc.end; i++)
		if (!f->pieces.at[i].is_comment) {
			f->pieces.at[i].kind = kind;
			f->pieces.at[i].owner = n;
		}
	for (int i = 0; i < n->kids.n; i++)
		own(f, n->kids.at[i], kind);
}

/* ------------------------------------------------------------------ the whole */
/* The text without blanks: what must not change. */
static void bare(const char *s, size_t n, Buf *out)
{
	buf_add(out, "", 0);
	for (size_t i = 0; i < n; i++)
		if (!strchr(" \t\r\n\f\v", s[i]))
			buf_add(out, &s[i], 1);
}

static void own_all(Fmt *f, const Node *file)
{
	for (int i = 0; i < f->pieces.n; i++) {
		f->pieces.at[i].kind = N_FILE;
		f->pieces.at[i].owner = file;
	}
	for (int i = 0; i < file->kids.n; i++)
		own(f, file->kids.at[i], N_FILE);
	for (int i = 0; i < f->pieces.n; i++)
		if (!f->pieces.at[i].is_comment)
			look(f, &f->pieces.at[i]);
}

/* Nothing of a source is lost: the same letters, cut into the same tokens. */
static void check(Fmt *f, int src, const Buf *out)
{
	int formatted = ctx_src(f->ctx, f->src->name, out->s, out->n);
	TokenVec was = {0}, is = {0};
	Buf a = {0}, b = {0};
	lex_tokens(f->ctx, f->arena, src, &was);
	lex_tokens(f->ctx, f->arena, formatted, &is);
	bool same = was.n == is.n;
	for (int i = 0; same && i < was.n; i++)
		same = was.at[i].end - was.at[i].begin == is.at[i].end - is.at[i].begin;
	bare(f->src->text, f->src->size, &a);
	bare(out->s, out->n, &b);
	if (!same || strcmp(a.s, b.s) != 0)
		panic("the formatter would change %s", f->src->name);
	buf_free(&a);
	buf_free(&b);
}

static bool format_once(Ctx *c, int src, Buf *out)
{
	Fmt f = {.ctx = c, .arena = arena_new(), .src = ctx_src_at(c, src)};
	const Node *file = parse_file(c, f.arena, src);
	if (file) {
		read_pieces(&f, src);
		own_all(&f, file);
		fmt_gaps(&f);
		buf_add(out, "", 0);
		fmt_lines(&f, out);
		check(&f, src, out);
	}
	arena_free(f.arena);
	return file != NULL;
}

/* A line broken at a comma stays broken there, which may give another line room: until nothing
 * changes. Each round adds such breaks, of which there are as many as commas. */
bool frontend_format(Ctx *c, int src, Buf *out)
{
	enum { ROUNDS_MAX = 50 };
	bool ok = format_once(c, src, out);
	for (int i = 0; ok; i++) {
		Buf again = {0};
		int formatted = ctx_src(c, ctx_src_at(c, src)->name, out->s, out->n);
		ok = format_once(c, formatted, &again);
		bool same = ok && strcmp(again.s, out->s) == 0;
		buf_free(out);
		*out = again;
		if (same)
			return true;
		if (!ok || i == ROUNDS_MAX)
			panic("the formatter does not come to rest: %s", ctx_src_at(c, src)->name);
	}
	return ok;
}
