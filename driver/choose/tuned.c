/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tuned.c - reads and writes FILE.tune. Lines are sorted, and so are the sizes in a line, so that
 * what another run changes is what a diff shows.
 *     "NVIDIA H200; gemm; K=64,M=16,N=64; -DbM=16; 2.10 us\n"
 *  -> {"NVIDIA H200", "gemm", {K, M, N}, {"bM=16"}, 2.1} */
#include "driver/choose/tuned.h"
#include "driver/choose/sizes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ defines */
size_t tuned_define(Ctx *c, const char *text, size_t n, const char **out)
{
	const char *eq = memchr(text, '=', n);
	size_t name = eq ? (size_t)(eq - text) : n, from = name + 1, end;
	bool quoted = from < n && text[from] == '"';
	from += quoted;
	for (end = from; end < n && text[end] != '"'; end++)
		if (!quoted && isspace((unsigned char)text[end]))
			break;
	if (!name || memchr(text, ' ', name) || end <= from || end > n || (quoted && end == n))
		return 0;
	*out = ctx_strf(c, "%.*s=%.*s", (int)name, text, (int)(end - from), text + from);
	return end + quoted;
}

void defines_put(const Defines *d, Buf *out)
{
	for (int i = 0; i < d->n; i++) {
		const char *eq = strchr(d->at[i], '='), *quote = strpbrk(eq, " ;") ? "\"" : "";
		buf_printf(out, "%s-D%.*s=%s%s%s", i ? " " : "", (int)(eq - d->at[i]), d->at[i],
			   quote, eq + 1, quote);
	}
}

/* ------------------------------------------------------------------ the order of lines */
static int by_name(const void *a, const void *b)
{
	return strcmp(((const SizeArg *)a)->name, ((const SizeArg *)b)->name);
}

static int compare_sizes(const SizeArgs *a, const SizeArgs *b)
{
	for (int i = 0; i < a->n && i < b->n; i++) {
		int order = by_name(&a->at[i], &b->at[i]);
		int64_t x = a->at[i].value, y = b->at[i].value;
		if (order || x != y)
			return order ? order : x < y ? -1 : 1;
	}
	return a->n - b->n;
}

static int compare_lines(const void *x, const void *y)
{
	const Tuned *a = x, *b = y;
	int card = strcmp(a->card, b->card), kernel = strcmp(a->kernel, b->kernel);
	return card ? card : kernel ? kernel : compare_sizes(&a->sizes, &b->sizes);
}

void tuned_set(Ctx *c, TunedVec *all, Tuned x)
{
	SizeArgs sorted = {0};
	for (int i = 0; i < x.sizes.n; i++)
		vec_push(ctx_arena(c), &sorted, x.sizes.at[i]);
	qsort(sorted.at, (size_t)sorted.n, sizeof *sorted.at, by_name);
	x.sizes = sorted;
	for (int i = 0; i < all->n; i++)
		if (!compare_lines(&all->at[i], &x)) {
			all->at[i] = x;
			return;
		}
	vec_push(ctx_arena(c), all, x);
	qsort(all->at, (size_t)all->n, sizeof *all->at, compare_lines);
}

const Tuned *tuned_find(const TunedVec *all, const char *card, const char *kernel,
			const SizeArgs *sizes)
{
	EACH(const Tuned, x, *all) {
		int same = 0;
		for (int j = 0; j < x->sizes.n; j++)
			for (int k = 0; k < sizes->n; k++)
				same += !by_name(&x->sizes.at[j], &sizes->at[k]) &&
					x->sizes.at[j].value == sizes->at[k].value;
		if (!strcmp(x->card, card) && !strcmp(x->kernel, kernel) && same == x->sizes.n)
			return x;
	}
	return NULL;
}

/* ------------------------------------------------------------------ text */
void tuned_put(const TunedVec *all, Buf *out)
{
	EACH(const Tuned, x, *all) {
		buf_printf(out, "%s; %s; ", x->card, x->kernel);
		for (int j = 0; j < x->sizes.n; j++)
			buf_printf(out, "%s%s=%lld", j ? "," : "", x->sizes.at[j].name,
				   (long long)x->sizes.at[j].value);
		buf_printf(out, "; ");
		defines_put(&x->defines, out);
		buf_printf(out, "; %.2f us\n", x->us);
	}
}

/* What is before the next "; ", which *at moves behind; NULL: there is none. */
static const char *take_field(Ctx *c, const char **at)
{
	const char *from = *at, *end = strstr(from, "; ");
	if (!end || end == from)
		return NULL;
	*at = end + 2;
	return ctx_strn(c, from, (size_t)(end - from));
}

static bool take_defines(Ctx *c, const char **at, Defines *out)
{
	const char *define;
	for (size_t n; !strncmp(*at, "-D", 2); *at += n + ((*at)[n] == ' ')) {
		*at += 2;
		size_t plain = strcspn(*at, "\"; ");
		n = tuned_define(c, *at, (*at)[plain] == '"' ? strlen(*at) : plain, &define);
		if (!n)
			return false;
		vec_push(ctx_arena(c), out, define);
	}
	bool ends = !strncmp(*at, "; ", 2);
	*at += ends ? 2 : 0;
	return ends && out->n > 0;
}

static bool read_line(Ctx *c, const char *line, Tuned *x)
{
	char *end;
	x->card = take_field(c, &line);
	x->kernel = x->card ? take_field(c, &line) : NULL;
	const char *sizes = x->kernel ? take_field(c, &line) : NULL;
	if (!sizes || sizes_parse(ctx_arena(c), sizes, &x->sizes) ||
	    !take_defines(c, &line, &x->defines))
		return false;
	x->us = strtod(line, &end);
	return end != line && x->us > 0 && !strcmp(end, " us");
}

static void take_line(Ctx *c, const char *line, Loc loc, TunedVec *out)
{
	Tuned x = {.loc = loc};
	if (!*line)
		return;
	if (read_line(c, line, &x))
		tuned_set(c, out, x);
	else
		diag(c, loc, D_E0617,
		     "this is no line of dslc tune\ndelete it and run dslc tune again; a line is "
		     "GPU; KERNEL; M=16,N=4096,K=4096; -DNAME=VALUE ...; 9.31 us");
}

bool tuned_read(Ctx *c, const Source *source, TunedVec *out)
{
	if (!source->tuned)
		return true;
	int errors = diag_errors(c);
	int src = ctx_src(c, source->tuned_name, source->tuned, strlen(source->tuned));
	for (const char *at = source->tuned; *at;) {
		size_t n = strcspn(at, "\n");
		int from = (int)(at - source->tuned);
		size_t shown = n && at[n - 1] == '\r' ? n - 1 : n;
		take_line(c, ctx_strn(c, at, shown), (Loc){src, from, from + (int)shown}, out);
		at += n + (at[n] == '\n');
	}
	return diag_errors(c) == errors;
}
