/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* modes.c - which modes of a tensor take part. A tile of a batch has one element along it, and is
 * the matrix of its other modes; TMA begins with the mode of stride 1, takes the others as they
 * stand, and none of stride 0.
 *     tile (1,128,64) of (L,M,K):(sl,K,1)   ->  a matrix of the modes 1, 2
 *     map of             (L,M,K):(sl,K,1)   ->  the modes 2, 0, 1
 *     map of             (L,M,K):(0,K,1)    ->  the modes 2, 1
 * A ragged map ends where each copy says: its box begins as far in front of the mode's end as the
 * tensor has rows left from there, and two modes more put the address right, modulo 2^64.
 *     ragged map of bf16 (M,N):(N,1)        ->  (2^30,N,2^30,2^30 + 1):(N,1,N,2^33 - N)
 *     rows from m on, below `end`           ->  2^30 - (end - m), .., end, 2^30 */
#include "ir/ir.h"

enum { RAGGED_ROWS = 1 << 30, RAGGED_MODES = 2 };
static const int64_t ragged_bytes = INT64_C(1) << 34; /* x RAGGED_ROWS = 2^64 */

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

ModePart layout_part(const Layout *l, int leaf)
{
	int mode = 0;
	while (leaf >= tup_rank(tup_get(l->shape, mode)))
		leaf -= tup_rank(tup_get(l->shape, mode++));
	return (ModePart){mode, leaf};
}

int parts_of_tile(Ctx *c, const Tup *parts, int64_t extent, IxFacts facts)
{
	int64_t whole = 1, part;
	for (int i = 0; i + 1 < tup_rank(parts); i++) {
		const Ix *x = ix_simplify(c, tup_get(parts, i)->leaf, facts);
		if (ix_divisor(ix_mul(c, ix_const(c, whole), x), facts) % extent == 0)
			return i + 1;
		if (!ix_is_const(x, &part) || part < 1 || extent / whole % part)
			return 0;
		whole *= part;
	}
	return tup_rank(parts);
}

static bool has_stride(const Layout *l, int leaf, int64_t stride)
{
	ModePart p = layout_part(l, leaf);
	return ix_is(tup_get(tup_get(l->stride, p.mode), p.part)->leaf, stride);
}

ModeList layout_map_modes(const Layout *l)
{
	ModeList m = {0};
	int rank = 0, unit = 0;
	for (int i = 0; i < tup_rank(l->shape); i++)
		rank += tup_rank(tup_get(l->shape, i));
	while (unit < rank && !has_stride(l, unit, 1))
		unit++;
	if (unit == rank)
		return m;
	add(&m, unit);
	for (int i = 0; i < rank; i++)
		if (i != unit && !has_stride(l, i, 0))
			add(&m, i);
	return m;
}

int map_coordinate(const Layout *l, int mode)
{
	ModeList modes = layout_map_modes(l);
	for (int i = 0; i < modes.n; i++)
		if (modes.at[i] == mode)
			return i;
	return -1;
}

/* The mode of stride 1 is stored in whole units of 16 bytes, whatever its end. */
bool map_may_be_ragged(const Layout *l, int mode)
{
	return layout_map_modes(l).n <= MODES_MOST - RAGGED_MODES &&
	       !ix_is(tup_get(l->stride, mode)->leaf, 1);
}

const Layout *map_layout(Ctx *c, const Op *map)
{
	const Type *t = IN(map, OF).val->type;
	const Layout *l = t->layout;
	int rank = tup_rank(l->stride), mode = (int)attrs_int(&map->attrs, A_RAGGED, -1);
	const Tup *shape[MODES_MOST], *stride[MODES_MOST];
	if (mode < 0)
		return l;
	for (int i = 0; i < rank; i++) {
		shape[i] = i == mode ? tup_int(c, RAGGED_ROWS) : tup_get(l->shape, i);
		stride[i] = tup_get(l->stride, i);
	}
	const Ix *back = ix_const(c, ragged_bytes / elem_span(t->elem, 1));
	shape[rank] = tup_int(c, RAGGED_ROWS);
	stride[rank] = stride[mode];
	shape[rank + 1] = tup_int(c, RAGGED_ROWS + 1);
	stride[rank + 1] = tup_leaf(c, ix_sub(c, back, stride[mode]->leaf));
	rank += RAGGED_MODES;
	return layout_new(c, tup_new(c, shape, rank), tup_new(c, stride, rank));
}

void ragged_at(Ctx *c, const Ix *at, const Ix *end, const Ix *to[3])
{
	const Ix *rows = ix_const(c, RAGGED_ROWS);
	to[0] = ix_add(c, ix_sub(c, at, end), rows);
	to[1] = end;
	to[2] = rows;
}
