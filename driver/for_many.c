/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* for_many.c - the file of --for-many: sizes, a line each.
 *     M=16, N=4096, K=4096   # a comment */
#include "driver/choose/sizes.h"
#include "driver/files.h"
#include "driver/tool.h"

#include <string.h>

static bool read_line(Ctx *c, const char *path, int number, char *line, SizeArgsVec *out)
{
	SizeArgs all = {0};
	line[strcspn(line, "#")] = '\0';
	if (!line[strspn(line, " \t\r")])
		return true;
	const char *wrong = sizes_parse(ctx_arena(c), line, &all);
	if (wrong)
		diag(c, NOLOC, D_E0615, "%s, line %d: %s\nwrite a line as M=16, N=4096, K=4096",
		     path, number, wrong);
	else
		vec_push(ctx_arena(c), out, all);
	return !wrong;
}

bool sizes_read(Ctx *c, const char *path, SizeArgsVec *out)
{
	Buf text = {0};
	const char *found;
	int number = 0, before = out->n;
	bool ok = file_read(c, path, NULL, 0, &text, &found);
	for (char *at = text.s, *next; ok && at; at = next) {
		next = strchr(at, '\n');
		if (next)
			*next++ = '\0';
		ok = read_line(c, path, ++number, at, out);
	}
	if (ok && out->n == before) {
		diag(c, NOLOC, D_E0615, "%s has no sizes\nwrite a line as M=16, N=4096, K=4096",
		     path);
		ok = false;
	}
	buf_free(&text);
	return ok;
}
