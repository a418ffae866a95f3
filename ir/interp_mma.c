/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* interp_mma.c - the one loop of the interpreter that has to be quick: blocks of 4 x 4 sums that
 * stay in registers, a packed in panels of 4 rows and b in panels of 4 columns.
 *     row 0..3 of a, column x  ->  Four{a[0][x], a[1][x], a[2][x], a[3][x]}
 */
#include "ir/interp.h"

enum { SIDE = 4 };

/* As four doubles one after another, which begin anywhere. */
typedef double Four
	__attribute__((vector_size(SIDE * sizeof(double)), aligned(sizeof(double)), may_alias));

/* from[n][k] to panels [n / 4][k][4] */
static void pack(const double *from, Four *to, int64_t n, int64_t k)
{
	for (int64_t p = 0; p < n; p += SIDE, from += SIDE * k)
		for (int64_t x = 0; x < k; x++)
			*to++ = (Four){from[x], from[k + x], from[2 * k + x], from[3 * k + x]};
}

static void block(double *c, int64_t n, const Four *a, const Four *b, int64_t k)
{
	Four *row[SIDE], sum[SIDE];
	for (int i = 0; i < SIDE; i++) {
		row[i] = (Four *)(c + i * n);
		sum[i] = *row[i];
	}
	for (int64_t x = 0; x < k; x++) {
		Four each = a[x], with = b[x];
		sum[0] += each[0] * with;
		sum[1] += each[1] * with;
		sum[2] += each[2] * with;
		sum[3] += each[3] * with;
	}
	for (int i = 0; i < SIDE; i++)
		*row[i] = sum[i];
}

void mma_f64(double *c, const double *a, const double *b, int64_t m, int64_t n, int64_t k,
	     double *scratch)
{
	Four *rows = (Four *)scratch, *columns = rows + m / SIDE * k;
	pack(a, rows, m, k);
	pack(b, columns, n, k);
	for (int64_t j = 0; j < n / SIDE; j++)
		for (int64_t i = 0; i < m / SIDE; i++)
			block(c + (i * n + j) * SIDE, n, rows + i * k, columns + j * k, k);
}
