/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* family.c - kernels of one source as two families, on the simulator: each variant computes the
 * same, through a pool that gives it the workspace and semaphores that it needs, and a question
 * about a family is one about each of its variants. */
#include "codegen/codegen.h"
#include "driver/dslc.h"
#include "load.h"
#include "runtime/desc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define TILES(bM, bN, W, width)                                                         \
	"  let gA = A / (" bM ",64), gB = B / (" bN ",64), gD = D / (" bM "," bN ");\n" \
	"  mma mm = wgmma<64," width ",16>(bf16, bf16, f32) * (" W ",1,1);\n"           \
	"  smem sA : bf16 (" bM ",64), sB : bf16 (" bN ",64);\n"                        \
	"  pipeline ab(2) { sA, sB }\n"                                                 \
	"  for (m,n) in gD {\n"                                                         \
	"    acc : f32 mm.C(" bM "," bN ") = 0;\n"
#define GEMM(name, bM, bN, W, width, schedule)                                                     \
	"kernel " name "(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), D : out bf16 (M,N):(N,1)) "   \
	"{\n" TILES(                                                                               \
		bM, bN, W,                                                                         \
		width) "    for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }\n" \
		       "    gD[m,n] <- bf16(acc);\n  }\n"                                          \
		       "  schedule { " schedule " }\n}\n"
#define PICK(name, bN)                                                                      \
	"kernel " name "(A : bf16 (Q,K):(K,1), rows : s32 (M), B : bf16 (N,K):(K,1),\n"     \
	"  D : out bf16 (M,N):(N,1)) where K % 8 == 0 {\n" TILES(                           \
		"64", bN, "1", bN) "    for k in gA[rows[m]] { sA <- gA[rows[m],k]; sB <- " \
				   "gB[n,k]; acc += mm(sA, sB); }\n"                        \
				   "    gD[m,n] <- bf16(acc);\n  }\n}\n"

static const char source[] = GEMM("gemm__1", "128", "64", "2", "64", "roles cooperative;")
	GEMM("gemm__2", "16", "64", "1", "16", "swap on;") GEMM("gemm__3", "64", "64", "1", "64",
								"split_k 2; sums workspace;")
		GEMM("gemm__4", "64", "32", "1", "32", "roles cooperative; persistent dynamic;")
			PICK("pick__1", "64") PICK("pick__2", "8");

enum { GEMMS = 4, ALL = 6, M = 150, N = 72, K = 136 };
#define COST(name, ...)                  \
	{.family = name,                 \
	 .product = {16, 16, 16, 16, 0}, \
	 .variant = {__VA_ARGS__},       \
	 .m = "M",                       \
	 .n = "N",                       \
	 .k = "K",                       \
	 .batch = "1",                   \
	 .pitch_a = "K 2 *",             \
	 .pitch_b = "K 2 *"}
static const KCost costs[ALL] = {
	COST("gemm", 128, 64, 64, 2, 2, COST_COOPERATIVE, 0, 0, 0, 1, 1, 1, 0, 1),
	COST("gemm", 16, 64, 64, 1, 2, COST_NONE, 0, 1, 0, 1, 1, 1, 0, 1),
	COST("gemm", 64, 64, 64, 1, 2, COST_NONE, 0, 0, 0, 1, 1, 2, 1, 1),
	COST("gemm", 64, 32, 64, 1, 2, COST_COOPERATIVE, 1, 0, 0, 1, 1, 1, 0, 1),
	COST("pick", 64, 64, 64, 1, 2, COST_NONE, 0, 0, 0, 1, 1, 1, 0, 1),
	COST("pick", 64, 8, 64, 1, 2, COST_NONE, 0, 0, 0, 1, 1, 1, 0, 1),
};

typedef struct {
	dsl_device *dev;
	dsl_module *mod;
	dsl_pool *pool;
	dsl_addr a, b, d, rows;
	int8_t ha[M * K], hb[N * K];
} Bench;

/* The module of the source, with costs. */
static bool assemble(Buf *cubin)
{
	dslc_options opt = {.size = sizeof opt, .emit = DSLC_IR, .check_indices = 1};
	dslc_result *r = dslc_compile(source, strlen(source), &opt);
	const char *ir = dslc_output(r, DSLC_IR, NULL);
	CgOpt co = {.source_name = "f.gemm", .costs = costs, .opt_level = 3, .unassembled = true};
	CgOut out = {.regs = 0};
	Ctx *c = ctx_new();
	Module *m = ir ? load_text(c, "f.gemm", ir) : NULL;
	bool ok = m && codegen_module(m, CG_CUBIN, &co, &out);
	if (!ir)
		print_message("%s", dslc_diagnostics(r, 0));
	if (ok)
		buf_add(cubin, out.cubin.s, out.cubin.n);
	cg_out_free(&out);
	ctx_free(c);
	dslc_result_free(r);
	return ok;
}

static uint16_t bf16_of(int v)
{
	float f = (float)v;
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return (uint16_t)(bits >> 16);
}

/* -1, 0 and 1, whose sums of K are exact. */
static dsl_addr operand(Bench *b, int8_t *host, int n, uint32_t seed)
{
	uint16_t bits[M * K];
	dsl_addr at;
	for (int i = 0; i < n; i++) {
		seed = seed * 1664525 + 1013904223;
		host[i] = (int8_t)((int)(seed >> 16) % 3 - 1);
		bits[i] = bf16_of(host[i]);
	}
	assert_int_equal(dsl_mem_alloc(b->dev, (size_t)n * 2, &at), DSL_OK);
	assert_int_equal(dsl_copy_in(b->dev, at, bits, (size_t)n * 2), DSL_OK);
	return at;
}

static int bench_open(void **state)
{
	static Bench b;
	Buf cubin = {0};
	*state = &b;
	if (!assemble(&cubin) || dsl_device_open("sim:sms=8", &b.dev) ||
	    dsl_module_load_data(b.dev, cubin.s, cubin.n, &b.mod) ||
	    dsl_pool_create(b.dev, NULL, &b.pool) || dsl_mem_alloc(b.dev, 2 * M * N, &b.d) ||
	    dsl_mem_alloc(b.dev, 4 * M, &b.rows)) {
		print_message("%s\n", dsl_detail());
		return 1;
	}
	b.a = operand(&b, b.ha, M * K, 1);
	b.b = operand(&b, b.hb, N * K, 2);
	buf_free(&cubin);
	return 0;
}

static int bench_close(void **state)
{
	Bench *b = *state;
	dsl_pool_destroy(b->pool);
	return dsl_device_close(b->dev);
}

static void is_product(const Bench *b, int m, int n)
{
	uint16_t got[M * N];
	assert_int_equal(dsl_copy_out(b->dev, got, b->d, (size_t)m * n * 2), DSL_OK);
	for (int i = 0; i < m * n; i++) {
		int sum = 0;
		for (int k = 0; k < K; k++)
			sum += b->ha[i / n * K + k] * b->hb[i % n * K + k];
		if (got[i] != bf16_of(sum))
			fail_msg("element %d is 0x%04x, not %d", i, got[i], sum);
	}
}

static void product(Bench *b, const char *kernel, int m, int n)
{
	dsl_arg args[] = {dsl_arg_ptr("A", b->a), dsl_arg_ptr("B", b->b), dsl_arg_ptr("D", b->d),
			  dsl_arg_int("M", m),    dsl_arg_int("N", n),    dsl_arg_int("K", K)};
	assert_int_equal(dsl_mem_set(b->dev, b->d, 0xff, 2 * M * N), DSL_OK);
	assert_int_equal(dsl_pool_launch(b->pool, b->mod, kernel, args, 6, NULL), DSL_OK);
	is_product(b, m, n);
}

static void each_variant_and_each_size(void **state)
{
	static const int sizes[][2] = {{M, N}, {1, 64}, {17, 8}, {130, 72}, {M, N}};
	Bench *b = *state;
	for (int i = 0; i < GEMMS; i++)
		product(b, dsl_module_desc(b->mod)->kernels[i].symbol, 70, N);
	for (size_t i = 0; i < COUNTOF(sizes); i++)
		product(b, "gemm", sizes[i][0], sizes[i][1]);
}

/* Few rows take another variant than many. */
static void sizes_choose(void **state)
{
	Bench *b = *state;
	const char *few, *many;
	dsl_arg args[] = {dsl_arg_ptr("A", 1 << 20),
			  dsl_arg_ptr("B", UINT64_C(1) << 40),
			  dsl_arg_ptr("D", UINT64_C(1) << 41),
			  dsl_arg_int("M", 8),
			  dsl_arg_int("N", 8192),
			  dsl_arg_int("K", 8192)};
	char why[256];
	assert_int_equal(dsl_choice(b->mod, "gemm", args, 6, &few, why, sizeof why), DSL_OK);
	args[3].v.i = 8192;
	assert_int_equal(dsl_choice(b->mod, "gemm", args, 6, &many, why, sizeof why), DSL_OK);
	assert_string_not_equal(few, many);
}

/* An index that is none, whichever variant found it. */
static void indices_of_each_variant(void **state)
{
	static const char *const names[] = {"pick__1", "pick__2", "pick"};
	Bench *b = *state;
	for (size_t i = 0; i < COUNTOF(names); i++) {
		int32_t rows[M] = {0, 1, 70};
		assert_int_equal(dsl_copy_in(b->dev, b->rows, rows, sizeof rows), DSL_OK);
		dsl_arg args[] = {dsl_arg_ptr("A", b->a), dsl_arg_ptr("rows", b->rows),
				  dsl_arg_ptr("B", b->b), dsl_arg_ptr("D", b->d),
				  dsl_arg_int("Q", 70),   dsl_arg_int("K", K),
				  dsl_arg_int("M", 3),    dsl_arg_int("N", 8)};
		assert_int_equal(dsl_launch(b->mod, names[i], args, 8, NULL, NULL), DSL_OK);
		assert_int_equal(dsl_status_of(b->mod, "pick"), DSL_ERR_INDEX);
		assert_non_null(strstr(dsl_detail(), "rows[2] is 70, and A has 70"));
		assert_int_equal(dsl_status_of(b->mod, "pick"), DSL_OK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_variant_and_each_size),
		cmocka_unit_test(sizes_choose),
		cmocka_unit_test(indices_of_each_variant),
	};
	return cmocka_run_group_tests(tests, bench_open, bench_close);
}
