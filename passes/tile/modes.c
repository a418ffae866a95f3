/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* modes.c - modes inside modes become modes of their own. A coordinate counts along the parts of a
 * mode, the first fastest, so that it is one in each; a tile lies in the first part, and has one
 * element along the others, as along the mode of a batch.
 *     arg %B : global bf16 ((64,H),K):((1,K * 64),64)
 *     tile %B (n * 32, k * 64) : global bf16 (32,64):(1,64)
 * ->  arg %B : global bf16 (64,H,K):(1,K * 64,64)
 *     tile %B (n % 2 * 32, n / 2, k * 64) : global bf16 (32,1,64):(1,K * 64,64)
 * Parts that a tile packs, all but the last of them whole, stay one mode of a view, so that the
 * tile stays a matrix; its boxes and addresses find the coordinate in each part.
 *     tile %Q (m * 64, k * 64) : global bf16 (64,64):(K,1)      of ((8,M),K):((K,K * 8),1)
 * ->  arg %Q : global bf16 (8,M,K):(K,K * 8,1)   %Q.t = view %Q : global bf16 ((8,M),K):..
 *     tile %Q.t (m * 64, k * 64) : global bf16 (64,64):(K,1)
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
	bool packs;  /* parts of a mode */
	bool vector; /* one row or column */
	int n;
	const Ix *at[MODES_MOST];
	const Tup *extent[MODES_MOST], *stride[MODES_MOST]; /* the tile's */
	const Layout *mode[MODES_MOST];                     /* the tensor's */
} Flat;

static void add(Flat *f, const Layout *mode, const Ix *at, int64_t extent)
{
	f->mode[f->n] = mode;
	f->stride[f->n] = tup_get(mode->stride, 0);
	f->at[f->n] = ix_simplify(f->k->ctx, at, f->facts);
	f->extent[f->n++] = tup_int(f->k->ctx, extent);
}

static void crosses(const Flat *f, int mode, int64_t extent, const Ix *part, bool packs)
{
	int64_t v;
	const char *each = ix_text(f->k->ctx, part);
	diag(f->k->ctx, f->of->loc, D_E0405,
	     "a tile of %lld along mode %d of %s may lie in two parts of %s elements, each of "
	     "which "
	     "is a mode of its own to TMA\n%s",
	     (long long)extent, mode, IN(f->of, OF).val->name, each,
	     ix_is_const(part, &v) ? ctx_strf(f->k->ctx, "take a tile whose extent divides %s%s",
					      each, packs ? ", or is a multiple of it" : "")
				   : ctx_strf(f->k->ctx, "state it: where %s %% %lld == 0", each,
					      (long long)extent));
}

/* Coordinates are divided by it. */
static void check_some(const Flat *f, int mode, const Ix *part)
{
	if (ix_least(part, f->facts) < 1)
		diag(f->k->ctx, f->of->loc, D_E0405, "a part of mode %d of %s may have no element",
		     mode, IN(f->of, OF).val->name);
}

/* Whether a part has this stride: with 1, rows would be neighbours; with 0, several would be the
 * same. */
static bool has_stride(const Layout *parts, int64_t stride)
{
	bool has = false;
	for (int i = 0; i < tup_rank(parts->stride); i++)
		has |= ix_is(tup_get(parts->stride, i)->leaf, stride);
	return has;
}

/* How many parts the tile takes; 0: reported. */
static int packed_parts(const Flat *f, int mode, const Layout *parts, const Ix *x, int64_t extent)
{
	int n = parts_of_tile(f->k->ctx, parts->shape, extent, f->facts);
	bool one = tup_rank(parts->shape) == 1,
	     apart = IN(f->of, OF).at == NULL && !HAS_IN(f->of, INDEX) &&
		     (f->vector || !(has_stride(parts, 0) || has_stride(parts, 1)));
	if (one || (n > 0 && (n == 1 || apart) && ix_divisor(x, f->facts) % extent == 0))
		return n;
	crosses(f, mode, extent, tup_get(parts->shape, 0)->leaf, apart);
	return 0;
}

/* The parts of one mode, whose coordinate is x. */
static void split(Flat *f, int mode, const Layout *l, const Ix *x, int64_t extent)
{
	Ctx *c = f->k->ctx;
	const Layout *parts = layout_flat(c, l), *at[MODES_MOST];
	int n = tup_rank(parts->shape), first = packed_parts(f, mode, parts, x, extent);
	for (int i = 0; i + 1 < n; i++)
		check_some(f, mode, tup_get(parts->shape, i)->leaf);
	for (int i = 0; i < n; i++)
		at[i] = layout_mode(c, parts, i);
	const Layout *packed = first > 1 ? layout_cat(c, at, first) : at[0];
	for (int i = first > 1 ? first - 1 : 0; i < n; i++) {
		const Layout *one = i < first ? packed : at[i];
		const Ix *part = layout_size(c, one);
		add(f, one, i + 1 < n ? ix_mod(c, x, part) : x, i < first ? extent : 1);
		x = ix_div(c, x, part);
	}
	f->packs |= first > 1;
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
	if (l == layout_flat(k->ctx, arg->type->layout))
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
	Flat f = {.k = k, .of = op, .facts = kernel_facts(k), .vector = matrix.n < 2};
	if (layout_rank(all) > MODES_MOST) {
		diag(k->ctx, op->loc, D_E0405, "%s has %d parts of modes, at most %d are taken",
		     tensor->name, layout_rank(all), MODES_MOST);
		return;
	}
	for (int i = 0; i < matrix.n; i++)
		f.vector |= val_extent(op->out, matrix.at[i]) == 1;
	for (int i = 0; i < op->nix; i++) {
		first[i] = f.n;
		split(&f, i, layout_mode(k->ctx, l, i), op->ix[i], val_extent(op->out, i));
	}
	op->nix = 0;
	for (int i = 0; i < f.n; i++)
		op_ix(k, op, f.at[i]);
	const Tup *stride = tup_new(k->ctx, f.stride, f.n);
	const Layout *tile = layout_new(k->ctx, tup_new(k->ctx, f.extent, f.n), stride);
	op->out->type = type_tile(k->ctx, SP_GLOBAL, tensor->type->elem, tile);
	for (int i = 0; i < matrix.n; i++)
		matrix.at[i] = first[matrix.at[i]];
	if (HAS_IN(op, INDEX))
		op_int(k, op, A_GATHER, first[attrs_int(&op->attrs, A_GATHER, 0)]);
	all = layout_cat(k->ctx, f.mode, f.n);
	if (f.packs || tensor->def)
		IN(op, OF).val = tensor_view(k, IN(op, OF).val, all);
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
