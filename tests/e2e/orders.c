/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CTAs that start in 20 orders, under schedules of one tile: what is joined to a row differs in its
 * last bits, and what has an element for each tile does not. */
#include "driver/dslc.h"
#include "runtime/dsl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { M = 70, N = 301, K = 16, TILES = (N + 31) / 32, ORDERS = 20, NARGS = 9 };

static const char source[] =
	"kernel rows(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), sum : out f32 (M),\n"
	"            parts : out f32 (M,T):(1,M), D : out bf16 (M,N):(N,1)) where T == (N + 31) / "
	"32 {\n"
	"  const R = none, P = off, CM = 1, CN = 1;\n"
	"  let gA = A / (64,16), gB = B / (32,16), gS = parts / (64,1), gD = D / (64,32);\n"
	"  mma mm = wgmma<64,32,16>(bf16, bf16, f32) * (1,1,1);\n"
	"  smem sA : bf16 (64,16), sB : bf16 (32,16);\n"
	"  pipeline ab(2) { sA, sB }\n"
	"  for (m,n) in gD {\n"
	"    acc : f32 mm.C(64,32) = 0;\n"
	"    for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }\n"
	"    sum[m] += rowsum(acc);\n"
	"    gS[m,n] <- rowsum(acc);\n"
	"    gD[m,n] <- bf16(acc);\n"
	"  }\n"
	"  schedule { roles R; persistent P; cluster (CM,CN); }\n"
	"}\n";

static const char *const schedules[][3] = {
	{"R=none", "P=off", "CM=1"},
	{"R=cooperative", "P=on", "CM=1"},
	{"R=pingpong", "P=on", "CM=1"},
	{"R=cooperative", "P=off", "CM=2"},
};

typedef struct {
	float sum[M], parts[TILES][M];
} Results;

/* Of many sizes, so that sums of them are rounded. */
static void fill(uint16_t *x, int n, uint32_t seed)
{
	for (int i = 0; i < n; i++) {
		seed = seed * 1664525 + 1013904223;
		x[i] = (uint16_t)((seed >> 16 & 0x807f) | (120 + (seed >> 8) % 14) << 7);
	}
}

static dsl_addr on_device(dsl_device *dev, const void *from, size_t bytes)
{
	dsl_addr to;
	assert_int_equal(dsl_mem_alloc(dev, bytes, &to), DSL_OK);
	assert_int_equal(dsl_copy_in(dev, to, from, bytes), DSL_OK);
	return to;
}

static Results run(const void *cubin, size_t size, int order)
{
	static uint16_t a[M * K], b[N * K], d[M * N];
	Results r = {.sum = {0}};
	char name[64];
	dsl_device *dev;
	dsl_module *mod;
	fill(a, M * K, 1);
	fill(b, N * K, 2);
	snprintf(name, sizeof name, "sim:starts=%d,sms=3", order);
	assert_int_equal(dsl_device_open(name, &dev), DSL_OK);
	assert_int_equal(dsl_module_load_data(dev, cubin, size, &mod), DSL_OK);
	dsl_addr sum = on_device(dev, r.sum, sizeof r.sum);
	dsl_addr parts = on_device(dev, r.parts, sizeof r.parts);
	dsl_arg args[NARGS] = {dsl_arg_ptr("A", on_device(dev, a, sizeof a)),
			       dsl_arg_ptr("B", on_device(dev, b, sizeof b)),
			       dsl_arg_ptr("sum", sum),
			       dsl_arg_ptr("parts", parts),
			       dsl_arg_ptr("D", on_device(dev, d, sizeof d)),
			       dsl_arg_int("M", M),
			       dsl_arg_int("N", N),
			       dsl_arg_int("K", K),
			       dsl_arg_int("T", TILES)};
	if (dsl_launch(mod, "rows", args, NARGS, NULL, NULL) || dsl_sync(dev))
		fail_msg("order %d: %s", order, dsl_detail());
	assert_int_equal(dsl_copy_out(dev, r.sum, sum, sizeof r.sum), DSL_OK);
	assert_int_equal(dsl_copy_out(dev, r.parts, parts, sizeof r.parts), DSL_OK);
	dsl_device_close(dev);
	return r;
}

static void test_orders(void **state)
{
	static Results first, now;
	(void)state;
	for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
		dslc_options opt = {.size = sizeof opt, .defines = schedules[i], .ndefines = 3};
		dslc_result *result = dslc_compile(source, strlen(source), &opt);
		size_t size;
		int others = 0;
		const void *cubin = dslc_output(result, DSLC_CUBIN, &size);
		if (!cubin)
			fail_msg("%s: %s", schedules[i][0], dslc_diagnostics(result, 0));
		Results plain = run(cubin, size, 0);
		first = i ? first : plain;
		for (int order = 1; order <= ORDERS; order++) {
			now = run(cubin, size, order);
			others += memcmp(now.sum, plain.sum, sizeof now.sum) != 0;
			assert_memory_equal(now.parts, first.parts, sizeof now.parts);
		}
		if (others < ORDERS / 2)
			fail_msg("%s: sums differ in %d orders only", schedules[i][0], others);
		dslc_result_free(result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
