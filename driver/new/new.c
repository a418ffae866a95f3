/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* new.c - dslc new NAME: a first kernel, and a program that calls it and checks the result.
 *     dslc new gemm              gemm.gemm, gemm.py
 *     dslc new gemm --host c     gemm.gemm, gemm_host.c; gemm.c is the cubin in C
 * The texts are the files of this folder, where @NAME@ stands for the name of the files. */
#include "driver/files.h"
#include "driver/new/texts.h" /* written by CMake */
#include "driver/tool.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char mark[] = "@NAME@";

typedef struct {
	const char *ending, *text;
} NewFile;

static bool is_free(Ctx *c, const char *path)
{
	if (access(path, F_OK) != 0)
		return true;
	diag(c, NOLOC, D_E0614, "'%s' exists\ngive another name, or remove the file", path);
	return false;
}

static bool write_one(Ctx *c, const char *path, const char *name, const char *text)
{
	Buf out = {0};
	for (const char *at; (at = strstr(text, mark)); text = at + strlen(mark))
		buf_printf(&out, "%.*s%s", (int)(at - text), text, name);
	buf_printf(&out, "%s", text);
	bool ok = file_write(c, path, out.s, out.n);
	if (ok)
		printf("%s\n", path);
	buf_free(&out);
	return ok;
}

int tool_new(const Options *o)
{
	const NewFile files[] = {{".gemm", kernel_gemm},
				 o->host_c ? (NewFile){"_host.c", program_c}
					   : (NewFile){".py", program_py}};
	Ctx *c = tool_ctx(o);
	const char *stem = o->inputs.at[0], *paths[COUNTOF(files)];
	bool ok = true;
	for (size_t i = 0; i < COUNTOF(files); i++) {
		paths[i] = ctx_strf(c, "%s%s", stem, files[i].ending);
		ok &= is_free(c, paths[i]);
	}
	for (size_t i = 0; i < COUNTOF(files) && ok; i++)
		ok = write_one(c, paths[i], base_name(stem), files[i].text);
	tool_messages(c, o);
	ctx_free(c);
	return ok ? EXIT_OK : EXIT_DIAGS;
}
