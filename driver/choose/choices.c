/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* choices.c - the ways to close what a source leaves open: each value of its picks, and where the
 * schedule is open the rows below. What a value comes to, the frontend says: it runs once for each
 * value, not for each pair, so picks must not depend on each other.
 *     const bM = pick(64, 128), bN = pick(64, 128);   ->  4 runs; then tables of schedules */
#include "driver/choose/choose.h"

#include <limits.h>
#include <string.h>

/* ------------------------------------------------------------------ schedules */
static const struct {
	const char *clauses;
	int roles, persistent;
} forms[] = {
	{"roles cooperative;", COST_COOPERATIVE, 0},
	{"roles cooperative; persistent;", COST_COOPERATIVE, 1},
	{"roles pingpong; persistent;", COST_PINGPONG, 1},
};
static const struct {
	int m, n;
} clusters[] = {{1, 1}, {2, 1}, {1, 2}, {4, 1}, {1, 4}, {2, 2}, {8, 1}, {1, 8}, {2, 4}};
static const int splits[] = {1, 2, 4, 6, 8, 16}, ctas[] = {1, 2};
enum { CLUSTER_MOST = 8 /* CTAs; more is not portable */ };

/* ------------------------------------------------------------------ one run of the frontend */
static void define(const Choices *s, const char *kernel, const char *name, const char *value,
		   Defines *out)
{
	bool plain = s->alone || !kernel;
	vec_push(ctx_arena(s->ctx), out,
		 ctx_strf(s->ctx, "%s%s%s=%s", plain ? "" : kernel, plain ? "" : ".", name, value));
}

static void define_values(const Choices *s, const short *at, Defines *out)
{
	for (int i = 0; i < s->npicks; i++)
		define(s, s->pick[i].kernel, s->pick[i].name, s->pick[i].values[at[i]], out);
}

static const Kernel *kernel_named(const Module *m, const char *name)
{
	for (int i = 0; m && i < m->kernels.n; i++)
		if (!strcmp(m->kernels.at[i]->name, name))
			return m->kernels.at[i];
	return NULL;
}

/* Whether the frontend takes these values, and what they come to; m NULL: the model does not know
 * the product. The context keeps what it is read from. */
static bool probe(Choices *s, Ctx *c, const short *at, bool swap, Work *out)
{
	Defines d = {0};
	define_values(s, at, &d);
	if (swap)
		define(s, s->kernel, "schedule", "swap;", &d);
	FrontendOpt fo = compile_frontend(c, s->opt, d.at, d.n);
	int src = ctx_src(c, s->source->name, s->source->text, s->source->size);
	fo.kernel = s->kernel;
	const Module *m = frontend_compile(c, src, &fo);
	const Kernel *k = kernel_named(m, s->kernel);
	bool ok = k && !diag_errors(c);
	if (!ok || !work_of(k, out))
		*out = (Work){.kernel = ok ? k : NULL};
	return ok;
}

/* The same where only the variant counts. */
static CostVariant probe_variant(Choices *s, const short *at, bool swap)
{
	Ctx *c = ctx_new();
	Work w;
	CostVariant v = probe(s, c, at, swap, &w) ? w.variant : (CostVariant){.tile_m = 0};
	ctx_free(c);
	return v;
}

/* ------------------------------------------------------------------ what is legal at all */
/* Combination number i, the last pick changing first. */
static void values_at(const Choices *s, int64_t i, short *at)
{
	for (int j = s->npicks; j-- > 0; i /= s->pick[j].n)
		at[j] = (short)(i % s->pick[j].n);
}

/* How far the frontend came with values that are not legal. What -D says, or what the target lacks,
 * is wrong with all. */
static int reach_of(const Ctx *c, const DiagMsg *m)
{
	const Src *src = m ? ctx_src_at(c, m->loc.src) : NULL;
	bool of_all = src && (!strncmp(src->name, "<-D", 3) || m->id == D_E0304);
	return of_all ? INT_MAX : m ? m->loc.begin : -1;
}

/* Values that are legal; or else those of which the first error stands last: a mistake of the
 * program, not of its tile. The order soon has changed each value. */
static bool find_first(Choices *s, SwapState *w, bool swap)
{
	enum { TRIES = 512 };
	const int64_t step = 2654435761; /* a prime that divides no product of numbers up to 256 */
	int latest = -1;
	for (int i = 0; i < TRIES && i < s->ways; i++) {
		short at[PICKS_MOST] = {0};
		values_at(s, i * step % (int64_t)s->ways, at);
		bool legal = probe(s, s->ctx, at, swap, &w->work);
		int reach = reach_of(s->ctx, diag_first(s->ctx));
		if (legal || reach > latest) {
			memcpy(w->first, at, sizeof at);
			latest = reach;
		}
		diag_forget(s->ctx);
		if (legal)
			return true;
	}
	return false;
}

static void open_state(Choices *s, SwapState *w, bool swap)
{
	w->legal = find_first(s, w, swap);
	for (int i = 0; w->legal && w->work.m && i < s->npicks; i++) {
		w->of[i] = NEWN(ctx_arena(s->ctx), CostVariant, s->pick[i].n);
		for (int j = 0; j < s->pick[i].n; j++) {
			short at[PICKS_MOST];
			memcpy(at, w->first, sizeof at);
			at[i] = (short)j;
			w->of[i][j] = probe_variant(s, at, swap);
		}
	}
}

void choices_open(Choices *s)
{
	for (int swap = 0; swap < 1 + s->schedule; swap++) {
		open_state(s, &s->swap[swap], swap);
		s->known |= s->swap[swap].legal && s->swap[swap].work.m;
		/* roles share buffers: without any, there is nothing to choose */
		s->schedule &=
			!s->swap[swap].legal || kernel_find(s->swap[swap].work.kernel, OP_SHARED);
	}
	s->known &= s->schedule || s->npicks;
}

const Work *choices_work(const Choices *s)
{
	return &s->swap[!s->swap[0].legal || !s->swap[0].work.m].work;
}

/* ------------------------------------------------------------------ candidates */
/* The members of a CostVariant are alike: what one value changes stays changed beside others. */
enum { MEMBERS = sizeof(CostVariant) / sizeof(int) };

static bool take_values(const Choices *s, const SwapState *w, Candidate *x)
{
	int first[MEMBERS], now[MEMBERS], all[MEMBERS];
	memcpy(first, &w->work.variant, sizeof first);
	memcpy(all, first, sizeof all);
	for (int i = 0; i < s->npicks; i++) {
		memcpy(now, &w->of[i][x->at[i]], sizeof now);
		for (int j = 0; j < MEMBERS; j++)
			all[j] = now[j] != first[j] ? now[j] : all[j];
		if (!w->of[i][x->at[i]].tile_m)
			return false;
	}
	memcpy(&x->v, all, sizeof all);
	return true;
}

/* Bytes that a persistent kernel keeps for storing its results (passes/epilogue/epilogue.c). */
static int64_t staging_bytes(const CostProduct *p, const CostVariant *v, int64_t room)
{
	enum { SLOTS = 2, ROWS = 64, WIDEST = 64, PINGPONG = 2, ALIGN = 1024 };
	int64_t bytes = (int64_t)ROWS * cost_columns(v, WIDEST) * p->bits_out / 8;
	int64_t one = (bytes + ALIGN - 1) / ALIGN * ALIGN *
		      (v->roles == COST_PINGPONG ? PINGPONG : v->warpgroups);
	int64_t fit = one ? room / one : 0;
	return (fit > SLOTS ? SLOTS : fit) * one;
}

/* What is derived where the source does not say (passes/smem/rings.c). */
static int stages_of(const Choices *s, const SwapState *w, const CostVariant *v)
{
	enum { MOST = 8, MOST_SMALL = 16, SMALL = 16384, BARRIERS = 16 /* bytes */ };
	const Target *t = target_by_name(s->opt->target ? s->opt->target : "sm_90a");
	const CostProduct *p = &w->work.product;
	int64_t slot =
		((int64_t)v->tile_m * p->bits_a + (int64_t)v->tile_n * p->bits_b) * v->tile_k / 8;
	int64_t one = slot + BARRIERS;
	int64_t room = ((t ? t->smem_bytes : 0) + SMEM_KEPT) / v->ctas - SMEM_KEPT;
	if (v->persistent)
		room -= staging_bytes(p, v, room - 2 * one);
	int cluster = v->cluster_m * v->cluster_n * (v->workspace ? 1 : v->split);
	int most = cluster <= CLUSTER_MOST && (v->swap || slot <= SMALL) ? MOST_SMALL : MOST;
	return room / one > most ? most : (int)(room / one);
}

typedef struct {
	const Choices *s;
	const SwapState *w;
	void (*visit)(void *user, const Candidate *x);
	void *user;
} Walk;

static void offer(const Walk *k, Candidate *x)
{
	if (!k->w->work.variant.stages)
		x->v.stages = stages_of(k->s, k->w, &x->v);
	if (x->v.stages > 1)
		k->visit(k->user, x);
}

/* What the source itself says of the schedule stays. */
static void each_share(const Walk *k, Candidate *x)
{
	const CostVariant given = k->w->work.variant, plain = x->v;
	bool shares = !plain.persistent && given.split == 1;
	for (size_t c = 0; c < (given.cluster_m * given.cluster_n > 1 ? 1 : COUNTOF(clusters)); c++)
		for (size_t i = 0; i < (shares ? COUNTOF(splits) : 1); i++)
			for (size_t j = 0; j < (given.ctas > 1 ? 1 : COUNTOF(ctas)); j++) {
				x->v = plain;
				x->at[AT_CLUSTER] = (short)c;
				x->at[AT_SPLIT] = (short)i;
				x->at[AT_CTAS] = (short)j;
				x->v.cluster_m *= clusters[c].m;
				x->v.cluster_n *= clusters[c].n;
				x->v.split *= splits[i];
				x->v.ctas *= ctas[j];
				int run = x->v.cluster_m * x->v.cluster_n * x->v.split;
				x->v.workspace |= i && run > CLUSTER_MOST;
				if (!c || x->v.workspace || run <= CLUSTER_MOST)
					offer(k, x);
			}
}

static void each_schedule(const Walk *k, Candidate *x)
{
	const CostVariant given = x->v;
	if (!k->s->schedule)
		offer(k, x);
	for (size_t i = 0; k->s->schedule && i < COUNTOF(forms); i++) {
		if ((given.roles != COST_NONE && given.roles != forms[i].roles) ||
		    (given.split > 1 && forms[i].persistent))
			continue;
		x->v = given;
		x->at[AT_FORM] = (short)i;
		x->v.roles = forms[i].roles;
		x->v.persistent |= forms[i].persistent;
		each_share(k, x);
	}
}

void choices_each(const Choices *s, void (*visit)(void *user, const Candidate *x), void *user)
{
	for (int swap = 0; swap < 2; swap++) {
		Walk k = {s, &s->swap[swap], visit, user};
		Candidate x = {.at = {[AT_SWAP] = (short)swap}};
		for (int i = 0; k.w->legal && k.w->work.m && i < s->ways; i++) {
			values_at(s, i, x.at);
			if (take_values(s, k.w, &x))
				each_schedule(&k, &x);
		}
	}
}

static const char *schedule_text(const Choices *s, const Candidate *x)
{
	const CostVariant *v = &x->v;
	Buf b = {0};
	buf_printf(&b, "%s", forms[x->at[AT_FORM]].clauses);
	if (x->at[AT_CLUSTER])
		buf_printf(&b, " cluster (%d,%d);", v->cluster_m, v->cluster_n);
	if (x->at[AT_SPLIT])
		buf_printf(&b, " split_k %d;%s", v->split, v->workspace ? " sums workspace;" : "");
	if (x->at[AT_CTAS])
		buf_printf(&b, " ctas %d;", v->ctas);
	buf_printf(&b, "%s", x->at[AT_SWAP] ? " swap;" : "");
	return ctx_buf(s->ctx, &b);
}

void choices_defines(const Choices *s, const Candidate *x, Defines *out)
{
	bool swap = !s->swap[0].legal && s->swap[1].legal;
	define_values(s, x ? x->at : s->swap[swap].first, out);
	if (s->schedule && (x || swap))
		define(s, s->kernel, "schedule", x ? schedule_text(s, x) : "swap;", out);
}

/* ------------------------------------------------------------------ and back */
static const char *value_of(const Defines *d, const char *name)
{
	size_t n = strlen(name);
	for (int i = 0; i < d->n; i++)
		if (!strncmp(d->at[i], name, n) && d->at[i][n] == '=')
			return d->at[i] + n + 1;
	return NULL;
}

static bool find_values(const Choices *s, const Defines *d, short *at)
{
	for (int i = 0; i < s->npicks; i++) {
		const char *v = value_of(d, s->pick[i].name);
		for (at[i] = 0; v && at[i] < s->pick[i].n; at[i]++)
			if (!strcmp(v, s->pick[i].values[at[i]]))
				break;
		if (!v || at[i] == s->pick[i].n)
			return false;
	}
	return d->n == s->npicks + s->schedule;
}

typedef struct {
	const Choices *s;
	const char *schedule;
	Candidate x;
	bool found;
} Search;

static void look_at(void *user, const Candidate *x)
{
	Search *q = user;
	if (!q->found && (!q->s->schedule || !strcmp(schedule_text(q->s, x), q->schedule))) {
		q->x = *x;
		q->found = true;
	}
}

bool choices_find(const Choices *s, const Defines *d, Candidate *out)
{
	Search q = {.s = s, .schedule = value_of(d, "schedule")};
	Candidate x = {.at = {0}};
	if (!find_values(s, d, x.at) || (s->schedule && !q.schedule))
		return false;
	for (short swap = 0; swap < 2; swap++) {
		Walk k = {s, &s->swap[swap], look_at, &q};
		x.at[AT_SWAP] = swap;
		if (k.w->legal && take_values(s, k.w, &x))
			each_schedule(&k, &x);
	}
	*out = q.x;
	return q.found;
}
