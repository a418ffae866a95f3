/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* halves.c - small numbers that are computed with in 16 bits on their way into an mma, on the
 * simulator, or on what DSL_TEST_DEVICE names: of every row PLUS of halves.def each number less
 * each zero, in both halves of a register, times numbers of all sizes, subnormal ones, infinities
 * and NaNs among them. Each row of B picks an element out of A: these are as f32 has them, rounded
 * once. */
#include "driver/dslc.h"
#include "ir/ir.h"
#include "runtime/dsl.h"

#include <assert.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SOME = 16, ZEROS = 256, M = SOME * ZEROS, N = 2 * SOME, K = 128, ROOM = 2048 };

static const char text[] =
	"kernel halves(Q : %s (M,K):(K,1), B : %s (N,K):(K,1), Z : u8 (M,(128,KB)):(1,(0,M)),\n"
	"              S : %s (M,(128,KB)):(1,(0,M)), D : out f32 (M,N):(1,M)) {\n"
	"  let gQ = Q / (64,128), gB = B / (32,128), gZ = Z / (64,128), gS = S / (64,128),\n"
	"      gD = D / (64,32);\n"
	"  mma mm = wgmma<64,32,16>(%s, %s, f32);\n"
	"  smem sQ : %s (64,128), sB : %s (32,128);\n"
	"  pipeline qb(2) { sQ, sB }\n"
	"  for (m,n) in gD {\n"
	"    acc : f32 mm.C(64,32) = 0;\n"
	"    for k in gQ[m] {\n"
	"      sQ <- gQ[m,k]; sB <- gB[n,k];\n"
	"      acc += mm(%s((f32(sQ)%s) * gS[m,k]), sB);\n"
	"    }\n"
	"    gD[m,n] <- acc;\n"
	"  }\n"
	"}\n";

static dsl_device *dev;
static uint8_t q[M * K], z[M];
static uint16_t b[N * K], s[M];
static float d[M * N];

/* Of row m, that which column n of B picks: SOME of them, and again as their neighbours. */
static double integer(Elem from, int m, int n)
{
	int x = m % SOME * SOME + (n < SOME ? n : (n - SOME) ^ 1), bits = elem_rows[from].bits;
	return elem_rows[from].unpack((uint64_t)(x % (1 << bits)));
}

static void fill(Elem from, Elem half)
{
	memset(q, 0, sizeof q);
	for (int i = 0; i < M * N; i++)
		elem_put(from, q, (int64_t)(i / N) * K + i % N, integer(from, i / N, i % N));
	for (int n = 0; n < N; n++)
		elem_put(half, b, (int64_t)n * K + n, 1);
	for (int m = 0; m < M; m++) {
		z[m] = (uint8_t)(m / SOME);
		s[m] = (uint16_t)(m * 40503);
	}
}

/* What the program says: f32 holds the difference, and their product is rounded to it. */
static double element(double x, Elem half, bool zero, int m)
{
	x -= zero ? z[m] : 0;
	return elem_round(half, elem_round(EL_F32, x * elem_rows[half].unpack(s[m])));
}

/* Else 0 times one of the row, those after the last picked one among them, is no number. */
static bool is_finite(Elem from, Elem half, bool zero, int m)
{
	bool all = isfinite(element(0, half, zero, m));
	for (int n = 0; n < N; n++)
		all &= isfinite(element(integer(from, m, n), half, zero, m));
	return all;
}

static void check(Elem from, Elem half, bool zero)
{
	bool finite = false;
	for (int i = 0; i < M * N; i++) {
		int m = i / N, n = i % N;
		double x = integer(from, m, n), got = (double)d[n * M + m];
		double want = element(x, half, zero, m);
		finite = n ? finite : is_finite(from, half, zero, m);
		if (finite ? want != got : isfinite(got))
			fail_msg("%s to %s: (%g - %d) * %a is %a, not %a", elem_rows[from].name,
				 elem_rows[half].name, x, zero ? z[m] : 0,
				 elem_rows[half].unpack(s[m]), got, want);
	}
}

/* ------------------------------------------------------------------ */
typedef struct {
	const char *name;
	void *data;
	size_t size;
} Tensor;

static const Tensor tensors[] = {{"Q", q, sizeof q},
				 {"B", b, sizeof b},
				 {"Z", z, sizeof z},
				 {"S", s, sizeof s},
				 {"D", d, sizeof d}};
enum { TENSORS = COUNTOF(tensors), NARGS = TENSORS + 4 };

static void run(dsl_module *mod)
{
	dsl_addr at[TENSORS];
	dsl_arg args[NARGS] = {[TENSORS] = dsl_arg_int("M", M),
			       dsl_arg_int("N", N),
			       dsl_arg_int("K", K),
			       dsl_arg_int("KB", 1)};
	for (size_t i = 0; i < TENSORS; i++) {
		assert_int_equal(dsl_mem_alloc(dev, tensors[i].size, &at[i]), DSL_OK);
		assert_int_equal(dsl_copy_in(dev, at[i], tensors[i].data, tensors[i].size), DSL_OK);
		args[i] = dsl_arg_ptr(tensors[i].name, at[i]);
	}
	if (dsl_launch(mod, "halves", args, NARGS, NULL, NULL) || dsl_sync(dev))
		fail_msg("%s", dsl_detail());
	assert_int_equal(dsl_copy_out(dev, d, at[TENSORS - 1], sizeof d), DSL_OK);
	for (size_t i = 0; i < TENSORS; i++)
		dsl_mem_free(dev, at[i]);
}

static void try(Elem from, Elem half, bool zero)
{
	const char *f = elem_rows[from].name, *h = elem_rows[half].name;
	char source[ROOM];
	size_t size;
	dsl_module *mod;
	snprintf(source, sizeof source, text, f, h, h, h, h, f, h, h, zero ? " - gZ[m,k]" : "");
	dslc_result *result = dslc_compile(source, strlen(source), NULL);
	const char *cubin = dslc_output(result, DSLC_CUBIN, &size);
	if (!cubin)
		fail_msg("%s", dslc_diagnostics(result, 0));
	assert_int_equal(dsl_module_load_data(dev, cubin, size, &mod), DSL_OK);
	fill(from, half);
	run(mod);
	check(from, half, zero);
	dsl_module_unload(mod);
	dslc_result_free(result);
}

/* Of integers with a zero or without one, row by row; both with EVERY=1 and on a GPU. */
static void row(Elem from, Elem half)
{
	static int rows;
	const char *every = getenv("EVERY");
	bool both = getenv("DSL_TEST_DEVICE") || (every && !strcmp(every, "1"));
	bool zeros = !elem_is_float(from), with = zeros && rows++ % 2 == 0;
	if (with || (zeros && both))
		try(from, half, true);
	if (!with || both)
		try(from, half, false);
}

static void test_halves(void **state)
{
	const char *name = getenv("DSL_TEST_DEVICE");
	(void)state;
	assert_int_equal(dsl_device_open(name ? name : "sim", &dev), DSL_OK);
#define PLUS(from, to, plus) row(EL_##from, EL_##to);
#include "ir/halves.def"
	dsl_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_halves)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
