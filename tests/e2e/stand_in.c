/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A kernel whose schedule asks for a stand-in, compiled by libdslc: launched without workspace on
 * operands that TMA cannot take, by threads, and with it, copied first: the same bits; on the
 * simulator or on the device that DSL_TEST_DEVICE names. */
#include "compiled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { M = 70, N = 24, LONGEST = 44, NARGS = 7, BYTES = M * N * 4 };

static const char source[] =
	"kernel small(A : constant bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), bias : f32 (N),\n"
	"             D : out f32 (M,N):(N,1)) {\n"
	"  let gA = A / (64,16), gB = B / (16,16), gb = bias / (16), gD = D / (64,16);\n"
	"  mma mm = wgmma<64,16,16>(bf16, bf16, f32) * (1,1,1);\n"
	"  smem sA : bf16 (64,16), sB : bf16 (16,16);\n"
	"  pipeline ab(2) { sA, sB }\n"
	"  for (m,n) in gD {\n"
	"    acc : f32 mm.C(64,16) = 0;\n"
	"    for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }\n"
	"    gD[m,n] <- acc + gb[n];\n"
	"  }\n"
	"  schedule { roles cooperative; persistent; cp_async 4; }\n"
	"}\n";

typedef struct {
	dsl_device *dev;
	dsl_module *mod;
	dsl_pool *pool;
	dslc_result *result;
	dsl_addr a, b, bias, d;
} Bench;

static dsl_addr numbers(const Bench *b, int bytes)
{
	uint16_t host[M * LONGEST + 8];
	uint32_t seed = (uint32_t)bytes;
	dsl_addr at;
	for (size_t i = 0; i < sizeof host / sizeof *host; i++) {
		seed = seed * 1664525 + 1013904223;
		host[i] = (uint16_t)((seed >> 31) << 15 | (0x3f00 + (seed >> 16 & 0x17f)));
	}
	assert_int_equal(dsl_mem_alloc(b->dev, (size_t)bytes, &at), DSL_OK);
	assert_int_equal(dsl_copy_in(b->dev, at, host, (size_t)bytes), DSL_OK);
	return at;
}

static int open_bench(void **state)
{
	static Bench b;
	*state = &b;
	if (!compiled_open(source, "sim:sms=2", &b.result, &b.dev, &b.mod) ||
	    dsl_pool_create(b.dev, NULL, &b.pool) || dsl_mem_alloc(b.dev, BYTES, &b.d))
		return 1;
	b.a = numbers(&b, M * LONGEST * 2 + 16);
	b.b = numbers(&b, N * LONGEST * 2);
	b.bias = numbers(&b, N * 4);
	return 0;
}

static int close_bench(void **state)
{
	Bench *b = *state;
	dsl_pool_destroy(b->pool);
	dsl_device_close(b->dev);
	dslc_result_free(b->result);
	return 0;
}

/* Of K elements a row, A so many bytes further on. */
static dsl_status launch(Bench *b, int k, int on, bool pooled, char *out)
{
	dsl_arg args[NARGS] = {dsl_arg_ptr("A", b->a + (dsl_addr)on),
			       dsl_arg_ptr("B", b->b),
			       dsl_arg_ptr("bias", b->bias),
			       dsl_arg_ptr("D", b->d),
			       dsl_arg_int("M", M),
			       dsl_arg_int("N", N),
			       dsl_arg_int("K", k)};
	dsl_launch_opts none = {.size = sizeof none};
	dsl_status st = dsl_mem_set(b->dev, b->d, 0xff, BYTES);
	if (!st)
		st = pooled ? dsl_pool_launch(b->pool, b->mod, "small", args, NARGS, NULL)
			    : dsl_launch(b->mod, "small", args, NARGS, NULL, &none);
	if (!st)
		st = dsl_sync(b->dev);
	return st ? st : dsl_copy_out(b->dev, out, b->d, BYTES);
}

static void without_workspace(void **state)
{
	static const struct {
		int k, on;
		dsl_status st;
	} rows[] = {{LONGEST, 0, DSL_OK},       {42, 4, DSL_OK},
		    {40, 12, DSL_OK},           {40, 0, DSL_OK},
		    {40, 2, DSL_ERR_WORKSPACE}, {41, 0, DSL_ERR_WORKSPACE}};
	Bench *b = *state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char copied[BYTES], threads[BYTES];
		if (launch(b, rows[i].k, rows[i].on, true, copied))
			fail_msg("%s", dsl_detail());
		assert_int_equal(launch(b, rows[i].k, rows[i].on, false, threads), rows[i].st);
		if (!rows[i].st)
			assert_memory_equal(copied, threads, BYTES);
		else
			assert_non_null(strstr(dsl_detail(), "bytes of workspace are needed"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(without_workspace)};
	return cmocka_run_group_tests(tests, open_bench, close_bench);
}
