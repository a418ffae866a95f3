/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* bench.h - private to driver/: times of several kernels that compute the same, and what may be
 * said of them. Knows no GPU: times come from a Timer.
 *   bench_measure(&b, &timer, seed, NULL);  bench_table(&b, &text)
 * A difference that the noise could explain is not printed as one. */
#ifndef DSL_DRIVER_BENCH_H
#define DSL_DRIVER_BENCH_H

#include "driver/run/progress.h"
#include "base/base.h"

/* Back to back under load, where power is the limit; or after a rest, at full clock. */
typedef enum { STEADY, BURST, REGIMES } Regime;
extern const char *const regime_names[REGIMES];
enum { ROUNDS_LO = 5, ROUNDS_HI = 1000, ROUNDS = 30, BURST_ROUNDS = 9 };

/* What one launch took, and what the card said meanwhile; 0: not known. */
typedef struct {
	double us, mhz, watts;
} Sample;

typedef struct {
	const char *name, *what; /* what: how it differs from the others, for people */
	int line;                /* of the schedules file; 0: of none */
	double estimate;         /* us, by the cost model; 0: not known */
	bool ours;               /* else a library's */
	Sample *at[REGIMES];     /* a round each */
} BenchEntry;

typedef struct {
	Arena *arena;
	const char *kernel, *file;
	const char *sizes;        /* "M=4096 N=4096 K=4096" */
	const char *device;       /* "NVIDIA H200, 132 SMs, ..." */
	const char *const *notes; /* sentences on how it was measured */
	int nnotes;
	double flops, bytes; /* of one launch; flops 0: not known */
	int rounds[REGIMES];
	double until; /* of now_seconds: rounds end, and say how many they were; 0: never */
	uint64_t seed;
	VEC(BenchEntry) entries;
	int base;    /* the entry that ratios are to */
	int control; /* the base a second time, which shows the noise; -1: there is none */
} Bench;

typedef struct {
	bool (*sample)(void *user, int entry, Regime r, Sample *out); /* false: the device failed */
	void *user;
} Timer;
/* Rounds of all entries, each in a fresh order. */
bool bench_measure(Bench *b, const Timer *t, Progress *bar);

/* stats.c */
double stat_median(Arena *a, const double *v, int n);
/* Half the distance between the quartiles, as a part of the median. */
double stat_spread(Arena *a, const double *v, int n);
/* The median of base[i] / v[i], and how far the interval that holds it with 95 % goes from there:
 * from one order statistic to another, whatever the distribution. */
typedef struct {
	double ratio, noise;
} Ratio;
Ratio stat_ratio(Arena *a, const double *base, const double *v, int n);

/* rounds.c */
typedef struct {
	double us, spread, tflops, gbps, mhz, watts;
	int rank; /* 1 + how many are faster above the noise */
	Ratio to_base;
	bool differs; /* from the base, above the noise */
} BenchFigures;
BenchFigures bench_figures(const Bench *b, int entry, Regime r);
/* base's time over entry's. The noise is at least what the control differs from the base. */
Ratio bench_ratio(const Bench *b, int base, int entry, Regime r);

/* report.c, export.c */
void bench_table(const Bench *b, Buf *out);
void bench_csv(const Bench *b, Buf *out);
void bench_json(const Bench *b, Buf *out);

#endif
