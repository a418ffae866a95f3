/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* launcher.c - the generated launcher and the embedded cubin, used as a host program uses them. */
#include "sample.h"
#include "sample_launch.h"

#include <string.h>

static const gemm_args good = {
	.class_ = 0x10000, .B = 0x20000, .D = 0x30000000, .M = 500, .N = 520, .K = 264};

static void launches(void **state)
{
	(void)state;
	Fake *f = fake_reset();
	f->kernel_params = 6;
	dsl_device *dev = device_open();
	dsl_module *mod;
	assert_status(dsl_module_load_data(dev, sample_cubin, sample_cubin_size, &mod), DSL_OK);
	assert_status(gemm_launch(mod, &good, NULL, NULL), DSL_OK);
	assert_true(f->params[3] == 500 && f->params[4] == 520 && f->params[5] == 264);
	assert_int_equal(f->config.gridDimX, 4 * 3);
	scale_args s = {.x = 0x100, .alpha = 2.5f, .beta = 1, .n = 7, .N = 64};
	f->kernel_params = 5;
	assert_status(scale_launch(mod, &s, NULL, NULL), DSL_OK);
	assert_true((uint32_t)f->params[1] == 0x40200000 && (uint32_t)f->params[3] == 7);
	dsl_device_close(dev);
}

static void asks_for_workspace(void **state)
{
	(void)state;
	size_t bytes = 1;
	fake_reset();
	dsl_device *dev = device_open();
	dsl_module *mod;
	gemm_args a = good;
	assert_status(dsl_module_load_data(dev, sample_cubin, sample_cubin_size, &mod), DSL_OK);
	assert_status(gemm_workspace_size(mod, &a, &bytes), DSL_OK);
	assert_int_equal(bytes, 0);
	a.K = 263;
	assert_status(gemm_workspace_size(mod, &a, &bytes), DSL_OK);
	assert_int_equal(bytes, (500 + 520) * 640); /* rows of 526 bytes */
	dsl_device_close(dev);
}

static void can_run_needs_no_device(void **state)
{
	(void)state;
	char why[256] = "";
	gemm_args a = good;
	assert_true(gemm_can_run(&a, why, sizeof why));
	a.K = 263;
	assert_false(gemm_can_run(&a, why, sizeof why));
	assert_says(why, "tensor class", "K * 2 = 526", NULL);
	a = good;
	a.M = INT64_C(1) << 31;
	assert_false(gemm_can_run(&a, why, sizeof why));
	assert_says(why, "M < 2147483648", NULL);
	a = good;
	a.D = 0;
	assert_false(gemm_can_run(&a, NULL, 0));
}

/* What the header holds is what the cubin's manifest says of this kernel. */
static void holds_the_same_kernel(void **state)
{
	(void)state;
	fake_reset();
	dsl_device *dev = device_open();
	dsl_module *mod;
	KModuleDesc *d;
	assert_status(dsl_module_load_data(dev, sample_cubin, sample_cubin_size, &mod), DSL_OK);
	const KDesc *m = &dsl_module_desc(mod)->kernels[0];
	assert_status(dsl_desc_parse((const char *)gemm_manifest, sizeof gemm_manifest, &d),
		      DSL_OK);
	assert_int_equal(d->nkernels, 1);
	const KDesc *k = d->kernels;
	assert_string_equal(k->schedule, m->schedule);
	assert_true(k->nargs == m->nargs && k->nsyms == m->nsyms && k->nmaps == m->nmaps &&
		    k->nfacts == m->nfacts && k->nparams == m->nparams && k->smem == m->smem);
	assert_memory_equal(k->params, m->params, sizeof k->params);
	dsl_desc_free(d);
	dsl_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches),
		cmocka_unit_test(asks_for_workspace),
		cmocka_unit_test(can_run_needs_no_device),
		cmocka_unit_test(holds_the_same_kernel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
