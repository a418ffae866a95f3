/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sass.c - what ptxas makes of whole kernels: the wgmma of a k step stand back to back, nothing
 * touches local memory, memory barriers stand only before TMA stores, and TMA is issued without a
 * loop around it. Instructions are told apart by the low 12 bits of their 16 bytes, as nvdisasm 13
 * names them for sm_90a. The build compiles the kernels (CMakeLists.txt). */
#include "load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
	HGMMA = 0x9f0,
	WARPGROUP = 0x9c5, /* arrive, wait */
	UTMALDG = 0x5b4,
	BRA = 0x947,
	USETMAXREG = 0x9c8,
	LDL = 0x983,
	STL = 0x387,
	MEMBAR = 0x992,
	ELECT = 0x82f,
	UTMASTG = 0x3b5,
	STG = 0x986
};

typedef struct {
	Ctx *c;
	CgOut out;
	const unsigned char *code;
	size_t n;
} Compiled;

static Compiled compile(const char *file)
{
	Compiled k = {.c = ctx_new()};
	CgOpt opt = {.source_name = file, .opt_level = 3};
	Buf path = {0}, said = {0};
	buf_printf(&path, "%s/%s.ir", KERNELS, file);
	Module *m = load_file(k.c, path.s);
	assert_non_null(m);
	bool ok = codegen_module(m, CG_CUBIN, &opt, &k.out);
	diag_text(k.c, &said, false);
	if (!ok || said.n)
		fail_msg("%s", said.s ? said.s : "failed without a word");
	k.n = cubin_code(k.out.cubin.s, k.out.cubin.n, &k.code);
	assert_true(k.n > 100);
	buf_free(&path);
	buf_free(&said);
	return k;
}

static void compiled_free(Compiled *k)
{
	cg_out_free(&k->out);
	ctx_free(k->c);
}

static int opcode(const Compiled *k, size_t i)
{
	return k->code[16 * i] | (k->code[16 * i + 1] & 15) << 8;
}

static int count(const Compiled *k, int op, size_t from, size_t to)
{
	int n = 0;
	for (size_t i = from; i < to; i++)
		n += opcode(k, i) == op;
	return n;
}

/* The first and one past the last of an opcode. */
static void extent(const Compiled *k, int op, size_t *from, size_t *to)
{
	*from = *to = 0;
	for (size_t i = 0; i < k->n; i++)
		if (opcode(k, i) == op) {
			*from = *to ? *from : i;
			*to = i + 1;
		}
	assert_true(*to > *from);
}

static void expect_no_local(const Compiled *k)
{
	assert_int_equal(count(k, LDL, 0, k->n), 0);
	assert_int_equal(count(k, STL, 0, k->n), 0);
}

/* One stands before the TMA store of each chunk of results. */
static void expect_barriers(const Compiled *k, int chunks)
{
	assert_int_equal(count(k, MEMBAR, 0, k->n), chunks);
}

/* Four HGMMA with nothing but address arithmetic between them, one arrive before, one wait
 * after. */
static void expect_group(const Compiled *k, size_t span)
{
	size_t from, to;
	extent(k, HGMMA, &from, &to);
	assert_int_equal(count(k, HGMMA, from, to), 4);
	assert_true(to - from <= span);
	assert_int_equal(count(k, WARPGROUP, from, to), 0);
	assert_int_equal(count(k, BRA, from, to), 0);
	assert_int_equal(opcode(k, to), WARPGROUP);
	assert_int_equal(count(k, WARPGROUP, from - 24, from), 1);
}

/* Where ptxas does not see that one lane issues a copy it puts a loop of elections around it. */
static void expect_tma(const Compiled *k, int loads, int elections)
{
	assert_int_equal(count(k, UTMALDG, 0, k->n), loads);
	assert_int_equal(count(k, ELECT, 0, k->n), elections);
}

static void test_cooperative(void **state)
{
	Compiled k = compile("cooperative");
	(void)state;
	assert_int_equal(k.out.regs, 168);
	expect_no_local(&k);
	expect_barriers(&k, 4);
	expect_group(&k, 24);
	expect_tma(&k, 2, 3);
	assert_int_equal(count(&k, USETMAXREG, 0, k.n), 2);
	compiled_free(&k);
}

static void test_one_role(void **state)
{
	Compiled k = compile("one_role");
	(void)state;
	assert_in_range(k.out.regs, 64, 128);
	expect_no_local(&k);
	expect_barriers(&k, 2);
	expect_group(&k, 32);
	expect_tma(&k, 4, 6);
	assert_int_equal(count(&k, USETMAXREG, 0, k.n), 0);
	compiled_free(&k);
}

/* A way out without TMA costs a rolled loop for each of six chunks and three widths, and no
 * register of the main loop. */
static void test_two_ways(void **state)
{
	Compiled k = compile("pingpong");
	size_t from, to;
	(void)state;
	assert_int_equal(count(&k, LDL, 0, k.n), 0);
	assert_int_equal(count(&k, STL, 0, k.n), 0);
	assert_int_equal(count(&k, UTMASTG, 0, k.n), 6);
	assert_int_equal(count(&k, STG, 0, k.n), 18);
	extent(&k, HGMMA, &from, &to);
	assert_int_equal(count(&k, HGMMA, from, to), 8);
	assert_true(to - from <= 36);
	assert_int_equal(count(&k, BRA, from, to), 0);
	compiled_free(&k);
}

/* A file may be called anything. */
static void test_file_name(void **state)
{
	Ctx *c = ctx_new();
	CgOpt opt = {.source_name = "a \"b\\c\n\xc3\xa9.gemm", .opt_level = 3};
	CgOut out;
	Module *m =
		load_text(c, "x", "kernel k ptx sm_90a block=32 smem=0 {\n  launch (1, 1, 1)\n}\n");
	(void)state;
	assert_non_null(m);
	assert_true(codegen_module(m, CG_PTX | CG_CUBIN, &opt, &out));
	assert_non_null(strstr(out.ptx.s, "\"a _b_c___.gemm\", 1, 1"));
	assert_non_null(strstr(out.manifest.s, "a \\\"b\\\\c"));
	cg_out_free(&out);
	ctx_free(c);
}

/* The same bytes again, from another folder for temporary files. */
static void test_reproducible(void **state)
{
	Compiled a = compile("one_role"), b = compile("one_role");
	(void)state;
	assert_int_equal(a.out.cubin.n, b.out.cubin.n);
	assert_memory_equal(a.out.cubin.s, b.out.cubin.s, a.out.cubin.n);
	compiled_free(&a);
	compiled_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cooperative),
					   cmocka_unit_test(test_one_role),
					   cmocka_unit_test(test_two_ways),
					   cmocka_unit_test(test_reproducible),
					   cmocka_unit_test(test_file_name)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
