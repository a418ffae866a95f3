/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A tile whose k CTAs share through workspace, compiled by libdslc: what a launch asks for, what it
 * leaves in the semaphores, what launches before may have left there, the same bits every time, in
 * two streams too; on the simulator or on the device that DSL_TEST_DEVICE names. */
#include "compiled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { M = 70, N = 24, K = 200, PARTS = 3, TILES = 4, NARGS = 6, WORDS = DSL_SEMAPHORES / 8 };

static const char source[] = SMALL_GEMM "  schedule { split_k 3; sums workspace; }\n"
					"}\n";

typedef struct {
	dsl_device *dev;
	dsl_module *mod;
	dslc_result *result;
	dsl_arg args[NARGS];
	dsl_launch_opts opts;
	float first[M * N]; /* what the first launch stored */
} Bench;

/* Numbers whose sums round, so that their order is in the bits. */
static dsl_addr operand(const Bench *b, int rows, uint32_t seed)
{
	uint16_t host[M * K];
	dsl_addr at;
	for (int i = 0; i < rows * K; i++) {
		seed = seed * 1664525 + 1013904223;
		host[i] = (uint16_t)((seed >> 31) << 15 | (0x3f00 + (seed >> 16 & 0x17f)));
	}
	assert_int_equal(dsl_mem_alloc(b->dev, (size_t)rows * K * 2, &at), DSL_OK);
	assert_int_equal(dsl_copy_in(b->dev, at, host, (size_t)rows * K * 2), DSL_OK);
	return at;
}

static dsl_status launch(Bench *b)
{
	dsl_status st = dsl_mem_set(b->dev, b->args[2].v.ptr, 0xff, sizeof b->first);
	if (!st)
		st = dsl_launch(b->mod, "small", b->args, NARGS, NULL, &b->opts);
	return st ? st : dsl_sync(b->dev);
}

static void same_bits(const Bench *b, dsl_addr d)
{
	float got[M * N];
	assert_int_equal(dsl_copy_out(b->dev, got, d, sizeof got), DSL_OK);
	assert_memory_equal(got, b->first, sizeof got);
}

static int open_bench(void **state)
{
	static Bench b;
	*state = &b;
	if (!compiled_open(source, "sim:sms=16", &b.result, &b.dev, &b.mod))
		return 1;
	dsl_addr d;
	dsl_mem_alloc(b.dev, sizeof b.first, &d);
	dsl_arg args[NARGS] = {dsl_arg_ptr("A", operand(&b, M, 1)),
			       dsl_arg_ptr("B", operand(&b, N, 2)),
			       dsl_arg_ptr("D", d),
			       dsl_arg_int("M", M),
			       dsl_arg_int("N", N),
			       dsl_arg_int("K", K)};
	memcpy(b.args, args, sizeof args);
	b.opts.size = sizeof b.opts;
	b.opts.semaphores_size = DSL_SEMAPHORES;
	dsl_mem_alloc(b.dev, DSL_SEMAPHORES, &b.opts.semaphores);
	dsl_mem_set(b.dev, b.opts.semaphores, 0, DSL_SEMAPHORES);
	if (dsl_workspace_size(b.mod, "small", b.args, NARGS, &b.opts.workspace_size) ||
	    dsl_mem_alloc(b.dev, b.opts.workspace_size, &b.opts.workspace) || launch(&b))
		return 1;
	return dsl_copy_out(b.dev, b.first, d, sizeof b.first);
}

static int close_bench(void **state)
{
	Bench *b = *state;
	dsl_device_close(b->dev);
	dslc_result_free(b->result);
	return 0;
}

static void says(Bench *b, dsl_launch_opts opts, dsl_status want, const char *text)
{
	assert_int_equal(dsl_launch(b->mod, "small", b->args, NARGS, NULL, &opts), want);
	if (!strstr(dsl_detail(), text))
		fail_msg("\"%s\" does not say \"%s\"", dsl_detail(), text);
}

/* 64 x 16 sums of f32 for each CTA. */
static void what_it_asks_for(void **state)
{
	Bench *b = *state;
	dsl_launch_opts opts = b->opts;
	assert_int_equal(opts.workspace_size, TILES * PARTS * 64 * 16 * 4);
	opts.workspace_size--;
	says(b, opts, DSL_ERR_WORKSPACE, "49152 bytes of workspace are needed, for what its CTAs");
	says(b, opts, DSL_ERR_WORKSPACE, "tell each other; 49151 were given");
	opts = b->opts;
	opts.semaphores_size--;
	says(b, opts, DSL_ERR_SEMAPHORES, "16384 bytes of semaphores at a multiple of 128");
	says(b, opts, DSL_ERR_SEMAPHORES, "16383 at 0x");
	opts.semaphores_size++;
	opts.semaphores += 8;
	says(b, opts, DSL_ERR_SEMAPHORES, "16384 bytes of semaphores");
	opts = b->opts;
	opts.size = offsetof(dsl_launch_opts, semaphores); /* before there were any */
	says(b, opts, DSL_ERR_SEMAPHORES, "0 at 0x0 were given");
	assert_int_equal(dsl_launch(b->mod, "small", b->args, NARGS, NULL, NULL),
			 DSL_ERR_WORKSPACE);
	assert_int_equal(dsl_can_run(b->mod, "small", b->args, NARGS, NULL, 0), DSL_OK);
}

/* Of each tile's semaphore nothing but the launch's number is left, so that a graph, whose launches
 * all have one, finds what it found before. */
static void arrivals_are_taken_back(void **state)
{
	Bench *b = *state;
	uint64_t words[WORDS], last = 0;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(launch(b), DSL_OK);
		assert_int_equal(dsl_copy_out(b->dev, words, b->opts.semaphores, sizeof words),
				 DSL_OK);
		for (int t = 0; t < WORDS; t++) {
			assert_int_equal(words[t] & 0xffff, 0);
			assert_true(t < TILES || !words[t]);
			assert_true(t >= TILES || (words[t] == words[0] && words[t] > last));
		}
		last = words[0];
	}
}

/* A launch that failed has left arrivals behind: they do not count for the next. */
static void what_a_failed_launch_leaves(void **state)
{
	Bench *b = *state;
	uint64_t words[WORDS];
	assert_int_equal(dsl_copy_out(b->dev, words, b->opts.semaphores, sizeof words), DSL_OK);
	for (int t = 0; t < TILES; t++)
		words[t] += 1 + t % PARTS;
	assert_int_equal(dsl_copy_in(b->dev, b->opts.semaphores, words, sizeof words), DSL_OK);
	assert_int_equal(launch(b), DSL_OK);
	same_bits(b, b->args[2].v.ptr);
}

static void a_hundred_times(void **state)
{
	Bench *b = *state;
	for (int i = 0; i < 100; i++) {
		assert_int_equal(launch(b), DSL_OK);
		same_bits(b, b->args[2].v.ptr);
	}
}

/* Each with a pool of its own. */
static void two_streams(void **state)
{
	Bench *b = *state;
	dsl_stream stream[2];
	dsl_pool *pool[2];
	dsl_addr d[2];
	dsl_arg args[NARGS];
	memcpy(args, b->args, sizeof args);
	for (int s = 0; s < 2; s++) {
		assert_int_equal(dsl_stream_create(b->dev, &stream[s]), DSL_OK);
		assert_int_equal(dsl_pool_create(b->dev, stream[s], &pool[s]), DSL_OK);
		assert_int_equal(dsl_mem_alloc(b->dev, sizeof b->first, &d[s]), DSL_OK);
	}
	for (int i = 0; i < 8; i++) {
		args[2].v.ptr = d[i % 2];
		if (dsl_pool_launch(pool[i % 2], b->mod, "small", args, NARGS, NULL))
			fail_msg("%s", dsl_detail());
	}
	for (int s = 0; s < 2; s++) {
		assert_int_equal(dsl_stream_sync(b->dev, stream[s]), DSL_OK);
		same_bits(b, d[s]);
		assert_int_equal(dsl_pool_destroy(pool[s]), DSL_OK);
		assert_int_equal(dsl_stream_destroy(b->dev, stream[s]), DSL_OK);
		dsl_mem_free(b->dev, d[s]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_asks_for),
		cmocka_unit_test(arrivals_are_taken_back),
		cmocka_unit_test(what_a_failed_launch_leaves),
		cmocka_unit_test(a_hundred_times),
		cmocka_unit_test(two_streams),
	};
	return cmocka_run_group_tests(tests, open_bench, close_bench);
}
