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
	const Chooser *c;
	CostAt at;
	int most, n;
	float rank[POOL_MOST];
	Candidate x[POOL_MOST];
} Best;

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

static void keep_best(void *user, const Candidate *x)
{
	Best *b = user;
	const CostProduct *product = &choices_work(&b->c->of)->product;
	CostReady ready = cost_ready(product, &x->v, &b->c->device);
	float rank = cost_rank(&ready, &b->at);
	if ((b->n == b->most && rank >= b->rank[b->n - 1]) || is_refused(b->c, x))
		return;
	int i = b->n < b->most ? b->n++ : b->n - 1;
	for (; i > 0 && b->rank[i - 1] > rank; i--) {
		b->rank[i] = b->rank[i - 1];
		b->x[i] = b->x[i - 1];
	}
	b->rank[i] = rank;
	b->x[i] = *x;
}

static Entry *in_pool(const Chooser *c, const Candidate *x)
{
	for (int i = 0; i < c->pool.n; i++)
		if (!memcmp(c->pool.at[i]->x.at, x->at, sizeof x->at))
			return c->pool.at[i];
	return NULL;
}

static void add_to_pool(Chooser *c, const Candidate *x)
{
	Entry *e = NEW(arena(c), Entry);
	*e = (Entry){.x = *x, .us = NEWN(arena(c), float, c->sizes.n)};
	for (int i = 0; i < c->sizes.n; i++)
		e->us[i] = (float)cost_us(&choices_work(&c->of)->product, &x->v, &c->sizes.at[i],
					  &c->device, NULL);
	vec_push(arena(c), &c->pool, e);
}

static void fill_size(Chooser *c, int size)
{
	Best *b = NEW(arena(c), Best);
	*b = (Best){.c = c, .most = c->sizes.n > 1 ? POOL_EACH : POOL_MOST};
	b->at = cost_at(&choices_work(&c->of)->product, &c->sizes.at[size], &c->device);
	choices_each(&c->of, keep_best, b);
	for (int j = 0; j < b->n; j++)
		if (!in_pool(c, &b->x[j]))
			add_to_pool(c, &b->x[j]);
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
	for (int i = 0; i < c->sizes.n; i++) {
		if (least_us(c, i) > c->floor[i])
			fill_size(c, i);
		c->floor[i] = least_us(c, i);
	}
}

/* ------------------------------------------------------------------ what is refused */
/* Whether the compiler takes it, short of code. */
static bool accepts(Chooser *c, const Candidate *x)
{
	Defines d = {0};
	CompileOut out = {.exit_code = 0};
	CompileOpt opt = *c->of.opt;
	Ctx *scratch = ctx_new();
	opt.emit = 0;
	opt.only_check = true;
	opt.kernel = c->of.kernel;
	opt.after = NULL;
	opt.said = NULL;
	opt.names = NULL;
	choices_defines(&c->of, x, &d);
	Variant v = {.kernel = c->of.kernel, .defines = d.at, .ndefines = d.n};
	opt.variants = &v;
	opt.nvariants = 1;
	c->tries++;
	bool ok = compile_closed(scratch, c->of.source, &opt, &out);
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
/* The mean, over the sizes, of how much longer than the best of all it takes. */
static double loss_with(const Chooser *c, const Entry *e)
{
	double sum = 0;
	for (int i = 0; i < c->sizes.n; i++) {
		float us = e && (!c->chosen.n || e->us[i] < c->best[i]) ? e->us[i] : c->best[i];
		sum += us / c->floor[i] - 1;
	}
	return sum / c->sizes.n;
}

/* Whether a launch of any size takes it: one that is chosen for no size must, or the first of a
 * family, which stands in for all. */
static bool is_general(const Chooser *c, const Entry *e)
{
	return c->of.opt->nsizes || c->chosen.n || !e->x.v.workspace;
}

static Entry *next_entry(const Chooser *c)
{
	Entry *best = NULL;
	double least = 0;
	if (c->measured && !c->measured->refused && !c->measured->taken)
		return c->measured;
	for (int i = 0; i < c->pool.n; i++) {
		Entry *e = c->pool.at[i];
		bool live = !e->refused && !e->taken && is_general(c, e);
		double loss = live ? loss_with(c, e) : 0;
		if (live && (!best || loss < least)) {
			best = e;
			least = loss;
		}
	}
	return best;
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
	const CompileOpt *opt;
	const Module *module; /* all that is open having legal values; NULL: there are none */
	VEC(Chooser) kernels;
	VariantVec firsts;
	TunedVec tuned; /* the lines of FILE.tune */
} File;

static Chooser *chooser_of(File *f, const char *kernel)
{
	for (int i = 0; i < f->kernels.n; i++)
		if (!strcmp(f->kernels.at[i].of.kernel, kernel))
			return &f->kernels.at[i];
	Choices of = {.ctx = f->ctx, .source = f->source, .opt = f->opt, .kernel = kernel};
	vec_push(ctx_arena(f->ctx), &f->kernels, ((Chooser){.of = of}));
	return &f->kernels.at[f->kernels.n - 1];
}

/* What each kernel leaves open; a choice outside of kernels is the first one's. */
static void read_choices(File *f)
{
	ChoiceVec open = {0};
	FrontendOpt fo = compile_frontend(f->ctx, f->opt, NULL, 0);
	fo.choices = &open;
	int src = ctx_src(f->ctx, f->source->name, f->source->text, f->source->size);
	f->module = frontend_compile(f->ctx, src, &fo);
	diag_forget(f->ctx);
	for (int i = 0; fo.kernels && i < open.n; i++) {
		const Choice *x = &open.at[i];
		Choices *s = &chooser_of(f, x->kernel ? x->kernel : fo.first)->of;
		s->alone = fo.kernels == 1;
		s->schedule |= !x->n;
		s->crowded |= x->n && s->npicks == PICKS_MOST;
		if (x->n && s->npicks < PICKS_MOST)
			s->pick[s->npicks++] = *x;
	}
}

/* A schedule for a product that the model does not know: warps that load, if that is accepted. */
static void fill_unknown(Chooser *c)
{
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
	if (!in_pool(c, &x))
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
			sizes_add(f->ctx, choices_work(&c->of), &x->sizes, &c->sizes);
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

/* Combinations beyond these take longer to rank than anybody waits. */
static bool are_few(File *f, const Choices *s)
{
	const double most = 4096;
	double all = 1;
	for (int i = 0; i < s->npicks; i++)
		all *= s->pick[i].n;
	if (s->crowded)
		diag(f->say, NOLOC, D_E0618, "%s has more than %d picks\nclose some: -D%s=%s",
		     s->kernel, PICKS_MOST, s->pick[0].name, s->pick[0].values[0]);
	else if (all > most)
		diag(f->say, NOLOC, D_E0618,
		     "the picks of %s come to %.0f combinations, and %.0f are looked at\n"
		     "take larger steps, or close one: -D%s=%s",
		     s->kernel, all, most, s->pick[0].name, s->pick[0].values[0]);
	return !s->crowded && all <= most;
}

static void begin(File *f, Chooser *c)
{
	if (!are_few(f, &c->of))
		return;
	if (c->of.known && sizes_counted(f->say, f->ctx, f->opt, choices_work(&c->of), &c->sizes)) {
		c->device = cost_device(f->opt->card, 0, 0, 0);
		add_tuned_sizes(f, c);
		c->floor = NEWN(arena(c), float, c->sizes.n);
		fill_pool(c);
		add_measured(f, c);
	} else if (!c->of.known && (c->of.schedule || c->of.npicks)) {
		fill_unknown(c);
	}
	c->best = NEWN(arena(c), float, c->sizes.n + 1);
}

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

static void open_all(File *f)
{
	for (int i = 0; i < f->kernels.n; i++) {
		Choices *s = &f->kernels.at[i].of;
		Defines d = {0};
		choices_open(s);
		warn_illegal(f, s);
		choices_legal(s, &d);
		vec_push(ctx_arena(f->ctx), &f->firsts,
			 ((Variant){.kernel = s->kernel, .defines = d.at, .ndefines = d.n}));
	}
}

/* Kernels that only leave the schedule open are one kernel all the same: who wants several writes
 * what may differ. */
static int most_variants(const Chooser *c)
{
	const CompileOpt *o = c->of.opt;
	return o->nsizes == 1 || o->one || !c->of.npicks ? 1 : FAMILY;
}

static const char *postfix(Ctx *c, const Ix *x)
{
	Buf b = {0};
	ix_postfix(x, &b);
	return ctx_buf(c, &b);
}

/* By what the launcher chooses. */
static KCost cost_of(File *f, const Chooser *c, const CostVariant *v)
{
	const Work *w = choices_work(&c->of);
	return (KCost){.family = ctx_str(f->say, c->of.kernel),
		       .product = w->product,
		       .variant = *v,
		       .m = postfix(f->say, w->m),
		       .n = postfix(f->say, w->n),
		       .k = postfix(f->say, w->k),
		       .batch = postfix(f->say, w->batch),
		       .pitch_a = postfix(f->say, w->pitch_a),
		       .pitch_b = postfix(f->say, w->pitch_b)};
}

static void add_variants(File *f, const Chooser *c, VariantVec *out)
{
	if (!c->chosen.n) {
		Defines legal = {0};
		choices_legal(&c->of, &legal);
		vec_push(ctx_arena(f->ctx), out,
			 ((Variant){.kernel = c->of.kernel,
				    .defines = legal.at,
				    .ndefines = legal.n}));
	}
	for (int i = 0; i < c->chosen.n; i++) {
		const Candidate *x = &c->chosen.at[i]->x;
		Defines d = {0};
		choices_defines(&c->of, x, &d);
		Variant v = {.kernel = c->of.kernel, .defines = d.at, .ndefines = d.n};
		if (c->chosen.n > 1)
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

static void take_back(Chooser *c)
{
	for (int i = 0; i < c->chosen.n; i++)
		c->chosen.at[i]->taken = false;
	c->chosen.n = 0;
}

/* Of what ptxas spills, the tile and roles are not chosen again. */
static bool drop_spilled(File *f, CompileOut *out)
{
	for (int i = 0; out->spilled && i < f->kernels.n; i++) {
		Chooser *c = &f->kernels.at[i];
		for (int j = 0; j < c->chosen.n; j++)
			if (!strcmp(chosen_name(c, j), out->spilled)) {
				drop_like(c, &c->chosen.at[j]->x, TILE_AND_ROLES);
				take_back(c);
				return c->tries < TRIES;
			}
	}
	return false;
}

static bool has_size(const Module *m, const char *name)
{
	for (int i = 0; i < m->kernels.n; i++)
		for (int j = 0; j < m->kernels.at[i]->syms.n; j++)
			if (!strcmp(m->kernels.at[i]->syms.at[j].name, name))
				return true;
	return false;
}

static bool knows_sizes(const File *f)
{
	const CompileOpt *o = f->opt;
	for (int i = 0; f->module && i < o->nsizes; i++)
		for (int j = 0; j < o->sizes[i].n; j++)
			if (!has_size(f->module, o->sizes[i].at[j].name)) {
				diag(f->say, NOLOC, D_E0612,
				     "the sizes to choose for give %s, which no kernel here has\n"
				     "name extents of its tensors: M=4096,N=4096",
				     o->sizes[i].at[j].name);
				return false;
			}
	return true;
}

/* Where the first values are not legal, what others come to. */
static void read_legal(File *f)
{
	Defines all = {0};
	for (int i = 0; i < f->firsts.n; i++)
		for (int j = 0; j < f->firsts.at[i].ndefines; j++)
			vec_push(ctx_arena(f->ctx), &all, f->firsts.at[i].defines[j]);
	FrontendOpt fo = compile_frontend(f->ctx, f->opt, all.at, all.n);
	int src = ctx_src(f->ctx, f->source->name, f->source->text, f->source->size);
	f->module = frontend_compile(f->ctx, src, &fo);
	diag_forget(f->ctx);
}

static void begin_all(File *f)
{
	open_all(f);
	if (!f->module)
		read_legal(f);
	if (!knows_sizes(f) || !tuned_read(f->say, f->source, &f->tuned))
		return;
	for (int i = 0; i < f->kernels.n; i++)
		begin(f, &f->kernels.at[i]);
}

static bool choose_all(File *f, CompileOut *out)
{
	begin_all(f);
	bool ok = false, again = !diag_errors(f->say);
	while (again) {
		for (int i = 0; i < f->kernels.n; i++)
			choose(&f->kernels.at[i], most_variants(&f->kernels.at[i]), ENOUGH);
		ok = compile_chosen(f, out);
		again = !ok && drop_spilled(f, out);
		if (again) {
			diag_forget(f->say);
			compile_out_free(out);
			*out = (CompileOut){.exit_code = 0};
		}
	}
	for (int i = 0; ok && i < f->kernels.n; i++) {
		report_chosen(&f->kernels.at[i], &out->chosen);
		say_stale(f, &f->kernels.at[i]);
	}
	return ok && !diag_errors(f->say);
}

static File open_file(Ctx *say, const Source *source, const CompileOpt *opt)
{
	File f = {.say = say, .ctx = ctx_new(), .source = source, .opt = opt};
	if (!source->is_ir)
		read_choices(&f);
	return f;
}

static Defines copied(Ctx *c, const Defines *d)
{
	Defines to = {0};
	for (int i = 0; i < d->n; i++)
		vec_push(ctx_arena(c), &to, ctx_str(c, d->at[i]));
	return to;
}

bool choose_ranked(Ctx *ctx, const Source *source, const CompileOpt *opt, int most, RankedVec *out)
{
	File f = open_file(ctx, source, opt);
	begin_all(&f);
	for (int i = 0; i < f.kernels.n && !diag_errors(ctx); i++) {
		Chooser *c = &f.kernels.at[i];
		if (!c->of.known || (opt->kernel && strcmp(opt->kernel, c->of.kernel) != 0))
			continue;
		choose(c, most, -1);
		for (int j = 0; j < c->chosen.n; j++) {
			Defines d = {0};
			choices_defines(&c->of, &c->chosen.at[j]->x, &d);
			vec_push(ctx_arena(ctx), out,
				 ((Ranked){ctx_str(ctx, c->of.kernel), copied(ctx, &d),
					   (double)c->chosen.at[j]->us[0]}));
		}
	}
	ctx_free(f.ctx);
	if (!out->n && !diag_errors(ctx))
		diag(ctx, NOLOC, D_E0616,
		     "%s leaves nothing open that can be chosen\n"
		     "write const bM = pick(64, 128), or leave the schedule out",
		     source->name);
	return out->n > 0 && !diag_errors(ctx);
}

/* Where nothing comes of a choice, picks have values that are legal, and schedules stay open. */
static bool compile_legal(File *f, CompileOut *out)
{
	CompileOpt opt = *f->opt;
	bool picks = false;
	for (int i = 0; i < f->kernels.n; i++)
		picks |= f->kernels.at[i].of.npicks > 0;
	if (picks)
		open_all(f);
	opt.variants = f->firsts.at;
	opt.nvariants = f->firsts.n;
	return compile_closed(f->say, f->source, &opt, out);
}

bool compile_run(Ctx *ctx, const Source *source, const CompileOpt *opt, CompileOut *out)
{
	File f = open_file(ctx, source, opt);
	bool looks = opt->syntax_only || opt->stop_after == AFTER_FRONTEND;
	bool ok = f.kernels.n && !looks ? choose_all(&f, out) : compile_legal(&f, out);
	if (!ok && !out->exit_code)
		out->exit_code = EXIT_DIAGS;
	ctx_free(f.ctx);
	return ok;
}
