/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* check.c - the verifier's table of contents: read the kernel, prove it for all its runs, and for
 * what is refuted find a run that shows it.
 *     schedules.gemm, cooperative, 4 stages  ->  CHECK_PROVED, 83 states
 */
#include "verify/check.h"
#include "verify/rules/tickets.h"
#include "verify/read/extract.h"
#include "verify/report/report.h"
#include "verify/report/find_sizes.h"
#include "verify/tree/tree.h"

#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ------------------------------------------------------------------ answers */
/* What is not followed, and where. */
typedef struct {
	Loc loc;
	const char *text;
	bool limited; /* as it is more than a limit */
} Open;

static CheckVerdict unknown(CheckResult *out, Open open)
{
	out->why = open.text;
	out->at = open.loc;
	out->limited = open.limited;
	return CHECK_UNKNOWN;
}

static void say_unknown(const Kernel *k, const CheckResult *r)
{
	static const DiagId ids[2][2] = {{D_E0415, D_E0416}, {D_W0411, D_W0412}};
	diag(k->ctx, r->at, ids[r->unproved][r->limited], "%s is %s: %s\n%s", k->name,
	     r->limited ? "not decided within the limit" : "neither proved nor refuted", r->why,
	     r->unproved ? "" : "--unproved compiles it all the same, with a warning");
}

static CheckVerdict cannot_read(Program *p, CheckResult *out)
{
	out->why = p->problem;
	if (p->code == D_E0414) {
		Ctx *c = p->k->ctx;
		const char *open = report_differ(p, out);
		if (open && p->differ_apart)
			open = ctx_strf(c, "%s: %s", limit_text(c, LIMIT_CTA_COUNTS), open);
		return open ? unknown(out, (Open){p->loc, open, p->differ_apart}) : CHECK_REFUTED;
	}
	if (p->limit)
		return unknown(out, (Open){p->loc, p->problem, true});
	if (p->code == D_W0411)
		return unknown(out, (Open){p->loc,
					   ctx_strf(p->k->ctx, "the verifier does not follow %s",
						    p->problem),
					   false});
	diag(p->k->ctx, p->loc, p->code, "%s", p->problem);
	return CHECK_REFUTED;
}

static int most_states(const CheckOpt *opt)
{
	return opt && opt->level == VERIFY_FULL ? MAX_FULL_STATES : MAX_STATES;
}

/* ------------------------------------------------------------------ what the launch decides */
/* Names that are 0 or 1 in a launch, the same for all its threads. */
static int find_choices(const Kernel *k, const char **names)
{
	int n = 0;
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		for (int i = 0; op->kind == OP_TMAP && i < op->nsym && n < MAX_CHOICES; i++)
			names[n++] = op->sym[i];
	return n;
}

typedef struct {
	const Kernel *k;
	const CheckOpt *opt;
	struct Recall *recall;
	struct Told *told;
	int rank; /* the first CTA */
	const char *names[MAX_CHOICES];
	int n;
	unsigned values; /* of names, a bit each */
	const Ix *once;  /* a tile or none */
	int64_t once_is;
	int parts, part; /* CTAs, or clusters, beside each other that meet: this one's place */
} Launch;

/* The CTAs that meet at a semaphore are told apart by their places. */
static int find_parts(const Kernel *k)
{
	enum { MOST = 32 };
	const Op *wait = kernel_with(k, FX_ACQUIRE_GRID);
	int64_t parts = wait ? attrs_int(&wait->attrs, A_COUNT, 1) : 1;
	return parts >= 1 && parts <= MOST ? (int)parts : 1;
}

static void put_part(const Launch *l, Program *p)
{
	Ctx *c = l->k->ctx;
	int ctas;
	program_peers(l->k, &ctas);
	if (l->parts == 1)
		return;
	const Ix *first = ix_mul(c, ix_sym(c, SIZES_GROUP), ix_const(c, l->parts));
	p->cluster = ix_add(c, first, ix_const(c, l->part));
	p->choices[p->nchoices++] = (Named){ctx_str(c, ctas == 1 ? "cta" : "cluster"), p->cluster};
}

static Program *program_new(const Launch *l)
{
	Program *p = NEW(ctx_arena(l->k->ctx), Program);
	p->k = l->k;
	p->rank = l->rank;
	p->recall = l->recall;
	p->told = l->told;
	for (int i = 0; i < l->n; i++)
		p->choices[i] = (Named){l->names[i], ix_const(l->k->ctx, l->values >> i & 1)};
	p->nchoices = l->n;
	p->once = l->once;
	p->once_is = l->once ? ix_const(l->k->ctx, l->once_is) : NULL;
	put_part(l, p);
	return p;
}

/* ------------------------------------------------------------------ loops in any way */
/* What a run knows of who arrived is followed where it takes that only. */
static bool prove_tree(Program *p, const CheckOpt *opt, CheckResult *out, TourResult *w)
{
	find_units(p->tree);
	told_use(p->told, p->tree);
	tree_tour(p->tree, most_states(opt), w);
	out->states += w->states;
	if (!w->proved && !w->limit) {
		p->m.exact = true;
		machine_layout(&p->m);
		tree_tour(p->tree, most_states(opt), w);
		out->states += w->states;
	}
	if (w->proved)
		told_keep(p->told, p->tree);
	return w->proved;
}

static CheckVerdict open_tour(Program *p, const TourResult *w, CheckResult *out, Open *open)
{
	open->loc = p->k->loc;
	open->text = report_tree(p, &w->why, w->limit == NULL, &open->limited, out);
	if (!open->text)
		return CHECK_REFUTED;
	if (why_is_open(w->why.id)) {
		open->loc = w->why.step ? w->why.step->op->loc : p->k->loc;
		open->text = report_why(p, &w->why);
		open->limited = why_is_limit(w->why.id);
	} else if (w->limit) {
		open->limited = w->met != LIMIT_NONE;
		open->text = open->limited ? w->limit
					   : ctx_strf(p->k->ctx, "the verifier does not follow %s",
						      w->limit);
	}
	return CHECK_UNKNOWN;
}

static Program *program_like(const Program *p)
{
	Program *q = NEW(ctx_arena(p->k->ctx), Program);
	q->k = p->k;
	q->rank = p->rank;
	q->recall = p->recall;
	q->told = p->told;
	q->cluster = p->cluster;
	q->once = p->once;
	q->once_is = p->once_is;
	q->nchoices = p->nchoices;
	memcpy(q->choices, p->choices, sizeof q->choices);
	return q;
}

static bool read_tree_as(Program *p, const Kernel *k, Tree as)
{
	p->tree = NEW(ctx_arena(k->ctx), Tree);
	*p->tree = as;
	p->tree->seen.arena = ctx_arena(k->ctx);
	return program_read(p, k);
}

/* Loops of CTAs that are not known to agree may still go apart. */
static bool read_loops(Program **p, const Kernel *k, bool launched)
{
	Program *q = program_like(*p);
	if (read_tree_as(*p, k, (Tree){.launched = launched}))
		return true;
	bool ok = (*p)->code == D_E0414 && (*p)->m.ranks > 1 &&
		  read_tree_as(q, k, (Tree){.apart = true, .launched = launched});
	*p = ok ? q : *p;
	return ok;
}

/* With loops of CTAs that go apart in another order. */
static bool prove_among(const Program *p, const CheckOpt *opt, CheckResult *out)
{
	Program *q = program_like(p);
	TourResult w;
	Tree as = {.apart = true, .among = true, .launched = p->tree->launched};
	return p->tree->apart && read_tree_as(q, p->k, as) && prove_tree(q, opt, out, &w);
}

/* Without what the launch says of sizes, which only some need, then with it. */
static bool prove_loops(Program **p, const CheckOpt *opt, CheckResult *out, TourResult *w,
			bool *read)
{
	const Kernel *k = (*p)->k;
	Program *q = program_like(*p);
	*read = read_loops(p, k, false);
	if (*read && prove_tree(*p, opt, out, w))
		return true;
	if (!read_loops(&q, k, true))
		return false;
	*p = q;
	*read = true;
	return prove_tree(q, opt, out, w) || prove_among(q, opt, out);
}

static CheckVerdict prove_launch(const Launch *l, CheckResult *out)
{
	const Kernel *k = l->k;
	Program *p = program_new(l);
	Open open = {k->loc, NULL, false};
	TourResult w;
	bool read;
	if (prove_loops(&p, l->opt, out, &w, &read))
		return CHECK_PROVED;
	if (!read)
		return cannot_read(p, out);
	CheckVerdict v = open_tour(p, &w, out, &open);
	return v == CHECK_UNKNOWN ? unknown(out, open) : v;
}

/* The first that is not proved, or one that is refuted. */
static void take_worse(CheckResult *out, const CheckResult *one)
{
	out->states += one->states;
	if (one->verdict != CHECK_REFUTED &&
	    (one->verdict == CHECK_PROVED || out->verdict != CHECK_PROVED))
		return;
	out->verdict = one->verdict;
	out->why = one->why;
	out->at = one->at;
	out->limited = one->limited;
}

/* A tile, where a CTA may have none; then none. */
static void prove_once(Launch *l, CheckResult *out)
{
	for (l->once_is = 1; l->once_is >= (l->once ? 0 : 1) && out->verdict != CHECK_REFUTED;
	     l->once_is--) {
		CheckResult one = {.unproved = out->unproved};
		one.verdict = prove_launch(l, &one);
		take_worse(out, &one);
	}
}

/* Each of the ways that a launch can choose is a kernel of its own. */
static void prove_choices(Launch *l, CheckResult *out)
{
	for (l->values = 0; l->values < 1u << l->n && out->verdict != CHECK_REFUTED; l->values++)
		prove_once(l, out);
}

/* So is each CTA where they are apart, and each place among those that meet. */
static void prove_all(const Kernel *k, const CheckOpt *opt, CheckResult *out)
{
	Told told = {.arena = arena_new()};
	Launch l = {.k = k, .opt = opt, .recall = recall_new(ctx_arena(k->ctx)), .told = &told};
	int ctas, together = program_peers(k, &ctas);
	l.n = find_choices(k, l.names);
	l.parts = find_parts(k);
	l.once = program_once(k);
	*out = (CheckResult){.verdict = CHECK_PROVED, .unproved = opt && opt->unproved};
	for (; l.rank < ctas && out->verdict == CHECK_PROVED; l.rank += together)
		for (l.part = 0; l.part < l.parts && out->verdict == CHECK_PROVED; l.part++)
			prove_choices(&l, out);
	arena_free(told.arena);
}

/* A run in which all CTAs draw their tiles by turns is one of the kernel's: what fails there fails.
 */
static void refute_by_turns(const Kernel *k, const CheckOpt *opt, CheckResult *out)
{
	TurnedVec all = {0};
	CheckResult one;
	tickets_by_turns(k, &all);
	prove_all(k, opt, &one);
	tickets_exchange(&all);
	one.states += out->states;
	if (one.verdict == CHECK_REFUTED)
		*out = one;
}

CheckVerdict check_kernel(const Kernel *k, const CheckOpt *opt, CheckResult *out)
{
	double start = now();
	prove_all(k, opt, out);
	if (out->verdict == CHECK_UNKNOWN && kernel_find(k, OP_TICKETS))
		refute_by_turns(k, opt, out);
	if (out->verdict == CHECK_UNKNOWN)
		say_unknown(k, out);
	out->seconds = now() - start;
	return out->verdict;
}
