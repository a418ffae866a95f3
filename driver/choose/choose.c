/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* choose.c - compile_run: a source that leaves choices is closed by what the cost model likes best
 * for the sizes that count, of what the compiler accepts.
 *     const bM = pick(64, 128), .. and no schedule, --for M=16,N=4096,K=4096
 *  -> -DbM=64 -DbN=64 -Dschedule="roles cooperative; split_k 2;" */
#include "driver/choose/choose.h"

#include <math.h>
#include <string.h>

enum { POOL_MOST = 96 /* of one size */, POOL_EACH = 8 /* of many */, FAMILY = 16, TRIES = 64 };
enum { TILE_AND_ROLES = (1 << AT_CLUSTER) - 1, ALL_OF_IT = (1 << AT_COUNT) - 1 };
#define LEAST_GAIN 0.001 /* of a variant more */
#define ENOUGH     0.02  /* in the mean over the best of each size: no further variant */

static Arena *arena(const Chooser *c)
{
	return ctx_arena(c->of.ctx);
}

/* ------------------------------------------------------------------ the pool */
/* The best of one size, in order. */
typedef struct {
	CostAt at;
	int n;
	float rank[POOL_MOST];
	Candidate x[POOL_MOST];
} Best;
typedef struct {
	const Chooser *c;
	VEC(Best *) of;
} Fill;

static bool is_like(const Candidate *x, const Candidate *y, unsigned where)
{
	for (int i = 0; i < AT_COUNT; i++)
		if (where >> i & 1 && x->at[i] != y->at[i])
			return false;
	return true;
}

static bool is_refused(const Chooser *c, const Candidate *x)
{
	for (int i = 0; i < c->refused.n; i++)
		if (is_like(&c->refused.at[i].x, x, c->refused.at[i].where))
			return true;
	return false;
}

static void keep(Best *b, int most, float rank, const Candidate *x)
{
	int i = b->n < most ? b->n++ : b->n - 1;
	for (; i > 0 && b->rank[i - 1] > rank; i--) {
		b->rank[i] = b->rank[i - 1];
		b->x[i] = b->x[i - 1];
	}
	b->rank[i] = rank;
	b->x[i] = *x;
}

static void keep_best(void *user, const Candidate *x)
{
	const Fill *f = user;
	const Chooser *c = f->c;
	int most = c->sizes.n > 1 ? POOL_EACH : POOL_MOST;
	CostReady ready = cost_ready(&choices_work(&c->of)->product, &x->v, &c->device);
	for (int i = 0; i < f->of.n; i++) {
		Best *b = f->of.at[i];
		float rank = cost_rank(&ready, &b->at);
		if ((b->n < most || rank < b->rank[b->n - 1]) && !is_refused(c, x))
			keep(b, most, rank, x);
	}
}

static Entry *in_pool(const Chooser *c, const Candidate *x)
{
	for (int i = 0; i < c->pool.n; i++)
		if (is_like(&c->pool.at[i]->x, x, ALL_OF_IT))
			return c->pool.at[i];
	return NULL;
}

static void add_to_pool(Chooser *c, const Candidate *x)
{
	if (in_pool(c, x))
		return;
	Entry *e = NEW(arena(c), Entry);
	*e = (Entry){.x = *x, .us = NEWN(arena(c), float, c->sizes.n)};
	for (int i = 0; i < c->sizes.n; i++)
		e->us[i] = (float)cost_us(&choices_work(&c->of)->product, &x->v, &c->sizes.at[i],
					  &c->device, NULL);
	vec_push(arena(c), &c->pool, e);
}

/* The least time at a size, of what is not refused. */
static float least_us(const Chooser *c, int size)
{
	float us = INFINITY;
	for (int i = 0; i < c->pool.n; i++)
		if (!c->pool.at[i]->refused && c->pool.at[i]->us[size] < us)
			us = c->pool.at[i]->us[size];
	return us;
}

/* Where what was best at a size is refused, others come into the pool. */
static void fill_pool(Chooser *c)
{
	Fill f = {.c = c};
	for (int i = 0; i < c->sizes.n; i++)
		if (least_us(c, i) > c->floor[i]) {
			Best *b = NEW(arena(c), Best);
			b->at = cost_at(&choices_work(&c->of)->product, &c->sizes.at[i],
					&c->device);
			vec_push(arena(c), &f.of, b);
		}
	if (f.of.n)
		choices_each(&c->of, keep_best, &f);
	for (int i = 0; i < f.of.n; i++)
		for (int j = 0; j < f.of.at[i]->n; j++)
			add_to_pool(c, &f.of.at[i]->x[j]);
	for (int i = 0; i < c->sizes.n; i++)
		c->floor[i] = least_us(c, i);
}

/* ------------------------------------------------------------------ what is refused */
/* NULL: what is legal. */
static Variant variant_of(const Chooser *c, const Candidate *x)
{
	Defines d = {0};
	choices_defines(&c->of, x, &d);
	return (Variant){.kernel = c->of.kernel, .defines = d.at, .ndefines = d.n};
}

static void keep_cause(Chooser *c, const DiagMsg *m)
{
	while (m && diag_rows[m->id].severity != SEV_ERROR)
		m = m->next;
	if (m && !c->cause)
		c->cause = ctx_strf(c->of.ctx, "%s, %s", diag_rows[m->id].code, m->text);
}

/* Whether the compiler takes it, short of code. */
static bool accepts(Chooser *c, const Candidate *x)
{
	CompileOut out = {.exit_code = 0};
	CompileOpt opt = *c->of.opt;
	Ctx *scratch = ctx_new();
	Variant v = variant_of(c, x);
	opt.emit = 0;
	opt.only_check = true;
	opt.kernel = c->of.kernel;
	opt.after = NULL;
	opt.said = NULL;
	opt.names = NULL;
	opt.variants = &v;
	opt.nvariants = 1;
	c->tries++;
	bool ok = compile_closed(scratch, c->of.source, &opt, &out);
	keep_cause(c, diag_first(scratch));
	compile_out_free(&out);
	ctx_free(scratch);
	return ok;
}

static void drop_like(Chooser *c, const Candidate *x, unsigned where)
{
	vec_push(arena(c), &c->refused, ((Refusal){*x, where}));
	for (int i = 0; i < c->pool.n; i++)
		c->pool.at[i]->refused |= is_like(&c->pool.at[i]->x, x, where);
}

/* What falls with a candidate that is refused. Its tile and roles, if these alone are refused too;
 * else each way to share that it has, if it is refused with the first legal tile alone. */
static void refuse_like(Chooser *c, const Candidate *x)
{
	const unsigned roles = 1u << AT_SWAP | 1u << AT_FORM;
	Candidate y = *x;
	memset(&y.at[AT_CLUSTER], 0, sizeof(short) * (AT_COUNT - AT_CLUSTER));
	drop_like(c, x, ALL_OF_IT);
	if (is_like(x, &y, ALL_OF_IT) || !accepts(c, &y)) {
		drop_like(c, x, TILE_AND_ROLES);
		return;
	}
	memcpy(y.at, c->of.swap[x->at[AT_SWAP]].first, sizeof(short) * PICKS_MOST);
	for (int i = AT_CLUSTER; i < AT_COUNT; i++) {
		Candidate z = y;
		z.at[i] = x->at[i];
		z.v = x->v;
		if (x->at[i] && !accepts(c, &z))
			drop_like(c, x, roles | 1u << i);
	}
}

/* ------------------------------------------------------------------ choosing */
/* The mean, over the sizes, of how much longer than the best of all it takes; where it does
 * not run, three times as long. Sizes at which nothing runs do not count. */
static double loss_with(const Chooser *c, const Entry *e)
{
	double sum = 0;
	for (int i = 0; i < c->sizes.n; i++) {
		float us = e && (!c->chosen.n || e->us[i] < c->best[i]) ? e->us[i] : c->best[i];
		sum += isinf(c->floor[i]) ? 0 : isinf(us) ? 2 : us / c->floor[i] - 1;
	}
	return sum / c->sizes.n;
}

/* Whether a launch of any size takes it: one that is chosen for no size must, or the first of a
 * family, which stands in for all. The source may ask for a workspace itself. */
static bool is_general(const Chooser *c, const Entry *e)
{
	return c->of.opt->nsizes || c->chosen.n ||
	       e->x.v.workspace == choices_work(&c->of)->variant.workspace;
}

static Entry *next_entry(const Chooser *c)
{
	Entry *best = NULL;
	double least = 0;
	if (c->measured && !c->measured->refused && !c->measured->taken)
		return c->measured;
	for (int i = 0; i < c->pool.n; i++) {
		Entry *e = c->pool.at[i];
		bool live = !e->refused && !e->taken && is_general(c, e) &&
			    (!c->chosen.n || is_like(&e->x, &c->chosen.at[0]->x, c->of.outer));
		double loss = live ? loss_with(c, e) : 0;
		if (live && (!best || loss < least)) {
			best = e;
			least = loss;
		}
	}
	return best;
}

/* Where all of the pool needs a workspace that not every launch has, what is next comes into it. */
static void fill_general(Chooser *c)
{
	for (int seen = 0; seen < c->pool.n && !next_entry(c); fill_pool(c))
		for (; seen < c->pool.n; seen++)
			drop_like(c, &c->pool.at[seen]->x, ALL_OF_IT);
}

static void take(Chooser *c, Entry *e)
{
	for (int i = 0; i < c->sizes.n; i++)
		if (!c->chosen.n || e->us[i] < c->best[i])
			c->best[i] = e->us[i];
	e->taken = true;
	vec_push(arena(c), &c->chosen, e);
}

double chooser_loss(const Chooser *c)
{
	return loss_with(c, NULL);
}

/* As few as come near enough, at most so many. */
static void choose(Chooser *c, int most, double enough)
{
	Entry *e;
	while (c->chosen.n < most && c->tries < TRIES && (e = next_entry(c))) {
		double loss = c->chosen.n ? loss_with(c, NULL) : INFINITY;
		if (enough >= 0 && (loss <= enough || loss - loss_with(c, e) < LEAST_GAIN))
			return;
		if (accepts(c, &e->x)) {
			take(c, e);
		} else {
			refuse_like(c, &e->x);
			if (c->of.known)
				fill_pool(c);
		}
	}
}

/* ------------------------------------------------------------------ all of a source */
typedef struct {
	Ctx *say, *ctx; /* the user's; of all that is chosen by */
	const Source *source;
	CompileOpt *opt;
	const Module *module; /* the first values being legal; else NULL */
	VEC(Chooser) kernels;
	TunedVec tuned; /* the lines of FILE.tune */
} File;

static Chooser *chooser_of(File *f, const char *kernel)
{
	for (int i = 0; i < f->kernels.n; i++)
		if (!strcmp(f->kernels.at[i].of.kernel, kernel))
			return &f->kernels.at[i];
	Choices of = {
		.ctx = f->ctx, .source = f->source, .opt = f->opt, .kernel = kernel, .ways = 1};
	vec_push(ctx_arena(f->ctx), &f->kernels, ((Chooser){.of = of}));
	return &f->kernels.at[f->kernels.n - 1];
}

static void add_choice(Choices *s, const Choice *x)
{
	s->schedule |= !x->n;
	s->ways *= x->n > 1 ? x->n : 1;
	if (x->n > 1 && s->ways <= WAYS_MOST) {
		s->outer |= (unsigned)(!x->kernel && !s->alone) << s->npicks;
		s->pick[s->npicks++] = *x;
	}
}

/* What each kernel leaves open. Choices outside of kernels are of the first that has some of its
 * own. */
static void read_choices(File *f)
{
	ChoiceVec open = {0};
	const char *first = f->opt->kernel;
	FrontendOpt fo = compile_frontend(f->ctx, f->opt, NULL, 0);
	fo.choices = &open;
	int src = ctx_src(f->ctx, f->source->name, f->source->text, f->source->size);
	f->module = frontend_compile(f->ctx, src, &fo);
	diag_forget(f->ctx);
	for (int i = 0; i < open.n && !first; i++)
		first = open.at[i].kernel;
	for (int i = 0; fo.kernels && i < open.n; i++) {
		const char *kernel = open.at[i].kernel ? open.at[i].kernel : first;
		Choices *s = &chooser_of(f, kernel ? kernel : fo.first)->of;
		s->alone = fo.kernels == 1 || f->opt->kernel;
		add_choice(s, &open.at[i]);
	}
}

/* A product that the model does not know, or takes for too large: warps that load, if accepted. */
static void fill_unknown(Chooser *c)
{
	c->of.known = false;
	c->sizes = (SizesVec){.n = 1};
	c->floor = NEWN(arena(c), float, 1);
	*c->floor = 1;
	Entry *e = NEW(arena(c), Entry);
	e->us = c->floor;
	memcpy(e->x.at, c->of.swap[0].first, sizeof c->of.swap[0].first);
	vec_push(arena(c), &c->pool, e);
}

/* ------------------------------------------------------------------ what was measured */
/* A GPU as FILE.tune names it: NULL, "H200" -> "NVIDIA H200" */
static const char *card_name(const char *card)
{
	const char *known = cost_device(card, 0, 0, 0).name;
	return card && !strstr(known, card) ? card : known;
}

/* Whether -D closes what the line does. */
static bool is_closed(const CompileOpt *opt, const Tuned *line)
{
	size_t prefix = strlen(line->kernel);
	for (int i = 0; i < opt->ndefines; i++) {
		const char *name = opt->defines[i], *eq = strchr(name, '=');
		if (!strncmp(name, line->kernel, prefix) && name[prefix] == '.')
			name += prefix + 1;
		for (int j = 0; eq && j < line->defines.n; j++)
			if (!strncmp(name, line->defines.at[j], (size_t)(eq - name) + 1))
				return true;
	}
	return false;
}

static void add_measured(File *f, Chooser *c)
{
	Candidate x;
	const CompileOpt *o = f->opt;
	if (o->nsizes == 1)
		c->line = tuned_find(&f->tuned, card_name(o->card), c->of.kernel, o->sizes);
	if (c->line && is_closed(o, c->line))
		c->line = NULL;
	if (!c->line || !choices_find(&c->of, &c->line->defines, &x))
		return;
	add_to_pool(c, &x);
	c->measured = in_pool(c, &x);
}

/* A family is for the sizes that were tuned, too. */
static void add_tuned_sizes(File *f, Chooser *c)
{
	const char *card = card_name(f->opt->card);
	for (int i = 0; !f->opt->nsizes && i < f->tuned.n; i++) {
		const Tuned *x = &f->tuned.at[i];
		if (!strcmp(x->card, card) && !strcmp(x->kernel, c->of.kernel))
			sizes_add(NULL, f->ctx, choices_work(&c->of), &x->sizes, &c->sizes);
	}
}

static void say_stale(const File *f, const Chooser *c)
{
	if (c->line && (!c->chosen.n || c->chosen.at[0] != c->measured))
		diag(f->say, c->line->loc, D_W0602,
		     "%s does not take this any more: the cost model chooses for these sizes\n"
		     "run dslc tune again",
		     f->source->name);
}

/* More combinations take longer to rank than anybody waits. */
static void open_choices(File *f, Choices *s)
{
	if (s->ways <= WAYS_MOST)
		choices_open(s);
	else
		diag(f->say, NOLOC, D_E0618,
		     "the picks of %s come to %.0f combinations, and %.0f are looked at\n"
		     "take larger steps, or close one: -D%s=%s",
		     s->kernel, s->ways, WAYS_MOST, s->pick[0].name, s->pick[0].values[0]);
}

static void begin(File *f, Chooser *c)
{
	open_choices(f, &c->of);
	if (c->of.known && sizes_counted(f->say, f->ctx, f->opt, choices_work(&c->of), &c->sizes)) {
		c->device = cost_device(f->opt->card, 0, 0, 0);
		add_tuned_sizes(f, c);
		c->floor = NEWN(arena(c), float, c->sizes.n);
		fill_pool(c);
		fill_general(c);
		add_measured(f, c);
		if (!c->pool.n)
			fill_unknown(c);
	} else if (!c->of.known && (c->of.schedule || c->of.npicks)) {
		fill_unknown(c);
	}
	c->best = NEWN(arena(c), float, c->sizes.n + 1);
}

/* ------------------------------------------------------------------ warnings */
/* Of each pick in one line. Where the user closes anything, a value may be for when that is not. */
static void warn_illegal(File *f, const Choices *s)
{
	for (int i = 0; s->known && s->schedule && !f->opt->ndefines && i < s->npicks; i++) {
		Buf values = {0};
		for (int j = 0; j < s->pick[i].n; j++) {
			bool legal = false;
			for (int swap = 0; swap < 2; swap++)
				legal |= s->swap[swap].of[i] && s->swap[swap].of[i][j].tile_m;
			if (!legal)
				buf_printf(&values, "%s%s", values.n ? ", " : "",
					   s->pick[i].values[j]);
		}
		if (values.n)
			diag(f->say, NOLOC, D_W0603,
			     "%s: no kernel comes of %s = %s\n"
			     "leave out what does not fit the mma: rows in steps of 64, columns of "
			     "8",
			     s->kernel, s->pick[i].name, values.s);
		buf_free(&values);
	}
}

static void warn_fallback(File *f, const Chooser *c)
{
	if (c->chosen.n || !c->cause)
		return;
	Buf first = {0};
	chosen_defines(&c->of, &c->refused.at[0].x, &first);
	diag(f->say, NOLOC, D_W0604,
	     "%s: no schedule that was tried compiles, and clauses have their defaults; with%s: "
	     "%s\n"
	     "correct this, or write schedule { roles none; }",
	     c->of.kernel, first.s, c->cause);
	buf_free(&first);
}

static void warn_card(File *f)
{
	static const char known[] = ""
#define DEVICE(name, ...) ", " name
#include "runtime/costs.def"
		;
	const char *card = f->opt->card;
	if (card && !strstr(cost_device(card, 0, 0, 0).name, card))
		diag(f->say, NOLOC, D_W0605,
		     "the cost model does not know '%s', and chooses as for an %s\n"
		     "name one that it knows, or a part of it: %s",
		     card, cost_device(card, 0, 0, 0).name, known + 2);
}

static void warn_all(File *f)
{
	bool estimated = false;
	EACH(const Chooser, c, f->kernels) {
		estimated |= c->of.known && c->chosen.n && c->chosen.at[0] != c->measured;
		warn_illegal(f, &c->of);
		warn_fallback(f, c);
		say_stale(f, c);
	}
	if (estimated)
		warn_card(f);
}

/* ------------------------------------------------------------------ what is compiled */
/* Kernels that only leave the schedule open are one kernel all the same: who wants several writes
 * what may differ. */
static int most_variants(const Chooser *c)
{
	const CompileOpt *o = c->of.opt;
	return o->nsizes == 1 || o->one || !c->of.npicks ? 1 : FAMILY;
}

/* By what the launcher chooses. */
static KCost cost_of(File *f, const Chooser *c, const CostVariant *v)
{
	const Work *w = choices_work(&c->of);
	return (KCost){.family = ctx_str(f->say, c->of.kernel),
		       .product = w->product,
		       .variant = *v,
		       .m = ix_postfix_text(f->say, w->m),
		       .n = ix_postfix_text(f->say, w->n),
		       .k = ix_postfix_text(f->say, w->k),
		       .batch = ix_postfix_text(f->say, w->batch),
		       .pitch_a = ix_postfix_text(f->say, w->pitch_a),
		       .pitch_b = ix_postfix_text(f->say, w->pitch_b)};
}

static void add_variants(File *f, const Chooser *c, VariantVec *out)
{
	int n = c->chosen.n;
	for (int i = 0; i < n || !i; i++) {
		const Candidate *x = n ? &c->chosen.at[i]->x : NULL;
		Variant v = variant_of(c, x);
		if (n && c->of.known)
			v.cost = cost_of(f, c, &x->v);
		vec_push(ctx_arena(f->ctx), out, v);
	}
}

static bool compile_chosen(File *f, CompileOut *out)
{
	CompileOpt opt = *f->opt;
	VariantVec all = {0};
	for (int i = 0; i < f->kernels.n; i++)
		add_variants(f, &f->kernels.at[i], &all);
	opt.variants = all.at;
	opt.nvariants = all.n;
	return compile_closed(f->say, f->source, &opt, out);
}

const char *chosen_name(const Chooser *c, int i)
{
	const char *kernel = c->of.kernel;
	return c->chosen.n > 1 ? variant_name(c->of.ctx, kernel, i + 1) : kernel;
}

/* Of what ptxas spills, the tile and roles are not chosen again. NULL: nothing chosen spills. */
static Chooser *drop_spilled(File *f, const CompileOut *out)
{
	for (int i = 0; out->spilled && i < f->kernels.n; i++) {
		Chooser *c = &f->kernels.at[i];
		for (int j = 0; j < c->chosen.n; j++)
			if (!strcmp(chosen_name(c, j), out->spilled)) {
				drop_like(c, &c->chosen.at[j]->x, TILE_AND_ROLES);
				for (; c->chosen.n; c->chosen.n--)
					c->chosen.at[c->chosen.n - 1]->taken = false;
				return c->tries < TRIES ? c : NULL;
			}
	}
	return NULL;
}

/* ------------------------------------------------------------------ all kernels */
static bool has_size(const Kernel *k, const char *name)
{
	for (int i = 0; i < k->syms.n; i++)
		if (!strcmp(k->syms.at[i].name, name))
			return true;
	return false;
}

/* Of kernels that have errors, the sizes are not known. */
static bool some_has_size(const File *f, const char *name)
{
	bool has = false;
	for (int i = 0; f->module && i < f->module->kernels.n; i++)
		has |= has_size(f->module->kernels.at[i], name);
	for (int i = 0; !f->module && i < f->kernels.n; i++) {
		const Kernel *k = choices_work(&f->kernels.at[i].of)->kernel;
		has |= !k || has_size(k, name);
	}
	return has;
}

static bool knows_sizes(const File *f)
{
	const CompileOpt *o = f->opt;
	for (int i = 0; i < o->nsizes; i++)
		for (int j = 0; j < o->sizes[i].n; j++)
			if (!some_has_size(f, o->sizes[i].at[j].name)) {
				diag(f->say, NOLOC, D_E0612,
				     "the sizes to choose for give %s, which no kernel here has\n"
				     "name extents of its tensors: M=4096,N=4096",
				     o->sizes[i].at[j].name);
				return false;
			}
	return true;
}

/* Other kernels see the values that picks outside of kernels have in this one. */
static void close_outer(File *f, const Chooser *c)
{
	Variant v = variant_of(c, c->chosen.n ? &c->chosen.at[0]->x : NULL);
	Defines all = {0};
	for (int i = 0; i < f->opt->ndefines; i++)
		vec_push(ctx_arena(f->ctx), &all, f->opt->defines[i]);
	for (int i = 0; i < c->of.npicks; i++)
		if (c->of.outer >> i & 1)
			vec_push(ctx_arena(f->ctx), &all, v.defines[i]);
	f->opt->defines = all.at;
	f->opt->ndefines = all.n;
}

/* most 0: what a kernel asks for. */
static bool choose_all(File *f, int most, double enough)
{
	bool ok = tuned_read(f->say, f->source, &f->tuned);
	for (int i = 0; ok && i < f->kernels.n; i++) {
		Chooser *c = &f->kernels.at[i];
		begin(f, c);
		ok = !diag_errors(f->say);
		if (ok)
			choose(c, most ? most : most_variants(c), enough);
		if (ok && c->of.outer)
			close_outer(f, c);
	}
	return ok && knows_sizes(f);
}

static bool compile_all(File *f, CompileOut *out)
{
	if (!choose_all(f, 0, ENOUGH))
		return false;
	Chooser *again;
	bool ok;
	while (!(ok = compile_chosen(f, out)) && (again = drop_spilled(f, out))) {
		choose(again, most_variants(again), ENOUGH);
		diag_forget(f->say);
		compile_out_free(out);
		*out = (CompileOut){.exit_code = 0};
	}
	for (int i = 0; ok && i < f->kernels.n; i++)
		if (f->kernels.at[i].of.schedule || f->kernels.at[i].of.npicks)
			report_chosen(&f->kernels.at[i], &out->chosen);
	if (ok)
		warn_all(f);
	return ok && !diag_errors(f->say);
}

static File open_file(Ctx *say, const Source *source, CompileOpt *opt)
{
	File f = {.say = say, .ctx = ctx_new(), .source = source, .opt = opt};
	if (!source->is_ir)
		read_choices(&f);
	return f;
}

static Defines copied(Ctx *c, const Variant *v)
{
	Defines to = {0};
	for (int i = 0; i < v->ndefines; i++)
		vec_push(ctx_arena(c), &to, ctx_str(c, v->defines[i]));
	return to;
}

bool choose_ranked(Ctx *ctx, const Source *source, const CompileOpt *opt, int most, RankedVec *out)
{
	CompileOpt own = *opt;
	File f = open_file(ctx, source, &own);
	bool ok = choose_all(&f, most, -1);
	for (int i = 0; i < f.kernels.n && ok; i++) {
		const Chooser *c = &f.kernels.at[i];
		for (int j = 0; c->of.known && j < c->chosen.n; j++) {
			Variant v = variant_of(c, &c->chosen.at[j]->x);
			vec_push(ctx_arena(ctx), out,
				 ((Ranked){ctx_str(ctx, c->of.kernel), copied(ctx, &v),
					   (double)c->chosen.at[j]->us[0]}));
		}
	}
	ctx_free(f.ctx);
	if (!out->n && ok)
		diag(ctx, NOLOC, D_E0616,
		     "%s leaves nothing open that can be chosen\n"
		     "write const bM = pick(64, 128), or leave the schedule out",
		     source->name);
	return out->n > 0 && ok;
}

/* Where nothing is chosen, picks have values that are legal, and schedules stay open. */
static bool compile_legal(File *f, CompileOut *out)
{
	for (int i = 0; i < f->kernels.n; i++)
		if (f->kernels.at[i].of.npicks)
			open_choices(f, &f->kernels.at[i].of);
	return compile_chosen(f, out);
}

bool compile_run(Ctx *ctx, const Source *source, const CompileOpt *opt, CompileOut *out)
{
	CompileOpt own = *opt;
	File f = open_file(ctx, source, &own);
	bool looks = opt->syntax_only || opt->stop_after == AFTER_FRONTEND;
	bool ok = f.kernels.n && !looks ? compile_all(&f, out) : compile_legal(&f, out);
	if (!ok && !out->exit_code)
		out->exit_code = EXIT_DIAGS;
	ctx_free(f.ctx);
	return ok;
}
