/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fuzz_ir - any bytes as textual IR: either messages, or a kernel that prints to a fixed point. */
#include "ir/ir.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Module *parse(Ctx *c, const char *text, size_t size)
{
	return module_parse(c, ctx_src(c, "fuzz.ir", text, size));
}

static void check_fixed_point(Module *m)
{
	Buf once = {0}, twice = {0};
	Ctx *c = ctx_new();
	module_print(m, &once);
	Module *again = parse(c, once.s, once.n);
	if (!again)
		abort();
	module_print(again, &twice);
	if (strcmp(once.s, twice.s) != 0)
		abort();
	buf_free(&once);
	buf_free(&twice);
	ctx_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Buf messages = {0};
	Ctx *c = ctx_new();
	Module *m = parse(c, (const char *)data, size);
	if (m)
		check_fixed_point(m);
	else if (!diag_errors(c))
		abort();
	diag_text(c, &messages, false);
	buf_free(&messages);
	ctx_free(c);
	return 0;
}
