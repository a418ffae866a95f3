/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* later.c - words that a reader of other versions or languages takes for functions of values: some
 * are not built yet, some are built as something else. The message says which, instead of calling
 * the word unknown. A row of the table goes when its word becomes a function. */
#include "frontend/sema.h"

#include <string.h>

static const char argmax[] =
	"where a tile holds the row, write rowmin(select(x == rowmax(x), column[n], inf)), with an "
	"argument column : f32 (N) that holds 0, 1, 2, ..";
static const char argmin[] =
	"where a tile holds the row, write rowmin(select(x == rowmin(x), column[n], inf)), with an "
	"argument column : f32 (N) that holds 0, 1, 2, ..";
static const char copy_form[] = "it declares a copy: copy vec = simt(16 bytes) * threads(128)";

/* built: as something else than a function of values */
static const struct {
	const char *name;
	bool built;
	const char *help;
} words[] = {
	{"pick", true, "declare a const: const bM = pick(64, 128);"},
	{"argmax", false, argmax},
	{"rowargmax", false, argmax},
	{"argmin", false, argmin},
	{"rowargmin", false, argmin},
	{"simt", true, copy_form},
	{"threads", true, copy_form},
	{"values", true,
	 "write it after an arrangement: mma_sync<..>(..) * (2,2,1) * values(1,2,1)"},
	{"load", true, "write sA <- gA[m,k]; how it is copied is derived"},
	{"store", true, "write gD[m,n] <- bf16(acc); how it is stored is derived"},
};

/* The row of a word; -1: none. */
static int later_word(const char *name)
{
	int i = COUNTOF(words) - 1;
	while (i >= 0 && strcmp(words[i].name, name) != 0)
		i--;
	return i;
}

bool later_function(const char *name)
{
	return later_word(name) >= 0;
}

bool later_elem(const char *name)
{
	for (int e = 0; e < EL_COUNT; e++)
		if (!elem_rows[e].spoken && elem_is_called((Elem)e, name))
			return true;
	return false;
}

const char *elems_built(Ctx *c)
{
	const char *all = NULL;
	for (int e = 0; e < EL_COUNT; e++)
		if (elem_rows[e].spoken)
			all = all ? ctx_strf(c, "%s, %s", all, elem_rows[e].name)
				  : elem_rows[e].name;
	return ctx_strf(c, "built are %s", all);
}

void report_later(Sema *s, Loc loc, const char *name)
{
	int i = later_word(name);
	if (i >= 0 && words[i].built)
		reject(s, loc, D_E0309, "'%s' is no function of values\n%s", name, words[i].help);
	else
		reject(s, loc, D_E0301, "not built yet: %s\n%s", name,
		       i >= 0 ? words[i].help : elems_built(s->ctx));
}
