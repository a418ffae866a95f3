/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* report.c - the table on the terminal, the fastest first.
 *     rank candidate    us  spread  TFLOP/s ...  to cublaslt
 *        1 ping128   200.3   0.1 %    686.1 ...  1.049 (noise 0.2 %)
 *        2 ping192   201.0   0.2 %    684.0 ...  no difference above the noise of 0.6 % */
#include "driver/bench/bench.h"

#include <string.h>

static const char *name_of(const Bench *b, int entry)
{
	return b->entries.at[entry].name;
}

static bool is_shown(const Bench *b, int entry)
{
	return entry != b->control;
}

static bool is_compared(const Bench *b)
{
	return b->control >= 0;
}

static int name_width(const Bench *b)
{
	size_t n = strlen("candidate");
	for (int i = 0; i < b->entries.n; i++)
		n = strlen(name_of(b, i)) > n ? strlen(name_of(b, i)) : n;
	return (int)n;
}

/* Entries by their time in the steady regime. */
static int *by_time(const Bench *b, const BenchFigures *f)
{
	int *order = NEWN(b->arena, int, b->entries.n + 1);
	for (int i = 0; i < b->entries.n; i++) {
		int at = i;
		for (; at > 0 && f[order[at - 1]].us > f[i].us; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	return order;
}

static void put_number(Buf *out, int width, int digits, double v)
{
	if (v > 0)
		buf_printf(out, " %*.*f", width, digits, v);
	else
		buf_printf(out, " %*s", width, "-");
}

static void put_ratio(const Bench *b, int entry, const BenchFigures *f, Buf *out)
{
	if (entry == b->base)
		buf_printf(out, "1");
	else if (f->differs)
		buf_printf(out, "%.3f (noise %.2f %%)", f->to_base.ratio, 100 * f->to_base.noise);
	else
		buf_printf(out, "no difference above the noise of %.2f %%", 100 * f->to_base.noise);
}

static bool is_estimated(const Bench *b)
{
	for (int i = 0; i < b->entries.n; i++)
		if (b->entries.at[i].estimate > 0)
			return true;
	return false;
}

static void put_head(const Bench *b, int width, Buf *out)
{
	int steady = 9 + 10 + 9 + 7 + 6 + 5;
	const char *estimate = is_estimated(b) ? "  estimate" : "";
	buf_printf(out, "%*s%-*s burst\n", 6 + width + 2 + (int)strlen(estimate), "", steady,
		   "steady");
	buf_printf(out, "rank  %-*s%s %9s %9s %8s %6s %5s %4s %9s %9s %8s %5s", width, "candidate",
		   estimate, "us", "spread", "TFLOP/s", "GB/s", "MHz", "W", "us", "spread",
		   "TFLOP/s", "MHz");
	if (is_compared(b))
		buf_printf(out, "  time of %s over this", name_of(b, b->base));
	buf_printf(out, "\n");
}

static void put_row(const Bench *b, int entry, int width, const BenchFigures *s, Buf *out)
{
	BenchFigures u = bench_figures(b, entry, BURST);
	buf_printf(out, "%4d  %-*s", s->rank, width, name_of(b, entry));
	if (is_estimated(b))
		put_number(out, 9, 2, b->entries.at[entry].estimate);
	put_number(out, 9, 2, s->us);
	buf_printf(out, " %7.2f %%", 100 * s->spread);
	put_number(out, 8, 1, s->tflops);
	put_number(out, 6, 0, s->gbps);
	put_number(out, 5, 0, s->mhz);
	put_number(out, 4, 0, s->watts);
	put_number(out, 9, 2, u.us);
	buf_printf(out, " %7.2f %%", 100 * u.spread);
	put_number(out, 8, 1, u.tflops);
	put_number(out, 5, 0, u.mhz);
	buf_printf(out, "  ");
	if (is_compared(b))
		put_ratio(b, entry, s, out);
	while (out->n && out->s[out->n - 1] == ' ')
		out->s[--out->n] = 0;
	buf_printf(out, "\n");
}

/* Who is fastest, or cannot be told from it. */
static void put_fastest(const Bench *b, Regime r, Buf *out)
{
	int first = -1, n = 0;
	double noise = 0;
	buf_printf(out, "%s: fastest ", regime_names[r]);
	for (int i = 0; i < b->entries.n; i++) {
		if (!is_shown(b, i) || bench_figures(b, i, r).rank != 1)
			continue;
		buf_printf(out, "%s%s", n++ ? ", " : "", name_of(b, i));
		if (first < 0)
			first = i;
		else if (bench_ratio(b, first, i, r).noise > noise)
			noise = bench_ratio(b, first, i, r).noise;
	}
	if (n > 1)
		buf_printf(out, ": no difference above the noise of %.2f %%", 100 * noise);
	buf_printf(out, "\n");
}

static void put_control(const Bench *b, Buf *out)
{
	buf_printf(out, "%s a second time differs from itself by", name_of(b, b->base));
	for (int r = 0; r < REGIMES; r++) {
		double x = bench_ratio(b, b->base, b->control, (Regime)r).ratio - 1;
		buf_printf(out, "%s %.2f %% (%s)", r ? "," : "", 100 * (x < 0 ? -x : x),
			   regime_names[r]);
	}
	buf_printf(out, "; the noise is never taken for less\n");
}

void bench_table(const Bench *b, Buf *out)
{
	BenchFigures *f = NEWN(b->arena, BenchFigures, b->entries.n + 1);
	int width = name_width(b);
	buf_printf(out, "%s of %s, %s\n%s\n", b->kernel, b->file, b->sizes, b->device);
	for (int i = 0; i < b->nnotes; i++)
		buf_printf(out, "%s\n", b->notes[i]);
	buf_printf(out, "\n");
	for (int i = 0; i < b->entries.n; i++)
		f[i] = bench_figures(b, i, STEADY);
	put_head(b, width, out);
	const int *order = by_time(b, f);
	for (int i = 0; i < b->entries.n; i++)
		if (is_shown(b, order[i]))
			put_row(b, order[i], width, &f[order[i]], out);
	if (!is_compared(b))
		return;
	buf_printf(out, "\n");
	for (int r = 0; r < REGIMES; r++)
		put_fastest(b, (Regime)r, out);
	put_control(b, out);
}
