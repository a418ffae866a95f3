/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* number.h - conversions between f32/f64 and stored numbers: the small float formats bf16, f16,
 * e4m3, e5m2, e2m1, and integers. Narrowing rounds to nearest, ties to even, in one step;
 * subnormals are kept. NaN stays NaN, as the canonical one the hardware gives (0x7fff for 16 bits,
 * 0x7f for 8); e2m1 has none, and its largest value stands there. Beyond the largest finite value
 * bf16 and f16 give infinity, the formats of 8 and 4 bits saturate (PTX ISA: cvt.rn, .satfinite).
 * Header only, no state; widening is exact.
 *   bf16_from_f32(1.00390625f) == 0x3f80,  f16_to_f32(0x0001) == 0x1p-24f */
#ifndef DSL_RUNTIME_NUMBER_H
#define DSL_RUNTIME_NUMBER_H

#include <stdint.h>
#include <string.h>

/* A small format: exponent and mantissa bits; nan its canonical NaN; max its largest finite value;
 * over what a larger finite value or infinity becomes. */
typedef struct {
	int ebits, mbits;
	uint32_t nan, max, over;
} NumFormat;

#define NUM_BF16 ((NumFormat){8, 7, 0x7fff, 0x7f7f, 0x7f80})
#define NUM_F16  ((NumFormat){5, 10, 0x7fff, 0x7bff, 0x7c00})
#define NUM_E4M3 ((NumFormat){4, 3, 0x7f, 0x7e, 0x7e})
#define NUM_E5M2 ((NumFormat){5, 2, 0x7f, 0x7b, 0x7b})
#define NUM_E2M1 ((NumFormat){2, 1, 0x7, 0x7, 0x7})

typedef uint8_t uint4_t; /* 0 .. 15: an element of 4 bits by itself */

/* The same bits as another type. */
#define NUM_BITS(name, to, from)          \
	static inline to name(from x)     \
	{                                 \
		to u;                     \
		memcpy(&u, &x, sizeof u); \
		return u;                 \
	}
NUM_BITS(num_bits64, uint64_t, double)
NUM_BITS(num_double, double, uint64_t)
NUM_BITS(num_bits32, uint32_t, float)
NUM_BITS(num_float, float, uint32_t)

/* m / 2^shift to nearest, ties to even; shift 1..63. */
static inline uint64_t num_shift_even(uint64_t m, int shift)
{
	uint64_t q = m >> shift, rest = m & ((UINT64_C(1) << shift) - 1);
	uint64_t half = UINT64_C(1) << (shift - 1);
	return q + (rest > half || (rest == half && (q & 1)));
}

/* The bits of x in format f. */
static inline uint32_t num_pack(double x, NumFormat f)
{
	uint64_t u = num_bits64(x), m = u & ((UINT64_C(1) << 52) - 1);
	uint32_t sign = (uint32_t)(u >> 63) << (f.ebits + f.mbits);
	int e = (int)(u >> 52 & 2047), bias = (1 << (f.ebits - 1)) - 1;
	if (e == 2047)
		return m ? f.nan : sign | f.over;
	if (e == 0)
		return sign; /* below every format's smallest */
	e += bias - 1023;
	m |= UINT64_C(1) << 52;
	int shift = 52 - f.mbits + (e < 1 ? 1 - e : 0);
	if (shift > 62)
		return sign;
	uint64_t r = num_shift_even(m, shift);
	if (e > 1)
		r += (uint64_t)(e - 1) << f.mbits; /* the hidden bit adds the last one */
	return sign | (r > f.max ? f.over : (uint32_t)r);
}

/* The value of bits h of format f; e4m3 has no infinity and one NaN. */
static inline double num_unpack(uint32_t h, NumFormat f)
{
	int bias = (1 << (f.ebits - 1)) - 1, top = (1 << f.ebits) - 1;
	uint64_t sign = (uint64_t)(h >> (f.ebits + f.mbits) & 1) << 63;
	int e = (int)(h >> f.mbits) & top;
	uint64_t m = h & ((1u << f.mbits) - 1);
	uint32_t mag = h & ((1u << (f.ebits + f.mbits)) - 1);
	if (mag > f.max) {
		int inf = f.over != f.max ? mag == f.over : f.ebits == 5 && m == 0;
		return num_double(sign | UINT64_C(2047) << 52 | (inf ? 0 : UINT64_C(1) << 51));
	}
	if (e == 0) { /* m * 2^(1 - bias - mbits), exact in f64 */
		double v = (double)m * num_double((uint64_t)(1024 - bias - f.mbits) << 52);
		return num_double(sign | num_bits64(v));
	}
	return num_double(sign | (uint64_t)(e - bias + 1023) << 52 | m << (52 - f.mbits));
}

static inline uint16_t bf16_from_f64(double x)
{
	return (uint16_t)num_pack(x, NUM_BF16);
}

/* Each way by f64. */
#define NUM_NARROW(name, bits, form)                 \
	static inline bits name##_from_f64(double x) \
	{                                            \
		return (bits)num_pack(x, form);      \
	}                                            \
	static inline bits name##_from_f32(float x)  \
	{                                            \
		return name##_from_f64((double)x);   \
	}                                            \
	static inline double name##_to_f64(bits h)   \
	{                                            \
		return num_unpack(h, form);          \
	}                                            \
	static inline float name##_to_f32(bits h)    \
	{                                            \
		return (float)num_unpack(h, form);   \
	}
NUM_NARROW(f16, uint16_t, NUM_F16)
NUM_NARROW(e4m3, uint8_t, NUM_E4M3)
NUM_NARROW(e5m2, uint8_t, NUM_E5M2)

static inline uint16_t bf16_from_f32(float x)
{
	uint32_t u = num_bits32(x);
	if ((u & 0x7fffffff) > 0x7f800000)
		return 0x7fff;
	return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static inline float bf16_to_f32(uint16_t h)
{
	return num_float((uint32_t)h << 16);
}

/* f32 rounded to tf32's 10 mantissa bits, ties away from zero (PTX ISA: cvt.rna.tf32.f32). */
static inline float tf32_from_f32(float x)
{
	uint32_t u = num_bits32(x);
	if ((u & 0x7f800000) == 0x7f800000)
		return x;
	return num_float((u + 0x1000) & 0xffffe000);
}

/* f32 rounded to tf32 to nearest, ties to even (PTX ISA: cvt.rn.tf32.f32). */
static inline float tf32_nearest(float x)
{
	uint32_t u = num_bits32(x);
	if ((u & 0x7f800000) == 0x7f800000)
		return x;
	return num_float((u + 0xfff + (u >> 13 & 1)) & 0xffffe000);
}

/* ------------------------------------------------------------------ f64, for every type */
static inline double bf16_to_f64(uint16_t h)
{
	return (double)bf16_to_f32(h);
}

static inline uint32_t f32_from_f64(double x)
{
	return num_bits32((float)x);
}

static inline double f32_to_f64(uint32_t u)
{
	return (double)num_float(u);
}

/* tf32 is f32 in memory; whoever reads it rounds, as tensor maps of tf32 do. */
static inline uint32_t tf32_from_f64(double x)
{
	return num_bits32((float)x);
}

static inline double tf32_to_f64(uint32_t u)
{
	return (double)tf32_nearest(num_float(u));
}

static inline uint64_t f64_from_f64(double x)
{
	return num_bits64(x);
}

static inline double f64_to_f64(uint64_t u)
{
	return num_double(u);
}

/* To the nearest integer, ties to even; beyond the type its nearest end; NaN gives 0 (PTX ISA:
 * cvt.rni to integers). */
#define NUM_INTEGER(name, type, bits_type, lowest, beyond)                                         \
	static inline bits_type name##_from_f64(double x)                                          \
	{                                                                                          \
		double r = x >= -0x1p52 && x <= 0x1p52                                             \
				   ? (x + (x < 0 ? -0x1p52 : 0x1p52)) - (x < 0 ? -0x1p52 : 0x1p52) \
				   : x;                                                            \
		if (r != r)                                                                        \
			return 0;                                                                  \
		if (r < (double)(lowest))                                                          \
			return (bits_type)(type)(lowest);                                          \
		return r >= (beyond) ? (bits_type)((bits_type)(type)(lowest) - 1)                  \
				     : (bits_type)(type)r;                                         \
	}                                                                                          \
	static inline double name##_to_f64(bits_type u)                                            \
	{                                                                                          \
		return (double)(type)u;                                                            \
	}
NUM_INTEGER(s8, int8_t, uint8_t, INT8_MIN, 0x1p7)
NUM_INTEGER(u8, uint8_t, uint8_t, 0, 0x1p8)
NUM_INTEGER(s16, int16_t, uint16_t, INT16_MIN, 0x1p15)
NUM_INTEGER(u16, uint16_t, uint16_t, 0, 0x1p16)
NUM_INTEGER(s32, int32_t, uint32_t, INT32_MIN, 0x1p31)
NUM_INTEGER(u32, uint32_t, uint32_t, 0, 0x1p32)
NUM_INTEGER(s64, int64_t, uint64_t, INT64_MIN, 0x1p63)
NUM_INTEGER(u64, uint64_t, uint64_t, 0, 0x1p64)

/* Of 4 bits: as of 8, to nearest even, saturated; NaN gives 0 */
static inline uint4_t u4_from_f64(double x)
{
	uint8_t u = u8_from_f64(x);
	return u > 15 ? 15 : u;
}

static inline double u4_to_f64(uint4_t u)
{
	return (double)(u & 15);
}

static inline uint4_t s4_from_f64(double x)
{
	double v = s8_to_f64(s8_from_f64(x));
	return (uint4_t)((int)(v < -8 ? -8 : v > 7 ? 7 : v) & 15);
}

static inline double s4_to_f64(uint4_t u)
{
	return (double)((u & 15) ^ 8) - 8;
}

static inline uint4_t e2m1_from_f64(double x)
{
	return (uint4_t)num_pack(x, NUM_E2M1);
}

static inline double e2m1_to_f64(uint4_t u)
{
	return num_unpack(u & 15, NUM_E2M1);
}

#endif
