/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ways.c - tensors that TMA cannot take where they lie, against the fake driver: what a launch asks
 * of its workspace, what it enqueues, what pools and packed tensors do. */
#include "sample.h"

#include "runtime/gpu.h"

#include <string.h>

enum { M = 128, N = 256, K = 67, PITCH = 256, A_BYTES = M * PITCH, B_BYTES = N * PITCH };
static const dsl_addr space = 0x100000;

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
	sample_copies(&b.sample);
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
	assert_int_equal(b->fake->modules, 0);
	assert_int_equal(b->fake->allocs, 0);
	return 0;
}

static size_t asked(Bench *b, const dsl_arg *args)
{
	size_t bytes = 1;
	assert_status(dsl_workspace_size(b->mod, "gemm", args, GEMM_ARGS, &bytes), DSL_OK);
	return bytes;
}

static dsl_status launch(Bench *b, const dsl_arg *args, dsl_addr at, size_t size, int pdl)
{
	dsl_launch_opts opts = {.size = sizeof opts,
				.pdl = pdl,
				.workspace = at,
				.workspace_size = size};
	return dsl_launch(b->mod, "gemm", args, GEMM_ARGS, NULL, &opts);
}

/* The workspace shares no byte with an argument, nor leaves the address space. */
static void workspace_of_its_own(void **state)
{
	static const struct {
		dsl_addr at;
		size_t more; /* than is needed */
		const char *tensor;
	} rows[] = {
		{0x10000, 0, "tensor A"},
		{0x10000 + (M * K * 2 - 1) / 128 * 128, 0, "tensor A"},
		{0x20000 - A_BYTES - B_BYTES + 128, 0, "tensor A"},
		{0x20000, 0, "tensor B"},
		{0x30000000 + M * N * 2 - 128, 0, "tensor D"},
		{0x30000000 - A_BYTES - B_BYTES, 0, NULL},
		{0x30000000 + M * N * 2, 0, NULL},
		{0x30000000 - A_BYTES - B_BYTES, 1 << 20, NULL}, /* which the launch leaves alone */
	};
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	sample_args(args, M, N, K);
	size_t bytes = asked(b, args);
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		int before = b->fake->launches;
		assert_status(launch(b, args, rows[i].at, bytes + rows[i].more, 0),
			      rows[i].tensor ? DSL_ERR_OVERLAP : DSL_OK);
		assert_int_equal(b->fake->launches - before, rows[i].tensor ? 0 : 2);
		if (rows[i].tensor)
			assert_says(dsl_detail(), "kernel gemm writes the workspace, 98304 bytes",
				    rows[i].tensor, NULL);
	}
	assert_status(launch(b, args, space, SIZE_MAX - space + 1, 0), DSL_ERR_INVALID);
	assert_says(dsl_detail(), "bytes of workspace at 0x100000 leave the address space", NULL);
	assert_status(launch(b, args, space, SIZE_MAX - space, 0), DSL_OK);
	sample_args(args, M, N, 64);
	assert_status(launch(b, args, 0x10000, bytes, 0), DSL_OK); /* needs none */
}

/* What TMA takes needs nothing, loads nothing and is launched as ever. */
static void aligned_needs_nothing(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	sample_args(args, M, N, 64);
	int modules = b->fake->modules;
	assert_int_equal(asked(b, args), 0);
	assert_int_equal(b->fake->modules, modules);
	int before = b->fake->calls;
	assert_status(launch(b, args, 0, 0, 0), DSL_OK);
	assert_int_equal(b->fake->calls - before, 6);
	assert_int_equal(b->fake->launches, 1);
	args[GEMM_A].v.ptr = 0; /* K = 0 reads nothing, so nothing is copied */
	args[GEMM_K].v.i = 0;
	args[GEMM_B].v.ptr = 0x20002;
	assert_int_equal(asked(b, args), 0);
	assert_status(launch(b, args, 0, 0, 0), DSL_OK);
	sample_args(args, 0, N, K);
	assert_int_equal(asked(b, args), 0);
}

static void bytes_of_copies(void **state)
{
	static const struct {
		int64_t k;
		dsl_addr a, b;
		size_t bytes;
	} rows[] = {
		{K, 0x10000, 0x20000, A_BYTES + B_BYTES}, {64, 0x10002, 0x20000, M * 128},
		{64, 0x10000, 0x2000e, N * 128},          {64, 0x10008, 0x2000e, (M + N) * 128},
		{1, 0x10000, 0x20000, (M + N) * 128},     {65, 0x10000, 0x20000, (M + N) * 256},
	};
	Bench *b = *state;
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		dsl_arg args[GEMM_ARGS];
		sample_args(args, M, N, rows[i].k);
		args[GEMM_A].v.ptr = rows[i].a;
		args[GEMM_B].v.ptr = rows[i].b;
		assert_int_equal(asked(b, args), rows[i].bytes);
		bool strides = rows[i].k % 8 && rows[i].a % 16 == 0;
		assert_status(dsl_can_run(b->mod, "gemm", args, GEMM_ARGS, NULL, 0),
			      strides ? DSL_ERR_STRIDE : DSL_ERR_ALIGN);
	}
}

static void copies_then_the_kernel(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	sample_args(args, M, N, K);
	args[GEMM_A].v.ptr = 0x10002;
	size_t bytes = asked(b, args);
	int before = b->fake->calls;
	assert_status(launch(b, args, space, bytes, 0), DSL_OK);
	const Fake *f = b->fake;
	assert_int_equal(f->launches, 2);
	assert_int_equal(f->allocs, 0);
	assert_int_equal(f->syncs, 0);
	assert_true(f->calls - before < 20);
	const CUlaunchConfig *copy = &f->launch[0], *gemm = &f->launch[1];
	assert_int_equal(copy->blockDimX, 256);
	assert_true(copy->gridDimX >= 2 && copy->numAttrs == 1);
	assert_true(gemm->blockDimX == 384 && gemm->numAttrs == 1);
	assert_true(f->attributes[0].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
	assert_int_equal(f->nmaps, 3);
	assert_true(f->maps[0].address == space && f->maps[0].strides[0] == PITCH);
	assert_true(f->maps[0].dims[0] == K && f->maps[0].dims[1] == M);
	assert_true(f->maps[1].address == space + A_BYTES && f->maps[1].strides[0] == PITCH);
	assert_true(f->maps[2].address == 0x30000000 && f->maps[2].strides[0] == 2 * N);
	assert_status(launch(b, args, space, bytes, -1), DSL_OK);
	assert_true(f->launch[2].numAttrs == 0 && f->launch[3].numAttrs == 0);
}

static void one_byte_short(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	struct {
		size_t size;
		int sms, pdl;
	} opts_0_2 = {sizeof opts_0_2, 0, 0};
	sample_args(args, M, N, K);
	size_t bytes = asked(b, args);
	assert_int_equal(bytes, 98304);
	assert_status(launch(b, args, space, bytes - 1, 0), DSL_ERR_WORKSPACE);
	assert_says(dsl_detail(), "kernel gemm: 98304 bytes", "tensor A", "98303 were given", NULL);
	assert_status(launch(b, args, 0, 0, 0), DSL_ERR_WORKSPACE);
	assert_says(dsl_detail(), "98304 bytes", "0 were given", NULL);
	assert_status(dsl_launch(b->mod, "gemm", args, GEMM_ARGS, NULL, NULL), DSL_ERR_STRIDE);
	assert_says(dsl_detail(), "tensor A", "K * 2 = 134", "given workspace copies", NULL);
	assert_status(dsl_launch(b->mod, "gemm", args, GEMM_ARGS, NULL, (void *)&opts_0_2),
		      DSL_ERR_STRIDE);
	assert_status(launch(b, args, 0, bytes, 0), DSL_ERR_ALIGN);
	assert_status(launch(b, args, space + 64, bytes, 0), DSL_ERR_ALIGN);
	assert_says(dsl_detail(), "workspace 0x100040", "128", NULL);
	assert_int_equal(b->fake->launches, 0);
	assert_status(launch(b, args, space, bytes, 0), DSL_OK);
}

/* Of strides, only what a copy mends; of outputs nothing. */
static void what_no_copy_mends(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	size_t bytes = 1;
	sample_args(args, M, 260, K);
	assert_status(dsl_workspace_size(b->mod, "gemm", args, GEMM_ARGS, &bytes), DSL_ERR_STRIDE);
	assert_says(dsl_detail(), "tensor D", "520", NULL);
	assert_int_equal(bytes, 0);
	sample_args(args, M, N, K);
	args[GEMM_D].v.ptr = 0x30000008;
	assert_status(launch(b, args, space, 1 << 20, 0), DSL_ERR_ALIGN);
	args[GEMM_D].v.ptr = 0x30000000;
	args[GEMM_A].v.ptr = 0x10001; /* half an element */
	assert_status(launch(b, args, space, 1 << 20, 0), DSL_ERR_ALIGN);
	assert_says(dsl_detail(), "tensor A", "2 bytes", NULL);
	sample_args(args, 1, 8, (INT64_C(1) << 32) + 3);
	assert_status(launch(b, args, space, 1 << 20, 0), DSL_ERR_EXTENT);
	assert_status(dsl_workspace_size(b->mod, "gem", args, GEMM_ARGS, &bytes),
		      DSL_ERR_KERNEL_NAME);
	assert_status(dsl_workspace_size(NULL, "gemm", args, GEMM_ARGS, &bytes), DSL_ERR_INVALID);
	assert_status(dsl_workspace_size(b->mod, "gemm", args, GEMM_ARGS, NULL), DSL_ERR_INVALID);
	assert_int_equal(b->fake->launches, 0);
}

/* A launch loads nothing, so that it may be captured. */
static void a_launch_loads_nothing(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	sample_args(args, M, N, K);
	int modules = b->fake->modules;
	assert_status(launch(b, args, space, 1 << 20, 0), DSL_ERR_WORKSPACE);
	assert_says(dsl_detail(), "dsl_workspace_size", "not loaded", NULL);
	assert_int_equal(b->fake->modules, modules);
	b->fake->fail = "cuFuncSetAttribute"; /* which has the function loaded, too */
	b->fake->code = CUDA_ERROR_UNKNOWN;
	b->fake->after = 0;
	size_t bytes;
	assert_status(dsl_workspace_size(b->mod, "gemm", args, GEMM_ARGS, &bytes), DSL_ERR_CUDA);
	b->fake->fail = NULL;
	asked(b, args);
	assert_int_equal(b->fake->modules, modules + 1);
	asked(b, args);
	assert_int_equal(b->fake->modules, modules + 1);
	assert_status(launch(b, args, space, 1 << 20, 0), DSL_OK);
}

static void a_copy_that_the_driver_refuses(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	sample_args(args, M, N, K);
	asked(b, args);
	b->fake->fail = "cuLaunchKernelEx";
	b->fake->code = CUDA_ERROR_UNKNOWN;
	b->fake->after = 0;
	assert_status(launch(b, args, space, 1 << 20, 0), DSL_ERR_CUDA);
	b->fake->after = 1; /* the kernel after it */
	assert_status(launch(b, args, space, 1 << 20, 0), DSL_ERR_CUDA);
	b->fake->fail = NULL;
	assert_int_equal(b->fake->launches, 1);
}

/* ------------------------------------------------------------------ pools */
static void pools_grow(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	dsl_pool *p = NULL;
	dsl_launch_opts opts = {.size = sizeof opts, .workspace = 1, .workspace_size = 1};
	assert_status(dsl_pool_create(b->dev, NULL, &p), DSL_OK);
	sample_args(args, M, N, 64);
	assert_status(dsl_pool_launch(p, b->mod, "gemm", args, GEMM_ARGS, NULL), DSL_OK);
	assert_int_equal(b->fake->allocs, 0); /* nothing is needed */
	args[GEMM_K].v.i = K;
	for (int i = 0; i < 3; i++)
		assert_status(dsl_pool_launch(p, b->mod, "gemm", args, GEMM_ARGS, &opts), DSL_OK);
	assert_int_equal(b->fake->allocs, 1);
	assert_int_equal(b->fake->launches, 1 + 3 * 2);
	uint64_t first = b->fake->maps[3].address;
	assert_true(first && b->fake->maps[6].address == first);
	args[GEMM_M].v.i = 4 * M;
	b->fake->nmaps = 0;
	assert_status(dsl_pool_launch(p, b->mod, "gemm", args, GEMM_ARGS, NULL), DSL_OK);
	assert_int_equal(b->fake->allocs, 2); /* the first one stays: a graph may have it */
	assert_true(b->fake->maps[0].address != first);
	args[GEMM_K].v.i = -1;
	assert_status(dsl_pool_launch(p, b->mod, "gemm", args, GEMM_ARGS, NULL), DSL_ERR_EXTENT);
	opts.size = 0;
	assert_status(dsl_pool_launch(p, b->mod, "gemm", args, GEMM_ARGS, &opts), DSL_ERR_INVALID);
	assert_status(dsl_pool_launch(NULL, b->mod, "gemm", args, GEMM_ARGS, NULL),
		      DSL_ERR_INVALID);
	assert_status(dsl_pool_destroy(p), DSL_OK);
	assert_int_equal(b->fake->allocs, 0);
	assert_status(dsl_pool_destroy(NULL), DSL_OK);
	assert_status(dsl_pool_create(NULL, NULL, &p), DSL_ERR_INVALID);
	assert_status(dsl_pool_create(b->dev, NULL, NULL), DSL_ERR_INVALID);
}

/* While its stream is captured a pool gives what it has, and does not grow. */
static void pools_in_captures(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	dsl_pool *p = NULL;
	sample_args(args, M, N, K);
	assert_status(dsl_pool_create(b->dev, NULL, &p), DSL_OK);
	b->fake->capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	assert_status(dsl_pool_launch(p, b->mod, "gemm", args, GEMM_ARGS, NULL), DSL_ERR_WORKSPACE);
	assert_says(dsl_detail(), "pool has 0 bytes", "98304 are needed", "captured", NULL);
	assert_int_equal(b->fake->allocs, 0);
	b->fake->capture = CU_STREAM_CAPTURE_STATUS_NONE;
	assert_status(dsl_pool_reserve(p, A_BYTES + B_BYTES), DSL_OK);
	assert_status(dsl_pool_reserve(p, 1), DSL_OK);
	assert_int_equal(b->fake->allocs, 1);
	b->fake->capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	int before = b->fake->calls;
	assert_status(dsl_pool_launch(p, b->mod, "gemm", args, GEMM_ARGS, NULL), DSL_OK);
	assert_true(b->fake->calls - before < 20);
	assert_int_equal(b->fake->allocs, 1);
	assert_int_equal(b->fake->launches, 2);
	assert_status(dsl_pool_reserve(NULL, 1), DSL_ERR_INVALID);
	assert_status(dsl_pool_reserve(p, SIZE_MAX), DSL_ERR_WORKSPACE);
	b->fake->capture = CU_STREAM_CAPTURE_STATUS_NONE;
	assert_status(dsl_pool_reserve(p, SIZE_MAX), DSL_ERR_DEVICE_MEMORY);
	b->fake->fail = "cuStreamIsCapturing";
	b->fake->code = CUDA_ERROR_UNKNOWN;
	b->fake->after = 0;
	assert_status(dsl_pool_reserve(p, 1 << 20), DSL_ERR_CUDA);
	b->fake->fail = "cuMemAlloc";
	b->fake->code = CUDA_ERROR_OUT_OF_MEMORY;
	b->fake->after = 0;
	assert_status(dsl_pool_reserve(p, 1 << 20), DSL_ERR_DEVICE_MEMORY);
	b->fake->fail = NULL;
	assert_status(dsl_pool_destroy(p), DSL_OK);
}

/* As versions before wrote a module whose schedule said cp_async 8: a second kernel, for launches
 * without workspace. */
static const char of_fallback[] = "\"name\":\"gemm_cp_async\"",
		  by_fallback[] = "\"name\":\"gemm_cp_async\",\"stands_in\":\"gemm\"";

static int bench_open_fallback(void **state)
{
	bench_open(state);
	Bench *b = *state;
	Buf cubin = {0};
	dsl_device_close(b->dev);
	sample_again(&b->sample, "gemm_cp_async");
	b->fake = fake_reset();
	b->fake->kernel_params = 6;
	b->dev = device_open();
	sample_cubin_with(&b->sample.module, of_fallback, by_fallback, &cubin);
	assert_status(dsl_module_load_data(b->dev, cubin.s, cubin.n, &b->mod), DSL_OK);
	buf_free(&cubin);
	return 0;
}

/* It loads, and a launch needs workspace as if there were no second kernel. */
static void fallback_is_ignored(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	sample_args(args, M, N, 64);
	assert_status(launch(b, args, 0, 0, 0), DSL_OK);
	sample_args(args, M, N, 68);
	assert_int_equal(asked(b, args), A_BYTES + B_BYTES);
	assert_status(launch(b, args, 0, 0, 0), DSL_ERR_WORKSPACE);
	assert_says(dsl_detail(), "98304 bytes of workspace are needed", NULL);
	assert_int_equal(b->fake->launches, 1);
	assert_status(launch(b, args, space, A_BYTES + B_BYTES, 0), DSL_OK);
	assert_int_equal(b->fake->launches, 3);
	assert_status(dsl_launch(b->mod, "gemm", args, GEMM_ARGS, NULL, NULL), DSL_ERR_STRIDE);
	assert_says(dsl_detail(), "tensor A: stride", "is given workspace", NULL);
	assert_status(dsl_can_run(b->mod, "gemm", args, GEMM_ARGS, NULL, 0), DSL_ERR_STRIDE);
	assert_status(dsl_launch(b->mod, "gemm_cp_async", args, GEMM_ARGS, NULL, NULL),
		      DSL_ERR_KERNEL_NAME);
	assert_int_equal(dsl_module_desc(b->mod)->nkernels, 2);
}

/* In a pool that does not grow either: the detail says what is needed. */
static void fallback_in_captures(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	dsl_pool *p = NULL;
	assert_status(dsl_pool_create(b->dev, NULL, &p), DSL_OK);
	b->fake->capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	sample_args(args, M, N, 68);
	assert_status(dsl_pool_launch(p, b->mod, "gemm", args, GEMM_ARGS, NULL), DSL_ERR_WORKSPACE);
	assert_says(dsl_detail(), "98304 are needed", "captured", NULL);
	assert_int_equal(b->fake->launches, 0);
	assert_status(dsl_pool_destroy(p), DSL_OK);
}

/* A manifest needs a kernel beside it. */
static void fallback_alone(void **state)
{
	Sample s;
	(void)state;
	sample_fill(&s);
	s.module.nkernels = 1;
	assert_status(sample_parse_with(&s.module, "\"symbol\"",
					"\"stands_in\":\"gemm\",\"symbol\""),
		      DSL_ERR_MANIFEST);
	assert_says(dsl_detail(), "no kernel to launch", NULL);
}

/* What a graph was given stays, whatever the pool gives later; two streams have two pools. */
static void pools_outlive_graphs(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	dsl_pool *p[2] = {NULL, NULL};
	void *graph = NULL;
	int streams[2]; /* of which only the addresses count */
	sample_args(args, M, N, K);
	for (int i = 0; i < 2; i++) {
		assert_status(dsl_pool_create(b->dev, &streams[i], &p[i]), DSL_OK);
		assert_status(dsl_pool_launch(p[i], b->mod, "gemm", args, GEMM_ARGS, NULL), DSL_OK);
		assert_ptr_equal(b->fake->config.hStream, &streams[i]);
	}
	assert_int_equal(b->fake->allocs, 2);
	assert_true(b->fake->maps[0].address != b->fake->maps[3].address);
	b->fake->nmaps = 0;
	assert_status(gpu_capture(b->dev, &streams[0]), DSL_OK);
	assert_status(dsl_pool_launch(p[0], b->mod, "gemm", args, GEMM_ARGS, NULL), DSL_OK);
	assert_status(gpu_captured(b->dev, &streams[0], &graph), DSL_OK);
	uint64_t given = b->fake->maps[0].address;
	args[GEMM_M].v.i = 8 * M;
	assert_status(dsl_pool_launch(p[0], b->mod, "gemm", args, GEMM_ARGS, NULL), DSL_OK);
	assert_int_equal(b->fake->allocs, 3); /* none was freed */
	assert_true(b->fake->maps[3].address != given);
	for (int i = 0; i < 100; i++)
		assert_status(gpu_replay(b->dev, graph, &streams[0]), DSL_OK);
	assert_int_equal(b->fake->allocs, 3);
	assert_status(gpu_forget(b->dev, graph), DSL_OK);
	for (int i = 0; i < 2; i++)
		assert_status(dsl_pool_destroy(p[i]), DSL_OK);
}

/* ------------------------------------------------------------------ packed once */
static void packed_is_read_where_it_lies(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS], packed = {0};
	dsl_arg of_b[] = {dsl_arg_int("K", K), dsl_arg_ptr("B", 0x20002), dsl_arg_int("N", N)};
	size_t bytes = 0;
	assert_status(dsl_pack_size(b->mod, "gemm", "B", of_b, 3, &bytes), DSL_OK);
	assert_int_equal(bytes, B_BYTES);
	assert_status(dsl_pack(b->mod, "gemm", "B", of_b, 3, space, bytes, NULL, &packed), DSL_OK);
	assert_int_equal(b->fake->launches, 2); /* the copy, and an empty one after it */
	assert_true(packed.kind == DSL_PACKED && packed.v.ptr == space);
	assert_string_equal(packed.name, "B");
	sample_args(args, M, N, K);
	args[GEMM_B] = packed;
	assert_int_equal(asked(b, args), A_BYTES); /* that of A alone */
	assert_status(launch(b, args, 0x200000, A_BYTES, 0), DSL_OK);
	assert_int_equal(b->fake->launches, 4);
	assert_true(b->fake->maps[1].address == space && b->fake->maps[1].strides[0] == PITCH);
	assert_true(b->fake->maps[0].address == 0x200000);
	args[GEMM_B].v.ptr = 0x20002;
	assert_status(launch(b, args, 0x200000, A_BYTES, 0), DSL_ERR_ALIGN);
	assert_status(dsl_pack(b->mod, "gemm", "B", of_b, 3, space, bytes - 1, NULL, &packed),
		      DSL_ERR_WORKSPACE);
	assert_says(dsl_detail(), "tensor B", "65536 bytes; 65535", NULL);
	assert_status(dsl_pack(b->mod, "gemm", "B", of_b, 3, space + 2, bytes, NULL, &packed),
		      DSL_ERR_ALIGN);
	args[GEMM_B] = packed;
	assert_status(launch(b, args, space - 128, A_BYTES, 0), DSL_ERR_OVERLAP);
	assert_says(dsl_detail(), "the workspace", "tensor B, 65536 bytes at 0x100000", NULL);
	assert_status(dsl_pack(b->mod, "gemm", "B", of_b, 3, 0x20000, bytes, NULL, &packed),
		      DSL_ERR_OVERLAP);
	assert_says(dsl_detail(), "the packed copy, 65536 bytes at 0x20000", "tensor B", NULL);
	assert_int_equal(b->fake->launches, 4);
	of_b[0].v.i = 0; /* no element: nothing to copy */
	assert_status(dsl_pack(b->mod, "gemm", "B", of_b, 3, 0, 0, NULL, &packed), DSL_OK);
	assert_int_equal(b->fake->launches, 4);
	args[GEMM_A].kind = DSL_PACKED; /* both need no workspace */
	assert_status(dsl_launch(b->mod, "gemm", args, GEMM_ARGS, NULL, NULL), DSL_OK);
}

/* After dsl_pack, what may begin early does so when the copy is complete: the launch ahead of it
 * is an empty one, which waits for the copy as ever. */
static void packed_before_the_next_begins(void **state)
{
	Bench *b = *state;
	dsl_arg packed,
		of_b[] = {dsl_arg_int("K", K), dsl_arg_ptr("B", 0x20002), dsl_arg_int("N", N)};
	const CUlaunchConfig *copy = &b->fake->launch[0], *last = &b->fake->launch[1];
	assert_status(dsl_pack(b->mod, "gemm", "B", of_b, 3, space, B_BYTES, NULL, &packed),
		      DSL_OK);
	assert_int_equal(b->fake->launches, 2);
	assert_true(copy->blockDimX == 256 && copy->numAttrs == 1);
	assert_true(last->gridDimX == 1 && last->blockDimX == 1 && last->numAttrs == 0);
	b->fake->fail = "cuLaunchKernelEx";
	b->fake->code = CUDA_ERROR_UNKNOWN;
	b->fake->after = 1; /* the empty one */
	assert_status(dsl_pack(b->mod, "gemm", "B", of_b, 3, space, B_BYTES, NULL, &packed),
		      DSL_ERR_CUDA);
	b->fake->fail = NULL;
}

/* ------------------------------------------------------------------ constant */
static const CUlaunchConfig *last_launch(const Bench *b)
{
	return &b->fake->launch[b->fake->launches - 1];
}

/* A kernel that reads B before it waits: not where B is a copy that the launch ahead makes. */
static void constants_that_are_copied(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	dsl_module *early;
	sample_args(args, M, N, 64);
	sample_constant(&b->sample);
	early = module_open(b->dev, &b->sample.module);
	dsl_module *other = b->mod;
	b->mod = early;
	args[GEMM_A].v.ptr = 0x10002;
	size_t bytes = asked(b, args);
	assert_status(launch(b, args, space, bytes, 0), DSL_OK);
	assert_int_equal(last_launch(b)->numAttrs, 1); /* A is copied: it is waited for */
	args[GEMM_A].v.ptr = 0x10000;
	args[GEMM_B].v.ptr = 0x20002;
	bytes = asked(b, args);
	assert_status(launch(b, args, space, bytes, 0), DSL_OK);
	assert_int_equal(b->fake->launches, 4);
	assert_int_equal(last_launch(b)->numAttrs, 0);
	assert_int_equal(b->fake->launch[2].numAttrs, 1); /* the copy itself waits */
	b->mod = other;
	assert_status(launch(b, args, space, bytes, 0), DSL_OK);
	assert_int_equal(last_launch(b)->numAttrs, 1);
	assert_status(dsl_module_unload(early), DSL_OK);
}

static void what_cannot_be_packed(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS], of_b[] = {dsl_arg_ptr("B", 0x20000), dsl_arg_int("N", N)};
	size_t bytes;
	sample_args(args, M, N, K);
	assert_status(dsl_pack_size(b->mod, "gemm", "D", args, GEMM_ARGS, &bytes),
		      DSL_ERR_ARG_TYPE);
	assert_says(dsl_detail(), "D of kernel gemm cannot be packed", NULL);
	assert_status(dsl_pack_size(b->mod, "scale", "x", NULL, 0, &bytes), DSL_ERR_ARG_TYPE);
	assert_status(dsl_pack_size(b->mod, "gemm", "Q", args, GEMM_ARGS, &bytes),
		      DSL_ERR_ARG_NAME);
	assert_status(dsl_pack_size(b->mod, "gemm", "B", of_b, 2, &bytes), DSL_ERR_ARG_MISSING);
	assert_says(dsl_detail(), "size K of tensor B", NULL);
	assert_status(dsl_pack_size(b->mod, "gemm", "B", args + 3, 3, &bytes), DSL_ERR_ARG_MISSING);
	assert_says(dsl_detail(), "not given tensor B", NULL);
	assert_status(dsl_pack_size(b->mod, "gem", "B", args, GEMM_ARGS, &bytes),
		      DSL_ERR_KERNEL_NAME);
	assert_status(dsl_pack_size(b->mod, "gemm", NULL, args, GEMM_ARGS, &bytes),
		      DSL_ERR_INVALID);
	assert_status(dsl_pack_size(b->mod, "gemm", "B", args, GEMM_ARGS, NULL), DSL_ERR_INVALID);
	assert_status(dsl_pack(b->mod, "gemm", "B", args, GEMM_ARGS, space, 1 << 20, NULL, NULL),
		      DSL_ERR_INVALID);
	args[GEMM_D].kind = DSL_PACKED;
	assert_status(launch(b, args, space, 1 << 20, 0), DSL_ERR_ARG_TYPE);
	assert_says(dsl_detail(), "D of kernel gemm", "what dsl_pack made", NULL);
	sample_args(args, M, N, K);
	args[GEMM_K].kind = DSL_PACKED;
	assert_status(launch(b, args, space, 1 << 20, 0), DSL_ERR_ARG_TYPE);
	assert_int_equal(b->fake->launches, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_open, bench_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(workspace_of_its_own),
		TEST(aligned_needs_nothing),
		TEST(bytes_of_copies),
		TEST(copies_then_the_kernel),
		TEST(one_byte_short),
		TEST(what_no_copy_mends),
		TEST(a_launch_loads_nothing),
		TEST(a_copy_that_the_driver_refuses),
		TEST(pools_grow),
		TEST(pools_in_captures),
		cmocka_unit_test_setup_teardown(fallback_is_ignored, bench_open_fallback,
						bench_close),
		cmocka_unit_test_setup_teardown(fallback_in_captures, bench_open_fallback,
						bench_close),
		cmocka_unit_test(fallback_alone),
		TEST(pools_outlive_graphs),
		TEST(packed_is_read_where_it_lies),
		TEST(packed_before_the_next_begins),
		TEST(constants_that_are_copied),
		TEST(what_cannot_be_packed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
