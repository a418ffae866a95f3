/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels that nvcc compiled from CUDA C++ (ptx/NAME.cu to ptx/NAME.ptx) on the simulator, under
 * several orders, against loops on the host. With DSL_TEST_DEVICE=cuda:0 the same on a GPU. */
#include "runtime/dsl.h"
#include "runtime/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

enum { BUFFERS = 4, SEEDS = 6 };

typedef struct {
	dsl_device *dev;
	dsl_module *mod;
	dsl_addr at[BUFFERS];
	void *host[BUFFERS];
	size_t bytes[BUFFERS];
	int n;
	unsigned char params[512];
	size_t size;
} Bench;

static void ok(dsl_status st)
{
	if (st)
		fail_msg("%s: %s", dsl_status_name(st), dsl_detail());
}

static void bench_open(Bench *b, const char *name, int seed)
{
	char device[64], path[256];
	const char *other = getenv("DSL_TEST_DEVICE");
	*b = (Bench){0};
	snprintf(device, sizeof device, "sim:seed=%d", seed);
	ok(dsl_device_open(other ? other : device, &b->dev));
	snprintf(path, sizeof path, DSL_SOURCE_DIR "/tests/sim/ptx/%s.ptx", name);
	ok(dsl_module_load(b->dev, path, &b->mod));
}

static void bench_close(Bench *b)
{
	for (int i = 0; i < b->n; i++)
		free(b->host[i]);
	ok(dsl_device_close(b->dev));
}

static void param(Bench *b, const void *v, size_t size, size_t align)
{
	b->size = (b->size + align - 1) / align * align;
	memcpy(b->params + b->size, v, size);
	b->size += size;
}

static void param_int(Bench *b, int v)
{
	param(b, &v, sizeof v, sizeof v);
}

static void *buffer(Bench *b, size_t bytes)
{
	b->bytes[b->n] = bytes;
	b->host[b->n] = calloc(1, bytes);
	assert_non_null(b->host[b->n]);
	ok(dsl_mem_alloc(b->dev, bytes, &b->at[b->n]));
	return b->host[b->n++];
}

static void pointer(Bench *b, int i)
{
	param(b, &b->at[i], 8, 8);
}

static void launch(Bench *b, const char *kernel, dsl_raw raw)
{
	for (int i = 0; i < b->n; i++)
		ok(dsl_copy_in(b->dev, b->at[i], b->host[i], b->bytes[i]));
	raw.size = sizeof raw;
	raw.params = b->params;
	raw.param_bytes = b->size;
	ok(dsl_launch_raw(b->mod, kernel, &raw));
	for (int i = 0; i < b->n; i++)
		ok(dsl_copy_out(b->dev, b->host[i], b->at[i], b->bytes[i]));
}

static float whole(int i)
{
	return (float)((unsigned)i * 2654435761u >> 28) - 8;
}

static void floats(float *to, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = whole(i);
}

static void check_product(const float *a, const float *b, const float *c, int n)
{
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++) {
			float sum = 0;
			for (int k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			if (sum != c[i * n + j])
				fail_msg("element %d, %d is %g, not %g", i, j, (double)c[i * n + j],
					 (double)sum);
		}
	}
}

static void product(const char *name, const char *kernel, int n, dsl_raw raw)
{
	for (int seed = 0; seed < SEEDS; seed++) {
		Bench b;
		bench_open(&b, name, seed);
		size_t bytes = (size_t)n * (size_t)n * 4;
		float *x = buffer(&b, bytes), *y = buffer(&b, bytes), *z = buffer(&b, bytes);
		floats(x, n * n);
		floats(y, n * n);
		for (int i = 0; i < 3; i++)
			pointer(&b, i);
		param_int(&b, n);
		launch(&b, kernel, raw);
		check_product(x, y, z, n);
		bench_close(&b);
	}
}

static void tiled_gemm(void **state)
{
	(void)state;
	product("sgemm", "sgemm", 40, (dsl_raw){.grid = {3, 3, 1}, .block = {16, 16, 1}});
}

static void cp_async_gemm(void **state)
{
	(void)state;
	product("cpasync", "cpasync_gemm", 96, (dsl_raw){.grid = {3, 3, 1}, .block = {256, 1, 1}});
}

static void wmma_gemm(void **state)
{
	enum { M = 32, N = 64, K = 48 };
	(void)state;
	for (int seed = 0; seed < SEEDS; seed++) {
		Bench b;
		bench_open(&b, "wmma", seed);
		uint16_t *x = buffer(&b, M * K * 2), *y = buffer(&b, N * K * 2);
		float *z = buffer(&b, M * N * 4);
		for (int i = 0; i < M * K; i++)
			x[i] = f16_from_f32(whole(i));
		for (int i = 0; i < N * K; i++)
			y[i] = f16_from_f32(whole(i + 7));
		for (int i = 0; i < 3; i++)
			pointer(&b, i);
		param_int(&b, N);
		param_int(&b, K);
		launch(&b, "wmma_gemm", (dsl_raw){.grid = {2, 2, 1}, .block = {32, 2, 1}});
		for (int i = 0; i < M; i++) {
			for (int j = 0; j < N; j++) {
				float sum = 0;
				for (int k = 0; k < K; k++)
					sum += f16_to_f32(x[i * K + k]) * f16_to_f32(y[j * K + k]);
				assert_true(sum == z[i * N + j]);
			}
		}
		bench_close(&b);
	}
}

static void barrier_and_bulk_copy(void **state)
{
	(void)state;
	for (int seed = 0; seed < SEEDS; seed++) {
		Bench b;
		bench_open(&b, "bulk", seed);
		int *x = buffer(&b, 3 * 1024 * 4);
		for (int i = 0; i < 3 * 1024; i++)
			x[i] = i * 3;
		pointer(&b, 0);
		launch(&b, "bulk_add", (dsl_raw){.grid = {3, 1, 1}, .block = {128, 1, 1}});
		for (int i = 0; i < 3 * 1024; i++)
			assert_int_equal(x[i], i * 3 + 1);
		bench_close(&b);
	}
}

/* 68 x 20: the last tiles stick out on both sides; rows are whole units of 16 bytes. */
static void tensor_maps(void **state)
{
	enum { W = 72, H = 20, USED = 68 };
	(void)state;
	for (int seed = 0; seed < SEEDS; seed++) {
		Bench b;
		bench_open(&b, "tensor", seed);
		float *x = buffer(&b, W * H * 4), *y = buffer(&b, W * H * 4), by = 3;
		_Alignas(64) unsigned char map[128];
		floats(x, W * H);
		for (int i = 0; i < 2; i++) {
			dsl_map m = {.size = sizeof m,
				     .elem = "f32",
				     .base = b.at[i],
				     .rank = 2,
				     .dims = {USED, H},
				     .strides = {W * 4},
				     .box = {32, 8}};
			ok(dsl_tensor_map(b.dev, &m, map));
			param(&b, map, sizeof map, 64);
		}
		param(&b, &by, 4, 4);
		launch(&b, "tensor_scale", (dsl_raw){.grid = {3, 3, 1}, .block = {64, 1, 1}});
		for (int i = 0; i < H; i++)
			for (int j = 0; j < W; j++)
				assert_true(y[i * W + j] == (j < USED ? x[i * W + j] * 3 : 0));
		bench_close(&b);
	}
}

static void distributed_shared_memory(void **state)
{
	(void)state;
	for (int seed = 0; seed < SEEDS; seed++) {
		Bench b;
		bench_open(&b, "cluster", seed);
		int *x = buffer(&b, 8 * 64 * 4), *y = buffer(&b, 2 * 4);
		for (int i = 0; i < 8 * 64; i++)
			x[i] = i;
		pointer(&b, 0);
		pointer(&b, 1);
		launch(&b, "cluster_sum", (dsl_raw){.grid = {8, 1, 1}, .block = {64, 1, 1}});
		assert_int_equal(y[0], 255 * 256 / 2);
		assert_int_equal(y[1], 511 * 512 / 2 - 255 * 256 / 2);
		bench_close(&b);
	}
}

static void multicast_and_remote_arrives(void **state)
{
	enum { N = 128, TILES = 6 };
	(void)state;
	for (int seed = 0; seed < SEEDS; seed++) {
		Bench b;
		bench_open(&b, "multicast", seed);
		int *x = buffer(&b, TILES * N * 4), *y = buffer(&b, 2 * N * 4);
		for (int i = 0; i < TILES * N; i++)
			x[i] = i * i;
		pointer(&b, 0);
		pointer(&b, 1);
		launch(&b, "multicast_sum", (dsl_raw){.grid = {2, 1, 1}, .block = {160, 1, 1}});
		for (int i = 0; i < 2 * N; i++) {
			int sum = 0;
			for (int k = 0; k < TILES; k++)
				sum += x[k * N + i % N];
			assert_int_equal(y[i], sum);
		}
		bench_close(&b);
	}
}

static void softmax_with_shuffles(void **state)
{
	enum { ROWS = 7 };
	(void)state;
	for (int seed = 0; seed < SEEDS; seed++) {
		Bench b;
		bench_open(&b, "softmax", seed);
		float *x = buffer(&b, ROWS * 256 * 4), *y = buffer(&b, ROWS * 256 * 4);
		floats(x, ROWS * 256);
		pointer(&b, 0);
		pointer(&b, 1);
		param_int(&b, ROWS);
		launch(&b, "softmax", (dsl_raw){.grid = {2, 1, 1}, .block = {32, 4, 1}});
		for (int r = 0; r < ROWS; r++) {
			double sum = 0, most = -100;
			for (int i = 0; i < 256; i++)
				most = fmax(most, (double)x[r * 256 + i]);
			for (int i = 0; i < 256; i++)
				sum += exp((double)x[r * 256 + i] - most);
			for (int i = 0; i < 256; i++) {
				double want = exp((double)x[r * 256 + i] - most) / sum;
				assert_true(fabs((double)y[r * 256 + i] - want) <= 2e-6 * want);
			}
		}
		bench_close(&b);
	}
}

static void doubles_and_atomics(void **state)
{
	enum { N = 5000 };
	(void)state;
	for (int seed = 0; seed < SEEDS; seed++) {
		Bench b;
		bench_open(&b, "reduce", seed);
		double *x = buffer(&b, N * 8), *y = buffer(&b, 8), sum = 0;
		unsigned *bins = buffer(&b, 64), want[16] = {0};
		for (int i = 0; i < N; i++) {
			x[i] = i % 37;
			sum += x[i];
			want[i % 37 & 15]++;
		}
		for (int i = 0; i < 3; i++)
			pointer(&b, i);
		param_int(&b, N);
		launch(&b, "reduce", (dsl_raw){.grid = {3, 1, 1}, .block = {128, 1, 1}});
		assert_true(*y == sum);
		assert_memory_equal(bins, want, sizeof want);
		bench_close(&b);
	}
}

/* A hang is found, and told through the runtime. */
static void faults_come_as_a_status(void **state)
{
	static const char hang[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
				   ".visible .entry hang()\n{\nbar.sync 1, 64;\nret;\n}\n";
	dsl_device *dev;
	dsl_module *mod;
	dsl_raw raw = {.size = sizeof raw, .grid = {1, 1, 1}, .block = {32, 1, 1}};
	(void)state;
	ok(dsl_device_open("sim", &dev));
	ok(dsl_module_load_data(dev, hang, sizeof hang - 1, &mod));
	assert_int_equal(dsl_launch_raw(mod, "hang", &raw), DSL_ERR_SIM);
	assert_non_null(strstr(dsl_detail(), "waits for barrier 1: 32 of 64 threads have arrived"));
	assert_int_equal(dsl_launch_raw(mod, "gang", &raw), DSL_ERR_KERNEL_NAME);
	raw.block[0] = 0;
	assert_int_equal(dsl_launch_raw(mod, "hang", &raw), DSL_ERR_GRID);
	ok(dsl_device_close(dev));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiled_gemm),
		cmocka_unit_test(cp_async_gemm),
		cmocka_unit_test(wmma_gemm),
		cmocka_unit_test(barrier_and_bulk_copy),
		cmocka_unit_test(tensor_maps),
		cmocka_unit_test(distributed_shared_memory),
		cmocka_unit_test(multicast_and_remote_arrives),
		cmocka_unit_test(softmax_with_shuffles),
		cmocka_unit_test(doubles_and_atomics),
		cmocka_unit_test(faults_come_as_a_status),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
