/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gpu.c - what timing asks of a GPU: facts, and launches gathered into a graph. */
#include "runtime/gpu.h"
#include "sample.h"

static void facts(void **state)
{
	(void)state;
	Fake *f = fake_reset();
	dsl_device *dev = device_open();
	GpuFacts g;
	assert_status(gpu_facts(dev, &g), DSL_OK);
	assert_int_equal(g.free_bytes, 1 << 30);
	assert_int_equal(g.l2_bytes, f->smem); /* what the fake says of all it does not know */
	assert_string_equal(g.bus, "0000:65:00.0");
	f->fail = "cuDeviceGetPCIBusId";
	f->code = CUDA_ERROR_INVALID_VALUE;
	assert_status(gpu_facts(dev, &g), DSL_OK);
	assert_string_equal(g.bus, "");
	f->fail = "cuMemGetInfo";
	assert_status(gpu_facts(dev, &g), DSL_ERR_CUDA);
	assert_says(dsl_detail(), "cuMemGetInfo", NULL);
	assert_int_equal(f->depth, 0);
	assert_status(gpu_current(dev), DSL_OK);
	assert_int_equal(f->depth, 1);
	dsl_device_close(dev);
}

static void graphs(void **state)
{
	(void)state;
	Fake *f = fake_reset();
	dsl_device *dev = device_open();
	dsl_stream s = NULL;
	void *graph = NULL;
	assert_status(gpu_capture(dev, s), DSL_OK);
	assert_int_equal(f->capture, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	assert_status(gpu_captured(dev, s, &graph), DSL_OK);
	assert_int_equal(f->capture, CU_STREAM_CAPTURE_STATUS_NONE);
	assert_int_equal(f->graphs, 1);
	assert_status(gpu_replay(dev, graph, s), DSL_OK);
	assert_int_equal(f->launches, 1);
	assert_status(gpu_forget(dev, graph), DSL_OK);
	assert_status(gpu_forget(dev, NULL), DSL_OK);
	assert_int_equal(f->graphs, 0);
	assert_int_equal(f->depth, 0);
	dsl_device_close(dev);
}

/* Whatever fails on the way to a graph, nothing is left of it. */
static void graphs_that_fail(void **state)
{
	(void)state;
	static const char *const calls[] = {"cuStreamBeginCapture", "cuStreamEndCapture",
					    "cuGraphInstantiateWithFlags", "cuGraphLaunch"};
	for (size_t i = 0; i < COUNTOF(calls); i++) {
		Fake *f = fake_reset();
		dsl_device *dev = device_open();
		void *graph = NULL;
		f->fail = calls[i];
		f->code = CUDA_ERROR_INVALID_VALUE;
		dsl_status st = gpu_capture(dev, NULL);
		if (!st)
			st = gpu_captured(dev, NULL, &graph);
		assert_true(!st || !graph);
		if (!st)
			st = gpu_replay(dev, graph, NULL);
		assert_status(st, DSL_ERR_CUDA);
		gpu_forget(dev, graph);
		assert_int_equal(f->graphs, 0);
		assert_int_equal(f->depth, 0);
		dsl_device_close(dev);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts),
		cmocka_unit_test(graphs),
		cmocka_unit_test(graphs_that_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
