/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How much shared memory a kernel takes: the variables that it and the functions that it calls
 * name, and no others of its module. */
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

enum { MOST = 232448 }; /* bytes of a CTA on sm_90 */

static const char module[] =
	".version 8.7\n.target sm_90a\n.address_size 64\n"
	".shared .align 16 .b8 big[200000];\n.shared .align 16 .b8 mid[40000];\n"
	".shared .align 16 .b8 low[20000];\n.extern .shared .align 16 .b8 dyn[];\n"
	".func nothing(.param .b32 a) { ret; }\n"
	".func leaf(.param .b32 a) { .reg .b32 %r<2>; ld.param.b32 %r1, [a]; st.shared.b32 [low], "
	"%r1; ret; }\n"
	".func middle(.param .b32 a) { .shared .align 16 .b8 own[1600]; .reg .b32 %r<2>; "
	"ld.param.b32 %r1, [a]; st.shared.b32 [own], %r1; st.shared.b32 [mid], %r1; "
	"{ .param .b32 p0; st.param.b32 [p0], %r1; call.uni leaf, (p0); } ret; }\n"
	".func unused(.param .b32 a) { .shared .align 16 .b8 other[1000]; .reg .b32 %r<2>; "
	"ld.param.b32 %r1, [a]; st.shared.b32 [other], %r1; st.shared.b32 [big], %r1; ret; }\n"
#define CALL(name, function)                                                               \
	".visible .entry " name "() { .reg .b32 %r<2>; mov.u32 %r1, 1; { .param .b32 p0; " \
	"st.param.b32 [p0], %r1; call.uni " function ", (p0); } ret; }\n"
	CALL("calls_nothing", "nothing") CALL("calls_leaf", "leaf") CALL("calls_middle", "middle")
		CALL("calls_unused", "unused") ".visible .entry names_big() { .reg .b32 %r<2>; "
					       "mov.u32 %r1, 1; st.shared.b32 [big], %r1; ret; }\n";

static bool runs(const char *kernel, u32 dynamic)
{
	struct Memory *m = sim_memory_new();
	char why[600];
	struct SimModule *mod = sim_load(m, module, sizeof module - 1, why, sizeof why);
	if (!mod)
		fail_msg("%s", why);
	SimResult r;
	SimLaunch l = {.module = mod,
		       .kernel = kernel,
		       .grid = {1, 1, 1},
		       .block = {32, 1, 1},
		       .dynamic_bytes = dynamic};
	bool ok = sim_run(m, &l, &(SimOptions){.checks = CHECK_ALL}, &r, why, sizeof why);
	if (ok)
		assert_int_equal(r.n, 0);
	else
		assert_non_null(strstr(why, "are possible"));
	sim_result_free(&r);
	sim_unload(mod);
	sim_memory_free(m);
	return ok;
}

static void takes(const char *kernel, u32 bytes)
{
	assert_true(runs(kernel, MOST - bytes));
	assert_false(runs(kernel, MOST - bytes + 16));
}

static void what_is_reached_is_charged(void **state)
{
	(void)state;
	takes("calls_nothing", 0);
	takes("calls_leaf", 20000);
	takes("calls_middle", 61600);
	takes("calls_unused", 201008);
	takes("names_big", 200000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_reached_is_charged)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
