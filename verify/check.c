/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* check.c - the verifier's table of contents: read the kernel, prove it for all words, and for
 * what is refuted find the shortest run that shows it.
 *     schedules.gemm, cooperative, 4 stages  ->  CHECK_PROVED, 83 states
 */
#include "verify/check.h"
#include "verify/tickets.h"
#include "verify/extract.h"
#include "verify/report.h"
#include "verify/sizes.h"
#include "verify/tree.h"

#include <string.h>
#include <time.h>

enum { MAX_CLAMP = 64, MOST_LAPS = 4, LEAST_TRIPS = -8, MOST_TRIPS = 1000, ANY_STATES = 400 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ------------------------------------------------------------------ what must be told apart */
typedef struct {
	Program *p;
	const Script *s;
	int seg;
	int64_t tile, trip; /* periods */
} Needs;

static void need(void *user, const char *name, int64_t q)
{
	Needs *n = user;
	Program *p = n->p;
	if (name == p->tile) {
		n->tile = lcm(n->tile, q * n->s->turns);
		p->uses[n->seg] |= 1;
	} else if (name == p->left) {
		p->words.uses_left = true;
		p->uses[n->seg] |= 2;
	} else if (name == p->trip) {
		n->trip = lcm(n->trip, q);
		p->uses[n->seg] |= q > 1 ? 4 : 0;
	} else if (name == p->position) {
		n->trip = lcm(n->trip, q);
	} else if (name == p->trips) {
		n->trip = lcm(n->trip, q);
		p->uses[n->seg] |= 8;
	}
}

static void need_x(Needs *n, const Ix *x, int64_t q)
{
	if (x)
		ix_needs(x, q, need, n);
}

/* The largest constant that a trip or a tile is compared with: what is beyond acts alike. */
static int64_t reach(const Ix *x)
{
	int64_t v, a, b;
	if (ix_is_const(x, &v))
		return v > MAX_CLAMP || v < -MAX_CLAMP ? MAX_CLAMP : v < 0 ? -v : v;
	if (x->kind == IX_SYM)
		return 0;
	a = reach(x->a);
	b = reach(x->b);
	return a > b ? a : b;
}

static void reach_of(Program *p, const Ix *x)
{
	if (ix_is_const(x, NULL))
		return;
	int64_t far = reach(x) + 1;
	far = far > MAX_CLAMP ? 2 : far;
	bool tile = ix_uses(x, p->tile) || ix_uses(x, p->left);
	Clamps *least = &p->least;
	int64_t *at = tile ? &least->tile : &least->trip;
	*at = far > *at ? far : *at;
	least->rest = least->trips = least->trip;
}

static void need_items(Needs *n, const Items *items)
{
	for (int i = 0; i < items->n; i++) {
		const Item *it = items->at[i];
		const Ix *at[] = {it->at_key,  it->at_cell, it->at_cell2,
				  it->at_byte, it->number,  it->from};
		for (size_t j = 0; j < COUNTOF(at); j++)
			need_x(n, at[j], 1);
		need_x(n, it->to, 1);
		if (it->to)
			reach_of(n->p, it->to);
		for (int j = 0; j < it->nconds; j++) {
			need_x(n, it->conds[j], 1);
			reach_of(n->p, it->conds[j]);
		}
		need_items(n, &it->body);
	}
}

/* A modulus far beyond the period says no more than what they have in common. */
static void few_residues(Words *w)
{
	if (w->trips_mod <= MOST_LAPS * w->trip_period)
		return;
	w->trips_mod = num_gcd(w->trips_mod, w->trip_period);
	w->trips_res %= w->trips_mod;
}

static void find_periods(Program *p)
{
	Needs n = {.p = p, .tile = 1, .trip = 1};
	p->least = (Clamps){1, 1, 1, 1};
	for (int a = 0; a < p->m.na; a++)
		for (n.seg = 0; n.seg < SEG_COUNT; n.seg++) {
			n.s = &p->scripts[a];
			n.tile = lcm(n.tile, n.s->turns);
			need_items(&n, &n.s->seg[n.seg]);
		}
	n.seg = SEG_TILE;
	for (int a = 0; a < p->m.na; a++)
		for (int i = 0; i < p->words.inner; i++) {
			n.s = &p->scripts[a];
			need_x(&n, n.s->base[i], n.trip);
		}
	p->words.tile_period = n.tile;
	p->words.trip_period = n.trip;
	few_residues(&p->words);
	for (int i = 0; i < p->m.nk; i++)
		if (p->m.keys[i].slots && n.trip % (2 * p->m.keys[i].slots))
			p->m.keys[i].slots = 0;
	for (int i = 0; i < p->m.nc; i++)
		if (p->m.cells[i].slots && n.trip % p->m.cells[i].slots)
			p->m.cells[i].slots = 0;
}

/* A loop of fewer than no trips has none: which, matters only where the count is used outside. */
static bool counts_near_zero(Program *p)
{
	Words *w = &p->words;
	int used = 0;
	for (int seg = 0; seg < SEG_INNER; seg++)
		used |= p->uses[seg] & 8;
	w->trips_lo = used || w->trips_lo > 0 ? w->trips_lo : 0;
	return w->trips_lo >= LEAST_TRIPS;
}

/* Runs of more trips than that are proved as those of any number from there on: the least is gone
 * through, so it must be near. */
static void trips_in_reach(Words *w)
{
	if (w->trips_lo <= MOST_TRIPS)
		return;
	w->trips_lo = MOST_TRIPS;
	w->trips_hi = INT64_MAX;
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
	DiagMsg *m =
		diag(k->ctx, r->at, ids[r->unproved][r->limited], "%s is %s: %s", k->name,
		     r->limited ? "not decided within the limit" : "neither proved nor refuted",
		     r->why);
	if (!r->unproved)
		diag_remedy(k->ctx, m, "--unproved compiles it all the same, with a warning");
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

/* What it is that is not followed. */
static void open_words(Program *p, const WordsResult *w, Open *open)
{
	Ctx *c = p->k->ctx;
	if (w->verdict == WORDS_UNDECIDED) {
		open->loc = p->loc;
		open->text = ctx_strf(c, "the verifier does not follow %s", program_vague(p));
	} else if (why_is_open(w->why.id)) {
		open->loc = w->why.step ? w->why.step->op->loc : p->k->loc;
		open->text = report_why(p, &w->why);
		open->limited = why_is_limit(w->why.id);
	} else {
		open->text =
			w->limit ? limit_text(c, w->limit)
				 : ctx_strf(c, "it takes more than %d trip counts", (int)w->trips);
		open->limited = true;
	}
}

static CheckVerdict answer(Program *p, const WordsResult *w, CheckResult *out, Open *open)
{
	out->states = w->states;
	out->trips = w->trips;
	if (w->verdict == WORDS_PROVED)
		return CHECK_PROVED;
	if (w->verdict == WORDS_REFUTED)
		open->text = report_refuted(p, w, out);
	else
		open_words(p, w, open);
	return open->text ? CHECK_UNKNOWN : CHECK_REFUTED;
}

static int most_states(const CheckOpt *opt)
{
	return opt && opt->level == VERIFY_FULL ? MAX_FULL_STATES : MAX_STATES;
}

/* By joining states. False, and what is not followed, if that is known already. */
static bool prove_joined(Program *p, const CheckOpt *opt, CheckResult *out, Open *open)
{
	WordsResult w;
	find_periods(p);
	if (p->words.tile_period > MAX_PERIOD || p->words.trip_period > MAX_PERIOD)
		*open = (Open){open->loc, limit_text(p->k->ctx, LIMIT_PERIOD), true};
	else if (!counts_near_zero(p))
		open->text = "the verifier does not follow a main loop whose trip count may be "
			     "far below 0";
	if (open->text)
		return false;
	trips_in_reach(&p->words);
	machine_overlaps(&p->m);
	program_even(p);
	return words_cover(&p->m, &p->words, most_states(opt), &w) &&
	       answer(p, &w, out, open) == CHECK_PROVED;
}

/* State by state. */
static CheckVerdict prove_words(Program *p, const CheckOpt *opt, CheckResult *out, Open *open)
{
	WordsResult w;
	WordsLimits limits = {p->least, most_states(opt)};
	do {
		words_prove(&p->m, &p->words, limits, &w);
		if (w.verdict != WORDS_UNDECIDED)
			break;
		limits.clamp.trip *= 2;
		limits.clamp.rest = limits.clamp.trips = limits.clamp.trip;
		limits.clamp.tile += 1;
	} while (limits.clamp.trip <= MAX_CLAMP);
	if (w.verdict == WORDS_REFUTED && !p->m.exact) {
		p->m.exact = true;
		machine_layout(&p->m);
		p->turns = NULL;
		words_prove(&p->m, &p->words, limits, &w);
	}
	return answer(p, &w, out, open);
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
	int64_t parts = 1;
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op->kind == OP_SEM_WAIT)
			parts = attrs_int(&op->attrs, A_COUNT, 1);
	return parts >= 1 && parts <= MOST ? (int)parts : 1;
}

static void put_part(const Launch *l, Program *p)
{
	Ctx *c = l->k->ctx;
	int ctas;
	program_peers(l->k, &ctas);
	if (l->parts == 1)
		return;
	const Ix *first = ix_mul(c, ix_sym(c, ctx_str(c, SIZES_GROUP)), ix_const(c, l->parts));
	p->cluster = ix_add(c, first, ix_const(c, l->part));
	p->choices[p->nchoices++] = (Named){ctx_str(c, ctas == 1 ? "cta" : "cluster"), p->cluster};
}

static Program *program_new(const Launch *l)
{
	Program *p = NEW(ctx_arena(l->k->ctx), Program);
	p->k = l->k;
	p->rank = l->rank;
	p->recall = l->recall;
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
	tree_tour(p->tree, most_states(opt), w);
	out->states += w->states;
	if (!w->proved && !w->limit) {
		p->m.exact = true;
		machine_layout(&p->m);
		tree_tour(p->tree, most_states(opt), w);
		out->states += w->states;
	}
	return w->proved;
}

static CheckVerdict open_tour(Program *p, const TourResult *w, CheckResult *out, Open *open)
{
	*open = (Open){p->k->loc, report_tree(p, w->limit == NULL, out), w->limit == NULL};
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
	q->cluster = p->cluster;
	q->once = p->once;
	q->once_is = p->once_is;
	q->nchoices = p->nchoices;
	memcpy(q->choices, p->choices, sizeof q->choices);
	q->equal = true;
	return q;
}

/* Counts that do not agree by name may do where equal sizes have one. */
static bool read_words(Program **p, const Kernel *k)
{
	if (program_read(*p, k))
		return true;
	if ((*p)->code != D_E0414)
		return false;
	Program *q = program_like(*p);
	bool ok = program_read(q, k);
	*p = ok ? q : *p;
	return ok;
}

static bool read_tree_as(Program *p, const Kernel *k, Tree as)
{
	p->tree = NEW(ctx_arena(k->ctx), Tree);
	*p->tree = as;
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

/* First by the words of one main loop in one loop over tiles, then by the tree of all loops. */
static CheckVerdict prove_launch(const Launch *l, CheckResult *out)
{
	const Kernel *k = l->k;
	const CheckOpt *opt = l->opt;
	Program *p = program_new(l), *q;
	Open open = {k->loc, NULL, false}, first = open;
	TourResult w;
	CheckVerdict v = CHECK_UNKNOWN;
	bool words = read_words(&p, k);
	if (words && prove_joined(p, opt, out, &first))
		return CHECK_PROVED;
	if (words && !first.text && !p->words.tiles)
		v = prove_words(p, opt, out, &first);
	if (v != CHECK_UNKNOWN)
		return v;
	if (!words && p->shaped)
		return cannot_read(p, out);
	q = program_like(p);
	bool tree;
	if (prove_loops(&q, opt, out, &w, &tree))
		return CHECK_PROVED;
	if (!words && !tree)
		return cannot_read(q, out);
	if (words && !first.text && p->words.tiles)
		v = prove_words(p, opt, out, &first);
	if (v == CHECK_UNKNOWN && tree)
		v = open_tour(q, &w, out, &open);
	open = words ? first : open;
	return v == CHECK_UNKNOWN ? unknown(out, open) : v;
}

/* The first that is not proved, or one that is refuted. */
static void take_worse(CheckResult *out, const CheckResult *one)
{
	out->states += one->states;
	out->trips = one->trips > out->trips ? one->trips : out->trips;
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
	Launch l = {.k = k, .opt = opt, .recall = recall_new(ctx_arena(k->ctx))};
	int ctas, together = program_peers(k, &ctas);
	l.n = find_choices(k, l.names);
	l.parts = find_parts(k);
	l.once = program_once(k);
	*out = (CheckResult){.verdict = CHECK_PROVED, .unproved = opt && opt->unproved};
	for (; l.rank < ctas && out->verdict == CHECK_PROVED; l.rank += together)
		for (l.part = 0; l.part < l.parts && out->verdict == CHECK_PROVED; l.part++)
			prove_choices(&l, out);
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
	if (out->verdict == CHECK_UNKNOWN && kernel_has_tickets(k))
		refute_by_turns(k, opt, out);
	if (out->verdict == CHECK_UNKNOWN)
		say_unknown(k, out);
	out->seconds = now() - start;
	return out->verdict;
}
