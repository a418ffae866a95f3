/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a kernel noted of the ends of its groups, or of how many rows of each are used, asked for
 * after launches: on the simulator, or on the device that DSL_TEST_DEVICE names. */
#include "driver/dslc.h"
#include "runtime/dsl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { G = 150, M = 300, C = 32, N = 8, K = 16 };

#define BODY(tile, a, schedule)                                                             \
	"  where N % 8 == 0, K % 8 == 0 {\n"                                                \
	"  let gA = A / " tile "16), gB = B / (1,8,16), gD = D / " tile "8);\n"             \
	"  mma mm = wgmma<64,8,16>(bf16, bf16, f32) * (1,1,1);\n"                           \
	"  smem sA : bf16 (64,16), sB : bf16 (8,16);\n"                                     \
	"  pipeline ab(2) { sA, sB }\n"                                                     \
	"  for (g,m,n) in groups(gD, list) {\n"                                             \
	"    acc : f32 mm.C(64,8) = 0;\n"                                                   \
	"    for k in gB[g,n] { sA <- gA[" a ",k]; sB <- gB[g,n,k]; acc += mm(sA, sB); }\n" \
	"    gD[" a ",n] <- bf16(acc);\n"                                                   \
	"  }\n" schedule "}\n"

static const char of_ends[] =
	"kernel of_groups(A : bf16 (M,K):(K,1), list : s32 (G), B : bf16 (G,N,K):(N*K,K,1),\n"
	"                 D : out bf16 (M,N):(N,1))\n" BODY("(64,", "m", "");
static const char of_counts[] =
	"kernel of_groups(A : bf16 (G,M,K):(M*K,K,1), list : s32 (G), B : bf16 (G,N,K):(N*K,K,1),\n"
	"                 D : out bf16 (G,M,N):(M*N,N,1))\n" BODY("(1,64,", "g,m", "");

static const char in_clusters[] =
	"kernel of_groups(A : bf16 (M,K):(K,1), list : s32 (G), B : bf16 (G,N,K):(N*K,K,1),\n"
	"                 D : out bf16 (M,N):(N,1))\n" BODY(
		"(64,", "m", "schedule { persistent; cluster (2,1); }\n");

static const char along[] =
	"kernel of_groups(A : bf16 (K,M):(1,K), list : s32 (G), B : bf16 (N,M):(1,N),\n"
	"                 D : out bf16 (G,K,N):(K*N,N,1))\n"
	"  where N % 8 == 0, K % 8 == 0 {\n"
	"  let gA = A / (64,16), gB = B / (16,16), gD = D / (1,64,16);\n"
	"  mma mm = wgmma<64,16,16>(bf16, bf16, f32) * (1,1,1);\n"
	"  smem sA : bf16 (64,16), sB : bf16 (16,16);\n"
	"  pipeline ab(2) { sA, sB }\n"
	"  for (g,k,n) in gD {\n"
	"    acc : f32 mm.C(64,16) = 0;\n"
	"    for m in groups(gA[k], list, g) { sA <- gA[k,m]; sB <- gB[n,m]; acc += mm(sA, sB); }\n"
	"    gD[g,k,n] <- bf16(acc);\n"
	"  }\n"
	"  schedule { roles none; }\n"
	"}\n";

typedef struct {
	dsl_device *dev;
	dsl_module *mod;
	dslc_result *result;
	dsl_addr a, list, b, d;
	int64_t rows;
} Run;

static dsl_addr zeros(Run *r, size_t bytes)
{
	dsl_addr at;
	assert_int_equal(dsl_mem_alloc(r->dev, bytes, &at), DSL_OK);
	assert_int_equal(dsl_mem_set(r->dev, at, 0, bytes), DSL_OK);
	return at;
}

static void open_run(Run *r, const char *source, int64_t rows, int64_t all)
{
	const char *name = getenv("DSL_TEST_DEVICE");
	dslc_options opt = {.size = sizeof opt, .check_indices = 1};
	size_t size;
	r->rows = rows;
	r->result = dslc_compile(source, strlen(source), &opt);
	const char *cubin = dslc_output(r->result, DSLC_CUBIN, &size);
	assert_non_null(cubin);
	assert_int_equal(dsl_device_open(name ? name : "sim", &r->dev), DSL_OK);
	assert_int_equal(dsl_module_load_data(r->dev, cubin, size, &r->mod), DSL_OK);
	r->a = zeros(r, (size_t)(2 * all * K));
	r->list = zeros(r, 4 * G);
	r->b = zeros(r, 2 * G * N * K);
	r->d = zeros(r, 2 * G * (C + K) * N);
}

static void close_run(Run *r)
{
	dsl_device_close(r->dev);
	dslc_result_free(r->result);
}

/* All are `each` more than the one before, but one; what is told of it begins with `told`. */
static void launch(Run *r, int32_t first, int32_t each, int at, int32_t other, const char *told)
{
	int32_t list[G];
	for (int i = 0; i < G; i++)
		list[i] = i == at ? other : first + i * each;
	assert_int_equal(dsl_copy_in(r->dev, r->list, list, sizeof list), DSL_OK);
	dsl_arg args[] = {dsl_arg_ptr("A", r->a), dsl_arg_ptr("list", r->list),
			  dsl_arg_ptr("B", r->b), dsl_arg_ptr("D", r->d),
			  dsl_arg_int("G", G),    dsl_arg_int("M", r->rows),
			  dsl_arg_int("K", K),    dsl_arg_int("N", N)};
	assert_int_equal(dsl_launch(r->mod, "of_groups", args, 8, NULL, NULL), DSL_OK);
	assert_int_equal(dsl_status_of(r->mod, "of_groups"), told ? DSL_ERR_INDEX : DSL_OK);
	if (told)
		assert_ptr_equal(strstr(dsl_detail(), told), dsl_detail());
}

static void ends(void **state)
{
	(void)state;
	Run r;
	open_run(&r, of_ends, M, M);
	launch(&r, 2, 2, -1, 0, NULL);
	launch(&r, 2, 2, 70, 140, NULL); /* empty */
	launch(&r, 2, 2, 70, 139, "list[70] is 139, and an end before it is 140: the first of 1 ");
	launch(&r, 2, 2, 0, -1, "list[0] is -1, and an end before it is 0: ");
	launch(&r, 2, 2, 149, 301, "list[149] is 301, and the rows of all groups are 300: ");
	close_run(&r);
}

/* One CTA of all notes, whatever else it asks the hardware for. */
static void clusters(void **state)
{
	(void)state;
	Run r;
	open_run(&r, in_clusters, M, M);
	launch(&r, 2, 2, -1, 0, NULL);
	launch(&r, 2, 2, 70, 139, "list[70] is 139, and an end before it is 140: the first of 1 ");
	close_run(&r);
}

static void counts(void **state)
{
	(void)state;
	Run r;
	open_run(&r, of_counts, C, G * C);
	launch(&r, 32, 0, 7, 0, NULL);
	launch(&r, 3, 0, 7, -2, "list[7] is -2, and the fewest rows of a group are 0: ");
	launch(&r, 3, 0, 149, 33, "list[149] is 33, and the rows that a group has are 32: ");
	close_run(&r);
}

/* Each tile reads the end of its own group, and those before it. */
static void in_loop(void **state)
{
	(void)state;
	Run r;
	open_run(&r, along, M, M);
	launch(&r, 2, 2, -1, 0, NULL);
	launch(&r, 2, 2, 149, 139,
	       "list[149] is 139, and an end before it is 298: the first of 1 ");
	launch(&r, 2, 2, 149, 301, "list[149] is 301, and the rows of all groups are 300: ");
	close_run(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(ends), cmocka_unit_test(clusters),
					   cmocka_unit_test(counts), cmocka_unit_test(in_loop)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
