/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The cost model: cost_rank orders as cost_us does, all that it says is a time, and
 * devices that no row names are scaled. */
#include "runtime/cost.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const CostProduct bf16 = {
	.bits_a = 16, .bits_b = 16, .bits_mma = 16, .bits_out = 16, .bits_in = 0};

static const CostVariant pingpong = {
	.tile_m = 128,
	.tile_n = 128,
	.tile_k = 64,
	.warpgroups = 2,
	.stages = 5,
	.roles = COST_PINGPONG,
	.persistent = 1,
	.group = 8,
	.cluster_m = 1,
	.cluster_n = 1,
	.split = 1,
	.ctas = 1,
};

static CostSizes sizes(double m, double n, double k)
{
	return (CostSizes){.m = m, .n = n, .k = k, .batch = 1, .pitch_a = k * 2, .pitch_b = k * 2};
}

/* Powers of two and what is beside them, up to 2^20. */
static double drawn(void)
{
	return ldexp(1, rand() % 21) + rand() % 3 - 1;
}

static CostVariant any_variant(void)
{
	CostVariant v = pingpong;
	v.tile_m = 64 << rand() % 3;
	v.tile_n = 8 * (1 + rand() % 32);
	v.warpgroups = 1 + rand() % 3;
	v.stages = 2 + rand() % 10;
	v.roles = rand() % 3;
	v.persistent = rand() % 2;
	v.swap = rand() % 2;
	v.group = rand() % 9;
	v.cluster_m = 1 << rand() % 3;
	v.cluster_n = 1 << rand() % 2;
	v.split = 1 + rand() % 16;
	v.workspace = v.split * v.cluster_m * v.cluster_n > 8;
	v.ctas = 1 + rand() % 2;
	return v;
}

static void both_order_alike(void **state)
{
	CostDevice d = cost_device(NULL, 0, 0, 0);
	(void)state;
	for (int i = 0; i < 20000; i++) {
		CostSizes s = sizes(drawn(), drawn(), drawn());
		CostAt at = cost_at(&bf16, &s, &d);
		CostVariant a = any_variant(), b = any_variant();
		CostReady ra = cost_ready(&bf16, &a, &d), rb = cost_ready(&bf16, &b, &d);
		double ua = cost_us(&bf16, &a, &s, &d, NULL), ub = cost_us(&bf16, &b, &s, &d, NULL);
		assert_true(isfinite(ua) && ua > 0 && isfinite(ub) && ub > 0);
		if (cost_rank(&ra, &at) < cost_rank(&rb, &at))
			assert_true(ua <= ub);
	}
}

static void odd_sizes_have_times(void **state)
{
	static const double some[] = {0, 1, 7, 1e9, 9e18};
	CostDevice d = cost_device(NULL, 0, 0, 0);
	(void)state;
	for (int i = 0; i < 125; i++) {
		CostSizes s = sizes(some[i % 5], some[i / 5 % 5], some[i / 25]);
		CostTerms t;
		double us = cost_us(&bf16, &pingpong, &s, &d, &t);
		assert_true(us > d.launch && us == t.us); /* infinite: months */
	}
}

static void half_the_device_takes_twice(void **state)
{
	CostSizes s = sizes(8192, 8192, 8192);
	CostDevice whole = cost_device("NVIDIA H200", 132, 1.98, 4.8);
	CostDevice half = cost_device("half of one", 66, 1.98, 2.4);
	(void)state;
	assert_int_equal(half.sms, 66);
	double a = cost_us(&bf16, &pingpong, &s, &whole, NULL);
	double b = cost_us(&bf16, &pingpong, &s, &half, NULL);
	assert_true(b > 1.9 * a && b < 2.1 * a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_order_alike),
		cmocka_unit_test(odd_sizes_have_times),
		cmocka_unit_test(half_the_device_takes_twice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
