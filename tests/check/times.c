/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* times - how long the proofs of kernels take: milliseconds of the processor, of this thread, the
 * least of RUNS runs, each from a parse of its own.
 *     times [-v] [-r RUNS] [-w TIMES] KERNEL.ir...     -v: each kernel too
 *     one CTA a cluster: 450 kernels, median 2.0 ms, 99 % 9.1 ms, most 12.3 ms
 * The kernels are those of EMIT=ir tests/gpu/build_cases.sh. 1 if one is not proved, or with -w if
 * they take more than so many times what is given below, which is for a release build and all of
 * them.
 */
#include "verify/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By the CTAs of a cluster: those of (4,2) are 8. */
static const struct {
	const char *name;
	int most_ctas;
	double median, most; /* of 99 % */
} groups[] = {{"one CTA a cluster", 1, 6, 60},
	      {"clusters up to 8 CTAs", 8, 20, 200},
	      {"larger", 1 << 30, 1000, 1000}};
enum { GROUPS = COUNTOF(groups), MOST = 1 << 16, MOST_TEXT = 1 << 22 };

typedef struct {
	double ms[MOST];
	int n;
} Times;
static Times times[GROUPS];

static int ctas_of(const Kernel *k)
{
	const Attr *cluster = attrs_get(&k->attrs, A_CLUSTER);
	int64_t n = 1;
	for (int i = 0; cluster && i < cluster->n; i++)
		n *= cluster->i[i];
	return (int)n;
}

/* Proves it once; false if it is no kernel, or is not proved. */
static bool prove(const char *file, const char *text, size_t size, CheckResult *r, int *ctas)
{
	Ctx *c = ctx_new();
	Module *m = module_parse(c, ctx_src(c, file, text, size));
	bool ok = m && m->kernels.n;
	*r = (CheckResult){.verdict = CHECK_UNKNOWN};
	if (ok) {
		*ctas = ctas_of(m->kernels.at[0]);
		check_kernel(m->kernels.at[0], NULL, r);
	}
	ctx_free(c);
	return ok && r->verdict == CHECK_PROVED;
}

static bool time_file(const char *file, int runs, bool verbose)
{
	static char text[MOST_TEXT];
	CheckResult r;
	int ctas = 1, group = 0;
	double best = 1e9;
	FILE *f = fopen(file, "r");
	if (!f)
		return false;
	size_t size = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[size] = 0;
	for (int i = 0; i < runs; i++) {
		if (!prove(file, text, size, &r, &ctas))
			return false;
		best = 1e3 * r.seconds < best ? 1e3 * r.seconds : best;
	}
	while (ctas > groups[group].most_ctas)
		group++;
	Times *t = &times[group];
	if (t->n < MOST)
		t->ms[t->n++] = best;
	if (verbose)
		printf("%8.2f ms, %5d states, %2d CTAs: %s\n", best, r.states, ctas, file);
	return true;
}

static int by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The least that so many of a hundred do not exceed. */
static double least_of(const Times *t, int percent)
{
	return t->ms[(t->n * percent + 99) / 100 - 1];
}

static bool in_time(const Times *t, int group, double wider)
{
	return least_of(t, 50) <= wider * groups[group].median &&
	       least_of(t, 99) <= wider * groups[group].most && t->ms[t->n - 1] <= wider * 1000;
}

static bool print_group(int group, double wider)
{
	Times *t = &times[group];
	if (!t->n)
		return true;
	qsort(t->ms, (size_t)t->n, sizeof *t->ms, by_time);
	printf("%s: %d kernels, median %.1f ms, 99 %% %.1f ms, most %.1f ms\n", groups[group].name,
	       t->n, least_of(t, 50), least_of(t, 99), t->ms[t->n - 1]);
	if (wider <= 0 || in_time(t, group, wider))
		return true;
	printf("FAILED: more than %g times %g and %g ms\n", wider, groups[group].median,
	       groups[group].most);
	return false;
}

int main(int argc, char **argv)
{
	bool verbose = false;
	int runs = 5, failed = 0;
	double wider = 0;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-v") == 0) {
			verbose = true;
		} else if (strcmp(argv[i], "-r") == 0 && i + 1 < argc) {
			runs = atoi(argv[++i]);
		} else if (strcmp(argv[i], "-w") == 0 && i + 1 < argc) {
			wider = atof(argv[++i]);
		} else if (!time_file(argv[i], runs, verbose)) {
			printf("FAILED %s: not read, or not proved\n", argv[i]);
			failed++;
		}
	}
	for (int group = 0; group < GROUPS; group++)
		failed += !print_group(group, wider);
	return failed != 0;
}
