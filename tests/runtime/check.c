/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* check.c - what descriptions of kernels lead to: expressions that overflow, limits of grids and of
 * tensor maps, outputs whose elements lie in one place. */
#include "sample.h"

#include <string.h>

static void expressions_that_overflow(void **state)
{
	Sample s;
	dsl_arg args[GEMM_ARGS + 1];
	char why[256];
	(void)state;
	sample_fill(&s);
	sample_args(args, 128, 256, 64);
	s.kernel[0].grid[0] = "M 9223372036854775807 *";
	assert_status(dsl_desc_can_run(&s.kernel[0], args, GEMM_ARGS, why, sizeof why),
		      DSL_ERR_OVERFLOW);
	assert_says(why, "M * 9223372036854775807", "64 bits", "M = 128, N = 256, K = 64", NULL);
	s.kernel[0].grid[0] = "M K 64 - /";
	assert_status(dsl_desc_can_run(&s.kernel[0], args, GEMM_ARGS, why, sizeof why),
		      DSL_ERR_OVERFLOW);
	assert_says(why, "M / (K - 64)", "divides", NULL);
	s.kernel[0].grid[0] = "3";
	s.kernel[0].cluster[0] = 2;
	assert_status(dsl_desc_can_run(&s.kernel[0], args, GEMM_ARGS, why, sizeof why),
		      DSL_ERR_GRID);
	assert_says(why, "cluster's 2", NULL);
	s.kernel[0].grid[0] = "M M";
	assert_status(dsl_desc_can_run(&s.kernel[0], args, GEMM_ARGS, why, sizeof why),
		      DSL_ERR_MANIFEST);
	sample_fill(&s);
	s.kernel[0].args[0].stride[0] = "-8";
	assert_status(dsl_desc_can_run(&s.kernel[0], args, GEMM_ARGS, why, sizeof why),
		      DSL_ERR_STRIDE);
	s.kernel[0].args[0].stride[0] = "K";
	s.kernel[0].maps[0].strides[0] = "1099511627776";
	assert_status(dsl_desc_can_run(&s.kernel[0], args, GEMM_ARGS, why, sizeof why),
		      DSL_ERR_STRIDE);
	assert_says(why, "tensor A", "1099511627776", "2^40", NULL);
	s.kernel[0].maps[0].strides[0] = "0";
	s.kernel[0].maps[0].copy = 1;
	assert_status(dsl_desc_can_run(&s.kernel[0], args, GEMM_ARGS, why, sizeof why),
		      DSL_ERR_STRIDE);
	assert_null(strstr(why, "copies it")); /* which would not help */
	args[GEMM_ARGS] = dsl_arg_int("NK", 3);
	s.kernel[0].syms[s.kernel[0].nsyms++] = "NK";
	s.kernel[0].facts[0] = (KFact){"NK 4 % 0 ==", "NK % 4 == 0", "NK", "a rule"};
	dsl_desc_can_run(&s.kernel[0], args, GEMM_ARGS + 1, why, sizeof why);
	assert_says(why, "gemm needs NK % 4 == 0, but NK = 3 (a rule)", NULL);
}

static dsl_status run_desc(const Sample *s, int64_t m, char *why, size_t n)
{
	dsl_arg args[GEMM_ARGS];
	sample_args(args, m, 256, 64);
	return dsl_desc_can_run(&s->kernel[0], args, GEMM_ARGS, why, n);
}

/* Grids, and the first mode of the maps of A and D, at the limits and beyond them. */
static void limits(void **state)
{
	static const struct {
		int axis;
		const char *grid, *a, *d;
		dsl_status status;
		const char *word;
	} rows[] = {
		{1, "65535", "K", "N", DSL_OK, ""},
		{2, "65535", "K", "N", DSL_OK, ""},
		{2, "65536", "K", "N", DSL_ERR_GRID, "grid.z is outside 0 .. 65535: 65536"},
		{1, "512 M *", "K", "N", DSL_ERR_GRID, "0 .. 65535: 512 * M = 65536"},
		{0, "M 129 -", "K", "N", DSL_ERR_GRID, "grid.x is outside"},
		{0, "1", "4294967296", "N", DSL_OK, ""},
		{0, "1", "K 64 -", "N", DSL_ERR_EXTENT, "tensor A: K - 64 = 0 is outside 1"},
		{0, "1", "K 4 -", "N", DSL_OK, ""},
		{0, "1", "K", "N 4 -", DSL_ERR_EXTENT,
		 "rows of N - 4 = 252 elements are 504 bytes"},
	};
	(void)state;
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		Sample s;
		char why[256] = "";
		sample_fill(&s);
		s.kernel[0].grid[rows[i].axis] = rows[i].grid;
		s.kernel[0].maps[0].dims[0] = rows[i].a;
		s.kernel[0].maps[2].dims[0] = rows[i].d;
		assert_status(run_desc(&s, 128, why, sizeof why), rows[i].status);
		assert_says(why, rows[i].word, NULL);
	}
}

/* A batch of one matrix, read again and again; where the box is wider along that mode, or the map
 * is stored through, its stride is what TMA asks for. */
static void a_batch_may_stand_still(void **state)
{
	Sample s;
	char why[256];
	KMap *a = &s.kernel[0].maps[0], *d = &s.kernel[0].maps[2];
	(void)state;
	sample_fill(&s);
	s.kernel[0].args[0] =
		(KArg){"A", KA_TENSOR, EL_BF16, KD_IN, 3, {"3", "M", "K"}, {"0", "K", "1"},
		       0,   0,         0};
	*a = (KMap){0, EL_BF16, 3, {"K", "3", "M"}, {"0", "K 2 *"}, {64, 1, 128}, 128, 0, 0, 0};
	assert_status(run_desc(&s, 128, why, sizeof why), DSL_OK);
	a->box[1] = 2;
	assert_status(run_desc(&s, 128, why, sizeof why), DSL_ERR_STRIDE);
	assert_says(why, "tensor A", "not positive", NULL);
	a->box[1] = 1;
	*d = (KMap){2, EL_BF16, 3, {"N", "3", "M"}, {"0", "N 2 *"}, {32, 1, 64}, 64, 1, 0, 0};
	assert_status(run_desc(&s, 128, why, sizeof why), DSL_ERR_STRIDE);
	assert_says(why, "tensor D", "not positive", NULL);
	d->dims[1] = "1";
	assert_status(run_desc(&s, 128, why, sizeof why), DSL_OK);
}

/* Matrices of an output after each other, or row by row; steps in any order. */
static void outputs_do_not_overlap(void **state)
{
	static const struct {
		const char *shape[3], *stride[3];
		bool apart;
		const char *word;
	} rows[] = {
		{{"M", "N"}, {"N 2 *", "2"}, true, ""},
		{{"M", "N"}, {"3", "M 3 *"}, true, ""},
		{{"M", "N"},
		 {"N", "2"},
		 false,
		 "stride 0 is N = 256, and what lies between two steps of it reaches 511 elements"},
		{{"M", "N"}, {"2", "2"}, false, "stride 1 is 2"},
		{{"2", "M", "N"}, {"N", "N", "1"}, false, "stride 0 is N = 256"},
		{{"1", "M", "N"}, {"0", "N 8 -", "1"}, false, "stride 1 is N - 8 = 248"},
		{{"M", "N"}, {"3", "2"}, false, "stride 0 is 3"},
		{{"3", "M", "N"}, {"M N *", "N", "1"}, true, ""},
		{{"3", "M", "N"}, {"N", "N 3 *", "1"}, true, ""},
		{{"M", "N", "3"}, {"1", "M 3 *", "M"}, true, ""},
		{{"1", "M", "N"}, {"0", "N", "1"}, true, ""},
		{{"3", "M", "N"}, {"0", "N", "1"}, false, "stride 0 is 0"},
		{{"3", "M", "N"}, {"M N * 8 -", "N", "1"}, false, "stride 0 is M * N - 8 = 32760"},
		{{"3", "M", "N"}, {"N", "N 2 *", "1"}, false, "stride 1 is N * 2 = 512"},
		{{"M", "N", "3"}, {"N", "1", "8"}, false, "stride 2 is 8"},
	};
	Sample s;
	char why[256];
	(void)state;
	sample_fill(&s);
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		KArg *d = &s.kernel[0].args[2];
		d->rank = rows[i].shape[2] ? 3 : 2;
		memcpy(d->shape, rows[i].shape, sizeof rows[i].shape);
		memcpy(d->stride, rows[i].stride, sizeof rows[i].stride);
		assert_status(run_desc(&s, 128, why, sizeof why),
			      rows[i].apart ? DSL_OK : DSL_ERR_FACT);
		if (!rows[i].apart)
			assert_says(why, "tensor D", "elements overlap", rows[i].word, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions_that_overflow),
		cmocka_unit_test(limits),
		cmocka_unit_test(a_batch_may_stand_still),
		cmocka_unit_test(outputs_do_not_overlap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
