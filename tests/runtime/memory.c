/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* memory.c - the host runs out of memory: every allocation on the way fails once, and each time
 * there is a status, nothing leaks (the sanitizer looks) and the device is as before. */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int countdown = -1; /* allocations until one fails; -1 is never */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

/* Where it cannot grow an object, the JSON library loses that object's key and value. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:json_object_object_add_ex\nleak:json_object_new_\n";
}

static int fails(void)
{
	return countdown >= 0 && countdown-- == 0;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

static void opening(void **state)
{
	(void)state;
	dsl_device *dev = NULL;
	fake_reset();
	countdown = 0;
	dsl_status st = dsl_device_open("cuda:0", &dev);
	countdown = -1;
	assert_status(st, DSL_ERR_MEMORY);
	assert_null(dev);
}

static void events(void **state)
{
	(void)state;
	dsl_event *e = NULL;
	fake_reset();
	dsl_device *dev = device_open();
	countdown = 0;
	dsl_status st = dsl_event_create(dev, &e);
	countdown = -1;
	assert_status(st, DSL_ERR_MEMORY);
	assert_null(e);
	dsl_device_close(dev);
}

static void pools(void **state)
{
	(void)state;
	dsl_pool *p = NULL;
	fake_reset();
	dsl_device *dev = device_open();
	assert_status(dsl_pool_create(dev, NULL, &p), DSL_OK); /* what it loads is there then */
	assert_status(dsl_pool_destroy(p), DSL_OK);
	p = NULL;
	countdown = 0;
	dsl_status st = dsl_pool_create(dev, NULL, &p);
	countdown = -1;
	assert_status(st, DSL_ERR_MEMORY);
	assert_null(p);
	dsl_device_close(dev);
}

/* Every allocation of a load fails in turn, until none is left to fail. The JSON library takes a
 * failed allocation of its own for a missing entry, so the manifest may be blamed; some it can do
 * without. */
static void loading(void **state)
{
	(void)state;
	Fake *f = fake_reset();
	Sample s;
	KDesc kernels[2];
	Buf cubin = {0};
	dsl_device *dev = device_open();
	int of_ours = 0, failed = 1;
	sample_fill(&s);
	sample_family(&s, kernels, COUNTOF(kernels));
	sample_cubin_write(&s.module, &cubin);
	for (int n = 0; failed; n++) {
		dsl_module *mod = NULL;
		countdown = n;
		dsl_status st = dsl_module_load_data(dev, cubin.s, cubin.n, &mod);
		failed = countdown < 0;
		countdown = -1;
		assert_true(st == DSL_OK || st == DSL_ERR_MEMORY ||
			    (st == DSL_ERR_MANIFEST && failed));
		assert_int_equal(f->modules, st == DSL_OK);
		of_ours += st == DSL_ERR_MEMORY;
		dsl_module_unload(mod);
	}
	assert_true(of_ours >= 8);
	buf_free(&cubin);
	dsl_device_close(dev);
}

static void files(void **state)
{
	(void)state;
	fake_reset();
	dsl_device *dev = device_open();
	dsl_module *mod = NULL;
	char path[] = "/tmp/dsl_test_XXXXXX";
	FILE *f = fdopen(mkstemp(path), "wb");
	assert_non_null(f);
	for (int i = 0; i < 100000; i++)
		fputc('x', f);
	fclose(f);
	for (int n = 0; n < 2; n++) { /* its first buffer, its second */
		f = fopen(path, "rb");
		countdown = n + 1; /* after fopen's own */
		dsl_status st = dsl_module_load(dev, path, &mod);
		countdown = -1;
		fclose(f);
		assert_true(st == DSL_ERR_MEMORY || st == DSL_ERR_NOT_CUBIN);
	}
	unlink(path);
	dsl_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opening), cmocka_unit_test(events), cmocka_unit_test(pools),
		cmocka_unit_test(loading), cmocka_unit_test(files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
