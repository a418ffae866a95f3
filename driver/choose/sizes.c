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
	const SizeArg *at;
	int n;
	const char *missing;
} Given;

static bool get(void *user, const char *name, int64_t *v)
{
	Given *g = user;
	for (int i = g->n; i-- > 0;)
		if (!strcmp(g->at[i].name, name)) {
			*v = g->at[i].value;
			return true;
		}
	g->missing = name;
	return false;
}

static double eval(const Ix *x, Given *g)
{
	int64_t v;
	return ix_eval(x, get, g, &v) ? (double)v : 0;
}

const char *sizes_add(Ctx *c, const Work *w, const SizeArgs *given, SizesVec *out)
{
	Given g = {given->at, given->n, NULL};
	CostSizes s = {eval(w->m, &g),     eval(w->n, &g),       eval(w->k, &g),
		       eval(w->batch, &g), eval(w->pitch_a, &g), eval(w->pitch_b, &g)};
	if (!g.missing)
		vec_push(ctx_arena(c), out, s);
	return g.missing;
}

static bool add_given(Ctx *say, Ctx *c, const Work *w, const SizeArgs *given, SizesVec *out)
{
	const char *missing = sizes_add(c, w, given, out);
	if (missing)
		diag(say, NOLOC, D_E0612,
		     "the sizes to choose for say nothing of %s\nname it too: %s=4096", missing,
		     missing);
	return !missing;
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
		ok = ok && add_given(say, c, w, &opt->sizes[i], out);
	for (size_t i = 0; !opt->nsizes && i < COUNTOF(rows); i++)
		for (size_t j = 0; j < COUNTOF(weights); j++)
			add_likely(c, w, rows[i], weights[j].n, weights[j].k, out);
	return ok;
}

static bool read_size(Ctx *c, const char *piece, SizeArg *out)
{
	const char *eq = strchr(piece, '=');
	char *end;
	if (!eq || eq == piece)
		return false;
	*out = (SizeArg){ctx_strn(c, piece, (size_t)(eq - piece)), strtoll(eq + 1, &end, 10)};
	return end != eq + 1 && !*end && out->value >= 0;
}

const char *sizes_parse(Ctx *c, const char *text, SizeArgs *out)
{
	static const char between[] = ", \t\r";
	for (const char *p = text + strspn(text, between); *p; p += strspn(p, between)) {
		size_t n = strcspn(p, between);
		const char *piece = ctx_strn(c, p, n);
		SizeArg x;
		if (!read_size(c, piece, &x))
			return piece;
		vec_push(ctx_arena(c), out, x);
		p += n;
	}
	return NULL;
}
