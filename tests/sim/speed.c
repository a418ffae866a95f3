/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How long the simulator takes for one kernel, and how much memory the process had at most:
 *   sim_speed CUBIN IR DEVICE ROUNDS NAME=SIZE...      e.g. sim:checks=none 5 M=512 N=512 K=512
 * Prints "0.153 s, 61 MiB": the best of the rounds, without loading and without the reference,
 * against which the last result is compared. speed.sh makes the table of docs/simulator.md. */
#include "check/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char *read_text(const char *path)
{
	enum { MOST = 1 << 22 };
	FILE *f = fopen(path, "rb");
	char *s = calloc(1, MOST);
	size_t n = f && s ? fread(s, 1, MOST - 1, f) : 0;
	if (f)
		fclose(f);
	if (n)
		return s;
	free(s);
	return NULL;
}

static bool time_launches(Problem *p, dsl_module *mod, int rounds, double *best)
{
	problem_fill(p, DATA_INTEGERS, 1);
	for (int i = 0; i < rounds; i++) {
		double start = now();
		if (problem_launch(p, mod))
			return false;
		double took = now() - start;
		if (!i || took < *best)
			*best = took;
	}
	return rounds > 0;
}

int main(int argc, char **argv)
{
	Problem p = {0};
	Arena *a = arena_new();
	ProblemSpec o = {.tiles = -1};
	const char *why = "";
	dsl_module *mod;
	double best = 0;
	struct rusage used;
	char *ir = argc > 5 ? read_text(argv[2]) : NULL;
	for (int i = 5; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		if (value) {
			*value++ = 0;
			vec_push(a, &o.sizes, ((SizeArg){argv[i], atoi(value)}));
		}
	}
	if (!ir || !problem_open(&p, ir, &o, &why) || dsl_device_open(argv[3], &p.dev) ||
	    dsl_module_load(p.dev, argv[1], &mod) ||
	    !time_launches(&p, mod, atoi(argv[4]), &best)) {
		printf("%s%s\n", why ? why : "", dsl_detail());
		return 1;
	}
	getrusage(RUSAGE_SELF, &used);
	problem_choose(&p, &o);
	if (!problem_reference(&p, &why))
		return 1;
	Verdict v = {0};
	for (int i = 0; i < p.nt && !v.wrong[0]; i++)
		if (p.t[i].is_out)
			v = compare(&p, &p.t[i]);
	printf("%.3f s, %ld MiB%s%s\n", best, used.ru_maxrss / 1024, v.wrong[0] ? ", " : "",
	       v.wrong);
	problem_close(&p);
	free(ir);
	arena_free(a);
	return v.wrong[0] != 0;
}
