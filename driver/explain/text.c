/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* text.c - the source written out in full: edits at the places that the frontend reported,
 * everything between them as the author has it.
 *     smem sA : bf16 (bM,bK);
 *  -> smem sA : bf16 tile_to_shape(Sw<3,3,3> o (8,64):(64,1), (bM,bK));
 * Comments begin with "//:"; those of an earlier run are taken out first. */
#include "driver/explain/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char explain_mark[] = "//:";

typedef struct {
	int begin, end, order;
	const char *text;
} Edit;

typedef struct {
	Ctx *c;
	const Src *src;
	const SaidVec *said;
	const FactsVec *all;
	VEC(Edit) edits;
} Program;

static void edit(Program *p, int begin, int end, const char *text)
{
	vec_push(ctx_arena(p->c), &p->edits, ((Edit){begin, end, p->edits.n, text}));
}

/* ------------------------------------------------------------------ the text around a place */
static int line_start(const Program *p, int at)
{
	while (at > 0 && p->src->text[at - 1] != '\n')
		at--;
	return at;
}

static const char *indent_at(const Program *p, int at)
{
	int start = line_start(p, at), end = start;
	while (end < at && (p->src->text[end] == ' ' || p->src->text[end] == '\t'))
		end++;
	return ctx_strn(p->c, p->src->text + start, (size_t)(end - start));
}

/* Whether only blanks stand between the start of the line and `at`. */
static bool begins_line(const Program *p, int at)
{
	return line_start(p, at) + (int)strlen(indent_at(p, at)) == at;
}

static bool ends_line(const Program *p, int at)
{
	size_t n = strspn(p->src->text + at, " \t\r");
	return (size_t)at + n >= p->src->size || p->src->text[(size_t)at + n] == '\n';
}

static const char *text_at(const Program *p, Loc loc)
{
	return ctx_strn(p->c, p->src->text + loc.begin, (size_t)(loc.end - loc.begin));
}

static bool is_word_char(char ch)
{
	return ch == '_' || (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') ||
	       (ch >= 'A' && ch <= 'Z');
}

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);
	for (const char *s = strstr(text, word); s; s = strstr(s + 1, word))
		if ((s == text || !is_word_char(s[-1])) && !is_word_char(s[n]))
			return true;
	return false;
}

/* A line of its own in front of the statement. */
static void remark(Program *p, Loc stmt, const char *text)
{
	edit(p, stmt.begin, stmt.begin,
	     ctx_strf(p->c, "%s %s\n%s", explain_mark, text, indent_at(p, stmt.begin)));
}

/* ------------------------------------------------------------------ what was said */
static const Facts *facts_named(const Program *p, const char *kernel)
{
	for (int i = 0; kernel && i < p->all->n; i++)
		if (!strcmp(p->all->at[i].k->name, kernel))
			return &p->all->at[i];
	return NULL;
}

static const Said *find_said(const Program *p, SaidKind kind, const char *kernel, const char *name)
{
	EACH(const Said, s, *p->said)
		if (s->kind == kind && s->kernel && !strcmp(s->kernel, kernel) &&
		    (!name || !strcmp(s->name, name)))
			return s;
	return NULL;
}

/* ------------------------------------------------------------------ constants, mma, buffers */
/* Of a const, and of an mma without numbers. */
static void say_const(Program *p, const Said *s)
{
	if (s->value)
		edit(p, s->loc.begin, s->loc.end, s->value);
}

static void say_mma(Program *p, const Said *s)
{
	if (s->value)
		edit(p, s->loc.end, s->loc.end, ctx_strf(p->c, " * %s", s->value));
}

/* "sA: swizzle 128 rejected: a row of ..." for all that was tried, then what was taken. */
static void remark_decision(Program *p, const Facts *f, Loc stmt, ReasonId id, const char *subject,
			    const char *what)
{
	for (const Reason *w = NULL; (w = kernel_why_next(f->k, id, w));)
		if (!subject || w->subject == subject)
			remark(p, stmt,
			       ctx_strf(p->c, "%s%s%s %" PRId64 "%s: %s", subject ? subject : "",
					subject ? ": " : "", what, w->value,
					w->rejected ? " rejected" : "", w->text));
}

static void say_buffer(Program *p, const Said *s)
{
	const Facts *f = facts_named(p, s->kernel);
	const FactBuffer *b = f ? facts_buffer(f, s->name) : NULL;
	if (!b || !s->value)
		return;
	edit(p, s->loc.begin, s->loc.end, facts_layout(p->c, b->type, text_at(p, s->loc)));
	remark_decision(p, f, s->stmt, REASON_SWIZZLE, b->name, "swizzle");
	remark_decision(p, f, s->stmt, REASON_VIEW, b->name, "elements of a view");
	remark_decision(p, f, s->stmt, REASON_BOXES, b->name, "boxes");
	remark_decision(p, f, s->stmt, REASON_COPIES, b->name, "cp.async bytes");
}

/* ------------------------------------------------------------------ copies and pipelines */
/* As it came out; where there is no other CTA, there is nothing to share. */
static const char *multicast_word(const Facts *f, const char *buffer)
{
	const FactCopy *load = facts_load(f, buffer);
	return load && load->why ? load->why->share->issue : "off";
}

static void remark_multicast(Program *p, const Facts *f, Loc stmt, const char *buffer)
{
	for (const Reason *w = NULL; (w = kernel_why_next(f->k, REASON_MULTICAST, w));) {
		if (strcmp(w->subject, buffer) != 0)
			continue;
		const char *word = w->rejected ? "rejected" : w->share->issue;
		remark(p, stmt, ctx_strf(p->c, "%s: multicast %s: %s", buffer, word, w->text));
	}
}

static void say_load(Program *p, const Said *s)
{
	const Facts *f = facts_named(p, s->kernel);
	if (f)
		remark_multicast(p, f, s->stmt, s->value);
	if (f && !find_said(p, SAID_MULTICAST, s->kernel, s->name) &&
	    p->src->text[s->loc.end - 1] == ')')
		edit(p, s->loc.end - 1, s->loc.end - 1,
		     ctx_strf(p->c, ", multicast %s", multicast_word(f, s->value)));
}

static void say_multicast(Program *p, const Said *s)
{
	const Facts *f = facts_named(p, s->kernel);
	const Said *load = find_said(p, SAID_LOAD, s->kernel, s->name);
	if (f && load)
		edit(p, s->loc.begin, s->loc.end,
		     ctx_strf(p->c, "multicast %s", multicast_word(f, load->value)));
}

static bool is_given(const Program *p, const char *name)
{
	for (int i = 0; i < p->edits.n; i++)
		if (has_word(p->edits.at[i].text, name))
			return true;
	return false;
}

static const char *fresh_name(const Program *p, const char *tensor)
{
	const char *name = ctx_strf(p->c, "ld%s", tensor);
	while (has_word(p->src->text, name) || is_given(p, name))
		name = ctx_strf(p->c, "%s_", name);
	return name;
}

/* The statement of the pipeline that lists this member. */
static void say_member(Program *p, const Said *s)
{
	const Facts *f = facts_named(p, s->kernel);
	const FactCopy *load = f ? facts_load(f, s->name) : NULL;
	const Said *via = find_said(p, SAID_VIA, s->kernel, s->name);
	if (!load || s->value || !facts_has_one_source(f, s->name))
		return;
	const char *name = via ? via->value : fresh_name(p, load->tensor);
	edit(p, s->loc.end, s->loc.end, ctx_strf(p->c, " via %s", name));
	if (via)
		return;
	remark_multicast(p, f, s->stmt, load->buffer);
	edit(p, s->stmt.begin, s->stmt.begin,
	     ctx_strf(p->c, "tma %s = load(%s, %s, multicast %s);\n%s", name, load->tensor,
		      load->buffer, multicast_word(f, load->buffer), indent_at(p, s->stmt.begin)));
}

static void say_pipeline(Program *p, const Said *s)
{
	const Facts *f = facts_named(p, s->kernel);
	const FactRing *r = f ? facts_ring(f, s->name) : NULL;
	if (!r)
		return;
	const char *stages = ctx_strf(p->c, "%" PRId64, r->slots);
	remark_decision(p, f, s->stmt, REASON_STAGES, r->name, "stages");
	if (attrs_get(&f->given, A_STAGES))
		remark(p, s->stmt, ctx_strf(p->c, "%s: stages as the schedule sets them", r->name));
	if (!s->value)
		edit(p, s->loc.begin, s->loc.end, ctx_strf(p->c, "(%s)", stages));
	else if (strcmp(s->value, stages) != 0)
		edit(p, s->loc.begin, s->loc.end, stages);
}

/* ------------------------------------------------------------------ the schedule */
static void line(Buf *b, const char *indent, const char *clause, const char *reason)
{
	enum { COLUMN = 28 };
	int width = (int)strlen(clause);
	if (width > COLUMN)
		buf_printf(b, "%s    %s %s\n%s    %s\n", indent, explain_mark, reason, indent,
			   clause);
	else
		buf_printf(b, "%s    %s%*s  %s %s\n", indent, clause, COLUMN - width, "",
			   explain_mark, reason);
}

static const char *group_text(const Facts *f)
{
	return ctx_strf(f->k->ctx, "group(%" PRId64 ") along %s;", f->clause[CLAUSE_GROUP].v[0],
			f->along);
}

static const char *role_text(const Facts *f, const FactRole *r, const char *unit, int64_t count)
{
	const char *regs = r->moves ? ctx_strf(f->k->ctx, " regs %" PRId64, r->regs) : "";
	return ctx_strf(f->k->ctx, "%s %" PRId64 " %s%s%s;", r->name, count, unit,
			count > 1 ? "s" : "", regs);
}

/* The producer's warp is the one that loads for the mma; others of its role are derived. */
static const char *roles_text(const Facts *f)
{
	const FactRole *producer = NULL, *consumer = NULL;
	for (int i = 0; i < f->role.n; i++) {
		if (!strcmp(f->role.at[i].name, "producer"))
			producer = &f->role.at[i];
		else if (!strcmp(f->role.at[i].name, "consumer"))
			consumer = &f->role.at[i];
	}
	if (!producer || !consumer)
		return ctx_strf(f->k->ctx, "roles %s;", f->clause[CLAUSE_ROLES].word);
	return ctx_strf(f->k->ctx, "roles %s { %s %s }", f->clause[CLAUSE_ROLES].word,
			role_text(f, producer, "warp", 1),
			role_text(f, consumer, "warpgroup", consumer->warps / 4));
}

static void rejected(Buf *b, const char *indent, const Facts *f, ReasonId id)
{
	for (const Reason *w = NULL; (w = kernel_why_next(f->k, id, w));)
		if (w->rejected)
			buf_printf(b, "%s    %s %s %" PRId64 " rejected: %s\n", indent,
				   explain_mark, why_rows[w->id].name, w->value, w->text);
}

static const char *persistent_text(const Facts *f)
{
	static const char *const words[] = {"off", "on", "dynamic"};
	return ctx_strf(f->k->ctx, "persistent %s;", words[f->clause[CLAUSE_PERSISTENT].v[0]]);
}

static const char *(*const own_text[CLAUSE_COUNT])(const Facts *f) = {
	[CLAUSE_PERSISTENT] = persistent_text,
	[CLAUSE_GROUP] = group_text,
	[CLAUSE_ROLES] = roles_text,
};

/* NULL: not a clause of its own. */
static const char *clause_text(const Facts *f, ClauseId id)
{
	const ClauseRow *row = &clause_rows[id];
	const FactClause *x = &f->clause[id];
	Ctx *c = f->k->ctx;
	switch (row->form) {
	case CF_INT:
		return ctx_strf(c, "%s %" PRId64 ";", row->word, x->v[0]);
	case CF_PAIR:
		return ctx_strf(c, "%s (%" PRId64 ",%" PRId64 ");", row->word, x->v[0], x->v[1]);
	case CF_SWITCH:
		return ctx_strf(c, "%s %s;", row->word, x->v[0] ? "on" : "off");
	case CF_WORD:
		return ctx_strf(c, "%s %s;", row->word, x->word);
	case CF_OWN:
		return own_text[id](f);
	}
	return NULL;
}

/* A clause that the source does not have was chosen, or given by -Dschedule. */
static const char *clause_reason(const Program *p, const Facts *f, const ClauseRow *row,
				 AttrId given)
{
	bool elsewhere = given < ATTR_COUNT && attrs_get(&f->given, given) &&
			 !find_said(p, SAID_CLAUSE, f->k->name, row->word);
	return elsewhere ? "chosen, or given by -D" : facts_reason(f, row->reason, NULL, given);
}

static void schedule_lines(const Program *p, const Facts *f, const char *indent, Buf *b)
{
	for (int i = 0; i < CLAUSE_COUNT; i++) {
		const ClauseRow *row = &clause_rows[i];
		const char *text = f->clause[i].there ? clause_text(f, (ClauseId)i) : NULL;
		if (!text)
			continue;
		AttrId given = i == CLAUSE_ROLES ? A_ROLE_REGS : row->attr; /* registers are why */
		rejected(b, indent, f, row->reason);
		line(b, indent, text, clause_reason(p, f, row, given));
	}
}

static const char *schedule_text(const Program *p, const Facts *f, const char *indent)
{
	Buf b = {0};
	buf_printf(&b, "schedule {\n");
	schedule_lines(p, f, indent, &b);
	buf_printf(&b, "%s}", indent);
	return ctx_buf(p->c, &b);
}

static void say_schedule(Program *p, const Said *s)
{
	const Facts *f = facts_named(p, s->kernel);
	if (f)
		edit(p, s->loc.begin, s->loc.end, schedule_text(p, f, indent_at(p, s->loc.begin)));
}

/* ------------------------------------------------------------------ a kernel */
static void missing_schedule(Program *p, const Facts *f, Loc body)
{
	const char *outer = indent_at(p, body.end - 1), *indent = ctx_strf(p->c, "%s    ", outer);
	const char *text = schedule_text(p, f, indent);
	if (begins_line(p, body.end - 1)) {
		int at = line_start(p, body.end - 1);
		edit(p, at, at, ctx_strf(p->c, "%s%s\n", indent, text));
	} else {
		edit(p, body.end - 1, body.end - 1, ctx_strf(p->c, "\n%s%s\n", indent, text));
	}
}

static void say_kernel(Program *p, const Said *s)
{
	const Facts *f = facts_named(p, s->kernel);
	Buf notes = {0};
	if (!f)
		return;
	if (!s->value)
		edit(p, s->loc.begin, s->loc.begin,
		     ctx_strf(p->c, begins_line(p, s->loc.begin) ? "target %s\n%s" : "target %s %s",
			      f->k->target,
			      begins_line(p, s->loc.begin) ? indent_at(p, s->loc.begin) : ""));
	if (!find_said(p, SAID_SCHEDULE, s->kernel, NULL))
		missing_schedule(p, f, s->loc);
	notes_print(f, &notes);
	size_t n = notes.n;
	while (n && ends_line(p, s->loc.end) && notes.s[n - 1] == '\n')
		n--;
	edit(p, s->loc.end, s->loc.end, ctx_strf(p->c, "\n%s", ctx_strn(p->c, notes.s, n)));
	buf_free(&notes);
}

/* ------------------------------------------------------------------ an earlier run's comments */
/* After a string or a comment that begins at i; i itself where none does. */
static int skip_token(const char *s, int n, int i)
{
	if (s[i] == '"') {
		for (i++; i < n && s[i] != '"' && s[i] != '\n'; i++)
			i += s[i] == '\\';
		return i < n ? i + 1 : n;
	}
	if (s[i] == '/' && i + 1 < n && s[i + 1] == '*') {
		const char *end = strstr(s + i + 2, "*/");
		return end ? (int)(end - s) + 2 : n;
	}
	if (s[i] == '/' && i + 1 < n && s[i + 1] == '/')
		while (i < n && s[i] != '\n')
			i++;
	return i;
}

static void drop_comment(Program *p, int begin, int end)
{
	const char *s = p->src->text;
	if (begins_line(p, begin)) {
		begin = line_start(p, begin);
		end += end < (int)p->src->size;
	} else {
		while (begin > 0 && (s[begin - 1] == ' ' || s[begin - 1] == '\t'))
			begin--;
	}
	edit(p, begin, end, "");
}

static void drop_comments(Program *p)
{
	const char *s = p->src->text;
	int n = (int)p->src->size;
	for (int i = 0, next; i < n; i = next) {
		next = skip_token(s, n, i);
		if (next > i && !strncmp(s + i, explain_mark, strlen(explain_mark)))
			drop_comment(p, i, next);
		next += next == i;
	}
}

/* ------------------------------------------------------------------ all together */
static void (*const say[SAID_COUNT])(Program *p, const Said *s) = {
	[SAID_KERNEL] = say_kernel,
	[SAID_CONST] = say_const,
	[SAID_MMA] = say_mma,
	[SAID_OPEN] = say_const,
	[SAID_BUFFER] = say_buffer,
	[SAID_LOAD] = say_load,
	[SAID_MULTICAST] = say_multicast,
	[SAID_PIPELINE] = say_pipeline,
	[SAID_MEMBER] = say_member,
	[SAID_SCHEDULE] = say_schedule,
};

static int by_place(const void *a, const void *b)
{
	const Edit *x = a, *y = b;
	return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1)
				    : (x->order > y->order) - (x->order < y->order);
}

/* What lies inside a place that was replaced already goes with it. */
static void apply(Program *p, Buf *out)
{
	int at = 0;
	qsort(p->edits.at, (size_t)p->edits.n, sizeof *p->edits.at, by_place);
	EACH(const Edit, e, p->edits) {
		if (e->begin < at)
			continue;
		buf_add(out, p->src->text + at, (size_t)(e->begin - at));
		buf_printf(out, "%s", e->text);
		at = e->end;
	}
	buf_add(out, p->src->text + at, p->src->size - (size_t)at);
}

void explain_program(const Src *src, const SaidVec *said, const FactsVec *all, Ctx *c, Buf *out)
{
	Program p = {.c = c, .src = src, .said = said, .all = all};
	drop_comments(&p);
	for (int i = 0; i < said->n; i++)
		if (say[said->at[i].kind])
			say[said->at[i].kind](&p, &said->at[i]);
	apply(&p, out);
}
