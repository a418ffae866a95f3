/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* suggest.c - the nearest of many names, by edits (insert, delete, replace, swap of neighbours):
 *     bMM among bM, bN, bK  ->  bM */
#include "frontend/sema.h"

#include <string.h>
#include <strings.h>

enum { LONGEST = 32 };

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* At most LONGEST letters each; more is never near. */
static int distance(const char *a, const char *b)
{
	int n = (int)strlen(a), m = (int)strlen(b);
	int d[LONGEST + 1][LONGEST + 1];
	if (n > LONGEST || m > LONGEST)
		return LONGEST;
	for (int i = 0; i <= n; i++)
		for (int j = 0; j <= m; j++) {
			if (!i || !j) {
				d[i][j] = i + j;
				continue;
			}
			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
					d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[n][m];
}

Suggest suggest_begin(const char *want)
{
	int n = (int)strlen(want);
	return (Suggest){want, NULL, n <= 2 ? 2 : n <= 5 ? 3 : 4};
}

void suggest_try(Suggest *g, const char *name)
{
	int longer = (int)strlen(name) - (int)strlen(g->want);
	if (longer >= g->distance || -longer >= g->distance)
		return;
	int d = strcasecmp(g->want, name) ? distance(g->want, name) : 1;
	if (d >= g->distance || d >= (int)strlen(g->want))
		return;
	g->distance = d;
	g->best = name;
}

void suggest_names(Sema *s, Suggest *g)
{
	for (int i = s->symbols.n; i-- > 0;)
		suggest_try(g, s->symbols.at[i].name);
	for (int e = 0; e < EL_COUNT; e++)
		if (elem_rows[e].spoken)
			suggest_try(g, elem_rows[e].name);
#define ELT(id, name, ...) suggest_try(g, name);
#include "ir/elementwise.def"
	for (int i = 0; i < LAYOUT_OP_COUNT; i++)
		suggest_try(g, layout_op_rows[i].name);
}

DiagMsg *suggest_end(Sema *s, Suggest *g, DiagMsg *m)
{
	if (!g->best)
		return m;
	diag_remedy(s->ctx, m, "did you mean '%s'?", g->best);
	return diag_fix(s->ctx, m, m->loc, "%s", g->best);
}
