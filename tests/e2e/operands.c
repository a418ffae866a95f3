/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Operands that the launcher copies, through pools of two streams, on the simulator or on the
 * device that DSL_TEST_DEVICE names. Allocations are exact, so that a read beyond an operand is a
 * fault there. */
#include "compiled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { M = 70, N = 37, K_MOST = 40, NARGS = 6, LAUNCHES = 4 };

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

typedef struct {
	dsl_device *dev;
	dsl_module *mod;
	dslc_result *result;
} Bench;

static int open_bench(void **state)
{
	static Bench b;
	*state = &b;
	return !compiled_open(source, "sim", &b.result, &b.dev, &b.mod);
}

static int close_bench(void **state)
{
	Bench *b = *state;
	dsl_device_close(b->dev);
	dslc_result_free(b->result);
	return 0;
}

/* Small integers as bf16, whose sums bf16 holds too. */
static int element(int seed, int row, int col)
{
	return (row * 5 + col * 3 + seed) % 7 - 3;
}

static uint16_t bf16(int v)
{
	float f = (float)v;
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return (uint16_t)(bits >> 16);
}

static dsl_addr operand(const Bench *b, int seed, int rows, int k, int offset)
{
	uint16_t host[M * K_MOST];
	size_t bytes = (size_t)rows * (size_t)k * 2;
	dsl_addr at;
	for (int i = 0; i < rows * k; i++)
		host[i] = bf16(element(seed, i / k, i % k));
	assert_int_equal(dsl_mem_alloc(b->dev, bytes + (size_t)offset, &at), DSL_OK);
	assert_int_equal(dsl_copy_in(b->dev, at + (dsl_addr)offset, host, bytes), DSL_OK);
	return at + (dsl_addr)offset;
}

/* What one launch reads and writes. */
typedef struct {
	int k, seed, at_a;
	dsl_addr a, b, d;
	dsl_arg args[NARGS];
} Problem;

static void make(const Bench *b, Problem *p)
{
	p->a = operand(b, p->seed, M, p->k, p->at_a);
	p->b = operand(b, p->seed + 1, N, p->k, 0);
	assert_int_equal(dsl_mem_alloc(b->dev, 2 * M * N, &p->d), DSL_OK);
	assert_int_equal(dsl_mem_set(b->dev, p->d, 0xff, 2 * M * N), DSL_OK);
	dsl_arg args[NARGS] = {dsl_arg_ptr("A", p->a), dsl_arg_ptr("B", p->b),
			       dsl_arg_ptr("D", p->d), dsl_arg_int("M", M),
			       dsl_arg_int("N", N),    dsl_arg_int("K", p->k)};
	memcpy(p->args, args, sizeof args);
}

static void check_and_drop(const Bench *b, const Problem *p)
{
	uint16_t got[M * N];
	assert_int_equal(dsl_copy_out(b->dev, got, p->d, sizeof got), DSL_OK);
	for (int i = 0; i < M * N; i++) {
		int sum = 0;
		for (int k = 0; k < p->k; k++)
			sum += element(p->seed, i / N, k) * element(p->seed + 1, i % N, k);
		if (got[i] != bf16(sum))
			fail_msg("K = %d, A at %d: element %d is 0x%04x", p->k, p->at_a, i, got[i]);
	}
	dsl_mem_free(b->dev, p->a - (dsl_addr)p->at_a);
	dsl_mem_free(b->dev, p->b);
	dsl_mem_free(b->dev, p->d);
}

/* Launch after launch in two streams, each with a pool of its own. */
static void two_streams(void **state)
{
	Bench *b = *state;
	dsl_stream stream[2];
	dsl_pool *pool[2];
	Problem p[2][LAUNCHES];
	for (int s = 0; s < 2; s++) {
		assert_int_equal(dsl_stream_create(b->dev, &stream[s]), DSL_OK);
		assert_int_equal(dsl_pool_create(b->dev, stream[s], &pool[s]), DSL_OK);
	}
	for (int i = 0; i < 2 * LAUNCHES; i++) {
		p[i % 2][i / 2] = (Problem){.k = 33 + i % 5, .seed = i, .at_a = 2};
		make(b, &p[i % 2][i / 2]);
	}
	for (int i = 0; i < 2 * LAUNCHES; i++)
		if (dsl_pool_launch(pool[i % 2], b->mod, "small", p[i % 2][i / 2].args, NARGS,
				    NULL))
			fail_msg("%s", dsl_detail());
	for (int s = 0; s < 2; s++) {
		assert_int_equal(dsl_stream_sync(b->dev, stream[s]), DSL_OK);
		for (int i = 0; i < LAUNCHES; i++)
			check_and_drop(b, &p[s][i]);
		assert_int_equal(dsl_pool_destroy(pool[s]), DSL_OK);
		assert_int_equal(dsl_stream_destroy(b->dev, stream[s]), DSL_OK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_streams, open_bench, close_bench),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
