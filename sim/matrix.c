/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* matrix.c - the inner product of all matrix instructions: f32, fused, k in ascending order, so
 * that a result does not depend on the host. Vectors of the host are used where it has them.
 *   c[i][j] = fma(a[i][k], b[k][j], c[i][j]) for k = 0, 1, .. */
#include "sim/matrix.h"
#include "sim/number.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static f32 f16_widen(u16 h)
{
	u32 sign = (u32)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff;
	if (e == 31)
		return f32_of(sign | 0x7f800000 | m << 13);
	if (e)
		return f32_of(sign | (e + 112) << 23 | m << 13);
	f32 v = (f32)m * 0x1p-24f;
	return sign ? -v : v;
}

void elements_widen(Type t, const u8 *from, u32 n, f32 *to)
{
	u16 h;
	u32 v;
	for (u32 i = 0; i < n; i++) {
		switch (t) {
		case T_BF16:
			memcpy(&h, from + i * 2, 2);
			to[i] = f32_of((u32)h << 16);
			break;
		case T_F16:
			memcpy(&h, from + i * 2, 2);
			to[i] = f16_widen(h);
			break;
		case T_TF32:
			memcpy(&v, from + i * 4, 4);
			to[i] = f32_of(v & 0xffffe000);
			break;
		case T_F32:
			memcpy(&v, from + i * 4, 4);
			to[i] = f32_of(v);
			break;
		case T_E4M3:
			to[i] = e4m3_to_f32(from[i]);
			break;
		case T_E5M2:
			to[i] = e5m2_to_f32(from[i]);
			break;
		case T_S8:
			to[i] = (f32)(s8)from[i];
			break;
		default:
			to[i] = (f32)from[i];
		}
	}
}

u32 halves_pack(f32 low, f32 high)
{
	return (u32)f16_from_f32(high) << 16 | f16_from_f32(low);
}

static void product_any(f32 *c, const f32 *a, const f32 *b, u32 m, u32 n, u32 k)
{
	for (u32 i = 0; i < m; i++)
		for (u32 s = 0; s < k; s++)
			for (u32 j = 0; j < n; j++)
				c[i * 256 + j] =
					fmaf(a[i * 32 + s], b[s * 256 + j], c[i * 256 + j]);
}

#if defined(__x86_64__)
/* One row of c, 8 columns at a time in registers. ASan would look at all of b for each row; b lies
 * whole in its caller's tile (matrix.h), where it looks at each element that is put there. */
__attribute__((target("avx2,fma"), no_sanitize("address"))) static void
row_fast(f32 *c, const f32 *a, const f32 *b, u32 n, u32 k)
{
	u32 j = 0;
	for (; j + 32 <= n; j += 32) {
		__m256 c0 = _mm256_loadu_ps(c + j), c1 = _mm256_loadu_ps(c + j + 8);
		__m256 c2 = _mm256_loadu_ps(c + j + 16), c3 = _mm256_loadu_ps(c + j + 24);
		for (u32 s = 0; s < k; s++) {
			const f32 *row = b + s * 256 + j;
			__m256 x = _mm256_set1_ps(a[s]);
			c0 = _mm256_fmadd_ps(x, _mm256_loadu_ps(row), c0);
			c1 = _mm256_fmadd_ps(x, _mm256_loadu_ps(row + 8), c1);
			c2 = _mm256_fmadd_ps(x, _mm256_loadu_ps(row + 16), c2);
			c3 = _mm256_fmadd_ps(x, _mm256_loadu_ps(row + 24), c3);
		}
		_mm256_storeu_ps(c + j, c0);
		_mm256_storeu_ps(c + j + 8, c1);
		_mm256_storeu_ps(c + j + 16, c2);
		_mm256_storeu_ps(c + j + 24, c3);
	}
	for (; j < n; j += 8) {
		__m256 sum = _mm256_loadu_ps(c + j);
		for (u32 s = 0; s < k; s++)
			sum = _mm256_fmadd_ps(_mm256_set1_ps(a[s]),
					      _mm256_loadu_ps(b + s * 256 + j), sum);
		_mm256_storeu_ps(c + j, sum);
	}
}

void matrix_product(f32 *c, const f32 *a, const f32 *b, u32 m, u32 n, u32 k)
{
	if (!__builtin_cpu_supports("fma") || !__builtin_cpu_supports("avx2") || n % 8) {
		product_any(c, a, b, m, n, k);
		return;
	}
	for (u32 i = 0; i < m; i++)
		row_fast(c + i * 256, a + i * 32, b, n, k);
}
#else
void matrix_product(f32 *c, const f32 *a, const f32 *b, u32 m, u32 n, u32 k)
{
	product_any(c, a, b, m, n, k);
}
#endif
