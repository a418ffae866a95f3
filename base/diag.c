/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* diag.c - collected messages, and their two renderings:
 *     gemm.gemm:3:14: error[E0203]: unknown name 'bN'
 *         3 |     let gB = B / (bN,bK);
 *           |                   ^~
 *       help: did you mean 'bM'? */
#include "base/ctx.h"

#include <stdio.h>
#include <string.h>

const DiagRow diag_rows[D_COUNT] = {
#define DIAG(id, sev, title, help) [D_##id] = {#id, SEV_##sev, title, help},
#include "base/diags.def"
};

static const char *const severity_names[SEV_COUNT] = {"note", "warning", "error"};
static const char *const severity_colors[SEV_COUNT] = {"\033[1;36m", "\033[1;35m", "\033[1;31m"};

static DiagMsg *msg_new(Ctx *c, Loc loc, DiagId id, Severity sev, const char *fmt, va_list ap)
{
	Buf b = {0};
	DiagMsg *m = NEW(ctx_arena(c), DiagMsg);
	buf_vprintf(&b, fmt, ap);
	m->id = id;
	m->severity = sev;
	m->loc = loc;
	char *text = arena_strndup(ctx_arena(c), b.s, b.n);
	char *remedy = strchr(fmt, '\n') ? strchr(text, '\n') : NULL;
	m->text = text;
	if (remedy) {
		*remedy = 0;
		m->remedy = remedy[1] ? remedy + 1 : NULL;
	}
	buf_free(&b);
	return m;
}

void diag_level(Ctx *c, DiagId id, DiagLevel level)
{
	if (diag_rows[id].severity != SEV_ERROR)
		ctx_diags(c)->level[id] = (unsigned char)level;
}

static Severity severity_of(const DiagList *list, DiagId id)
{
	switch ((DiagLevel)list->level[id]) {
	case DL_WARNING:
		return SEV_WARNING;
	case DL_ERROR:
		return SEV_ERROR;
	case DL_ROW:
	case DL_OFF:
		break;
	}
	return diag_rows[id].severity;
}

DiagMsg *diag(Ctx *c, Loc loc, DiagId id, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	DiagMsg *m = vdiag(c, loc, id, fmt, ap);
	va_end(ap);
	return m;
}

/* A variant of a kernel warns of what the others warn of. */
static bool is_said(const DiagList *list, const DiagMsg *m)
{
	const DiagMsg *o = list->first;
	while (o && (o->id != m->id || m->loc.src < 0 || memcmp(&o->loc, &m->loc, sizeof m->loc) ||
		     strcmp(o->text, m->text)))
		o = o->next;
	return o && m->severity != SEV_ERROR;
}

DiagMsg *vdiag(Ctx *c, Loc loc, DiagId id, const char *fmt, va_list ap)
{
	DiagList *list = ctx_diags(c);
	DiagMsg *m = msg_new(c, loc, id, severity_of(list, id), fmt, ap);
	if (list->level[id] == DL_OFF || is_said(list, m))
		return m;
	if (list->last)
		list->last->next = m;
	else
		list->first = m;
	list->last = m;
	list->errors += m->severity == SEV_ERROR;
	return m;
}

DiagMsg *diag_remedy(Ctx *c, DiagMsg *m, const char *fmt, ...)
{
	Buf b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	m->remedy = arena_strndup(ctx_arena(c), b.s, b.n);
	buf_free(&b);
	return m;
}

DiagMsg *diag_fix(Ctx *c, DiagMsg *m, Loc loc, const char *fmt, ...)
{
	Buf b = {0};
	va_list ap;
	const Src *s = ctx_src_at(c, loc.src);
	if (!s || !strncmp(s->name, "<-D", 3))
		return m;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	DiagEdit *e = NEW(ctx_arena(c), DiagEdit), **at = &m->fix;
	*e = (DiagEdit){loc, arena_strndup(ctx_arena(c), b.s, b.n), NULL};
	while (*at)
		at = &(*at)->next;
	*at = e;
	buf_free(&b);
	return m;
}

DiagMsg *diag_note(Ctx *c, DiagMsg *m, Loc loc, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	DiagMsg *note = msg_new(c, loc, m->id, SEV_NOTE, fmt, ap);
	va_end(ap);
	DiagMsg **at = &m->notes;
	while (*at)
		at = &(*at)->next;
	*at = note;
	return m;
}

void diag_forget(Ctx *c)
{
	DiagList *list = ctx_diags(c);
	list->first = list->last = NULL;
	list->errors = 0;
}

int diag_errors(const Ctx *c)
{
	return ctx_diags((Ctx *)(uintptr_t)c)->errors;
}

const DiagMsg *diag_first(const Ctx *c)
{
	return ctx_diags((Ctx *)(uintptr_t)c)->first;
}

/* ------------------------------------------------------------------ text */
enum { WINDOW = 160 }; /* bytes of a line that are shown */

/* Of a message: what a person wrote may be in it. */
static void print_text(const char *text, Buf *out)
{
	Buf cut = {0};
	text_cut(text, &cut);
	text_visible(cut.s, cut.n, out);
	buf_free(&cut);
}

static void print_place(const Ctx *c, Loc loc, Buf *out)
{
	const Src *s = ctx_src_at(c, loc.src);
	int line, col;
	if (!s)
		return;
	loc_line(c, loc, &line, &col);
	text_visible(s->name, strlen(s->name), out);
	buf_printf(out, ":%d:%d: ", line, col);
}

/* The bytes of a line that are shown: all, or those around the place. */
typedef struct {
	const char *s;
	int begin, end, len;
} Window;

static Window window_of(const char *line, int at)
{
	Window w = {.s = line, .len = (int)strcspn(line, "\r\n")};
	w.end = w.len;
	if (w.len <= WINDOW)
		return w;
	w.begin = at > WINDOW / 2 ? at - WINDOW / 2 : 0;
	w.begin = w.begin < w.len - WINDOW ? w.begin : w.len - WINDOW;
	w.end = w.begin + WINDOW;
	while (w.begin > 0 && ((unsigned char)line[w.begin] & 0xc0) == 0x80)
		w.begin--;
	while (w.end < w.len && ((unsigned char)line[w.end] & 0xc0) == 0x80)
		w.end++;
	return w;
}

static void print_line(const Window *w, Buf *out)
{
	buf_printf(out, "%s", w->begin ? "..." : "");
	text_visible(w->s + w->begin, (size_t)(w->end - w->begin), out);
	buf_printf(out, "%s\n", w->end < w->len ? "..." : "");
}

/* Under the bytes from..to of the line; tabs stay, so that columns do. */
static void print_marks(const Window *w, int from, int to, Buf *out)
{
	to = to < w->end ? to : w->end;
	buf_printf(out, "%s", w->begin ? "   " : "");
	for (int i = w->begin; i < from && i < w->end;) {
		int n = utf8_length(w->s + i);
		n = n ? n : 1;
		if (w->s[i] == '\t')
			buf_add(out, "\t", 1);
		else
			buf_printf(out, "%*s", text_width(w->s + i, (size_t)n), "");
		i += n;
	}
	int width = from < to ? text_width(w->s + from, (size_t)(to - from)) : 0;
	buf_add(out, "^", 1);
	for (int i = 1; i < width; i++)
		buf_add(out, "~", 1);
	buf_add(out, "\n", 1);
}

static void print_excerpt(const Ctx *c, Loc loc, Buf *out)
{
	const Src *s = ctx_src_at(c, loc.src);
	int line, col;
	if (!s)
		return;
	loc_line(c, loc, &line, &col);
	Window w = window_of(s->text + s->lines.at[line - 1], col - 1);
	buf_printf(out, "%5d | ", line);
	print_line(&w, out);
	buf_printf(out, "      | ");
	print_marks(&w, col - 1, loc.end - loc.begin + col - 1, out);
}

static void print_msg(const Ctx *c, const DiagMsg *m, Buf *out, bool color)
{
	const char *on = color ? severity_colors[m->severity] : "", *off = color ? "\033[0m" : "";
	print_place(c, m->loc, out);
	buf_printf(out, "%s%s", on, severity_names[m->severity]);
	if (m->severity != SEV_NOTE || diag_rows[m->id].severity == SEV_NOTE)
		buf_printf(out, "[%s]", diag_rows[m->id].code);
	buf_printf(out, ":%s ", off);
	print_text(m->text, out);
	buf_add(out, "\n", 1);
	print_excerpt(c, m->loc, out);
	for (const DiagMsg *n = m->notes; n; n = n->next)
		print_msg(c, n, out, color);
	if (!m->remedy)
		return;
	buf_printf(out, "  help: ");
	print_text(m->remedy, out);
	buf_add(out, "\n", 1);
}

void diag_text(const Ctx *c, Buf *out, bool color)
{
	for (const DiagMsg *m = diag_first(c); m; m = m->next)
		print_msg(c, m, out, color);
}

/* ------------------------------------------------------------------ JSON */
static void json_text(const char *text, Buf *out)
{
	Buf cut = {0};
	text_cut(text, &cut);
	text_json(cut.s, out);
	buf_free(&cut);
}

static void json_place(const Ctx *c, Loc loc, Buf *out)
{
	int line, col;
	loc_line(c, loc, &line, &col);
	buf_printf(out, "\"file\":");
	text_json(ctx_src_at(c, loc.src)->name, out);
	buf_printf(out, ",\"line\":%d,\"column\":%d,\"begin\":%d,\"end\":%d", line, col, loc.begin,
		   loc.end);
}

static void json_fix(const Ctx *c, const DiagEdit *fix, Buf *out)
{
	buf_printf(out, ",\"fix\":[");
	for (const DiagEdit *e = fix; e; e = e->next) {
		buf_printf(out, "%s{", e == fix ? "" : ",");
		json_place(c, e->loc, out);
		buf_printf(out, ",\"text\":");
		text_json(e->text, out);
		buf_add(out, "}", 1);
	}
	buf_add(out, "]", 1);
}

static void json_msg(const Ctx *c, const DiagMsg *m, Buf *out)
{
	buf_printf(out,
		   "{\"severity\":\"%s\",\"code\":\"%s\",\"message\":", severity_names[m->severity],
		   diag_rows[m->id].code);
	json_text(m->text, out);
	if (ctx_src_at(c, m->loc.src)) {
		buf_add(out, ",", 1);
		json_place(c, m->loc, out);
	}
	if (m->remedy) {
		buf_printf(out, ",\"help\":");
		json_text(m->remedy, out);
	}
	if (m->fix)
		json_fix(c, m->fix, out);
	if (m->notes) {
		buf_printf(out, ",\"notes\":[");
		for (const DiagMsg *n = m->notes; n; n = n->next) {
			json_msg(c, n, out);
			if (n->next)
				buf_add(out, ",", 1);
		}
		buf_add(out, "]", 1);
	}
	buf_add(out, "}", 1);
}

void diag_json(const Ctx *c, Buf *out)
{
	for (const DiagMsg *m = diag_first(c); m; m = m->next) {
		json_msg(c, m, out);
		buf_add(out, "\n", 1);
	}
}
