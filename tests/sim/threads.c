/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The simulated device after the runtime's calls. In several threads: each keeps an array of its
 * own right by copies, sets and launches while others allocate, free, load and unload. Under ASan
 * and TSan this is where a look at memory that another thread moves shows. Then modules that are
 * unloaded twice, files without an end, variables of modules, and who watches a launch. */
#include "sim/watch.h"

#include <pthread.h>
#include <string.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { ROUNDS = 300, WORDS = 32, HELD = 16 };

/* Adds 1 to each word; a module of its own for each thread, so that loads and unloads happen. */
#define TEXT(extra)                                                                     \
	".version 8.0\n.target sm_90\n.address_size 64\n" extra                         \
	".visible .entry inc(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"  \
	"ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"   \
	"add.u64 %rd1, %rd1, %rd2;\nld.global.u32 %r2, [%rd1];\nadd.u32 %r2, %r2, 1;\n" \
	"st.global.u32 [%rd1], %r2;\nret;\n}\n"
static const char *const texts[] = {TEXT(""), TEXT(".global .u32 a[64];\n")};

static int inc(dsl_device *dev, const char *text, dsl_addr at)
{
	dsl_module *mod;
	dsl_raw raw = {.size = sizeof raw,
		       .grid = {1, 1, 1},
		       .block = {WORDS, 1, 1},
		       .params = &at,
		       .param_bytes = sizeof at};
	if (dsl_module_load_data(dev, text, strlen(text), &mod))
		return 1;
	int bad = dsl_launch_raw(mod, "inc", &raw) != DSL_OK;
	return bad + (dsl_module_unload(mod) != DSL_OK);
}

static int copies(dsl_device *dev, const char *text)
{
	uint32_t words[WORDS];
	dsl_addr at;
	int bad = dsl_mem_alloc(dev, sizeof words, &at) != DSL_OK;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		memset(words, 0, sizeof words);
		words[i % WORDS] = i;
		bad += dsl_mem_set(dev, at, 0xff, sizeof words) != DSL_OK;
		bad += dsl_copy_in(dev, at, words, sizeof words) != DSL_OK;
		bad += inc(dev, text, at);
		memset(words, 0, sizeof words);
		bad += dsl_copy_out(dev, words, at, sizeof words) != DSL_OK;
		for (uint32_t k = 0; k < WORDS; k++)
			bad += words[k] != (k == i % WORDS ? i : 0) + 1;
	}
	return bad + (dsl_mem_free(dev, at) != DSL_OK);
}

static void *copies_first(void *dev)
{
	return (void *)(intptr_t)copies(dev, texts[0]);
}

static void *copies_second(void *dev)
{
	return (void *)(intptr_t)copies(dev, texts[1]);
}

static void *allocations(void *dev)
{
	dsl_addr held[HELD] = {0};
	intptr_t bad = 0;
	for (int i = 0; i < ROUNDS * 20; i++) {
		bad += dsl_mem_free(dev, held[i % HELD]) != DSL_OK;
		bad += dsl_mem_alloc(dev, 64, &held[i % HELD]) != DSL_OK;
	}
	for (int i = 0; i < HELD; i++)
		bad += dsl_mem_free(dev, held[i]) != DSL_OK;
	return (void *)bad;
}

static void threads_share_a_device(void **state)
{
	static void *(*const work[])(void *) = {copies_first, allocations, copies_second,
						copies_first, allocations};
	enum { N = sizeof work / sizeof *work };
	pthread_t t[N];
	dsl_device *dev;
	(void)state;
	assert_int_equal(dsl_device_open("sim:threads=2", &dev), DSL_OK);
	for (int i = 0; i < N; i++)
		assert_int_equal(pthread_create(&t[i], NULL, work[i], dev), 0);
	for (int i = 0; i < N; i++) {
		void *bad;
		pthread_join(t[i], &bad);
		assert_null(bad);
	}
	dsl_device_close(dev);
}

static void unloaded_twice(void **state)
{
	dsl_device *dev, *other;
	dsl_module *a, *b;
	(void)state;
	assert_int_equal(dsl_device_open("sim", &dev), DSL_OK);
	assert_int_equal(dsl_device_open("sim", &other), DSL_OK);
	assert_int_equal(dsl_module_load_data(dev, texts[0], strlen(texts[0]), &a), DSL_OK);
	assert_int_equal(dsl_module_load_data(other, texts[1], strlen(texts[1]), &b), DSL_OK);
	assert_int_equal(dsl_module_unload(a), DSL_OK);
	assert_int_equal(dsl_module_unload(a), DSL_ERR_INVALID);
	assert_non_null(strstr(dsl_detail(), "this module is not loaded"));
	dsl_device_close(other);
	assert_int_equal(dsl_module_unload(b), DSL_ERR_INVALID);
	dsl_device_close(dev);
}

/* All streams are one; a handle that is none is not followed. */
static void streams(void **state)
{
	dsl_device *dev;
	dsl_stream a, b;
	(void)state;
	assert_int_equal(dsl_device_open("sim", &dev), DSL_OK);
	assert_int_equal(dsl_stream_create(dev, &a), DSL_OK);
	assert_int_equal(dsl_stream_create(dev, &b), DSL_OK);
	assert_int_equal(dsl_stream_destroy(dev, a), DSL_OK);
	assert_int_equal(dsl_stream_destroy(dev, b), DSL_OK);
	assert_int_equal(dsl_stream_destroy(dev, (dsl_stream)(uintptr_t)77), DSL_ERR_INVALID);
	assert_string_equal(dsl_detail(), "stream 0x4d is not one of dsl_stream_create");
	dsl_device_close(dev);
}

static void endless_files(void **state)
{
	dsl_device *dev;
	dsl_module *mod;
	(void)state;
	assert_int_equal(dsl_device_open("sim", &dev), DSL_OK);
	assert_int_equal(dsl_module_load(dev, "/dev/zero", &mod), DSL_ERR_FILE);
	assert_string_equal(dsl_detail(), "/dev/zero: more than 256 MiB, which no module has");
	assert_int_equal(dsl_module_load(dev, "/dev/null", &mod), DSL_ERR_NOT_CUBIN);
	dsl_device_close(dev);
}

/* A __device__ and a __constant__ variable: set, read by a kernel, and what it wrote read back. */
static void variables(void **state)
{
	static const char text[] =
		".version 8.0\n.target sm_90\n.address_size 64\n.const .align 4 .u32 by[2];\n"
		".global .align 4 .u32 sums[4] = {1, 2, 3, 4};\n"
		".visible .entry scale()\n{\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n"
		"mov.u32 %r0, %tid.x;\nmov.u64 %d0, sums;\nmul.wide.u32 %d1, %r0, 4;\n"
		"add.u64 %d0, %d0, %d1;\nld.global.u32 %r1, [%d0];\nld.const.u32 %r2, [by+4];\n"
		"mul.lo.u32 %r1, %r1, %r2;\nst.global.u32 [%d0], %r1;\nret;\n}\n";
	const uint32_t by[] = {5, 7};
	uint32_t sums[4];
	size_t size = 0;
	dsl_device *dev;
	dsl_module *mod;
	dsl_addr at;
	dsl_raw raw = {.size = sizeof raw, .grid = {1, 1, 1}, .block = {4, 1, 1}};
	(void)state;
	assert_int_equal(dsl_device_open("sim", &dev), DSL_OK);
	assert_int_equal(dsl_module_load_data(dev, text, sizeof text - 1, &mod), DSL_OK);
	assert_int_equal(dsl_module_global(mod, "by", &at, &size), DSL_OK);
	assert_int_equal(size, sizeof by);
	assert_int_equal(dsl_copy_in(dev, at, by, size), DSL_OK);
	assert_int_equal(dsl_launch_raw(mod, "scale", &raw), DSL_OK);
	assert_int_equal(dsl_module_global(mod, "sums", &at, NULL), DSL_OK);
	assert_int_equal(dsl_copy_out(dev, sums, at, sizeof sums), DSL_OK);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(sums[i], (i + 1) * 7);
	assert_int_equal(dsl_module_global(mod, "nobody", &at, &size), DSL_ERR_GLOBAL_NAME);
	assert_string_equal(dsl_detail(), "the module has no variable nobody");
	assert_int_equal(dsl_module_global(mod, NULL, &at, &size), DSL_ERR_INVALID);
	dsl_device_close(dev);
}

/* Who watches a launch is told of each cluster once, in order, by however many threads. */
typedef struct {
	int64_t calls, wrong;
} Watched;

static void count_cluster(void *user, int64_t done, int64_t all)
{
	Watched *w = user;
	w->wrong += done != ++w->calls || all != 24;
}

static void watch_a_launch(void **state)
{
	static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
				   ".visible .entry nothing()\n{\nret;\n}\n";
	dsl_device *dev;
	dsl_module *mod;
	Watched w = {0};
	dsl_raw raw = {.size = sizeof raw, .grid = {8, 3, 1}, .block = {32, 1, 1}};
	(void)state;
	assert_int_equal(dsl_device_open("sim:threads=4", &dev), DSL_OK);
	assert_int_equal(dsl_module_load_data(dev, text, sizeof text - 1, &mod), DSL_OK);
	sim_watch(dev, count_cluster, &w);
	assert_int_equal(dsl_launch_raw(mod, "nothing", &raw), DSL_OK);
	assert_int_equal(w.calls, 24);
	assert_int_equal(w.wrong, 0);
	sim_watch(dev, NULL, NULL);
	assert_int_equal(dsl_launch_raw(mod, "nothing", &raw), DSL_OK);
	assert_int_equal(w.calls, 24);
	dsl_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(threads_share_a_device),
					   cmocka_unit_test(unloaded_twice),
					   cmocka_unit_test(streams),
					   cmocka_unit_test(endless_files),
					   cmocka_unit_test(variables),
					   cmocka_unit_test(watch_a_launch)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
