/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* modes.c - modes inside modes become modes of their own. A coordinate counts along the parts of a
 * mode, the first fastest, so that it is one in each; a tile lies in the first part, and has one
 * element along the others, as along the mode of a batch. A tile of several parts would be a matrix
 * of three modes, whose rows neither chunks of an epilogue nor slices of a multicast can cut.
 *     arg %B : global bf16 ((64,H),K):((1,K * 64),64)
 *     tile %B (n * 32, k * 64) : global bf16 (32,64):(1,64)
 * ->  arg %B : global bf16 (64,H,K):(1,K * 64,64)
 *     tile %B (n % 2 * 32, n / 2, k * 64) : global bf16 (32,1,64):(1,K * 64,64)
 * The matrix of a tile that has one row or column, too, is that of the first parts:
 *     tile %X (m, t * 256) : global f32 (1,256):(256 * T,1)      of (M,(256,T)):(256 * T,(1,256))
 * ->  %X.t = view %X : global f32 (T,M,256):(256,256 * T,1)
 *     tile %X.t (t, m, 0) : global f32 (1,1,256):(256,256 * T,1) */
#include "passes/pass.h"

#include <string.h>

static bool is_flat(const Layout *l)
{
	for (int i = 0; i < tup_rank(l->shape); i++)
		if (!tup_is_leaf(tup_get(l->shape, i)))
			return false;
	return true;
}

/* A tile of the tensor as it will be. */
typedef struct {
	Kernel *k;
	const Op *of;
	IxFacts facts;
	int n;
	const Ix *at[MODES_MOST];
	const Tup *extent[MODES_MOST];
} Flat;

static void add(Flat *f, const Ix *at, int64_t extent)
{
	f->at[f->n] = ix_simplify(f->k->ctx, at, f->facts);
	f->extent[f->n++] = tup_int(f->k->ctx, extent);
}

static bool is_multiple(const Flat *f, const Ix *x, int64_t of)
{
	return ix_divisor(x, f->facts) % of == 0;
}

static void crosses(const Flat *f, int mode, int64_t extent, const Ix *part)
{
	int64_t v;
	const char *each = ix_text(f->k->ctx, part);
	diag(f->k->ctx, f->of->loc, D_E0405,
	     "a tile of %lld along mode %d of %s may lie in two parts of %s elements, each of "
	     "which "
	     "is a mode of its own to TMA\n%s",
	     (long long)extent, mode, IN(f->of, OF).val->name, each,
	     ix_is_const(part, &v)
		     ? ctx_strf(f->k->ctx, "take a tile whose extent divides %s", each)
		     : ctx_strf(f->k->ctx, "state it: where %s %% %lld == 0", each,
				(long long)extent));
}

/* Coordinates are divided by it. */
static void check_some(const Flat *f, int mode, const Ix *part)
{
	int64_t lo, hi;
	ix_range(part, f->facts, &lo, &hi);
	if (lo < 1)
		diag(f->k->ctx, f->of->loc, D_E0405, "a part of mode %d of %s may have no element",
		     mode, IN(f->of, OF).val->name);
}

/* The parts of one mode, whose coordinate is x. */
static void split(Flat *f, int mode, const Tup *shape, const Ix *x, int64_t extent)
{
	Ctx *c = f->k->ctx;
	const Layout *parts = layout_flat(c, layout_left(c, shape));
	int n = tup_rank(parts->shape);
	const Ix *first = tup_get(parts->shape, 0)->leaf;
	if (n > 1 && (!is_multiple(f, first, extent) || !is_multiple(f, x, extent)))
		crosses(f, mode, extent, first);
	for (int i = 0; i + 1 < n; i++)
		check_some(f, mode, tup_get(parts->shape, i)->leaf);
	for (int i = 0; i < n; i++) {
		const Ix *part = tup_get(parts->shape, i)->leaf;
		add(f, i + 1 < n ? ix_mod(c, x, part) : x, i ? 1 : extent);
		x = ix_div(c, x, part);
	}
}

const Layout *layout_in_order(Ctx *c, const Layout *l, const int *at)
{
	const Layout *modes[MODES_MOST];
	int n = layout_rank(l);
	for (int i = 0; i < n; i++)
		modes[i] = layout_mode(c, l, at[i]);
	return layout_cat(c, modes, n);
}

Val *tensor_view(Kernel *k, Val *tensor, const Layout *l)
{
	Val *arg = tensor_arg(tensor);
	const Type *type = type_tile(k->ctx, SP_GLOBAL, arg->type->elem, l);
	if (type == arg->type)
		return arg;
	for (Op *op = kernel_find(k, OP_VIEW); op; op = op_find_next(op, OP_VIEW))
		if (IN(op, OF).val == arg && op->out->type == type)
			return op->out;
	Op *op = op_new(k, OP_VIEW, k->loc);
	op_in(k, op, arg, NULL);
	op_insert_after(kernel_first(k), op);
	return op_result(k, op, ctx_strf(k->ctx, "%s.t", arg->name), type);
}

/* Modes of one element that stand in front of others are no modes of the tile's matrix. */
static void put_last(Flat *f, Op *op, const Layout *all, ModeList matrix)
{
	int at[MODES_MOST], n = 0;
	const Ix *ix[MODES_MOST];
	ModeList is = type_modes(f->k->ctx, op->out->type);
	int64_t gather = attrs_int(&op->attrs, A_GATHER, -1);
	if (matrix.n != 2 || (is.at[0] == matrix.at[0] && is.at[1] == matrix.at[1]))
		return;
	for (int i = 0; i < f->n; i++)
		if (i != matrix.at[0] && i != matrix.at[1])
			at[n++] = i;
	at[n++] = matrix.at[0];
	at[n] = matrix.at[1];
	IN(op, OF).val = tensor_view(f->k, IN(op, OF).val, layout_in_order(f->k->ctx, all, at));
	for (int i = 0; i < f->n; i++)
		ix[i] = op->ix[at[i]];
	memcpy(op->ix, ix, sizeof *ix * (size_t)f->n);
	for (int i = 0; i < f->n && gather >= 0; i++)
		if (at[i] == gather)
			op_int(f->k, op, A_GATHER, i);
	op->out->type = type_tile(f->k->ctx, SP_GLOBAL, op->out->type->elem,
				  layout_in_order(f->k->ctx, op->out->type->layout, at));
}

static void flatten_tile(Kernel *k, Op *op)
{
	const Val *tensor = IN(op, OF).val;
	ModeList matrix = type_modes(k->ctx, op->out->type);
	int first[MODES_MOST];
	const Layout *l = tensor->type->layout, *all = layout_flat(k->ctx, l);
	Flat f = {.k = k, .of = op, .facts = kernel_facts(k)};
	if (layout_rank(all) > MODES_MOST) {
		diag(k->ctx, op->loc, D_E0405, "%s has %d parts of modes, at most %d are taken",
		     tensor->name, layout_rank(all), MODES_MOST);
		return;
	}
	for (int i = 0; i < op->nix; i++) {
		first[i] = f.n;
		split(&f, i, tup_get(l->shape, i), op->ix[i], val_extent(op->out, i));
	}
	op->nix = 0;
	for (int i = 0; i < f.n; i++)
		op_ix(k, op, f.at[i]);
	const Layout *tile = layout_new(k->ctx, tup_new(k->ctx, f.extent, f.n), all->stride);
	op->out->type = type_tile(k->ctx, SP_GLOBAL, tensor->type->elem, tile);
	for (int i = 0; i < matrix.n; i++)
		matrix.at[i] = first[matrix.at[i]];
	if (HAS_IN(op, INDEX))
		op_int(k, op, A_GATHER, first[attrs_int(&op->attrs, A_GATHER, 0)]);
	put_last(&f, op, all, matrix);
}

PASS_OF(modes)
{
	for (Op *op = kernel_find(k, OP_TILE); op; op = op_find_next(op, OP_TILE))
		if (!is_flat(IN(op, OF).val->type->layout))
			flatten_tile(k, op);
	for (int i = 0; i < k->args.n; i++) {
		Val *v = k->args.at[i].val;
		if (v->type->kind == TY_TILE && !is_flat(v->type->layout))
			v->type = type_tile(k->ctx, SP_GLOBAL, v->type->elem,
					    layout_flat(k->ctx, v->type->layout));
	}
}
