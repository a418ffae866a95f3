/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* blas.c - what dslc bench asks of cuBLASLt is D = A B', wherever the rows or columns of A, B and D
 * are contiguous: against a stand-in that computes what it is told (fake_libraries.c). */
#include "driver/bench/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { M = 5, N = 7, K = 3, PAD = 2, ROOM = 200 };

/* Rows or columns contiguous, with a gap after each. */
static Matrix matrix(int tensor, int64_t rows, int64_t cols, bool columns)
{
	return columns ? (Matrix){tensor, rows, cols, 1, rows + PAD}
		       : (Matrix){tensor, rows, cols, cols + PAD, 1};
}

static int64_t at(const Matrix *m, int64_t row, int64_t col)
{
	return row * m->down + col * m->along;
}

static void fill(Problem *p)
{
	static const char *const names[] = {"A", "B", "D"};
	p->nt = 3;
	for (int i = 0; i < 3; i++) {
		Tensor *t = &p->t[i];
		*t = (Tensor){.name = names[i], .elem = EL_BF16, .is_out = i == 2, .count = ROOM};
		t->bytes = ROOM * 2;
		t->host = malloc(t->bytes);
		for (int k = 0; k < ROOM; k++)
			elem_put(EL_BF16, t->host, k, (k * 7 + i * 3) % 11 - 5);
	}
}

static double product(const Problem *p, const Product *x, int64_t m, int64_t n)
{
	double sum = 0;
	for (int64_t k = 0; k < K; k++)
		sum += elem_get(EL_BF16, p->t[0].host, at(&x->a, m, k)) *
		       elem_get(EL_BF16, p->t[1].host, at(&x->b, n, k));
	return sum;
}

static void assert_computes(const Problem *p, const Product *x)
{
	for (int64_t m = 0; m < M; m++)
		for (int64_t n = 0; n < N; n++)
			assert_true(elem_get(EL_BF16, p->t[2].host, at(&x->d, m, n)) ==
				    product(p, x, m, n));
}

static dsl_device *device_open(void)
{
	dsl_device *dev = NULL;
	assert_int_equal(dsl_device_open("cuda:0", &dev), DSL_OK);
	return dev;
}

static void all_contiguities(void **state)
{
	(void)state;
	for (int way = 0; way < 8; way++) {
		Problem p = {0};
		Rig rig;
		char why[256] = "";
		dsl_device *dev = device_open();
		Product x = {.known = true,
			     .pure = true,
			     .a = matrix(0, M, K, way & 1),
			     .b = matrix(1, N, K, way & 2),
			     .d = matrix(2, M, N, way & 4)};
		fill(&p);
		assert_int_equal(rig_open(&rig, dev, &p), DSL_OK);
		Lt *l = lt_open(&rig, &x, why, sizeof why);
		assert_string_equal(why, "");
		Runner run = {.launch = lt_launch, .self = l};
		assert_int_equal(rig_first(&rig, &run), DSL_OK);
		assert_computes(&p, &x);
		memset(p.t[2].host, 0, p.t[2].bytes);
		assert_int_equal(rig_graphs(&rig, &run), DSL_OK);
		assert_int_equal(run.launches[STEADY] % rig.sets, 0);
		assert_true(run.launches[STEADY] >= run.launches[BURST]);
		assert_int_equal(rig_after(&rig, &run), DSL_OK);
		assert_computes(&p, &x);
		rig_forget(&rig, &run);
		lt_close(l);
		rig_close(&rig);
		dsl_device_close(dev);
		for (int i = 0; i < 3; i++)
			free(p.t[i].host);
	}
}

static void refusals(void **state)
{
	(void)state;
	static const struct {
		const char *lt; /* FAKE_LT */
		bool known;
		Elem elem;
		int64_t along; /* of A */
		const char *why;
	} rows[] = {
		{"", false, EL_BF16, 1, "the kernel is no single product"},
		{"", true, EL_F64, 1, "a matrix has a type"},
		{"", true, EL_BF16, 2, "a matrix has no contiguous rows or columns"},
		{"none", true, EL_BF16, 1, "its heuristics know no algorithm"},
		{"", true, EL_F16, 1, "it refuses the description"}, /* the stand-in does */
		{"", true, EL_I8, 1, "a matrix has a type"},
		{"", true, EL_E4M3, 1, "it refuses the description"},
	};
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		Problem p = {0};
		Rig rig;
		char why[256] = "";
		dsl_device *dev = device_open();
		Product x = {.known = rows[i].known,
			     .a = matrix(0, M, K, false),
			     .b = matrix(1, N, K, false),
			     .d = matrix(2, M, N, false)};
		x.a.along = rows[i].along;
		fill(&p);
		p.t[0].elem = rows[i].elem;
		setenv("FAKE_LT", rows[i].lt, 1);
		assert_int_equal(rig_open(&rig, dev, &p), DSL_OK);
		assert_null(lt_open(&rig, &x, why, sizeof why));
		assert_non_null(strstr(why, rows[i].why));
		setenv("FAKE_LT", "", 1);
		rig_close(&rig);
		dsl_device_close(dev);
		for (int k = 0; k < 3; k++)
			free(p.t[k].host);
	}
}

static void no_library(void **state)
{
	(void)state;
	char why[256] = "", *was = strdup(getenv("DSLC_CUBLASLT"));
	const Rig rig = {0};
	const Product x = {.known = true};
	setenv("DSLC_CUBLASLT", "/nowhere/libcublasLt.so", 1);
	assert_null(lt_open(&rig, &x, why, sizeof why));
	assert_non_null(strstr(why, "cannot be loaded"));
	setenv("DSLC_CUBLASLT", getenv("DSL_LIBCUDA"), 1);
	assert_null(lt_open(&rig, &x, why, sizeof why));
	assert_string_equal(why, "the library has no cublasLtGetVersion");
	setenv("DSLC_CUBLASLT", was, 1);
	free(was);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_contiguities),
		cmocka_unit_test(refusals),
		cmocka_unit_test(no_library),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
