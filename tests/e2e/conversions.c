/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* conversions.c - each type to each other, as an epilogue does it, on the simulator, or on what
 * DSL_TEST_DEVICE names: every pattern of 8 and 16 bits, and of 32 bits the edges of all that is
 * narrower: infinities, NaNs, subnormal numbers, both zeros, what saturates, what lies half way.
 * Each type to each second one and from each second one; each pair with EVERY=1 and on a GPU.
 * Bits are those of number.h; a NaN is one of whatever bits. */
#include "driver/dslc.h"
#include "runtime/dsl.h"
#include "runtime/elem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SIDE = 256, COUNT = SIDE * SIDE, NARGS = 7, ROOM = 1 << 14 };

static const char head[] =
	"kernel to_%s(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), C : %s (M,N):(N,1),\n"
	"             D : out %s (M,N):(N,1)) where N %% 16 == 0, K %% 8 == 0 {\n"
	"  let gA = A / (64,32), gB = B / (128,32), gC = C / (64,128), gD = D / (64,128);\n"
	"  mma mm = wgmma<64,128,16>(bf16, bf16, f32);\n"
	"  smem sA : bf16 (64,32), sB : bf16 (128,32);\n"
	"  pipeline ab(2) { sA, sB }\n"
	"  for (m,n) in gD {\n"
	"    acc : f32 mm.C(64,128) = 0;\n"
	"    for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }\n"
	"    gD[m,n] <- %s(%sgC[m,n]%s);\n"
	"  }\n"
	"}\n";

static bool is_tried(int e)
{
	return elem_rows[e].spoken && elem_rows[e].bits >= 8 && elem_rows[e].bits <= 32;
}

/* Whether it takes two steps, each rounded; or would be none. */
static bool by_f32(int from, int to)
{
	bool wide = (from == EL_I32 || from == EL_U32) && elem_is_float((Elem)to);
	return from == to || (wide && to != EL_F32);
}

static bool is_pair(int from, int to)
{
	const char *every = getenv("EVERY");
	bool all = getenv("DSL_TEST_DEVICE") || (every && !strcmp(every, "1"));
	return is_tried(to) && !(from == to && from == EL_F32) && (all || (from + to) % 2);
}

static char *source_of(int from)
{
	char *text = malloc(ROOM);
	size_t n = 0;
	for (int to = 0; text && to < EL_COUNT; to++) {
		const char *a = elem_rows[from].name, *b = elem_rows[to].name;
		bool two = by_f32(from, to);
		if (is_pair(from, to))
			n += (size_t)snprintf(text + n, ROOM - n, head, b, a, b, b,
					      two ? "f32(" : "", two ? ")" : "");
	}
	return text;
}

/* ------------------------------------------------------------------ what is converted */
/* f32 with 16 bits of a pattern on top and the edge of something narrower below. */
static uint32_t wide_bits(int i)
{
	static const uint32_t below[] = {0,      1,      0x7fff, 0x8000, 0x8001, 0xffff, 0x1000,
					 0x0fff, 0x1001, 0x3000, 0xf000, 0xe000, 0x2000, 0xd000};
	return (uint32_t)i << 16 | below[i * 7 % (int)(sizeof below / sizeof *below)];
}

/* Integers around each power of two, and others. */
static uint32_t integer_bits(int i)
{
	uint32_t power = (uint32_t)1 << i % 32, near = (uint32_t)(i / 32 % 64) - 32;
	return i / 2048 % 2 ? (uint32_t)i * 2654435761u : power + near;
}

static void fill(int e, unsigned char *data)
{
	size_t size = (size_t)elem_rows[e].bits / 8;
	for (int i = 0; i < COUNT; i++) {
		uint32_t bits = size < 4                 ? (uint32_t)i
				: elem_is_float((Elem)e) ? wide_bits(i)
							 : integer_bits(i);
		memcpy(data + (size_t)i * size, &bits, size);
	}
}

/* From an integer: those of 32 bits keep the low bits. */
static bool wraps(int from, int to)
{
	return !by_f32(from, to) && !elem_is_float((Elem)from) && !elem_is_float((Elem)to) &&
	       elem_rows[to].bits == 32;
}

static void check(int from, int to, const unsigned char *in, const unsigned char *got)
{
	size_t size = (size_t)elem_rows[to].bits / 8;
	int nans = 0, zeros = 0;
	for (int i = 0; i < COUNT; i++) {
		double v = elem_get((Elem)from, in, i);
		double want = elem_round((Elem)to, by_f32(from, to) ? elem_round(EL_F32, v) : v);
		uint64_t is = 0, expected = wraps(from, to) ? (uint32_t)(int64_t)v
							    : elem_rows[to].pack(want);
		memcpy(&is, got + (size_t)i * size, size);
		nans += isnan(v);
		zeros += v == 0 && signbit(v);
		if (isnan(want) && elem_is_float((Elem)to) ? !isnan(elem_get((Elem)to, got, i))
							   : is != expected)
			fail_msg("%s to %s: element %d, %a, becomes 0x%llx, not 0x%llx (%a)",
				 elem_rows[from].name, elem_rows[to].name, i, v,
				 (unsigned long long)is, (unsigned long long)expected, want);
	}
	assert_true(!elem_is_float((Elem)from) || (nans > 0 && zeros > 0));
}

/* ------------------------------------------------------------------ */
static dsl_device *dev;
static dsl_addr zeros, in_at, out_at;

static void launch(dsl_module *mod, int to)
{
	char name[32];
	dsl_arg args[NARGS] = {dsl_arg_ptr("A", zeros), dsl_arg_ptr("B", zeros),
			       dsl_arg_ptr("C", in_at), dsl_arg_ptr("D", out_at),
			       dsl_arg_int("M", SIDE),  dsl_arg_int("N", SIDE),
			       dsl_arg_int("K", 16)};
	snprintf(name, sizeof name, "to_%s", elem_rows[to].name);
	if (dsl_launch(mod, name, args, NARGS, NULL, NULL) || dsl_sync(dev))
		fail_msg("%s: %s", name, dsl_detail());
}

static void convert_from(int from)
{
	static unsigned char in[COUNT * 4], out[COUNT * 4];
	char *source = source_of(from);
	size_t size;
	dsl_module *mod;
	assert_non_null(source);
	dslc_result *result = dslc_compile(source, strlen(source), NULL);
	const char *cubin = dslc_output(result, DSLC_CUBIN, &size);
	if (!cubin)
		fail_msg("%s", dslc_diagnostics(result, 0));
	assert_int_equal(dsl_module_load_data(dev, cubin, size, &mod), DSL_OK);
	fill(from, in);
	assert_int_equal(dsl_copy_in(dev, in_at, in, sizeof in), DSL_OK);
	for (int to = 0; to < EL_COUNT; to++) {
		if (!is_pair(from, to))
			continue;
		launch(mod, to);
		assert_int_equal(dsl_copy_out(dev, out, out_at, sizeof out), DSL_OK);
		check(from, to, in, out);
	}
	dsl_module_unload(mod);
	dslc_result_free(result);
	free(source);
}

static void test_conversions(void **state)
{
	const char *name = getenv("DSL_TEST_DEVICE");
	(void)state;
	assert_int_equal(dsl_device_open(name ? name : "sim", &dev), DSL_OK);
	assert_int_equal(dsl_mem_alloc(dev, COUNT * 4, &in_at), DSL_OK);
	assert_int_equal(dsl_mem_alloc(dev, COUNT * 4, &out_at), DSL_OK);
	assert_int_equal(dsl_mem_alloc(dev, (size_t)SIDE * 32, &zeros), DSL_OK);
	assert_int_equal(dsl_mem_set(dev, zeros, 0, (size_t)SIDE * 32), DSL_OK);
	for (int from = 0; from < EL_COUNT; from++)
		if (is_tried(from))
			convert_from(from);
	dsl_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_conversions)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
