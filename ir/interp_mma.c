/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* interp_mma.c - the one loop of the interpreter that has to be quick: blocks of 4 x 4 sums that
 * stay in registers, a packed in panels of 4 rows and b in panels of 4 columns; and what a tensor
 * core may make of them.
 *     row 0..3 of a, column x  ->  Four{a[0][x], a[1][x], a[2][x], a[3][x]}
 */
#include "ir/interp.h"

#include <float.h>
#include <math.h>

enum { SIDE = 4 };

/* As four doubles one after another, which begin anywhere. */
typedef double Four
	__attribute__((vector_size(SIDE * sizeof(double)), aligned(sizeof(double)), may_alias));

/* from[n][step], of which k columns count, to panels [n / 4][k][4] */
static void pack(const double *from, Four *to, int64_t n, int64_t k, int64_t step)
{
	for (int64_t p = 0; p < n; p += SIDE, from += SIDE * step)
		for (int64_t x = 0; x < k; x++)
			*to++ = (Four){from[x], from[step + x], from[2 * step + x],
				       from[3 * step + x]};
}

static inline __attribute__((always_inline)) void block(double *c, int64_t n, const Four *a,
							const Four *b, int64_t k)
{
	Four *row0 = (Four *)c, *row1 = (Four *)(c + n);
	Four *row2 = (Four *)(c + 2 * n), *row3 = (Four *)(c + 3 * n);
	Four sum0 = *row0, sum1 = *row1, sum2 = *row2, sum3 = *row3;
	for (int64_t x = 0; x < k; x++) {
		Four each = a[x], with = b[x];
		sum0 += each[0] * with;
		sum1 += each[1] * with;
		sum2 += each[2] * with;
		sum3 += each[3] * with;
	}
	*row0 = sum0;
	*row1 = sum1;
	*row2 = sum2;
	*row3 = sum3;
}

static inline __attribute__((always_inline)) void
blocks(double *c, const Four *rows, const Four *columns, int64_t m, int64_t n, int64_t k)
{
	for (int64_t j = 0; j < n / SIDE; j++)
		for (int64_t i = 0; i < m / SIDE; i++)
			block(c + (i * n + j) * SIDE, n, rows + i * k, columns + j * k, k);
}

typedef void Blocks(double *c, const Four *rows, const Four *columns, int64_t m, int64_t n,
		    int64_t k);

/* What the blocks read pack has written, each element, and sums are read by all others. There ASan
 * looks: in these loops that costs as much as the products. (Nothing here has an address: gcc would
 * leave it poisoned.) */
#define UNCHECKED __attribute__((no_sanitize("address")))

static UNCHECKED void blocks_anywhere(double *c, const Four *rows, const Four *columns, int64_t m,
				      int64_t n, int64_t k)
{
	blocks(c, rows, columns, m, n, k);
}

/* The same sums, of which a register holds four. */
#ifdef __x86_64__
static UNCHECKED __attribute__((target("avx2"))) void
blocks_avx2(double *c, const Four *rows, const Four *columns, int64_t m, int64_t n, int64_t k)
{
	blocks(c, rows, columns, m, n, k);
}

static Blocks *blocks_here(void)
{
	return __builtin_cpu_supports("avx2") ? blocks_avx2 : blocks_anywhere;
}
#else
static Blocks *blocks_here(void)
{
	return blocks_anywhere;
}
#endif

void mma_f64(double *c, const double *a, const double *b, int64_t m, int64_t n, int64_t k,
	     int64_t step, double *scratch)
{
	Four *rows = (Four *)scratch, *columns = rows + m / SIDE * k;
	pack(a, rows, m, k, step);
	pack(b, columns, n, k, step);
	blocks_here()(c, rows, columns, m, n, k);
}

/* ------------------------------------------------------------------ bounds */
enum { SUM_STEPS = 4 }; /* products that a tensor core adds up before it rounds, at least */
enum { BOTH = 2 };      /* of f64 it and the reference round after each */

static double larger(double a, double b)
{
	return a > b || isnan(b) ? a : b;
}

static double smaller(double a, double b)
{
	return b < a ? b : a;
}

static double *sizes(const Slot *s, Arena *scratch)
{
	double *to = NEWN(scratch, double, s->n);
	for (int64_t i = 0; i < s->n; i++)
		to[i] = larger(fabs(s->at.lo[i]), fabs(s->at.hi[i]));
	return to;
}

/* How far from an element its bounds are. NULL: nowhere. */
static double *errors(const Slot *s, Arena *scratch)
{
	double *to = NEWN(scratch, double, s->n);
	bool some = false;
	for (int64_t i = 0; i < s->n; i++) {
		double lo = s->at.lo[i], hi = s->at.hi[i];
		bool point = lo == hi || (isnan(lo) && isnan(hi));
		to[i] = point ? 0 : larger(hi - s->at.f[i], s->at.f[i] - lo);
		some |= to[i] != 0;
	}
	return some ? to : NULL;
}

/* Of each row: what all its elements are multiples of. */
static double *row_units(const Slot *s, int64_t from, int64_t k, Arena *scratch)
{
	double *to = NEWN(scratch, double, s->dim[0]);
	for (int64_t r = 0; r < s->dim[0]; r++) {
		to[r] = INFINITY;
		for (int64_t x = from; x < from + k; x++)
			to[r] = smaller(to[r], element_unit(&s->at, r * s->dim[1] + x));
	}
	return to;
}

/* Element i of c, to which `size` of products of this unit was added: whether each sum of some of
 * them is exact, being at most `most` units. The sum of a part of k is the difference of two sums
 * on the way, so at most twice as large. */
static bool stays_exact(const Slot *c, int64_t i, double unit, double size, double most)
{
	const Sums *s = &c->sums;
	s->reach[i] = larger(fabs(c->wide.f[i]), s->reach[i]);
	s->unit[i] = smaller(s->unit[i], unit);
	s->amount[i] += size;
	return !isfinite(c->wide.f[i]) || 2 * s->reach[i] + size <= most * s->unit[i];
}

static bool is_anything(double lo, double hi)
{
	return isinf(lo) && isinf(hi) && lo < hi;
}

static void add_bounds(const Slot *c, int64_t i, double sum, double off)
{
	double *lo = &c->wide.lo[i], *hi = &c->wide.hi[i];
	bool lost = isnan(off) || is_anything(*lo, *hi);
	*lo = lost ? -INFINITY : *lo + (sum - off);
	*hi = lost ? INFINITY : *hi + (sum + off);
}

void sums_begin(const Slot *s, const Elements *from)
{
	for (int64_t i = 0; s->sums.unit && i < s->n; i++) {
		s->sums.amount[i] = fmax(fabs(from->lo[i]), fabs(from->hi[i]));
		s->sums.reach[i] = s->sums.amount[i];
		s->sums.unit[i] = element_unit(from, i);
	}
}

void mma_bounds(const Slot *c, const Slot *a, const Slot *b, int64_t from, int64_t k, int fraction,
		Arena *scratch)
{
	int64_t m = c->dim[0], n = c->dim[1], step = a->dim[1];
	double *room = NEWN(scratch, double, a->n + b->n), *sum = NEWN(scratch, double, c->n);
	double *off = NEWN(scratch, double, c->n), *size = NEWN(scratch, double, c->n);
	const double *of_a = errors(a, scratch), *of_b = errors(b, scratch);
	const double *size_a = sizes(a, scratch), *size_b = sizes(b, scratch);
	const double *unit_a = row_units(a, from, k, scratch);
	const double *unit_b = row_units(b, from, k, scratch);
	for (int64_t i = 0; i < c->n; i++)
		sum[i] = off[i] = size[i] = 0;
	mma_f64(sum, a->at.f + from, b->at.f + from, m, n, k, step, room);
	mma_f64(size, size_a + from, size_b + from, m, n, k, step, room);
	if (of_a)
		mma_f64(off, of_a + from, size_b + from, m, n, k, step, room);
	if (of_b)
		mma_f64(off, size_a + from, of_b + from, m, n, k, step, room);
	int64_t rounded = fraction + 1 < DBL_MANT_DIG ? 1 : BOTH * SUM_STEPS;
	double steps = (double)(k * rounded) / (double)SUM_STEPS;
	steps = fraction ? ldexp(steps, -fraction) : 0;
	const double most = ldexp(2, fraction);
	for (int64_t row = 0, i = 0; row < m; row++)
		for (int64_t col = 0; col < n; col++, i++) {
			c->wide.f[i] += sum[i];
			double unit = unit_a[row] * unit_b[col];
			if (!stays_exact(c, i, unit, size[i], most) && steps > 0)
				off[i] += steps * c->sums.amount[i];
			add_bounds(c, i, sum[i], off[i]);
		}
	arena_reset(scratch);
}
