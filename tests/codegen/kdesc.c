/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kdesc.c - the kernel description of whole kernels: parameters in the order of the signature,
 * tensor maps fastest mode first, every assumption a condition, limits reported. */
#include "codegen/kdesc.h"
#include "load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char scalars[] = "kernel s ptx sm_90a roles=none cluster=(2,1) block=128 smem=1024 {\n"
			      "  sym M 1..65535\n"
			      "  sym lda 0.. div=8\n"
			      "  sym L 0..7\n"
			      "  fact (M < lda) \"M < lda\" \"where clause\"\n"
			      "  arg %A : global bf16 (M,64,L):(lda,1,M * lda)\n"
			      "  arg %alpha : f32\n"
			      "  arg %beta : f32\n"
			      "  arg out %D : global f32 (M):(1)\n"
			      "  launch (M * 2, 3, 1)\n"
			      "  %A.map = tmap %A box=(64,32,1) swizzle=128 : tmap\n"
			      "  %sA = shared slots=2 offset=0 : shared bf16 (8,8):(1,8)\n"
			      "  %x = frag : reg f32 (128,1):(1,128) tv (128,1):(1,128)\n"
			      "  fill %x value=1\n"
			      "  %y = mul %x, %beta : reg f32 (128,1):(1,128) tv (128,1):(1,128)\n"
			      "  if (tid < M) {\n"
			      "    st.global %D, %y[0] (tid) n=1\n"
			      "  }\n"
			      "}\n";

static bool has_fact(const KDesc *d, const char *cond)
{
	for (int i = 0; i < d->nfacts; i++)
		if (strcmp(d->facts[i].cond, cond) == 0)
			return true;
	return false;
}

static KModuleDesc describe(Ctx *c, const char *text)
{
	static const int regs[] = {168, 168};
	CgOpt opt = {.source_name = "s.gemm"};
	KModuleDesc d;
	Module *m = load_text(c, "s.gemm", text);
	assert_non_null(m);
	assert_true(kdesc_fill(m, &opt, regs, &d));
	return d;
}

static void test_module(void **state)
{
	Ctx *c = ctx_new();
	KModuleDesc d = describe(c, scalars), e = describe(c, scalars);
	(void)state;
	assert_int_equal(d.abi, KDESC_ABI);
	assert_string_equal(d.source, "s.gemm");
	assert_string_equal(d.target, "sm_90a");
	assert_int_equal(strlen(d.source_hash), 32);
	assert_string_equal(d.source_hash, e.source_hash);
	assert_true(strncmp(d.ptxas, "1", 1) == 0);
	assert_true(d.min_driver >= 12000 && d.min_driver % 1000 == 0);
	assert_int_equal(d.nkernels, 1);
	ctx_free(c);
}

static void test_params(void **state)
{
	Ctx *c = ctx_new();
	const KDesc *d = describe(c, scalars).kernels;
	(void)state;
	static const KParam want[] = {{KP_TMAP, 0},
				      {KP_PTR, 3},
				      {KP_SYM, 0},
				      {KP_SCALAR, 2}}; /* alpha: not used */
	assert_int_equal(d->nparams, COUNTOF(want));
	for (size_t i = 0; i < COUNTOF(want); i++) {
		assert_int_equal(d->params[i].kind, want[i].kind);
		assert_int_equal(d->params[i].index, want[i].index);
	}
	assert_int_equal(d->nargs, 4);
	assert_int_equal(d->args[1].kind, KA_SCALAR);
	assert_int_equal(d->args[3].dir, KD_OUT);
	assert_int_equal(d->nsyms, 3);
	ctx_free(c);
}

static void test_map(void **state)
{
	Ctx *c = ctx_new();
	const KDesc *d = describe(c, scalars).kernels;
	const KMap *m = &d->maps[0];
	(void)state;
	assert_int_equal(d->nmaps, 1);
	assert_int_equal(m->rank, 3);
	assert_string_equal(m->dims[0], "64");
	assert_string_equal(m->dims[1], "M");
	assert_string_equal(m->dims[2], "L");
	assert_string_equal(m->strides[0], "lda 2 *");
	assert_int_equal(m->box[0], 64);
	assert_int_equal(m->box[1], 32);
	assert_int_equal(m->swizzle, 128);
	ctx_free(c);
}

static void test_launch(void **state)
{
	Ctx *c = ctx_new();
	const KDesc *d = describe(c, scalars).kernels;
	(void)state;
	assert_string_equal(d->grid[0], "M 2 *");
	assert_string_equal(d->grid[1], "3");
	assert_int_equal(d->cluster[0], 2);
	assert_int_equal(d->cluster[1], 1);
	assert_int_equal(d->block, 128);
	assert_int_equal(d->smem, 1024);
	assert_int_equal(d->regs, 168);
	assert_string_equal(d->schedule, "none");
	assert_int_equal(d->nsmem, 1);
	assert_int_equal(d->smem_map[0].bytes, 128);
	assert_int_equal(d->smem_map[0].slots, 2);
	ctx_free(c);
}

static void test_facts(void **state)
{
	Ctx *c = ctx_new();
	const KDesc *d = describe(c, scalars).kernels;
	(void)state;
	assert_true(has_fact(d, "M lda <"));
	assert_true(has_fact(d, "1 M <="));
	assert_true(has_fact(d, "M 65536 <"));
	assert_true(has_fact(d, "lda 8 % 0 =="));
	assert_true(has_fact(d, "lda 2 * 1099511627776 <"));
	/* lda * 2 is a multiple of 16 since lda is one of 8, and lda has no upper end */
	assert_false(has_fact(d, "lda 2 * 16 % 0 =="));
	assert_false(has_fact(d, "lda 9223372036854775808 <"));
	ctx_free(c);
}

/* A map with a name may be left out: what TMA asks for is no condition, and the kernel is told. Two
 * elements at once want their address. */
static void test_two_ways(void **state)
{
	static const char text[] = "kernel s ptx sm_90a roles=none block=128 smem=128 {\n"
				   "  sym N 0..65535\n"
				   "  arg %A : global bf16 (8,N):(N,1)\n"
				   "  arg out %D : global bf16 (8,N):(N,1)\n"
				   "  launch (1, 1, 1)\n"
				   "  %A.map = tmap %A box=(8,8) swizzle=0 : tmap\n"
				   "  %D.map = tmap by_tma %D box=(8,8) swizzle=0 : tmap\n"
				   "  %sD = shared slots=1 offset=0 : shared bf16 (8,8):(8,1)\n"
				   "  %x = frag : reg bf16 (128,2):(1,128) tv (128,2):(1,128)\n"
				   "  if (by_tma == 1) {\n"
				   "    tma.store %sD, %D.map (0, 0, 0)\n"
				   "  }\n"
				   "  if (by_tma == 0, tid * 2 + 1 < N) {\n"
				   "    ld.global %x[0], %A (tid * 2) n=2\n"
				   "    st.global %D, %x[0] (tid * 2) n=2\n"
				   "  }\n"
				   "}\n";
	static const KParam want[] = {{KP_TMAP, 0}, {KP_TMAP, 1}, {KP_MADE, 1},
				      {KP_PTR, 0},  {KP_PTR, 1},  {KP_SYM, 0}};
	Ctx *c = ctx_new();
	const KDesc *d = describe(c, text).kernels;
	(void)state;
	assert_int_equal(d->nparams, COUNTOF(want));
	for (size_t i = 0; i < COUNTOF(want); i++) {
		assert_int_equal(d->params[i].kind, want[i].kind);
		assert_int_equal(d->params[i].index, want[i].index);
	}
	assert_true(!d->maps[0].optional && d->maps[1].optional && d->maps[1].store);
	assert_true(d->args[0].align == 4 && d->args[1].align == 4);
	assert_int_equal(d->nsyms, 1);
	assert_true(d->maps[0].copy && !d->maps[1].copy);
	assert_false(has_fact(d, "N 2 * 16 % 0 ==")); /* of A the launcher makes a copy */
	ctx_free(c);
}

/* Of what is stored through a map nothing is copied: it lies where TMA can take it. */
static void test_stored(void **state)
{
	static const char text[] = "kernel s ptx sm_90a roles=none block=128 smem=128 {\n"
				   "  sym N 0..65535\n"
				   "  arg out %D : global bf16 (8,N):(N,1)\n"
				   "  launch (1, 1, 1)\n"
				   "  %D.map = tmap %D box=(8,8) swizzle=0 : tmap\n"
				   "  %sD = shared slots=1 offset=0 : shared bf16 (8,8):(8,1)\n"
				   "  tma.store %sD, %D.map (0, 0, 0)\n"
				   "}\n";
	Ctx *c = ctx_new();
	const KDesc *d = describe(c, text).kernels;
	(void)state;
	assert_true(d->maps[0].store && !d->maps[0].copy);
	assert_true(has_fact(d, "N 2 * 16 % 0 =="));
	ctx_free(c);
}

/* The name of the first kernel is that of its family; each keeps its symbol. */
static void test_family(void **state)
{
	static const char *const names[][2] = {{"f", "f__1"},
					       {"f__2", "f__2"},
					       {"g", "g__1"},
					       {"h", "h"}};
	static const KCost costs[] = {{.family = "f", .m = "M"},
				      {.family = "f", .m = "M"},
				      {.family = "g", .m = "1"},
				      {.family = NULL}};
	Ctx *c = ctx_new();
	Buf b = {0};
	CgOpt opt = {.source_name = "s.gemm", .costs = costs, .unassembled = true};
	KModuleDesc d;
	(void)state;
	for (int i = 0; i < 4; i++)
		buf_printf(&b, "kernel %s ptx sm_90a block=32 smem=0 {\n  launch (1, 1, 1)\n}\n",
			   names[i][1]);
	Module *m = load_text(c, "s.gemm", b.s);
	assert_non_null(m);
	assert_true(kdesc_fill(m, &opt, NULL, &d));
	for (int i = 0; i < 4; i++) {
		assert_string_equal(d.kernels[i].name, names[i][0]);
		assert_string_equal(d.kernels[i].symbol, names[i][1]);
		assert_ptr_equal(d.kernels[i].cost.m, costs[i].m);
	}
	assert_int_equal(kdesc_variants(&d, 0), 2);
	assert_int_equal(kdesc_variants(&d, 2), 1);
	buf_free(&b);
	ctx_free(c);
}

/* One argument more than the launcher takes. */
static void test_limit(void **state)
{
	Ctx *c = ctx_new();
	Buf b = {0};
	CgOpt opt = {.source_name = "s.gemm"};
	KModuleDesc d;
	(void)state;
	buf_printf(&b, "kernel s ptx sm_90a block=32 smem=0 {\n");
	for (int i = 0; i <= KD_MAX_ARGS; i++)
		buf_printf(&b, "  arg %%a%d : f32\n", i);
	buf_printf(&b, "  launch (1, 1, 1)\n}\n");
	Module *m = load_text(c, "s.gemm", b.s);
	assert_non_null(m);
	assert_false(kdesc_fill(m, &opt, NULL, &d));
	assert_string_equal(diag_rows[diag_first(c)->id].code, "E0508");
	assert_non_null(strstr(diag_first(c)->text, "more than 32 arguments"));
	buf_free(&b);
	ctx_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_module),   cmocka_unit_test(test_params),
		cmocka_unit_test(test_map),      cmocka_unit_test(test_launch),
		cmocka_unit_test(test_facts),    cmocka_unit_test(test_limit),
		cmocka_unit_test(test_two_ways), cmocka_unit_test(test_stored),
		cmocka_unit_test(test_family),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
