/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Errors and notes of portability: which is what, what each does to a launch, where it stops. */
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#define HEAD                                                                                      \
	".version 8.7\n.target sm_90a\n.address_size 64\n"                                        \
	".visible .entry k(.param .u64 out)\n{\n.shared .align 128 .b8 tile[1024];\n"             \
	".shared .align 8 .b8 bar[8];\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<4>;\n" \
	"ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 0;\n"             \
	"shr.u32 %r1, %r0, 5;\nand.b32 %r2, %r0, 31;\nshl.b32 %r2, %r2, 2;\n"                     \
	"mov.u32 %r3, tile;\nadd.u32 %r4, %r3, %r2;\n"
#define TAIL "bar.sync 0;\nld.shared.u32 %r6, [%r4];\n@%p0 st.global.u32 [%rd0], %r6;\nret;\n}\n"

/* Warps store one value each, the same or not. */
#define STORES(value) HEAD "mov.u32 %r5, " value ";\nst.shared.u32 [%r4], %r5;\n" TAIL
/* The upper half of 8 bytes differs. */
#define STORES_WIDE                                           \
	HEAD "shl.b32 %r7, %r2, 1;\nadd.u32 %r7, %r7, %r3;\n" \
	     "mov.u32 %r5, 1;\nst.shared.v2.u32 [%r7], {%r5, %r1};\n" TAIL
#define INIT_ONLY                                                                                  \
	HEAD "@%p0 mbarrier.init.shared::cta.b64 [bar], 1;\nbar.sync 0;\n"                         \
	     "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n"                     \
	     "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], "     \
	     "[%rd0], "                                                                            \
	     "128, [bar];\nW: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n@!%p1 bra " \
	     "W;\n" TAIL
#define LEFT                                                                          \
	HEAD "mov.u32 %r5, 1;\nsetp.lt.u32 %p3, %r0, 32;\n@%p3 st.shared.u32 [%r4], " \
	     "%r5;\nfence.proxy.async.shared::cta;\n"                                 \
	     "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], 16;\n" \
	     "@%p0 cp.async.bulk.commit_group;\nret;\n}\n"
/* A race in each of a million turns. */
#define FOR_EVER                                                                             \
	HEAD "mov.u32 %r7, 1000000;\nL: add.u32 %r5, %r7, %r1;\nst.shared.u32 [%r4], %r5;\n" \
	     "sub.u32 %r7, %r7, 1;\nsetp.ne.u32 %p2, %r7, 0;\n@%p2 bra L;\n" TAIL

static u32 value; /* at out */

static void run(const char *ptx, u32 checks, u32 most, SimResult *r)
{
	struct Memory *m = sim_memory_new();
	char why[600];
	struct SimModule *mod = sim_load(m, ptx, strlen(ptx), why, sizeof why);
	if (!mod)
		fail_msg("%s", why);
	u64 out = sim_alloc(m, 256);
	u32 *host = sim_host(m, out, 256);
	for (u32 i = 0; i < 64; i++)
		host[i] = 1;
	SimLaunch l = {.module = mod,
		       .kernel = "k",
		       .grid = {1, 1, 1},
		       .block = {64, 1, 1},
		       .params = &out,
		       .param_bytes = sizeof out};
	SimOptions o = {.checks = checks, .threads = 1, .max_reports = most};
	if (!sim_run(m, &l, &o, r, why, sizeof why))
		fail_msg("%s", why);
	value = *host;
	sim_unload(mod);
	sim_memory_free(m);
}

static void is_note(const char *ptx, SimKind kind)
{
	SimResult r;
	run(ptx, CHECK_ALL, 0, &r);
	assert_true(r.n >= 1);
	for (u32 i = 0; i < r.n; i++)
		if (!r.reports[i].note)
			fail_msg("%s: %s", sim_kind_word(r.reports[i].kind), r.reports[i].text);
	assert_int_equal(r.errors, 0);
	assert_int_equal(r.reports[0].kind, kind);
	assert_true(r.reports[0].note);
	assert_int_equal(value, 1);
	sim_result_free(&r);
	run(ptx, CHECK_ALL | CHECK_PORTABILITY, 0, &r);
	assert_true(r.errors >= 1);
	assert_int_equal(r.errors, r.n);
	assert_int_equal(r.reports[0].kind, kind);
	assert_false(r.reports[0].note);
	assert_int_equal(value, 1);
	sim_result_free(&r);
	run(ptx, 0, 0, &r);
	assert_int_equal(r.n, 0);
}

static void notes_do_not_fail(void **state)
{
	(void)state;
	is_note(STORES("1"), SIM_EQUAL);
	is_note(INIT_ONLY, SIM_INIT);
	is_note(LEFT, SIM_LEFT);
}

static void is_race(const char *ptx)
{
	SimResult r;
	run(ptx, CHECK_ALL, 0, &r);
	assert_int_equal(r.errors, 1);
	assert_int_equal(r.reports[0].kind, SIM_RACE);
	assert_false(r.reports[0].note);
	sim_result_free(&r);
}

static void other_values_are_errors(void **state)
{
	(void)state;
	is_race(STORES("%r1"));
	is_race(STORES_WIDE);
}

static void a_launch_that_faults_stops(void **state)
{
	SimResult r;
	(void)state;
	run(FOR_EVER, CHECK_ALL, 0, &r);
	assert_true(r.errors >= 1 && r.errors < 16);
	assert_in_range(r.times, SIM_TIMES, SIM_TIMES + 64);
	assert_true(r.steps < 1000000);
	sim_result_free(&r);
	run(FOR_EVER, CHECK_ALL, 1, &r);
	assert_int_equal(r.errors, 1);
	assert_in_range(r.times, 1, 64);
	sim_result_free(&r);
}

static void words(void **state)
{
	u32 checks;
	(void)state;
	assert_true(sim_checks_parse("all,portability", &checks));
	assert_int_equal(checks, CHECK_ALL | CHECK_PORTABILITY);
	assert_true(sim_checks_parse("all", &checks));
	assert_int_equal(checks & CHECK_PORTABILITY, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_do_not_fail),
		cmocka_unit_test(other_values_are_errors),
		cmocka_unit_test(a_launch_that_faults_stops),
		cmocka_unit_test(words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
