/* diag.c - collected messages, and their two renderings:
 *     gemm.gemm:3:14: error[E0203]: unknown name 'bN'
 *         3 |     let gB = B / (bN,bK);
 *           |                   ^~
 *       help: did you mean 'bM'? */
#include "ir/ctx.h"

#include <stdio.h>
#include <string.h>

const DiagRow diag_rows[D_COUNT] = {
#define DIAG(id, sev, title, help) [D_##id] = {#id, SEV_##sev, title, help},
#include "ir/diags.def"
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
	m->text = arena_strndup(ctx_arena(c), b.s, b.n);
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
	DiagList *list = ctx_diags(c);
	va_start(ap, fmt);
	DiagMsg *m = msg_new(c, loc, id, severity_of(list, id), fmt, ap);
	va_end(ap);
	if (list->level[id] == DL_OFF)
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

int diag_errors(const Ctx *c)
{
	return ctx_diags((Ctx *)(uintptr_t)c)->errors;
}

const DiagMsg *diag_first(const Ctx *c)
{
	return ctx_diags((Ctx *)(uintptr_t)c)->first;
}

/* ------------------------------------------------------------------ text */
static void print_place(const Ctx *c, Loc loc, Buf *out)
{
	const Src *s = ctx_src_at(c, loc.src);
	int line, col;
	if (!s)
		return;
	loc_line(c, loc, &line, &col);
	buf_printf(out, "%s:%d:%d: ", s->name, line, col);
}

static void print_excerpt(const Ctx *c, Loc loc, Buf *out)
{
	const Src *s = ctx_src_at(c, loc.src);
	int line, col;
	if (!s)
		return;
	loc_line(c, loc, &line, &col);
	const char *begin = s->text + s->lines.at[line - 1];
	int len = (int)strcspn(begin, "\r\n"), end = loc.end - loc.begin + col - 1;
	buf_printf(out, "%5d | %.*s\n      | ", line, len, begin);
	for (int i = 0; i < col - 1 && i < len; i++)
		buf_add(out, begin[i] == '\t' ? "\t" : " ", 1);
	buf_add(out, "^", 1);
	for (int i = col; i < end && i < len; i++)
		buf_add(out, "~", 1);
	buf_add(out, "\n", 1);
}

static void print_msg(const Ctx *c, const DiagMsg *m, Buf *out, bool color)
{
	const char *on = color ? severity_colors[m->severity] : "", *off = color ? "\033[0m" : "";
	print_place(c, m->loc, out);
	buf_printf(out, "%s%s", on, severity_names[m->severity]);
	if (m->severity != SEV_NOTE || diag_rows[m->id].severity == SEV_NOTE)
		buf_printf(out, "[%s]", diag_rows[m->id].code);
	buf_printf(out, ":%s %s\n", off, m->text);
	print_excerpt(c, m->loc, out);
	for (const DiagMsg *n = m->notes; n; n = n->next)
		print_msg(c, n, out, color);
	if (m->remedy)
		buf_printf(out, "  help: %s\n", m->remedy);
}

void diag_text(const Ctx *c, Buf *out, bool color)
{
	for (const DiagMsg *m = diag_first(c); m; m = m->next)
		print_msg(c, m, out, color);
}

/* ------------------------------------------------------------------ JSON */
/* Bytes of the UTF-8 character at s, 0 where there is none (RFC 3629; surrogates pass). */
static int utf8_length(const char *s)
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
	return n;
}

/* JSON is UTF-8: a byte that is not becomes the replacement character. */
static void json_string(const char *s, Buf *out)
{
	buf_add(out, "\"", 1);
	while (*s) {
		unsigned char ch = (unsigned char)*s;
		int n = utf8_length(s);
		if (ch == '"' || ch == '\\')
			buf_printf(out, "\\%c", ch);
		else if (ch < 0x20 || ch == 0x7f)
			buf_printf(out, "\\u%04x", ch);
		else if (n == 0)
			buf_printf(out, "\\ufffd");
		else
			buf_add(out, s, (size_t)n);
		s += n ? n : 1;
	}
	buf_add(out, "\"", 1);
}

static void json_msg(const Ctx *c, const DiagMsg *m, Buf *out)
{
	const Src *s = ctx_src_at(c, m->loc.src);
	buf_printf(out,
		   "{\"severity\":\"%s\",\"code\":\"%s\",\"message\":", severity_names[m->severity],
		   diag_rows[m->id].code);
	json_string(m->text, out);
	if (s) {
		int line, col;
		loc_line(c, m->loc, &line, &col);
		buf_printf(out, ",\"file\":");
		json_string(s->name, out);
		buf_printf(out, ",\"line\":%d,\"column\":%d,\"begin\":%d,\"end\":%d", line, col,
			   m->loc.begin, m->loc.end);
	}
	if (m->remedy) {
		buf_printf(out, ",\"help\":");
		json_string(m->remedy, out);
	}
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
