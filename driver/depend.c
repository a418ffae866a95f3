/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* depend.c - dependency files:
 *     gemm.cubin: my\ kernels/gemm.gemm */
#include "driver/tool.h"

/* As gcc does it: make reads "\ " as a space, "$$" as a dollar, "\#" as a hash. */
static void add_name(Buf *out, const char *name)
{
	for (; *name; name++) {
		if (*name == ' ' || *name == '\t' || *name == '#')
			buf_add(out, "\\", 1);
		else if (*name == '$')
			buf_add(out, "$", 1);
		buf_add(out, name, 1);
	}
}

void depend_write(Buf *out, const char *const *targets, int ntargets, const char *const *inputs,
		  int ninputs, bool phony)
{
	for (int i = 0; i < ntargets; i++) {
		add_name(out, targets[i]);
		buf_add(out, i + 1 < ntargets ? " " : ":", 1);
	}
	for (int i = 0; i < ninputs; i++) {
		buf_add(out, " ", 1);
		add_name(out, inputs[i]);
	}
	buf_add(out, "\n", 1);
	for (int i = 0; phony && i < ninputs; i++) {
		buf_add(out, "\n", 1);
		add_name(out, inputs[i]);
		buf_add(out, ":\n", 2);
	}
}
