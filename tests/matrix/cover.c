/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cover.c - few rows in which each two values meet that may. A row begins with two that have not
 * met. Each other factor, in random order, takes the value that meets most others for the first
 * time. */
#include "table.h"
#include "chance.h"

#include <stdio.h>
#include <stdlib.h>

enum { TRIES = 200 };

typedef struct {
	const Table *t;
	bool met[VALUES_MOST][VALUES_MOST];
	uint64_t state;
} Cover;

bool row_fits(const Table *t, const Row *r, int v)
{
	for (int f = 0; f < t->nfactors; f++)
		if (r->at[f] >= 0 && t->apart[r->at[f]][v])
			return false;
	return true;
}

/* Of the values of a factor that fit, the one that meets most for the first time; -1: none fits. */
static int best(Cover *c, const Row *r, int factor)
{
	int found = -1, most = -1;
	for (int v = 0; v < c->t->nvalues; v++) {
		int n = 0;
		if (c->t->value[v].at != factor || !row_fits(c->t, r, v))
			continue;
		for (int f = 0; f < c->t->nfactors; f++)
			n += r->at[f] >= 0 && !c->met[r->at[f]][v];
		n = 8 * n + chance_within(&c->state, 0, 7); /* of equals, one by chance */
		found = n > most ? v : found;
		most = n > most ? n : most;
	}
	return found;
}

static bool complete(Cover *c, Row *r)
{
	for (int left = c->t->nfactors - 2; left > 0; left--) {
		int skip = chance_within(&c->state, 0, left - 1), f = 0;
		while (r->at[f] >= 0 || skip-- > 0)
			f++;
		if ((r->at[f] = best(c, r, f)) < 0)
			return false;
	}
	return true;
}

static bool row_of(Cover *c, int i, int j, Row *r)
{
	for (int tries = 0; tries < TRIES; tries++) {
		for (int f = 0; f < FACTORS_MOST; f++)
			r->at[f] = -1;
		r->at[c->t->value[i].at] = i;
		r->at[c->t->value[j].at] = j;
		if (complete(c, r))
			return true;
	}
	printf("%s and %s meet in no row\n", c->t->value[i].name, c->t->value[j].name);
	return false;
}

/* A light program meets the values of the last factor, and those of others as they come. */
static bool must_meet(const Cover *c, int i, int j)
{
	const Value *x = &c->t->value[i], *y = &c->t->value[j];
	return x->at != y->at && !c->t->apart[i][j] && !c->met[i][j] &&
	       (!value_is(x, "light") || y->at == c->t->nfactors - 1);
}

/* Programs stand last in the table, so that the rows of one follow each other. */
bool rows_cover(Arena *a, const Table *t, Rows *rows)
{
	Cover *c = calloc(1, sizeof *c);
	bool ok = c;
	c->t = t;
	c->state = 1;
	for (int i = t->nvalues - 1; i >= 0; i--)
		for (int j = i - 1; j >= 0; j--) {
			Row r;
			if (!must_meet(c, i, j))
				continue;
			if (!row_of(c, i, j, &r)) {
				ok = false;
				continue;
			}
			for (int f = 0; f < t->nfactors; f++)
				for (int g = 0; g < t->nfactors; g++)
					c->met[r.at[f]][r.at[g]] = true;
			vec_push(a, rows, r);
		}
	free(c);
	return ok;
}
