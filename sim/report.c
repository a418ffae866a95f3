/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* report.c - what the simulator says: one report per kind and line, with place and count; and the
 * explanation of a deadlock: who waits for what, what is missing, who could have given it.
 *   deadlock: warp 0 of CTA 0 waits at line 88 for phase 3 of full[3]: 0 of 1 arrivals missing, 128
 *   bytes missing; arrivals came from line 61 */
#include "sim/machine.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const kind_words[] = {
#define KIND(id, check, word) [SIM_##id] = word,
#include "sim/kinds.def"
};
static const u32 kind_checks[] = {
#define KIND(id, check, word) [SIM_##id] = check,
#include "sim/kinds.def"
};
static const bool kind_notes[SIM_KINDS] = {
#define NOTE(id, check, word) [SIM_##id] = true,
#include "sim/kinds.def"
};

const char *sim_kind_word(SimKind k)
{
	return k < SIM_KINDS ? kind_words[k] : "?";
}

void sim_result_free(SimResult *r)
{
	for (u32 i = 0; i < r->n; i++)
		free(r->reports[i].text);
	free(r->reports);
	*r = (SimResult){0};
}

static SimReport *report_same(SimResult *r, SimKind kind, int line)
{
	for (u32 i = 0; i < r->n; i++)
		if (r->reports[i].kind == kind && r->reports[i].ptx_line == line)
			return &r->reports[i];
	return NULL;
}

/* Room for one more; NULL: no memory, or too many notes. */
static SimReport *report_new(SimResult *r, bool note, u32 most)
{
	if (note && r->n - r->errors >= most)
		return NULL;
	if (!list_grow(&r->reports, &r->cap, r->n + 1, sizeof *r->reports))
		return NULL;
	r->reports[r->n] = (SimReport){.note = note};
	r->errors += !note;
	return &r->reports[r->n++];
}

static void report_fill(SimReport *r, const Warp *w, const Ins *in, s32 lane, SimKind kind)
{
	const PtxModule *ptx = &w->cluster->job->m->ptx;
	r->kind = kind;
	r->ptx_line = in->line;
	r->source_line = in->loc_line;
	r->file = in->loc_file < ptx->nfiles ? ptx->files[in->loc_file] : NULL;
	memcpy(r->cta, w->cta->id, sizeof r->cta);
	r->warp = w->id;
	r->lane = lane;
	r->count = 1;
}

u32 reports_most(const SimOptions *o)
{
	return o->max_reports ? o->max_reports : 16;
}

static bool may_go_on(const SimResult *r, u32 most)
{
	return r->errors < most && r->times < SIM_TIMES;
}

static void report_text(Warp *w, const Ins *in, s32 lane, SimKind kind, Text *t)
{
	Cluster *c = w->cluster;
	u32 most = reports_most(c->job->opt);
	bool note = kind_notes[kind] && !checked(c, CHECK_PORTABILITY);
	SimReport *r = report_same(&c->result, kind, in->line);
	c->result.times += !note;
	if (r) {
		r->count++;
		text_free(t);
	} else if ((r = report_new(&c->result, note, most))) {
		report_fill(r, w, in, lane, kind);
		r->text = t->at;
	} else {
		text_free(t);
	}
	if (!may_go_on(&c->result, most))
		c->failed = true;
}

bool result_take(SimResult *to, SimResult *from, u32 most)
{
	to->steps += from->steps;
	to->clusters += from->clusters;
	to->times += from->times;
	for (u32 i = 0; i < from->n && to->errors < most; i++) {
		SimReport *r = &from->reports[i], *same = report_same(to, r->kind, r->ptx_line);
		if (same)
			same->count += r->count;
		else if ((same = report_new(to, r->note, most))) {
			*same = *r;
			r->text = NULL;
		}
	}
	return may_go_on(to, most);
}

void report(Warp *w, const Ins *in, s32 lane, SimKind kind, const char *fmt, ...)
{
	char line[640];
	Text t = {0};
	va_list ap;
	if (kind_checks[kind] && !checked(w->cluster, kind_checks[kind]))
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	text_add(&t, "%s", line);
	report_text(w, in, lane, kind, &t);
}

/* "line 88 (gemm.gemm:21)": of the PTX, and of the source where .loc gives it. */
void line_name(const Cluster *c, u32 line, Text *t)
{
	const Code *code = c->job->code;
	const PtxModule *ptx = &c->job->m->ptx;
	u32 i = 0;
	while (i < code->nins && code->ins[i].line != (s32)line)
		i++;
	text_add(t, "line %u", line);
	if (i < code->nins && code->ins[i].loc_line && code->ins[i].loc_file < ptx->nfiles &&
	    ptx->files[code->ins[i].loc_file])
		text_add(t, " (%s:%d)", ptx->files[code->ins[i].loc_file], code->ins[i].loc_line);
}

/* The name of a local variable as its author wrote it: _ZZ5scaleE4full is full. */
static const char *plain_name(const char *name)
{
	size_t n = strlen(name);
	if (strncmp(name, "_Z", 2) != 0)
		return name;
	for (size_t i = n; i-- > 2;) {
		const char *rest = name + i;
		if (*rest < '1' || *rest > '9' || (name[i - 1] >= '0' && name[i - 1] <= '9'))
			continue;
		size_t digits = strspn(rest, "0123456789");
		if (strtoul(rest, NULL, 10) == strlen(rest + digits))
			return rest + digits;
	}
	return name;
}

/* "full[2]", "tile+0x40" or "shared 0x30000". */
void shared_name(const Cluster *c, u32 offset, Text *t)
{
	const SimLaunch *l = c->job->l;
	const Code *code = c->job->code;
	for (u32 i = 0; i < l->nareas; i++) {
		const SimArea *a = &l->areas[i];
		u32 slots = a->slots ? a->slots : 1, at = offset - code->dynamic_offset - a->offset;
		if (offset < code->dynamic_offset + a->offset || at >= a->bytes * slots)
			continue;
		text_add(t, slots > 1 ? "%s[%u]" : "%s", a->name, at / a->bytes);
		if (at % a->bytes)
			text_add(t, "+0x%x", at % a->bytes);
		return;
	}
	for (u32 i = 0; i < code->nshared; i++) {
		const SharedVar *v = &code->shared[i];
		if (offset < v->offset || offset - v->offset >= v->size)
			continue;
		text_add(t, offset > v->offset ? "%s+0x%x" : "%s", plain_name(v->name),
			 offset - v->offset);
		return;
	}
	if (offset >= code->dynamic_offset)
		text_add(t, "dynamic shared+0x%x", offset - code->dynamic_offset);
	else
		text_add(t, "shared 0x%x", offset);
}

static void explain_mbar(const Cluster *c, const Wait *wait, Text *t)
{
	const Mbar *b = mbar_at(wait->cta, wait->offset);
	text_add(t, "phase %llu of mbarrier ", (unsigned long long)wait->phase);
	shared_name(c, wait->offset, t);
	if (wait->cta->cluster->nctas > 1)
		text_add(t, " of CTA rank %u", wait->cta->rank);
	if (!b)
		return;
	text_add(t, " (init count %u): %u arrival%s missing", b->expected, b->pending,
		 b->pending == 1 ? "" : "s");
	if (b->tx > 0)
		text_add(t, ", %lld bytes announced and not delivered", (long long)b->tx);
	else if (b->tx < 0)
		text_add(t, ", %lld bytes delivered and not announced", (long long)-b->tx);
	if (!b->narrive)
		text_add(t, "; nothing ever arrived on it");
	else
		text_add(t, "; arrivals so far %llu, from", (unsigned long long)b->arrivals);
	for (u32 i = 0; i < b->narrive; i++) {
		text_add(t, i ? ", " : " ");
		line_name(c, b->arrive_line[i], t);
	}
}

static void explain_bar(const Wait *wait, Text *t)
{
	const NamedBar *b = &wait->cta->bars[wait->offset];
	text_add(t, "barrier %u: %u of %u threads have arrived", wait->offset, b->arrived,
		 b->expected);
}

static void explain(const Warp *w, const Wait *wait, Text *t)
{
	const Cluster *c = w->cluster;
	switch (wait->kind) {
	case W_MBAR:
		explain_mbar(c, wait, t);
		break;
	case W_BAR:
		explain_bar(wait, t);
		break;
	case W_CLUSTER:
		text_add(t, "the cluster barrier: %u of %u warps have arrived", c->bar_arrived,
			 c->live + c->bar_gone);
		break;
	case W_REGS:
		text_add(t,
			 "setmaxnreg.inc to %llu: it needs %u registers, the CTA's pool has %u; "
			 "warps that must "
			 "release theirs have not",
			 (unsigned long long)wait->phase, ((u32)wait->phase - w->regs) * LANES,
			 w->cta->pool);
		break;
	case W_WGMMA:
		text_add(t, "wgmma group %llu: warp %u of the warpgroup has not committed it",
			 (unsigned long long)wait->phase, w->id / 4 * 4 + wait->lane);
		break;
	case W_SHFL:
		text_add(t, "threads 0x%08x of its member mask that are elsewhere",
			 (u32)wait->phase);
		break;
	default:
		text_add(t, "asynchronous copies");
	}
}

static void who(const Warp *w, Text *t)
{
	if (w->cluster->nctas > 1)
		text_add(t, "CTA rank %u ", w->cta->rank);
	text_add(t, "warp %u", w->id);
}

/* Threads that wait: a split of a warp. */
typedef struct {
	Warp *w;
	const Split *s;
} Stuck;

/* Those that wait at the same line for the same thing are one line of the explanation. */
static bool same_wait(const Stuck *x, const Stuck *y)
{
	const Wait *a = &x->s->wait, *b = &y->s->wait;
	return a->kind == b->kind && a->line == b->line && a->cta == b->cta &&
	       a->offset == b->offset && a->phase == b->phase && x->w->cta == y->w->cta &&
	       x->w != y->w && a->kind != W_REGS;
}

static bool told(const Stuck *all, u32 i)
{
	for (u32 k = 0; k < i; k++)
		if (same_wait(&all[k], &all[i]))
			return true;
	return false;
}

static Stuck *stuck_find(Cluster *c, u32 *n)
{
	Stuck *all = calloc((size_t)c->nwarps * LANES, sizeof *all);
	*n = 0;
	for (u32 i = 0; all && i < c->nwarps; i++)
		for (u32 k = 0; c->warps[i].live && k < c->warps[i].nsplits; k++)
			if (c->warps[i].splits[k].blocked)
				all[(*n)++] = (Stuck){&c->warps[i], &c->warps[i].splits[k]};
	return all;
}

static void stuck_tell(const Stuck *all, u32 n, u32 i, Text *t)
{
	u32 more = 0;
	text_add(t, "\n  ");
	who(all[i].w, t);
	for (u32 k = i + 1; k < n; k++)
		more += same_wait(&all[i], &all[k]);
	if (more)
		text_add(t, " and %u more", more);
	text_add(t, ", ");
	line_name(all[i].w->cluster, all[i].s->wait.line, t);
	text_add(t, ": waits for ");
	explain(all[i].w, &all[i].s->wait, t);
}

void report_deadlock(Cluster *c)
{
	enum { LINES = 25 };
	Text t = {0};
	u32 waiting = 0, lines = 0, n;
	Stuck *all = stuck_find(c, &n);
	for (u32 i = 0; i < c->nwarps; i++)
		waiting += c->warps[i].live != 0;
	text_add(&t, "%u of %u warps wait, none can go on", waiting, c->nwarps);
	for (u32 i = 0; i < n; i++)
		if (!told(all, i) && lines++ < LINES)
			stuck_tell(all, n, i, &t);
	if (n)
		report_text(all->w, &all->w->code->ins[all->s->pc], -1, SIM_DEADLOCK, &t);
	else
		text_free(&t);
	free(all);
}

bool sim_checks_parse(const char *text, u32 *checks)
{
	static const struct {
		const char *word;
		u32 bit;
	} words[] = {
		{"all", CHECK_ALL},
		{"none", 0},
#define CHECK(id, bit, word, help) {word, CHECK_##id},
#include "sim/checks.def"
	};
	u32 value = 0;
	while (*text) {
		bool minus = *text == '-';
		text += minus;
		size_t n = strcspn(text, ",");
		u32 i = 0;
		while (i < SIM_COUNT(words) &&
		       (strlen(words[i].word) != n || memcmp(words[i].word, text, n)))
			i++;
		if (i == SIM_COUNT(words))
			return false;
		value = minus ? value & ~words[i].bit : value | words[i].bit;
		text += n + (text[n] == ',');
	}
	*checks = value;
	return true;
}
