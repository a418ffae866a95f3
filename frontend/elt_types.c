/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* elt_types.c - in which type tiles and scalars are computed: f32, unless they are f64, or values
 * of 16 bits that no one widened.
 *     a * gX[m,n]         of a : f16 and f16 (M,N)   ->   %x = mul %a, %X : reg f16
 *     2 * gX[m,n]                                    ->   %x = cvt %X : reg f32 ; mul %z, %x */
#include "frontend/sema.h"

Elem elt_elem(const Value *v)
{
	return is_number(v)        ? EL_F32
	       : v->kind == V_TILE ? v->tile->tiling->tensor->elem
				   : v->val->type->elem;
}

/* Of a type that it keeps: no number, nor a tile of a tensor, which is widened. */
static bool is_typed(const Value *v)
{
	return !is_number(v) && (v->kind != V_TILE || elem_is_wide(elt_elem(v)));
}

/* In which type an operation is: that of its values, if they are of one. Tiles of tensors and
 * numbers follow. f64 is never narrowed. */
Elem elt_computed_in(const Value *args, int n)
{
	Elem all = EL_COUNT;
	for (int i = 0; i < n; i++) {
		Elem e = elt_elem(&args[i]);
		if (!is_typed(&args[i]))
			continue;
		if (elem_is_wide(e) || !elem_computes(e))
			return elem_is_wide(e) ? e : EL_F32;
		all = all == EL_COUNT || all == e ? e : EL_F32;
	}
	return all == EL_COUNT ? EL_F32 : all;
}

static bool report_elem(Sema *s, const char *what, Elem e, const Value *v)
{
	const char *to = elem_rows[e].name;
	const char *help = ctx_strf(s->ctx, "write %s(...) around it%s", to,
				    e == EL_F32 ? ", or convert what comes out" : "");
	if (v->kind == V_SCALAR)
		help = ctx_strf(s->ctx, "declare %s : %s", v->val->name, to);
	else if (!elem_converts(elt_elem(v), e))
		help = ctx_strf(s->ctx, "write %s(f32(...)) around it", to);
	return reject(s, v->loc, D_E0205, "%s computes in %s, this is %s\n%s", what, to,
		      elem_rows[elt_elem(v)].name, help);
}

bool elt_is_f32(Sema *s, const char *what, const Value *v)
{
	return elt_elem(v) == EL_F32 || report_elem(s, what, EL_F32, v);
}

/* Numbers are of any type, and tiles of what holds all that theirs does. */
static bool is_of(const Value *v, Elem e)
{
	Elem has = elt_elem(v);
	return has == e || is_number(v) ||
	       (!is_typed(v) && !elem_pairs(e) && elem_converts(has, e));
}

/* Whether the row is computed in that type, of which all operands are, and by this target. */
bool elt_types_fit(Sema *s, Loc loc, const EltRow *row, const Value *args, Elem e)
{
	Elem has = elt_computes(row->op, e) ? e : EL_F32;
	for (int i = 0; i < row->arity; i++)
		if (!is_of(&args[i], has))
			return report_elem(s, row->name, has, &args[i]);
	Feature f = feature_computes(e);
	return target_takes(s, loc, f,
			    ctx_strf(s->ctx,
				     "write f32(...) around tiles of %s and declare scalars f32, "
				     "or write target %s",
				     elem_rows[e].name, target_names(ctx_arena(s->ctx), f)));
}
