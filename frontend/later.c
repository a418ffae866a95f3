/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* later.c - words that the language has and this version does not build, and words that stand
 * elsewhere: they are known, so that the message says so instead of calling them unknown. A row
 * leaves when its word is built. */
#include "frontend/sema.h"

#include <string.h>

static const char *const functions[] = {"pick", "argmax", "rowargmax", "argmin", "rowargmin"};

/* Words that are built, and no functions. */
static const struct {
	const char *name, *help;
} elsewhere[] = {
	{"simt", "it declares a copy: copy vec = simt(16 bytes) * threads(128)"},
	{"threads", "it declares a copy: copy vec = simt(16 bytes) * threads(128)"},
	{"values", "write it behind an arrangement: mma_sync<..>(..) * (2,2,1) * values(1,2,1)"},
	{"load", "write sA <- gA[m,k]; how it is copied is derived"},
	{"store", "write gD[m,n] <- bf16(acc); how it is stored is derived"},
};

static const char *help_elsewhere(const char *name)
{
	for (size_t i = 0; i < COUNTOF(elsewhere); i++)
		if (!strcmp(elsewhere[i].name, name))
			return elsewhere[i].help;
	return NULL;
}

bool later_function(const char *name)
{
	for (size_t i = 0; i < COUNTOF(functions); i++)
		if (!strcmp(functions[i], name))
			return true;
	return help_elsewhere(name);
}

bool later_elem(const char *name)
{
	for (int e = 0; e < EL_COUNT; e++)
		if (!elem_rows[e].spoken && elem_is_called((Elem)e, name))
			return true;
	return false;
}

static const char an_elem[] = "the element type ";

static const char help_max[] =
	"where a tile holds the row, write rowmin(select(x == rowmax(x), column[n], inf)), with an "
	"argument column : f32 (N) that holds 0, 1, 2, ..";
static const char help_min[] =
	"where a tile holds the row, write rowmin(select(x == rowmin(x), column[n], inf)), with an "
	"argument column : f32 (N) that holds 0, 1, 2, ..";

/* What is built in the place of what is not: by how the message begins. */
static const struct {
	const char *head, *help;
} instead[] = {
	{"pick", "write a const, whose value -D replaces"},
	{"argmax", help_max},
	{"rowargmax", help_max},
	{"argmin", help_min},
	{"rowargmin", help_min},
	{"copy atoms",
	 "built are copy ld = cp_async(A, sA) and, without an mma, copy vec = simt(16 bytes) * "
	 "threads(128); what names no copy is derived"},
	{"tma stores", "leave it out: how tiles leave is derived"},
	{"indices", "built is sA <- gA[rows[m],k] and gD[rows[m],n] <- ...: rows of a tile"},
	{"loops whose length depends", "built are for k in gA[m], and ranges of names that the "
				       "launch knows"},
	{"groups of", "built are rows of a matrix D : out bf16 (M,N):(N,1), one behind the other, "
		      "and (G,M,N), a matrix for each group"},
	{"a loop over a group in another", "built are loops over a group beside the grid's names"},
	{"a loop over a group in a kernel without",
	 "built are groups whose elements an mma multiplies"},
	{"groups along a mode", "built are tensors of two and three modes"},
	{"tilers with modes", "write plain extents, as A / (128,64)"},
	{"a second grid", "write a kernel for each grid: a file holds several"},
	{"elements of", "built are tiles that a buffer holds: sQ <- gQ[m,k], and f32(sQ)"},
	{"this layout",
	 "built are contiguous rows or columns of the tile: (M,K):(lda,1), (M,K):(1,lda)"},
	{"schedule auto",
	 "leave the schedule out, or parts of it: what it does not say is derived"},
};

const char *elems_built(Ctx *c)
{
	Buf b = {0};
	for (int e = 0; e < EL_COUNT; e++)
		if (elem_rows[e].spoken)
			buf_printf(&b, "%s%s", b.n ? ", " : "built are ", elem_rows[e].name);
	const char *all = ctx_str(c, b.s);
	buf_free(&b);
	return all;
}

/* An element type by its name alone has what is built of its kind. */
static const char *built_instead(Ctx *c, const char *what)
{
	if (later_elem(what) || !strncmp(what, an_elem, strlen(an_elem)))
		return elems_built(c);
	for (size_t i = 0; i < COUNTOF(instead); i++)
		if (!strncmp(what, instead[i].head, strlen(instead[i].head)))
			return instead[i].help;
	return NULL;
}

DiagMsg *not_yet(Sema *s, Loc loc, const char *fmt, ...)
{
	Buf b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	DiagMsg *m = diag(s->ctx, loc, D_E0301, "not built yet: %s", b.s);
	const char *built = built_instead(s->ctx, b.s);
	if (built)
		diag_remedy(s->ctx, m, "%s", built);
	buf_free(&b);
	return m;
}

void report_later(Sema *s, Loc loc, const char *name)
{
	const char *help = help_elsewhere(name);
	if (help)
		diag_remedy(s->ctx,
			    diag(s->ctx, loc, D_E0309, "'%s' is no function of values", name), "%s",
			    help);
	else
		not_yet(s, loc, "%s", name);
}
