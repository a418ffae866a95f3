/* tool.c - writes what codegen makes of textual IR to standard output, for FileCheck:
 *   tool ptx|llvm|manifest FILE.ir      ptxas must take the PTX without a word, whatever is asked
 * for */
#include "load.h"

#include <stdio.h>
#include <string.h>

static const Buf *part_of(const CgOut *out, const char *name)
{
	if (strcmp(name, "llvm") == 0)
		return &out->llvm;
	return strcmp(name, "ptx") == 0 ? &out->ptx : &out->manifest;
}

int main(int argc, char **argv)
{
	Ctx *c = ctx_new();
	Module *m = argc == 3 ? load_file(c, argv[2]) : NULL;
	CgOut out = {.regs = -1};
	Buf said = {0};
	bool ok = false;
	if (m) {
		const char *name = strrchr(argv[2], '/');
		CgOpt opt = {.source_name = name ? name + 1 : argv[2], .opt_level = 3};
		ok = codegen_module(m, CG_LLVM | CG_PTX | CG_CUBIN | CG_MANIFEST, &opt, &out);
		diag_text(c, &said, false);
		if (said.n)
			fprintf(stderr, "%s", said.s);
		ok = ok && said.n == 0;
	}
	if (ok)
		fwrite(part_of(&out, argv[1])->s, 1, part_of(&out, argv[1])->n, stdout);
	buf_free(&said);
	cg_out_free(&out);
	ctx_free(c);
	return !ok;
}
