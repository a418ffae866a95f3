/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout_ops_shape.c - operations by name that make layouts, take them apart and look into them.
 *     group_modes((4,5,6):(1,4,20), 0, 2) = ((4,5),6):((1,4),20)
 *     slice((2,3,4):(1,2,6), (_,0,_)) = (2,4):(1,6)
 * Those on structure alone take tuples as well as layouts. */
#include "layout/layoutops.h"

/* A tuple, or a layout seen as its two tuples: what is done to one is done to the other. */
typedef struct {
	const Layout *l;
	const Tup *shape, *stride; /* stride NULL: a tuple */
} Both;

static bool both_of(Call *k, int i, Both *b)
{
	*b = (Both){0};
	if (k->arg[i].kind == ALG_TUP)
		b->shape = k->arg[i].tup;
	else if ((b->l = arg_layout(k, i))) {
		b->shape = b->l->shape;
		b->stride = b->l->stride;
	}
	return b->shape != NULL;
}

static bool give_both(Call *k, const Both *b, const Tup *shape, const Tup *stride)
{
	if (!b->l)
		return give_tup(k, shape);
	return give_layout(k, layout_wrap(k->c, b->l, layout_new(k->c, shape, stride)));
}

/* ------------------------------------------------------------------ making */
static bool cat_all(Call *k)
{
	const Layout *at[8];
	for (int i = 0; i < k->n; i++)
		if (!(at[i] = arg_layout(k, i)) || !layout_is_plain(at[i]))
			return at[i] ? call_refuse(k, "argument %d is a composed layout", i + 1)
				     : false;
	return give_layout(k, layout_cat(k->c, at, k->n));
}

bool alg_make_layout(Call *k)
{
	if (is_layout(k, 0) || k->n > 2 || is_layout(k, 1))
		return cat_all(k);
	const Tup *shape = arg_tup(k, 0), *stride = shape && k->n == 2 ? arg_tup(k, 1) : NULL;
	if (!shape || (k->n == 2 && !stride))
		return false;
	if (stride && !tup_congruent(shape, stride))
		return call_refuse(k, "shape and stride are not of one form");
	const Layout *l = stride ? layout_new(k->c, shape, stride) : layout_left(k->c, shape);
	return layout_usable(k->c, k->name, l, &k->why) && give_layout(k, l);
}

ALG_ONE(make_layout_left, tup, shape, give_layout(k, layout_left(k->c, shape)))
ALG_ONE(make_layout_right, tup, shape, give_layout(k, layout_right(k->c, shape)))
ALG_TWO(make_ordered_layout, tup, shape, tup, order,
	give_layout(k, layout_ordered(k->c, shape, order, &k->why)))
bool alg_make_identity_layout(Call *k)
{
	const Tup *shape = arg_shape(k, 0);
	if (shape && tup_depth(shape) > 8)
		return call_refuse(k, "the shape nests deeper than 8 levels");
	return shape && give_layout(k, layout_identity(k->c, shape));
}

/* Whether the inner layout takes what comes: coordinates need a rank of their own. */
static bool offset_fits(const Tup *offset, const Layout *inner, const Layout *outer)
{
	bool coords = !tup_is_leaf(offset);
	if (tup_is_leaf(offset) && offset->basis)
		return false;
	if (coords != tup_has_basis(outer->stride))
		return !coords && tup_has_basis(outer->stride) && ix_is(offset->leaf, 0);
	return !coords || tup_weakly_congruent(offset, inner->shape);
}

bool alg_make_composed_layout(Call *k)
{
	const Layout *inner = arg_layout(k, 0), *outer = inner ? arg_layout(k, 2) : NULL;
	const Tup *offset = outer ? arg_tup(k, 1) : NULL;
	if (!offset)
		return false;
	if (!layout_is_plain(outer))
		return call_refuse(k, "%s is composed itself", layout_str(k->c, outer));
	bool swizzle = inner->swizzle.b && ix_is(layout_size(k->c, inner), 1);
	if (!swizzle && !offset_fits(offset, inner, outer))
		return call_refuse(k, "%s does not take what %s and the offset %s give",
				   layout_str(k->c, inner), layout_str(k->c, outer),
				   tup_text(k->c, offset));
	if (swizzle && (!tup_is_leaf(offset) || tup_has_basis(outer->stride)))
		return call_refuse(k, "a swizzle takes numbers, not coordinates");
	if (swizzle)
		return give_layout(k, layout_swizzled(k->c, inner->swizzle, offset->leaf, outer));
	return give_layout(k, layout_composed(k->c, inner, offset, outer));
}

bool alg_make_layout_tv(Call *k)
{
	const Layout *thr = arg_layout(k, 0), *val = thr ? arg_layout(k, 1) : NULL;
	if (!val)
		return false;
	const Tup *sizes[] = {tup_leaf(k->c, layout_size(k->c, thr)),
			      tup_leaf(k->c, layout_size(k->c, val))};
	const Layout *mn = layout_raked_product(k->c, thr, val, &k->why), *back;
	if (!mn || !(back = layout_right_inverse(k->c, mn, &k->why)))
		return false;
	const Layout *tv =
		layout_composition(k->c, back, layout_left(k->c, tup_new(k->c, sizes, 2)), &k->why);
	Alg tile = {.kind = ALG_TUP, .tup = tup_product_each(k->c, mn->shape)};
	return tv && give_pair(k, tile, (Alg){.kind = ALG_LAYOUT, .layout = tv});
}

/* ------------------------------------------------------------------ looking */
/* The part of argument 0 that the indices after it name. */
static bool descend(Call *k, Both *b)
{
	int64_t at;
	if (!both_of(k, 0, b))
		return false;
	for (int i = 1; i < k->n; i++) {
		if (!arg_int(k, i, 0, tup_rank(b->shape) - 1, &at))
			return false;
		b->shape = tup_get(b->shape, (int)at);
		b->stride = b->stride ? tup_get(b->stride, (int)at) : NULL;
	}
	return true;
}

/* Of a list, the element that the index names; then as of that element. */
static bool get_of_list(Call *k)
{
	int64_t at;
	if (k->n == 1)
		return give_list(k, k->arg[0].at, k->arg[0].n);
	if (!arg_int(k, 1, 0, k->arg[0].n - 1, &at))
		return false;
	Alg args[8];
	Call inner = *k;
	args[0] = k->arg[0].at[at];
	for (int i = 2; i < k->n; i++)
		args[i - 1] = k->arg[i];
	inner.arg = args;
	inner.n = k->n - 1;
	bool ok = alg_get(&inner);
	k->why = inner.why;
	return ok;
}

bool alg_get(Call *k)
{
	Both b;
	if (is_list(k, 0))
		return get_of_list(k);
	return descend(k, &b) && give_both(k, &b, b.shape, b.stride);
}

ALG_ONE(get_shape, layout, l, give_tup(k, l->shape))
ALG_ONE(get_stride, layout, l, give_tup(k, l->stride))
#define OF_PART(name, give)                    \
	bool alg_##name(Call *k)               \
	{                                      \
		Both b;                        \
		return descend(k, &b) && give; \
	}
OF_PART(size, give_ix(k, tup_product(k->c, b.shape)))

bool alg_cosize(Call *k)
{
	Both b;
	if (!descend(k, &b))
		return false;
	const Tup *stride = b.stride ? b.stride : layout_left(k->c, b.shape)->stride;
	return give_ix(k, layout_cosize(k->c, layout_new(k->c, b.shape, stride)));
}

OF_PART(rank, give_tup(k, tup_int(k->c, tup_rank(b.shape))))
OF_PART(depth, give_tup(k, tup_int(k->c, tup_depth(b.shape))))

/* ------------------------------------------------------------------ taking apart */
static int leaves_of(const Alg *a, Alg *out, int n)
{
	for (int i = 0; a->kind == ALG_LIST && i < a->n; i++)
		n = leaves_of(&a->at[i], out, n);
	if (a->kind != ALG_LIST && n < 8)
		out[n] = *a;
	return a->kind == ALG_LIST ? n : n + 1;
}

bool alg_flatten(Call *k)
{
	Both b;
	Alg out[8];
	if (is_list(k, 0)) {
		int n = leaves_of(&k->arg[0], out, 0);
		return n <= 8 ? give_list(k, out, n)
			      : call_refuse(k, "the list has more than 8 leaves");
	}
	if (!both_of(k, 0, &b))
		return false;
	return give_both(k, &b, tup_flatten(k->c, b.shape),
			 b.stride ? tup_flatten(k->c, b.stride) : NULL);
}

static const Tup *grouped(Ctx *c, const Tup *t, int from, int to)
{
	int rank = tup_rank(t), n = 0;
	const Tup **at = NEWN(ctx_tmp(c), const Tup *, rank + 1);
	const Tup **in = NEWN(ctx_tmp(c), const Tup *, rank + 1);
	for (int i = 0; i < rank; i++) {
		if (i >= from && i < to)
			in[i - from] = tup_get(t, i);
		else
			at[n++] = tup_get(t, i);
		if (i == to - 1)
			at[n++] = tup_new(c, in, to - from);
	}
	return tup_new(c, at, n);
}

bool alg_group_modes(Call *k)
{
	Both b;
	int64_t from, to;
	if (!both_of(k, 0, &b) || !arg_int(k, 1, 0, tup_rank(b.shape) - 1, &from) ||
	    !arg_int(k, 2, from + 1, tup_rank(b.shape), &to))
		return false;
	return give_both(k, &b, grouped(k->c, b.shape, (int)from, (int)to),
			 b.stride ? grouped(k->c, b.stride, (int)from, (int)to) : NULL);
}

static bool select_of_list(Call *k)
{
	Alg out[8];
	int64_t at;
	for (int i = 1; i < k->n; i++) {
		if (!arg_int(k, i, 0, k->arg[0].n - 1, &at))
			return false;
		out[i - 1] = k->arg[0].at[at];
	}
	return give_list(k, out, k->n - 1);
}

bool alg_select(Call *k)
{
	Both b;
	const Tup *shape[8], *stride[8];
	int64_t at;
	if (is_list(k, 0))
		return select_of_list(k);
	if (!both_of(k, 0, &b))
		return false;
	for (int i = 1; i < k->n; i++) {
		if (!arg_int(k, i, 0, tup_rank(b.shape) - 1, &at))
			return false;
		shape[i - 1] = tup_get(b.shape, (int)at);
		stride[i - 1] = b.stride ? tup_get(b.stride, (int)at) : NULL;
	}
	return give_both(k, &b, tup_new(k->c, shape, k->n - 1),
			 b.stride ? tup_new(k->c, stride, k->n - 1) : NULL);
}

enum { RANK_MOST = 64 };

static const Tup *extended(Ctx *c, const Tup *t, const Tup *by, int rank, bool front)
{
	int old = tup_rank(t), more = rank - old;
	const Tup **at = NEWN(ctx_tmp(c), const Tup *, rank + 1);
	for (int i = 0; i < rank; i++) {
		int from = front ? i - more : i;
		at[i] = from >= 0 && from < old ? tup_get(t, from) : by;
	}
	return tup_new(c, at, rank);
}

static bool extend(Call *k, bool front)
{
	Both a, b;
	int64_t rank;
	if (!both_of(k, 0, &a) || !both_of(k, 1, &b))
		return false;
	if (!a.l != !b.l || (b.l && !layout_is_plain(b.l)))
		return call_refuse(k, "a layout takes plain layouts, a tuple takes tuples");
	rank = tup_rank(a.shape) + 1;
	if (k->n == 3 && !arg_int(k, 2, 1, RANK_MOST, &rank))
		return false;
	if (rank <= tup_rank(a.shape))
		return give_both(k, &a, a.shape, a.stride);
	return give_both(k, &a, extended(k->c, a.shape, b.shape, (int)rank, front),
			 a.l ? extended(k->c, a.stride, b.stride, (int)rank, front) : NULL);
}

bool alg_append(Call *k)
{
	return extend(k, false);
}

bool alg_prepend(Call *k)
{
	return extend(k, true);
}

/* ------------------------------------------------------------------ slices */
typedef const Tup *(*Pick)(Ctx *c, const Tup *t, const Tup *coord);

/* The places of argument 0 that pick keeps, and the coordinate. */
static bool pick_both(Call *k, Pick pick, Both *b, const Tup **shape, const Tup **stride,
		      const Tup **coord)
{
	if (!both_of(k, 0, b) || !(*coord = arg_tup(k, 1)))
		return false;
	*shape = pick(k->c, b->shape, *coord);
	*stride = b->stride ? pick(k->c, b->stride, *coord) : NULL;
	if (*shape)
		return true;
	return call_refuse(k, "the coordinate %s has another form than %s", tup_text(k->c, *coord),
			   tup_text(k->c, b->shape));
}

bool alg_slice(Call *k)
{
	Both b;
	const Tup *shape, *stride, *coord;
	if (!pick_both(k, tup_slice, &b, &shape, &stride, &coord))
		return false;
	if (!b.l || layout_is_plain(b.l))
		return give_both(k, &b, shape, stride);
	const Tup *off = layout_eval(k->c, layout_outer(k->c, b.l), coord);
	if (!off)
		return call_refuse(k, "the coordinate has another form than the layout");
	const Layout *l = layout_wrap(k->c, b.l, layout_new(k->c, shape, stride));
	return give_layout(k, layout_shift(k->c, l, off));
}

bool alg_dice(Call *k)
{
	Both b;
	const Tup *shape, *stride, *coord;
	return pick_both(k, tup_dice, &b, &shape, &stride, &coord) &&
	       give_both(k, &b, shape, stride);
}

bool alg_slice_and_offset(Call *k)
{
	const Tup *coord = k->arg[1].tup, *off;
	const Layout *l = arg_layout(k, 0);
	Alg zero = {.kind = ALG_TUP, .tup = tup_int(k->c, 0)};
	if (!l || !alg_slice(k))
		return false;
	if (k->out->kind == ALG_TUP)
		k->out->layout = layout_left(k->c, k->out->tup);
	Alg part = {.kind = ALG_LAYOUT, .layout = k->out->layout};
	if (!layout_is_plain(l))
		return give_pair(k, part, zero);
	off = layout_eval(k->c, l, coord);
	return off ? give_pair(k, part, (Alg){.kind = ALG_TUP, .tup = off})
		   : call_refuse(k, "the coordinate has another form than the layout");
}

bool alg_domain_offset(Call *k)
{
	const Tup *coord = arg_tup(k, 0);
	const Layout *l = coord ? arg_layout(k, 1) : NULL;
	const Tup *off = l ? layout_eval(k->c, layout_outer(k->c, l), coord) : NULL;
	if (l && !off)
		return call_refuse(k, "the coordinate has another form than the layout");
	return l && give_layout(k, layout_shift(k->c, l, off));
}

ALG_TWO(crd2idx, tup, coord, layout, l, give_tup(k, layout_eval(k->c, l, coord)))

/* ------------------------------------------------------------------ widths */
static bool cast(Call *k, const Layout *(*by)(Ctx *c, const Layout *l, int64_t n, const char **why))
{
	const Layout *l = arg_layout(k, 0);
	int64_t n;
	return l && arg_int(k, 1, 1, INT64_C(1) << 32, &n) &&
	       give_layout(k, by(k->c, l, n, &k->why));
}

bool alg_upcast(Call *k)
{
	return cast(k, layout_upcast);
}

bool alg_downcast(Call *k)
{
	return cast(k, layout_downcast);
}

bool alg_recast_layout(Call *k)
{
	const Layout *l = arg_layout(k, 0);
	int64_t to, from;
	if (!l || !arg_int(k, 1, 1, 1 << 20, &to) || !arg_int(k, 2, 1, 1 << 20, &from))
		return false;
	if (to % from == 0)
		return give_layout(k, layout_upcast(k->c, l, to / from, &k->why));
	if (from % to == 0)
		return give_layout(k, layout_downcast(k->c, l, from / to, &k->why));
	l = layout_downcast(k->c, l, from, &k->why);
	return l && give_layout(k, layout_upcast(k->c, l, to, &k->why));
}
