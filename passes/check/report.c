/* report.c - the shortest counterexample: which run it is, its last steps as a timeline with a column for
 * each role, and what is missing, in a sentence.
 */
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
}

static void put_cell(const Machine *m, int cell, Buf *b)
{
	if (cell >= 0)
		buf_printf(b, "%%%s[%d]", m->cells[cell].name, m->cells[cell].slot);
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
		default:
			buf_printf(b, "%lld",
				   (long long)(*s == 'n'   ? w->n
					       : *s == 'm' ? w->m
							   : w->bytes));
		}
	}
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
} Event;
typedef struct {
	Program *p;
	VEC(Event) events;
} Trace;

static void seen(void *user, int agent, const Step *step)
{
	Trace *t = user;
	Event e = {agent, *step};
	vec_push(t->p->arena, &t->events, e);
}

/* Runs in order of length; those that the exploration went through, and a little more. */
static bool shortest(Program *p, const WordsResult *w, int64_t *tiles, int64_t *trips, Why *why)
{
	int64_t T = w->at.trips + 1, N = p->words.tiles ? w->at.tile + 3 : 1;
	for (int64_t size = 0; size <= T + N; size++)
		for (*tiles = p->words.tiles ? 0 : 1; *tiles <= N && *tiles <= size + 1; ++*tiles) {
			*trips = size - *tiles + (p->words.tiles ? 0 : 1);
			if (*trips < p->words.trips_lo || *trips > T)
				continue;
			if (!words_run(&p->m, &p->words, *tiles, *trips, NULL, NULL, why))
				return true;
		}
	return false;
}

bool report_refuted(Program *p, const WordsResult *w, CheckResult *out)
{
	Ctx *c = p->k->ctx;
	int64_t tiles, trips;
	Why why;
	Buf text = {0};
	Trace t = {.p = p};
	if (!shortest(p, w, &tiles, &trips, &why))
		return false;
	words_run(&p->m, &p->words, tiles, trips, seen, &t, &why);
	put_why(&p->m, &why, &text);
	out->why = ctx_str(c, text.s);
	const Op *op = why.step ? why.step->op : NULL;
	DiagMsg *msg = diag(c, op ? op->loc : p->k->loc, whys[why.id].code, "%s", text.s);
	buf_free(&text);
	for (int i = t.events.n > 24 ? t.events.n - 24 : 0; i < t.events.n; i++) {
		const Event *e = &t.events.at[i];
		buf_printf(&text, "%s: ", p->m.agents[e->agent].name);
		put_step(&p->m, &e->step, &text);
		buf_printf(&text, "\n");
	}
	diag_note(c, msg, p->k->loc, "with %lld tiles of %lld trips:\n%s", (long long)tiles,
		  (long long)trips, text.s ? text.s : "");
	buf_free(&text);
	return true;
}
