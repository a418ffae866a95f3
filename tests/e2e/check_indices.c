/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a kernel noted of its indices, asked for after launches: on the simulator, or on the device
 * that DSL_TEST_DEVICE names. */
#include "driver/dslc.h"
#include "runtime/dsl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { M = 70, N = 8, K = 16, Q = 40 };

static const char source[] =
	"kernel pick(A : bf16 (Q,K):(K,1), rows : s32 (M), B : bf16 (N,K):(K,1),\n"
	"            D : out bf16 (M,N):(N,1)) where K % 8 == 0 {\n"
	"  let gA = A / (64,16), gB = B / (8,16), gD = D / (64,8);\n"
	"  mma mm = wgmma<64,8,16>(bf16, bf16, f32) * (1,1,1);\n"
	"  smem sA : bf16 (64,16), sB : bf16 (8,16);\n"
	"  pipeline ab(2) { sA, sB }\n"
	"  for (m,n) in gD {\n"
	"    acc : f32 mm.C(64,8) = 0;\n"
	"    for k in gA[rows[m]] { sA <- gA[rows[m],k]; sB <- gB[n,k]; acc += mm(sA, sB); }\n"
	"    gD[m,n] <- bf16(acc);\n"
	"  }\n"
	"}\n";

typedef struct {
	dsl_device *dev;
	dsl_module *mod;
	dslc_result *result;
	dsl_addr a, rows, b, d;
} Pick;

static void open_pick(Pick *p, size_t check)
{
	const char *name = getenv("DSL_TEST_DEVICE");
	dslc_options opt = {.size = sizeof opt, .check_indices = check};
	size_t size;
	p->result = dslc_compile(source, strlen(source), &opt);
	const char *cubin = dslc_output(p->result, DSLC_CUBIN, &size);
	assert_non_null(cubin);
	assert_int_equal(dsl_device_open(name ? name : "sim", &p->dev), DSL_OK);
	assert_int_equal(dsl_module_load_data(p->dev, cubin, size, &p->mod), DSL_OK);
	assert_int_equal(dsl_mem_alloc(p->dev, 2 * Q * K, &p->a), DSL_OK);
	assert_int_equal(dsl_mem_alloc(p->dev, 4 * M, &p->rows), DSL_OK);
	assert_int_equal(dsl_mem_alloc(p->dev, 2 * N * K, &p->b), DSL_OK);
	assert_int_equal(dsl_mem_alloc(p->dev, 2 * M * N, &p->d), DSL_OK);
	assert_int_equal(dsl_mem_set(p->dev, p->a, 0, 2 * Q * K), DSL_OK);
	assert_int_equal(dsl_mem_set(p->dev, p->b, 0, 2 * N * K), DSL_OK);
}

static void close_pick(Pick *p)
{
	dsl_device_close(p->dev);
	dslc_result_free(p->result);
}

/* Rows 0, 1, .. of A, over and over, and one other index. */
static dsl_status launch(Pick *p, int at, int32_t index)
{
	int32_t rows[M];
	for (int i = 0; i < M; i++)
		rows[i] = i == at ? index : i % Q;
	assert_int_equal(dsl_copy_in(p->dev, p->rows, rows, sizeof rows), DSL_OK);
	dsl_arg args[] = {dsl_arg_ptr("A", p->a), dsl_arg_ptr("rows", p->rows),
			  dsl_arg_ptr("B", p->b), dsl_arg_ptr("D", p->d),
			  dsl_arg_int("Q", Q),    dsl_arg_int("K", K),
			  dsl_arg_int("M", M),    dsl_arg_int("N", N)};
	return dsl_launch(p->mod, "pick", args, 8, NULL, NULL);
}

/* Each question is about the launches since the last one. */
static void noted_once(void **state)
{
	(void)state;
	Pick p;
	open_pick(&p, 1);
	assert_int_equal(dsl_status_of(p.mod, "pick"), DSL_OK);
	assert_int_equal(launch(&p, 3, -1), DSL_OK);
	assert_int_equal(dsl_status_of(p.mod, "pick"), DSL_OK);
	assert_int_equal(launch(&p, 69, Q), DSL_OK);
	assert_int_equal(launch(&p, 3, Q - 1), DSL_OK);
	assert_int_equal(dsl_status_of(p.mod, "pick"), DSL_ERR_INDEX);
	assert_ptr_equal(strstr(dsl_detail(), "rows[69] is 40, and A has 40 along mode 0: "),
			 dsl_detail());
	assert_int_equal(dsl_status_of(p.mod, "pick"), DSL_OK);
	assert_int_equal(launch(&p, 0, INT32_MIN), DSL_OK);
	assert_int_equal(dsl_status_of(p.mod, "pick"), DSL_ERR_INDEX);
	assert_ptr_equal(strstr(dsl_detail(), "rows[0] is -2147483648, "), dsl_detail());
	close_pick(&p);
}

static void not_asked_for(void **state)
{
	(void)state;
	Pick p;
	open_pick(&p, 0);
	assert_int_equal(launch(&p, 69, Q), DSL_OK);
	assert_int_equal(dsl_status_of(p.mod, "pick"), DSL_ERR_GLOBAL_NAME);
	assert_non_null(strstr(dsl_detail(), "compiled without --check-indices"));
	assert_int_equal(dsl_status_of(p.mod, "pack"), DSL_ERR_KERNEL_NAME);
	assert_int_equal(dsl_status_of(p.mod, NULL), DSL_ERR_INVALID);
	assert_int_equal(dsl_status_of(NULL, "pick"), DSL_ERR_INVALID);
	close_pick(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(noted_once),
					   cmocka_unit_test(not_asked_for)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
