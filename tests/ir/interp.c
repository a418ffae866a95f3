/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ir.interp - the reference interpreter against plain loops: GEMMs of many shapes bit by bit,
 * every elementwise row against a value written here, bounds, CTAs, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <inttypes.h>
#include <math.h>

#include "kernels.h"
#include "runtime/number.h"

/* ------------------------------------------------------------------ GEMM */
typedef struct {
	int m, n, k, ldd; /* ldd 0: n */
	Elem in, out;
} Gemm;

enum { TILE_M = 64, TILE_N = 16, TILE_K = 32 };

static const char gemm_text[] = "kernel gemm tile sm_90a {\n"
				"  sym M 0..\n  sym N 0..\n  sym K 0..\n  sym ldd 0..\n"
				"  arg %%A : global %s (M,K):(K,1)\n"
				"  arg %%B : global %s (N,K):(K,1)\n"
				"  arg out %%D : global %s (M,N):(ldd,1)\n"
				"  %%sA = shared : shared %s (64,32)\n"
				"  %%sB = shared : shared %s (16,32)\n"
				"  grid m, n ((M + 63) / 64, (N + 15) / 16) {\n"
				"    %%acc = frag : reg f32 (64,16)\n"
				"    fill %%acc value=0\n"
				"    for k (0, (K + 31) / 32) {\n"
				"      %%a = tile %%A (m * 64, k * 32) : global %s (64,32):(K,1)\n"
				"      copy %%sA, %%a\n"
				"      %%b = tile %%B (n * 16, k * 32) : global %s (16,32):(K,1)\n"
				"      copy %%sB, %%b\n"
				"      mma %%acc, %%sA, %%sB atom=wgmma.m64n16k16.f32.%s.%s\n"
				"    }\n"
				"    %%c = cvt %%acc : reg %s (64,16)\n"
				"    %%d = tile %%D (m * 64, n * 16) : global %s (64,16):(ldd,1)\n"
				"    copy %%d, %%c\n"
				"  }\n"
				"}\n";

static Kernel *gemm_kernel(Ctx *c, Elem in, Elem out)
{
	const char *i = elem_rows[in].name, *o = elem_rows[out].name;
	return kernel_of(c, arena_printf(ctx_arena(c), gemm_text, i, i, o, i, i, i, i, i, i, o, o));
}

static size_t bytes_of(Elem e)
{
	return (size_t)elem_rows[e].bits / 8;
}

static void put(Elem e, void *data, size_t i, float x)
{
	if (e == EL_F32)
		((float *)data)[i] = x;
	else
		((uint16_t *)data)[i] = e == EL_BF16 ? bf16_from_f32(x) : f16_from_f32(x);
}

static float get(Elem e, const void *data, size_t i)
{
	if (e == EL_F32)
		return ((const float *)data)[i];
	uint16_t h = ((const uint16_t *)data)[i];
	return e == EL_BF16 ? bf16_to_f32(h) : f16_to_f32(h);
}

static float next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (float)(int32_t)(*seed >> 32) * 0x1p-30f;
}

static void *random_data(Elem e, size_t n, uint64_t seed)
{
	char *data = test_malloc(n * bytes_of(e) + 1);
	for (size_t i = 0; i < n; i++)
		put(e, data, i, next_random(&seed));
	return data;
}

static float expected_at(const Gemm *g, const void *a, const void *b, int row, int col)
{
	double sum = 0;
	for (int x = 0; x < g->k; x++)
		sum += (double)get(g->in, a, (size_t)row * g->k + x) *
		       (double)get(g->in, b, (size_t)col * g->k + x);
	return (float)sum;
}

static void check_row(const Gemm *g, const void *a, const void *b, const char *d, int row)
{
	size_t size = bytes_of(g->out), ldd = (size_t)(g->ldd ? g->ldd : g->n);
	const char *line = d + (size_t)row * ldd * size;
	for (int col = 0; col < g->n; col++) {
		float want[1];
		put(g->out, want, 0, expected_at(g, a, b, row, col));
		if (memcmp(line + col * size, want, size) != 0)
			fail_msg("%dx%dx%d: D[%d,%d] is %g", g->m, g->n, g->k, row, col,
				 (double)get(g->out, line, (size_t)col));
	}
	for (size_t i = g->n * size; i < ldd * size; i++)
		assert_int_equal(line[i], 0x5a);
}

typedef struct {
	int64_t tiles[4];
	int n;
} Chosen;

static bool is_chosen(void *user, int64_t tile)
{
	const Chosen *c = user;
	for (int i = 0; i < c->n; i++)
		if (c->tiles[i] == tile)
			return true;
	return false;
}

static void run_gemm(const Gemm *g, const void *a, const void *b, void *d, Chosen *chosen)
{
	Ctx *c = ctx_new();
	const InterpArg args[] = {{"D", d},
				  {"A", (void *)(uintptr_t)a},
				  {"B", (void *)(uintptr_t)b}};
	const InterpSym syms[] = {{"ldd", g->ldd ? g->ldd : g->n},
				  {"M", g->m},
				  {"N", g->n},
				  {"K", g->k}};
	InterpRun run = {.args = args, .nargs = 3, .syms = syms, .nsyms = 4};
	if (chosen) {
		run.tile = is_chosen;
		run.user = chosen;
	}
	run_ok(gemm_kernel(c, g->in, g->out), &run);
	ctx_free(c);
}

static void check_gemm(const Gemm *g)
{
	size_t size = (size_t)g->m * (size_t)(g->ldd ? g->ldd : g->n) * bytes_of(g->out);
	void *a = random_data(g->in, (size_t)g->m * g->k, 1);
	void *b = random_data(g->in, (size_t)g->n * g->k, 2);
	char *d = test_malloc(size + 16);
	memset(d, 0x5a, size + 16);
	run_gemm(g, a, b, d, NULL);
	for (int row = 0; row < g->m; row++)
		check_row(g, a, b, d, row);
	for (size_t i = size; i < size + 16; i++)
		assert_int_equal(d[i], 0x5a);
	test_free(a);
	test_free(b);
	test_free(d);
}

static void test_gemm(void **state)
{
	(void)state;
	static const Gemm cases[] = {
		{64, 16, 32, 0, EL_BF16, EL_BF16},   {128, 32, 64, 0, EL_BF16, EL_F32},
		{1, 1, 1, 0, EL_BF16, EL_F32},       {65, 17, 33, 0, EL_BF16, EL_BF16},
		{63, 15, 31, 20, EL_F16, EL_F16},    {130, 40, 100, 64, EL_F16, EL_F32},
		{7, 130, 257, 131, EL_BF16, EL_F16}, {200, 3, 8, 0, EL_F16, EL_BF16},
		{64, 16, 0, 0, EL_BF16, EL_F32},     {5, 6, 0, 9, EL_F16, EL_F16},
		{0, 16, 32, 0, EL_BF16, EL_F32},     {64, 0, 32, 0, EL_BF16, EL_F32},
	};
	for (size_t i = 0; i < COUNTOF(cases); i++)
		check_gemm(&cases[i]);
}

/* Of a grid of 3 x 2 tiles only 1 (m 1, n 0) and 5 (m 2, n 1) are computed. */
static void test_chosen_tiles(void **state)
{
	(void)state;
	Gemm g = {150, 30, 40, 0, EL_BF16, EL_F32};
	Chosen chosen = {{1, 5}, 2};
	void *a = random_data(g.in, (size_t)g.m * g.k, 3),
	     *b = random_data(g.in, (size_t)g.n * g.k, 4);
	float *d = test_calloc((size_t)g.m * g.n, sizeof *d);
	run_gemm(&g, a, b, d, &chosen);
	for (int row = 0; row < g.m; row++)
		for (int col = 0; col < g.n; col++) {
			int64_t tile = row / TILE_M + 3 * (col / TILE_N);
			float want = is_chosen(&chosen, tile) ? expected_at(&g, a, b, row, col) : 0;
			assert_memory_equal(&d[row * g.n + col], &want, sizeof want);
		}
	test_free(a);
	test_free(b);
	test_free(d);
}

/* ------------------------------------------------------------------ elementwise */
typedef struct {
	const char *name;
	float x, y, z, want;
} EltCase;

static const EltCase elt_cases[] = {
	{"neg", 1.5f, 0, 0, -1.5f},
	{"abs", -2.5f, 0, 0, 2.5f},
	{"add", 1.25f, 2.5f, 0, 3.75f},
	{"add", 0x1p24f, 1.0f, 0, 0x1p24f},
	{"sub", 1.25f, 2.5f, 0, -1.25f},
	{"mul", 1.5f, -3.0f, 0, -4.5f},
	{"div", 1.0f, 3.0f, 0, 0x1.555556p-2f},
	{"min", 2.0f, -1.0f, 0, -1.0f},
	{"max", 2.0f, -1.0f, 0, 2.0f},
	{"min", 0.0f, -0.0f, 0, -0.0f},
	{"min", -0.0f, 0.0f, 0, -0.0f},
	{"max", 0.0f, -0.0f, 0, 0.0f},
	{"max", -0.0f, 0.0f, 0, 0.0f},
	{"fma", 2.0f, 3.0f, 4.0f, 10.0f},
	{"fma", 1.0f + 0x1p-23f, 1.0f - 0x1p-23f, -1.0f, -0x1p-46f},
	{"sqrt", 2.25f, 0, 0, 1.5f},
	{"rsqrt", 0.25f, 0, 0, 2.0f},
	{"exp2", -3.0f, 0, 0, 0.125f},
	{"sigmoid", 0.0f, 0, 0, 0.5f},
	{"relu", -3.0f, 0, 0, 0.0f},
	{"relu", 3.0f, 0, 0, 3.0f},
	{"square", -1.5f, 0, 0, 2.25f},
	{"clamp", 1.5f, -1.0f, 1.0f, 1.0f},
	{"clamp", -1.5f, -1.0f, 1.0f, -1.0f},
	{"lt", 1.0f, 1.0f, 0, 0.0f},
	{"le", 1.0f, 1.0f, 0, 1.0f},
	{"gt", 2.0f, 1.0f, 0, 1.0f},
	{"ge", 1.0f, 2.0f, 0, 0.0f},
	{"eq", 0.0f, -0.0f, 0, 1.0f},
	{"ne", NAN, NAN, 0, 1.0f},
	{"logic_and", 2.0f, -1.0f, 0, 1.0f},
	{"logic_or", 0.0f, 0.0f, 0, 0.0f},
	{"logic_not", 0.0f, 0, 0, 1.0f},
	{"select", 0.0f, 2.0f, 3.0f, 3.0f},
	{"select", NAN, 2.0f, 3.0f, 2.0f},
	{"exp2_approx", 3.0f, 0, 0, 8.0f},
	{"exp", 1.0f, 0, 0, 0x1.5bf0a8p+1f},
	{"log", 2.0f, 0, 0, 0x1.62e430p-1f},
	{"log", 0.0f, 0, 0, -INFINITY},
	{"log2", 0x1p-140f, 0, 0, -140.0f},
	{"pow", 2.0f, 0.5f, 0, 0x1.6a09e6p+0f},
	{"pow", -2.0f, 3.0f, 0, -8.0f},
	{"pow", -0.0f, -3.0f, 0, -INFINITY},
	{"pow", 1.0f, INFINITY, 0, 1.0f},
	{"tanh", 1.0f, 0, 0, 0x1.85efacp-1f},
	{"tanh_approx", 1.0f, 0, 0, 0x1.85efacp-1f},
	{"erf", 1.0f, 0, 0, 0x1.af767ap-1f},
	{"softplus", 0.0f, 0, 0, 0x1.62e430p-1f},
	{"softplus", 100.0f, 0, 0, 100.0f},
	{"silu", 2.0f, 0, 0, 0x1.c2f7d6p+0f},
	{"silu", -90.0f, 0, 0, -0x1.918314p-124f},
	{"gelu", 1.0f, 0, 0, 0x1.aec4bep-1f},
	{"gelu", -6.0f, 0, 0, -0x1.96c966p-28f},
	{"gelu_tanh", 1.0f, 0, 0, 0x1.aeb0b8p-1f},
	{"hardswish", 1.0f, 0, 0, 0x1.555556p-1f},
	{"leaky_relu", -2.0f, 0.25f, 0, -0.5f},
	{"drelu", 0.0f, 0, 0, 0.0f},
	{"dsigmoid", 0.0f, 0, 0, 0.25f},
	{"dtanh", 0.0f, 0, 0, 1.0f},
	{"dsilu", 0.0f, 0, 0, 0.5f},
	{"dgelu", 1.0f, 0, 0, 0x1.15542ap+0f},
	{"dgelu_tanh", 1.0f, 0, 0, 0x1.153d22p+0f},
	{"dgelu_tanh", INFINITY, 0, 0, 1.0f},
};

/* D = op(x, y, z): x from a tensor, y and z as scalars, on a 3 x 5 corner of a tile. */
static void check_elt(const EltCase *t)
{
	static const char *const operands[] = {"", "%x", "%x, %y", "%x, %y, %z"};
	Ctx *c = ctx_new();
	float x[15], d[15] = {0};
	double y = (double)t->y, z = (double)t->z;
	for (int i = 0; i < 15; i++)
		x[i] = t->x;
	const char *text = arena_printf(
		ctx_arena(c),
		"kernel e tile sm_90a {\n  arg %%X : global f32 (3,5):(5,1)\n"
		"  arg %%y : f32\n  arg %%z : f32\n  arg out %%D : global f32 (3,5):(5,1)\n"
		"  %%t = tile %%X (0, 0) : global f32 (4,8):(5,1)\n"
		"  %%x = frag : reg f32 (4,8)\n  copy %%x, %%t\n"
		"  %%r = %s %s : reg f32 (4,8)\n"
		"  %%d = tile %%D (0, 0) : global f32 (4,8):(5,1)\n  copy %%d, %%r\n}\n",
		t->name, operands[elt_by_name(t->name)->arity]);
	const InterpArg args[] = {{"X", x}, {"y", &y}, {"z", &z}, {"D", d}};
	run_ok(kernel_of(c, text), &(InterpRun){.args = args, .nargs = 4});
	for (int i = 0; i < 15; i++)
		if (memcmp(&d[i], &t->want, sizeof t->want) != 0)
			fail_msg("%s(%a, %a, %a) gave %a", t->name, (double)t->x, (double)t->y,
				 (double)t->z, (double)d[i]);
	ctx_free(c);
}

/* Of s32 and u32: wrapped to 32 bits, floors, no count of a shift is too large. */
static const struct {
	const char *name;
	Elem elem;
	double x, y, z, want;
} int_cases[] = {
	{"neg", EL_U32, 1, 0, 0, 4294967295},
	{"neg", EL_I32, -2147483648.0, 0, 0, -2147483648.0},
	{"abs", EL_I32, -7, 0, 0, 7},
	{"add", EL_I32, 2147483647, 1, 0, -2147483648.0},
	{"sub", EL_U32, 0, 1, 0, 4294967295},
	{"mul", EL_U32, 4294967295, 4294967295, 0, 1},
	{"mul", EL_I32, 65536, 65537, 0, 65536},
	{"mulhi", EL_U32, 4294967295, 4294967295, 0, 4294967294},
	{"mulhi", EL_I32, -1, 1, 0, -1},
	{"div", EL_I32, -7, 2, 0, -4},
	{"modulo", EL_I32, -7, 4, 0, 1},
	{"div", EL_U32, 4294967295, 10, 0, 429496729},
	{"min", EL_I32, -1, 1, 0, -1},
	{"min", EL_U32, 4294967295, 1, 0, 1},
	{"max", EL_U32, 4294967295, 1, 0, 4294967295},
	{"clamp", EL_I32, -9, -3, 3, -3},
	{"lt", EL_I32, -1, 1, 0, 1},
	{"lt", EL_U32, 4294967295, 1, 0, 0},
	{"le", EL_I32, 1, 1, 0, 1},
	{"gt", EL_I32, 1, 1, 0, 0},
	{"ge", EL_I32, 1, 2, 0, 0},
	{"eq", EL_U32, 4294967295, 4294967295, 0, 1},
	{"ne", EL_I32, 2, 1, 0, 1},
	{"select", EL_I32, -1, 2, 3, 2},
	{"logic_and", EL_I32, 2, -1, 0, 1},
	{"logic_or", EL_I32, 0, 0, 0, 0},
	{"logic_not", EL_U32, 0, 0, 0, 1},
	{"bit_and", EL_I32, -1, 12, 0, 12},
	{"bit_or", EL_U32, 5, 10, 0, 15},
	{"bit_xor", EL_I32, -1, 12, 0, -13},
	{"bit_not", EL_U32, 0, 0, 0, 4294967295},
	{"shl", EL_I32, 1, 31, 0, -2147483648.0},
	{"shl", EL_U32, 1, 32, 0, 0},
	{"shl", EL_I32, 1, -1, 0, 0},
	{"shr", EL_I32, -8, 1, 0, -4},
	{"shr", EL_I32, -8, 99, 0, -1},
	{"shr", EL_U32, 4294967288, 32, 0, 0},
};

static void check_int(size_t i)
{
	static const char *const operands[] = {"", "%x", "%x, %y", "%x, %y, %z"};
	const char *e = elem_rows[int_cases[i].elem].name, *name = int_cases[i].name;
	Ctx *c = ctx_new();
	double x = int_cases[i].x;
	uint32_t d[4];
	const char *text = arena_printf(
		ctx_arena(c),
		"kernel e tile sm_90a {\n  arg %%x : %s\n  arg out %%D : global %s (4):(1)\n"
		"  %%y = const value=%.17g : %s\n  %%z = const value=%.17g : %s\n"
		"  %%a = frag : reg %s (4)\n  fill %%a value=0\n  %%r = %s %s : %s\n"
		"  %%s = add %%a, %%r : reg %s (4)\n  copy %%D, %%s\n}\n",
		e, e, int_cases[i].y, !strncmp(name, "sh", 2) ? "s32" : e, int_cases[i].z, e, e,
		name, operands[elt_by_name(name)->arity], e, e);
	const InterpArg args[] = {{"x", &x}, {"D", d}};
	run_ok(kernel_of(c, text), &(InterpRun){.args = args, .nargs = 2});
	if (elem_get(int_cases[i].elem, d, 3) != int_cases[i].want)
		fail_msg("%s of %s gave %.17g", name, e, elem_get(int_cases[i].elem, d, 3));
	ctx_free(c);
}

/* Each row that integers have. */
static void test_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTOF(int_cases); i++)
		check_int(i);
	for (int op = 0; op < OP_COUNT; op++) {
		const EltRow *row = elt_by_op((OpKind)op);
		bool tested = !row || !row->whole;
		for (size_t i = 0; i < COUNTOF(int_cases) && !tested; i++)
			tested = !strcmp(int_cases[i].name, row->name);
		if (!tested)
			fail_msg("no case of integers for '%s'", row->name);
	}
}

/* Coordinates and sizes. */
static void test_series(void **state)
{
	(void)state;
	int32_t d[8];
	float s[8];
	Ctx *c = ctx_new();
	const Kernel *k = kernel_of(c, "kernel s tile sm_90a {\n  sym M 0..9\n"
				       "  arg out %D : global s32 (2,4):(4,1)\n"
				       "  arg out %S : global f32 (2,4):(4,1)\n"
				       "  %r = series (M * 2) : reg s32 (2,1)\n"
				       "  %c = series (3) : reg s32 (1,4)\n"
				       "  %x = mul %r, %c : reg s32 (2,4)\n"
				       "  %z = sizeval (M - 6) : s32\n"
				       "  %y = add %x, %z : reg s32 (2,4)\n"
				       "  %f = sizeval (M * 3) : f32\n"
				       "  %a = cvt %y : reg f32 (2,4)\n"
				       "  %b = sub %a, %f : reg f32 (2,4)\n"
				       "  copy %D, %y\n  copy %S, %b\n}\n");
	const InterpArg args[] = {{"D", d}, {"S", s}};
	const InterpSym syms[] = {{"M", 5}};
	run_ok(k, &(InterpRun){.args = args, .nargs = 2, .syms = syms, .nsyms = 1});
	for (int i = 0; i < 8; i++) {
		assert_int_equal(d[i], (10 + i / 4) * (3 + i % 4) - 1);
		assert_true(s[i] == (float)(d[i] - 15));
	}
	ctx_free(c);
}

static void test_elementwise(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTOF(elt_cases); i++)
		check_elt(&elt_cases[i]);
	for (int op = 0; op < OP_COUNT; op++) {
		const EltRow *row = elt_by_op((OpKind)op);
		bool tested = !row || !row->value;
		for (size_t i = 0; i < COUNTOF(elt_cases) && !tested; i++)
			tested = !strcmp(elt_cases[i].name, row->name);
		if (!tested)
			fail_msg("no case for the elementwise op '%s'", row->name);
	}
}

/* ------------------------------------------------------------------ beyond the edge */
/* A tile of 4 x 4 of a tensor of 3 x 2: beyond the edges that count, and elsewhere. */
static void check_inside(int rows, int cols)
{
	float a[6] = {0}, d[16] = {0};
	Ctx *c = ctx_new();
	const char *text =
		"kernel inside tile sm_90a {\n"
		"  arg %%A : global f32 (3,2):(2,1)\n  arg out %%D : global f32 (4,4):(4,1)\n"
		"  %%s = frag : reg f32 (4,4)\n  fill %%s value=7\n"
		"  %%t = tile %%A (0, 0) : global f32 (4,4):(2,1)\n"
		"  %%x = inside %%s, %%t value=-inf edges=(%d,%d) : reg f32 (4,4)\n"
		"  %%d = tile %%D (0, 0) : global f32 (4,4):(4,1)\n  copy %%d, %%x\n}\n";
	const Kernel *k = kernel_of(c, arena_printf(ctx_arena(c), text, rows, cols));
	const InterpArg args[] = {{"A", a}, {"D", d}};
	run_ok(k, &(InterpRun){.args = args, .nargs = 2});
	for (int i = 0; i < 16; i++)
		assert_true(d[i] == ((rows && i / 4 >= 3) || (cols && i % 4 >= 2) ? -INFINITY : 7));
	ctx_free(c);
}

static void test_inside(void **state)
{
	(void)state;
	for (int edges = 1; edges < 4; edges++)
		check_inside(edges & 1, edges >> 1);
}

/* Scalars on either side, scalars among themselves, rounding to 16 bits and back. */
static void test_scalars(void **state)
{
	(void)state;
	Ctx *c = ctx_new();
	double a = 3;
	float d[4];
	Kernel *k = kernel_of(c, "kernel s tile sm_90a {\n"
				 "  arg %a : f32\n  arg out %D : global f32 (4):(1)\n"
				 "  %x = frag : reg f32 (4)\n  fill %x value=2\n"
				 "  %h = const value=1.00390625 : f32\n"
				 "  %s = mul %a, %h : f32\n"
				 "  %u = sub %s, %x : reg f32 (4)\n"
				 "  %v = div %u, %a : reg f32 (4)\n"
				 "  %b = cvt %v : reg bf16 (4)\n"
				 "  %w = cvt %b : reg f32 (4)\n"
				 "  copy %D, %w\n}\n");
	const InterpArg args[] = {{"a", &a}, {"D", d}};
	run_ok(k, &(InterpRun){.args = args, .nargs = 2});
	float want = bf16_to_f32(bf16_from_f32((3.0f * 1.00390625f - 2.0f) / 3.0f));
	for (int i = 0; i < 4; i++)
		assert_memory_equal(&d[i], &want, sizeof want);
	ctx_free(c);
}

/* Numbers of 16 bits: each operation is rounded once, keeps what is subnormal and overflows. */
static void test_halves(void **state)
{
	static const struct {
		Elem elem;
		const char *op;
		double x, y, z, want;
	} cases[] = {
		{EL_F16, "add", 65504, 16, 0, INFINITY},
		{EL_F16, "sub", 2048, -3, 0, 2052},
		{EL_F16, "mul", 0x1p-24, 0.75, 0, 0x1p-24},
		{EL_BF16, "mul", 0x1p-100, 0x1p-30, 0, 0x1p-130},
		{EL_BF16, "min", -0.0, 0, 0, -0.0},
		{EL_BF16, "max", NAN, 3, 0, 3},
		{EL_BF16, "fma", 1.0078125, 1.0078125, -1, 0x1p-6},
		/* in the middle of two neighbours, and as little above or below it as there is */
		{EL_BF16, "fma", 0x1.1p0, 0x1.1p-4, 0x1p-130, 0x1.22p-4},
		{EL_BF16, "fma", 0x1.1p0, 0x1.1p-4, -0x1p-130, 0x1.2p-4},
	};
	(void)state;
	for (size_t i = 0; i < COUNTOF(cases); i++) {
		Ctx *c = ctx_new();
		Elem e = cases[i].elem;
		double y = cases[i].y, z = cases[i].z;
		uint64_t x = 0, d = 0; /* of two elements */
		const char *t = elem_rows[e].name, *op = cases[i].op;
		elem_put(e, &x, 1, cases[i].x);
		const char *text = ctx_strf(
			c,
			"kernel h tile sm_90a {\n  arg %%X : global %s (2):(1)\n  arg %%y : %s\n"
			"  arg %%z : %s\n  arg out %%D : global %s (2):(1)\n"
			"  %%x = frag : reg %s (2)\n  copy %%x, %%X\n"
			"  %%r = %s %%x, %%y%s : reg %s (2)\n  copy %%D, %%r\n}\n",
			t, t, t, t, t, op, strcmp(op, "fma") ? "" : ", %z", t);
		const InterpArg args[] = {{"X", &x}, {"y", &y}, {"z", &z}, {"D", &d}};
		run_ok(kernel_of(c, text), &(InterpRun){.args = args, .nargs = 4});
		double got = elem_get(e, &d, 1);
		if (memcmp(&got, &cases[i].want, sizeof got) != 0)
			fail_msg("%s %s(%a, %a, %a) gave %a", t, op, cases[i].x, y, z, got);
		ctx_free(c);
	}
}

/* Integers pass whole, beyond what f32 holds: as they are stored, as constants and as sums. */
static void test_integers(void **state)
{
	(void)state;
	Ctx *c = ctx_new();
	int32_t x[4] = {16777217, -2147483647 - 1, 2147483647, -16777219}, d[4] = {0}, e[4] = {0};
	Kernel *k = kernel_of(
		c, "kernel i tile sm_90a {\n"
		   "  arg %X : global i32 (4):(1)\n  arg out %D : global i32 (4):(1)\n"
		   "  arg out %E : global i32 (4):(1)\n"
		   "  %t = tile %X (0) : global i32 (4):(1)\n"
		   "  %s = shared : shared i32 (4):(1)\n  copy %s, %t\n"
		   "  %f = frag : reg i32 (4)\n  copy %f, %s\n  copy %D, %f\n"
		   "  %g = frag : reg i32 (4)\n  fill %g value=16777217\n  copy %E, %g\n}\n");
	const InterpArg args[] = {{"X", x}, {"D", d}, {"E", e}};
	run_ok(k, &(InterpRun){.args = args, .nargs = 3});
	assert_memory_equal(d, x, sizeof x);
	for (int i = 0; i < 4; i++)
		assert_int_equal(e[i], 16777217);
	ctx_free(c);
}

/* ------------------------------------------------------------------ control and layouts */
static void test_control(void **state)
{
	(void)state;
	Ctx *c = ctx_new();
	float d[8] = {0};
	Kernel *k = kernel_of(c, "kernel c tile sm_90a {\n  sym M 0..\n"
				 "  arg out %D : global f32 (M):(1)\n"
				 "  %x = frag : reg f32 (1)\n  fill %x value=1\n"
				 "  for i (0, M) {\n    let j (i + 1)\n"
				 "    if (j % 2 == 0, j < M) {\n"
				 "      %t = tile %D (j) : global f32 (1):(1)\n"
				 "      copy %t, %x\n    }\n  }\n}\n");
	const InterpArg args[] = {{"D", d}};
	const InterpSym syms[] = {{"M", 8}};
	run_ok(k, &(InterpRun){.args = args, .nargs = 1, .syms = syms, .nsyms = 1});
	for (int i = 0; i < 8; i++)
		assert_true(d[i] == (i > 0 && i % 2 == 0 ? 1.0f : 0.0f));
	ctx_free(c);
}

/* A mode of two factors: coordinate i of (2,4):(1,16) lies at i % 2 + i / 2 * 16. */
static void test_nested_layout(void **state)
{
	(void)state;
	Ctx *c = ctx_new();
	float a[64], d[8 * 4];
	for (int i = 0; i < 64; i++)
		a[i] = (float)i;
	Kernel *k = kernel_of(c, "kernel l tile sm_90a {\n"
				 "  arg %A : global f32 ((2,4),4):((1,16),2)\n"
				 "  arg out %D : global f32 (8,4):(4,1)\n"
				 "  %x = frag : reg f32 (8,4)\n  copy %x, %A\n  copy %D, %x\n}\n");
	const InterpArg args[] = {{"A", a}, {"D", d}};
	const char *why = NULL;
	assert_false(kernel_interp(k, &(InterpRun){.args = args, .nargs = 1}, &why));
	assert_string_equal(why, "the argument 'D' is missing");
	run_ok(k, &(InterpRun){.args = args, .nargs = 2});
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < 4; j++)
			assert_true(d[i * 4 + j] == (float)(i % 2 + i / 2 * 16 + 2 * j));
	ctx_free(c);
}

/* After the pass that turns a grid into CTAs: every CTA stores where it is. */
static void test_ctas(void **state)
{
	(void)state;
	Ctx *c = ctx_new();
	float d[6] = {0};
	Kernel *k = kernel_of(c, "kernel c tile sm_90a {\n  sym M 0..\n"
				 "  arg out %D : global f32 (6):(1)\n  launch (M, 2, 1)\n"
				 "  let m (cta % M)\n  let n (cta / M)\n"
				 "  %x = frag : reg f32 (1)\n  fill %x value=7\n"
				 "  %t = tile %D (m * 2 + n) : global f32 (1):(1)\n"
				 "  copy %t, %x\n}\n");
	const InterpArg args[] = {{"D", d}};
	const InterpSym syms[] = {{"M", 3}};
	Chosen chosen = {{0, 1, 3}, 3};
	InterpRun run = {.args = args, .nargs = 1, .syms = syms, .nsyms = 1};
	run.tile = is_chosen;
	run.user = &chosen;
	run_ok(k, &run);
	static const float want[] = {7, 7, 7, 0, 0, 0};
	assert_memory_equal(d, want, sizeof want);
	run.tile = NULL;
	run_ok(k, &run);
	for (int i = 0; i < 6; i++)
		assert_true(d[i] == 7.0f);
	ctx_free(c);
}

/* Reading what nobody wrote gives NaN, not luck. */
static void test_unwritten(void **state)
{
	(void)state;
	Ctx *c = ctx_new();
	float d[4] = {0};
	Kernel *k = kernel_of(c, "kernel u tile sm_90a {\n  arg out %D : global f32 (4):(1)\n"
				 "  %x = frag : reg f32 (4)\n  copy %D, %x\n}\n");
	const InterpArg args[] = {{"D", d}};
	run_ok(k, &(InterpRun){.args = args, .nargs = 1});
	for (int i = 0; i < 4; i++)
		assert_true(isnan(d[i]));
	ctx_free(c);
}

/* ------------------------------------------------------------------ refusals */
typedef struct {
	const char *lines;
	InterpSym sym;
	bool no_data;
	const char *why;
} Refusal;

static void test_refusals(void **state)
{
	(void)state;
	static const Refusal cases[] = {
		{"sym K 0..", {"M", 8}, false, "the symbol 'K' has no value"},
		{"", {"M", -1}, false, "M = -1 is not in 0.."},
		{"", {"M", 12}, false, "M = 12 is not a multiple of 8"},
		{"fact (M < 8) \"M < 8\" \"where clause\"",
		 {"M", 16},
		 false,
		 "'M < 8' does not hold (where clause)"},
		{"arg %x : f32", {"M", 8}, false, "the argument 'x' is missing"},
		{"", {"M", 8}, true, "the tensor 'D' has no data"},
		{"let x (1 / (M - 8))", {"M", 8}, false, "divides by zero"},
		{"let x (M * 4611686018427387904)", {"M", 8}, false, "overflows 64 bits"},
		{"%n = const value=1 : u8\n%x = cvt %n plus=1 : bf16", {"M", 8}, false, "plus="},
		{"let x (lane)", {"M", 8}, false, "'lane' has no value"},
		{"arg %E : global f32 (M,M,M,M,M,M)", {"M", 8}, false, "at most five modes"},
	};
	for (size_t i = 0; i < COUNTOF(cases); i++) {
		Ctx *c = ctx_new();
		float d[64] = {0};
		const char *why = NULL;
		const char *text = ctx_strf(c,
					    "kernel r tile sm_90a {\n  sym M 0..1000000 div=8\n"
					    "  arg out %%D : global f32 (M):(1)\n  %s\n}\n",
					    cases[i].lines);
		Kernel *k = kernel_of(c, text);
		const InterpArg args[] = {{"D", cases[i].no_data ? NULL : d}, {"E", d}};
		InterpRun run = {.args = args, .nargs = 2, .syms = &cases[i].sym, .nsyms = 1};
		assert_false(kernel_interp(k, &run, &why));
		if (!strstr(why, cases[i].why))
			fail_msg("said '%s', not '%s'", why, cases[i].why);
		ctx_free(c);
	}
}

static void test_huge(void **state)
{
	(void)state;
	Ctx *c = ctx_new();
	const char *why = NULL;
	float d[1];
	Kernel *k = kernel_of(c, "kernel h tile sm_90a {\n  sym M 0..\n"
				 "  arg out %D : global f32 (M,M):(M,1)\n}\n");
	const InterpArg args[] = {{"D", d}};
	const InterpSym syms[] = {{"M", INT64_C(1) << 40}};
	InterpRun run = {.args = args, .nargs = 1, .syms = syms, .nsyms = 1};
	assert_false(kernel_interp(k, &run, &why));
	assert_non_null(strstr(why, "2^63"));
	ctx_free(c);
}

static void test_other_stage(void **state)
{
	(void)state;
	Ctx *c = ctx_new();
	const char *why = NULL;
	assert_false(
		kernel_interp(kernel_of(c, "kernel p ptx sm_90a {\n}\n"), &(InterpRun){0}, &why));
	assert_non_null(strstr(why, "tile stage"));
	ctx_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gemm),          cmocka_unit_test(test_chosen_tiles),
		cmocka_unit_test(test_elementwise),   cmocka_unit_test(test_words),
		cmocka_unit_test(test_series),        cmocka_unit_test(test_inside),

		cmocka_unit_test(test_scalars),       cmocka_unit_test(test_halves),
		cmocka_unit_test(test_integers),      cmocka_unit_test(test_control),
		cmocka_unit_test(test_nested_layout), cmocka_unit_test(test_ctas),
		cmocka_unit_test(test_unwritten),     cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_huge),          cmocka_unit_test(test_other_stage),
	};
	return cmocka_run_group_tests_name("ir.interp", tests, NULL, NULL);
}
