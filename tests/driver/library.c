/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The compiler as a library: bytes and messages, no printing, no exit, several threads at once. */
#include "driver/dslc.h"
#include "runtime/dsl.h"

#include <json-c/json.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ALL = DSLC_CUBIN | DSLC_PTX | DSLC_LLVM | DSLC_MANIFEST | DSLC_IR | DSLC_HEADER | DSLC_C };

static char *source_text(void)
{
	static char text[4096];
	FILE *f = fopen(DSL_SOURCE_DIR "/tests/driver/small.gemm", "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof text - 1, f)] = 0;
	fclose(f);
	return text;
}

static dslc_result *compile(const char *text, const dslc_options *o)
{
	dslc_result *r = dslc_compile(text, strlen(text), o);
	assert_non_null(r);
	return r;
}

static void test_outputs(void **state)
{
	(void)state;
	dslc_options o = {.size = sizeof o, .name = "small.gemm", .emit = ALL};
	dslc_result *r = compile(source_text(), &o);
	size_t size, manifest_size, n;
	const char *cubin = dslc_output(r, DSLC_CUBIN, &size), *manifest;
	assert_string_equal(dslc_diagnostics(r, 0), "");
	assert_string_equal(dslc_diagnostics(r, 1), "");
	assert_true(dslc_ok(r));
	assert_int_equal(dslc_exit_code(r), 0);
	assert_memory_equal(cubin, "\177ELF", 4);
	assert_int_equal(dsl_cubin_section(cubin, size, ".dslc.manifest", &manifest,
					   &manifest_size),
			 0);
	assert_string_equal(manifest, dslc_output(r, DSLC_MANIFEST, &n));
	assert_int_equal(n, manifest_size);
	assert_non_null(strstr(dslc_output(r, DSLC_PTX, NULL), ".visible .entry small"));
	assert_non_null(strstr(dslc_output(r, DSLC_LLVM, NULL), "define"));
	assert_non_null(strstr(dslc_output(r, DSLC_IR, NULL), "kernel small ptx"));
	assert_non_null(strstr(dslc_output(r, DSLC_HEADER, NULL), "small_launch"));
	assert_non_null(strstr(dslc_output(r, DSLC_C, NULL), "_cubin"));
	assert_null(dslc_output(r, 1 << 7, NULL));
	assert_null(dslc_output(r, DSLC_CUBIN | DSLC_PTX, &n));
	assert_int_equal(n, 0);
	dslc_result_free(r);
}

static void test_defaults(void **state)
{
	(void)state;
	dslc_result *r = compile(source_text(), NULL);
	assert_true(dslc_ok(r));
	assert_non_null(dslc_output(r, DSLC_CUBIN, NULL));
	assert_null(dslc_output(r, DSLC_PTX, NULL));
	dslc_result_free(r);
	dslc_result_free(NULL);
	assert_string_equal(dslc_version(), "0.2.0");
}

/* A host built against an earlier header passes a shorter struct. */
static void test_short_options(void **state)
{
	(void)state;
	dslc_options o = {.size = offsetof(dslc_options, target), .name = "short.gemm"};
	o.target = "nonsense that must not be read";
	dslc_result *r = compile(source_text(), &o);
	assert_string_equal(dslc_diagnostics(r, 0), "");
	assert_true(dslc_ok(r));
	dslc_result_free(r);
}

/* Members that end after the size are not read, not even in part; those before it are. */
static void test_cut_options(void **state)
{
	(void)state;
	dslc_options o = {.size = offsetof(dslc_options, target) + 4, .name = "cut.gemm"};
	o.target = "nonsense that must not be read";
	dslc_result *r = compile("kernel f(", &o);
	assert_non_null(strstr(dslc_diagnostics(r, 0), "cut.gemm:1:"));
	assert_null(strstr(dslc_diagnostics(r, 0), "nonsense"));
	dslc_result_free(r);
}

/* E0611: a size that says nothing, and one that says more than this version knows. */
static void test_wrong_size(void **state)
{
	(void)state;
	struct {
		dslc_options o;
		void *more;
	} later = {.o = {.size = sizeof later, .name = "later.gemm"}};
	dslc_options none = {.name = "none.gemm", .emit = DSLC_PTX};
	dslc_result *r = compile(source_text(), &none);
	assert_int_equal(dslc_exit_code(r), 1);
	assert_non_null(strstr(dslc_diagnostics(r, 0), "error[E0611]: dslc_options.size is 0"));
	dslc_result_free(r);
	r = compile(source_text(), &later.o);
	assert_string_equal(dslc_diagnostics(r, 0), "");
	assert_true(dslc_ok(r));
	dslc_result_free(r);
	later.more = &later;
	r = compile(source_text(), &later.o);
	assert_int_equal(dslc_exit_code(r), 1);
	assert_non_null(strstr(dslc_diagnostics(r, 0), "E0611"));
	dslc_result_free(r);
}

static void test_wrong_level(void **state)
{
	(void)state;
	for (int level = -2; level <= 4; level++) {
		dslc_options o = {.size = sizeof o, .opt_level = level, .emit = DSLC_MANIFEST};
		dslc_result *r = compile(source_text(), &o);
		const char *said = strstr(dslc_diagnostics(r, 0), "E0611]: dslc_options.opt_level");
		assert_int_equal(level < -1 || level > 3, said != NULL);
		dslc_result_free(r);
	}
}

/* Text of the inner stages that passes cannot take comes back as a message; the host lives. */
static void test_ir_refused(void **state)
{
	(void)state;
	dslc_options o = {.size = sizeof o, .name = "empty.ir"};
	dslc_result *r = compile("kernel k tile sm_90a {\n}\n", &o);
	assert_int_equal(dslc_exit_code(r), 1);
	assert_non_null(strstr(dslc_diagnostics(r, 0), "empty.ir:1:1: error[E0420]"));
	dslc_result_free(r);
}

/* A pipeline that is neither proved nor refuted is an error of its own code; an option lifts it. */
static void test_unproved(void **state)
{
	(void)state;
	static const char text[] = "kernel k ptx sm_90a block=32 smem=0 after=simplify {\n"
				   "  sym M 0..2147483647\n"
				   "  launch (M, 1, 1)\n"
				   "  role main warps=1 first=0 {\n"
				   "    if (M <= 7) {\n"
				   "      bar.sync (1) threads=32\n"
				   "    }\n"
				   "  }\n"
				   "}\n";
	dslc_options o = {.size = sizeof o, .name = "open.ir", .emit = DSLC_PTX};
	dslc_result *r = compile(text, &o);
	assert_int_equal(dslc_exit_code(r), 4);
	assert_non_null(strstr(dslc_diagnostics(r, 0), "error[E0415]"));
	assert_null(dslc_output(r, DSLC_PTX, NULL));
	dslc_result_free(r);
	o.unproved = 1;
	r = compile(text, &o);
	assert_non_null(strstr(dslc_diagnostics(r, 0), "warning[W0411]"));
	assert_int_equal(dslc_exit_code(r), 0);
	assert_non_null(dslc_output(r, DSLC_PTX, NULL));
	dslc_result_free(r);
}

/* Linked in place of calloc: when armed, large blocks are not to be had. */
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
static int memory_is_out;

void *__wrap_calloc(size_t n, size_t size)
{
	return memory_is_out && n * size > (1 << 22) ? NULL : __real_calloc(n, size);
}

/* E0699: a panic inside is a message too, and the next compilation is none the worse. */
static void test_panic(void **state)
{
	(void)state;
	dslc_options o = {.size = sizeof o, .name = "large.gemm"};
	size_t size = 8 << 20;
	char *text = malloc(size);
	assert_non_null(text);
	memset(text, ' ', size);
	memory_is_out = 1;
	dslc_result *r = dslc_compile(text, size, &o);
	memory_is_out = 0;
	free(text);
	assert_false(dslc_ok(r));
	assert_int_equal(dslc_exit_code(r), 70);
	assert_null(dslc_output(r, DSLC_CUBIN, NULL));
	assert_non_null(strstr(dslc_diagnostics(r, 0), "error[E0699]: internal error at "));
	assert_non_null(strstr(dslc_diagnostics(r, 0), "out of memory"));
	dslc_result_free(r);
	r = compile(source_text(), NULL);
	assert_true(dslc_ok(r));
	dslc_result_free(r);
}

static void test_errors(void **state)
{
	(void)state;
	dslc_options o = {.size = sizeof o, .name = "wrong.gemm"};
	dslc_result *r = compile("kernel f(", &o);
	assert_false(dslc_ok(r));
	assert_int_equal(dslc_exit_code(r), 1);
	assert_null(dslc_output(r, DSLC_CUBIN, NULL));
	assert_non_null(strstr(dslc_diagnostics(r, 0), "wrong.gemm:1:"));
	assert_non_null(strstr(dslc_diagnostics(r, 1), "\"file\":\"wrong.gemm\""));
	assert_non_null(strstr(dslc_diagnostics(r, 0), "error[E01"));
	dslc_result_free(r);
	r = dslc_compile(NULL, 0, &o);
	assert_non_null(r);
	assert_false(dslc_ok(r) && dslc_output(r, DSLC_PTX, NULL));
	dslc_result_free(r);
	r = dslc_compile("", (size_t)1 << 40, &o);
	assert_non_null(strstr(dslc_diagnostics(r, 0), "E0602"));
	dslc_result_free(r);
}

/* Each line is an object, whatever the source and its name hold. */
static void test_json(void **state)
{
	(void)state;
	static const char text[] =
		"kernel f(\"\\\x01\xff\xc3\xa4 \n) { const a = \"x\"; }\nkernel \x7f";
	dslc_options o = {.size = sizeof o, .name = "a \"strange\"\tname\\.gemm"};
	dslc_result *r = compile(text, &o);
	char *lines = strdup(dslc_diagnostics(r, 1)), *rest = NULL;
	int n = 0;
	for (char *s = strtok_r(lines, "\n", &rest); s; s = strtok_r(NULL, "\n", &rest)) {
		struct json_object *at = json_tokener_parse(s), *file = NULL;
		if (!at || !json_object_object_get_ex(at, "file", &file))
			fail_msg("no JSON: %s", s);
		assert_string_equal(json_object_get_string(file), o.name);
		json_object_put(at);
		n++;
	}
	assert_true(n > 0);
	free(lines);
	dslc_result_free(r);
}

static void test_settings(void **state)
{
	(void)state;
	const char *const defines[] = {"bN=32", "bN=16"};
	dslc_options o = {.size = sizeof o, .defines = defines, .ndefines = 2, .emit = DSLC_PTX};
	dslc_result *r = compile(source_text(), &o);
	assert_non_null(strstr(dslc_output(r, DSLC_PTX, NULL), "m64n16k16"));
	dslc_result_free(r);
	o = (dslc_options){.size = sizeof o, .ptxas_path = "/nowhere/ptxas"};
	r = compile(source_text(), &o);
	assert_false(dslc_ok(r));
	assert_non_null(strstr(dslc_diagnostics(r, 0), "/nowhere/ptxas"));
	dslc_result_free(r);
	o = (dslc_options){.size = sizeof o, .target = "sm_80"};
	r = compile(source_text(), &o);
	assert_false(dslc_ok(r));
	dslc_result_free(r);
}

static const char open_text[] =
	"kernel gemm(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), D : out bf16 (M,N):(N,1)) {\n"
	"  const bM = pick(64, 128), bN = pick(32, 64);\n"
	"  let gA = A / (bM,64), gB = B / (bN,64), gD = D / (bM,bN);\n"
	"  mma mm = wgmma(bf16, bf16, f32);\n"
	"  smem sA : bf16 (bM,64), sB : bf16 (bN,64);\n"
	"  pipeline ab { sA, sB }\n"
	"  for (m,n) in gD {\n"
	"    acc : f32 mm.C(bM,bN) = 0;\n"
	"    for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }\n"
	"    gD[m,n] <- bf16(acc);\n"
	"  }\n"
	"}\n";

/* What is open is chosen for the sizes and the card that are given, and the result says how. */
static void test_sizes(void **state)
{
	(void)state;
	static const struct {
		const char *size, *card, *chosen, *refused;
	} rows[] = {
		{"M=16,N=4096,K=4096", "NVIDIA H200",
		 "gemm for 16 x 4096 x 4096 on NVIDIA H200: -DbM=", ""},
		{"M=4096,N=4096,K=4096", NULL, "gemm for 4096 x 4096 x 4096 on", ""},
		{"M=16,N=4096", NULL, "", "error[E0612]: the sizes to choose for say nothing of K"},
		{"M=16,N=4096,K=4096,Q=1", NULL, "",
		 "error[E0612]: the sizes to choose for give Q, which no kernel here has"},
		{"M=16,N=many", NULL, "", "error[E0611]: dslc_options.sizes[0]: 'N=many'"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		dslc_options o = {.size = sizeof o,
				  .sizes = &rows[i].size,
				  .nsizes = 1,
				  .card = rows[i].card,
				  .emit = DSLC_MANIFEST};
		dslc_result *r = compile(open_text, &o);
		assert_ptr_equal(strstr(dslc_chosen(r), rows[i].chosen), dslc_chosen(r));
		assert_non_null(strstr(dslc_diagnostics(r, 0), rows[i].refused));
		assert_int_equal(dslc_ok(r), *rows[i].chosen != 0);
		dslc_result_free(r);
	}
}

static int count(const char *text, const char *word)
{
	int n = 0;
	while ((text = strstr(text, word))) {
		text += strlen(word);
		n++;
	}
	return n;
}

/* Without sizes there are several kernels of one name, unless one is enough. */
static void test_one(void **state)
{
	(void)state;
	for (size_t one = 0; one < 2; one++) {
		dslc_options o = {.size = sizeof o, .one = one, .emit = DSLC_PTX};
		dslc_result *r = compile(open_text, &o);
		int kernels = count(dslc_output(r, DSLC_PTX, NULL), ".visible .entry");
		assert_true(one ? kernels == 1 : kernels > 1);
		dslc_result_free(r);
	}
	dslc_result *r = compile(source_text(), NULL);
	assert_string_equal(dslc_chosen(r), "");
	dslc_result_free(r);
}

/* The ways to close what is open, without code. */
static void test_ranked(void **state)
{
	(void)state;
	const char *size = "M=16,N=4096,K=4096";
	dslc_options o = {.size = sizeof o, .sizes = &size, .nsizes = 1, .ranked = 3};
	dslc_result *r = compile(open_text, &o);
	assert_true(dslc_ok(r));
	assert_null(dslc_output(r, DSLC_CUBIN, NULL));
	assert_int_equal(count(dslc_chosen(r), "\n"), 3);
	assert_int_equal(count(dslc_chosen(r), "\tbM="), 3);
	assert_int_equal(count(dslc_chosen(r), "\tschedule="), 3);
	dslc_result_free(r);
	r = compile(source_text(), &o);
	assert_false(dslc_ok(r));
	assert_non_null(strstr(dslc_diagnostics(r, 0), "error[E0616]"));
	dslc_result_free(r);
}

static const char open_tiles[] =
	"kernel small(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), D : out bf16 (M,N):(N,1)) "
	"where N % 8 == 0, K % 8 == 0 {\n"
	"    const bM = pick(64, 128), bN = pick(32, 64, 128), bK = 64;\n"
	"    let gA = A / (bM,bK), gB = B / (bN,bK), gD = D / (bM,bN);\n"
	"    mma mm = wgmma(bf16, bf16, f32);\n"
	"    smem sA : bf16 (bM,bK), sB : bf16 (bN,bK);\n"
	"    pipeline ab(3) { sA, sB }\n"
	"    for (m,n) in gD {\n"
	"        acc : f32 mm.C(bM,bN) = 0;\n"
	"        for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }\n"
	"        gD[m,n] <- bf16(acc);\n"
	"    }\n"
	"    schedule { roles cooperative; }\n"
	"}\n";

/* Sizes, a card and what was measured choose; a text that is no FILE.tune is an error. */
static void test_choices(void **state)
{
	static const char *const rows[][2] = {
		{NULL, "M 63 + 64 / N 31 + 32 /"},
		{"NVIDIA H200; small; K=40,M=100,N=72; -DbM=128 -DbN=64; 9.31 us\n",
		 "M 127 + 128 / N 63 + 64 /"},
		{"NVIDIA H100; small; K=40,M=100,N=72; -DbM=128 -DbN=64; 9.31 us\n",
		 "M 63 + 64 / N 31 + 32 /"},
		{"NVIDIA H200; small; K=40,M=100,N=72; -DbM=128 -DbN=64; 9.31 us\nhuh\n", NULL},
	};
	const char *sizes[] = {"M=100,N=72,K=40"};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		dslc_options o = {.size = sizeof o,
				  .emit = DSLC_MANIFEST,
				  .sizes = sizes,
				  .nsizes = 1,
				  .card = "H200",
				  .tuned = rows[i][0]};
		dslc_result *r = dslc_compile(open_tiles, strlen(open_tiles), &o);
		size_t size;
		const char *manifest = dslc_output(r, DSLC_MANIFEST, &size);
		assert_int_equal(dslc_ok(r), rows[i][1] != NULL);
		if (rows[i][1] && !strstr(manifest, rows[i][1]))
			fail_msg("row %zu: %s", i, manifest);
		if (!rows[i][1])
			assert_non_null(strstr(dslc_diagnostics(r, 0),
					       "dslc_options.tuned:2:1: error[E0617]"));
		dslc_result_free(r);
	}
}

/* IR that the library wrote is a source for it. */
static void test_ir(void **state)
{
	(void)state;
	dslc_options o = {.size = sizeof o, .name = "small.gemm", .emit = DSLC_IR | DSLC_PTX};
	dslc_result *r = compile(source_text(), &o), *again;
	o = (dslc_options){.size = sizeof o, .name = "small.ir", .emit = DSLC_IR};
	again = compile(dslc_output(r, DSLC_IR, NULL), &o);
	assert_string_equal(dslc_diagnostics(again, 0), "");
	assert_string_equal(dslc_output(again, DSLC_IR, NULL), dslc_output(r, DSLC_IR, NULL));
	dslc_result_free(again);
	dslc_result_free(r);
}

typedef struct {
	const char *text;
	int n;
	dslc_result *r;
} Job;

static void *compile_in_thread(void *user)
{
	Job *j = user;
	char define[16];
	const char *const defines[] = {define};
	dslc_options o = {.size = sizeof o, .defines = defines, .ndefines = 1};
	snprintf(define, sizeof define, "bN=%d", j->n);
	j->r = dslc_compile(j->text, strlen(j->text), &o);
	return NULL;
}

static void test_threads(void **state)
{
	(void)state;
	enum { THREADS = 4 };
	pthread_t id[THREADS];
	Job jobs[THREADS];
	for (int i = 0; i < THREADS; i++) {
		jobs[i] = (Job){source_text(), 8 << i, NULL};
		assert_int_equal(pthread_create(&id[i], NULL, compile_in_thread, &jobs[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		Job alone = {source_text(), 8 << i, NULL};
		size_t n, m;
		pthread_join(id[i], NULL);
		compile_in_thread(&alone);
		const void *a = dslc_output(jobs[i].r, DSLC_CUBIN, &n);
		const void *b = dslc_output(alone.r, DSLC_CUBIN, &m);
		assert_non_null(a);
		assert_int_equal(n, m);
		assert_memory_equal(a, b, n);
		dslc_result_free(alone.r);
		dslc_result_free(jobs[i].r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outputs),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_short_options),
		cmocka_unit_test(test_cut_options),
		cmocka_unit_test(test_wrong_size),
		cmocka_unit_test(test_wrong_level),
		cmocka_unit_test(test_ir_refused),
		cmocka_unit_test(test_unproved),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_panic),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_ranked),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_ir),
		cmocka_unit_test(test_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
