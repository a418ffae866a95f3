/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* modes.c - which modes of a tensor take part. A tile of a batch has one element along it, and is
 * the matrix of its other modes; TMA begins with the mode of stride 1, takes the others as they
 * stand, and none of stride 0.
 *     tile (1,128,64) of (L,M,K):(sl,K,1)   ->  a matrix of the modes 1, 2
 *     map of             (L,M,K):(sl,K,1)   ->  the modes 2, 0, 1
 *     map of             (L,M,K):(0,K,1)    ->  the modes 2, 1 */
#include "ir/ir.h"

static bool has_one(Ctx *c, const Type *t, int mode)
{
	return ix_is(tup_product(c, tup_get(t->layout->shape, mode)), 1);
}

static void add(ModeList *m, int mode)
{
	if (m->n < MODES_MOST)
		m->at[m->n] = mode;
	m->n++;
}

ModeList type_modes(Ctx *c, const Type *t)
{
	ModeList m = {0};
	int rank = layout_rank(t->layout), ones = 0;
	for (int i = 0; i < rank; i++)
		ones += has_one(c, t, i);
	int dropped = rank - 2 < ones ? rank - 2 : ones;
	for (int i = 0; i < rank; i++)
		if (dropped > 0 && has_one(c, t, i))
			dropped--;
		else
			add(&m, i);
	return m;
}

ModeList layout_map_modes(const Layout *l)
{
	ModeList m = {0};
	int rank = tup_rank(l->stride), unit = 0;
	while (unit < rank && !ix_is(tup_get(l->stride, unit)->leaf, 1))
		unit++;
	if (unit == rank)
		return m;
	add(&m, unit);
	for (int i = 0; i < rank; i++)
		if (i != unit && !ix_is(tup_get(l->stride, i)->leaf, 0))
			add(&m, i);
	return m;
}
