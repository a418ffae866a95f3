/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An output at any address: compiled by libdslc, launched on the simulator at offsets that TMA
 * takes and that it does not; every element is right, and nothing beside the tensor is written. */
#include "driver/dslc.h"
#include "runtime/dsl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { M = 70, N_MOST = 40, K = 16, ROOM = 2 * M * N_MOST + 64, NARGS = 6 };

static const char source[] =
	"kernel small(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), D : out bf16 (M,N):(N,1)) {\n"
	"  let gA = A / (64,16), gB = B / (32,16), gD = D / (64,32);\n"
	"  mma mm = wgmma<64,32,16>(bf16, bf16, f32) * (1,1,1);\n"
	"  smem sA : bf16 (64,16), sB : bf16 (32,16);\n"
	"  pipeline ab(2) { sA, sB }\n"
	"  for (m,n) in gD {\n"
	"    acc : f32 mm.C(64,32) = 0;\n"
	"    for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }\n"
	"    gD[m,n] <- bf16(acc);\n"
	"  }\n"
	"}\n";

/* Small integers as bf16, whose sums bf16 holds too. */
static int element(int row, int col)
{
	return (row * 5 + col * 3) % 7 - 3;
}

static uint16_t bf16(int v)
{
	float f = (float)v;
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return (uint16_t)(bits >> 16);
}

static dsl_addr operand(dsl_device *dev, int rows)
{
	uint16_t host[M * K];
	dsl_addr at;
	for (int i = 0; i < rows * K; i++)
		host[i] = bf16(element(i / K, i % K));
	assert_int_equal(dsl_mem_alloc(dev, sizeof host, &at), DSL_OK);
	assert_int_equal(dsl_copy_in(dev, at, host, (size_t)rows * K * 2), DSL_OK);
	return at;
}

static uint16_t expected(int row, int col)
{
	int sum = 0;
	for (int k = 0; k < K; k++)
		sum += element(row, k) * element(col, k);
	return bf16(sum);
}

static void check(const unsigned char *got, int n, int offset)
{
	uint16_t v;
	for (int i = 0; i < ROOM; i++)
		if (i < offset || i >= offset + 2 * M * n)
			assert_int_equal(got[i], 0xa5);
	for (int i = 0; i < M * n; i++) {
		memcpy(&v, got + offset + 2 * i, sizeof v);
		if (v != expected(i / n, i % n))
			fail_msg("N = %d, offset %d: element %d is 0x%04x", n, offset, i, v);
	}
}

static void test_addresses(void **state)
{
	static const int offsets[] = {0, 2, 8, 14, 16}, widths[] = {40, 37};
	unsigned char got[ROOM];
	size_t size;
	dsl_device *dev;
	dsl_module *mod;
	(void)state;
	dslc_result *result = dslc_compile(source, strlen(source), NULL);
	const char *cubin = dslc_output(result, DSLC_CUBIN, &size);
	assert_non_null(cubin);
	assert_int_equal(dsl_device_open("sim", &dev), DSL_OK);
	assert_int_equal(dsl_module_load_data(dev, cubin, size, &mod), DSL_OK);
	dsl_addr a = operand(dev, M), b = operand(dev, N_MOST), d;
	assert_int_equal(dsl_mem_alloc(dev, ROOM, &d), DSL_OK);
	for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
		for (size_t j = 0; j < sizeof widths / sizeof *widths; j++) {
			dsl_arg args[NARGS] = {dsl_arg_ptr("A", a),
					       dsl_arg_ptr("B", b),
					       dsl_arg_ptr("D", d + (dsl_addr)offsets[i]),
					       dsl_arg_int("M", M),
					       dsl_arg_int("N", widths[j]),
					       dsl_arg_int("K", K)};
			assert_int_equal(dsl_mem_set(dev, d, 0xa5, ROOM), DSL_OK);
			if (dsl_launch(mod, "small", args, NARGS, NULL, NULL) || dsl_sync(dev))
				fail_msg("N = %d, offset %d: %s", widths[j], offsets[i],
					 dsl_detail());
			assert_int_equal(dsl_copy_out(dev, got, d, ROOM), DSL_OK);
			check(got, widths[j], offsets[i]);
		}
	dsl_device_close(dev);
	dslc_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_addresses)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
