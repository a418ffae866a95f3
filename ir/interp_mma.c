/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* interp_mma.c - the one loop of the interpreter that has to be quick: blocks of 4 x 4 sums that
 * stay in registers, b packed in panels of 4 columns. */
#include "ir/interp.h"

enum { ROWS = 4, COLS = 4 };

/* b[n][k] to panels [n / 4][k][4] */
static void pack(const double *b, double *to, int64_t n, int64_t k)
{
	for (int64_t p = 0; p < n; p += COLS)
		for (int64_t x = 0; x < k; x++)
			for (int64_t j = 0; j < COLS; j++)
				*to++ = b[(p + j) * k + x];
}

static void block(double *restrict c, int64_t n, const double *restrict a,
		  const double *restrict panel, int64_t k)
{
	double sum[ROWS][COLS];
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLS; j++)
			sum[i][j] = c[i * n + j];
	for (int64_t x = 0; x < k; x++)
		for (int i = 0; i < ROWS; i++)
			for (int j = 0; j < COLS; j++)
				sum[i][j] += a[i * k + x] * panel[x * COLS + j];
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLS; j++)
			c[i * n + j] = sum[i][j];
}

void mma_f64(double *c, const double *a, const double *b, int64_t m, int64_t n, int64_t k,
	     double *scratch)
{
	pack(b, scratch, n, k);
	for (int64_t j = 0; j < n; j += COLS)
		for (int64_t i = 0; i < m; i += ROWS)
			block(c + i * n + j, n, a + i * k, scratch + j * k, k);
}
