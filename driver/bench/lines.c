/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lines.c - the schedules file: a line a candidate, in three parts of which each may be missing.
 *     # tiles of 128 columns
 *     ping128: -DbN=128 -DS=6 schedule { roles pingpong; persistent; stages S; }
 *     as-it-is:
 *  -> {"ping128", {"bN=128", "S=6"}, "schedule { .. }"}, {"as-it-is", {}, NULL} */
#include "driver/bench/candidate.h"
#include "driver/choose/tuned.h"

#include <ctype.h>
#include <string.h>

typedef struct {
	Ctx *ctx;
	const char *at, *end; /* what is left of the line */
	int src, begin;       /* offset of the line */
	const char *start;    /* its first byte */
	BenchLine line;
} Reader;

static void skip_blanks(Reader *r)
{
	while (r->at < r->end && isspace((unsigned char)*r->at))
		r->at++;
}

static Loc here(const Reader *r, size_t n)
{
	int at = r->begin + (int)(r->at - r->start);
	return (Loc){r->src, at, at + (int)n};
}

/* Length of the word that stands next. */
static size_t word(const Reader *r)
{
	size_t n = 0;
	while (r->at + n < r->end && !isspace((unsigned char)r->at[n]))
		n++;
	return n;
}

static bool wrong(Reader *r, size_t n, const char *what)
{
	DiagMsg *m = diag(r->ctx, here(r, n), D_E0630, "%s", what);
	diag_remedy(r->ctx, m,
		    "a line is  NAME: -DCONST=VALUE ... schedule { ... }  of which each "
		    "part may be missing");
	return false;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-+.", c));
}

/* "ping128:" */
static void read_name(Reader *r)
{
	size_t n = 0;
	while (r->at + n < r->end && is_name_char(r->at[n]))
		n++;
	r->line.name = ctx_strf(r->ctx, "line %d", r->line.number);
	if (!n || *r->at == '-' || r->at + n == r->end || r->at[n] != ':')
		return;
	r->line.name = ctx_strn(r->ctx, r->at, n);
	r->at += n + 1;
	skip_blanks(r);
}

/* "-DbN=128", "-D bN=128" or "-Dschedule=\"roles cooperative;\"" */
static bool read_define(Reader *r)
{
	r->at += 2;
	skip_blanks(r);
	const char *define;
	size_t n = tuned_define(r->ctx, r->at, (size_t)(r->end - r->at), &define);
	if (!n)
		return wrong(r, word(r), "-D takes NAME=VALUE");
	vec_push(ctx_arena(r->ctx), &r->line.defines, define);
	r->at += n;
	skip_blanks(r);
	return true;
}

static bool starts_block(const Reader *r)
{
	static const char name[] = "schedule";
	size_t n = sizeof name - 1;
	return (size_t)(r->end - r->at) > n && !memcmp(r->at, name, n) && !is_name_char(r->at[n]);
}

/* To the brace that closes it, after which nothing stands. */
static bool read_block(Reader *r)
{
	const char *from = r->at;
	int depth = 0;
	do {
		while (r->at < r->end && *r->at != '{' && *r->at != '}')
			r->at++;
		if (r->at == r->end || (*r->at == '}' && depth == 0)) {
			r->at = from;
			return wrong(r, 8, "the schedule block is not closed on its line");
		}
		depth += *r->at++ == '{' ? 1 : -1;
	} while (depth > 0);
	size_t brace = strcspn(from, "{");
	r->line.block = ctx_strn(r->ctx, from + brace, (size_t)(r->at - from) - brace);
	skip_blanks(r);
	return r->at == r->end || wrong(r, word(r), "nothing may follow the schedule block");
}

static bool read_line(Reader *r)
{
	read_name(r);
	r->line.text = ctx_strn(r->ctx, r->at, (size_t)(r->end - r->at));
	while (r->at < r->end && !starts_block(r)) {
		if (r->end - r->at < 2 || memcmp(r->at, "-D", 2) != 0)
			return wrong(r, word(r), "neither -DNAME=VALUE nor a schedule block");
		if (!read_define(r))
			return false;
	}
	return r->at == r->end || read_block(r);
}

static bool is_new(Reader *r, const BenchLines *lines)
{
	for (int i = 0; i < lines->n; i++) {
		if (strcmp(lines->at[i].name, r->line.name) != 0)
			continue;
		DiagMsg *m = diag(r->ctx, r->line.loc, D_E0630, "candidate '%s' is there twice",
				  r->line.name);
		diag_note(r->ctx, m, lines->at[i].loc, "the first is here");
		diag_remedy(r->ctx, m, "give each a name of its own");
		return false;
	}
	return true;
}

static void take_line(Ctx *c, int src, int begin, int end, int number, BenchLines *out)
{
	const char *text = ctx_src_at(c, src)->text;
	Reader r = {.ctx = c, .at = text + begin, .end = text + end, .src = src, .begin = begin};
	r.start = r.at;
	r.line.number = number;
	while (r.end > r.at && isspace((unsigned char)r.end[-1]))
		r.end--;
	skip_blanks(&r);
	if (r.at == r.end || *r.at == '#')
		return;
	r.line.loc = here(&r, (size_t)(r.end - r.at));
	if (read_line(&r) && is_new(&r, out))
		vec_push(ctx_arena(c), out, r.line);
}

void bench_lines(Ctx *c, int src, BenchLines *out)
{
	const Src *s = ctx_src_at(c, src);
	int number = 0, errors = diag_errors(c);
	for (size_t at = 0; at < s->size;) {
		const char *nl = memchr(s->text + at, '\n', s->size - at);
		size_t end = nl ? (size_t)(nl - s->text) : s->size;
		take_line(c, src, (int)at, (int)end, ++number, out);
		at = end + 1;
	}
	if (!out->n && diag_errors(c) == errors)
		diag_remedy(c, diag(c, NOLOC, D_E0630, "%s has no candidate", s->name),
			    "write a line for each:  NAME: -DCONST=VALUE ... schedule { ... }");
}
