/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sizes.c - the sizes that a choice is made for.
 *     --for M=16,N=4096,K=4096   ->   16 x 4096 x 4096, rows of 8192 bytes */
#include "driver/choose/sizes.h"

#include <stdlib.h>
#include <string.h>

/* Rows: from one token to a batch of prompts. Matrices: projections of models of 1 to 70 billion
 * parameters, powers of two, few columns with a long K, and such whose rows are no whole lines. */
static const int rows[] = {1, 16, 48, 96, 128, 200, 256, 400, 512, 1000, 1500, 2000, 3500, 6000};
static const struct {
	int n, k;
} weights[] = {{1024, 1024},  {2048, 2048},  {4096, 4096},  {8192, 8192}, {1024, 8192},
	       {14336, 4096}, {4096, 14336}, {28672, 8192}, {8192, 256},  {2560, 20480},
	       {512, 12288},  {3000, 5000},  {1000, 3000},  {9000, 2800}};

typedef struct {
	Ctx *c;
	const SizeArgs *of;
	VEC(const char *) missing;
} Given;

/* A size that is not given counts as 1. */
static bool get(void *user, const char *name, int64_t *v)
{
	Given *g = user;
	for (int i = 0; i < g->of->n; i++)
		if (!strcmp(g->of->at[i].name, name)) {
			*v = g->of->at[i].value;
			return true;
		}
	*v = 1;
	for (int i = 0; i < g->missing.n; i++)
		if (!strcmp(g->missing.at[i], name))
			return true;
	vec_push(ctx_arena(g->c), &g->missing, name);
	return true;
}

static double eval(const Ix *x, Given *g)
{
	int64_t v;
	return ix_eval(x, get, g, &v) ? (double)v : 0;
}

static void say_missing(Ctx *say, const Kernel *k, const Given *g)
{
	Buf names = {0}, values = {0};
	for (int i = 0; i < g->missing.n; i++) {
		buf_printf(&names, "%s%s", i ? ", " : "", g->missing.at[i]);
		buf_printf(&values, "%s%s=4096", i ? "," : "", g->missing.at[i]);
	}
	diag(say, NOLOC, D_E0612,
	     "the sizes to choose for say nothing of %s, which %s has\n"
	     "add %s; or choose for one kernel of the file",
	     names.s, k->name, values.s);
	buf_free(&names);
	buf_free(&values);
}

/* The clause that keeps the kernel from being launched at these sizes, or NULL. */
static const Fact *broken_fact(const Kernel *k, Given *g)
{
	int64_t holds;
	for (int i = 0; i < k->facts.n; i++) {
		g->missing.n = 0;
		if (ix_eval(k->facts.at[i].cond, get, g, &holds) && !holds && !g->missing.n)
			return &k->facts.at[i];
	}
	return NULL;
}

bool sizes_add(Ctx *say, Ctx *c, const Work *w, const SizeArgs *given, SizesVec *out)
{
	Given g = {.c = c, .of = given};
	CostSizes s = {eval(w->m, &g),     eval(w->n, &g),       eval(w->k, &g),
		       eval(w->batch, &g), eval(w->pitch_a, &g), eval(w->pitch_b, &g)};
	const Fact *broken = NULL;
	if (g.missing.n && say)
		say_missing(say, w->kernel, &g);
	else if (!g.missing.n && (broken = broken_fact(w->kernel, &g)) && say)
		diag(say, NOLOC, D_E0619,
		     "%s cannot be launched at the sizes to choose for: where %s\n"
		     "name sizes for which this holds",
		     w->kernel->name, broken->text);
	if (!g.missing.n && !broken)
		vec_push(ctx_arena(c), out, s);
	return !g.missing.n && !broken;
}

/* A number in the source is that number. */
static double likely(const Ix *x, double otherwise)
{
	int64_t v;
	return ix_is_const(x, &v) ? (double)v : otherwise;
}

static void add_likely(Ctx *c, const Work *w, int m, int n, int k, SizesVec *out)
{
	CostSizes s = {.m = likely(w->m, m), .n = likely(w->n, n), .k = likely(w->k, k)};
	s.batch = likely(w->batch, 1);
	s.pitch_a = likely(w->pitch_a, s.k * w->product.bits_a / 8);
	s.pitch_b = likely(w->pitch_b, s.k * w->product.bits_b / 8);
	vec_push(ctx_arena(c), out, s);
}

bool sizes_counted(Ctx *say, Ctx *c, const CompileOpt *opt, const Work *w, SizesVec *out)
{
	bool ok = true;
	for (int i = 0; i < opt->nsizes; i++)
		ok = ok && sizes_add(say, c, w, &opt->sizes[i], out);
	for (size_t i = 0; !opt->nsizes && i < COUNTOF(rows); i++)
		for (size_t j = 0; j < COUNTOF(weights); j++)
			add_likely(c, w, rows[i], weights[j].n, weights[j].k, out);
	return ok;
}

/* Of n bytes: a name and a number. */
static bool read_size(Arena *a, const char *piece, size_t n, SizeArg *out)
{
	const char *eq = memchr(piece, '=', n);
	char *end;
	if (!eq || eq == piece || eq + 1 == piece + n)
		return false;
	*out = (SizeArg){arena_strndup(a, piece, (size_t)(eq - piece)), strtoll(eq + 1, &end, 10)};
	return end == piece + n && out->value >= 0 && out->value <= INT32_MAX;
}

const char *sizes_parse(Arena *a, const char *text, SizeArgs *out)
{
	static const char between[] = ", \t\r";
	int from = out->n;
	const char *p = text;
	do {
		p += strspn(p, between);
		size_t n = strcspn(p, between);
		SizeArg x;
		if (!read_size(a, p, n, &x))
			return arena_printf(a, "'%.*s' is no size, a name and a number up to %d",
					    (int)n, p, INT32_MAX);
		for (int i = from; i < out->n; i++)
			if (!strcmp(out->at[i].name, x.name))
				return arena_printf(a, "%s is given twice", x.name);
		vec_push(a, out, x);
		p += n;
	} while (p[strspn(p, between)]);
	return NULL;
}
