/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* launch_overhead.c - what dsl_launch costs the host beyond the driver's own launch; that it may
 * run while a stream is captured; that K = 0 writes zeros where A and B are null. Needs a GPU and
 * the example's cubin.
 *   launch_overhead gemm.cubin     ->  dsl_launch 3.36 us, cuLaunchKernelEx 2.75 us, ...
 * The bare launch has its tensor maps ready and its context current. Batches take turns and are
 * short enough never to fill the launch queue. */
#include "runtime/desc.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { M = 256, N = 256, K = 64, BATCH = 100, ROUNDS = 200, BYTES = 1 << 20 };

typedef struct {
	dsl_device *dev;
	dsl_module *mod;
	dsl_addr tensor[3];
	dsl_arg args[6];
	void *lib;
	CUfunction function;
	CUtensorMap maps[KD_MAX_MAPS];
	CUlaunchConfig config;
	void *params[KD_MAX_PARAMS];
	int64_t sizes[3];
} Bench;

static void check(dsl_status st)
{
	if (st == DSL_OK)
		return;
	fprintf(stderr, "%s: %s\n", dsl_status_text(st), dsl_detail());
	exit(1);
}

static void cu(CUresult r, const char *call)
{
	if (r == CUDA_SUCCESS)
		return;
	fprintf(stderr, "%s gave %d\n", call, (int)r);
	exit(1);
}

/* Calls libcuda's own function of that name; its type is the one of cuda.h. */
#define CALL(b, name, args)                                               \
	do {                                                              \
		__typeof__(&name) f_;                                     \
		void *p_ = dlsym((b)->lib, CALL_TEXT(name));              \
		memcpy(&f_, &p_, sizeof f_);                              \
		cu(p_ ? f_ args : CUDA_ERROR_NOT_FOUND, CALL_TEXT(name)); \
	} while (0)
#define CALL_TEXT(name)  CALL_TEXT_(name)
#define CALL_TEXT_(name) #name

static double now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void bench_open(Bench *b, const char *path)
{
	static const char *const names[] = {"A", "B", "D", "M", "N", "K"};
	static const int64_t sizes[] = {M, N, K};
	check(dsl_device_open("cuda:0", &b->dev));
	check(dsl_module_load(b->dev, path, &b->mod));
	for (int i = 0; i < 3; i++) {
		check(dsl_mem_alloc(b->dev, BYTES, &b->tensor[i]));
		check(dsl_mem_set(b->dev, b->tensor[i], 0, BYTES));
		b->args[i] = dsl_arg_ptr(names[i], b->tensor[i]);
		b->args[i + 3] = dsl_arg_int(names[i + 3], sizes[i]);
		b->sizes[i] = sizes[i];
	}
	b->lib = dlopen("libcuda.so.1", RTLD_NOW);
}

static void *file_read(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *at = calloc(1, BYTES);
	if (!f || !at || !fread(at, 1, BYTES, f))
		exit(1);
	fclose(f);
	return at;
}

/* Fits the example's maps: two dimensions of bf16 each. */
static void map_encode(Bench *b, const KDesc *k, int i)
{
	const KMap *m = &k->maps[i];
	bool rows_n = m->arg == 1, cols_n = m->arg == 2;
	cuuint64_t dims[] = {cols_n ? N : K, rows_n ? N : M}, strides[] = {dims[0] * 2};
	cuuint32_t box[] = {(cuuint32_t)m->box[0], (cuuint32_t)m->box[1]}, ones[] = {1, 1};
	CUtensorMapSwizzle swizzle = m->swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
				     : m->swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
				     : m->swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
							: CU_TENSOR_MAP_SWIZZLE_NONE;
	CALL(b, cuTensorMapEncodeTiled,
	     (&b->maps[i], CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)b->tensor[m->arg], dims,
	      strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
	      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

static void bare_open(Bench *b, const char *path)
{
	const KDesc *k = dsl_module_desc(b->mod)->kernels;
	CUcontext context = NULL;
	CUmodule module = NULL;
	void *image = file_read(path);
	CALL(b, cuDevicePrimaryCtxRetain, (&context, 0));
	CALL(b, cuCtxSetCurrent, (context));
	CALL(b, cuModuleLoadData, (&module, image));
	CALL(b, cuModuleGetFunction, (&b->function, module, k->symbol));
	CALL(b, cuFuncSetAttribute,
	     (b->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k->smem));
	for (int i = 0; i < k->nmaps; i++)
		map_encode(b, k, i);
	for (int i = 0; i < k->nparams; i++)
		b->params[i] = k->params[i].kind == KP_TMAP ? (void *)&b->maps[k->params[i].index]
			       : k->params[i].kind == KP_SYM
				       ? (void *)&b->sizes[k->params[i].index]
				       : (void *)&b->tensor[k->params[i].index];
	b->config = (CUlaunchConfig){.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1};
	b->config.blockDimX = (unsigned)k->block;
	b->config.blockDimY = b->config.blockDimZ = 1;
	b->config.sharedMemBytes = (unsigned)k->smem;
	free(image);
}

static double batch_ours(const Bench *b)
{
	double start = now_us();
	for (int i = 0; i < BATCH; i++)
		check(dsl_launch(b->mod, "gemm", b->args, 6, NULL, NULL));
	return (now_us() - start) / (double)BATCH;
}

static double batch_bare(Bench *b)
{
	CUresult (*launch)(const CUlaunchConfig *, CUfunction, void **, void **);
	void *p = dlsym(b->lib, "cuLaunchKernelEx");
	memcpy(&launch, &p, sizeof launch);
	double start = now_us();
	for (int i = 0; i < BATCH; i++)
		cu(launch(&b->config, b->function, b->params, NULL), "cuLaunchKernelEx");
	return (now_us() - start) / (double)BATCH;
}

static double batch_checks(const Bench *b)
{
	double start = now_us();
	for (int i = 0; i < BATCH; i++)
		check(dsl_can_run(b->mod, "gemm", b->args, 6, NULL, 0));
	return (now_us() - start) / (double)BATCH;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *v)
{
	qsort(v, ROUNDS, sizeof *v, by_value);
	return v[ROUNDS / 2];
}

static double measure(Bench *b)
{
	static double ours[ROUNDS], bare[ROUNDS], checks[ROUNDS];
	for (int i = 0; i < ROUNDS; i++) {
		ours[i] = batch_ours(b);
		check(dsl_sync(b->dev));
		bare[i] = batch_bare(b);
		check(dsl_sync(b->dev));
		checks[i] = batch_checks(b);
	}
	double o = median(ours), l = median(bare);
	printf("%s: dsl_launch %.2f us, cuLaunchKernelEx %.2f us, difference %.2f us of which "
	       "checks %.2f us\n",
	       dsl_device_name(b->dev), o, l, o - l, median(checks));
	return o - l;
}

/* Launches into a graph, runs the graph, and sees that the kernel wrote. */
static bool capture(Bench *b)
{
	CUstream s = NULL;
	CUgraph graph = NULL;
	CUgraphExec exec = NULL;
	uint16_t first = 0xffff;
	check(dsl_mem_set(b->dev, b->tensor[2], 0xff, BYTES));
	CALL(b, cuStreamCreate, (&s, CU_STREAM_NON_BLOCKING));
	CALL(b, cuStreamBeginCapture, (s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	check(dsl_launch(b->mod, "gemm", b->args, 6, s, NULL));
	CALL(b, cuStreamEndCapture, (s, &graph));
	check(dsl_sync(b->dev));
	check(dsl_copy_out(b->dev, &first, b->tensor[2], sizeof first));
	bool early = first != 0xffff;
	CALL(b, cuGraphInstantiateWithFlags, (&exec, graph, 0));
	CALL(b, cuGraphLaunch, (exec, s));
	check(dsl_stream_sync(b->dev, s));
	check(dsl_copy_out(b->dev, &first, b->tensor[2], sizeof first));
	printf("captured launch: %s\n", early   ? "ran during the capture"
					: first ? "wrote nothing"
						: "ran");
	return !early && first == 0;
}

static bool no_inner_extent(Bench *b)
{
	static uint16_t d[M * N];
	dsl_arg args[6];
	memcpy(args, b->args, sizeof args);
	args[0].v.ptr = args[1].v.ptr = 0;
	args[5].v.i = 0;
	check(dsl_mem_set(b->dev, b->tensor[2], 0xff, BYTES));
	check(dsl_launch(b->mod, "gemm", args, 6, NULL, NULL));
	check(dsl_sync(b->dev));
	check(dsl_copy_out(b->dev, d, b->tensor[2], sizeof d));
	int wrong = 0;
	for (int i = 0; i < M * N; i++)
		wrong += d[i] != 0;
	printf("K = 0: %d of %d elements are not zero\n", wrong, M * N);
	return !wrong;
}

int main(int argc, char **argv)
{
	static Bench b;
	if (argc != 2) {
		fprintf(stderr, "usage: launch_overhead gemm.cubin\n");
		return 2;
	}
	bench_open(&b, argv[1]);
	bare_open(&b, argv[1]);
	bool right = capture(&b);
	right = no_inner_extent(&b) && right;
	double more = measure(&b);
	check(dsl_device_close(b.dev));
	return !right || more > 1.0;
}
