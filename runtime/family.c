/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* family.c - kernels that are variants of one name, and what they must have in common. */
#include "runtime/rt.h"

#include <string.h>

static void cost_texts(const KCost *c, const char *out[COST_SIZES])
{
	int n = 0;
#define COST_SIZE(field) out[n++] = c->field;
#include "runtime/variants.def"
}

static bool same_texts(const char *const *a, const char *const *b, int n)
{
	int i = 0;
	while (i < n && strcmp(a[i], b[i]) == 0)
		i++;
	return i == n;
}

static bool same_map(const KMap *a, const KMap *b)
{
	return a->elem == b->elem && a->rank == b->rank && same_texts(a->dims, b->dims, a->rank) &&
	       same_texts(a->strides, b->strides, a->rank - 1);
}

/* A tensor that was packed for one variant is right for each that takes packed ones. */
static bool same_arg(const KDesc *k, const KDesc *l, int i)
{
	const KArg *a = &k->args[i], *b = &l->args[i];
	int p = pack_map(k, i), q = pack_map(l, i);
	return strcmp(a->name, b->name) == 0 && a->kind == b->kind && a->elem == b->elem &&
	       a->dir == b->dir && a->rank == b->rank && same_texts(a->shape, b->shape, a->rank) &&
	       same_texts(a->stride, b->stride, a->rank) &&
	       (p < 0 || q < 0 || same_map(&k->maps[p], &l->maps[q]));
}

static bool same_args(const KDesc *a, const KDesc *b)
{
	int i = 0;
	while (i < a->nargs && same_arg(a, b, i))
		i++;
	return i == a->nargs;
}

static bool same_product(const KCost *a, const KCost *b)
{
	const char *x[COST_SIZES], *y[COST_SIZES];
	cost_texts(a, x);
	cost_texts(b, y);
	return memcmp(&a->product, &b->product, sizeof a->product) == 0 &&
	       same_texts(x, y, COST_SIZES);
}

const char *variant_differs(const KDesc *a, const KDesc *b)
{
	if (a->nargs != b->nargs || !same_args(a, b))
		return "arguments";
	if (a->nsyms != b->nsyms || !same_texts(a->syms, b->syms, a->nsyms))
		return "sizes";
	return same_product(&a->cost, &b->cost) ? NULL : "costs of the product";
}
