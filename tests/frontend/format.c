/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* format.c - the formatter: every .gemm of the tree, and many more that differ from them in blanks,
 * line breaks and comments, mean the same when they are formatted, and are then at rest. */
#include "frontend/ast.h"
#include "frontend/frontend.h"
#include "frontend/lex.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Fewer with sanitizers: CMakeLists.txt. */
#ifndef SEEDS
#define SEEDS 3
#define APART 1 /* of the files that get other line breaks */
#endif
enum { FILES_MAX = 512 };

static char *paths[FILES_MAX];
static int npaths;

static char *file_read(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	char *s = calloc(1, 1 << 20);
	assert_non_null(f);
	*size = fread(s, 1, (1 << 20) - 1, f);
	fclose(f);
	return s;
}

static int take_path(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	size_t n = strlen(path);
	(void)st;
	(void)ftw;
	if (kind == FTW_F && n > 5 && !strcmp(path + n - 5, ".gemm") && npaths < FILES_MAX)
		paths[npaths++] = strdup(path);
	return 0;
}

static int find_files(void **state)
{
	(void)state;
	nftw(DSL_SOURCE_DIR "/tests", take_path, 8, FTW_PHYS);
	nftw(DSL_SOURCE_DIR "/examples", take_path, 8, FTW_PHYS);
	return 0;
}

static int forget_files(void **state)
{
	(void)state;
	while (npaths)
		free(paths[--npaths]);
	return 0;
}

/* ------------------------------------------------------------------ what a text means */
static const char blanks[] = " \n\r\t";

static void squeeze(char *s, const char *without)
{
	char *to = s;
	for (; *s; s++)
		if (!strchr(without, *s))
			*to++ = *s;
	*to = 0;
}

/* The tree, and the IR without blanks and the numbers of lines, which facts quote; an empty tree
 * where it does not parse. */
typedef struct {
	Buf tree, ir;
} Meaning;

static Meaning meaning(const char *text, size_t size)
{
	Ctx *c = ctx_new();
	Meaning m = {0};
	FrontendOpt opt = {.ast = &m.tree};
	buf_add(&m.tree, "", 0);
	buf_add(&m.ir, "", 0);
	Module *module = frontend_compile(c, ctx_src(c, "m.gemm", text, size), &opt);
	if (module)
		module_print(module, &m.ir);
	for (char *at = m.ir.s; (at = strstr(at, "where clause, line ")) != NULL;)
		for (at += strlen("where clause, line "); *at >= '0' && *at <= '9'; at++)
			*at = ' ';
	squeeze(m.ir.s, blanks);
	ctx_free(c);
	return m;
}

static void meaning_free(Meaning *m)
{
	buf_free(&m->tree);
	buf_free(&m->ir);
}

static bool format(const char *text, size_t size, Buf *out)
{
	Ctx *c = ctx_new();
	buf_add(out, "", 0);
	bool ok = frontend_format(c, ctx_src(c, "f.gemm", text, size), out);
	assert_int_equal(ok, diag_errors(c) == 0);
	if (!ok)
		assert_int_equal(out->n, 0);
	ctx_free(c);
	return ok;
}

/* Formats a text that parses; the result means the same, is at rest, and has lost no letter. */
static void check_text(const char *path, const char *text, size_t size, Buf *out)
{
	Buf again = {0};
	assert_true(format(text, size, out));
	Meaning was = meaning(text, size), is = meaning(out->s, out->n);
	if (strcmp(was.tree.s, is.tree.s) != 0 || strcmp(was.ir.s, is.ir.s) != 0)
		fail_msg("%s means something else when formatted", path);
	assert_true(format(out->s, out->n, &again));
	if (strcmp(out->s, again.s) != 0)
		fail_msg("%s is not at rest when formatted:\n%s\n----\n%s", path, out->s, again.s);
	char *a = strndup(text, size), *b = strdup(out->s);
	squeeze(a, blanks);
	squeeze(b, blanks);
	assert_string_equal(a, b);
	free(a);
	free(b);
	meaning_free(&was);
	meaning_free(&is);
	buf_free(&again);
}

static bool parses(const char *text, size_t size)
{
	Buf out = {0};
	bool ok = format(text, size, &out);
	buf_free(&out);
	return ok;
}

static void every_file_keeps_its_meaning(void **state)
{
	int formatted = 0;
	(void)state;
	assert_in_range(npaths, 100, FILES_MAX - 1);
	for (int i = 0; i < npaths; i++) {
		size_t size;
		char *text = file_read(paths[i], &size);
		Buf out = {0};
		if (parses(text, size)) {
			check_text(paths[i], text, size, &out);
			formatted++;
		}
		buf_free(&out);
		free(text);
	}
	assert_in_range(formatted, 80, npaths);
}

/* ------------------------------------------------------------------ other blanks */
static unsigned next(unsigned *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 16;
}

/* What may stand between two tokens that stood apart. */
static const char *const apart[] = {" ",
				    "\t\t",
				    "   ",
				    "\n",
				    "\n\n\n\n",
				    "\r\n",
				    "  \n ",
				    " /* c */ ",
				    " // remark\n",
				    "\n // own line\n\n",
				    " /*a*/ /*b\n   c*/\n"};
enum { BLANKS = 3 }; /* of them: no line breaks */

/* The tokens of a text with other things between them; gaps that had a comment stay. */
static void respace(const char *text, size_t size, int kinds, unsigned seed, Buf *out)
{
	Ctx *c = ctx_new();
	Arena *a = arena_new();
	TokenVec tokens = {0};
	int at = 0;
	lex_tokens(c, a, ctx_src(c, "r.gemm", text, size), &tokens);
	for (int i = 0; i < tokens.n; i++) {
		Loc t = tokens.at[i];
		size_t gap = (size_t)(t.begin - at);
		bool plain = gap && !memchr(text + at, '/', gap);
		if (plain && kinds == BLANKS)
			plain = !memchr(text + at, '\n', gap);
		if (plain ||
		    (!gap && i && kinds > BLANKS && text[t.begin] != '<' && next(&seed) % 8 == 0))
			buf_printf(out, "%s", apart[next(&seed) % (unsigned)kinds]);
		else
			buf_add(out, text + at, gap);
		buf_add(out, text + t.begin, (size_t)(t.end - t.begin));
		at = t.end;
	}
	buf_add(out, text + at, size - (size_t)at);
	arena_free(a);
	ctx_free(c);
}

static void blanks_do_not_matter(void **state)
{
	(void)state;
	for (int i = 0; i < npaths; i++) {
		size_t size;
		char *text = file_read(paths[i], &size);
		Buf want = {0};
		bool ok = format(text, size, &want);
		for (unsigned seed = 1; ok && seed <= SEEDS; seed++) {
			Buf other = {0}, is = {0};
			respace(text, size, BLANKS, seed, &other);
			assert_true(format(other.s, other.n, &is));
			if (strcmp(want.s, is.s) != 0)
				fail_msg("%s with other blanks is formatted otherwise", paths[i]);
			buf_free(&other);
			buf_free(&is);
		}
		buf_free(&want);
		free(text);
	}
}

static void any_spacing_is_formatted(void **state)
{
	int tried = 0, parsed = 0;
	(void)state;
	for (int i = 0; i < npaths; i += APART) {
		size_t size;
		char *text = file_read(paths[i], &size);
		bool ok = parses(text, size);
		for (unsigned seed = 1; ok && seed <= SEEDS; seed++, tried++) {
			Buf other = {0}, out = {0};
			respace(text, size, COUNTOF(apart), seed, &other);
			if (parses(other.s, other.n)) {
				check_text(paths[i], other.s, other.n, &out);
				parsed++;
			}
			buf_free(&other);
			buf_free(&out);
		}
		free(text);
	}
	assert_in_range(parsed, tried * 9 / 10, tried);
}

/* ------------------------------------------------------------------ the style */
static const struct {
	const char *from, *to;
} cases[] = {
	{"", ""},
	{"\n\n  \n", ""},
	{"// only a comment", "// only a comment\n"},
	{"const a=1,b =-2 ;", "const a = 1, b = -2;\n"},
	{"const a = - ( 3+4 )*2%5;;", "const a = -(3 + 4) * 2 % 5;;\n"},
	{"let x=( 8 , (4,2) ) : ( 1 ,(8,64));", "let x = (8,(4,2)):(1,(8,64));\n"},
	{"layout l=Sw < 3,3,3 >o(8,64):(64,1);", "layout l = Sw<3,3,3> o (8,64):(64,1);\n"},
	{"let s = Sw< -1,3,3>;", "let s = Sw< -1,3,3>;\n"},
	{"let y=f ( a , g(b)[ m,k ].z ) ;", "let y = f(a, g(b)[m,k].z);\n"},
	{"let z=1@ 0;", "let z = 1@0;\n"},
	{"mma m=wgmma<64,128,16>(bf16,bf16,f32)*(2,1,1);\nsmem s:bf16(8,8);\n\npipeline p(2){s,t "
	 "via "
	 "u}",
	 "mma  m = wgmma<64,128,16>(bf16, bf16, f32) * (2,1,1);\nsmem s : bf16 (8,8);\n\npipeline "
	 "p(2) "
	 "{ s, t via u }\n"},
	{"for (m , n)in gD{acc:f32 mm.C( bM,bN )=0;for k in gA[m]{acc+=mm(a,b);}gD[m,n]<-acc;}",
	 "for (m,n) in gD {\n    acc : f32 mm.C(bM,bN) = 0;\n    for k in gA[m] {\n        acc += "
	 "mm(a, "
	 "b);\n    }\n    gD[m,n] <- acc;\n}\n"},
	{"schedule{roles cooperative;cluster(2,1);group (8) along n;}",
	 "schedule { roles cooperative; cluster (2,1); group(8) along n; }\n"},
	{"schedule {\nroles R; stages 4; }", "schedule {\n    roles R;\n    stages 4;\n}\n"},
	{"schedule {\n roles{producer 1 warp regs 40;consumer 2 warpgroups regs 232;} }",
	 "schedule {\n    roles { producer 1 warp regs 40; consumer 2 warpgroups regs 232; }\n}\n"},
	{"schedule { roles R; // why\n stages 4; }",
	 "schedule {\n    roles R; // why\n    stages 4;\n}\n"},
	{"schedule { }", "schedule { }\n"},
	{"schedule  auto ;schedule{auto ;cluster(2,1);}",
	 "schedule auto;\nschedule { auto; cluster (2,1); }\n"},
	{"const a=pick( 64,2*b ),c=pick(32..256 by 8,cooperative);mma m=wgmma ( f16,f16,f32 "
	 ")*(2,1,1);",
	 "const a = pick(64, 2 * b), c = pick(32 .. 256 by 8, cooperative);\n"
	 "mma m = wgmma(f16, f16, f32) * (2,1,1);\n"},
	{"kernel f(A:bf16(M,K),\nB:out f32 (M,K):(K,1))where M%8==0,K>1 target sm_90a{}",
	 "kernel f(A : bf16 (M,K),\n         B : out f32 (M,K):(K,1))\n    where M % 8 == 0, K > "
	 "1\n    "
	 "target sm_90a\n{\n}\n"},
	{"static_assert (a==1,\"why \\\" so\") ; print( a,b );",
	 "static_assert(a == 1, \"why \\\" so\");\nprint(a, b);\n"},
	/* blank lines: at most one, none at the ends of a block */
	{"\n\nlet a = 1;\n\n\n\nlet b = 2;\nfor m in g {\n\n\nlet c = 3;\n\n}\n\n\n",
	 "let a = 1;\n\nlet b = 2;\nfor m in g {\n    let c = 3;\n}\n"},
	/* comments stay with what they stand after, or on their own lines */
	{"let a = 1;// one\nlet bcd = 2;      // two\n\nlet e = 5; // alone",
	 "let a = 1;   // one\nlet bcd = 2; // two\n\nlet e = 5; // alone\n"},
	{"for m in g { // of it\n// own\nlet c = 3; /* tail */\n/* last */ }",
	 "for m in g { // of it\n    // own\n    let c = 3; /* tail */\n    /* last */\n}\n"},
	{"let a = f(x, // first\ny);", "let a = f(x, // first\n          y);\n"},
	{"/* a */ let x = 1; /* b */ let y = 2; // c",
	 "/* a */ let x = 1;\n/* b */ let y = 2; // c\n"},
	{"for m in g {\n  /* two\n     lines */\n  let a = 1;\n}",
	 "for m in g {\n    /* two\n       lines */\n    let a = 1;\n}\n"},
	{"u = (x_yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy) ^ "
	 "x_yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\n            * /* word\n"
	 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa of */ (x_yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy);",
	 "u = (x_yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy)\n    ^ "
	 "x_yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\n    * /* word\n"
	 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa of */ "
	 "(x_yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy);\n"},
	{"let a = 1;   \r\n// x  \r\n", "let a = 1;\n// x\n"},
	/* what is too long is broken at its loosest comma, else before an operator */
	{"const aaaaaaaaaaaaaaaaaaaaaaaa = 1, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb = 2, "
	 "cccccccccccccccccccccccccccccccccccc = 3;",
	 "const aaaaaaaaaaaaaaaaaaaaaaaa = 1, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb = 2,\n      "
	 "cccccccccccccccccccccccccccccccccccc = 3;\n"},
	{"gD[m,n] <- aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa + "
	 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb * "
	 "cccccccccccccccc;",
	 "gD[m,n] <- aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa + "
	 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n"
	 "    * cccccccccccccccc;\n"},
};

static void style_is_as_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTOF(cases); i++) {
		Buf out = {0}, again = {0};
		if (!format(cases[i].from, strlen(cases[i].from), &out))
			fail_msg("does not parse: %s", cases[i].from);
		assert_string_equal(out.s, cases[i].to);
		check_text("a case", cases[i].to, strlen(cases[i].to), &again);
		buf_free(&again);
		buf_free(&out);
	}
}

/* ------------------------------------------------------------------ what is refused */
static void broken_text_is_refused(void **state)
{
	static const char *const bad[] = {"let a = ;",      "kernel f( {",     "/* open",
					  "let s = \"open", "let a = 1; \x80", "schedule { (",
					  "for m in"};
	(void)state;
	for (size_t i = 0; i < COUNTOF(bad); i++)
		assert_false(parses(bad[i], strlen(bad[i])));
	assert_false(parses("let a = 1;\0let", 14));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_keeps_its_meaning),
		cmocka_unit_test(blanks_do_not_matter),
		cmocka_unit_test(any_spacing_is_formatted),
		cmocka_unit_test(style_is_as_told),
		cmocka_unit_test(broken_text_is_refused),
	};
	return cmocka_run_group_tests(tests, find_files, forget_files);
}
