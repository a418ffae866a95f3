/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* parser.c - one source text to one tree. What no token could report is checked here: a size
 * beyond what an offset can say, and NUL bytes, which end C strings early. */
#include "frontend/lex.h"
#include "parse.h"

#include "ir/ir.h"

#include <string.h>

enum { SOURCE_MAX = 16 << 20 };

bool parse_error_counts(Parser *p)
{
	if (p->stopped)
		return false;
	p->errors++;
	if (p->errors >= PARSE_ERRORS_MAX)
		p->stopped = true;
	return true;
}

bool lex_error_counts(Parser *p)
{
	p->lexical = true;
	return parse_error_counts(p);
}

static bool source_is_sane(Ctx *c, int src)
{
	const Src *s = ctx_src_at(c, src);
	if (s->size > SOURCE_MAX) {
		diag(c, (Loc){src, 0, 0}, D_E0107, "this file has %zu bytes, at most %d are read",
		     s->size, SOURCE_MAX);
		return false;
	}
	const char *nul = memchr(s->text, 0, s->size);
	if (nul) {
		int at = (int)(nul - s->text);
		diag(c, (Loc){src, at, at + 1}, D_E0101, "a NUL byte: this is not a text file");
	}
	return !nul;
}

static Node *parse(Ctx *c, Arena *a, int src, int start)
{
	Parser p = {.ctx = c, .arena = a, .src = src, .start = start};
	int before = diag_errors(c);
	if (!source_is_sane(c, src))
		return NULL;
	lex_run(&p);
	return diag_errors(c) > before ? NULL : p.result;
}

Node *parse_file(Ctx *c, Arena *a, int src)
{
	return parse(c, a, src, TOK_START_FILE);
}

Node *parse_expr(Ctx *c, Arena *a, int src)
{
	return parse(c, a, src, TOK_START_EXPR);
}

Node *parse_query(Ctx *c, Arena *a, int src)
{
	return parse(c, a, src, TOK_START_QUERY);
}

Node *parse_clauses(Ctx *c, Arena *a, int src)
{
	return parse(c, a, src, TOK_START_CLAUSES);
}
