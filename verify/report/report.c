/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* report.c - a counterexample: which run it is, its last steps as a timeline with a column for each
 * role, and what is missing, in a sentence. */
#include "verify/report/report.h"
#include "verify/report/replay.h"
#include "verify/tree/tree.h"

#include <string.h>

static const struct {
	DiagId code;
	const char *text;
} whys[WHY_COUNT] = {
	[WHY_NONE] = {D_E0411, ""},
#define WHY(id, code, text) [WHY_##id] = {D_##code, text},
#include "verify/whys.def"
};

static const char *const step_texts[STEP_COUNT] = {
#define STEP(id, text) [STEP_##id] = text,
#include "verify/steps.def"
};

/* ------------------------------------------------------------------ words for things */
static void put_key(const Machine *m, int key, Buf *b)
{
	if (key < 0)
		return;
	if (m->keys[key].named)
		buf_printf(b, "%s", m->keys[key].name);
	else
		buf_printf(b, "%%%s[%d]", m->keys[key].name, m->keys[key].slot);
	if (m->ranks > 1 && m->keys[key].rank >= 0)
		buf_printf(b, "@%d", m->keys[key].rank);
}

static void put_cell(const Machine *m, int cell, Buf *b)
{
	if (cell >= 0)
		buf_printf(b, "%%%s[%d]", m->cells[cell].name, m->cells[cell].slot);
	if (cell >= 0 && m->ranks > 1)
		buf_printf(b, "@%d", m->cells[cell].rank);
}

static void put_why(const Machine *m, const Why *w, Buf *b)
{
	for (const char *s = whys[w->id].text; *s; s++) {
		if (*s != '%') {
			buf_add(b, s, 1);
			continue;
		}
		switch (*++s) {
		case 'a':
		case 'o':
			buf_printf(b, "%s", m->agents[*s == 'a' ? w->agent : w->other].name);
			break;
		case 'k':
			put_key(m, w->key, b);
			break;
		case 'c':
			put_cell(m, w->cell, b);
			break;
		case 'v':
			put_cell(m, w->step->cell, b);
			break;
		default:
			buf_printf(b, "%lld",
				   (long long)(*s == 'n'   ? w->n
					       : *s == 'm' ? w->m
							   : w->bytes));
		}
	}
}

const char *report_why(const Program *p, const Why *w)
{
	Buf b = {0};
	put_why(&p->m, w, &b);
	return ctx_buf(p->k->ctx, &b);
}

static void put_step(const Machine *m, const Step *st, Buf *b)
{
	for (const char *s = step_texts[st->kind]; *s; s++) {
		if (*s != '%')
			buf_add(b, s, 1);
		else if (*++s == 'k')
			put_key(m, st->key, b);
		else if (*s == 'c')
			put_cell(m, st->cell, b);
		else
			buf_printf(b, "%d", (int)st->n);
	}
}

/* ------------------------------------------------------------------ a run that fails */
typedef struct {
	int agent;
	Step step;
	bool stuck;
} Event;
typedef struct {
	Program *p;
	VEC(Event) events;
} Trace;

static void seen(void *user, int agent, const Step *step, bool stuck)
{
	Trace *t = user;
	Event e = {agent, *step, stuck};
	vec_push(t->p->arena, &t->events, e);
}

enum {
	SOME_TRIPS = 10, /* more than there are slots */
	MAX_REPLAYS = 4, /* of one run */
	MAX_APART = 96,  /* of all runs, each at other sizes */
	SOME_COUNTS = 6,
	REPLAYED = 300 /* parts of conditions that take as long as a step of a replay */
};

/* A run that fails, and sizes with which there is one. */
typedef struct {
	Program *p;
	Replays before;
	Why why;
	int searches;
	int64_t spent;
	bool fails; /* some run does, whether or not sizes were found */
	bool more;  /* sizes than were tried */
	bool apart; /* runs at sizes that differ: a guard may ask for large ones */
	int replays;
	Replay replay;
} Refuted;

static bool try_sizes(void *user, const Sizes *s)
{
	Refuted *f = user;
	f->replay = (Replay){.p = f->p, .sizes = *s};
	f->replays++;
	bool fails = replay_fails(&f->replay, &f->before);
	f->spent += f->replay.steps * REPLAYED;
	return fails;
}

/* A few launches at a time, with a few lists each. */
static Wishes wishes_of(Refuted *f)
{
	const Program *p = f->p;
	return (Wishes){.cluster = p->cluster,
			.found = p->found.at,
			.nfound = p->found.n,
			.most = f->apart ? MAX_APART - f->replays : MAX_REPLAYS * (1 + p->found.n),
			.apart = f->apart,
			.spent = &f->spent};
}

static void wish_count(Program *p, Wishes *w, const Ix *x, int64_t n)
{
	if (!x)
		return;
	wish(w, ix_new(p->k->ctx, IX_EQ, x, ix_const(p->k->ctx, n)));
	for (int64_t i = n - 1; i <= n + 1; i++)
		wish_near(w, i);
}

/* ------------------------------------------------------------------ the timeline */
enum { COLUMN = 34, MAX_COLUMNS = 4, MAX_ROWS = 24, OWN_ROWS = 8 };

/* Line of an op in what --emit=ir prints, from 1; 0 when it has none. */
static int ir_line(const Kernel *k, const Op *op)
{
	int line = 1 + k->syms.n + k->facts.n + k->args.n;
	for (const Op *at = kernel_first(k); at && op; at = op_next(at)) {
		line++;
		if (at == op)
			return line;
		if (at->body && at->body->first)
			continue;
		line += at->body != NULL;
		for (const Op *up = at; up && !up->next; up = op_parent(up))
			line += op_parent(up) != NULL;
	}
	return 0;
}

static int source_line(const Kernel *k, const Op *op)
{
	int line = 0, col;
	if (op && ctx_src_at(k->ctx, op->loc.src))
		loc_line(k->ctx, op->loc, &line, &col);
	return line;
}

static bool about(const Why *w, const Step *st)
{
	return (w->key >= 0 && st->key == w->key) ||
	       (w->cell >= 0 && (st->cell == w->cell || st->cell2 == w->cell));
}

/* Of those stuck at one barrier, one is enough. */
static bool first_stuck(const Trace *t, int n)
{
	for (int i = 0; i < n; i++)
		if (t->events.at[i].stuck && t->events.at[i].step.key == t->events.at[n].step.key)
			return false;
	return true;
}

/* What bears on it: the same barrier or slot, the last steps of who fails, who is stuck. */
static void choose(const Trace *t, const Why *w, bool *shown)
{
	int rows = 0, own = 0;
	for (int i = t->events.n - 1; i >= 0 && rows < MAX_ROWS; i--) {
		const Event *e = &t->events.at[i];
		bool mine = e->agent == w->agent && own < OWN_ROWS;
		shown[i] = e->stuck ? first_stuck(t, i) : mine || about(w, &e->step);
		own += mine;
		rows += shown[i];
	}
}

static int columns(const Trace *t, const bool *shown, const Why *w, int *agents)
{
	int n = 0;
	bool in[MAX_AGENTS] = {0};
	if (w->agent >= 0)
		in[w->agent] = true;
	n = w->agent >= 0;
	for (int i = t->events.n - 1; i >= 0 && n < MAX_COLUMNS; i--) {
		if (!shown[i] || in[t->events.at[i].agent])
			continue;
		in[t->events.at[i].agent] = true;
		n++;
	}
	n = 0;
	for (int a = 0; a < MAX_AGENTS; a++)
		if (in[a])
			agents[n++] = a;
	return n;
}

static void put_row(const Trace *t, const int *agents, int n, int agent, const Step *st,
		    const char *mark, Buf *b)
{
	const Kernel *k = t->p->k;
	Buf text = {0};
	int column = -1;
	for (int i = 0; i < n; i++)
		column = agents[i] == agent ? i : column;
	if (column < 0)
		return;
	put_step(&t->p->m, st, &text);
	buf_printf(b, "%5d %5d  %*s%s%s\n", ir_line(k, st->op), source_line(k, st->op),
		   column * COLUMN, "", text.s, mark);
	buf_free(&text);
}

static void put_timeline(const Trace *t, const Why *w, Buf *b)
{
	int agents[MAX_AGENTS], n;
	bool *shown = NEWN(t->p->arena, bool, t->events.n + 1);
	choose(t, w, shown);
	n = columns(t, shown, w, agents);
	buf_printf(b, "   IR  line");
	for (int i = 0; i < n; i++)
		buf_printf(b, "  %-*s", i + 1 < n ? COLUMN - 2 : 0, t->p->m.agents[agents[i]].name);
	buf_printf(b, "\n");
	for (int i = 0; i < t->events.n; i++)
		if (shown[i])
			put_row(t, agents, n, t->events.at[i].agent, &t->events.at[i].step,
				t->events.at[i].stuck ? " ..." : "", b);
	if (w->step && w->id != WHY_DEADLOCK && w->id != WHY_DEAD_REGS)
		put_row(t, agents, n, w->agent, w->step, "  <--", b);
}

static void put_choices(const Program *p, Buf *b)
{
	int64_t v = 0;
	for (int i = 0; i < p->nchoices; i++) {
		if (ix_is_const(p->choices[i].by, &v))
			buf_printf(b, ", %s is %lld", p->choices[i].name, (long long)v);
	}
}

/* The sizes that facts speak of or loops hang on, and how many CTAs there are. */
static void put_sizes(const Replay *r, Buf *b)
{
	const Kernel *k = r->p->k;
	Ctx *c = k->ctx;
	int64_t v = 0, cta = 0;
	const char *before = ", with";
	for (int i = 0; i < k->syms.n; i++) {
		ix_is_const(sizes_of(&r->sizes, k->syms.at[i].name), &v);
		buf_printf(b, "%s %s = %lld", before, k->syms.at[i].name, (long long)v);
		before = ",";
	}
	ix_is_const(sizes_of(&r->sizes, ctx_str(c, "ctas")), &v);
	ix_is_const(sizes_of(&r->sizes, ctx_str(c, "cluster")), &cta);
	buf_printf(b, "%s %lld CTA%s", before, (long long)v, v == 1 ? "" : "s");
	if (cta)
		buf_printf(b, ", in %s %lld", r->p->ctas > 1 ? "cluster" : "CTA", (long long)cta);
}

/* What is found before the roles; and first by others, of the last of their names: a length. */
static void put_lists(const Replay *r, Buf *b)
{
	enum { SHOWN = 3 };
	for (const Op *op = kernel_first(r->p->k); op; op = op->next) {
		int64_t v = 0;
		if (!op_only_names(op) || op->kind == OP_LET || r->p->found.n)
			continue;
		ix_is_const(sizes_of(&r->sizes, op->sym[op->nsym - 1]), &v);
		buf_printf(b, ", where %s finds %lld", op_rows[op->kind].name, (long long)v);
	}
	EACH(const FoundBy, by, r->p->found) {
		int64_t a = 0, times = 0;
		ix_is_const(sizes_of(&r->sizes, by->a[by->op->nsym - 1]), &a);
		ix_is_const(sizes_of(&r->sizes, by->b[by->op->nsym - 1]), &times);
		buf_printf(b, ", where %s finds", op_rows[by->op->kind].name);
		for (int j = 1; j <= SHOWN; j++)
			buf_printf(b, " %lld,", (long long)(a % (1 + j * times)));
		buf_printf(b, " ..");
	}
}

static void put_run(Refuted *f, Buf *b)
{
	Trace t = {.p = f->replay.own};
	replay_trace(&f->replay, seen, &t);
	put_choices(f->p, b);
	put_sizes(&f->replay, b);
	put_lists(&f->replay, b);
	buf_printf(b, ":\n");
	put_timeline(&t, &f->replay.why, b);
}

static const char *why_not(const Refuted *f)
{
	if (f->more)
		return limit_text(f->p->k->ctx, LIMIT_TREE_SEARCHES);
	if (f->fails)
		return "no sizes were found that satisfy all facts and give a run that fails";
	return "roles do not meet at the ends of iterations";
}

/* ------------------------------------------------------------------ loops in any way */
/* Trip counts that sizes decide, in order of their sum: the next ones of one sum; false: none. */
static bool next_counts(int64_t *v, int n)
{
	int i = 0;
	while (i < n && !v[i])
		i++;
	if (i + 1 >= n)
		return false;
	int64_t first = v[i] - 1;
	v[i] = 0;
	v[0] = first;
	v[i + 1]++;
	return true;
}

static bool tree_fails_at(Refuted *f, const int64_t *v)
{
	const Tree *t = f->p->tree;
	Wishes w = wishes_of(f);
	for (int i = 0, j = 0; i < t->ncounts && j < MAX_WISHES / 2; i++)
		if (!t->counts[i].home && t->counts[i].trip->kind != IX_CONST)
			wish_count(f->p, &w, t->counts[i].trip, v[j++] - t->counts[i].below);
	f->more |= ++f->searches > MAX_TREE_SEARCHES;
	return f->searches <= MAX_TREE_SEARCHES && w.most > 0 &&
	       sizes_find(f->p->k, f->p->ctas, &w, try_sizes, f);
}

static bool fails_at_counts(Refuted *f)
{
	int64_t v[MAX_WISHES] = {0};
	const Tree *t = f->p->tree;
	int n = 0;
	for (int i = 0; i < t->ncounts && n < MAX_WISHES / 2; i++)
		n += !t->counts[i].home && t->counts[i].trip->kind != IX_CONST;
	for (int64_t sum = 0; sum <= (n ? SOME_TRIPS : 0); sum++) {
		memset(v, 0, sizeof v);
		v[0] = sum;
		do
			if (tree_fails_at(f, v))
				return true;
		while (next_counts(v, n));
	}
	return false;
}

/* In launches with counts near some, small ones first; differ: where CTAs differ, too. */
static bool fails_near(Refuted *f, bool differ)
{
	for (int64_t near = 1; near <= SOME_COUNTS; near++) {
		Wishes w = wishes_of(f);
		if (differ)
			wish(&w, f->p->differ);
		wish_near(&w, near);
		if (sizes_find(f->p->k, f->p->ctas, &w, try_sizes, f))
			return true;
	}
	return false;
}

static bool tree_fails(Refuted *f)
{
	if (fails_at_counts(f) || fails_near(f, false))
		return true;
	f->searches = f->replays = 0;
	f->apart = true;
	return f->fails && fails_at_counts(f);
}

static const char *say_tree(Refuted *f, CheckResult *out)
{
	Program *p = f->p;
	Ctx *c = p->k->ctx;
	Buf run = {0};
	if (!tree_fails(f))
		return why_not(f);
	const Why *why = &f->replay.why;
	out->why = report_why(f->replay.own, why);
	const Op *op = why->step ? why->step->op : NULL;
	DiagMsg *msg = diag(c, op ? op->loc : p->k->loc, whys[why->id].code, "%s", out->why);
	put_run(f, &run);
	diag_note(c, msg, p->k->loc, "a run that shows it%s", ctx_buf(c, &run));
	return NULL;
}

const char *report_tree(Program *p, const Why *why, bool fails, bool *limited, CheckResult *out)
{
	Refuted f = {.p = p, .before = replays_new(), .why = *why, .fails = fails};
	const char *open = say_tree(&f, out);
	*limited = f.more;
	replays_free(&f.before);
	return open;
}

static const char *say_differ(Refuted *f, CheckResult *out)
{
	Program *p = f->p;
	Ctx *c = p->k->ctx;
	Buf text = {0};
	if (!fails_near(f, true))
		return ctx_strf(c, "%s, which is not shown to agree", p->problem);
	out->why = p->problem;
	DiagMsg *msg = diag(c, p->loc, D_E0414, "%s", p->problem);
	put_why(&f->replay.own->m, &f->replay.why, &text);
	put_run(f, &text);
	diag_note(c, msg, p->k->loc, "so %s", ctx_buf(c, &text));
	return NULL;
}

const char *report_differ(Program *p, CheckResult *out)
{
	Refuted f = {.p = p, .before = replays_new()};
	const char *open = say_differ(&f, out);
	replays_free(&f.before);
	return open;
}
