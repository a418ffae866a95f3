/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* number.c - conversions of small floats and integers, and the rows of elements: every value of
 * each format, every midpoint between neighbours, and what lies beyond. The oracle is exact
 * arithmetic in f64. */
#include "runtime/elem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* after the four above, which it needs */
#include <cmocka.h>

static const NumFormat *format(int i)
{
	static const NumFormat all[] = {{8, 7, 0x7fff, 0x7f7f, 0x7f80},
					{5, 10, 0x7fff, 0x7bff, 0x7c00},
					{4, 3, 0x7f, 0x7e, 0x7e},
					{5, 2, 0x7f, 0x7b, 0x7b}};
	return &all[i];
}

static void every_value_round_trips(void **state)
{
	(void)state;
	for (int f = 0; f < 4; f++) {
		const NumFormat *n = format(f);
		uint32_t sign = 1u << (n->ebits + n->mbits);
		for (uint32_t h = 0; h <= n->max; h++) {
			assert_int_equal(num_pack(num_unpack(h, *n), *n), h);
			assert_int_equal(num_pack(num_unpack(h | sign, *n), *n), h | sign);
			assert_true(num_unpack(h | sign, *n) == -num_unpack(h, *n));
		}
	}
}

static void midpoints_go_to_even(void **state)
{
	(void)state;
	for (int f = 0; f < 4; f++) {
		const NumFormat *n = format(f);
		for (uint32_t h = 0; h < n->max; h++) {
			double lo = num_unpack(h, *n), hi = num_unpack(h + 1, *n),
			       mid = (lo + hi) / 2;
			assert_true(lo < hi);
			assert_int_equal(num_pack(mid, *n), h + (h & 1));
			assert_int_equal(num_pack(nextafter(mid, lo), *n), h);
			assert_int_equal(num_pack(nextafter(mid, hi), *n), h + 1);
		}
	}
}

static void beyond_the_largest(void **state)
{
	(void)state;
	assert_int_equal(f16_from_f32(65519.0f), 0x7bff);
	assert_int_equal(f16_from_f32(65520.0f), 0x7c00);
	assert_int_equal(f16_from_f32(-INFINITY), 0xfc00);
	assert_int_equal(bf16_from_f32(3.4e38f), 0x7f80);
	assert_int_equal(bf16_from_f64(1e300), 0x7f80);
	assert_int_equal(bf16_from_f64(-1e-300), 0x8000);
	assert_int_equal(e4m3_from_f32(1e9f), 0x7e);
	assert_int_equal(e4m3_from_f32(-INFINITY), 0xfe);
	assert_int_equal(e5m2_from_f32(1e9f), 0x7b);
	assert_true(isinf(e5m2_to_f32(0x7c)) && isinf(f16_to_f32(0x7c00)) &&
		    isinf(bf16_to_f32(0x7f80)));
}

static void nan_stays_nan(void **state)
{
	(void)state;
	assert_int_equal(f16_from_f32(NAN), 0x7fff);
	assert_int_equal(bf16_from_f32(-NAN), 0x7fff);
	assert_int_equal(bf16_from_f64(NAN), 0x7fff);
	assert_int_equal(e4m3_from_f32(NAN), 0x7f);
	assert_int_equal(e5m2_from_f32(NAN), 0x7f);
	assert_true(isnan(f16_to_f32(0x7c01)) && isnan(e4m3_to_f32(0xff)) &&
		    isnan(e5m2_to_f32(0x7d)));
	assert_true(isnan(tf32_from_f32(NAN)));
}

static void known_values(void **state)
{
	(void)state;
	assert_int_equal(bf16_from_f32(1.00390625f), 0x3f80); /* a tie */
	assert_true(f16_to_f32(0x0001) == 0x1p-24f);
	assert_true(e4m3_to_f32(0x7e) == 448.0f && e4m3_to_f32(0x01) == 0x1p-9f);
	assert_true(e5m2_to_f32(0x7b) == 57344.0f);
	assert_true(tf32_from_f32(1.0f + 0x1p-11f) == 1.0f + 0x1p-10f); /* away from zero */
	assert_true(tf32_nearest(1.0f + 0x1p-11f) == 1.0f);             /* to even */
	assert_true(tf32_nearest(1.0f + 0x3p-11f) == 1.0f + 0x1p-9f);
	assert_true(isnan(tf32_nearest(NAN)) && isinf(tf32_nearest(INFINITY)));
	assert_true(tf32_nearest(0x1.fffffep127f) == INFINITY);
	/* one rounding: through f32 this would tie and fall to the even 1.0 */
	assert_int_equal(bf16_from_f64(1.0 + 0x1p-8 + 0x1p-40), 0x3f81);
}

static void both_bf16_roads_agree(void **state)
{
	(void)state;
	uint32_t u = 1;
	for (int i = 0; i < 2000000; i++) {
		u = u * 1664525 + 1013904223;
		float x = num_float(u);
		assert_int_equal(bf16_from_f32(x), bf16_from_f64((double)x));
	}
}

/* ------------------------------------------------------------------ the rows of elems.def */
static void every_row_round_trips(void **state)
{
	(void)state;
	for (int e = 0; e < EL_COUNT; e++) {
		const ElemRow *row = &elem_rows[e];
		for (uint64_t u = 0; row->bits <= 16 && u < UINT64_C(1) << row->bits; u++) {
			double x = row->unpack(u);
			if (!isnan(x) && !(isinf(x) && row->bits == 8))
				assert_int_equal(row->pack(x), u);
		}
	}
}

/* The next number above 1 and the smallest normal number are where the row says. */
static void mantissa_and_exponent(void **state)
{
	(void)state;
	for (int e = 0; e < EL_COUNT; e++) {
		const ElemRow *row = &elem_rows[e];
		double ulp = ldexp(1, -row->mantissa), least = ldexp(1, row->exponent);
		if (row->cls != 'F')
			continue;
		assert_true(elem_round(e, 1 + ulp) == 1 + ulp);
		assert_true(elem_round(e, 1 + ulp / 8) == 1);
		assert_true(elem_round(e, least) == least);
		if (e != EL_TF32 &&
		    e != EL_F64) /* f64 cannot say it, tf32 keeps the bits of f32 below */
			assert_true(elem_round(e, least / 2 + least * ulp / 16) == least / 2);
	}
}

static void integers_round_and_saturate(void **state)
{
	(void)state;
	assert_int_equal(elem_rows[EL_I8].pack(2.5), 2);
	assert_int_equal(elem_rows[EL_I8].pack(3.5), 4);
	assert_int_equal(elem_rows[EL_I8].pack(-2.5), 0xfe);
	assert_int_equal(elem_rows[EL_I8].pack(1e9), 0x7f);
	assert_int_equal(elem_rows[EL_I8].pack(-1e9), 0x80);
	assert_int_equal(elem_rows[EL_U8].pack(-1), 0);
	assert_int_equal(elem_rows[EL_U8].pack(255.6), 255);
	assert_int_equal(elem_rows[EL_I32].pack(0x1p31), 0x7fffffff);
	assert_int_equal(elem_rows[EL_I32].pack(-INFINITY), 0x80000000);
	assert_int_equal(elem_rows[EL_S4].pack(-2.5), 0xe);
	assert_int_equal(elem_rows[EL_S4].pack(100), 0x7);
	assert_int_equal(elem_rows[EL_S4].pack(-100), 0x8);
	assert_int_equal(elem_rows[EL_U4].pack(15.5), 15);
	assert_int_equal(elem_rows[EL_U4].pack(-1), 0);
	assert_int_equal(elem_rows[EL_I64].pack(0x1p63), INT64_MAX);
	assert_true(elem_rows[EL_U64].pack(0x1p64) == UINT64_MAX);
	assert_int_equal(elem_rows[EL_I32].pack(NAN), 0);
	assert_true(elem_rows[EL_I32].unpack(0xffffffff) == -1);
}

static void elements_lie_side_by_side(void **state)
{
	(void)state;
	unsigned char data[4 * 8];
	for (int e = 0; e < EL_COUNT; e++) {
		memset(data, 0, sizeof data);
		for (int i = 0; i < 3; i++)
			elem_put(e, data, i, i + 1);
		for (int i = 0; i < 3; i++)
			assert_true(elem_get(e, data, i) == i + 1);
		assert_int_equal(data[elem_span((Elem)e, 3)], 0);
	}
}

/* The first in the low half; one is written beside the other. */
static void two_lie_in_a_byte(void **state)
{
	(void)state;
	unsigned char data[2] = {0, 0};
	elem_put(EL_S4, data, 0, -3);
	elem_put(EL_S4, data, 1, 5);
	elem_put(EL_S4, data, 3, -8);
	assert_int_equal(data[0], 0x5d);
	assert_int_equal(data[1], 0x80);
	elem_put(EL_S4, data, 0, 1);
	assert_int_equal(data[0], 0x51);
	assert_true(elem_get(EL_S4, data, 1) == 5 && elem_get(EL_S4, data, 3) == -8);
	static const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
	for (int i = 0; i < 16; i++)
		assert_true(elem_rows[EL_E2M1].unpack((uint64_t)i) ==
			    (i < 8 ? values[i] : -values[i - 8]));
	assert_int_equal(elem_rows[EL_E2M1].pack(5), 6); /* 4 and 6 are as near: to even */
	assert_int_equal(elem_rows[EL_E2M1].pack(-1e9), 0xf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_round_trips),
		cmocka_unit_test(midpoints_go_to_even),
		cmocka_unit_test(beyond_the_largest),
		cmocka_unit_test(nan_stays_nan),
		cmocka_unit_test(known_values),
		cmocka_unit_test(both_bf16_roads_agree),
		cmocka_unit_test(every_row_round_trips),
		cmocka_unit_test(mantissa_and_exponent),
		cmocka_unit_test(integers_round_and_saturate),
		cmocka_unit_test(elements_lie_side_by_side),
		cmocka_unit_test(two_lie_in_a_byte),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
