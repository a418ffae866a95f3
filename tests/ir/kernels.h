/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernels.h - private to the tests of the interpreter: a kernel from its text, and a run of it.
 * Include it after cmocka.h. */
#ifndef DSL_TESTS_IR_KERNELS_H
#define DSL_TESTS_IR_KERNELS_H

#include "ir/ir.h"

#include <string.h>

static inline Kernel *kernel_of(Ctx *c, const char *text)
{
	Module *m = module_parse(c, ctx_src(c, "test", text, strlen(text)));
	Buf b = {0};
	diag_text(c, &b, false);
	if (!m)
		fail_msg("%s\n%s", b.s, text);
	buf_free(&b);
	return m->kernels.at[0];
}

static inline void run_ok(const Kernel *k, const InterpRun *run)
{
	const char *why = NULL;
	if (!kernel_interp(k, run, &why))
		fail_msg("%s", why);
}

#endif
