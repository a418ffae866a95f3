/* algebra.c - layouts in expressions: shape:stride, the chain of o, swizzles, and the functions of
 * the algebra, each one row that calls ir/'s.
 *     tile_to_shape(Sw<3,3,3> o (8,64):(64,1), (128,64))
 *  -> Sw<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0)) */
#include "frontend/sema.h"

#include <string.h>

enum { OFFSET_MAX = 1 << 30, RANK_BY_MODE = 8 };

static Value value_layout_of(Sema *s, Loc loc, const Layout *l, const char *const *why)
{
	Value v = value_of(V_LAYOUT);
	if (!l) {
		diag(s->ctx, loc, D_E0209, "%s", why && *why ? *why : "these layouts do not fit");
		return value_bad();
	}
	v.layout = layout_checked(s, l, loc);
	return v.layout ? v : value_bad();
}

Value layout_colon(Sema *s, Loc loc, const Value *shape, const Value *stride)
{
	const Value *both[2] = {shape, stride};
	const Tup *tup[2];
	for (int i = 0; i < 2; i++) {
		if (both[i]->kind == V_BAD)
			return value_bad();
		if (both[i]->kind == V_INT)
			tup[i] = tup_leaf(s->ctx, both[i]->ix);
		else if (want(s, both[i], V_TUPLE, i ? "a stride" : "a shape"))
			tup[i] = both[i]->tup;
		else
			return value_bad();
	}
	if (!tup_congruent(tup[0], tup[1])) {
		diag(s->ctx, loc, D_E0204, "shape and stride are not of one form");
		return value_bad();
	}
	return value_layout_of(s, loc, layout_new(s->ctx, tup[0], tup[1]), NULL);
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
	if (n != 3) {
		diag(s->ctx, loc, D_E0206, "a swizzle has three numbers, Sw<B,M,S>");
		return value_bad();
	}
	for (int i = 0; i < 3; i++)
		if (!want_int(s, &args[i], 0, 10, what[i], &v[i]))
			return value_bad();
	return value_swizzle(s, (Swizzle){(int)v[0], (int)v[1], (int)v[2]});
}

bool swizzle_named(const char *name, int *bytes)
{
	static const struct {
		const char *name;
		int bytes;
	} rows[] = {{"swizzle32", 32}, {"swizzle64", 64}, {"swizzle128", 128}};
	for (size_t i = 0; i < COUNTOF(rows); i++)
		if (!strcmp(name, rows[i].name)) {
			if (bytes)
				*bytes = rows[i].bytes;
			return true;
		}
	return false;
}

/* In bytes the swizzle of 16 << B bytes is Sw<B,4,3>; M counts down by log2 of the element. */
Value swizzle_bytes(Sema *s, Loc loc, int bytes)
{
	int b = bytes == 32 ? 1 : bytes == 64 ? 2 : 3, m = 4;
	if (!s->has_elem) {
		DiagMsg *d =
			diag(s->ctx, loc, D_E0203,
			     "swizzle%d depends on an element type, and none is given here", bytes);
		diag_remedy(s->ctx, d, "for 16-bit types write Sw<%d,3,3>", b);
		return value_bad();
	}
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
	if (l->swizzle.b || !ix_is(l->offset, 0)) {
		diag(s->ctx, loc, D_E0209, "the right operand has a swizzle or an offset already");
		return value_bad();
	}
	if (!ix_is_const(offset, &shift) || shift < 0 || shift > OFFSET_MAX) {
		diag(s->ctx, loc, D_E0211, "the offset of a layout is not in 0..%d", OFFSET_MAX);
		return value_bad();
	}
	l = layout_swizzled(s->ctx, sw->layout->swizzle, offset, l);
	return value_layout_of(s, loc, l, NULL);
}

static Value compose_two(Sema *s, Loc loc, const Value *a, const Value *b)
{
	const char *why = NULL;
	const Layout *x = value_layout(s, a), *y = x ? value_layout(s, b) : NULL;
	if (!y)
		return value_bad();
	return value_layout_of(s, loc, layout_composition(s->ctx, x, y, &why), &why);
}

/* From the right: `A o 2 o B` has the offset 2, any other integer is the layout n:1. */
Value layout_chain(Sema *s, Loc loc, Value *v, int n)
{
	Value r = v[n - 1];
	for (int i = 0; i < n; i++)
		if (v[i].kind == V_BAD)
			return value_bad();
	for (int i = n - 2; i >= 0 && r.kind != V_BAD; i--) {
		const Ix *offset = ix_const(s->ctx, 0);
		bool shifted = v[i].kind == V_INT && i > 0;
		if (shifted)
			offset = v[i--].ix;
		r.loc = loc;
		if (v[i].kind == V_SWIZZLE)
			r = compose_swizzle(s, loc, &v[i], offset, &r);
		else if (shifted) {
			diag(s->ctx, v[i].loc, D_E0209, "an offset stands behind a swizzle");
			return value_bad();
		} else
			r = compose_two(s, loc, &v[i], &r);
	}
	return r;
}

/* ------------------------------------------------------------------ operators */
typedef const Layout *(*Binary)(Ctx *c, const Layout *a, const Layout *b, const char **why);

static Value apply(Sema *s, Loc loc, Binary op, const Value *a, const Value *b)
{
	const char *why = NULL;
	const Layout *x = value_layout(s, a), *y = x ? value_layout(s, b) : NULL;
	return y ? value_layout_of(s, loc, op(s->ctx, x, y, &why), &why) : value_bad();
}

/* By mode, as CuTe does with a tuple for a tiler. */
static Value apply_by_mode(Sema *s, Loc loc, Binary op, const Layout *a, const Tup *tiler)
{
	const Layout *modes[RANK_BY_MODE];
	const char *why = NULL;
	int n = layout_rank(a);
	if (n != tup_rank(tiler) || n > RANK_BY_MODE) {
		diag(s->ctx, loc, D_E0206, "a layout of rank %d and a tiler of rank %d", n,
		     tup_rank(tiler));
		return value_bad();
	}
	for (int i = 0; i < n; i++) {
		const Layout *by = layout_left(s->ctx, tup_get(tiler, i));
		modes[i] = op(s->ctx, layout_mode(s->ctx, a, i), by, &why);
		if (!modes[i])
			return value_layout_of(s, loc, NULL, &why);
	}
	return value_layout_of(s, loc, layout_cat(s->ctx, modes, n), NULL);
}

static Value tiled(Sema *s, Loc loc, Binary op, const Value *a, const Value *b)
{
	const Layout *l;
	if (b->kind != V_TUPLE)
		return apply(s, loc, op, a, b);
	l = value_layout(s, a);
	if (!l || !value_layout(s, b))
		return value_bad();
	return apply_by_mode(s, loc, op, l, b->tup);
}

Value layout_divide(Sema *s, Loc loc, const Value *a, const Value *b)
{
	return tiled(s, loc, layout_logical_divide, a, b);
}

Value layout_product(Sema *s, Loc loc, const Value *a, const Value *b)
{
	return apply(s, loc, layout_logical_product, a, b);
}

/* ------------------------------------------------------------------ functions */
static Value call_divide(Sema *s, Loc loc, Value *v, int n)
{
	(void)n;
	return layout_divide(s, loc, &v[0], &v[1]);
}

static Value call_product(Sema *s, Loc loc, Value *v, int n)
{
	(void)n;
	return layout_product(s, loc, &v[0], &v[1]);
}

static Value call_blocked(Sema *s, Loc loc, Value *v, int n)
{
	(void)n;
	return apply(s, loc, layout_blocked_product, &v[0], &v[1]);
}

static Value call_composition(Sema *s, Loc loc, Value *v, int n)
{
	(void)n;
	return compose_two(s, loc, &v[0], &v[1]);
}

static Value call_coalesce(Sema *s, Loc loc, Value *v, int n)
{
	const Layout *l = value_layout(s, &v[0]);
	(void)n;
	return l ? value_layout_of(s, loc, layout_coalesce(s->ctx, l), NULL) : value_bad();
}

static Value call_complement(Sema *s, Loc loc, Value *v, int n)
{
	const char *why = NULL;
	const Layout *l = value_layout(s, &v[0]);
	if (!l)
		return value_bad();
	if (n == 2 && !want(s, &v[1], V_INT, "the size to fill"))
		return value_bad();
	const Ix *to = n == 2 ? v[1].ix : layout_cosize(s->ctx, l);
	return value_layout_of(s, loc, layout_complement(s->ctx, l, to, &why), &why);
}

static Value call_right_inverse(Sema *s, Loc loc, Value *v, int n)
{
	const char *why = NULL;
	const Layout *l = value_layout(s, &v[0]);
	(void)n;
	return l ? value_layout_of(s, loc, layout_right_inverse(s->ctx, l, &why), &why)
		 : value_bad();
}

static Value call_tile_to_shape(Sema *s, Loc loc, Value *v, int n)
{
	const char *why = NULL;
	const Layout *l = value_layout(s, &v[0]);
	(void)n;
	if (!l || !want(s, &v[1], V_TUPLE, "the shape") || !value_layout(s, &v[1]))
		return value_bad();
	return value_layout_of(s, loc, layout_tile_to_shape(s->ctx, l, v[1].tup, NULL, &why), &why);
}

static Value call_size(Sema *s, Loc loc, Value *v, int n)
{
	const Layout *l = value_layout(s, &v[0]);
	(void)loc;
	(void)n;
	return l ? value_ix(layout_size(s->ctx, l)) : value_bad();
}

static Value call_cosize(Sema *s, Loc loc, Value *v, int n)
{
	const Layout *l = value_layout(s, &v[0]);
	(void)loc;
	(void)n;
	return l ? value_ix(layout_cosize(s->ctx, l)) : value_bad();
}

static Value call_rank(Sema *s, Loc loc, Value *v, int n)
{
	const Layout *l = value_layout(s, &v[0]);
	(void)loc;
	(void)n;
	return l ? value_int(s, layout_rank(l)) : value_bad();
}

const FunctionRow layout_functions[] = {
	{"coalesce", 1, 1, call_coalesce},
	{"composition", 2, 2, call_composition},
	{"complement", 1, 2, call_complement},
	{"logical_divide", 2, 2, call_divide},
	{"logical_product", 2, 2, call_product},
	{"blocked_product", 2, 2, call_blocked},
	{"right_inverse", 1, 1, call_right_inverse},
	{"tile_to_shape", 2, 2, call_tile_to_shape},
	{"size", 1, 1, call_size},
	{"cosize", 1, 1, call_cosize},
	{"rank", 1, 1, call_rank},
	{NULL, 0, 0, NULL},
};

const FunctionRow *layout_function(const char *name)
{
	for (const FunctionRow *f = layout_functions; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}
