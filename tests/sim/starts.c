/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where a tensor copy may start: loads, stores and reductions of bf16 boxes at coordinates of their
 * innermost dimension, with and without a swizzle, against the rows of tma_starts.def. What an H200
 * was seen to refuse is also written out here. */
#include "sim/sim.h"

#include <stdio.h>
#include <setjmp.h>
#include <cmocka.h>

enum { LOAD, STORE, REDUCE, PREFETCH, KINDS };
static const struct {
	s32 multiple;
	bool below_zero;
} rows[KINDS] = {
#define TMA_START(what, bytes, below_zero) [what] = {bytes, below_zero},
#include "sim/tma_starts.def"
};

static const char *const copies[KINDS] = {
	[LOAD] = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
		 "[tile], [%rd1, {%r1, 0}], [bar];\n"
		 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;\n"
		 "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n@!%p1 bra W;\n",
	[STORE] = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r1, 0}], "
		  "[tile];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
	[REDUCE] = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd1, "
		   "{%r1, 0}], [tile];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
	[PREFETCH] = "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {%r1, 0}];\n",
};

static int kernel_text(char *to, size_t room, int kind)
{
	return snprintf(to, room,
			".version 8.7\n.target sm_90a\n.address_size 64\n"
			".visible .entry k(.param .align 64 .b8 map[128], .param .u32 at)\n{\n"
			".shared .align 1024 .b8 tile[1024];\n.shared .align 8 .b8 bar[8];\n"
			".reg .pred %%p<4>;\n.reg .b32 %%r<4>;\n.reg .b64 %%rd<4>;\n"
			"mov.u32 %%r0, %%tid.x;\nsetp.ne.u32 %%p0, %%r0, 0;\n@%%p0 ret;\n"
			"mov.b64 %%rd0, map;\ncvta.param.u64 %%rd1, %%rd0;\n"
			"ld.param.u32 %%r1, [at];\nmbarrier.init.shared::cta.b64 [bar], 1;\n"
			"fence.mbarrier_init.release.cluster;\n%sret;\n}\n",
			copies[kind]);
}

static void map_make(struct Memory *m, u32 swizzle, u32 cols, void *out)
{
	SimMap map = {.base = sim_alloc(m, 16384),
		      .rank = 2,
		      .elem = SIM_BF16,
		      .dims = {cols, 64},
		      .strides = {256},
		      .box = {64, 8},
		      .swizzle = swizzle};
	assert_null(sim_map_encode(&map, out));
}

/* NULL, or what was reported, in text. */
static const char *copied(int kind, u32 swizzle, u32 cols, s32 at, char *text, size_t room)
{
	_Alignas(64) unsigned char params[132];
	char ptx[2048], why[600];
	struct Memory *m = sim_memory_new();
	int n = kernel_text(ptx, sizeof ptx, kind);
	struct SimModule *mod = sim_load(m, ptx, (size_t)n, why, sizeof why);
	if (!mod)
		fail_msg("%s", why);
	map_make(m, swizzle, cols, params);
	memcpy(params + 128, &at, 4);
	SimLaunch l = {.module = mod,
		       .kernel = "k",
		       .grid = {1, 1, 1},
		       .block = {32, 1, 1},
		       .params = params,
		       .param_bytes = sizeof params};
	SimOptions o = {.checks = CHECK_ALL & ~CHECK_UNINIT, .threads = 1};
	SimResult r;
	assert_true(sim_run(m, &l, &o, &r, why, sizeof why));
	if (r.n)
		snprintf(text, room, "%s: %s", sim_kind_word(r.reports[0].kind), r.reports[0].text);
	const char *said = r.n ? text : NULL;
	sim_result_free(&r);
	sim_unload(mod);
	sim_memory_free(m);
	return said;
}

static const char *started(int kind, u32 swizzle, s32 at, char *text, size_t room)
{
	return copied(kind, swizzle, 128, at, text, room);
}

/* Stores write whole units of 16 bytes, so rows of another length are overrun; loads are cut. */
static void row_ends(void **state)
{
	char text[512];
	(void)state;
	for (u32 cols = 97; cols <= 104; cols++) {
		assert_null(copied(LOAD, 0, cols, 64, text, sizeof text));
		assert_null(copied(STORE, 0, cols, 0, text, sizeof text)); /* ends inside the row */
		for (int kind = STORE; kind <= REDUCE; kind++)
			if (!copied(kind, 0, cols, 64, text, sizeof text) != (cols == 104))
				fail_msg("copy %d, %u columns", kind, cols);
	}
	assert_non_null(copied(STORE, 0, 101, 64, text, sizeof text));
	assert_string_equal(
		text, "out of bounds: a store to a tensor with rows of 202 bytes writes 6 bytes "
		      "beyond them: the hardware writes whole units of 16");
}

static void each_row(void **state)
{
	static const s32 starts[] = {0, 1, 4, 8, -8, -4, 64, 1000, 1004};
	char text[512];
	(void)state;
	for (int kind = 0; kind < KINDS; kind++)
		for (u32 swizzle = 0; swizzle <= 128; swizzle += 128)
			for (u32 i = 0; i < SIM_COUNT(starts); i++) {
				const char *said =
					started(kind, swizzle, starts[i], text, sizeof text);
				bool wrong = starts[i] * 2 % rows[kind].multiple != 0 ||
					     (starts[i] < 0 && !rows[kind].below_zero);
				if ((said != NULL) != wrong)
					fail_msg("copy %d, swizzle %u, coordinate %d: %s", kind,
						 swizzle, starts[i], said ? said : "accepted");
			}
}

static void loads(void **state)
{
	char text[512];
	(void)state;
	assert_non_null(started(LOAD, 128, 4, text, sizeof text));
	assert_string_equal(text,
			    "misaligned access: the box starts at coordinate 4 of its innermost "
			    "dimension, byte 8: this is an illegal instruction where that is not a "
			    "multiple of 16 bytes");
	assert_null(started(LOAD, 128, 8, text, sizeof text));
	assert_null(started(LOAD, 128, -8, text, sizeof text));
}

static void stores(void **state)
{
	char text[512];
	(void)state;
	assert_non_null(started(STORE, 0, 4, text, sizeof text));
	assert_non_null(started(STORE, 0, -8, text, sizeof text));
	assert_string_equal(text,
			    "misaligned access: the box starts at coordinate -8 of its innermost "
			    "dimension, byte -16: this is an illegal instruction where that is "
			    "below 0");
	assert_null(started(STORE, 128, 8, text, sizeof text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_row), cmocka_unit_test(loads),
					   cmocka_unit_test(stores), cmocka_unit_test(row_ends)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
