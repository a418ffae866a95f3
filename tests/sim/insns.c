/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each row of insns.def as a kernel of its own: operands from memory, the result back to it. And
 * texts that must be refused, each with its line and a reason. */
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

typedef struct {
	const char *text;
	int width[4]; /* of D, A, B, C */
	u64 in[3], want;
} Row;
static const Row rows[] = {
#define INSN_TEST(text, d, a, b, c, x, y, z, want) \
	{text, {d, a, b, c}, {UINT64_C(x), UINT64_C(y), UINT64_C(z)}, UINT64_C(want)},
#define INSN_LATER INSN_TEST
#include "insns.def"
};

/* "add.s32 D, A, B" with registers for the letters. */
static void letters(char *to, size_t room, const char *text)
{
	size_t n = 0;
	for (; *text && n + 4 < room; text++) {
		bool letter =
			strchr("DABC", *text) && (text[1] == ',' || text[1] == '}' ||
						  text[1] == ';' || !text[1] || text[-1] == '{');
		n += (size_t)snprintf(to + n, room - n, letter ? "%%%c" : "%c", *text);
	}
}

static int program(char *to, size_t room, const Row *r)
{
	char text[128];
	letters(text, sizeof text, r->text);
	int n = snprintf(to, room,
			 ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param "
			 ".u64 p)\n{\n"
			 ".reg .b64 %%at;\nld.param.u64 %%at, [p];\n");
	for (int i = 0; i < 4; i++) {
		int w = r->width[i];
		if (!w)
			continue;
		n += snprintf(to + n, room - (size_t)n, ".reg .%s %%%c;\n",
			      w == 1    ? "pred"
			      : w == 16 ? "b16"
			      : w == 32 ? "b32"
					: "b64",
			      "DABC"[i]);
		if (i)
			n += snprintf(to + n, room - (size_t)n, "ld.global.b%d %%%c, [%%at+%d];\n",
				      w, "DABC"[i], 8 * i);
	}
	n += snprintf(to + n, room - (size_t)n, "%s;\n", text);
	if (r->width[0] == 1)
		n += snprintf(to + n, room - (size_t)n,
			      ".reg .b32 %%E;\nselp.b32 %%E, 1, 0, %%D;\n");
	n += snprintf(to + n, room - (size_t)n, "st.global.b%d [%%at], %%%c;\nret;\n}\n",
		      r->width[0] == 1 ? 32 : r->width[0], r->width[0] == 1 ? 'E' : 'D');
	return n;
}

static bool row_holds(const Row *r)
{
	char text[1024], why[600];
	struct Memory *m = sim_memory_new();
	int n = program(text, sizeof text, r);
	struct SimModule *mod = sim_load(m, text, (size_t)n, why, sizeof why);
	if (!mod) {
		print_message("%s: %s\n", r->text, why);
		sim_memory_free(m);
		return false;
	}
	u64 at = sim_alloc(m, 32), *host = sim_host(m, at, 32);
	host[0] = 0;
	memcpy(host + 1, r->in, sizeof r->in);
	SimLaunch l = {.module = mod,
		       .kernel = "k",
		       .grid = {1, 1, 1},
		       .block = {32, 1, 1},
		       .params = &at,
		       .param_bytes = 8};
	SimOptions o = {.checks = CHECK_ALL, .threads = 1};
	SimResult result;
	bool ok = sim_run(m, &l, &o, &result, why, sizeof why) && !result.n && host[0] == r->want;
	if (!ok)
		print_message("%s (0x%llx, 0x%llx, 0x%llx) is 0x%llx, not 0x%llx\n", r->text,
			      (unsigned long long)r->in[0], (unsigned long long)r->in[1],
			      (unsigned long long)r->in[2], (unsigned long long)host[0],
			      (unsigned long long)r->want);
	sim_result_free(&result);
	sim_unload(mod);
	sim_memory_free(m);
	return ok;
}

static void each_row(void **state)
{
	int wrong = 0;
	(void)state;
	for (u32 i = 0; i < SIM_COUNT(rows); i++)
		wrong += !row_holds(&rows[i]);
	assert_int_equal(wrong, 0);
}

static const struct {
	const char *text, *says;
} bad[] = {
	{"add %r1, %r2, %r3;", "add: a modifier or type is missing"},
	{"add.s32 %r1, %r2;", "an operand is missing"},
	{"add.s32 %r1, %r2, %r3, %r4;", "too many operands"},
	{"add.s32 %rd1, %r2, %r3;", "another width"},
	{"add.s32 3, %r2, %r3;", "a register or a constant"},
	{"add.s32 %r1, %r2, nobody;", "unknown name"},
	{"mov.u32 %tid.x, %r1;", "a register is needed"},
	{"@%r1 bra L;", "not a predicate"},
	{"bra NOWHERE;", "line 6: there is no label NOWHERE"},
	{"ld.global.v2.u32 {%r1}, [%rd1];", "number of elements"},
	{"ld.global.u32 %r1, %rd1;", "[address] is needed"},
	{"setmaxnreg.inc.sync.aligned.u32 %r1;", "a constant is needed"},
	{"wgmma.mma_async.sync.aligned.m64n12k16.f32.bf16.bf16 {%f1}, %rd1, %rd1, %p1, 1, 1, 0, 0;",
	 "N a multiple of 8"},
	{"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1}, %rd1, %rd1, %p1, 1, 1, 0, 0;",
	 "another number of registers"},
	{"mbarrier.arrive.expect_tx.shared.b64 _, [%r1];", "expect_tx needs"},
	{".shared .align 3 .b8 x[4]; ret;", "power of two"},
	{".reg .v4 .f32 %v; ret;", "vector registers"},
	{"ld.param.u32 %r1, [p+4", "unexpected"},
	{"\x01", "unexpected character 0x01"},
	{"/* ", "a comment has no end"},
};

/* What is wrong of the text, or of the first instruction that is reached. */
static void refusal(struct Memory *m, const char *body, char *why, size_t room)
{
	char text[1024];
	u64 param = 0;
	int n = snprintf(text, sizeof text,
			 ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry "
			 "k(.param .u64 p)\n"
			 "{ .reg .pred %%p<4>; .reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg "
			 ".f32 %%f<9>;\n%s\nret;\n}\n",
			 body);
	struct SimModule *mod = sim_load(m, text, (size_t)n, why, room);
	SimLaunch l = {mod, "k", {1, 1, 1}, {32, 1, 1}, .params = &param, .param_bytes = 8};
	SimResult r;
	if (!mod || !sim_run(m, &l, &(SimOptions){0}, &r, why, room))
		return;
	snprintf(why, room, "%s", r.n ? r.reports[0].text : "accepted");
	sim_result_free(&r);
	sim_unload(mod);
}

static void each_refusal(void **state)
{
	struct Memory *m = sim_memory_new();
	int wrong = 0;
	(void)state;
	for (u32 i = 0; i < SIM_COUNT(bad); i++) {
		char why[600];
		refusal(m, bad[i].text, why, sizeof why);
		if (strstr(why, bad[i].says))
			continue;
		print_message("%s: \"%s\" does not say \"%s\"\n", bad[i].text, why, bad[i].says);
		wrong++;
	}
	sim_memory_free(m);
	assert_int_equal(wrong, 0);
}

static void checks_by_name(void **state)
{
	u32 checks = 7;
	(void)state;
	assert_true(sim_checks_parse("all", &checks) && checks == CHECK_ALL);
	assert_true(sim_checks_parse("none", &checks) && checks == 0);
	assert_true(sim_checks_parse("races,exit", &checks) && checks == (CHECK_RACE | CHECK_EXIT));
	assert_true(sim_checks_parse("all,-races", &checks) && checks == (CHECK_ALL & ~CHECK_RACE));
	assert_true(sim_checks_parse("all,warps", &checks) && checks == (CHECK_ALL | CHECK_WARPS));
	assert_true(sim_checks_parse("all,global", &checks) &&
		    checks == (CHECK_ALL | CHECK_GLOBAL));
	assert_int_equal(CHECK_ALL & (CHECK_WARPS | CHECK_GLOBAL), 0);
	assert_false(sim_checks_parse("racing", &checks));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row),
		cmocka_unit_test(each_refusal),
		cmocka_unit_test(checks_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
