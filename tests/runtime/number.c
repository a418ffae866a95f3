/* number.c - conversions of small floats: every value of each format, every midpoint between
 * neighbours, and what lies beyond. The oracle is exact arithmetic in f64. */
#include "runtime/number.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_round_trips),
		cmocka_unit_test(midpoints_go_to_even),
		cmocka_unit_test(beyond_the_largest),
		cmocka_unit_test(nan_stays_nan),
		cmocka_unit_test(known_values),
		cmocka_unit_test(both_bf16_roads_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
