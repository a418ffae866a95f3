/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tiles - what the verifier says of masks that tiles decide, against their values for numbers.
 *     tiles KERNEL.ir...
 * For many sizes, clusters and tiles, the values of all masks and conditions together are those of
 * one of the ways that are proved, and each way that a refutation may show is seen.
 */
#include "verify/extract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 3000 };

typedef struct {
	const Program *p;
	int64_t cluster, clusters, tile;
	int64_t sizes[16];
} Sample;

static uint64_t seed = 1;

static int64_t below(int64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (int64_t)(seed % (uint64_t)n);
}

static bool value_of(void *user, const char *name, int64_t *v)
{
	const Sample *s = user;
	const Kernel *k = s->p->k;
	for (int i = 0; i < k->syms.n; i++)
		if (k->syms.at[i].name == name)
			return *v = s->sizes[i], true;
	*v = !strcmp(name, "cluster")    ? s->cluster
	     : !strcmp(name, "clusters") ? s->clusters
	     : name == s->p->tile        ? s->tile
					 : -1;
	return *v >= 0;
}

static void take_sample(Sample *s)
{
	for (int i = 0; i < s->p->k->syms.n; i++)
		s->sizes[i] = 1 + below(below(2) ? 600 : 9000);
	s->clusters = 1 + below(40);
	s->cluster = below(s->clusters);
	s->tile = below(60);
}

/* The way of a sample; -1: none is like it. */
static int way_of(Sample *s)
{
	const Program *p = s->p;
	for (int w = 0; w < p->words.ways; w++) {
		bool same = true;
		for (int i = 0; i < p->decided.n && same; i++) {
			int64_t v;
			same = ix_eval(p->decided.at[i].x, value_of, s, &v) &&
			       v == p->decided.at[i].value[w];
		}
		if (same)
			return w;
	}
	return -1;
}

static bool ways_right(const Program *p, const char *file)
{
	bool seen[MAX_WAYS] = {0};
	Sample s = {.p = p};
	int missed = 0, real = 0;
	for (int i = 0; i < SAMPLES; i++) {
		take_sample(&s);
		int way = way_of(&s);
		if (way < 0) {
			printf("%s: cluster %d of %d, tile %d goes no way\n", file, (int)s.cluster,
			       (int)s.clusters, (int)s.tile);
			return false;
		}
		seen[way] = true;
	}
	for (int w = 0; w < p->words.ways; w++) {
		real += way_is_real(p, w);
		missed += way_is_real(p, w) && !seen[w];
	}
	printf("%s: %d expressions, %d ways, %d of them of known tiles\n", file, p->decided.n,
	       p->words.ways, real);
	if (missed)
		printf("%s: %d ways that no tile goes\n", file, missed);
	return !missed && p->decided.n && p->words.ways > 1;
}

static bool run_file(const char *file)
{
	static char text[1 << 20];
	FILE *f = fopen(file, "rb");
	size_t size = f ? fread(text, 1, sizeof text - 1, f) : 0;
	if (f)
		fclose(f);
	Ctx *c = ctx_new();
	Module *m = module_parse(c, ctx_src(c, file, text, size));
	bool ok = m && m->kernels.n;
	if (ok) {
		Program *p = NEW(ctx_arena(c), Program);
		ok = program_read(p, m->kernels.at[0]) && ways_right(p, file);
	}
	if (!ok)
		printf("%s: failed\n", file);
	ctx_free(c);
	return ok;
}

int main(int argc, char **argv)
{
	bool ok = argc > 1;
	for (int i = 1; i < argc; i++)
		ok &= run_file(argv[i]);
	return ok ? 0 : 1;
}
