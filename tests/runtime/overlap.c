/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* overlap.c - an argument that is written shares no byte with another, unless that one is read in
 * place. */
#include "sample.h"

#include <stdio.h>
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
		{KD_OUT, 0, -512, DSL_OK},
		{KD_IN, 64, -0x10000, DSL_ERR_OVERLAP},
		{KD_OUT, 64, -0x10000, DSL_ERR_OVERLAP},
	};
	char why[256], bytes[64];
	(void)state;
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		Sample s;
		sample_fill(&s);
		s.kernel[0].args[GEMM_A].dir = rows[i].dir;
		snprintf(bytes, sizeof bytes, "tensor A, %d bytes at 0x1000000",
			 (int)rows[i].depth * 512);
		assert_status(run(&s.kernel[0], rows[i].depth, first,
				  (dsl_addr)((int64_t)first + rows[i].at), why),
			      rows[i].status);
		if (rows[i].status)
			assert_says(why, "kernel gemm writes tensor ", "tensor D, 131072 bytes at ",
				    bytes, NULL);
	}
}

typedef struct {
	const char *shape[3], *stride[3], *other[3];
	int64_t at; /* of A, from D */
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
	dsl_addr at = (dsl_addr)((int64_t)first + p->at);
	assert_status(run(k, 64, at, first, why), wanted);
	k->args[GEMM_A].dir = KD_INOUT;
	k->args[GEMM_D].dir = KD_IN;
	assert_status(run(k, 64, at, first, why), wanted);
}

/* clang-format off */
static const Pair pairs[] = {
	{{"1", "M", "N"}, {"0", "N 2 *", "1"}, {"0", "N 2 *", "1"}, 512, true, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 2 *", "1"}, {"0", "N 2 *", "1"}, 510, false, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 2 *", "1"}, {"0", "N 2 *", "1"}, 1024, false, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 2 *", "1"}, {"0", "N 2 *", "1"}, 1536, true, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 2 *", "1"}, {"0", "N 2 *", "1"}, -514, false, EL_BF16},
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
	{{"2", "M", "N"}, {"N M * 2 *", "N 2 *", "1"}, {"511", "N 2 *", "1"}, 128, false, EL_E2M1},
	{{"1", "M", "N"}, {"0", "N 3 *", "1"}, {"0", "N 3 *", "1"}, 2048, true, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 3 *", "1"}, {"0", "N 3 *", "1"}, 1792, false, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 3 *", "1"}, {"0", "N 3 *", "1"}, -1792, false, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 3 *", "2"}, {"0", "N 3 *", "1"}, 1022, true, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 3 *", "2"}, {"0", "N 3 *", "1"}, 512, false, EL_BF16},
	{{"3", "M", "N"}, {"N", "N 3 *", "1"}, {"0", "N 3 *", "1"}, 512, false, EL_BF16},
	{{"1", "M", "N"}, {"0", "N 2 *", "1"}, {"4611686018427387904", "N 2 *", "1"}, 512, true,
	 EL_BF16},
};
/* clang-format on */

static void interleaved(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTOF(pairs); i++)
		check_pair(&pairs[i]);
}

/* An input that is read where an output is written has its address, type, shape and strides. What
 * is packed has bytes of its own, which do not interleave. All are 256 x 256. */
static void in_place(void **state)
{
	static const struct {
		const char *shape[2], *stride[2], *pitch; /* the first two of A, the last of D */
		int64_t at;
		int rank;
		Elem elem;
		bool in_place, packed, right;
	} rows[] = {
		{{"M", "N"}, {"N", "1"}, "N", 0, 2, EL_BF16, true, false, true},
		{{"M", "N"}, {"N", "1"}, "N", 16, 2, EL_BF16, true, false, false},
		{{"M", "N"}, {"N", "1"}, "N", 0, 2, EL_BF16, false, false, false},
		{{"M", "N"}, {"N", "1"}, "N", 0, 2, EL_BF16, true, true, false},
		{{"M", "N"}, {"N", "1"}, "N", 0, 2, EL_F16, true, false, false},
		{{"M"}, {"N"}, "N", 0, 1, EL_BF16, true, false, false},
		{{"K", "N"}, {"N", "1"}, "N", 0, 2, EL_BF16, true, false, false},
		{{"M", "K"}, {"N", "1"}, "N", 0, 2, EL_BF16, true, false, false},
		{{"M", "N"}, {"K", "1"}, "N", 0, 2, EL_BF16, true, false, false},
		{{"M", "N"}, {"N", "2"}, "N", 0, 2, EL_BF16, true, false, false},
		{{"M", "N"}, {"N 2 *", "1"}, "N 2 *", 512, 2, EL_BF16, false, false, true},
		{{"M", "N"}, {"N 2 *", "1"}, "N 2 *", 512, 2, EL_BF16, false, true, false},
	};
	char why[256];
	(void)state;
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		Sample s;
		dsl_arg args[GEMM_ARGS];
		sample_fill(&s);
		sample_copies(&s);
		KArg *a = &s.kernel[0].args[GEMM_A];
		a->in_place = rows[i].in_place;
		a->elem = rows[i].elem;
		a->rank = rows[i].rank;
		memcpy(a->shape, rows[i].shape, sizeof rows[i].shape);
		memcpy(a->stride, rows[i].stride, sizeof rows[i].stride);
		s.kernel[0].args[GEMM_D].stride[0] = rows[i].pitch;
		sample_args(args, 256, 256, 256);
		args[GEMM_A].kind = rows[i].packed ? DSL_PACKED : DSL_PTR;
		args[GEMM_A].v.ptr = args[GEMM_D].v.ptr + (dsl_addr)rows[i].at;
		assert_status(dsl_desc_can_run(&s.kernel[0], args, GEMM_ARGS, why, 256),
			      rows[i].right ? DSL_OK : DSL_ERR_OVERLAP);
	}
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
