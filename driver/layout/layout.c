/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout.c - dslc layout: expressions of the algebra, evaluated by the frontend, printed in CuTe's
 * form; with options, as tables, bank conflicts or a picture.
 *     dslc layout 'coalesce((2,4):(1,2))'      ->  8:1
 *     dslc layout 'M:1 / 128 where M % 128 == 0'   ->  (128,M / 128):(1,128)
 * Without an expression, each line of stdin is one. */
#include "driver/files.h"
#include "driver/tool.h"
#include "driver/layout/layout_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	const Options *o;
	Ctx *c;
	FrontendLayout found;
	const Layout *layout; /* what tables are of */
	int64_t rows, cols;   /* of a tile; 0: none */
} Query;

/* What make_layout_tv gives: a tile and a layout on it. */
static void take_pair(Query *q, const Alg *v)
{
	const Tup *tile = v->n == 2 && v->at[0].kind == ALG_TUP ? v->at[0].tup : NULL;
	if (!tile || v->at[1].kind != ALG_LAYOUT)
		return;
	q->layout = v->at[1].layout;
	if (tup_rank(tile) > 2 || !tup_is_static(tile) ||
	    !ix_is_const(tup_product(q->c, tup_get(tile, 0)), &q->rows))
		return;
	if (tup_rank(tile) == 1)
		q->cols = 1;
	else if (!ix_is_const(tup_product(q->c, tup_get(tile, 1)), &q->cols))
		q->rows = 0;
}

static bool take_layout(Query *q)
{
	const Alg *v = &q->found.value;
	q->rows = q->found.rows;
	q->cols = q->found.cols;
	q->layout = v->kind == ALG_LAYOUT ? v->layout : NULL;
	if (v->kind == ALG_LIST)
		take_pair(q, v);
	if (v->kind == ALG_TUP)
		q->layout = layout_left(q->c, v->tup);
	return q->layout;
}

static bool complain(Query *q, const char *why)
{
	diag(q->c, NOLOC, D_E0209, "%s", why);
	return false;
}

static const View *view_of(Query *q, bool tv, const char **why)
{
	if (tv || q->found.mma || (q->rows && q->found.value.kind == ALG_LIST))
		return view_tv(q->c, q->layout, q->rows, q->cols, why);
	return view_offsets(q->c, q->layout, why);
}

static bool show_table(Query *q, bool tv, Buf *out)
{
	const char *why = NULL;
	const View *v = tv ? view_of(q, true, &why) : view_offsets(q->c, q->layout, &why);
	if (!v)
		return complain(q, why);
	view_table(v, out);
	return true;
}

static bool show_svg(Query *q)
{
	const char *why = NULL;
	const View *v = view_of(q, q->o->tv, &why);
	Buf text = {0};
	if (!v)
		return complain(q, why);
	view_svg(v, &text);
	bool ok = file_write(q->c, q->o->svg, text.s, text.n);
	buf_free(&text);
	return ok;
}

static bool show(Query *q, Buf *out)
{
	const Options *o = q->o;
	const char *why = NULL;
	if (!o->svg || strcmp(o->svg, "-") != 0) {
		alg_print(&q->found.value, out);
		buf_printf(out, "\n");
	}
	if (!o->table && !o->tv && !o->banks && !o->svg)
		return true;
	if (!take_layout(q))
		return complain(q, "tables and pictures are of layouts, this is a list");
	if (o->table && !show_table(q, false, out))
		return false;
	if (o->tv && !show_table(q, true, out))
		return false;
	if (o->banks && !layout_banks(q->c, q->layout, o->elem, out, &why))
		return complain(q, why);
	return !o->svg || show_svg(q);
}

static bool answer(const Options *o, const char *name, const char *text, size_t n)
{
	Query q = {.o = o, .c = tool_ctx(o)};
	Buf out = {0};
	int src = ctx_src(q.c, name, text, n);
	bool ok = frontend_layout(q.c, src, &q.found) && show(&q, &out);
	if (out.n)
		fwrite(out.s, 1, out.n, stdout);
	tool_messages(q.c, o);
	buf_free(&out);
	ctx_free(q.c);
	return ok;
}

static bool is_blank(const char *line)
{
	line += strspn(line, " \t\r\n");
	return !*line || *line == '#' || !strncmp(line, "//", 2);
}

static int answer_lines(const Options *o)
{
	char *line = NULL, name[32];
	size_t cap = 0;
	ssize_t n;
	int code = EXIT_OK;
	for (int i = 1; (n = getline(&line, &cap, stdin)) > 0; i++) {
		if (line[n - 1] == '\n')
			line[--n] = '\0';
		snprintf(name, sizeof name, "<stdin, line %d>", i);
		if (!is_blank(line) && !answer(o, name, line, (size_t)n))
			code = EXIT_DIAGS;
		if (fflush(stdout) != 0) /* who asks line by line wants each answer */
			break;
	}
	free(line);
	return code;
}

int tool_layout(const Options *o)
{
	int code = EXIT_OK;
	if (o->inputs.n == 0)
		return answer_lines(o);
	for (int i = 0; i < o->inputs.n; i++)
		if (!answer(o, "<expression>", o->inputs.at[i], strlen(o->inputs.at[i])))
			code = EXIT_DIAGS;
	return code;
}
