/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fixes.c - the edits that messages bring: applied, they do what the remedy says, and the message
 * does not come again; what a person must decide has none. */
#include "frontend/frontend.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "kernel f(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), D : out bf16 (M,N):(N,1)) "
#define DECLS                                                                                    \
	"{ let gA = A / (64,16), gB = B / (64,16), gD = D / (64,64); "                           \
	"mma mm = wgmma<64,64,16>(bf16, bf16, f32); smem sA : bf16 (64,16), sB : bf16 (64,16); " \
	"pipeline ab(2) { sA, sB } "
#define LOOP "for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); } "

/* Each text is what the one before becomes when its first fix is applied. */
static const struct {
	const char *from, *to;
} cases[] = {
	{"const bM = 64, x = bMM + 1;", "const bM = 64, x = bM + 1;"},
	{"const r = cooperativ;", "const r = cooperative;"},
	{"let a = coalesc((8,8));", "let a = coalesce((8,8));"},
	{"kernel f(A : float (M,K), B : half (N,K)) { }",
	 "kernel f(A : f32 (M,K), B : half (N,K)) { }"},
	{"kernel f(A : bf61 (M,K)) { }", "kernel f(A : bf16 (M,K)) { }"},
	{"# why\nconst a = 1;", "// why\nconst a = 1;"},
	{HEAD DECLS "for (m,n) in gD { acc : f32 mm.C(64,64); } }",
	 HEAD DECLS "for (m,n) in gD { acc : f32 mm.C(64,64) = 0; } }"},
	{HEAD DECLS "for (m,n) in gD { acc : bf16 mm.C(64,64) = 0; } }",
	 HEAD DECLS "for (m,n) in gD { acc : f32 mm.C(64,64) = 0; } }"},
	{HEAD DECLS "for (m,n) in gD { acc : f32 mm.C(64,64) = 0; " LOOP "gD[m,n] <- acc; } }",
	 HEAD DECLS "for (m,n) in gD { acc : f32 mm.C(64,64) = 0; " LOOP
		    "gD[m,n] <- bf16(acc); } }"},
	{HEAD DECLS "for (m,n) in gD { acc : f32 mm.C(64,64) = 0; " LOOP
		    "gD[m,n] <- (acc + acc); } }",
	 HEAD DECLS "for (m,n) in gD { acc : f32 mm.C(64,64) = 0; " LOOP
		    "gD[m,n] <- (bf16(acc + acc)); } }"},
	{HEAD DECLS "schedule { roless cooperative; } }",
	 HEAD DECLS "schedule { roles cooperative; } }"},
	{HEAD DECLS "schedule { roles pinpong; } }", HEAD DECLS "schedule { roles pingpong; } }"},
	{HEAD DECLS "schedule fast; }", HEAD DECLS "schedule { roles cooperative; } }"},
	{"kernel f(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), E : bf16 (M,N):(N,1), D : out bf16 "
	 "(M,N):(N,1)) " DECLS
	 "let gE = E / (64,64); for (m,n) in gD { acc : f32 mm.C(64,64) = 0; " LOOP
	 "gE[m,n] <- bf16(acc); } }",
	 "kernel f(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), E : out bf16 (M,N):(N,1), D : out "
	 "bf16 "
	 "(M,N):(N,1)) " DECLS
	 "let gE = E / (64,64); for (m,n) in gD { acc : f32 mm.C(64,64) = 0; " LOOP
	 "gE[m,n] <- bf16(acc); } }"},
	/* no edit does these */
	{"const a = zzzzzzzz;", NULL},
	{"if (a) { }", NULL},
	{"const o = 1;", NULL},
	{"const a = 1; const a = 2;", NULL},
	{"kernel f(A : bf16 (2*M,K)) { }", NULL},
};

/* The text after the edits of a message; they are in the order of the text. */
static char *applied(const char *text, const DiagMsg *m)
{
	Buf out = {0};
	int at = 0;
	for (const DiagEdit *e = m->fix; e; e = e->next) {
		assert_true(e->loc.begin >= at && e->loc.end >= e->loc.begin);
		buf_add(&out, text + at, (size_t)(e->loc.begin - at));
		buf_printf(&out, "%s", e->text);
		at = e->loc.end;
	}
	buf_printf(&out, "%s", text + at);
	char *copy = strdup(out.s);
	buf_free(&out);
	return copy;
}

static Ctx *compiled(const char *text)
{
	Ctx *c = ctx_new();
	FrontendOpt opt = {.syntax_only = true};
	frontend_compile(c, ctx_src(c, "x.gemm", text, strlen(text)), &opt);
	return c;
}

static const DiagMsg *first_fix(const Ctx *c)
{
	const DiagMsg *m = diag_first(c);
	while (m && !m->fix)
		m = m->next;
	return m;
}

static void edits_do_what_remedies_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTOF(cases); i++) {
		Ctx *c = compiled(cases[i].from);
		const DiagMsg *m = first_fix(c);
		assert_true(diag_errors(c) > 0);
		if (m && !cases[i].to)
			fail_msg("%s: a fix for '%s'", cases[i].from, m->text);
		if (!m && cases[i].to)
			fail_msg("%s: no fix", cases[i].from);
		if (m) {
			assert_non_null(m->remedy);
			char *is = applied(cases[i].from, m);
			assert_string_equal(is, cases[i].to);
			free(is);
		}
		ctx_free(c);
	}
}

/* ------------------------------------------------------------------ every bad file */
static int applied_fixes;

static void check_fix(const char *path, const char *text, const DiagMsg *m)
{
	char *is = applied(text, m);
	Ctx *c = compiled(is);
	for (const DiagMsg *n = diag_first(c); n; n = n->next)
		if (n->id == m->id && n->loc.begin == m->loc.begin && !strcmp(n->text, m->text))
			fail_msg("%s: '%s' comes again after its fix", path, m->text);
	applied_fixes++;
	ctx_free(c);
	free(is);
}

static void check_file(const char *path)
{
	static char text[1 << 18];
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	text[fread(text, 1, sizeof text - 1, f)] = 0;
	fclose(f);
	Ctx *c = compiled(text);
	for (const DiagMsg *m = diag_first(c); m; m = m->next)
		if (m->fix)
			check_fix(path, text, m);
	ctx_free(c);
}

static void fixed_mistakes_are_gone(void **state)
{
	(void)state;
	DIR *d = opendir(DSL_SOURCE_DIR "/tests/frontend/bad");
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		char path[1024];
		snprintf(path, sizeof path, "%s/tests/frontend/bad/%s", DSL_SOURCE_DIR, e->d_name);
		if (strstr(e->d_name, ".gemm"))
			check_file(path);
	}
	closedir(d);
	assert_true(applied_fixes >= 15);
}

/* An edit in the value of -D has no file. */
static void defines_have_no_edits(void **state)
{
	Define d[] = {{.name = "a", .value = "cooperativ"}};
	FrontendOpt opt = {.defines = d, .ndefines = 1, .syntax_only = true};
	Ctx *c = ctx_new();
	(void)state;
	frontend_compile(c, ctx_src(c, "x.gemm", "const a = 1;", 12), &opt);
	assert_non_null(diag_first(c)->remedy);
	assert_null(first_fix(c));
	ctx_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edits_do_what_remedies_say),
		cmocka_unit_test(fixed_mistakes_are_gone),
		cmocka_unit_test(defines_have_no_edits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
