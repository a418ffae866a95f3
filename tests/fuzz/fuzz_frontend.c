/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fuzz_frontend.c - any bytes are a .gemm file: a module and no errors, or errors and no module;
 * and a module's IR is right, and the same after a round trip through text. What parses can be
 * formatted, which checks itself. */
#include "frontend/frontend.h"

#include <string.h>

static void check(Ctx *c, const Module *m)
{
	Buf ir = {0}, again = {0};
	const char *why = NULL;
	for (int i = 0; i < m->kernels.n; i++)
		if (!kernel_verify(m->kernels.at[i], &why))
			panic("the frontend built wrong IR: %s", why);
	module_print(m, &ir);
	Module *back = ir.n ? module_parse(c, ctx_src(c, "<ir>", ir.s, ir.n)) : NULL;
	if (back)
		module_print(back, &again);
	if (ir.n != again.n || (ir.n && memcmp(ir.s, again.s, ir.n)))
		panic("the IR changes in a round trip:\n%s", ir.s);
	buf_free(&ir);
	buf_free(&again);
}

static void format(const uint8_t *data, size_t size)
{
	Ctx *c = ctx_new();
	Buf text = {0};
	bool ok = frontend_format(c, ctx_src(c, "fuzz.gemm", (const char *)data, size), &text);
	if (ok != (diag_errors(c) == 0))
		panic("formatted with errors, or neither");
	buf_free(&text);
	ctx_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Ctx *c = ctx_new();
	Buf printed = {0}, ast = {0}, text = {0};
	FrontendOpt opt = {.printed = &printed, .ast = &ast};
	Module *m = frontend_compile(c, ctx_src(c, "fuzz.gemm", (const char *)data, size), &opt);
	if (!m != (diag_errors(c) > 0))
		panic("a module and errors, or neither");
	diag_text(c, &text, false);
	if (m)
		check(c, m);
	buf_free(&printed);
	buf_free(&ast);
	buf_free(&text);
	ctx_free(c);
	format(data, size);
	return 0;
}
