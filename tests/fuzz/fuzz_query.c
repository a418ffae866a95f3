/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fuzz_query.c - any bytes as expressions of the layout algebra, a line each: a result or messages,
 * nothing else; a static layout that comes out prints as text that reads back as the same. */
#include <stdlib.h>
#include <string.h>

#include "frontend/frontend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void reads_back(Ctx *c, const Layout *l)
{
	const char *s = layout_str(c, l), *why = NULL;
	require(layout_parse(c, &s, &why) == l && !*s);
}

static void try_line(const char *text, size_t n)
{
	Ctx *c = ctx_new();
	FrontendLayout found;
	Buf out = {0};
	if (frontend_layout(c, ctx_src(c, "query", text, n), &found)) {
		alg_print(&found.value, &out);
		require(out.n > 0);
		if (found.value.kind == ALG_LAYOUT)
			reads_back(c, found.value.layout);
	} else {
		require(diag_errors(c) > 0);
	}
	diag_text(c, &out, false);
	buf_free(&out);
	ctx_free(c);
}

/* What stands after -> or !! in a file of facts is no expression. */
static size_t expression(const char *line, size_t n)
{
	for (size_t i = 0; i + 4 <= n; i++)
		if (!memcmp(line + i, " -> ", 4) || !memcmp(line + i, " !! ", 4))
			return i;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = text + size;
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);
		if (n < 512)
			try_line(text, expression(text, n));
		text += n + 1;
	}
	return 0;
}
