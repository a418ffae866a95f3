/* report.c - the shortest counterexample: which run it is, its last steps as a timeline with a
 * column for each role, and what is missing, in a sentence. / */
#include "passes/check/report.h"

#include <string.h>

static const struct {
	DiagId code;
	const char *text;
} whys[WHY_COUNT] = {
	[WHY_NONE] = {D_E0411, ""},
#define WHY(id, code, text) [WHY_##id] = {D_##code, text},
#include "passes/check/whys.def"
};

static const char *const step_texts[STEP_COUNT] = {
#define STEP(id, text) [STEP_##id] = text,
#include "passes/check/steps.def"
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
	const char *text = ctx_str(p->k->ctx, b.s);
	buf_free(&b);
	return text;
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

/* ------------------------------------------------------------------ the shortest run */
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
	MAX_RUNS = 256, /* of one length, that go their tiles in different ways */
	SOME_TRIPS = 10 /* more than there are slots */
};

static bool fails(Program *p, int64_t tiles, int64_t trips, int64_t *run, Why *why)
{
	int64_t n = p->decided.n ? p->way_period : 1, runs = tiles > 1 ? n * n : tiles ? n : 1;
	runs = runs < MAX_RUNS ? runs : MAX_RUNS;
	for (*run = 0; *run < runs; ++*run)
		if (!words_run(&p->m, &p->words, tiles, trips, *run, NULL, NULL, why))
			return true;
	return false;
}

/* Runs in order of length; those that the exploration went through, and a few trips more. */
static bool shortest(Program *p, const WordsResult *w, int more, int64_t *tiles, int64_t *trips,
		     int64_t *run, Why *why)
{
	int64_t T = w->at.trips + more, N = p->words.tiles ? w->at.tile + 3 : 1;
	for (int64_t size = 0; size <= T + N; size++)
		for (*tiles = p->words.tiles ? 0 : 1; *tiles <= N && *tiles <= size + 1; ++*tiles) {
			*trips = size - *tiles + (p->words.tiles ? 0 : 1);
			if (!words_take(&p->words, *trips) || *trips > T)
				continue;
			if (fails(p, *tiles, *trips, run, why))
				return true;
		}
	return false;
}

/* ------------------------------------------------------------------ the timeline */
enum { COLUMN = 34, MAX_COLUMNS = 4, MAX_ROWS = 24, OWN_ROWS = 8, SHOWN_TILES = 4 };

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

static const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

/* Which CTAs get one load, in this tile. */
static void put_shared(const Program *p, int way, Buf *b)
{
	bool any = false;
	for (int i = 0; i < p->way_loads.n; i++) {
		const WayLoad *l = &p->way_loads.at[i];
		int64_t mask = l->mask[way];
		if (!way_in(l->in, way) || !(mask & (mask - 1)))
			continue;
		buf_printf(b, "%s rank %d loads %%%s for ranks", any ? " and" : "", l->rank,
			   l->op->in[0].val->name);
		for (int r = 0, n = 0; mask >> r; r++)
			if (mask >> r & 1)
				buf_printf(b, "%s %d", n++ ? "," : "", r);
		any = true;
	}
	if (!any)
		buf_printf(b, " each rank loads for itself");
}

static void put_ways(const Program *p, int64_t tiles, int64_t run, Buf *b)
{
	for (int64_t i = 0; p->decided.n && i < tiles && i < SHOWN_TILES; i++) {
		buf_printf(b, "; in tile %lld", (long long)i + 1);
		put_shared(p, p->words.way_of((void *)(uintptr_t)p, run, i), b);
	}
}

static void put_choices(const Program *p, Buf *b)
{
	int64_t v = 0;
	for (int i = 0; i < p->nchoices; i++) {
		ix_is_const(p->choices[i].by, &v);
		buf_printf(b, ", %s is %lld", p->choices[i].name, (long long)v);
	}
}

bool report_refuted(Program *p, const WordsResult *w, CheckResult *out)
{
	Ctx *c = p->k->ctx;
	int64_t tiles, trips, run;
	Why why;
	Buf text = {0};
	Trace t = {.p = p};
	p->m.physical = true;
	if (!shortest(p, w, 1, &tiles, &trips, &run, &why) &&
	    !shortest(p, w, SOME_TRIPS, &tiles, &trips, &run, &why))
		return false;
	words_run(&p->m, &p->words, tiles, trips, run, seen, &t, &why);
	put_why(&p->m, &why, &text);
	out->why = ctx_str(c, text.s);
	const Op *op = why.step ? why.step->op : NULL;
	DiagMsg *msg = diag(c, op ? op->loc : p->k->loc, whys[why.id].code, "%s", text.s);
	buf_free(&text);
	put_choices(p, &text);
	put_ways(p, tiles, run, &text);
	buf_printf(&text, ":\n");
	put_timeline(&t, &why, &text);
	diag_note(c, msg, p->k->loc,
		  "the shortest run that shows it has %lld tile%s of %lld trip%s%s",
		  (long long)tiles, plural(tiles), (long long)trips, plural(trips), text.s);
	buf_free(&text);
	return true;
}
