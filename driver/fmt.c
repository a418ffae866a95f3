/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fmt.c - dslc fmt FILE...: each source in the one style, in place; --check only says which are
 * not. A file that does not parse is left as it is, with its errors.
 *     dslc fmt gemm.gemm            writes gemm.gemm
 *     dslc fmt --check *.gemm       "gemm.gemm" on stdout and exit code 1, or silence
 *     dslc fmt - <a.gemm >b.gemm */
#include "driver/files.h"
#include "driver/tool.h"

#include <stdio.h>
#include <string.h>

static bool takes(Ctx *c, const Source *source)
{
	if (source->is_ir)
		diag(c, NOLOC, D_E0620, "'%s' is textual IR: dslc fmt formats .gemm", source->name);
	return !source->is_ir;
}

/* What becomes of one formatted source. */
static bool deliver(Ctx *c, const Options *o, const Source *source, bool is_stdin, const Buf *text)
{
	bool same = text->n == source->size && memcmp(text->s, source->text, text->n) == 0;
	if (o->only_look && !same)
		printf("%s\n", source->name);
	if (o->only_look)
		return same;
	if (is_stdin)
		return file_write(c, "-", text->s, text->n);
	return same || file_write(c, source->name, text->s, text->n);
}

static bool format_one(const Options *o, const char *input)
{
	Ctx *c = tool_ctx(o);
	Buf text = {0}, formatted = {0};
	Source source;
	bool ok = tool_read(c, o, input, &text, &source) && takes(c, &source);
	if (ok)
		ok = frontend_format(c, ctx_src(c, source.name, source.text, source.size),
				     &formatted) &&
		     deliver(c, o, &source, strcmp(input, "-") == 0, &formatted);
	tool_messages(c, o);
	buf_free(&text);
	buf_free(&formatted);
	ctx_free(c);
	return ok;
}

int tool_fmt(const Options *o)
{
	bool ok = true;
	for (int i = 0; i < o->inputs.n; i++)
		ok &= format_one(o, o->inputs.at[i]);
	return ok ? EXIT_OK : EXIT_DIAGS;
}
