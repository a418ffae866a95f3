/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* algebra.c - layouts in expressions: tuples, shape:stride, the chain of o, swizzles, and the
 * functions of the algebra, which are the rows of layout/layout_ops.def.
 *     tile_to_shape(Sw<3,3,3> o (8,64):(64,1), (128,64))
 *  -> Sw<3,3,3> o ((8,16),(64,1)):((64,512),(1,0)) */
#include "frontend/sema.h"
#include "runtime/swizzle.h"

#include <string.h>

enum { OFFSET_MAX = 1 << 30, ARGS_MOST = 16 };

static Value value_layout_of(Sema *s, Loc loc, const Layout *l)
{
	Value v = value_of(V_LAYOUT);
	v.layout = layout_checked(s, l, loc);
	return v.layout ? v : value_bad();
}

/* ------------------------------------------------------------------ to the algebra and back */
bool is_layoutish(const Value *v)
{
	return v->kind == V_INT || v->kind == V_TUPLE || v->kind == V_LAYOUT || v->kind == V_LIST ||
	       v->kind == V_ANY || v->kind == V_SWIZZLE || v->kind == V_TENSOR ||
	       v->kind == V_BUFFER;
}

/* False, reported: no operand of the algebra. */
bool to_alg(Sema *s, const Value *v, Alg *out)
{
	*out = (Alg){.kind = ALG_TUP};
	if (v->kind == V_INT)
		out->tup = tup_leaf(s->ctx, v->ix);
	else if (v->kind == V_ANY)
		out->tup = tup_any(s->ctx);
	else if (v->kind == V_TUPLE)
		out->tup = v->tup;
	else if (v->kind == V_LIST)
		*out = *v->list;
	else if (v->kind == V_SWIZZLE)
		*out = (Alg){.kind = ALG_LAYOUT, .layout = v->layout};
	else {
		want(s, v, is_layoutish(v) ? v->kind : V_LAYOUT, "an operand of the algebra");
		*out = (Alg){.kind = ALG_LAYOUT,
			     .layout = is_layoutish(v) ? value_layout(s, v) : NULL};
		return out->layout;
	}
	return true;
}

static Value of_alg(Sema *s, Loc loc, const Alg *a)
{
	Value v = value_of(V_TUPLE);
	v.tup = a->tup;
	if (a->kind == ALG_LAYOUT)
		return value_layout_of(s, loc, a->layout);
	if (a->kind == ALG_LIST) {
		Alg *list = NEW(s->arena, Alg), *at = NEWN(s->arena, Alg, a->n + 1);
		for (int i = 0; i < a->n; i++)
			at[i] = a->at[i];
		*list = (Alg){.kind = ALG_LIST, .at = at, .n = a->n};
		v = value_of(V_LIST);
		v.list = list;
		return v;
	}
	if (!tup_is_leaf(a->tup) || a->tup->basis)
		return v;
	return tup_is_any(a->tup) ? value_of(V_ANY) : value_ix(a->tup->leaf);
}

Value layout_call(Sema *s, Loc loc, int op, const Value *args, int n)
{
	Alg at[ARGS_MOST];
	AlgResult r;
	const char *why = NULL;
	for (int i = 0; i < n; i++)
		if (!to_alg(s, &args[i], &at[i]))
			return value_bad();
	if (layout_op_apply(s->ctx, op, at, n, &r, &why))
		return of_alg(s, loc, &r.value);
	return rejected(s, loc, D_E0209, "%s", why);
}

/* ------------------------------------------------------------------ tuples */
/* All integers: a tuple; layouts among them: a list, which is a tiler. */
Value layout_tuple(Sema *s, Loc loc, const Value *elements, int n)
{
	bool list = false;
	Alg *at = NEWN(s->arena, Alg, n + 1), all = {.kind = ALG_LIST, .at = at, .n = n};
	const Tup **tups = NEWN(s->arena, const Tup *, n + 1);
	for (int i = 0; i < n; i++) {
		ValueKind kind = elements[i].kind;
		if (kind != V_TUPLE && kind != V_LAYOUT && kind != V_LIST && kind != V_ANY &&
		    !want(s, &elements[i], V_INT, "an element of a tuple"))
			return value_bad();
		if (!to_alg(s, &elements[i], &at[i]))
			return value_bad();
		list |= at[i].kind != ALG_TUP;
		tups[i] = at[i].tup;
	}
	if (!list)
		all = (Alg){.kind = ALG_TUP, .tup = tup_new(s->ctx, tups, n)};
	return of_alg(s, loc, &all);
}

Value layout_basis(Sema *s, Loc loc, const Value *v, int64_t index)
{
	Value r = value_of(V_TUPLE);
	Alg a;
	uint64_t basis;
	if (v->kind != V_TUPLE && !want(s, v, V_INT, "what a basis element scales"))
		return value_bad();
	if (!to_alg(s, v, &a) || !tup_is_leaf(a.tup))
		return rejected(s, loc, D_E0203, "a basis element scales one integer");
	basis = a.tup->basis;
	if (index > 254 || !basis_add(&basis, (int)index))
		return rejected(s, loc, D_E0211, "up to 8 numbers in 0..254 follow '@'");
	r.tup = tup_basis(s->ctx, a.tup->leaf, basis);
	return r;
}

static int wrapped(const Node *a, const Node *b)
{
	return a->parens < b->parens ? a->parens : b->parens;
}

/* Where shape and stride both stand in parentheses, they are tuples of one: (4):(1). */
static void add_parens(Sema *s, const Node *const node[2], const Tup *tup[2])
{
	int n = node[0]->kids.n;
	const Tup **at[2];
	bool inside = node[0]->kind == N_TUPLE && node[1]->kind == N_TUPLE &&
		      node[1]->kids.n == n && tup[0]->n == n && tup[1]->n == n;
	for (int side = 0; side < 2; side++)
		at[side] = NEWN(s->arena, const Tup *, n + 1);
	for (int i = 0; inside && i < n; i++) {
		const Tup *both[2] = {tup[0]->at[i], tup[1]->at[i]};
		add_parens(s, (const Node *[2]){node[0]->kids.at[i], node[1]->kids.at[i]}, both);
		at[0][i] = both[0];
		at[1][i] = both[1];
	}
	for (int side = 0; side < 2; side++) {
		if (inside)
			tup[side] = tup_new(s->ctx, at[side], n);
		for (int i = wrapped(node[0], node[1]); i > 0; i--)
			tup[side] = tup_new(s->ctx, &tup[side], 1);
	}
}

Value layout_colon(Sema *s, const Node *colon, const Value *shape, const Value *stride)
{
	const Value *both[2] = {shape, stride};
	const Node *node[2] = {colon->kids.at[0], colon->kids.at[1]};
	const Tup *tup[2];
	for (int i = 0; i < 2; i++) {
		if (both[i]->kind == V_INT)
			tup[i] = tup_leaf(s->ctx, both[i]->ix);
		else if (want(s, both[i], V_TUPLE, i ? "a stride" : "a shape"))
			tup[i] = both[i]->tup;
		else
			return value_bad();
	}
	add_parens(s, node, tup);
	if (!tup_congruent(tup[0], tup[1]))
		return rejected(
			s, colon->loc, D_E0204,
			"shape and stride are not of one form\n"
			"write a stride for each part of the shape, as ((8,KB),N):((0,N),1)");
	if (tup_has_basis(tup[0]))
		return rejected(s, colon->loc, D_E0203, "an extent is no basis element");
	return value_layout_of(s, colon->loc, layout_new(s->ctx, tup[0], tup[1]));
}

/* ------------------------------------------------------------------ swizzles and chains */
static Value value_swizzle(Sema *s, Swizzle sw)
{
	Value v = value_of(V_SWIZZLE);
	const Tup *one = tup_int(s->ctx, 1);
	v.layout = layout_swizzled(s->ctx, sw, ix_const(s->ctx, 0), layout_left(s->ctx, one));
	return v;
}

Value swizzle_template(Sema *s, Loc loc, Value *args, int n)
{
	static const char *const what[] = {"B of a swizzle", "M of a swizzle", "S of a swizzle"};
	int64_t v[3];
	if (n != 3)
		return rejected(s, loc, D_E0206, "a swizzle has three numbers, Sw<B,M,S>");
	for (int i = 0; i < 3; i++)
		if (!want_int(s, &args[i], 0, 10, what[i], &v[i]))
			return value_bad();
	if (v[0] > v[2])
		return rejected(s, loc, D_E0211,
				"the swizzle reads bits that it changes: S is at least B");
	return value_swizzle(s, (Swizzle){(int)v[0], (int)v[1], (int)v[2]});
}

bool swizzle_named(const char *name, int *bytes)
{
	for (size_t i = 0; i < COUNTOF(swizzle_rows); i++)
		if (swizzle_rows[i].bytes && !strcmp(name, swizzle_rows[i].name)) {
			if (bytes)
				*bytes = swizzle_rows[i].bytes;
			return true;
		}
	return false;
}

/* In bytes the swizzle of 16 << B bytes is Sw<B,4,3>; M counts down by log2 of the element. */
Value swizzle_bytes(Sema *s, Loc loc, int bytes)
{
	int b = swizzle_row(bytes)->bits, m = 4;
	if (!s->has_elem)
		return rejected(s, loc, D_E0203,
				"swizzle%d depends on an element type, and none is given here\n"
				"for 16-bit types write Sw<%d,3,3>",
				bytes, b);
	for (int bits = elem_rows[s->elem].bits; bits > 8; bits /= 2)
		m--;
	return value_swizzle(s, (Swizzle){b, m, 3});
}

static Value compose_swizzle(Sema *s, Loc loc, const Value *sw, const Ix *offset, const Value *v)
{
	const Layout *l = value_layout(s, v);
	int64_t shift;
	if (!l)
		return value_bad();
	if (!layout_is_plain(l) || tup_has_basis(l->stride))
		return rejected(s, loc, D_E0209,
				"a swizzle stands in front of a plain layout, not of %s",
				layout_str(s->ctx, l));
	if (ix_is_const(offset, &shift) && (shift < 0 || shift > OFFSET_MAX))
		return rejected(s, loc, D_E0211, "the offset of a layout is not in 0..%d",
				OFFSET_MAX);
	l = layout_swizzled(s->ctx, sw->layout->swizzle, offset, l);
	return value_layout_of(s, loc, l);
}

/* `A o 2 o B`: an integer between two o is an offset; a tuple is, where B gives coordinates. */
static bool is_offset(const Value *v, int i, const Value *behind)
{
	bool coords = behind->kind == V_LAYOUT && tup_has_basis(behind->layout->stride);
	return i > 0 && (v[i].kind == V_INT || (v[i].kind == V_TUPLE && coords));
}

/* From the right; an integer at the end is the layout n:1. */
Value layout_chain(Sema *s, Loc loc, const Value *v, int n)
{
	Value r = v[n - 1];
	for (int i = 0; i < n; i++)
		if (v[i].kind == V_BAD)
			return value_bad();
	for (int i = n - 2; i >= 0 && r.kind != V_BAD; i--) {
		Value offset = value_int(s, 0);
		bool shifted = is_offset(v, i, &r);
		if (shifted)
			offset = v[i--];
		r.loc = loc;
		if (v[i].kind == V_SWIZZLE && offset.kind == V_INT)
			r = compose_swizzle(s, loc, &v[i], offset.ix, &r);
		else if (shifted)
			r = layout_call(s, loc, LAYOUT_OP_make_composed_layout,
					(Value[]){v[i], offset, r}, 3);
		else
			r = layout_call(s, loc, LAYOUT_OP_composition, (Value[]){v[i], r}, 2);
	}
	return r;
}
