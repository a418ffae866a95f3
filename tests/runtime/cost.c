/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The cost model: cost_rank orders as cost_us does, all that it says is a time, devices that no row
 * names are scaled, and its picks among kernels that were timed lose little. */
#include "runtime/cost.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const CostProduct bf16 = {
	.bits_a = 16, .bits_b = 16, .bits_mma = 16, .bits_out = 16, .bits_in = 0};

static const CostVariant pingpong = {
	.tile_m = 128,
	.tile_n = 128,
	.tile_k = 64,
	.warpgroups = 2,
	.stages = 5,
	.roles = COST_PINGPONG,
	.persistent = 1,
	.group = 8,
	.cluster_m = 1,
	.cluster_n = 1,
	.split = 1,
	.ctas = 1,
};

static CostSizes sizes(double m, double n, double k)
{
	return (CostSizes){.m = m, .n = n, .k = k, .batch = 1, .pitch_a = k * 2, .pitch_b = k * 2};
}

/* Powers of two and what is beside them, up to 2^20. */
static double drawn(void)
{
	return ldexp(1, rand() % 21) + rand() % 3 - 1;
}

static CostVariant any_variant(void)
{
	CostVariant v = pingpong;
	v.tile_m = 64 << rand() % 3;
	v.tile_n = 8 * (1 + rand() % 32);
	v.warpgroups = 1 + rand() % 3;
	v.stages = 2 + rand() % 10;
	v.roles = rand() % 3;
	v.persistent = rand() % 2;
	v.swap = rand() % 2;
	v.group = rand() % 9;
	v.cluster_m = 1 << rand() % 3;
	v.cluster_n = 1 << rand() % 2;
	v.split = 1 + rand() % 16;
	v.workspace = v.split * v.cluster_m * v.cluster_n > 8;
	v.ctas = 1 + rand() % 2;
	return v;
}

static void both_order_alike(void **state)
{
	CostDevice d = cost_device(NULL, 0, 0, 0);
	(void)state;
	for (int i = 0; i < 20000; i++) {
		CostSizes s = sizes(drawn(), drawn(), drawn());
		CostAt at = cost_at(&bf16, &s, &d);
		CostVariant a = any_variant(), b = any_variant();
		CostReady ra = cost_ready(&bf16, &a, &d), rb = cost_ready(&bf16, &b, &d);
		double ua = cost_us(&bf16, &a, &s, &d, NULL), ub = cost_us(&bf16, &b, &s, &d, NULL);
		assert_true(ua > 0 && (isfinite(ua) || a.workspace));
		if (cost_rank(&ra, &at) < cost_rank(&rb, &at))
			assert_true(ua <= ub);
	}
}

static void odd_sizes_have_times(void **state)
{
	static const double some[] = {0, 1, 7, 1e9, 9e18};
	CostDevice d = cost_device(NULL, 0, 0, 0);
	(void)state;
	for (int i = 0; i < 125; i++) {
		CostSizes s = sizes(some[i % 5], some[i / 5 % 5], some[i / 25]);
		CostTerms t;
		double us = cost_us(&bf16, &pingpong, &s, &d, &t);
		assert_true(us > d.launch && us == t.us); /* infinite: months */
	}
}

/* CTAs that wait for sums in the workspace must all have a place. */
static void sums_of_all_run_at_one_time(void **state)
{
	CostDevice d = cost_device("NVIDIA H200", 0, 0, 0);
	CostVariant v = pingpong;
	(void)state;
	v.roles = COST_COOPERATIVE;
	v.persistent = 0;
	v.split = 3;
	v.workspace = 1;
	for (int tiles = 43; tiles <= 46; tiles++) {
		CostSizes s = sizes(128, tiles * 128, 4096);
		CostAt at = cost_at(&bf16, &s, &d);
		CostReady r = cost_ready(&bf16, &v, &d);
		bool fits = tiles * v.split <= d.sms;
		assert_int_equal(isfinite(cost_us(&bf16, &v, &s, &d, NULL)) != 0, fits);
		assert_int_equal(isfinite(cost_rank(&r, &at)) != 0, fits);
	}
	v.ctas = 2;
	CostSizes s = sizes(128, 88 * 128, 4096);
	assert_true(isfinite(cost_us(&bf16, &v, &s, &d, NULL)));
	v.cluster_n = 4; /* 62 of them, 124 tiles that share k by 2, not 126 */
	v.split = 2;
	s = sizes(128, 124 * 128, 4096);
	assert_true(isfinite(cost_us(&bf16, &v, &s, &d, NULL)));
	s = sizes(128, 125 * 128, 4096);
	assert_false(isfinite(cost_us(&bf16, &v, &s, &d, NULL)));
}

static void half_the_device_takes_twice(void **state)
{
	CostSizes s = sizes(8192, 8192, 8192);
	CostDevice whole = cost_device("NVIDIA H200", 132, 1.98, 4.8);
	CostDevice half = cost_device("half of one", 66, 1.98, 2.4);
	(void)state;
	assert_int_equal(half.sms, 66);
	double a = cost_us(&bf16, &pingpong, &s, &whole, NULL);
	double b = cost_us(&bf16, &pingpong, &s, &half, NULL);
	assert_true(b > 1.9 * a && b < 2.1 * a);
}

/* ---------------------------------------------------------------- picks among measured kernels */

enum { MOST_POINTS = 400, MOST_SIZES = 600 };

typedef struct {
	double us;
	int final; /* timed twice */
	CostVariant v;
} Point;

typedef struct {
	int run;
	double m, n, k, torch;
	int count;
	Point points[MOST_POINTS];
} Measured;

static bool read_point(const char *line, int *run, double *m, double *n, double *k, Point *p)
{
	CostVariant *v = &p->v;
	return sscanf(line, "%d %lf %lf %lf %lf %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", run,
		      m, n, k, &p->us, &p->final, &v->tile_m, &v->tile_n, &v->tile_k,
		      &v->warpgroups, &v->stages, &v->roles, &v->persistent, &v->swap, &v->group,
		      &v->cluster_m, &v->cluster_n, &v->split, &v->workspace, &v->ctas) == 20;
}

static int read_points(Measured *all)
{
	FILE *f = popen("gzip -dc " DSL_SOURCE_DIR "/tests/gpu/costs_h200.tsv.gz", "r");
	char line[256];
	int n = 0;
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		Measured s = {.m = 0};
		Point p;
		if (!read_point(line, &s.run, &s.m, &s.n, &s.k, &p))
			continue;
		const Measured *last = n ? &all[n - 1] : &s;
		if (!n || last->run != s.run || last->m != s.m || last->n != s.n || last->k != s.k)
			all[n++] = s;
		Measured *at = &all[n - 1];
		assert_true(n < MOST_SIZES && at->count < MOST_POINTS);
		if (p.v.tile_m)
			at->points[at->count++] = p;
		else
			at->torch = p.us;
	}
	assert_int_equal(pclose(f), 0);
	return n;
}

/* The time of the pick over the least, less one. */
static double regret(const Measured *s, const CostDevice *d, bool finals, double *pick)
{
	CostSizes size = sizes(s->m, s->n, s->k);
	CostAt at = cost_at(&bf16, &size, d);
	double least = INFINITY, us = 0;
	float best = INFINITY;
	for (int i = 0; i < s->count; i++) {
		const Point *p = &s->points[i];
		if (finals && !p->final)
			continue;
		CostReady r = cost_ready(&bf16, &p->v, d);
		float rank = cost_rank(&r, &at);
		if (rank < best)
			best = rank, us = p->us;
		least = fmin(least, p->us);
	}
	*pick = us;
	return us / least - 1;
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

typedef struct {
	double median, mean, ninety;
	double torch; /* torch.mm over the pick, geometric mean */
} Quality;

/* By the first pick of each size that any of these runs has. */
static Quality quality(const Measured *all, int n, const char *runs, bool finals)
{
	CostDevice d = cost_device("NVIDIA H200", 0, 0, 0);
	double each[MOST_SIZES], sum = 0, logs = 0, pick;
	int of = 0;
	for (int i = 0; i < n; i++) {
		if (!strchr(runs, '0' + all[i].run))
			continue;
		sum += each[of++] = regret(&all[i], &d, finals, &pick);
		logs += log(all[i].torch / pick);
	}
	qsort(each, (size_t)of, sizeof *each, by_number);
	Quality q = {each[of / 2], sum / of, each[of * 9 / 10], exp(logs / of)};
	print_message("runs %s, %s: %d sizes, median %.4f, mean %.4f, 90 %% %.4f, torch %.4f\n",
		      runs, finals ? "timed twice" : "all", of, q.median, q.mean, q.ninety,
		      q.torch);
	return q;
}

/* Bounds a little above what the table of 2026-11-28 had. */
static void picks_lose_little(void **state)
{
	Measured *all = calloc(MOST_SIZES, sizeof *all);
	(void)state;
	assert_non_null(all);
	int n = read_points(all);
	assert_int_equal(n, 561);
	Quality twice = quality(all, n, "0", true), any = quality(all, n, "0", false);
	Quality wide = quality(all, n, "12", true), picks = quality(all, n, "3", true);
	Quality few = quality(all, n, "4", true); /* of them steps of 128 */
	assert_true(twice.median < .010 && twice.mean < .026 && twice.ninety < .088);
	assert_true(any.median < .014 && any.mean < .034 && any.ninety < .095);
	assert_true(wide.mean < .031 && wide.ninety < .100);
	assert_true(picks.median < .012 && picks.mean < .034 && picks.ninety < .108);
	assert_true(few.median < .004 && few.mean < .016 && few.torch > 1.085);
	assert_true(twice.torch > 1.044 && wide.torch > 1.036);
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_order_alike),
		cmocka_unit_test(odd_sizes_have_times),
		cmocka_unit_test(sums_of_all_run_at_one_time),
		cmocka_unit_test(half_the_device_takes_twice),
		cmocka_unit_test(picks_lose_little),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
