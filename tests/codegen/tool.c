/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tool.c - writes what codegen makes of textual IR to standard output, for FileCheck:
 *   tool ptx|llvm|manifest FILE.ir
 * ptxas must take the PTX without a word, whatever is asked for. */
#include "load.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	Ctx *c = ctx_new();
	Module *m = argc == 2 ? load_file(c, argv[1]) : NULL;
	CgOut out = {.regs = -1};
	Buf said = {0};
	bool ok = false;
	if (m) {
		const char *name = strrchr(argv[1], '/');
		CgOpt opt = {.source_name = name ? name + 1 : argv[1], .opt_level = 3};
		ok = codegen_module(m, CG_PTX | CG_CUBIN, &opt, &out);
		diag_text(c, &said, false);
		if (said.n)
			fprintf(stderr, "%s", said.s);
		ok = ok && said.n == 0;
	}
	if (ok)
		fwrite(out.ptx.s, 1, out.ptx.n, stdout);
	buf_free(&said);
	cg_out_free(&out);
	ctx_free(c);
	return !ok;
}
