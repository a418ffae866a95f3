/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a launch has to say of clusters: bytes that threads, or a CTA's own shared memory, send to
 * shared memory of the cluster are an illegal instruction on an H100 where it says nothing, be the
 * cluster of one CTA; all else of clusters runs. */
#include "sim/sim.h"

#include <stdio.h>
#include <setjmp.h>
#include <cmocka.h>

typedef enum { SILENT, BY_LAUNCH, BY_KERNEL, WAYS } Way;

static const struct {
	bool needs;
	const char *body; /* of 32 threads; %r3 is the thread's byte, thread 0 has %p0 */
} kernels[] = {
	{true, "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r3], %r0, [%r2];\n"},
	{true, "@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
	       "[tile], [tile+512], 128, [bar];\n"},
	{false, "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
		"multicast::cluster [tile], [%rd0], 128, [bar], %rs0;\n"},
	{false, "mapa.shared::cluster.u32 %r4, %r2, 0;\nbarrier.cluster.arrive;\n"
		"barrier.cluster.wait;\n@%p0 mbarrier.complete_tx.relaxed.cluster.shared::cluster."
		"b64 [%r4], 128;\nst.shared::cluster.u32 [%r3], %r0;\n"},
};

static void kernel_text(char *to, size_t room, const char *body, Way way)
{
	snprintf(
		to, room,
		".version 8.7\n.target sm_90a\n.address_size 64\n"
		".visible .entry k(.param .u64 from, .param .u64 out)\n%s{\n"
		".shared .align 1024 .b8 tile[1024];\n.shared .align 8 .b8 bar[8];\n"
		".reg .pred %%p<4>;\n.reg .b16 %%rs<4>;\n.reg .b32 %%r<8>;\n.reg .b64 %%rd<4>;\n"
		"mov.u32 %%r0, %%tid.x;\nsetp.eq.u32 %%p0, %%r0, 0;\nmov.u32 %%r1, tile;\n"
		"mov.u32 %%r2, bar;\nmad.lo.u32 %%r3, %%r0, 4, %%r1;\nmov.b16 %%rs0, 1;\n"
		"ld.param.u64 %%rd0, [from];\nld.param.u64 %%rd1, [out];\n"
		"st.shared.u32 [%%r3+512], %%r0;\nfence.proxy.async;\n"
		"@%%p0 mbarrier.init.shared::cta.b64 [bar], 1;\n"
		"@%%p0 fence.mbarrier_init.release.cluster;\nbar.sync 0;\n"
		"@%%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n%s"
		"W: mbarrier.try_wait.parity.shared::cta.b64 %%p1, [bar], 0;\n@!%%p1 bra W;\n"
		"mov.pred %%p2, %%is_explicit_cluster;\n@%%p2 st.global.u32 [%%rd1], 1;\nret;\n}\n",
		way == BY_KERNEL ? ".reqnctapercluster 1, 1, 1\n" : "", body);
}

/* How many reports of no cluster; no other may come. */
static u32 reports(const char *body, Way way)
{
	char why[200], text[2048];
	struct Memory *m = sim_memory_new();
	u64 params[2] = {sim_alloc(m, 128), sim_alloc(m, 4)};
	u32 *explicit = sim_host(m, params[1], 4), one = way == BY_LAUNCH;
	SimOptions o = {.checks = CHECK_ALL, .max_steps = 100000};
	SimResult r;
	*explicit = 0;
	kernel_text(text, sizeof text, body, way);
	SimLaunch l = {.module = sim_load(m, text, strlen(text), why, sizeof why),
		       .kernel = "k",
		       .grid = {2, 1, 1},
		       .block = {32, 1, 1},
		       .cluster = {one, one, one},
		       .params = params,
		       .param_bytes = sizeof params};
	if (!l.module || !sim_run(m, &l, &o, &r, why, sizeof why))
		fail_msg("%s", why);
	u32 n = r.n;
	for (u32 i = 0; i < n; i++) {
		assert_int_equal(r.reports[i].kind, SIM_CLUSTER);
		assert_non_null(strstr(r.reports[i].text, "in a launch without clusters"));
	}
	assert_true(n || *explicit == (way != SILENT));
	sim_result_free(&r);
	sim_unload((struct SimModule *)(uintptr_t)l.module);
	sim_memory_free(m);
	return n;
}

static void a_launch_says_so(void **state)
{
	(void)state;
	for (u32 i = 0; i < SIM_COUNT(kernels); i++)
		for (int way = 0; way < WAYS; way++)
			assert_int_equal(reports(kernels[i].body, (Way)way),
					 kernels[i].needs && way == SILENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_launch_says_so)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
