/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout_ops_tuple.c - operations by name on integer tuples and coordinates.
 *     idx2crd(9, (4,8)) = (1,2)        ceil_div((8,10,6), (3,4)) = (3,3,6) */
#include "layout/layoutops.h"

ALG_TWO(tuple_add, shape, a, shape, b, give_tup(k, tup_add(k->c, a, b)))
ALG_TWO(tuple_sub, shape, a, shape, b, give_tup(k, tup_sub(k->c, a, b)))

static bool divisor_is_right(Call *k)
{
	const Tup *by = arg_shape(k, 1);
	if (!by || tup_is_positive(by))
		return by;
	return call_refuse(k, "division by zero or less: argument 2 is %s", tup_text(k->c, by));
}

/* By a layout: by its size, of the whole. */
bool alg_ceil_div(Call *k)
{
	const Tup *a = arg_shape(k, 0);
	if (!a || !is_layout(k, 1))
		return a && divisor_is_right(k) &&
		       give_tup(k, tup_ceil_div(k->c, a, arg_shape(k, 1)));
	const Layout *by = arg_layout(k, 1);
	if (!by)
		return false;
	const Ix *size = layout_size(k->c, by);
	return give_ix(k, ix_ceil_div(k->c, tup_product(k->c, a), size));
}

bool alg_shape_div(Call *k)
{
	const Tup *a = arg_shape(k, 0), *b = a && divisor_is_right(k) ? arg_shape(k, 1) : NULL;
	const Tup *q = b ? tup_shape_div(k->c, a, b) : NULL;
	if (b && !q)
		return call_refuse(k, "%s and %s do not divide each other", tup_text(k->c, a),
				   tup_text(k->c, b));
	return b && give_tup(k, q);
}

ALG_ONE(product, shape, t, give_ix(k, tup_product(k->c, t)))
ALG_ONE(product_each, shape, t, give_tup(k, tup_product_each(k->c, t)))

/* ------------------------------------------------------------------ coordinates */
ALG_TWO(idx2crd, tup, at, shape, shape, give_tup(k, tup_crd2crd(k->c, at, shape)))
ALG_TWO(increment_coord, tup, at, shape, shape, give_tup(k, tup_increment(k->c, at, shape)))

/* ------------------------------------------------------------------ comparisons */
/* As a condition, where names may decide. */
static const Ix *same(Ctx *c, const Tup *a, const Tup *b)
{
	if (a->n != b->n || a->basis != b->basis)
		return ix_const(c, 0);
	if (tup_is_leaf(a))
		return ix_plain(c, ix_new(c, IX_EQ, a->leaf, b->leaf));
	const Ix *all = ix_const(c, 1);
	for (int i = 0; i < a->n; i++)
		all = ix_new(c, IX_AND, all, same(c, a->at[i], b->at[i]));
	return all;
}

static bool give_truth(Call *k, bool truth)
{
	return give_tup(k, tup_int(k->c, truth));
}

bool alg_elem_less(Call *k)
{
	const Tup *a = arg_tup(k, 0), *b = a ? arg_shape(k, 1) : NULL;
	const Ix *x = b ? tup_elem_less(k->c, a, b) : NULL;
	return b && give_tup(k, x ? tup_leaf(k->c, x) : NULL);
}

bool alg_equal(Call *k)
{
	if (k->arg[0].kind == ALG_TUP && k->arg[1].kind == ALG_TUP)
		return give_ix(k, same(k->c, k->arg[0].tup, k->arg[1].tup));
	const Layout *a = arg_layout(k, 0), *b = a ? arg_layout(k, 1) : NULL;
	if (!b || !layout_is_plain(a) || !layout_is_plain(b))
		return b && give_truth(k, a == b);
	return give_ix(k, ix_new(k->c, IX_AND, same(k->c, a->shape, b->shape),
				 same(k->c, a->stride, b->stride)));
}

ALG_TWO(congruent, shape, a, shape, b, give_truth(k, tup_congruent(a, b)))
ALG_TWO(weakly_congruent, shape, a, shape, b, give_truth(k, tup_weakly_congruent(a, b)))
ALG_TWO(compatible, shape, a, shape, b, give_truth(k, tup_compatible(k->c, a, b)))
