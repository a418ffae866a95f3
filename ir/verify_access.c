/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify_access.c - does a vector of a tensor's elements lie inside it? A guard that asks for the
 * first element says nothing of those after it: they are inside where the vector's width divides
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
	int fast;                  /* the contiguous mode */
	unsigned moved;            /* the modes whose stride is not 0, bit by bit */
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
	return ix_least(simple(a, x), (IxFacts){.at = a->s->facts.at, .n = a->s->facts.n});
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

/* A guard that says x + n <= extent. */
static bool guarded(const Access *a, const Ix *x, const Ix *extent, int64_t n)
{
	int64_t room;
	for (int i = 0; i < a->s->guards.n; i++)
		if (guard_room(a, a->s->guards.at[i], x, extent, &room) && room >= n)
			return true;
	return false;
}

/* x + n <= extent, by ranges or by a guard, whose normal form may have other sides: h / 4 < G is
 * h < G * 4 there. */
static bool ends_inside(const Access *a, const Ix *x, const Ix *extent, int64_t n)
{
	int64_t whole = divides(a, n, x) && divides(a, n, extent) ? 1 : n;
	const Ix *first = simple(a, ix_new(a->c, IX_LT, x, extent));
	return least(a, ix_sub(a->c, extent, x)) >= whole || guarded(a, x, extent, whole) ||
	       (whole == 1 && first->kind == IX_LT && guarded(a, first->a, first->b, 1));
}

static bool coordinate(const Access *a, int m, const Ix *x)
{
	return ends_inside(a, x, extent_of(a, m), m == a->fast ? a->n : 1);
}

/* ------------------------------------------------------------------ the offset as coordinates */
/* Of each term what its factor has of d: of 9 * b + c by 8 it is b. */
static const Ix *whole_part(const Access *a, const Ix *x, int64_t d)
{
	int64_t factor;
	if (x->kind == IX_ADD)
		return ix_add(a->c, whole_part(a, x->a, d), whole_part(a, x->b, d));
	if (x->kind == IX_MUL && ix_is_const(x->b, &factor) && factor > 0)
		return ix_mul(a->c, x->a, ix_const(a->c, factor / d));
	return ix_const(a->c, 0);
}

static const Ix *part_const(const Access *a, const Ix *x, int64_t d)
{
	const Ix *by = ix_const(a->c, d), *whole = whole_part(a, x, d);
	const Ix *rest = minus(a, x, ix_mul(a->c, whole, by));
	return simple(a, ix_add(a->c, whole, ix_div(a->c, rest, by)));
}

/* What of x goes by steps of `by`: the part for mode m where no guard names it. A stride that is a
 * product is taken factor by factor: of K * M * h + K * row by M * K it is h. */
static const Ix *part(const Access *a, const Ix *x, const Ix *by)
{
	int64_t d;
	if (ix_is_const(by, &d))
		return d > 0 ? part_const(a, x, d) : NULL;
	if (by->kind == IX_MUL) {
		const Ix *of = part(a, x, by->a);
		return of ? part(a, of, by->b) : NULL;
	}
	if (by->kind != IX_SYM)
		return NULL;
	return minus(a, ix_subst(a->c, x, by->name, ix_const(a->c, 1)),
		     ix_subst(a->c, x, by->name, ix_const(a->c, 0)));
}

/* x / by where nothing is left over; NULL: not shown. */
static const Ix *quotient(const Access *a, const Ix *x, const Ix *by)
{
	const Ix *q = part(a, x, by);
	return q && ix_is(minus(a, x, ix_mul(a->c, q, by)), 0) ? q : NULL;
}

static bool inside(const Access *a, unsigned left, const Ix *rest);

static bool inside_with(const Access *a, unsigned left, int m, const Ix *rest, const Ix *x)
{
	return x && coordinate(a, m, x) &&
	       inside(a, left & ~(1u << m), minus(a, rest, ix_mul(a->c, x, stride_of(a, m))));
}

/* A guard names the coordinate along m. */
static bool inside_by_guard(const Access *a, unsigned left, int m, const Ix *rest)
{
	for (int i = 0; i < a->s->guards.n; i++) {
		const Ix *guard = a->s->guards.at[i];
		if ((guard->kind == IX_LT || guard->kind == IX_LE) &&
		    inside_with(a, left, m, rest, guard->a))
			return true;
	}
	return false;
}

/* The first of the modes that are left; the contiguous one after the others. */
static int next_mode(const Access *a, unsigned left)
{
	for (int m = 0; m < tup_rank(a->shape); m++)
		if (m != a->fast && left >> m & 1)
			return m;
	return a->fast;
}

/* A coordinate along mode m and those that follow it without a gap: of m % 8 and m / 8 it is m. */
static bool inside_joined(const Access *a, unsigned left, int m, const Ix *rest)
{
	const Ix *step = stride_of(a, m), *x = part(a, rest, step), *extent = extent_of(a, m);
	bool shown = false;
	for (int i = m + 1; x && !shown && i != a->fast && left >> i & 1; i++) {
		if (!ix_is(minus(a, stride_of(a, i), ix_mul(a->c, extent, step)), 0))
			break;
		left &= ~(1u << m | 1u << i);
		extent = ix_mul(a->c, extent, extent_of(a, i));
		shown = ends_inside(a, x, extent, 1) &&
			inside(a, left, minus(a, rest, ix_mul(a->c, x, step)));
	}
	return shown;
}

/* The modes that are left make up the rest of the offset, each with a coordinate inside. Guards
 * name some of them; of the others each takes the steps of its stride, and the last takes all. */
static bool inside(const Access *a, unsigned left, const Ix *rest)
{
	int next = next_mode(a, left);
	const Ix *step = stride_of(a, next);
	if (left == 1u << next) {
		const Ix *x = quotient(a, rest, step);
		return x && coordinate(a, next, x);
	}
	for (int m = 0; m < tup_rank(a->shape); m++)
		if (left >> m & 1 && inside_by_guard(a, left, m, rest))
			return true;
	return inside_with(a, left, next, rest, part(a, rest, step)) ||
	       (next != a->fast && inside_joined(a, left, next, rest));
}

/* ------------------------------------------------------------------ one access */
static bool find_fast(Access *a)
{
	int modes = tup_rank(a->shape);
	a->fast = -1;
	for (int m = 0; m < modes && modes <= MODES_MOST; m++) {
		if (ix_is(stride_of(a, m), 1))
			a->fast = m;
		a->moved |= (unsigned)!ix_is(stride_of(a, m), 0) << m;
	}
	return a->fast >= 0;
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
				(int)a.n, (int)a.n, ix_text(c, offset));
	if (!inside(&a, a.moved, simple(&a, offset)))
		return ctx_strf(c,
				"the last of the %d elements is not shown to lie in %%%s: neither "
				"ranges nor the conditions around it say so",
				(int)a.n, tensor->val->name);
	return NULL;
}
