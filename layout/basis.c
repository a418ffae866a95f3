/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* basis.c - paths of basis elements, and trees over the places that they name.
 *     paths 1@0 and 1@1@2  ->  (f(@0), f(@1), (f(@0@2), f(@1@2))) */
#include "layout/layoutp.h"

enum { LEVELS = 8 };

static int depth_of(uint64_t basis)
{
	int d = 0;
	while (d < LEVELS && basis >> (8 * d))
		d++;
	return d;
}

int basis_outermost(uint64_t basis)
{
	return (int)(basis >> (8 * (depth_of(basis) - 1)) & 255) - 1;
}

uint64_t basis_inside(uint64_t basis)
{
	return basis & ~(UINT64_C(255) << (8 * (depth_of(basis) - 1)));
}

typedef struct {
	Ctx *c;
	BasisLeaf leaf;
	BasisJoin join;
	void *user;
} Tree;

/* Of the path that is reached, from the outermost place inwards: as a basis. */
static uint64_t reached(const int *place, int depth)
{
	uint64_t basis = 0;
	for (int i = depth - 1; i >= 0; i--)
		basis_add(&basis, place[i]);
	return basis;
}

/* paths: what is left of them after place[0..depth) */
static const void *grow(Tree *t, const uint64_t *paths, int n, int *place, int depth)
{
	int most = -1, ends = 0, m;
	for (int i = 0; i < n; i++) {
		int at = paths[i] ? basis_outermost(paths[i]) : -1;
		ends += !paths[i];
		most = at > most ? at : most;
	}
	if (most < 0)
		return t->leaf(t->c, t->user, reached(place, depth));
	if (ends || depth == LEVELS)
		return NULL;
	const void **at = NEWN(ctx_tmp(t->c), const void *, most + 1);
	uint64_t *inside = NEWN(ctx_tmp(t->c), uint64_t, n);
	for (place[depth] = 0; place[depth] <= most; place[depth]++) {
		m = 0;
		for (int i = 0; i < n; i++)
			if (basis_outermost(paths[i]) == place[depth])
				inside[m++] = basis_inside(paths[i]);
		if (!(at[place[depth]] = grow(t, inside, m, place, depth + 1)))
			return NULL;
	}
	return t->join(t->c, t->user, at, most + 1);
}

const void *basis_tree(Ctx *c, const uint64_t *paths, int n, BasisLeaf leaf, BasisJoin join,
		       void *user)
{
	int place[LEVELS + 1] = {0};
	return grow(&(Tree){c, leaf, join, user}, paths, n, place, 0);
}
