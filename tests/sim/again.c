/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Warps that begin in memory that others have left: their registers are as those of the first were,
 * from CTA to CTA, from launch to launch, and beside a kernel that needs another size. */
#include "sim/sim.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

enum { CTAS = 5, THREADS = 64, LAUNCHES = 3, WORDS = CTAS * THREADS };

/* Each thread stores what is in a register that nothing has been put into, then puts something. */
static const char text[] =
	".version 8.0\n.target sm_90a\n.address_size 64\n"
	".visible .entry small(.param .u64 to)\n{\n"
	".reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n"
	"mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r1, %r1, 64, %r0;\n"
	"ld.param.u64 %rd0, [to];\nmad.wide.u32 %rd0, %r1, 4, %rd0;\n"
	"st.global.u32 [%rd0], %r2;\nadd.u32 %r2, %r1, 7;\nst.global.u32 [%rd0+4096], "
	"%r2;\nret;\n}\n"
	".visible .entry large(.param .u64 to)\n{\n"
	".reg .b32 %r<4>, %q<64>;\n.reg .b64 %rd<2>;\n"
	"mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r1, %r1, 64, %r0;\n"
	"ld.param.u64 %rd0, [to];\nmad.wide.u32 %rd0, %r1, 4, %rd0;\n"
	"st.global.u32 [%rd0], %q63;\nadd.u32 %q0, %r1, 7;\nmov.b32 %q63, %q0;\n"
	"st.global.u32 [%rd0+4096], %q63;\nret;\n}\n";

static void launch(struct Memory *m, struct SimModule *mod, const char *kernel, u64 to)
{
	char why[600];
	SimLaunch l = {.module = mod,
		       .kernel = kernel,
		       .grid = {CTAS, 1, 1},
		       .block = {THREADS, 1, 1},
		       .params = &to,
		       .param_bytes = sizeof to};
	SimOptions o = {.checks = CHECK_ALL & ~CHECK_UNINIT, .threads = 2};
	SimResult r;
	if (!sim_run(m, &l, &o, &r, why, sizeof why))
		fail_msg("%s", why);
	assert_int_equal(r.n, 0);
	sim_result_free(&r);
}

static void registers(void **state)
{
	char why[600];
	(void)state;
	struct Memory *m = sim_memory_new();
	u64 to = sim_alloc(m, 8192);
	struct SimModule *mod = sim_load(m, text, sizeof text - 1, why, sizeof why);
	if (!mod)
		fail_msg("%s", why);
	for (int i = 0; i < LAUNCHES * 2; i++) {
		launch(m, mod, i % 2 ? "large" : "small", to);
		launch(m, mod, i % 2 ? "large" : "small", to);
		const u32 *unset = sim_host(m, to, 8192), *set = unset + 1024;
		for (u32 w = 0; w < WORDS; w++) {
			assert_int_equal(unset[w], 0);
			assert_int_equal(set[w], w + 7);
		}
	}
	sim_unload(mod);
	sim_memory_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(registers)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
