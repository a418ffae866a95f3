/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* rounds.c - when which entry is timed, and what follows from the times. In each round all entries
 * have their turn in a fresh order, so that what drifts (clock, power, heat) meets all alike, and
 * entries are compared round by round.
 *     3 entries, 30 rounds  ->  2 0 1  1 2 0  ... */
#include "check/problem.h"
#include "driver/bench/bench.h"

#include <math.h>

const char *const regime_names[REGIMES] = {"steady", "burst"};

static void shuffle(int *order, int n, uint64_t seed)
{
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int j = (int)(problem_mix(seed + (uint64_t)i) % (uint64_t)(i + 1)), kept = order[i];
		order[i] = order[j];
		order[j] = kept;
	}
}

static bool measure_round(Bench *b, const Timer *t, Regime regime, int round, int *order)
{
	shuffle(order, b->entries.n, problem_mix(b->seed + (uint64_t)round) + regime);
	for (int i = 0; i < b->entries.n; i++)
		if (!t->sample(t->user, order[i], regime,
			       &b->entries.at[order[i]].at[regime][round]))
			return false;
	return true;
}

bool bench_measure(Bench *b, const Timer *t, Progress *bar)
{
	int *order = NEWN(b->arena, int, b->entries.n + 1);
	for (int r = 0; r < REGIMES; r++) {
		for (int i = 0; i < b->entries.n; i++)
			b->entries.at[i].at[r] = NEWN(b->arena, Sample, b->rounds[r] + 1);
		for (int k = 0; k < b->rounds[r]; k++) {
			if (bar)
				progress_at(bar, k, b->rounds[r]);
			if (!measure_round(b, t, (Regime)r, k, order))
				return false;
			if (b->until > 0 && k + 1 >= ROUNDS_LO && now_seconds() > b->until)
				b->rounds[r] = k + 1;
		}
		if (bar)
			progress_next(bar);
	}
	return true;
}

/* ------------------------------------------------------------------ what follows */
typedef enum { OF_US, OF_MHZ, OF_WATTS } Quantity;

static double *column(const Bench *b, int entry, Regime r, Quantity q)
{
	const Sample *at = b->entries.at[entry].at[r];
	double *v = NEWN(b->arena, double, b->rounds[r] + 1);
	for (int i = 0; i < b->rounds[r]; i++)
		v[i] = q == OF_US ? at[i].us : q == OF_MHZ ? at[i].mhz : at[i].watts;
	return v;
}

static Ratio paired(const Bench *b, int base, int entry, Regime r)
{
	return stat_ratio(b->arena, column(b, base, r, OF_US), column(b, entry, r, OF_US),
			  b->rounds[r]);
}

Ratio bench_ratio(const Bench *b, int base, int entry, Regime r)
{
	Ratio x = paired(b, base, entry, r);
	if (b->control >= 0)
		x.noise = fmax(x.noise, fabs(paired(b, b->base, b->control, r).ratio - 1));
	return x;
}

static bool ratio_differs(Ratio r)
{
	return fabs(r.ratio - 1) > r.noise;
}

static int rank_of(const Bench *b, int entry, Regime r)
{
	int rank = 1;
	for (int i = 0; i < b->entries.n; i++) {
		Ratio x = bench_ratio(b, entry, i, r);
		rank += i != b->control && i != entry && x.ratio > 1 && ratio_differs(x);
	}
	return rank;
}

BenchFigures bench_figures(const Bench *b, int entry, Regime r)
{
	int n = b->rounds[r];
	double *us = column(b, entry, r, OF_US);
	BenchFigures f = {.us = stat_median(b->arena, us, n),
			  .spread = stat_spread(b->arena, us, n),
			  .mhz = stat_median(b->arena, column(b, entry, r, OF_MHZ), n),
			  .watts = stat_median(b->arena, column(b, entry, r, OF_WATTS), n),
			  .rank = rank_of(b, entry, r),
			  .to_base = bench_ratio(b, b->base, entry, r)};
	f.tflops = b->flops / f.us * 1e-6;
	f.gbps = b->bytes / f.us * 1e-3;
	f.differs = ratio_differs(f.to_base);
	return f;
}
