/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lists of groups that say what cannot be, under every kind of schedule that takes groups: ends
 * that decrease, lie below 0 or after all rows, counts beyond the capacity. Each launch ends well,
 * reads and writes nothing but what is there (the simulator would report it), and computes the
 * groups that the language makes of such a list. More groups than the list has is an error that
 * the simulator reports, and the launch after it is right. Under each schedule every second list,
 * or all with EVERY=1. */
#include "compiled.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

enum { G = 5, M = 200, N = 64, K = 32, MANY = 4 * G, NARGS = 8, D_MAX = G * M * N };

typedef enum { ENDS, COUNTS, ALONG, FORMS } Form;
static const char *const sources[FORMS] = {
	[ENDS] = "kernel of(A : bf16 (M,K):(K,1), L : s32 (G), B : bf16 (G,N,K):(N*K,K,1),\n"
		 "          D : out f32 (M,N):(N,1)) {\n"
		 "  let gA = A / (64,16), gB = B / (1,64,16), gD = D / (64,64);\n"
		 "  mma mm = wgmma<64,64,16>(bf16, bf16, f32) * (1,1,1);\n"
		 "  smem sA : bf16 (64,16), sB : bf16 (64,16);\n"
		 "  pipeline ab(2) { sA, sB }\n"
		 "  for (g,m,n) in groups(gD, L) {\n"
		 "    acc : f32 mm.C(64,64) = 0;\n"
		 "    for k in gA[m] { sA <- gA[m,k]; sB <- gB[g,n,k]; acc += mm(sA, sB); }\n"
		 "    gD[m,n] <- acc;\n"
		 "  }\n",
	[COUNTS] =
		"kernel of(A : bf16 (G,M,K):(M*K,K,1), L : s32 (G), B : bf16 (G,N,K):(N*K,K,1),\n"
		"          D : out f32 (G,M,N):(M*N,N,1)) {\n"
		"  let gA = A / (1,64,16), gB = B / (1,64,16), gD = D / (1,64,64);\n"
		"  mma mm = wgmma<64,64,16>(bf16, bf16, f32) * (1,1,1);\n"
		"  smem sA : bf16 (64,16), sB : bf16 (64,16);\n"
		"  pipeline ab(2) { sA, sB }\n"
		"  for (g,m,n) in groups(gD, L) {\n"
		"    acc : f32 mm.C(64,64) = 0;\n"
		"    for k in gA[g,m] { sA <- gA[g,m,k]; sB <- gB[g,n,k]; acc += mm(sA, sB); }\n"
		"    gD[g,m,n] <- acc;\n"
		"  }\n",
	[ALONG] = "kernel of(A : bf16 (K,M):(1,K), L : s32 (G), B : bf16 (N,M):(1,N),\n"
		  "          D : out f32 (G,K,N):(K*N,N,1)) {\n"
		  "  let gA = A / (64,16), gB = B / (64,16), gD = D / (1,64,64);\n"
		  "  mma mm = wgmma<64,64,16>(bf16, bf16, f32) * (1,1,1);\n"
		  "  smem sA : bf16 (64,16), sB : bf16 (64,16);\n"
		  "  pipeline ab(2) { sA, sB }\n"
		  "  for (g,k,n) in gD {\n"
		  "    acc : f32 mm.C(64,64) = 0;\n"
		  "    for m in groups(gA[k], L, g) { sA <- gA[k,m]; sB <- gB[n,m]; acc += mm(sA, "
		  "sB); }\n"
		  "    gD[g,k,n] <- acc;\n"
		  "  }\n"};

static const struct {
	Form form;
	const char *words;
} schedules[] = {
	{ENDS, "roles none;"},
	{ENDS, "roles cooperative; persistent;"},
	{ENDS, "roles cooperative; persistent dynamic;"},
	{ENDS, "roles pingpong; persistent;"},
	{ENDS, "roles pingpong; persistent dynamic; cluster (1,2);"},
	{ENDS, "swap; persistent;"},
	{ENDS, "split_k 2;"},
	{ENDS, "cluster (2,1); persistent;"},
	{COUNTS, "roles cooperative; persistent dynamic;"},
	{COUNTS, "split_k 2; cluster (2,1);"},
	{ALONG, "roles pingpong; persistent;"},
	{ALONG, "cluster (1,2); swap;"},
};

static const int32_t lists[][G] = {
	{150, 100, 50, 20, 10},
	{-1, -200, INT_MIN, -3, -7},
	{201, 1000, INT_MAX, 500, 300},
	{100, INT_MAX, 50, INT_MIN, 150},
	{63, 64, 65, 64, 63},
	{INT_MIN, 200, -5, 199, 201},
	{0, 0, 0, 0, 0},
};

typedef struct {
	Form form;
	dsl_device *dev;
	dsl_module *mod;
	dslc_result *result;
	dsl_arg args[NARGS];
	dsl_launch_opts opts;
	int n; /* elements of D */
} Bench;

/* What group g is made of: rows from..to of its own, or of all. */
static int held(int64_t x, int64_t lo, int64_t hi)
{
	return (int)(x < lo ? lo : x > hi ? hi : x);
}

static void rows_of(Form form, const int32_t *list, int g, int *from, int *to)
{
	*from = *to = 0;
	if (form == COUNTS) {
		*to = held(list[g], 0, M);
		return;
	}
	for (int i = 0; i <= g; i++) {
		*from = *to;
		*to = held(list[i], *to, M);
	}
}

/* -1: nobody writes it. */
static void expected(Form form, const int32_t *list, int groups, float *d)
{
	for (int i = 0; i < D_MAX; i++)
		d[i] = -1;
	for (int g = 0; g < groups; g++) {
		int from, to, each = form == ALONG ? K * N : form == COUNTS ? M * N : 0;
		rows_of(form, list, g, &from, &to);
		float value = form == ALONG ? (float)(to - from) : (float)(K * (g + 1));
		if (form == ALONG)
			from = 0, to = K;
		for (int i = from * N; i < to * N; i++)
			d[g * each + i] = value;
	}
}

/* bf16 of small numbers; `each` elements are one more than those before. */
static dsl_addr numbers(const Bench *b, int n, int each)
{
	static uint16_t host[D_MAX];
	dsl_addr at;
	for (int i = 0; i < n; i++) {
		float x = (float)(1 + i / each);
		uint32_t bits;
		memcpy(&bits, &x, sizeof bits);
		host[i] = (uint16_t)(bits >> 16);
	}
	assert_int_equal(dsl_mem_alloc(b->dev, (size_t)n * 2, &at), DSL_OK);
	assert_int_equal(dsl_copy_in(b->dev, at, host, (size_t)n * 2), DSL_OK);
	return at;
}

static dsl_addr room(const Bench *b, size_t bytes)
{
	dsl_addr at;
	assert_int_equal(dsl_mem_alloc(b->dev, bytes, &at), DSL_OK);
	assert_int_equal(dsl_mem_set(b->dev, at, 0, bytes), DSL_OK);
	return at;
}

static void bench_open(Bench *b, Form form, const char *words, unsigned seed)
{
	static const int of_d[FORMS] = {M * N, G * M * N, G * K * N};
	char text[2048], sim[64];
	memset(b, 0, sizeof *b);
	b->form = form;
	b->n = of_d[form];
	snprintf(text, sizeof text, "%s  schedule { %s }\n}\n", sources[form], words);
	snprintf(sim, sizeof sim, "sim:sms=4,resident=4,seed=%u", seed);
	if (!compiled_open(text, sim, &b->result, &b->dev, &b->mod))
		fail_msg("%s does not compile", words);
	/* First, and with room for MANY groups: no argument of as many shares memory with it. */
	dsl_addr d = room(b, (size_t)b->n * 4 * MANY);
	dsl_addr a = numbers(b, form == COUNTS ? G * M * K : M * K, INT_MAX);
	dsl_addr w = form == ALONG ? numbers(b, N * M, INT_MAX) : numbers(b, G * N * K, N * K);
	dsl_arg args[NARGS] = {dsl_arg_ptr("A", a), dsl_arg_ptr("L", room(b, G * 4)),
			       dsl_arg_ptr("B", w), dsl_arg_ptr("D", d),
			       dsl_arg_int("G", G), dsl_arg_int("M", M),
			       dsl_arg_int("K", K), dsl_arg_int("N", N)};
	memcpy(b->args, args, sizeof args);
	b->opts = (dsl_launch_opts){.size = sizeof b->opts,
				    .semaphores = room(b, DSL_SEMAPHORES),
				    .semaphores_size = DSL_SEMAPHORES};
}

static dsl_status launch(Bench *b, const int32_t *list, int groups)
{
	assert_int_equal(dsl_copy_in(b->dev, b->args[1].v.ptr, list, G * 4), DSL_OK);
	assert_int_equal(dsl_mem_set(b->dev, b->args[3].v.ptr, 0xff, (size_t)b->n * 4), DSL_OK);
	b->args[4].v.i = groups;
	dsl_status st = dsl_launch(b->mod, "of", b->args, NARGS, NULL, &b->opts);
	return st ? st : dsl_sync(b->dev);
}

static void launch_right(Bench *b, const char *words, const int32_t *list, int groups)
{
	static float want[D_MAX], got[D_MAX];
	if (launch(b, list, groups))
		fail_msg("%s, %d, ..: %s", words, list[0], dsl_detail());
	assert_int_equal(dsl_copy_out(b->dev, got, b->args[3].v.ptr, (size_t)b->n * 4), DSL_OK);
	expected(b->form, list, groups, want);
	for (int i = 0; i < b->n; i++) {
		uint32_t bits;
		memcpy(&bits, &got[i], sizeof bits);
		if (want[i] < 0 ? bits != UINT32_MAX : got[i] != want[i])
			fail_msg("%s, %d, ..: element %d is %g, and not %g", words, list[0], i,
				 (double)got[i], (double)want[i]);
	}
}

static void no_list_does_harm(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof schedules / sizeof *schedules; i++) {
		Bench b;
		const char *words = schedules[i].words;
		bench_open(&b, schedules[i].form, words, i);
		for (size_t j = 0; j < sizeof lists / sizeof *lists; j++)
			if (getenv("EVERY") || (i + j) % 2 == 0)
				launch_right(&b, words, lists[j], G);
		dsl_status many =
			launch(&b, lists[4], MANY); /* or a tensor of so many reaches them */
		assert_true(many == DSL_ERR_SIM || many == DSL_ERR_OVERLAP);
		assert_non_null(strstr(dsl_detail(),
				       many == DSL_ERR_SIM ? "out of bounds" : "the semaphores"));
		launch_right(&b, words, lists[3], G - 2);
		dsl_device_close(b.dev);
		dslc_result_free(b.result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(no_list_does_harm)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
