/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* value.c - what expressions mean: making values, asking for a kind, saying them in text. */
#include "frontend/sema.h"

#include <inttypes.h>

const ValueRow value_rows[V_COUNT] = {
#define VALUE(id, text, help) [V_##id] = {text, help},
#include "frontend/values.def"
};

const char *value_text(const Value *v)
{
	return value_rows[v->kind].text;
}

Value value_of(ValueKind kind)
{
	return (Value){.kind = kind, .loc = NOLOC};
}

Value value_bad(void)
{
	return value_of(V_BAD);
}

Value value_ix(const Ix *x)
{
	return (Value){.kind = V_INT, .loc = NOLOC, .ix = x};
}

Value value_int(Sema *s, int64_t v)
{
	return value_ix(ix_const(s->ctx, v));
}

bool reject(Sema *s, Loc loc, DiagId id, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vdiag(s->ctx, loc, id, fmt, ap);
	va_end(ap);
	return false;
}

bool want(Sema *s, const Value *v, ValueKind kind, const char *what)
{
	if (v->kind != kind && v->kind != V_BAD)
		reject(s, v->loc, D_E0203, "%s is %s, this is %s", what, value_rows[kind].text,
		       value_text(v));
	return v->kind == kind;
}

bool want_int(Sema *s, const Value *v, int64_t lo, int64_t hi, const char *what, int64_t *out)
{
	if (!want(s, v, V_INT, what))
		return false;
	if (!ix_is_const(v->ix, out))
		return reject(s, v->loc, D_E0203,
			      "%s is known only at run time\n"
			      "write a number, or a const: const bM = 128;",
			      what);
	if (*out >= lo && *out <= hi)
		return true;
	return reject(s, v->loc, D_E0211, "%s is %" PRId64 "; it must be in %" PRId64 "..%" PRId64,
		      what, *out, lo, hi);
}

const char *value_str(Sema *s, const Value *v)
{
	Buf b = {0};
	switch (v->kind) {
	case V_INT:
		return ix_text(s->ctx, v->ix);
	case V_REAL:
		return ctx_strf(s->ctx, "%.9g", v->real);
	case V_STR:
	case V_WORD:
		return v->str;
	case V_TUPLE:
		return tup_text(s->ctx, v->tup);
	case V_LAYOUT:
		return layout_str(s->ctx, v->layout);
	case V_LIST:
		alg_print(v->list, &b);
		return ctx_buf(s->ctx, &b);
	case V_ANY:
		return "_";
	case V_SWIZZLE:
		return ctx_strf(s->ctx, "Sw<%d,%d,%d>", v->layout->swizzle.b, v->layout->swizzle.m,
				v->layout->swizzle.s);
	case V_ELEM:
		return elem_rows[v->elem].name;
	case V_TENSOR:
		return ctx_strf(s->ctx, "%s %s", elem_rows[v->tensor->elem].name,
				layout_str(s->ctx, v->tensor->layout));
	case V_BUFFER:
		type_print(v->buffer->type, &b);
		return ctx_buf(s->ctx, &b);
	case V_MMA:
		if (v->mma->open)
			return mma_text(s, v->mma);
		atom_print(v->mma->atom, &b);
		return ctx_buf(s->ctx, &b);
	default:
		return value_text(v);
	}
}

/* ------------------------------------------------------------------ layouts and shapes */
enum { LAYOUT_BITS = 48 };

/* Of a leaf; one that is known at run time counts as `otherwise`. */
static int64_t leaf_value(const Tup *t, int64_t otherwise)
{
	int64_t v;
	return ix_is_const(t->leaf, &v) ? v : otherwise;
}

static bool leaves_in(const Tup *t, int64_t lo, int64_t hi)
{
	if (tup_is_leaf(t))
		return leaf_value(t, lo) >= lo && leaf_value(t, lo) <= hi;
	for (int i = 0; i < t->n; i++)
		if (!leaves_in(t->at[i], lo, hi))
			return false;
	return true;
}

/* Size, and the largest offset; false where one of them passes 2^LAYOUT_BITS. */
static bool measure(const Tup *shape, const Tup *stride, int64_t *size, int64_t *last)
{
	const int64_t most = (int64_t)1 << LAYOUT_BITS;
	if (!tup_is_leaf(shape)) {
		for (int i = 0; i < shape->n; i++)
			if (!measure(shape->at[i], stride->at[i], size, last))
				return false;
		return true;
	}
	int64_t n = leaf_value(shape, 1), d = leaf_value(stride, 0), step;
	if (__builtin_mul_overflow(*size, n, size) || __builtin_mul_overflow(n - 1, d, &step) ||
	    __builtin_add_overflow(*last, step, last))
		return false;
	return *size <= most && *last <= most;
}

const Layout *layout_checked(Sema *s, const Layout *l, Loc loc)
{
	const int64_t most = (int64_t)1 << LAYOUT_BITS;
	int64_t size = 1, last = 0;
	if (!leaves_in(l->shape, 1, most))
		reject(s, loc, D_E0211, "an extent of a layout is not in 1..2^%d", LAYOUT_BITS);
	else if (!leaves_in(l->stride, 0, most))
		reject(s, loc, D_E0211, "a stride of a layout is not in 0..2^%d", LAYOUT_BITS);
	else if (!measure(l->shape, l->stride, &size, &last))
		reject(s, loc, D_E0211, "this layout reaches beyond 2^%d", LAYOUT_BITS);
	else
		return l;
	return NULL;
}

bool layout_in_memory(Sema *s, const Layout *l, Loc loc)
{
	const char *what = l->inner                                ? "an inner layout"
			   : l->origin || tup_has_basis(l->stride) ? "coordinates for offsets"
								   : NULL;
	if (what)
		reject(s, loc, D_E0203, "what lies in memory has no layout with %s", what);
	return !what;
}

const Layout *value_layout(Sema *s, const Value *v)
{
	if (v->kind == V_LAYOUT)
		return v->layout;
	if (v->kind == V_TENSOR)
		return v->tensor->layout;
	if (v->kind == V_BUFFER)
		return v->buffer->type->layout;
	if (v->kind != V_TUPLE && v->kind != V_INT) {
		want(s, v, V_LAYOUT, "this operand");
		return NULL;
	}
	const Tup *shape = v->kind == V_TUPLE ? v->tup : tup_leaf(s->ctx, v->ix);
	if (!leaves_in(shape, 1, (int64_t)1 << LAYOUT_BITS)) {
		reject(s, v->loc, D_E0211, "an extent of a shape is not in 1..2^%d", LAYOUT_BITS);
		return NULL;
	}
	return layout_checked(s, layout_left(s->ctx, shape), v->loc);
}

int64_t shape_extent(const Layout *l, int mode)
{
	return tup_get(l->shape, mode)->leaf->value;
}

const Layout *shape_of(Sema *s, const Layout *l)
{
	const Tup *at[RANK_MAX];
	int n = layout_rank(l);
	if (n > RANK_MAX)
		panic("a tile of rank %d", n);
	for (int i = 0; i < n; i++)
		at[i] = tup_leaf(s->ctx, layout_size(s->ctx, layout_mode(s->ctx, l, i)));
	return layout_left(s->ctx, n == 1 ? at[0] : tup_new(s->ctx, at, n));
}

const char *shape_str(Sema *s, const Layout *l)
{
	return tup_text(s->ctx, shape_of(s, l)->shape);
}

bool shape_same(Sema *s, const Layout *a, const Layout *b)
{
	return layout_rank(a) == layout_rank(b) && shape_of(s, a) == shape_of(s, b);
}
