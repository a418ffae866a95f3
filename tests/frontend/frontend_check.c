/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* frontend_check.c - runs the frontend over one file, as its comments ask.
 *   frontend_check ok FILE    prints what print(...) said and the IR, for FileCheck;
 *                             verifies it and takes it through text and back
 *   frontend_check ast FILE   prints the tree, which may mean nothing
 *   frontend_check bad FILE   exactly the messages that the file's comments expect
 * In FILE:   // define bN=128                         -D
 *            // no kernel                             as -fsyntax-only does
 *            ... // error E0201: text | help: text    on its line; several may follow
 *            // error@7 E0102: text                   on line 7; 0: in no line of the file */
#include "frontend/frontend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPECT_MAX = 64, DEFINES_MAX = 8 };

typedef struct {
	int line;
	char code[8];
	char text[256], help[256];
	bool met;
} Expect;

typedef struct {
	Expect at[EXPECT_MAX];
	int n;
} Expects;

static char *file_read(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	char *s = malloc(1 << 20);
	if (!f || !s) {
		fprintf(stderr, "%s: cannot be read\n", path);
		exit(2);
	}
	*size = fread(s, 1, (1 << 20) - 1, f);
	s[*size] = 0;
	fclose(f);
	return s;
}

/* ------------------------------------------------------------------ what is expected */
static void expect_add(Expects *e, int line, const char *s, const char *end)
{
	char buf[600];
	if (e->n == EXPECT_MAX || (size_t)(end - s) >= sizeof buf) {
		fprintf(stderr, "too much is expected\n");
		exit(2);
	}
	Expect *x = &e->at[e->n++];
	memcpy(buf, s, (size_t)(end - s));
	buf[end - s] = 0;
	x->line = line;
	if (*s == '@')
		sscanf(buf, "@%d %7[A-Z0-9]: %255[^|]| help: %255[^\r\n]", &x->line, x->code,
		       x->text, x->help);
	else
		sscanf(buf, " %7[A-Z0-9]: %255[^|]| help: %255[^\r\n]", x->code, x->text, x->help);
	while (*x->text && strchr(" \r", x->text[strlen(x->text) - 1]))
		x->text[strlen(x->text) - 1] = 0;
}

static void expects_read(Expects *e, const char *text)
{
	static const char *const marks[] = {"// error", "// warning"};
	int line = 1;
	for (const char *s = text; *s;) {
		const char *end = s + strcspn(s, "\n");
		for (const char *p = s; p < end; p++)
			for (int i = 0; i < 2; i++)
				if (!strncmp(p, marks[i], strlen(marks[i]))) {
					const char *from = p + strlen(marks[i]);
					const char *next = strstr(from, " // ");
					expect_add(e, line, from, next && next < end ? next : end);
				}
		s = *end ? end + 1 : end;
		line++;
	}
}

static int defines_read(char *text, Define *d)
{
	int n = 0;
	static char store[DEFINES_MAX][2][64];
	for (char *s = text; (s = strstr(s, "// define ")) && n < DEFINES_MAX; s++) {
		sscanf(s, "// define %63[^=]=%63[^\r\n]", store[n][0], store[n][1]);
		d[n] = (Define){store[n][0], store[n][1], false};
		n++;
	}
	return n;
}

/* ------------------------------------------------------------------ what came */
static bool meets(const Ctx *c, const DiagMsg *m, int src, Expect *x)
{
	int line = 0, col = 0;
	if (m->loc.src == src)
		loc_line(c, m->loc, &line, &col);
	if (x->met || x->line != line || strcmp(x->code, diag_rows[m->id].code) ||
	    strcmp(x->text, m->text))
		return false;
	return !*x->help || (m->remedy && !strcmp(x->help, m->remedy));
}

/* "not built yet" says what is: in its help, or behind a semicolon or colon. */
static bool names_what_is_built(const DiagMsg *m)
{
	const char *what = strchr(m->text, ':');
	return m->id != D_E0301 || m->remedy || (what && strpbrk(what + 1, ";:"));
}

static int compare(const Ctx *c, int src, Expects *e)
{
	int wrong = 0;
	for (const DiagMsg *m = diag_first(c); m; m = m->next) {
		int i = 0;
		if (!names_what_is_built(m)) {
			printf("says not what is built: %s\n", m->text);
			wrong++;
		}
		while (i < e->n && !meets(c, m, src, &e->at[i]))
			i++;
		if (i < e->n) {
			e->at[i].met = true;
			continue;
		}
		int line = 0, col = 0;
		loc_line(c, m->loc, &line, &col);
		printf("not expected: %d: %s: %s | help: %s\n", line, diag_rows[m->id].code,
		       m->text, m->remedy ? m->remedy : "");
		wrong++;
	}
	for (int i = 0; i < e->n; i++)
		if (!e->at[i].met && ++wrong)
			printf("did not come: %d: %s: %s\n", e->at[i].line, e->at[i].code,
			       e->at[i].text);
	return wrong;
}

/* ------------------------------------------------------------------ the three commands */
static int check_bad(Ctx *c, int src, FrontendOpt *opt, const char *text)
{
	Expects e = {0};
	expects_read(&e, text);
	Module *m = frontend_compile(c, src, opt);
	int wrong = compare(c, src, &e);
	if (!e.n && ++wrong)
		printf("nothing is expected\n");
	if (!m != (diag_errors(c) > 0) && ++wrong)
		printf("a module and errors, or neither\n");
	return wrong != 0;
}

static int check_ok(Ctx *c, int src, FrontendOpt *opt)
{
	Buf printed = {0}, ir = {0}, again = {0}, diags = {0};
	opt->printed = &printed;
	Module *m = frontend_compile(c, src, opt), *back = NULL;
	const char *why = NULL;
	int status = m == NULL;
	if (m) {
		module_print(m, &ir);
		if (m->kernels.n)
			back = module_parse(c, ctx_src(c, "<round trip>", ir.s, ir.n));
	}
	if (back)
		module_print(back, &again);
	for (int i = 0; m && i < m->kernels.n; i++)
		if (!kernel_verify(m->kernels.at[i], &why) && ++status)
			fprintf(stderr, "%s\n", why);
	if (m && (again.n != ir.n || (ir.n && memcmp(again.s, ir.s, ir.n))) && ++status)
		fprintf(stderr, "the IR changes in a round trip\n");
	diag_text(c, &diags, false);
	printf("%s%s", printed.n ? printed.s : "", ir.n ? ir.s : "");
	fprintf(stderr, "%s", diags.n ? diags.s : "");
	buf_free(&printed);
	buf_free(&ir);
	buf_free(&again);
	buf_free(&diags);
	return status != 0;
}

static int check_ast(Ctx *c, int src, FrontendOpt *opt)
{
	Buf ast = {0};
	opt->ast = &ast;
	opt->syntax_only = true;
	frontend_compile(c, src, opt);
	int status = ast.n == 0;
	printf("%s", ast.n ? ast.s : "");
	buf_free(&ast);
	return status;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: frontend_check ok|ast|bad FILE\n");
		return 2;
	}
	size_t size;
	char *text = file_read(argv[2], &size);
	Ctx *c = ctx_new();
	Define defines[DEFINES_MAX];
	FrontendOpt opt = {.defines = defines, .ndefines = defines_read(text, defines)};
	opt.syntax_only = strstr(text, "// no kernel");
	int src = ctx_src(c, argv[2], text, size);
	int status = !strcmp(argv[1], "bad")   ? check_bad(c, src, &opt, text)
		     : !strcmp(argv[1], "ast") ? check_ast(c, src, &opt)
					       : check_ok(c, src, &opt);
	ctx_free(c);
	free(text);
	return status;
}
