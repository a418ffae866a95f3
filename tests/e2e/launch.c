/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compiled by libdslc, launched by libdsl_runtime on a stand-in for the GPU: what a host can get
 * wrong with a real cubin is told by name, and damaged cubins are refused. */
#include "driver/dslc.h"
#include "runtime/dsl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { M = 40, N = 24, K = 16, NARGS = 6 };

typedef struct {
	dslc_result *result;
	const char *cubin;
	size_t size;
	dsl_device *dev;
	dsl_module *mod;
	dsl_addr a, b, d;
} Host;

static Host host;

static char *read_source(void)
{
	static char text[4096];
	FILE *f = fopen(DSL_SOURCE_DIR "/tests/driver/small.gemm", "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof text - 1, f)] = 0;
	fclose(f);
	return text;
}

static dsl_addr allocate(size_t size)
{
	dsl_addr addr;
	assert_int_equal(dsl_mem_alloc(host.dev, size, &addr), DSL_OK);
	assert_int_equal(dsl_mem_set(host.dev, addr, 0, size), DSL_OK);
	return addr;
}

static int setup(void **state)
{
	(void)state;
	const char *text = read_source();
	host.result = dslc_compile(text, strlen(text), NULL);
	host.cubin = dslc_output(host.result, DSLC_CUBIN, &host.size);
	assert_non_null(host.cubin);
	assert_int_equal(dsl_device_open("cuda:0", &host.dev), DSL_OK);
	assert_int_equal(dsl_module_load_data(host.dev, host.cubin, host.size, &host.mod), DSL_OK);
	host.a = allocate(M * K * 2);
	host.b = allocate(N * K * 2);
	host.d = allocate(M * N * 2);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dsl_device_close(host.dev);
	dslc_result_free(host.result);
	return 0;
}

static void good_args(dsl_arg args[NARGS])
{
	args[0] = dsl_arg_ptr("A", host.a);
	args[1] = dsl_arg_ptr("B", host.b);
	args[2] = dsl_arg_ptr("D", host.d);
	args[3] = dsl_arg_int("M", M);
	args[4] = dsl_arg_int("N", N);
	args[5] = dsl_arg_int("K", K);
}

static dsl_status launch(const dsl_arg *args, size_t n)
{
	return dsl_launch(host.mod, "small", args, n, NULL, NULL);
}

static void test_good(void **state)
{
	(void)state;
	dsl_arg args[NARGS];
	uint16_t d[M * N];
	good_args(args);
	dsl_mem_set(host.dev, host.d, 0xff, sizeof d);
	assert_int_equal(launch(args, NARGS), DSL_OK);
	assert_int_equal(dsl_sync(host.dev), DSL_OK);
	assert_int_equal(dsl_copy_out(host.dev, d, host.d, sizeof d), DSL_OK);
	for (int i = 0; i < M * N; i++)
		assert_int_equal(d[i], 0);
}

/* M = 0 launches nothing and is no mistake, whatever the addresses are. */
static void test_empty(void **state)
{
	(void)state;
	dsl_arg args[NARGS];
	uint16_t d = 1;
	good_args(args);
	args[3] = dsl_arg_int("M", 0);
	dsl_mem_set(host.dev, host.d, 0xff, sizeof d);
	assert_int_equal(launch(args, NARGS), DSL_OK);
	dsl_copy_out(host.dev, &d, host.d, sizeof d);
	assert_int_equal(d, 0xffff);
}

/* One argument replaced; the status, and a word that the sentence must have. */
static void refused(int at, dsl_arg arg, dsl_status want, const char *word)
{
	dsl_arg args[NARGS];
	char why[256];
	good_args(args);
	args[at] = arg;
	dsl_status st = launch(args, NARGS);
	if (st != want || !strstr(dsl_detail(), word))
		fail_msg("status %s, detail '%s'; wanted %s and '%s'", dsl_status_name(st),
			 dsl_detail(), dsl_status_name(want), word);
	assert_int_equal(dsl_can_run(host.mod, "small", args, NARGS, why, sizeof why), want);
	assert_non_null(strstr(why, word));
}

static void test_wrong_arguments(void **state)
{
	(void)state;
	dsl_arg args[NARGS + 1];
	refused(0, dsl_arg_int("A", 1), DSL_ERR_ARG_TYPE, "A");
	refused(3, dsl_arg_ptr("M", host.a), DSL_ERR_ARG_TYPE, "M");
	refused(3, dsl_arg_float("M", 1.0), DSL_ERR_ARG_TYPE, "M");
	refused(0, dsl_arg_ptr("A", 0), DSL_ERR_NULL, "A");
	refused(1, dsl_arg_ptr("B", 0), DSL_ERR_NULL, "B");
	refused(2, dsl_arg_ptr("D", 0), DSL_ERR_NULL, "D");
	refused(0, dsl_arg_ptr("A", host.a + 2), DSL_ERR_ALIGN, "A");
	refused(4, dsl_arg_int("L", 8), DSL_ERR_ARG_NAME, "L");
	refused(4, dsl_arg_int("M", 8), DSL_ERR_ARG_TWICE, "M");
	refused(3, dsl_arg_int("M", -1), DSL_ERR_EXTENT, "M");
	good_args(args);
	assert_int_equal(launch(args, NARGS - 1), DSL_ERR_ARG_MISSING);
	assert_non_null(strstr(dsl_detail(), "K"));
	assert_int_equal(dsl_launch(host.mod, "large", args, NARGS, NULL, NULL),
			 DSL_ERR_KERNEL_NAME);
	assert_non_null(strstr(dsl_detail(), "small"));
}

static void test_facts(void **state)
{
	(void)state;
	refused(4, dsl_arg_int("N", 12), DSL_ERR_FACT, "N % 8 == 0");
	refused(5, dsl_arg_int("K", 12), DSL_ERR_FACT, "K % 8 == 0");
	refused(3, dsl_arg_int("M", INT64_C(1) << 31), DSL_ERR_FACT, "M < 2147483648");
}

/* Every length, but by steps inside the code. */
static void test_truncated(void **state)
{
	(void)state;
	for (size_t n = 0; n < host.size; n += n < 128 || n + 512 > host.size ? 1 : 61) {
		char *cut = malloc(n + 1); /* of its own, so that a read past its end is seen */
		dsl_module *mod = NULL;
		memcpy(cut, host.cubin, n);
		dsl_status st = dsl_module_load_data(host.dev, cut, n, &mod);
		if (st == DSL_OK || !dsl_detail()[0])
			fail_msg("%zu of %zu bytes: %s", n, host.size, dsl_status_name(st));
		free(cut);
	}
}

static void test_no_gpu(void **state)
{
	(void)state;
	dsl_device *dev = NULL;
	char *before = strdup(getenv("DSL_LIBCUDA"));
	setenv("DSL_LIBCUDA", "/nowhere/libcuda.so.1", 1);
	assert_int_equal(dsl_device_open("cuda:0", &dev), DSL_ERR_NO_DRIVER);
	assert_null(dev);
	assert_non_null(strstr(dsl_detail(), "/nowhere/libcuda.so.1"));
	setenv("DSL_LIBCUDA", before, 1);
	free(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_wrong_arguments),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_no_gpu),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
