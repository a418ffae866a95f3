/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* overlap.c - an argument that is written shares no byte with another, unless that one is read in
 * place. */
#include "sample.h"

#include <string.h>

static const dsl_addr first = 0x1000000;

/* gemm with 256 x 256 matrices, A and D at these addresses. */
static dsl_status run(const KDesc *k, int64_t depth, dsl_addr a, dsl_addr d, char why[256])
{
	dsl_arg args[GEMM_ARGS];
	sample_args(args, 256, 256, depth);
	args[GEMM_A].v.ptr = a;
	args[GEMM_B].v.ptr = 0x9000000;
	args[GEMM_D].v.ptr = d;
	why[0] = 0;
	return dsl_desc_can_run(k, args, GEMM_ARGS, why, 256);
}

/* D beside A, which has 256 rows of 512 bytes; or A is written, too. */
static void ranges(void **state)
{
	static const struct {
		KDir dir;
		int64_t depth, at;
		dsl_status status;
	} rows[] = {
		{KD_IN, 256, 0, DSL_ERR_OVERLAP},
		{KD_OUT, 256, 0, DSL_ERR_OVERLAP},
		{KD_INOUT, 256, 0, DSL_ERR_OVERLAP},
		{KD_IN, 256, 64 * 512, DSL_ERR_OVERLAP},
		{KD_IN, 256, 0x20000 - 16, DSL_ERR_OVERLAP},
		{KD_IN, 256, 0x20000, DSL_OK},
		{KD_IN, 256, 16 - 0x20000, DSL_ERR_OVERLAP},
		{KD_IN, 256, -0x20000, DSL_OK},
		{KD_IN, 0, 0, DSL_OK},
		{KD_OUT, 0, 512, DSL_OK},
	};
	char why[256];
	(void)state;
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		Sample s;
		sample_fill(&s);
		s.kernel[0].args[GEMM_A].dir = rows[i].dir;
		assert_status(run(&s.kernel[0], rows[i].depth, first,
				  (dsl_addr)((int64_t)first + rows[i].at), why),
			      rows[i].status);
		if (rows[i].status)
			assert_says(why, "kernel gemm writes tensor ", "tensor A, ", "tensor D, ",
				    "131072 bytes at 0x1000000", NULL);
	}
}

typedef struct {
	const char *shape[3], *stride[3], *other[3];
	dsl_addr at; /* of the second, from the first */
	bool apart;
	Elem elem;
} Pair;

/* Either of the two is the one that is written. */
static void check_pair(const Pair *p)
{
	Sample s;
	char why[256];
	sample_fill(&s);
	KDesc *k = &s.kernel[0];
	k->nmaps = 0;
	for (int j = 0; j < 3; j++) {
		KArg *a = &k->args[j];
		a->elem = p->elem;
		a->rank = 3;
		memcpy(a->shape, p->shape, sizeof p->shape);
		memcpy(a->stride, j == GEMM_A ? p->other : p->stride, sizeof p->stride);
	}
	dsl_status wanted = p->apart ? DSL_OK : DSL_ERR_OVERLAP;
	assert_status(run(k, 64, first + p->at, first, why), wanted);
	assert_status(run(k, 64, first, first + p->at, why), wanted);
}

/* clang-format off */
static const Pair pairs[] = {
	{{"1", "M", "N"}, {"0", "N 2 *", "1"}, {"0", "N 2 *", "1"}, 512, true, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 2 *", "1"}, {"0", "N 2 *", "1"}, 510, false, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 2 *", "1"}, {"0", "N 2 *", "1"}, 1024, false, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 2 *", "1"}, {"0", "N 2 *", "1"}, 1536, true, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 2 *", "1"}, {"0", "N 4 *", "1"}, 512, true, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 3 *", "1"}, {"0", "N 2 *", "1"}, 512, false, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 2 *", "2"}, {"0", "N 2 *", "2"}, 2, true, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 2 *", "2"}, {"0", "N 2 *", "2"}, 4, false, EL_BF16},
	{{"M", "1", "N"}, {"1", "0", "M 2 *"}, {"1", "0", "M 2 *"}, 512, true, EL_BF16},
	{{"3", "M", "N"}, {"131072", "N", "1"}, {"131072", "N", "1"}, 0x20000, true, EL_BF16},
	{{"3", "M", "N"}, {"131072", "N", "1"}, {"131072", "N", "1"}, 0x1fff0, false, EL_BF16},
	{{"3", "M", "N"}, {"N", "N 3 *", "1"}, {"N", "N 3 *", "1"}, 512, false, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 2 *", "1"}, {"0", "N 8 *", "1"}, 128, true, EL_E2M1},
	{{"1", "M", "N"}, {"0", "N 2 *", "1"}, {"0", "N 8 *", "1"}, 127, false, EL_E2M1},
};
/* clang-format on */

static void interleaved(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTOF(pairs); i++)
		check_pair(&pairs[i]);
}

/* An input that is read where an output is written has its address or another, none between. */
static void in_place(void **state)
{
	Sample s;
	char why[256];
	(void)state;
	sample_fill(&s);
	KDesc *k = &s.kernel[0];
	KArg *a = &k->args[GEMM_A];
	a->in_place = 1;
	assert_status(run(k, 256, first, first, why), DSL_ERR_OVERLAP);
	a->shape[1] = a->stride[0] = "N"; /* as D has them */
	assert_status(run(k, 256, first, first, why), DSL_OK);
	assert_status(run(k, 256, first + 16, first, why), DSL_ERR_OVERLAP);
	a->elem = EL_F16;
	assert_status(run(k, 256, first, first, why), DSL_ERR_OVERLAP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges),
		cmocka_unit_test(interleaved),
		cmocka_unit_test(in_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
