/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* PTX that is right and not simulated costs only the kernels that reach it: each instruction of the
 * table stands in a kernel that does and in one that branches around it, beside one without it. And
 * tensor maps that a kernel changes, which it may also spoil. */
#include "sim/sim.h"

#include <stdio.h>
#include <setjmp.h>
#include <cmocka.h>

static const struct {
	const char *text, *says;
} lacks[] = {
	{"frob.s32 %r1, %r2;", "frob.s32: unknown instruction"},
	{"dp4a.u32 %r1, %r2, %r3, %r4;", "dp4a.u32: a modifier or type is missing"},
	{"dp4a.u32.u32 %r1, %r2, %r3, %r4, %r5;", "dp4a.u32.u32: there are too many operands"},
	{"add.twice.s32 %r1, %r2, %r3;", "add.twice.s32: not known here: .twice.s32"},
	{"mov.u32 %r1, %warp_speed;", "mov.u32: unknown special register %warp_speed"},
	{"call.uni nothing, ();", "call.uni: nothing has no body in this module"},
	{"call.uni %rd1, (), proto;", "call.uni: calls through pointers are not simulated"},
	{"call.uni again, ();", "call.uni: recursion of again is not simulated"},
	{"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r1}, {%f1};",
	 "this shape is not simulated"},
	{"atom.global.exch.b128 %q1, [%rd1], %q2;", "128-bit atomics are not simulated"},
	{"L: .branchtargets A, B;\nbrx.idx %r1, L;\nA: B:", "brx.idx: unknown instruction"},
	{"P: .callprototype (.param .b32 _) _ (.param .b64 _);\nfrob;", "frob: unknown"},
};

#define REGS                                                                                      \
	"{ .reg .pred %%p<4>; .reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .b128 %%q<4>; .reg .f32 " \
	"%%f<9>;\n"

static int module_text(char *to, size_t room, const char *bad)
{
	return snprintf(to, room,
			".version 8.7\n.target sm_90a\n.address_size 64\n"
			".func again() { call.uni again, (); ret; }\n"
			".visible .entry without()\n" REGS "ret;\n}\n"
			".visible .entry around()\n" REGS
			"mov.u32 %%r1, %%tid.x;\nsetp.ge.u32 %%p1, %%r1, 0;\n@%%p1 bra END;\n%s\n"
			"END: ret;\n}\n.visible .entry reaches()\n" REGS "%s\nret;\n}\n",
			bad, bad);
}

/* The report, "clean", or why it could not run. */
static void outcome(struct Memory *m, struct SimModule *mod, const char *kernel, const void *params,
		    size_t bytes, char *to, size_t room)
{
	SimLaunch l = {.module = mod,
		       .kernel = kernel,
		       .grid = {1, 1, 1},
		       .block = {32, 1, 1},
		       .params = params,
		       .param_bytes = bytes};
	SimOptions o = {.checks = CHECK_ALL, .threads = 1};
	SimResult r;
	if (!sim_run(m, &l, &o, &r, to, room))
		return;
	snprintf(to, room, "%s%s%s", r.n ? sim_kind_word(r.reports[0].kind) : "clean",
		 r.n ? ": " : "", r.n ? r.reports[0].text : "");
	sim_result_free(&r);
}

static bool lack_holds(u32 i)
{
	char text[2048], said[600];
	struct Memory *m = sim_memory_new();
	int n = module_text(text, sizeof text, lacks[i].text);
	struct SimModule *mod = sim_load(m, text, (size_t)n, said, sizeof said);
	bool ok = mod;
	for (const char *const *k = (const char *const[]){"without", "around", NULL}; ok && *k;
	     k++) {
		outcome(m, mod, *k, NULL, 0, said, sizeof said);
		ok = strcmp(said, "clean") == 0;
	}
	if (ok) {
		outcome(m, mod, "reaches", NULL, 0, said, sizeof said);
		ok = strstr(said, "not simulated: ") == said && strstr(said, lacks[i].says);
	}
	if (!ok)
		print_message("%s: %s\n", lacks[i].text, said);
	sim_unload(mod);
	sim_memory_free(m);
	return ok;
}

static void only_who_reaches(void **state)
{
	int wrong = 0;
	(void)state;
	for (u32 i = 0; i < SIM_COUNT(lacks); i++)
		wrong += !lack_holds(i);
	assert_int_equal(wrong, 0);
}

/* A map of other memory, made of the one in `map`: copied to shared memory, changed there, copied
 * to `made`; a box of 32 x 4 floats is loaded by it, and lane l stores its column. %s: what else is
 * changed. */
static const char remade[] =
	".version 8.7\n.target sm_90a\n.address_size 64\n"
	".visible .entry k(.param .align 64 .b8 map[128], .param .u64 made, .param .u64 from, "
	".param "
	".u64 to)\n{\n"
	".shared .align 1024 .b8 tile[1024];\n.shared .align 128 .b8 copy[128];\n"
	".shared .align 8 .b8 bar[8];\n"
	".reg .pred %%p<4>;\n.reg .b32 %%r<9>;\n.reg .b64 %%d<9>;\n"
	"mov.u32 %%r0, %%tid.x;\nsetp.eq.u32 %%p0, %%r0, 0;\nshl.b32 %%r1, %%r0, 2;\n"
	"mov.b64 %%d0, map;\ncvta.param.u64 %%d0, %%d0;\ncvt.u64.u32 %%d1, %%r1;\n"
	"add.u64 %%d0, %%d0, %%d1;\nld.u32 %%r2, [%%d0];\nmov.u32 %%r3, copy;\n"
	"add.u32 %%r4, %%r3, %%r1;\nst.shared.u32 [%%r4], %%r2;\nbar.warp.sync -1;\n"
	"ld.param.u64 %%d2, [made];\nld.param.u64 %%d3, [from];\nld.param.u64 %%d4, [to];\n"
	"@%%p0 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%%r3], %%d3;\n"
	"@%%p0 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%%r3], 1;\n"
	"@%%p0 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%%r3], 1, 4;\n"
	"@%%p0 tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%%r3], 0, 128;\n"
	"@%%p0 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%%r3], 1, 4;\n"
	"@%%p0 tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%%r3], 1, 1;\n"
	"@%%p0 tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%%r3], 7;\n"
	"@%%p0 tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%%r3], 0;\n"
	"@%%p0 tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%%r3], 0;\n%s"
	"bar.warp.sync -1;\n"
	"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
	"[%%d2], [copy], 128;\n"
	"fence.proxy.tensormap::generic.acquire.gpu [%%d2], 128;\n"
	"@%%p0 mbarrier.init.shared::cta.b64 [bar], 1;\n"
	"@%%p0 fence.mbarrier_init.release.cluster;\nbar.sync 0;\n"
	"@%%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
	"[tile], [%%d2, {0, 0}], [bar];\n"
	"@%%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;\n"
	"W: mbarrier.try_wait.parity.shared::cta.b64 %%p1, [bar], 0;\n@!%%p1 bra W;\n"
	"mov.u32 %%r5, tile;\nadd.u32 %%r5, %%r5, %%r1;\nld.shared.u32 %%r6, [%%r5+384];\n"
	"add.u64 %%d4, %%d4, %%d1;\nst.global.u32 [%%d4], %%r6;\nret;\n}\n";

static void remade_run(const char *extra, char *said, size_t room)
{
	char text[6000], why[600] = "";
	struct Memory *m = sim_memory_new();
	struct {
		_Alignas(64) unsigned char map[128];
		u64 made, from, to;
	} params;
	SimMap map = {.base = sim_alloc(m, 256), .rank = 1, .elem = SIM_U8, .dims = {256}};
	map.box[0] = 32;
	int n = snprintf(text, sizeof text, remade, extra);
	struct SimModule *mod = sim_load(m, text, (size_t)n, why, sizeof why);
	assert_string_equal(why, "");
	assert_null(sim_map_encode(&map, params.map));
	params.made = sim_alloc(m, 128);
	params.from = sim_alloc(m, 512);
	params.to = sim_alloc(m, 128);
	u32 *from = sim_host(m, params.from, 512), *to = sim_host(m, params.to, 128);
	for (u32 i = 0; i < 128; i++)
		from[i] = i * i;
	outcome(m, mod, "k", &params, sizeof params, said, room);
	for (u32 i = 0; i < 32 && strcmp(said, "clean") == 0; i++)
		assert_int_equal(to[i], (96 + i) * (96 + i));
	sim_unload(mod);
	sim_memory_free(m);
}

static void a_map_is_replaced(void **state)
{
	char said[600];
	(void)state;
	remade_run("", said, sizeof said);
	assert_string_equal(said, "clean");
}

static void a_map_is_spoiled(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"@%p0 st.shared.u16 [copy+62], 60000;\n", "box must be 1 to 256"},
		{"@%p0 st.shared.u32 [copy+124], 7;\n", "not a tensor map of this device"},
		{"@%p0 tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [copy], 99;\n",
		 "the element type is 0 to 12"},
		{"@%p0 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [copy], 0, 0;\n",
		 "out of range"},
		{"@%p0 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [copy], 7, 1;\n",
		 "no such dimension"},
		{"@%p0 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [copy], 0, 3;\n",
		 "a multiple of 16 bytes"},
		{"@%p0 tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [copy], 0, 8;\n",
		 "each stride must be"},
		{"@%p0 tensormap.replace.tile.rank.shared::cta.b1024.b32 [copy], 5;\n",
		 "the rank must be 1 to 5"},
		{"@%p0 tensormap.replace.tile.rank.shared::cta.b1024.b32 [copy], 2;\n",
		 "a map of rank 3"},
	};
	char said[600];
	(void)state;
	for (u32 i = 0; i < SIM_COUNT(rows); i++) {
		remade_run(rows[i].text, said, sizeof said);
		if (!strstr(said, rows[i].says))
			fail_msg("%s: %s", rows[i].text, said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_who_reaches),
		cmocka_unit_test(a_map_is_replaced),
		cmocka_unit_test(a_map_is_spoiled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
