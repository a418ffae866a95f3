/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* src.c - source texts, and offsets to lines and columns. */
#include "base/ctx.h"

#include <string.h>

int ctx_src(Ctx *c, const char *name, const char *text, size_t size)
{
	Arena *a = ctx_arena(c);
	SrcVec *srcs = ctx_srcs(c);
	Src *s = NEW(a, Src);
	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte-order mark */
		text += 3;
		size -= 3;
	}
	s->name = ctx_str(c, name);
	s->text = arena_strndup(a, text, size);
	s->size = size;
	vec_push(a, &s->lines, 0);
	for (size_t i = 0; i < size; i++)
		if (text[i] == '\n')
			vec_push(a, &s->lines, (int)i + 1);
	vec_push(a, srcs, s);
	return srcs->n - 1;
}

const Src *ctx_src_at(const Ctx *c, int src)
{
	const SrcVec *srcs = ctx_srcs((Ctx *)(uintptr_t)c);
	return src >= 0 && src < srcs->n ? srcs->at[src] : NULL;
}

void loc_line(const Ctx *c, Loc loc, int *line, int *col)
{
	const Src *s = ctx_src_at(c, loc.src);
	*line = *col = 0;
	if (!s)
		return;
	int lo = 0, hi = s->lines.n;
	while (hi - lo > 1) {
		int mid = (lo + hi) / 2;
		if (s->lines.at[mid] <= loc.begin)
			lo = mid;
		else
			hi = mid;
	}
	*line = lo + 1;
	*col = loc.begin - s->lines.at[lo] + 1;
}

Loc loc_join(Loc a, Loc b)
{
	if (a.src < 0)
		return b;
	if (b.src != a.src)
		return a;
	return (Loc){a.src, a.begin, b.end > a.end ? b.end : a.end};
}
