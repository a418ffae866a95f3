/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* launch.c - launches against the fake driver: what the driver is told when all is well, and the
 * sentence for everything that is not. */
#include "sample.h"

#include <string.h>

typedef struct {
	Fake *fake;
	dsl_device *dev;
	dsl_module *mod;
	Sample sample;
} Bench;

static int bench_open(void **state)
{
	static Bench b;
	b.fake = fake_reset();
	b.fake->kernel_params = 6;
	sample_fill(&b.sample);
	b.dev = device_open();
	b.mod = module_open(b.dev, &b.sample.module);
	*state = &b;
	return 0;
}

static int bench_close(void **state)
{
	Bench *b = *state;
	assert_int_equal(b->fake->depth, 0);
	dsl_device_close(b->dev);
	return 0;
}

static dsl_status gemm(Bench *b, const dsl_arg *args)
{
	return dsl_launch(b->mod, "gemm", args, GEMM_ARGS, NULL, NULL);
}

/* The launch fails with this status and these words, in dsl_can_run's two forms as well, and
 * nothing reaches the device. */
static void assert_refused(Bench *b, const dsl_arg *args, size_t n, dsl_status wanted,
			   const char *word1, const char *word2)
{
	char why[256];
	assert_status(dsl_launch(b->mod, "gemm", args, n, NULL, NULL), wanted);
	assert_says(dsl_detail(), word1, word2, NULL);
	dsl_sync(NULL); /* another sentence */
	assert_status(dsl_can_run(b->mod, "gemm", args, n, why, sizeof why), wanted);
	assert_says(why, word1, word2, NULL);
	assert_says(dsl_detail(), word1, word2, NULL);
	why[0] = 0;
	assert_status(dsl_desc_can_run(&b->sample.kernel[0], args, n, why, sizeof why), wanted);
	assert_says(why, word1, word2, NULL);
	assert_int_equal(b->fake->launches, 0);
	assert_int_equal(b->fake->nmaps, 0);
}

static void what_the_driver_is_told(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	sample_args(args, 1000, 520, 4096);
	assert_status(gemm(b, args), DSL_OK);
	const Fake *f = b->fake;
	assert_int_equal(f->launches, 1);
	assert_int_equal(f->syncs, 0);
	assert_int_equal(f->smem_set, 0); /* the kernel loaded last has none */
	assert_int_equal(f->config.gridDimX, 8 * 3);
	assert_int_equal(f->config.gridDimY, 1);
	assert_int_equal(f->config.blockDimX, 384);
	assert_int_equal(f->config.sharedMemBytes, 200000);
	assert_int_equal(f->config.numAttrs, 0);
	assert_null(f->config.hStream);
	assert_int_equal(f->nmaps, 3);
	const FakeMap *d = &f->maps[2];
	assert_true(d->type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 && d->rank == 2 && d->aligned);
	assert_true(d->address == 0x30000000 && d->dims[0] == 520 && d->dims[1] == 1000);
	assert_true(d->strides[0] == 1040 && d->box[0] == 32 && d->box[1] == 64);
	assert_true(d->swizzle == CU_TENSOR_MAP_SWIZZLE_64B);
	assert_true(d->promotion == CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
	assert_true(f->maps[0].swizzle == CU_TENSOR_MAP_SWIZZLE_128B && f->maps[0].box[1] == 128);
	assert_true(f->params[0] == 0x10000 &&
		    f->params[2] == 0x30000000); /* the fake's map bytes */
	assert_true(f->params[3] == 1000 && f->params[4] == 520 && f->params[5] == 4096);
}

static void order_of_arguments_is_free(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS], turned[GEMM_ARGS];
	sample_args(args, 128, 256, 64);
	for (int i = 0; i < GEMM_ARGS; i++)
		turned[i] = args[GEMM_ARGS - 1 - i];
	assert_status(gemm(b, turned), DSL_OK);
	assert_true(b->fake->params[3] == 128 && b->fake->params[0] == 0x10000);
}

static void launching_does_little(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	sample_args(args, 128, 256, 64);
	int before = b->fake->calls;
	assert_status(gemm(b, args), DSL_OK);
	/* current context asked and pushed, three maps, one launch */
	assert_int_equal(b->fake->calls - before, 6);
}

static void scalars_options_and_clusters(void **state)
{
	Bench *b = *state;
	dsl_arg args[] = {dsl_arg_ptr("x", 0x100), dsl_arg_float("alpha", 1.5),
			  dsl_arg_float("beta", 1.00390625), dsl_arg_int("n", -3),
			  dsl_arg_int("N", 64)};
	dsl_launch_opts opts = {.size = sizeof opts, .sms = 101};
	b->fake->kernel_params = 5;
	assert_status(dsl_launch(b->mod, "scale", args, 5, (dsl_stream)&opts, &opts), DSL_OK);
	const Fake *f = b->fake;
	assert_true(f->params[0] == 0x100 && (uint32_t)f->params[1] == 0x3fc00000);
	assert_true((uint16_t)f->params[2] == 0x3f80 && (int32_t)f->params[3] == -3);
	assert_int_equal(f->config.gridDimX, 100); /* 101 SMs in clusters of two */
	assert_ptr_equal(f->config.hStream, &opts);
	assert_int_equal(f->config.numAttrs, 2);
	assert_true(f->attributes[0].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
		    f->attributes[0].value.clusterDim.x == 2);
	assert_true(f->attributes[1].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
	opts.pdl = -1; /* off, whatever the kernel was compiled for */
	assert_status(dsl_launch(b->mod, "scale", args, 5, NULL, &opts), DSL_OK);
	assert_int_equal(f->config.numAttrs, 1);
	opts.sms = 9999;
	assert_status(dsl_launch(b->mod, "scale", args, 5, NULL, &opts), DSL_OK);
	assert_int_equal(f->config.gridDimX, 132);
	opts.sms = -1;
	assert_status(dsl_launch(b->mod, "scale", args, 5, NULL, &opts), DSL_ERR_INVALID);
	args[3].v.i = INT64_C(1) << 31;
	assert_status(dsl_launch(b->mod, "scale", args, 5, NULL, NULL), DSL_ERR_ARG_VALUE);
	assert_says(dsl_detail(), "n", "2147483648", "s32", NULL);
	args[3] = dsl_arg_float("n", 3);
	assert_status(dsl_launch(b->mod, "scale", args, 5, NULL, NULL), DSL_ERR_ARG_TYPE);
	args[3] = dsl_arg_int("n", 3);
	args[1] = dsl_arg_int("alpha", 3);
	assert_status(dsl_launch(b->mod, "scale", args, 5, NULL, NULL), DSL_ERR_ARG_TYPE);
	assert_says(dsl_detail(), "alpha", "f32 scalar", "dsl_arg_float", NULL);
	args[1] = dsl_arg_float("alpha", 3);
	args[4].v.i = 63;
	assert_status(dsl_launch(b->mod, "scale", args, 5, NULL, NULL), DSL_ERR_FACT);
	assert_says(dsl_detail(), "N % 8 == 0", "N = 63", "where clause", NULL);
	args[4].v.i = 64;
	args[0].v.ptr = 0x102; /* f32 on 4 bytes */
	assert_status(dsl_launch(b->mod, "scale", args, 5, NULL, NULL), DSL_ERR_ALIGN);
}

static void wrong_arguments(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS + 1];
	sample_args(args, 128, 256, 64);
	assert_refused(b, args, 5, DSL_ERR_ARG_MISSING, "gemm", "K");
	assert_refused(b, NULL, 0, DSL_ERR_ARG_MISSING, "A, B, D, M, N, K", "");
	assert_refused(b, NULL, 3, DSL_ERR_INVALID, "args", "NULL");
	args[GEMM_ARGS] = dsl_arg_int("M", 128);
	assert_refused(b, args, GEMM_ARGS + 1, DSL_ERR_ARG_TWICE, "M", "twice");
	args[GEMM_ARGS] = dsl_arg_int("Q", 128);
	assert_refused(b, args, GEMM_ARGS + 1, DSL_ERR_ARG_NAME, "Q", "A, B, D, M, N, K");
	args[GEMM_ARGS] = dsl_arg_int(NULL, 128);
	assert_refused(b, args, GEMM_ARGS + 1, DSL_ERR_INVALID, "6", "no name");
	args[GEMM_A] = dsl_arg_int("A", 128);
	assert_refused(b, args, GEMM_ARGS, DSL_ERR_ARG_TYPE, "bf16 tensor", "an integer");
	args[GEMM_A] = dsl_arg_ptr("A", 0x10000);
	args[GEMM_K] = dsl_arg_float("K", 64);
	assert_refused(b, args, GEMM_ARGS, DSL_ERR_ARG_TYPE, "size", "a float");
	args[GEMM_K] = dsl_arg_ptr("K", 64);
	assert_refused(b, args, GEMM_ARGS, DSL_ERR_ARG_TYPE, "K", "an address");
	args[GEMM_K].kind = (dsl_kind)77;
	assert_refused(b, args, GEMM_ARGS, DSL_ERR_ARG_TYPE, "K",
		       "got a kind that dsl.h does not have");
}

static void wrong_addresses(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	for (int i = GEMM_A; i <= GEMM_D; i++) {
		sample_args(args, 128, 256, 64);
		args[i].v.ptr = 0;
		assert_refused(b, args, GEMM_ARGS, DSL_ERR_NULL, args[i].name, "null");
		args[i].v.ptr = 0x1008;
		assert_refused(b, args, GEMM_ARGS, DSL_ERR_ALIGN, "0x1008", "16 bytes, which TMA");
		args[i].v.ptr = 0x1001;
		assert_refused(b, args, GEMM_ARGS, DSL_ERR_ALIGN, "0x1001", "2 bytes");
	}
}

/* A tensor that TMA cannot take: by its stride, by its address. The kernel is told, and no map
 * made. */
static void optional_maps(void **state)
{
	static const struct {
		int64_t n;
		dsl_addr d;
		int made;
	} rows[] = {{256, 0x30000000, 1},
		    {260, 0x30000000, 0},
		    {256, 0x30000008, 0},
		    {1, 0x30000004, 0}};
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	char why[256] = "";
	sample_two_ways(&b->sample);
	dsl_module *mod = module_open(b->dev, &b->sample.module);
	b->fake->kernel_params = 7;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		sample_args(args, 128, rows[i].n, 64);
		args[GEMM_D].v.ptr = rows[i].d;
		b->fake->nmaps = 0;
		assert_status(dsl_launch(mod, "gemm", args, GEMM_ARGS, NULL, NULL), DSL_OK);
		assert_int_equal(b->fake->nmaps, 2 + rows[i].made);
		assert_true(b->fake->params[6] == (uint64_t)rows[i].made);
		assert_true(b->fake->params[2] == (rows[i].made ? rows[i].d : 0));
		assert_status(dsl_desc_can_run(&b->sample.kernel[0], args, GEMM_ARGS, why, 256),
			      DSL_OK);
		assert_string_equal(why, "");
	}
	args[GEMM_D].v.ptr = 0x30000002;
	assert_status(dsl_launch(mod, "gemm", args, GEMM_ARGS, NULL, NULL), DSL_ERR_ALIGN);
	assert_says(dsl_detail(), "0x30000002", "4 bytes, which the kernel's widest access", NULL);
	args[GEMM_D].v.ptr = 0;
	assert_status(dsl_launch(mod, "gemm", args, GEMM_ARGS, NULL, NULL), DSL_ERR_NULL);
	sample_args(args, 128, 256, 60);
	assert_status(dsl_launch(mod, "gemm", args, GEMM_ARGS, NULL, NULL), DSL_ERR_STRIDE);
}

static void wrong_sizes(void **state)
{
	static const struct {
		int64_t m, n, k;
		dsl_status status;
		const char *word1, *word2;
	} rows[] = {
		{128, 256, 257, DSL_ERR_STRIDE, "tensor A",
		 "K * 2 = 514 bytes is not a multiple of 16"},
		{128, 260, 64, DSL_ERR_STRIDE, "tensor D", "N * 2 = 520"},
		{-1, 256, 64, DSL_ERR_EXTENT, "tensor A", "negative: M = -1"},
		{128, -8, 64, DSL_ERR_EXTENT, "tensor B", "N = -8"},
		{128, 256, INT64_MIN, DSL_ERR_EXTENT, "tensor A", "K = -9223372036854775808"},
		{INT64_C(1) << 31, 256, 64, DSL_ERR_FACT, "M < 2147483648", "M = 2147483648"},
		{128, INT64_C(1) << 31, 64, DSL_ERR_FACT, "N = 2147483648", "32-bit"},
		{INT64_MAX, 1, INT64_MAX, DSL_ERR_EXTENT, "tensor A", "63 bits"},
		{1 << 30, 256, 1 << 30, DSL_ERR_EXTENT, "tensor A", "63 bits"},
		{INT64_MAX, 0, 0, DSL_ERR_FACT, "M", "9223372036854775807"},
		{1, 8, (INT64_C(1) << 32) + 8, DSL_ERR_EXTENT, "tensor A", "2^32"},
		{1 << 30, 1 << 20, 8, DSL_ERR_GRID, "grid.x", "2147483647"},
	};
	Bench *b = *state;
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		dsl_arg args[GEMM_ARGS];
		sample_args(args, rows[i].m, rows[i].n, rows[i].k);
		assert_refused(b, args, GEMM_ARGS, rows[i].status, rows[i].word1, rows[i].word2);
	}
}

static void no_output_launches_nothing(void **state)
{
	Bench *b = *state;
	static const int64_t sizes[][3] = {{0, 256, 64}, {128, 0, 64}, {0, 0, 0}, {0, 3, 5}};
	for (size_t i = 0; i < COUNTOF(sizes); i++) {
		dsl_arg args[GEMM_ARGS];
		sample_args(args, sizes[i][0], sizes[i][1], sizes[i][2]);
		args[GEMM_A].v.ptr = args[GEMM_D].v.ptr = 0;
		assert_status(gemm(b, args), DSL_OK);
	}
	assert_int_equal(b->fake->launches, 0);
	assert_int_equal(b->fake->nmaps, 0);
}

/* B has none: its map has one element, at the address of a tensor that has some, or at 16. */
static void tensors_without_elements(void **state)
{
	static const struct {
		int64_t m, n, k;
		dsl_addr a, d, map;
	} rows[] = {
		{128, 256, 0, 0, 0x30000000, 0x30000000},
		{128, 256, 0, 0, 0x30000008, 0x30000000},
		{128, 0, 64, 0x10000, 0, 0x10000},
		{0, 0, 64, 0, 0, 16},
	};
	Bench *b = *state;
	KDesc *k = &b->sample.kernel[0];
	dsl_arg args[GEMM_ARGS];
	sample_two_ways(&b->sample);
	k->grid[0] = "1";
	dsl_module *mod = module_open(b->dev, &b->sample.module);
	b->fake->kernel_params = 7;
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		sample_args(args, rows[i].m, rows[i].n, rows[i].k);
		args[GEMM_A].v.ptr = rows[i].a;
		args[GEMM_D].v.ptr = rows[i].d;
		b->fake->nmaps = 0;
		assert_status(dsl_launch(mod, "gemm", args, GEMM_ARGS, NULL, NULL), DSL_OK);
		const FakeMap *map = &b->fake->maps[1];
		assert_true(map->address == rows[i].map && map->strides[0] == 16);
		assert_true(map->dims[0] == 1 && map->dims[1] == 1);
	}
	sample_args(args, 128, 256, 0);
	args[GEMM_A].v.ptr = 0;
	k->args[GEMM_A].shape[0] = "K", k->args[GEMM_A].shape[1] = "M";
	assert_status(dsl_desc_can_run(k, args, GEMM_ARGS, NULL, 0), DSL_OK);
}

static void small_maps_are_repaired_on_old_drivers(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	const uint64_t bit = UINT64_C(1) << 21;
	sample_args(args, 128, 512, 128); /* A 32 KiB, B 128 KiB, D 128 KiB */
	assert_status(gemm(b, args), DSL_OK);
	assert_true(b->fake->map_word[0] == ~bit);
	assert_true(b->fake->map_word[1] == UINT64_MAX && b->fake->map_word[2] == UINT64_MAX);
	dsl_device_close(b->dev);
	b->fake->driver = 13020;
	b->dev = device_open();
	b->mod = module_open(b->dev, &b->sample.module);
	assert_status(gemm(b, args), DSL_OK);
	assert_true(b->fake->map_word[0] == UINT64_MAX);
}

static void launches_that_the_driver_refuses(void **state)
{
	static const struct {
		const char *call;
		CUresult code;
		dsl_status status;
		const char *word1, *word2;
	} rows[] = {
		{"cuTensorMapEncodeTiled", CUDA_ERROR_INVALID_VALUE, DSL_ERR_TENSOR_MAP,
		 "tensor A of kernel gemm",
		 "dims 64 x 128, byte strides 128, box 64 x 128, swizzle 128"},
		{"cuTensorMapEncodeTiled", CUDA_ERROR_ILLEGAL_ADDRESS, DSL_ERR_STICKY, "before",
		 "ILLEGAL_ADDRESS"},
		{"cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, DSL_ERR_RESOURCES,
		 "384 threads", "200000 bytes"},
		{"cuLaunchKernelEx", CUDA_ERROR_INVALID_CLUSTER_SIZE, DSL_ERR_RESOURCES, "cluster",
		 "1 x 1"},
		{"cuLaunchKernelEx", CUDA_ERROR_MISALIGNED_ADDRESS, DSL_ERR_STICKY, "cuLaunch",
		 "716"},
		{"cuLaunchKernelEx", CUDA_ERROR_UNKNOWN, DSL_ERR_CUDA, "cuLaunchKernelEx", "999"},
		{"cuCtxGetCurrent", CUDA_ERROR_DEINITIALIZED, DSL_ERR_CUDA, "cuCtxGetCurrent", ""},
	};
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	sample_args(args, 128, 256, 64);
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		b->fake->fail = rows[i].call;
		b->fake->code = rows[i].code;
		b->fake->after = 0;
		assert_status(gemm(b, args), rows[i].status);
		assert_says(dsl_detail(), rows[i].word1, rows[i].word2, NULL);
		assert_int_equal(b->fake->depth, 0);
	}
	b->fake->fail = NULL;
	assert_int_equal(b->fake->launches, 0);
}

/* The encode says "invalid value" while the stream holds an earlier failure; during a capture the
 * stream is not asked. */
static void an_earlier_failure_is_not_blamed_on_the_map(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	sample_args(args, 128, 256, 64);
	args[GEMM_A].v.ptr = 0x10000;
	b->fake->sticky = true;
	b->fake->fail = "cuTensorMapEncodeTiled";
	b->fake->code = CUDA_ERROR_INVALID_VALUE;
	assert_status(gemm(b, args), DSL_ERR_STICKY);
	b->fake->after = 0;
	b->fake->capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	assert_status(gemm(b, args), DSL_ERR_TENSOR_MAP);
}

static void wrong_calls(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	char why[16];
	sample_args(args, 128, 256, 64);
	assert_status(dsl_launch(b->mod, "gem", args, GEMM_ARGS, NULL, NULL), DSL_ERR_KERNEL_NAME);
	assert_says(dsl_detail(), "gem;", "gemm, scale", NULL);
	assert_status(dsl_launch(NULL, "gemm", args, GEMM_ARGS, NULL, NULL), DSL_ERR_INVALID);
	assert_status(dsl_launch(b->mod, NULL, args, GEMM_ARGS, NULL, NULL), DSL_ERR_INVALID);
	assert_status(dsl_can_run(b->mod, "x", args, GEMM_ARGS, why, sizeof why),
		      DSL_ERR_KERNEL_NAME);
	assert_int_equal(strlen(why), sizeof why - 1);
	assert_status(dsl_can_run(NULL, "x", args, GEMM_ARGS, NULL, 0), DSL_ERR_INVALID);
	assert_says(dsl_detail(), "dsl_can_run: mod is NULL", NULL);
	assert_status(dsl_desc_can_run(NULL, args, GEMM_ARGS, NULL, 0), DSL_ERR_INVALID);
	assert_status(dsl_can_run(b->mod, "gemm", args, GEMM_ARGS, NULL, 0), DSL_OK);
	assert_status(dsl_can_run(b->mod, "gemm", args, 2, NULL, 0), DSL_ERR_ARG_MISSING);
}

/* A struct without its size is refused; one of a later version, which is longer, is taken. */
static void structs_tell_their_size(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	struct {
		dsl_launch_opts opts;
		int later;
	} longer = {.opts = {.size = sizeof longer, .sms = 1}};
	dsl_launch_opts none = {.sms = 1};
	dsl_raw raw = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
	dsl_map map = {.elem = "f32"};
	char out[128];
	sample_args(args, 128, 256, 64);
	assert_status(dsl_launch(b->mod, "gemm", args, GEMM_ARGS, NULL, &none), DSL_ERR_INVALID);
	assert_says(dsl_detail(), "dsl_launch_opts is 0", "sizeof(dsl_launch_opts)", NULL);
	assert_status(dsl_launch(b->mod, "gemm", args, GEMM_ARGS, NULL, &longer.opts), DSL_OK);
	assert_status(dsl_launch_raw(b->mod, "gemm", &raw), DSL_ERR_INVALID);
	assert_says(dsl_detail(), "sizeof(dsl_raw)", NULL);
	assert_status(dsl_tensor_map(b->dev, &map, out), DSL_ERR_INVALID);
	assert_says(dsl_detail(), "sizeof(dsl_map)", NULL);
}

static void from_the_text_of_a_manifest(void **state)
{
	Bench *b = *state;
	const char *text = dsl_module_manifest(b->mod);
	dsl_arg args[GEMM_ARGS];
	char why[256];
	sample_args(args, 128, 256, 64);
	assert_status(dsl_manifest_can_run(text, strlen(text), "gemm", args, GEMM_ARGS, NULL, 0),
		      DSL_OK);
	sample_args(args, 128, 256, 63);
	assert_status(dsl_manifest_can_run(text, strlen(text), "gemm", args, GEMM_ARGS, why,
					   sizeof why),
		      DSL_ERR_STRIDE);
	assert_says(why, "tensor A", NULL);
	assert_string_equal(dsl_detail(), why);
	assert_status(dsl_manifest_can_run(text, strlen(text), "gem", args, GEMM_ARGS, why,
					   sizeof why),
		      DSL_ERR_KERNEL_NAME);
	assert_says(why, "gem;", "gemm, scale", NULL);
	assert_status(dsl_manifest_can_run("{", 1, "gemm", args, GEMM_ARGS, why, sizeof why),
		      DSL_ERR_MANIFEST);
	assert_string_equal(dsl_detail(), why);
	assert_status(dsl_manifest_can_run(NULL, 0, "gemm", args, GEMM_ARGS, why, sizeof why),
		      DSL_ERR_INVALID);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_open, bench_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_the_driver_is_told),
		TEST(order_of_arguments_is_free),
		TEST(launching_does_little),
		TEST(scalars_options_and_clusters),
		TEST(structs_tell_their_size),
		TEST(from_the_text_of_a_manifest),
		TEST(wrong_arguments),
		TEST(wrong_addresses),
		TEST(optional_maps),
		TEST(wrong_sizes),
		TEST(no_output_launches_nothing),
		TEST(tensors_without_elements),
		TEST(small_maps_are_repaired_on_old_drivers),
		TEST(launches_that_the_driver_refuses),
		TEST(an_earlier_failure_is_not_blamed_on_the_map),
		TEST(wrong_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
