/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* frontend_check.c - runs the frontend over one file, as its comments ask.
 *   frontend_check ok FILE    prints what is open, what print(...) said and the IR, for FileCheck;
 *                             verifies it and takes it through text and back
 *   frontend_check ast FILE   prints the tree, which may mean nothing
 * In FILE:   // define bN=128                         -D
 *            // no kernel                             as -fsyntax-only does */
#include "frontend/frontend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFINES_MAX = 8 };

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

static int defines_read(char *text, Define *d)
{
	int n = 0;
	static char store[DEFINES_MAX][2][64];
	for (char *s = text; (s = strstr(s, "// define ")) && n < DEFINES_MAX; s++) {
		sscanf(s, "// define %63[^=]=%63[^\r\n]", store[n][0], store[n][1]);
		d[n] = (Define){.name = store[n][0], .value = store[n][1]};
		n++;
	}
	return n;
}

static void print_choices(const ChoiceVec *v)
{
	for (int i = 0; i < v->n; i++) {
		const Choice *x = &v->at[i];
		printf("open %s%s%s", x->kernel ? x->kernel : "", x->kernel ? "." : "", x->name);
		for (int j = 0; j < x->n; j++)
			printf(" %s", x->values[j]);
		printf("\n");
	}
}

static int check_ok(Ctx *c, int src, FrontendOpt *opt)
{
	Buf printed = {0}, ir = {0}, again = {0}, diags = {0};
	ChoiceVec choices = {0};
	opt->choices = &choices;
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
	print_choices(&choices);
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
		fprintf(stderr, "usage: frontend_check ok|ast FILE\n");
		return 2;
	}
	size_t size;
	char *text = file_read(argv[2], &size);
	Ctx *c = ctx_new();
	Define defines[DEFINES_MAX];
	FrontendOpt opt = {.defines = defines, .ndefines = defines_read(text, defines)};
	opt.syntax_only = strstr(text, "// no kernel");
	int src = ctx_src(c, argv[2], text, size);
	int status = !strcmp(argv[1], "ast") ? check_ast(c, src, &opt) : check_ok(c, src, &opt);
	ctx_free(c);
	free(text);
	return status;
}
