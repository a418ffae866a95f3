/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* together.c - launches whose CTAs wait for each other, against the fake driver: how many may run,
 * what they are passed, what a pool gives them, what the manifest says of them. */
#include "sample.h"

#include <string.h>

enum { M = 1024, N = 2048, K = 64, CTAS = 64, BYTES = CTAS * 4096 };
static const dsl_addr space = 0x100000, semaphores = 0x200000;

typedef struct {
	Fake *fake;
	dsl_device *dev;
	dsl_module *mod;
	Sample sample;
} Bench;

static void sample_together(Sample *s)
{
	KDesc *k = &s->kernel[0];
	k->together = 1;
	k->nworks = 1;
	k->works[0] = "M 127 + 128 / N 255 + 256 / * 4096 *";
	k->params[k->nparams++] = (KParam){KP_WORK, 0};
	k->params[k->nparams++] = (KParam){KP_SEMAPHORES, 0};
	k->params[k->nparams++] = (KParam){KP_EPOCH, 0};
}

static int bench_open(void **state)
{
	static Bench b;
	b.fake = fake_reset();
	sample_fill(&b.sample);
	sample_together(&b.sample);
	b.fake->kernel_params = (unsigned)b.sample.kernel[0].nparams;
	b.dev = device_open();
	b.mod = module_open(b.dev, &b.sample.module);
	*state = &b;
	return 0;
}

static int bench_close(void **state)
{
	Bench *b = *state;
	dsl_device_close(b->dev);
	assert_int_equal(b->fake->allocs, 0);
	return 0;
}

static dsl_status launch(Bench *b, int64_t m, dsl_addr at)
{
	dsl_arg args[GEMM_ARGS];
	dsl_launch_opts opts = {.size = sizeof opts,
				.workspace = space,
				.workspace_size = 1 << 24,
				.semaphores = at,
				.semaphores_size = DSL_SEMAPHORES};
	sample_args(args, m, N, K);
	return dsl_launch(b->mod, "gemm", args, GEMM_ARGS, NULL, &opts);
}

static uint64_t param(const Bench *b, int from_last)
{
	return b->fake->params[b->sample.kernel[0].nparams - from_last];
}

static void what_is_passed(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	size_t bytes = 0;
	sample_args(args, M, N, K);
	assert_status(dsl_workspace_size(b->mod, "gemm", args, GEMM_ARGS, &bytes), DSL_OK);
	assert_int_equal(bytes, BYTES);
	assert_int_equal(b->fake->modules, 1); /* what copies tensors is not loaded for that */
	assert_status(launch(b, M, semaphores), DSL_OK);
	uint64_t epoch = param(b, 1);
	assert_true(param(b, 3) == space && param(b, 2) == semaphores);
	assert_true(epoch && epoch % KD_EPOCH == 0);
	assert_status(launch(b, M, semaphores), DSL_OK);
	assert_true(param(b, 1) == epoch + KD_EPOCH);
}

/* One CTA an SM. */
static void as_many_as_run_at_one_time(void **state)
{
	Bench *b = *state;
	assert_status(launch(b, 16 * 128, semaphores), DSL_OK);
	assert_status(launch(b, 16 * 128 + 1, semaphores), DSL_ERR_TOGETHER);
	assert_says(dsl_detail(), "kernel gemm: its 136 CTAs wait for each other",
		    "132 run at one time", NULL);
	assert_int_equal(b->fake->launches, 1);
	assert_status(launch(b, 0, 0), DSL_OK); /* nothing */
	dsl_arg args[GEMM_ARGS];
	sample_args(args, 16 * 128 + 1, N, K);
	assert_status(dsl_can_run(b->mod, "gemm", args, GEMM_ARGS, NULL, 0), DSL_ERR_TOGETHER);
	b->fake->fail = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
	b->fake->code = CUDA_ERROR_UNKNOWN;
	b->fake->after = 0;
	b->sample.module.source = "other.gemm";
	Buf cubin = {0};
	dsl_module *mod = NULL;
	sample_cubin_write(&b->sample.module, &cubin);
	assert_status(dsl_module_load_data(b->dev, cubin.s, cubin.n, &mod), DSL_ERR_CUDA);
	assert_says(dsl_detail(), b->fake->fail, NULL);
	buf_free(&cubin);
}

static void semaphores_are_asked_for(void **state)
{
	Bench *b = *state;
	assert_status(launch(b, M, 0), DSL_ERR_SEMAPHORES);
	assert_says(dsl_detail(), "kernel gemm: 16384 bytes of semaphores", "at 0x0", NULL);
	assert_status(launch(b, M, semaphores + 64), DSL_ERR_SEMAPHORES);
	assert_status(launch(b, M, 0x30000000), DSL_ERR_OVERLAP);
	assert_says(dsl_detail(), "writes the semaphores, 16384 bytes", "tensor D", NULL);
	assert_int_equal(b->fake->launches, 0);
}

/* Both come with the first launch that needs them, and stay; not while the stream is captured. */
static void from_a_pool(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	dsl_pool *p = NULL;
	sample_args(args, M, N, K);
	assert_status(dsl_pool_create(b->dev, NULL, &p), DSL_OK);
	assert_status(dsl_pool_reserve(p, BYTES), DSL_OK);
	b->fake->capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	assert_status(dsl_pool_launch(p, b->mod, "gemm", args, GEMM_ARGS, NULL),
		      DSL_ERR_SEMAPHORES);
	assert_says(dsl_detail(), "the pool has no semaphores", "launch once before", NULL);
	b->fake->capture = CU_STREAM_CAPTURE_STATUS_NONE;
	b->fake->fail = "cuMemsetD8";
	b->fake->code = CUDA_ERROR_UNKNOWN;
	b->fake->after = 0;
	assert_status(dsl_pool_launch(p, b->mod, "gemm", args, GEMM_ARGS, NULL), DSL_ERR_CUDA);
	b->fake->fail = NULL;
	assert_int_equal(b->fake->allocs, 1);
	assert_status(dsl_pool_launch(p, b->mod, "gemm", args, GEMM_ARGS, NULL), DSL_OK);
	assert_int_equal(b->fake->allocs, 2);
	const uint64_t *words = (const uint64_t *)(uintptr_t)param(b, 2);
	for (int i = 0; i < DSL_SEMAPHORES / 8; i++)
		assert_int_equal(words[i], 0);
	b->fake->capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	assert_status(dsl_pool_launch(p, b->mod, "gemm", args, GEMM_ARGS, NULL), DSL_OK);
	b->fake->capture = CU_STREAM_CAPTURE_STATUS_NONE;
	assert_int_equal(b->fake->allocs, 2);
	assert_status(dsl_pool_destroy(p), DSL_OK);
	assert_int_equal(b->fake->allocs, 0);
}

static void what_the_manifest_says(void **state)
{
	Bench *b = *state;
	assert_status(sample_parse_with(&b->sample.module, "\"work\":0", "\"work\":0"), DSL_OK);
	assert_status(sample_parse_with(&b->sample.module, "\"work\":0", "\"work\":1"),
		      DSL_ERR_MANIFEST);
	assert_says(dsl_detail(), "work is 1", NULL);
	assert_status(sample_parse_with(&b->sample.module, "\"together\":true", "\"together\":1"),
		      DSL_ERR_MANIFEST);
	assert_status(sample_parse_with(&b->sample.module, "\"together\":true",
					"\"together\":false"),
		      DSL_ERR_MANIFEST);
	assert_says(dsl_detail(), "semaphores of CTAs that neither wait for each other", NULL);
	assert_status(sample_parse_with(&b->sample.module, "\"workspace\":[", "\"workspace\":[1,"),
		      DSL_ERR_MANIFEST);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, bench_open, bench_close)
	const struct CMUnitTest tests[] = {
		T(what_is_passed), T(as_many_as_run_at_one_time), T(semaphores_are_asked_for),
		T(from_a_pool),    T(what_the_manifest_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
