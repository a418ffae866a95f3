/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stats.c - medians and how far they can be trusted. Nothing here takes times for normally
 * distributed: a card that changes its clock makes tails.
 *     2 3 9 4 3  ->  median 3, quartiles 3 and 4, spread 0.5 / 3 */
#include "driver/bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double *sorted(Arena *a, const double *v, int n)
{
	double *s = NEWN(a, double, n + 1);
	memcpy(s, v, sizeof *v * (size_t)n);
	qsort(s, (size_t)n, sizeof *s, by_value);
	return s;
}

/* Of sorted numbers: linear between the two that are nearest. */
static double quantile(const double *s, int n, double share)
{
	double at = share * (n - 1);
	int i = (int)at;
	return i + 1 < n ? s[i] + (at - i) * (s[i + 1] - s[i]) : s[n - 1];
}

double stat_median(Arena *a, const double *v, int n)
{
	return n ? quantile(sorted(a, v, n), n, 0.5) : 0;
}

double stat_spread(Arena *a, const double *v, int n)
{
	double *s = sorted(a, v, n), median = n ? quantile(s, n, 0.5) : 0;
	return median > 0 ? (quantile(s, n, 0.75) - quantile(s, n, 0.25)) / 2 / median : 0;
}

/* How many numbers at either end are outside the interval that holds the median with 95 %: as many
 * as a fair coin, tossed n times, shows at most with 2.5 %. */
static int outside(int n)
{
	double p = ldexp(1, -n), sum = p;
	int k = 0;
	for (; k < n / 2 && sum <= 0.025; k++) {
		p *= (double)(n - k) / (k + 1);
		sum += p;
	}
	return k;
}

Ratio stat_ratio(Arena *a, const double *base, const double *v, int n)
{
	double *r = NEWN(a, double, n + 1);
	for (int i = 0; i < n; i++)
		r[i] = base[i] / v[i];
	const double *s = sorted(a, r, n);
	int cut = outside(n) - 1;
	cut = cut < 0 ? 0 : cut;
	double median = quantile(s, n, 0.5);
	return (Ratio){median, fmax(median - s[cut], s[n - 1 - cut] - median)};
}
