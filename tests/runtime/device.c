/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* device.c - opening devices, memory, streams, events and modules, with a driver that is missing,
 * old or failing. */
#include "sample.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void open_and_ask(void **state)
{
	(void)state;
	Fake *f = fake_reset();
	dsl_device *dev = device_open();
	assert_string_equal(dsl_device_name(dev), "Fake H200");
	assert_string_equal(dsl_device_arch(dev), "sm_90");
	assert_int_equal(dsl_device_sms(dev), 132);
	assert_int_equal(dsl_device_driver(dev), 13000);
	assert_status(dsl_device_close(dev), DSL_OK);
	assert_int_equal(f->contexts, 0);
	assert_int_equal(dsl_device_sms(NULL), 0);
	assert_string_equal(dsl_device_name(NULL), "");
	assert_string_equal(dsl_device_arch(NULL), "");
	assert_int_equal(dsl_device_driver(NULL), 0);
	assert_status(dsl_device_close(NULL), DSL_OK);
}

static void assert_open_fails(const char *name, dsl_status wanted, const char *word)
{
	dsl_device *dev = NULL;
	assert_status(dsl_device_open(name, &dev), wanted);
	assert_null(dev);
	assert_says(dsl_detail(), word, NULL);
}

static void names_of_devices(void **state)
{
	(void)state;
	fake_reset()->devices = 3;
	dsl_device *dev;
	static const char *const good[] = {"cuda", "cuda:0", "cuda:2"};
	for (size_t i = 0; i < COUNTOF(good); i++) {
		assert_status(dsl_device_open(good[i], &dev), DSL_OK);
		dsl_device_close(dev);
	}
	static const char *const bad[] = {"",        "gpu",    "cuda:",
					  "cuda:-1", "cuda:x", "cuda:1 ",
					  "cuda0",   "CUDA:0", "cuda:0x1",
					  "cuda: 1", "sims",   "cuda:99999999999999999999"};
	for (size_t i = 0; i < COUNTOF(bad); i++)
		assert_open_fails(bad[i], DSL_ERR_DEVICE_NAME, bad[i]);
	assert_open_fails("cuda:3", DSL_ERR_NO_DEVICE, "3 GPUs");
	static const char *const options[][2] = {
		{"sim:0", "sim: \"0\": options are seed="},
		{"sim:checks=everything,seed=1", "sim: \"checks=everything\": options are"},
		{"sim:seed=7,sms=0,steps=1", "sim: \"sms=0\": options are"},
		{"sim:threads", "sim: \"threads\""},
		{"sim:seed=x", "checks= with all, none, races, "},
	};
	for (size_t i = 0; i < COUNTOF(options); i++)
		assert_open_fails(options[i][0], DSL_ERR_SIM_OPTION, options[i][1]);
	assert_open_fails(NULL, DSL_ERR_INVALID, "name");
	assert_status(dsl_device_open("cuda:0", NULL), DSL_ERR_INVALID);
}

static void no_driver_no_device(void **state)
{
	(void)state;
	fake_reset()->devices = 0;
	assert_open_fails("cuda:0", DSL_ERR_NO_DEVICE, "no GPU");
	setenv("DSL_LIBCUDA", "/nonexistent/libcuda.so", 1);
	assert_open_fails("cuda:0", DSL_ERR_NO_DRIVER, "/nonexistent/libcuda.so");
	setenv("DSL_LIBCUDA", "libm.so.6", 1);
	assert_open_fails("cuda:0", DSL_ERR_DRIVER_OLD, "cuGetProcAddress");
}

static void every_missing_entry_point(void **state)
{
	(void)state;
	static const char *const names[] = {
#define CU(name, version) "cu" #name,
#include "runtime/cuda.def"
#undef CU
	};
	Fake *f = fake_reset();
	for (size_t i = 0; i < COUNTOF(names); i++) {
		f->missing = names[i];
		assert_open_fails("cuda:0", DSL_ERR_DRIVER_OLD, names[i]);
	}
	assert_int_equal(f->contexts, 0);
}

static void failing_start(void **state)
{
	(void)state;
	static const char *const calls[] = {"cuInit", "cuDriverGetVersion", "cuDeviceGetCount",
					    "cuDeviceGet", "cuDevicePrimaryCtxRetain"};
	for (size_t i = 0; i < COUNTOF(calls); i++) {
		Fake *f = fake_reset();
		f->fail = calls[i];
		f->code = CUDA_ERROR_SYSTEM_NOT_READY;
		assert_open_fails("cuda:0", DSL_ERR_CUDA, "802");
		assert_int_equal(f->contexts, 0);
	}
}

static void memory(void **state)
{
	(void)state;
	Fake *f = fake_reset();
	dsl_device *dev = device_open();
	dsl_addr a = 1;
	char in[] = "some bytes", out[sizeof in] = "";
	assert_status(dsl_mem_alloc(dev, 0, &a), DSL_OK);
	assert_true(a == 0);
	assert_status(dsl_mem_alloc(dev, sizeof in, &a), DSL_OK);
	assert_true(a && a % 256 == 0);
	assert_status(dsl_copy_in(dev, a, in, sizeof in), DSL_OK);
	assert_status(dsl_copy_out(dev, out, a, sizeof in), DSL_OK);
	assert_string_equal(in, out);
	assert_status(dsl_mem_set(dev, a, 'z', 4), DSL_OK);
	assert_status(dsl_copy_out(dev, out, a, sizeof in), DSL_OK);
	assert_string_equal(out, "zzzz bytes");
	assert_status(dsl_sync(dev), DSL_OK);
	assert_status(dsl_copy_in(dev, 0, NULL, 0), DSL_OK);
	assert_status(dsl_copy_in(dev, 0, in, 1), DSL_ERR_INVALID);
	assert_status(dsl_copy_out(dev, NULL, a, 1), DSL_ERR_INVALID);
	assert_status(dsl_mem_set(NULL, a, 0, 1), DSL_ERR_INVALID);
	assert_status(dsl_mem_alloc(dev, 1, NULL), DSL_ERR_INVALID);
	assert_status(dsl_mem_free(NULL, a), DSL_ERR_INVALID);
	assert_status(dsl_sync(NULL), DSL_ERR_INVALID);
	assert_status(dsl_mem_free(dev, a), DSL_OK);
	assert_status(dsl_mem_free(dev, 0), DSL_OK);
	assert_int_equal(f->allocs, 0);
	assert_int_equal(f->depth, 0);
	dsl_device_close(dev);
}

static void streams_and_events(void **state)
{
	(void)state;
	fake_reset();
	dsl_device *dev = device_open();
	dsl_stream s = NULL;
	dsl_event *a = NULL, *b = NULL;
	float ms = 0;
	assert_status(dsl_stream_create(dev, &s), DSL_OK);
	assert_status(dsl_event_create(dev, &a), DSL_OK);
	assert_status(dsl_event_create(dev, &b), DSL_OK);
	assert_status(dsl_event_record(a, s), DSL_OK);
	assert_status(dsl_event_record(b, s), DSL_OK);
	assert_status(dsl_event_elapsed(a, b, &ms), DSL_OK);
	assert_true(ms == 1.5f);
	assert_status(dsl_stream_sync(dev, s), DSL_OK);
	assert_status(dsl_event_destroy(a), DSL_OK);
	assert_status(dsl_event_destroy(b), DSL_OK);
	assert_status(dsl_event_destroy(NULL), DSL_OK);
	assert_status(dsl_stream_destroy(dev, s), DSL_OK);
	assert_status(dsl_stream_destroy(dev, NULL), DSL_OK);
	assert_status(dsl_stream_create(NULL, &s), DSL_ERR_INVALID);
	assert_status(dsl_event_create(dev, NULL), DSL_ERR_INVALID);
	assert_status(dsl_event_record(NULL, s), DSL_ERR_INVALID);
	assert_status(dsl_event_elapsed(NULL, NULL, &ms), DSL_ERR_INVALID);
	assert_status(dsl_stream_sync(NULL, s), DSL_ERR_INVALID);
	assert_status(dsl_stream_destroy(NULL, s), DSL_ERR_INVALID);
	dsl_device_close(dev);
}

static void failing_calls(void **state)
{
	(void)state;
	static const struct {
		const char *call;
		CUresult code;
		dsl_status status;
		const char *word;
	} rows[] = {
		{"cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY, DSL_ERR_DEVICE_MEMORY, "64 bytes"},
		{"cuMemAlloc", CUDA_ERROR_ILLEGAL_ADDRESS, DSL_ERR_STICKY, "ILLEGAL_ADDRESS"},
		{"cuMemAlloc", CUDA_ERROR_INVALID_VALUE, DSL_ERR_CUDA, "cuMemAlloc"},
		{"cuMemAlloc", (CUresult)12345, DSL_ERR_CUDA, "12345"},
		{"cuCtxGetCurrent", CUDA_ERROR_DEINITIALIZED, DSL_ERR_CUDA, "cuCtxGetCurrent"},
		{"cuCtxPushCurrent", CUDA_ERROR_CONTEXT_IS_DESTROYED, DSL_ERR_STICKY, "cuCtxPush"},
	};
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		Fake *f = fake_reset();
		dsl_device *dev = device_open();
		dsl_addr a = 0;
		f->fail = rows[i].call;
		f->code = rows[i].code;
		assert_status(dsl_mem_alloc(dev, 64, &a), rows[i].status);
		assert_says(dsl_detail(), rows[i].word, NULL);
		assert_true(a == 0);
		assert_int_equal(f->depth, 0);
		f->fail = NULL;
		dsl_device_close(dev);
	}
}

static void assert_module_fails(dsl_device *dev, const KModuleDesc *m, dsl_status wanted,
				const char *word1, const char *word2)
{
	Buf cubin = {0};
	dsl_module *mod = NULL;
	sample_cubin_write(m, &cubin);
	assert_status(dsl_module_load_data(dev, cubin.s, cubin.n, &mod), wanted);
	assert_null(mod);
	assert_says(dsl_detail(), word1, word2, NULL);
	buf_free(&cubin);
}

static void modules_that_do_not_fit(void **state)
{
	(void)state;
	Fake *f = fake_reset();
	dsl_device *dev = device_open();
	Sample s;
	sample_fill(&s);
	s.module.min_driver = 13010;
	assert_module_fails(dev, &s.module, DSL_ERR_DRIVER_OLD, "13.1", "13.0");
	static const char *const other[] = {"sm_100a", "sm_89a", "sm_91", "sm_91a",
					    "sm_120",  "90a",    "",      "sm_"};
	for (size_t i = 0; i < COUNTOF(other); i++) {
		sample_fill(&s);
		s.module.target = other[i];
		assert_module_fails(dev, &s.module, DSL_ERR_ARCH, other[i], "this device is sm_90");
	}
	sample_fill(&s);
	s.kernel[1].symbol = "absent";
	assert_module_fails(dev, &s.module, DSL_ERR_MANIFEST, "scale", "absent");
	sample_fill(&s);
	s.kernel[0].smem = 232449;
	assert_module_fails(dev, &s.module, DSL_ERR_RESOURCES, "232449", "232448");
	sample_fill(&s);
	s.kernel[0].grid[1] = "M Q *";
	assert_module_fails(dev, &s.module, DSL_ERR_MANIFEST, "gemm", "M Q *");
	assert_int_equal(f->modules, 0);
	dsl_device_close(dev);
}

static void an_older_minor_runs_a_plain_target_only(void **state)
{
	(void)state;
	Fake *f = fake_reset();
	f->minor = 3;
	dsl_device *dev = device_open();
	Sample s;
	sample_fill(&s);
	assert_module_fails(dev, &s.module, DSL_ERR_ARCH, "sm_90a", "sm_93");
	s.module.target = "sm_90";
	dsl_module_unload(module_open(dev, &s.module));
	dsl_device_close(dev);
}

static void older_targets_run_by_their_ptx(void **state)
{
	static const struct {
		const char *target;
		bool text;
		int major, minor;
	} cases[] = {{"sm_80", true, 9, 0},    {"sm_89", true, 9, 0},  {"sm_90", false, 9, 0},
		     {"sm_90a", false, 9, 0},  {"sm_90", true, 12, 0}, {"sm_120", false, 12, 0},
		     {"sm_120", false, 12, 1}, {"sm_120", true, 13, 0}};
	(void)state;
	for (size_t i = 0; i < COUNTOF(cases); i++) {
		Fake *f = fake_reset();
		f->major = cases[i].major;
		f->minor = cases[i].minor;
		dsl_device *dev = device_open();
		Sample s;
		sample_fill(&s);
		s.module.target = cases[i].target;
		dsl_module *mod = module_open(dev, &s.module);
		assert_int_equal(f->text, cases[i].text);
		dsl_module_unload(mod);
		dsl_device_close(dev);
	}
}

static void loads_that_the_driver_refuses(void **state)
{
	(void)state;
	static const struct {
		const char *call;
		CUresult code;
		dsl_status status;
	} rows[] = {
		{"cuModuleLoadData", CUDA_ERROR_INVALID_IMAGE, DSL_ERR_LOAD},
		{"cuModuleLoadData", CUDA_ERROR_NO_BINARY_FOR_GPU, DSL_ERR_LOAD},
		{"cuModuleLoadData", CUDA_ERROR_OUT_OF_MEMORY, DSL_ERR_DEVICE_MEMORY},
		{"cuModuleLoadData", CUDA_ERROR_LAUNCH_FAILED, DSL_ERR_STICKY},
		{"cuModuleGetFunction", CUDA_ERROR_UNKNOWN, DSL_ERR_CUDA},
		{"cuFuncSetAttribute", CUDA_ERROR_INVALID_VALUE, DSL_ERR_RESOURCES},
		{"cuFuncSetAttribute", CUDA_ERROR_UNKNOWN, DSL_ERR_CUDA},
	};
	Sample s;
	sample_fill(&s);
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		Fake *f = fake_reset();
		dsl_device *dev = device_open();
		f->fail = rows[i].call;
		f->code = rows[i].code;
		assert_module_fails(dev, &s.module, rows[i].status, "", "");
		f->fail = NULL;
		assert_int_equal(f->modules, 0);
		dsl_device_close(dev);
	}
	Fake *f = fake_reset();
	dsl_device *dev = device_open();
	f->fail = rows[0].call;
	f->code = rows[0].code;
	assert_module_fails(dev, &s.module, DSL_ERR_LOAD, "built by ptxas 13.0.88", "");
	s.module.ptxas = "";
	assert_module_fails(dev, &s.module, DSL_ERR_LOAD, "by ptxas none, for the simulator alone",
			    "");
	dsl_device_close(dev);
}

static void a_large_cluster_is_allowed_at_load(void **state)
{
	(void)state;
	Fake *f = fake_reset();
	dsl_device *dev = device_open();
	Sample s;
	sample_fill(&s);
	dsl_module *mod = module_open(dev, &s.module);
	assert_int_equal(f->cluster_set, -1);
	dsl_module_unload(mod);
	s.kernel[0].cluster[0] = 16;
	module_open(dev, &s.module);
	assert_int_equal(f->cluster_set, 1);
	dsl_device_close(dev);
	assert_int_equal(f->modules, 0);
}

static void clusters_fill_the_sms_that_they_can(void **state)
{
	(void)state;
	Fake *f = fake_reset();
	dsl_device *dev = device_open();
	Sample s;
	sample_fill(&s);
	f->clusters_lost = 6;
	dsl_module *mod = module_open(dev, &s.module);
	dsl_arg args[] = {dsl_arg_ptr("x", 0x100), dsl_arg_float("alpha", 1.5),
			  dsl_arg_float("beta", 1), dsl_arg_int("n", -3), dsl_arg_int("N", 64)};
	f->kernel_params = 5;
	assert_status(dsl_launch(mod, "scale", args, 5, NULL, NULL), DSL_OK);
	assert_int_equal(f->config.gridDimX, 120); /* of 132 SMs, in clusters of two */
	dsl_launch_opts opts = {.size = sizeof opts, .sms = 1};
	assert_status(dsl_launch(mod, "scale", args, 5, NULL, &opts), DSL_OK);
	assert_int_equal(f->config.gridDimX, 2);
	dsl_module_unload(mod);
	f->clusters_lost = 66;
	assert_module_fails(dev, &s.module, DSL_ERR_RESOURCES, "cannot hold a cluster of 2 CTAs",
			    "scale");
	dsl_device_close(dev);
}

/* Each call that takes a module looks for it before it looks at it. */
static void not_loaded(dsl_module *m)
{
	dsl_arg packed;
	dsl_addr at;
	size_t n;
	dsl_raw raw = {.size = sizeof raw, .grid = {1, 1, 1}, .block = {32, 1, 1}};
	const dsl_status got[] = {
		dsl_launch(m, "gemm", NULL, 0, NULL, NULL),
		dsl_workspace_size(m, "gemm", NULL, 0, &n),
		dsl_can_run(m, "gemm", NULL, 0, NULL, 0),
		dsl_pack(m, "gemm", "A", NULL, 0, 0, 0, NULL, &packed),
		dsl_status_of(m, "gemm"),
		dsl_module_global(m, "x", &at, &n),
		dsl_launch_raw(m, "gemm", &raw),
	};
	for (size_t i = 0; i < COUNTOF(got); i++)
		assert_status(got[i], DSL_ERR_INVALID);
	assert_says(dsl_detail(), "this module is not loaded", NULL);
}

static void same_bytes_are_one_module(void **state)
{
	(void)state;
	Fake *f = fake_reset();
	dsl_device *dev = device_open();
	Sample s;
	sample_fill(&s);
	dsl_module *a = module_open(dev, &s.module), *b = module_open(dev, &s.module);
	assert_ptr_equal(a, b);
	assert_int_equal(f->modules, 1);
	s.module.source = "other.gemm";
	dsl_module *c = module_open(dev, &s.module);
	assert_ptr_not_equal(a, c);
	assert_int_equal(f->modules, 2);
	assert_status(dsl_module_unload(a), DSL_OK);
	assert_int_equal(f->modules, 2);
	assert_status(dsl_module_unload(b), DSL_OK);
	assert_int_equal(f->modules, 1);
	assert_status(dsl_module_unload(b), DSL_ERR_INVALID);
	assert_int_equal(f->modules, 1);
	not_loaded(b);
	assert_status(dsl_workspace_size(c, "gemm", NULL, 0, &(size_t){0}), DSL_ERR_ARG_MISSING);
	assert_status(dsl_module_unload(NULL), DSL_OK);
	dsl_device_close(dev);
	assert_int_equal(f->modules, 0);
}

static void modules_describe_themselves(void **state)
{
	(void)state;
	fake_reset();
	dsl_device *dev = device_open();
	Sample s;
	sample_fill(&s);
	dsl_module *mod = module_open(dev, &s.module);
	assert_string_equal(dsl_module_desc(mod)->kernels[1].name, "scale");
	assert_non_null(strstr(dsl_module_manifest(mod), "\"gemm\""));
	assert_string_equal(dsl_module_ptx(mod), ".version 8.7\n");
	assert_null(dsl_module_desc(NULL));
	assert_null(dsl_module_ptx(NULL));
	assert_string_equal(dsl_module_manifest(NULL), "");
	dsl_device_close(dev);
}

static void files(void **state)
{
	(void)state;
	fake_reset();
	dsl_device *dev = device_open();
	dsl_module *mod = NULL;
	char path[] = "/tmp/dsl_test_XXXXXX";
	Sample s;
	Buf cubin = {0};
	sample_fill(&s);
	sample_cubin_write(&s.module, &cubin);
	FILE *f = fdopen(mkstemp(path), "wb");
	assert_non_null(f);
	fwrite(cubin.s, 1, cubin.n / 2, f);
	fflush(f);
	assert_status(dsl_module_load(dev, path, &mod), DSL_ERR_DAMAGED);
	fwrite(cubin.s + cubin.n / 2, 1, cubin.n - cubin.n / 2, f);
	fclose(f);
	assert_status(dsl_module_load(dev, path, &mod), DSL_OK);
	assert_status(dsl_module_unload(mod), DSL_OK);
	unlink(path);
	assert_status(dsl_module_load(dev, path, &mod), DSL_ERR_FILE);
	assert_says(dsl_detail(), path, "No such file", NULL);
	assert_status(dsl_module_load(dev, "/", &mod), DSL_ERR_FILE);
	assert_status(dsl_module_load(dev, "/dev/null", &mod), DSL_ERR_NOT_CUBIN);
	assert_status(dsl_module_load(dev, NULL, &mod), DSL_ERR_INVALID);
	assert_status(dsl_module_load_data(NULL, "", 1, &mod), DSL_ERR_INVALID);
	assert_status(dsl_module_load_data(dev, "", 0, &mod), DSL_ERR_NOT_CUBIN);
	buf_free(&cubin);
	dsl_device_close(dev);
}

static void *load_and_unload(void *dev)
{
	Sample *s = malloc(sizeof *s);
	Buf cubin = {0};
	dsl_arg args[GEMM_ARGS];
	size_t failures = 0;
	sample_fill(s);
	sample_cubin_write(&s->module, &cubin);
	sample_args(args, 512, 512, 512);
	for (int i = 0; i < 200; i++) {
		dsl_module *mod;
		failures += dsl_module_load_data(dev, cubin.s, cubin.n, &mod) != DSL_OK;
		failures += dsl_launch(mod, "gemm", args, GEMM_ARGS, NULL, NULL) != DSL_OK;
		dsl_module_unload(mod);
	}
	buf_free(&cubin);
	free(s);
	return (void *)failures;
}

static void threads_share_a_device(void **state)
{
	(void)state;
	Fake *f = fake_reset();
	dsl_device *dev = device_open();
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, load_and_unload, dev), 0);
	for (int i = 0; i < 4; i++) {
		void *failures;
		pthread_join(t[i], &failures);
		assert_null(failures);
	}
	assert_int_equal(f->launches, 800);
	assert_int_equal(f->modules, 0);
	dsl_device_close(dev);
}

static void variables_are_found(void **state)
{
	(void)state;
	fake_reset();
	dsl_device *dev = device_open();
	Sample s;
	sample_fill(&s);
	dsl_module *mod = module_open(dev, &s.module);
	dsl_addr at;
	size_t size;
	assert_status(dsl_module_global(mod, "scale", &at, &size), DSL_OK);
	assert_int_equal(at, 0x7000);
	assert_int_equal(size, 48);
	assert_status(dsl_module_global(mod, "absent", &at, &size), DSL_ERR_GLOBAL_NAME);
	assert_status(dsl_module_unload(mod), DSL_OK);
	dsl_device_close(dev);
}

static void statuses_have_texts(void **state)
{
	(void)state;
	static const struct {
		dsl_status st;
		const char *name;
	} rows[] = {
#define DSL_STATUS(id, number, text, remedy) {DSL_##id, "DSL_" #id},
#include "runtime/status.def"
	};
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		assert_string_equal(dsl_status_name(rows[i].st), rows[i].name);
		assert_true(strlen(dsl_status_text(rows[i].st)) > 5);
		assert_true(rows[i].st == DSL_OK || strlen(dsl_status_remedy(rows[i].st)) > 10);
	}
	assert_string_equal(dsl_status_name((dsl_status)9), "DSL_?");
	assert_string_equal(dsl_status_name((dsl_status)-1), "DSL_?");
	assert_string_equal(dsl_status_name((dsl_status)1000), "DSL_?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open_and_ask),
		cmocka_unit_test(names_of_devices),
		cmocka_unit_test(no_driver_no_device),
		cmocka_unit_test(every_missing_entry_point),
		cmocka_unit_test(failing_start),
		cmocka_unit_test(memory),
		cmocka_unit_test(streams_and_events),
		cmocka_unit_test(failing_calls),
		cmocka_unit_test(modules_that_do_not_fit),
		cmocka_unit_test(an_older_minor_runs_a_plain_target_only),
		cmocka_unit_test(older_targets_run_by_their_ptx),
		cmocka_unit_test(loads_that_the_driver_refuses),
		cmocka_unit_test(a_large_cluster_is_allowed_at_load),
		cmocka_unit_test(clusters_fill_the_sms_that_they_can),
		cmocka_unit_test(same_bytes_are_one_module),
		cmocka_unit_test(modules_describe_themselves),
		cmocka_unit_test(files),
		cmocka_unit_test(threads_share_a_device),
		cmocka_unit_test(variables_are_found),
		cmocka_unit_test(statuses_have_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
