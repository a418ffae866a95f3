/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tiles that are drawn, after a launch that failed half-way and left counts of tickets in the
 * semaphores: the next one computes every tile all the same, since these counts have another
 * launch's number; where they have its own, tiles are missing. */
#include "compiled.h"

#include "runtime/kdesc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* More tiles than CTAs have drawn ahead when one fails. */
enum { M = 384, N = 128, K = 16, NARGS = 6, WORDS = DSL_SEMAPHORES / 8, FILL = 0xff };

static const char source[] = SMALL_GEMM "  schedule { %s persistent dynamic; }\n"
					"}\n";
static const char *const schedules[] = {"roles cooperative;", "roles pingpong;",
					"roles cooperative; cluster (2,1);"};

typedef struct {
	dsl_device *dev;
	dsl_module *mod;
	dslc_result *result;
	dsl_arg args[NARGS];
	dsl_launch_opts opts;
	dsl_addr all, few; /* A, and one with fewer rows than M */
} Bench;

static dsl_addr ones(const Bench *b, int n)
{
	uint16_t host[M * K];
	dsl_addr at;
	for (int i = 0; i < n; i++)
		host[i] = 0x3f80;
	assert_int_equal(dsl_mem_alloc(b->dev, (size_t)n * 2, &at), DSL_OK);
	assert_int_equal(dsl_copy_in(b->dev, at, host, (size_t)n * 2), DSL_OK);
	return at;
}

static void bench_open(Bench *b, const char *schedule)
{
	char text[1024];
	snprintf(text, sizeof text, source, schedule);
	memset(b, 0, sizeof *b);
	if (!compiled_open(text, "sim:sms=4,resident=4,reports=1", &b->result, &b->dev, &b->mod))
		fail_msg("%s: %s", schedule, dsl_detail());
	dsl_addr d;
	b->all = ones(b, M * K);
	b->few = ones(b, (M - 64) * K);
	dsl_mem_alloc(b->dev, M * N * sizeof(float), &d);
	dsl_arg args[NARGS] = {dsl_arg_ptr("A", b->all), dsl_arg_ptr("B", ones(b, N * K)),
			       dsl_arg_ptr("D", d),      dsl_arg_int("M", M),
			       dsl_arg_int("N", N),      dsl_arg_int("K", K)};
	memcpy(b->args, args, sizeof args);
	b->opts = (dsl_launch_opts){.size = sizeof b->opts, .semaphores_size = DSL_SEMAPHORES};
	dsl_mem_alloc(b->dev, DSL_SEMAPHORES, &b->opts.semaphores);
	dsl_mem_set(b->dev, b->opts.semaphores, 0, DSL_SEMAPHORES);
}

static void bench_close(Bench *b)
{
	dsl_device_close(b->dev);
	dslc_result_free(b->result);
}

/* Of this A; how many elements of D are right. */
static dsl_status launch(Bench *b, dsl_addr a, int *right)
{
	static float got[M * N];
	dsl_addr d = b->args[2].v.ptr;
	assert_int_equal(dsl_mem_set(b->dev, d, FILL, sizeof got), DSL_OK);
	b->args[0].v.ptr = a;
	dsl_status st = dsl_launch(b->mod, "small", b->args, NARGS, NULL, &b->opts);
	st = st ? st : dsl_sync(b->dev);
	assert_int_equal(dsl_copy_out(b->dev, got, d, sizeof got), DSL_OK);
	*right = 0;
	for (int i = 0; i < M * N; i++)
		*right += got[i] == (float)K;
	return st;
}

static void words_of(const Bench *b, uint64_t *words)
{
	size_t bytes = WORDS * sizeof *words;
	assert_int_equal(dsl_copy_out(b->dev, words, b->opts.semaphores, bytes), DSL_OK);
}

static int counts(const Bench *b)
{
	static uint64_t words[WORDS];
	int n = 0;
	words_of(b, words);
	for (int i = 0; i < WORDS; i++)
		n += (uint32_t)words[i] != 0;
	return n;
}

/* As if they were of the launch that comes. */
static void to_next_launch(const Bench *b)
{
	static uint64_t words[WORDS];
	words_of(b, words);
	for (int i = 0; i < WORDS; i++)
		words[i] += words[i] ? UINT64_C(1) << KD_TICKET_BITS : 0;
	assert_int_equal(dsl_copy_in(b->dev, b->opts.semaphores, words, sizeof words), DSL_OK);
}

/* The last rows of A are not there. */
static void fail_half_way(Bench *b)
{
	int right;
	assert_int_equal(launch(b, b->few, &right), DSL_ERR_SIM);
	assert_true(right > 0 && right < M * N);
	assert_true(counts(b) > 0);
}

static void a_failed_launch_counts_for_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
		Bench b;
		int right;
		bench_open(&b, schedules[i]);
		for (int again = 0; again < 3; again++) {
			if (again)
				fail_half_way(&b);
			assert_int_equal(launch(&b, b.all, &right), DSL_OK);
			assert_int_equal(right, M * N);
			assert_int_equal(counts(&b), 0);
		}
		fail_half_way(&b);
		to_next_launch(&b);
		assert_int_equal(launch(&b, b.all, &right), DSL_OK);
		assert_true(right < M * N);
		bench_close(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_failed_launch_counts_for_nothing)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
