/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify_access.c - does a vector of a tensor's elements lie inside it? A guard that asks for the
 * first element says nothing of those behind it: they are inside where the vector's width divides
 * both the coordinate and the extent, where the guard asks for the last, or by ranges.
 *     if (row < M, col < N) { st.global %D, %c[0] (row * ldd + col) n=2 }
 *     col = 2 * x, N % 2 == 0       ->  col + 1 < N: right
 *     col = 2 * x, ldd % 2 == 0     ->  N may be odd: the last element is not shown to be in %D */
#include "ir/verify.h"

typedef struct {
	Ctx *c;
	const Scope *s;
	const Tup *shape, *stride; /* flat */
	int64_t n;                 /* elements, along mode fast */
	int rank, fast;            /* modes; one of stride 0 counts as none */
	int order[MODES_MOST];     /* in which the modes are looked for */
} Access;

static const Ix *simple(const Access *a, const Ix *x)
{
	return ix_simplify(a->c, x, (IxFacts){.at = a->s->facts.at, .n = a->s->facts.n});
}

static const Ix *extent_of(const Access *a, int m)
{
	return tup_get(a->shape, m)->leaf;
}

static const Ix *stride_of(const Access *a, int m)
{
	return tup_get(a->stride, m)->leaf;
}

static int64_t least(const Access *a, const Ix *x)
{
	int64_t lo, hi;
	ix_range(simple(a, x), (IxFacts){.at = a->s->facts.at, .n = a->s->facts.n}, &lo, &hi);
	return lo;
}

static bool divides(const Access *a, int64_t n, const Ix *x)
{
	return ix_divisor(x, (IxFacts){.at = a->s->facts.at, .n = a->s->facts.n}) % n == 0;
}

static const Ix *minus(const Access *a, const Ix *x, const Ix *y)
{
	return simple(a, ix_sub(a->c, x, y));
}

/* ------------------------------------------------------------------ one coordinate */
/* What a guard says of x: x + room <= extent. */
static bool guard_room(const Access *a, const Ix *guard, const Ix *x, const Ix *extent,
		       int64_t *room)
{
	int64_t above, more;
	if (guard->kind != IX_LT && guard->kind != IX_LE)
		return false;
	if (!ix_is_const(minus(a, guard->a, x), &above))
		return false;
	more = least(a, ix_sub(a->c, extent, guard->b));
	return !__builtin_add_overflow(above, guard->kind == IX_LT, &above) &&
	       !__builtin_add_overflow(more, above, room);
}

/* x + n <= extent, by ranges or by a guard. */
static bool ends_inside(const Access *a, const Ix *x, const Ix *extent, int64_t n)
{
	int64_t room, whole = divides(a, n, x) && divides(a, n, extent) ? 1 : n;
	if (least(a, ix_sub(a->c, extent, x)) >= whole)
		return true;
	for (int i = 0; i < a->s->guards.n; i++)
		if (guard_room(a, a->s->guards.at[i], x, extent, &room) && room >= whole)
			return true;
	return false;
}

static bool coordinate(const Access *a, int m, const Ix *x)
{
	return ends_inside(a, x, extent_of(a, m), m == a->fast ? a->n : 1);
}

/* ------------------------------------------------------------------ the offset as coordinates */
/* x / by where nothing is left over; NULL: not shown. */
static const Ix *quotient(const Access *a, const Ix *x, const Ix *by)
{
	const Ix *q = NULL, *zero = ix_const(a->c, 0);
	int64_t d;
	if (ix_is(by, 1))
		return x;
	if (ix_is_const(by, &d) && d > 0)
		q = simple(a, ix_div(a->c, x, by));
	else if (by->kind == IX_SYM)
		q = minus(a, ix_subst(a->c, x, by->name, ix_const(a->c, 1)),
			  ix_subst(a->c, x, by->name, zero));
	return q && ix_is(minus(a, x, ix_mul(a->c, q, by)), 0) ? q : NULL;
}

/* What of x goes by steps of `by`: the part for mode m where no guard names it. */
static const Ix *part(const Access *a, const Ix *x, const Ix *by)
{
	int64_t d;
	if (ix_is_const(by, &d))
		return d > 0 ? simple(a, ix_div(a->c, x, by)) : NULL;
	if (by->kind != IX_SYM)
		return NULL;
	return minus(a, ix_subst(a->c, x, by->name, ix_const(a->c, 1)),
		     ix_subst(a->c, x, by->name, ix_const(a->c, 0)));
}

static bool inside(const Access *a, int at, const Ix *rest);

static bool inside_with(const Access *a, int at, const Ix *rest, const Ix *x)
{
	int m = a->order[at];
	return x && coordinate(a, m, x) &&
	       inside(a, at + 1, minus(a, rest, ix_mul(a->c, x, stride_of(a, m))));
}

/* The modes from `at` on make up the rest of the offset, each with a coordinate inside. */
static bool inside(const Access *a, int at, const Ix *rest)
{
	int m = a->order[at];
	if (at == a->rank - 1) {
		const Ix *x = quotient(a, rest, stride_of(a, m));
		return x && coordinate(a, m, x);
	}
	for (int i = 0; i < a->s->guards.n; i++) {
		const Ix *guard = a->s->guards.at[i];
		if ((guard->kind == IX_LT || guard->kind == IX_LE) &&
		    inside_with(a, at, rest, guard->a))
			return true;
	}
	return inside_with(a, at, rest, part(a, rest, stride_of(a, m)));
}

/* ------------------------------------------------------------------ one access */
static bool find_fast(Access *a)
{
	int modes = tup_rank(a->shape);
	a->fast = -1;
	for (int m = 0; m < modes && modes <= MODES_MOST; m++) {
		if (ix_is(stride_of(a, m), 1))
			a->fast = m;
		a->rank += !ix_is(stride_of(a, m), 0);
	}
	return a->fast >= 0;
}

/* The contiguous mode is what the others leave, or, where no guard names these, the first. */
static bool all_inside(Access *a, const Ix *offset)
{
	for (int first = 0; first < 2; first++) {
		int n = first;
		for (int m = 0; m < tup_rank(a->shape); m++)
			if (m != a->fast && !ix_is(stride_of(a, m), 0))
				a->order[n++] = m;
		a->order[first ? 0 : n] = a->fast;
		if (inside(a, 0, offset))
			return true;
	}
	return false;
}

static const char *text_of(const Access *a, const Ix *x)
{
	Buf b = {0};
	ix_print(x, &b);
	const char *s = ctx_str(a->c, b.s);
	buf_free(&b);
	return s;
}

/* Under a condition that never holds. */
static bool is_dead(const Scope *s)
{
	for (int i = 0; i < s->guards.n; i++)
		if (ix_is(s->guards.at[i], 0))
			return true;
	return false;
}

/* No name of a program has a blank. */
const Ix *access_index(Ctx *c)
{
	return ix_sym(c, "an index");
}

/* Where it begins, in elements. */
static const Ix *offset_of(Ctx *c, const Op *op, const Layout *tensor)
{
	const Attr *gather = attrs_get(&op->attrs, A_GATHER);
	const Ix *offset = op->ix[op->kind == OP_CP_ASYNC];
	if (!gather)
		return offset;
	const Ix *step = tup_get(tensor->stride, (int)gather->i[0])->leaf;
	return ix_add(c, offset, ix_mul(c, access_index(c), step));
}

const char *access_rule(Ctx *c, const Scope *s, const Op *op)
{
	bool store = op->kind == OP_ST_GLOBAL;
	const Operand *tensor = &op->in[!store];
	const Layout *l = layout_flat(c, tensor->val->type->layout);
	Access a = {.c = c, .s = s, .shape = l->shape, .stride = l->stride};
	a.n = attrs_int(&op->attrs, A_N, 1);
	const Ix *offset = offset_of(c, op, tensor->val->type->layout);
	if (a.n == 1 || is_dead(s))
		return NULL;
	if (!find_fast(&a))
		return "a vector goes along a mode of stride 1, of at most 5 modes";
	if (!divides(&a, a.n, offset))
		return ctx_strf(c,
				"a vector of %d begins at a multiple of %d elements, which %s is "
				"not shown to be",
				(int)a.n, (int)a.n, text_of(&a, offset));
	if (!all_inside(&a, simple(&a, offset)))
		return ctx_strf(c,
				"the last of the %d elements is not shown to lie in %%%s: neither "
				"ranges nor the conditions around it say so",
				(int)a.n, tensor->val->name);
	return NULL;
}
