/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads of a warp that part and meet: operations by member mask over the threads that a mask
 * names (ptx/masks.cu), waiting for those that are elsewhere (ptx/parted.cu), and small kernels in
 * PTX. Lines after "@ " make a kernel right; without them it must be reported. */
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

enum { SEEDS = 12, WORDS = 256, PARTED = 5 };

typedef struct {
	struct Memory *memory;
	struct SimModule *mod;
	u64 out;
	s32 *o; /* WORDS of the device */
	SimResult result;
} Bench;

static void bench_open(Bench *b, const char *text, size_t n)
{
	char why[600];
	*b = (Bench){.memory = sim_memory_new()};
	b->mod = sim_load(b->memory, text, n, why, sizeof why);
	if (!b->mod)
		fail_msg("%s\n%s", why, text);
	b->out = sim_alloc(b->memory, WORDS * 4);
	b->o = sim_host(b->memory, b->out, WORDS * 4);
	memset(b->o, 0, WORDS * 4);
}

static void bench_close(Bench *b)
{
	sim_result_free(&b->result);
	sim_unload(b->mod);
	sim_memory_free(b->memory);
}

static char *text_read(const char *name, size_t *n)
{
	char path[256];
	snprintf(path, sizeof path, DSL_SOURCE_DIR "/tests/sim/ptx/%s.ptx", name);
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 16);
	assert_true(f && text);
	*n = fread(text, 1, (1 << 16) - 1, f);
	fclose(f);
	return text;
}

static void launch(Bench *b, const char *kernel, u32 block, u64 seed)
{
	char why[600];
	struct {
		u64 out;
		s32 a, rest;
	} params = {b->out, PARTED, 0};
	SimLaunch l = {.module = b->mod,
		       .kernel = kernel,
		       .grid = {1, 1, 1},
		       .block = {block, 1, 1},
		       .params = &params,
		       .param_bytes = sizeof params,
		       .entry_regs = 168};
	SimOptions o = {.seed = seed, .checks = CHECK_ALL, .threads = 1, .max_steps = 3000000};
	if (!sim_run(b->memory, &l, &o, &b->result, why, sizeof why))
		fail_msg("%s: %s", kernel, why);
}

static void expect_clean(const Bench *b, const char *name, u64 seed)
{
	for (u32 i = 0; i < b->result.n; i++)
		print_message("%s, seed %llu: %s: %s\n", name, (unsigned long long)seed,
			      sim_kind_word(b->result.reports[i].kind), b->result.reports[i].text);
	assert_int_equal(b->result.n, 0);
}

/* ------------------------------------------------------------------ kernels of nvcc */
static u32 members_of(s32 l, s32 step)
{
	u32 m = 0;
	for (s32 k = l % step; k < 32; k += step)
		m |= 1u << k;
	return m;
}

static s32 halves(s32 row, s32 l)
{
	u32 m = members_of(l, 2);
	switch (row) {
	case 0:
		return 30 + l % 2;
	case 1:
		return (s32)m;
	case 2:
		return l % 2 == 0;
	case 3:
		return l % 2;
	case 4:
		return (s32)(m & 15u << l / 4 * 4);
	case 5:
		return 16;
	default:
		return l ^ 2;
	}
}

static s32 groups(s32 row, s32 l)
{
	s32 tile = l / 8 * 8;
	switch (row) {
	case 0:
		return l % 3 == 2 ? 29 : 30 + l % 3;
	case 1:
		return l % 3 == 2 ? 10 : 11;
	case 2:
		return l / 3;
	case 3:
		return 8 * tile + 28;
	case 4:
		return 0xaa;
	default:
		return tile == 8;
	}
}

static bool counts(s32 l)
{
	return l % 7 != 3;
}

static s32 aggregate(s32 row, s32 l)
{
	s32 n = 0;
	for (s32 k = row ? l % 5 : l; row ? k < l : k < 32 && l < 5; k += 5)
		n += counts(k);
	return row && !counts(l) ? 0 : n;
}

/* All that do not part in the end: o[l] from the value of lane l ^ 1. */
static s32 exchanged(s32 row, s32 l)
{
	if (row)
		return l ? 0 : PARTED;
	return (l ? l : 100) + (l == 1 ? 100 : l ^ 1);
}

static s32 synced(s32 row, s32 l)
{
	return row && l ? 0 : PARTED;
}

static s32 two(s32 row, s32 l)
{
	return row ? (l < 2 ? PARTED : 0) : l + (l ^ 1) * (l % 2 ? 2 : 3);
}

static s32 met(s32 row, s32 l)
{
	(void)row;
	return 31 - l < 7 ? PARTED : 31 - l;
}

static const struct {
	const char *file, *kernel;
	s32 rows;
	s32 (*expected)(s32 row, s32 l);
} kernels[] = {
	{"masks", "mask_halves", 7, halves},       {"masks", "mask_groups", 6, groups},
	{"masks", "mask_aggregate", 2, aggregate}, {"parted", "part_return", 2, exchanged},
	{"parted", "part_trap", 2, exchanged},     {"parted", "part_assert", 2, exchanged},
	{"parted", "part_sync", 2, synced},        {"parted", "part_two", 2, two},
	{"parted", "part_block", 1, met},
};

static void kernel_check(u32 i, u64 seed)
{
	size_t n;
	char *text = text_read(kernels[i].file, &n);
	Bench b;
	bench_open(&b, text, n);
	launch(&b, kernels[i].kernel, 32, seed);
	expect_clean(&b, kernels[i].kernel, seed);
	for (s32 row = 0; row < kernels[i].rows; row++)
		for (s32 l = 0; l < 32; l++)
			if (b.o[row * 32 + l] != kernels[i].expected(row, l))
				fail_msg("%s: row %d lane %d is %d, not %d", kernels[i].kernel, row,
					 l, b.o[row * 32 + l], kernels[i].expected(row, l));
	bench_close(&b);
	free(text);
}

static void kernels_of_nvcc(void **state)
{
	(void)state;
	for (u32 i = 0; i < SIM_COUNT(kernels); i++)
		for (u64 seed = 0; seed < SEEDS; seed++)
			kernel_check(i, seed);
}

/* ------------------------------------------------------------------ PTX */
static const char head[] =
	".version 8.7\n.target sm_90a\n.address_size 64\n"
	".visible .entry k(.param .u64 out, .param .u32 a)\n{\n"
	".shared .align 8 .b8 bar[8];\n.shared .align 4 .b8 flag[4];\n"
	".reg .pred %p<16>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<8>;\n"
	"ld.param.u64 %rd0, [out];\nld.param.u32 %r1, [a];\nmov.u32 %r0, %tid.x;\n"
	"shl.b32 %r2, %r0, 2;\ncvt.u64.u32 %rd1, %r2;\nadd.u64 %rd2, %rd0, %rd1;\n"
	"mov.u32 %r31, %laneid;\n";

#define PUT(reg)  "st.global.u32 [%rd2], " reg ";\n"
#define FULL_MASK "0xffffffff"

typedef struct {
	const char *name;
	u32 block;
	SimKind kind;
	const char *says;
	s32 (*expected)(s32 l); /* of the right kernel */
	const char *body;
} Case;

static s32 all_of_them(s32 l)
{
	(void)l;
	return 32;
}

static s32 neighbour(s32 l)
{
	return l ^ 1;
}

static s32 parity(s32 l)
{
	return l % 2 ? 0x22222222 : 0x11111111;
}

static s32 upper(s32 l)
{
	return l < 16 ? 0 : 16;
}

static s32 zero(s32 l)
{
	(void)l;
	return 0;
}

static s32 turns(s32 l)
{
	return l & 3;
}

static s32 lower_neighbour(s32 l)
{
	return l < 16 ? l ^ 1 : 0;
}

/* Some go past the barrier, but in the right kernel all come to it. */
#define BARRIER                                                    \
	"setp.lt.u32 %p5, %r0, 7;\n@ setp.eq.u32 %p5, %r0, %r0;\n" \
	"@!%p5 bra END;\nbar.sync 0;\nEND: "

static const Case cases[] = {
	{"a loop of other lengths in which a thread may trap", 32, SIM_DIVERGED,
	 "all must run bar.sync together", turns,
	 "and.b32 %r3, %r0, 3;\nmov.u32 %r6, 0;\nL: setp.ge.u32 %p1, %r6, %r3;\n@%p1 bra OUT;\n"
	 "setp.gt.u32 %p2, %r6, 40;\n@!%p2 bra OK;\ntrap;\nOK: add.u32 %r6, %r6, 1;\nbra L;\n"
	 "OUT: " BARRIER PUT("%r6")},
	/* The upper half waits at ON, the odd lanes at B, and the even ones for those alone. */
	{"a shuffle of two branches, in one that may trap", 32, SIM_DIVERGED,
	 "all must run bar.sync together", lower_neighbour,
	 "mov.u32 %r6, 0;\nsetp.lt.u32 %p3, %r0, 16;\n@!%p3 bra ON;\nsetp.gt.u32 %p2, %r0, 40;\n"
	 "@!%p2 bra OK;\ntrap;\nOK: and.b32 %r3, %r0, 1;\nsetp.eq.u32 %p1, %r3, 0;\n"
	 "@!%p1 bra B;\nshfl.sync.bfly.b32 %r6, %r0, 1, 31, 0xffff;\n"
	 "B: @%p1 bra C;\nshfl.sync.bfly.b32 %r6, %r0, 1, 31, 0xffff;\n"
	 "C: bar.warp.sync 0xffff;\nON: " BARRIER PUT("%r6")},
	{"a member that never comes", 32, SIM_DEADLOCK, "threads 0x00000008 of its member mask",
	 all_of_them,
	 "mov.u32 %r5, 1;\nsetp.eq.u32 %p1, %r0, 3;\n@ setp.ne.u32 %p1, %r0, %r0;\n"
	 "@%p1 bra WAIT;\nredux.sync.add.s32 %r6, %r5, " FULL_MASK
	 ";\n" PUT("%r6") "bra END;\n"
			  "WAIT: bar.warp.sync 8;\nbar.sync 1, 64;\nEND:\n"},
	{"a thread that its own mask does not name", 32, SIM_DIVERGED, "does not name the thread",
	 upper,
	 "mov.u32 %r5, 1;\nmov.u32 %r6, 0;\nsetp.lt.u32 %p1, %r0, 16;\n"
	 "@ @%p1 bra END;\nredux.sync.add.s32 %r6, %r5, 0xffff0000;\nEND:\n" PUT("%r6")},
	{"another operation with the same mask", 32, SIM_DEADLOCK, "of its member mask",
	 all_of_them,
	 "mov.u32 %r5, 1;\nsetp.lt.u32 %p1, %r0, 16;\n@%p1 bra LOW;\n"
	 "redux.sync.add.s32 %r6, %r5, " FULL_MASK ";\nbra ON;\n"
	 "LOW: setp.eq.u32 %p2, %r0, %r0;\n@ mov.u32 %r7, 1;\n@ redux.sync.add.s32 %r6, "
	 "%r7, " FULL_MASK ";\n@ bra ON;\nredux.sync.max.s32 %r6, %r5, " FULL_MASK
	 ";\nON:\n" PUT("%r6")},
	{"both guards of one shuffle", 32, SIM_DEADLOCK, "of its member mask", neighbour,
	 "and.b32 %r3, %r0, 1;\nsetp.eq.u32 %p1, %r3, 0;\n"
	 "@%p1 shfl.sync.bfly.b32 %r6, %r0, 1, 31, " FULL_MASK ";\n"
	 "@ @!%p1 shfl.sync.bfly.b32 %r6, %r0, 1, 31, " FULL_MASK
	 ";\n" PUT("%r6") "bar.warp.sync " FULL_MASK ";\n"},
	/* Lane 0 waits at the meeting of the first branch for lane 1, who waits for lane 0. */
	{"a meeting that others wait after", 32, SIM_DEADLOCK, "of its member mask", neighbour,
	 "shr.u32 %r8, %r0, 1;\nshl.b32 %r8, %r8, 1;\nshl.b32 %r9, 3, %r8;\n"
	 "and.b32 %r3, %r0, 1;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra EVEN;\n"
	 "shfl.sync.bfly.b32 %r6, %r0, 1, 31, %r9;\n"
	 "EVEN: @!%p1 bra ODD;\n@ bra.uni SAME;\nshl.b32 %r9, %r9, 1;\n"
	 "SAME: shfl.sync.bfly.b32 %r6, %r0, 1, 31, %r9;\nODD:\n" PUT("%r6")},
	/* Masks of four parties in one vote; a thread's results are of its own. */
	{"four parties", 32, SIM_DIVERGED, "does not name the thread", parity,
	 "and.b32 %r3, %r0, 3;\nmov.u32 %r4, 0x11111111;\nmov.u32 %r5, 0;\n@ mov.u32 %r5, %r3;\n"
	 "shl.b32 %r4, %r4, %r5;\nand.b32 %r7, %r0, 2;\nsetp.eq.u32 %p1, %r7, 0;\n"
	 "vote.sync.ballot.b32 %r6, %p1, %r4;\nshr.u32 %r8, %r4, 2;\nsetp.eq.u32 %p2, %r6, 0;\n"
	 "@%p2 mov.u32 %r6, %r8;\n" PUT("%r6")},
	/* One thread spins for what the others do after the place where the branch would meet. */
	{"threads that are waited for by an early return", 32, SIM_LIMIT, "instructions of warps",
	 zero,
	 "st.volatile.shared.u32 [flag], 0;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra ON;\n"
	 "S: ld.volatile.shared.u32 %r5, [flag];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra S;\nret;\n"
	 "ON: setp.ne.u32 %p3, %r1, 7;\n@%p3 bra GO;\nret;\n"
	 "GO: mov.u32 %r6, 0;\n@ mov.u32 %r6, 1;\nst.volatile.shared.u32 [flag], %r6;\n"},
};

static size_t body_write(char *to, size_t room, const char *body, bool right)
{
	size_t n = (size_t)snprintf(to, room, "%s", head);
	while (*body) {
		size_t line = strcspn(body, "\n") + 1,
		       fix = body[0] == '@' && body[1] == ' ' ? 2 : 0;
		if (!fix || right)
			n += (size_t)snprintf(to + n, room - n, "%.*s", (int)(line - fix),
					      body + fix);
		body += line;
	}
	return n + (size_t)snprintf(to + n, room - n, "ret;\n}\n");
}

static void case_run(Bench *b, const Case *c, bool right, u64 seed)
{
	char text[8192];
	size_t n = body_write(text, sizeof text, c->body, right);
	bench_open(b, text, n);
	launch(b, "k", c->block, seed);
}

static void right_cases(void **state)
{
	(void)state;
	for (u32 i = 0; i < SIM_COUNT(cases); i++) {
		for (u64 seed = 0; seed < SEEDS; seed++) {
			Bench b;
			case_run(&b, &cases[i], true, seed);
			expect_clean(&b, cases[i].name, seed);
			for (s32 l = 0; l < 32; l++)
				if (b.o[l] != cases[i].expected(l))
					fail_msg("%s: lane %d is %d, not %d", cases[i].name, l,
						 b.o[l], cases[i].expected(l));
			bench_close(&b);
		}
	}
}

static bool found(const Case *c, const SimResult *r)
{
	for (u32 i = 0; i < r->n; i++)
		if (r->reports[i].kind == c->kind && strstr(r->reports[i].text, c->says))
			return true;
	return false;
}

static void wrong_cases(void **state)
{
	(void)state;
	for (u32 i = 0; i < SIM_COUNT(cases); i++) {
		for (u64 seed = 0; seed < 4; seed++) {
			Bench b;
			case_run(&b, &cases[i], false, seed);
			if (!found(&cases[i], &b.result)) {
				print_message("not found: %s\n", cases[i].name);
				expect_clean(&b, cases[i].name, seed);
				fail();
			}
			bench_close(&b);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_of_nvcc),
		cmocka_unit_test(right_cases),
		cmocka_unit_test(wrong_cases),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
