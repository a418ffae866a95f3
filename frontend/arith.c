/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* arith.c - integers: constants are computed here, with every overflow reported; what the
 * arguments bind stays an index expression.
 *     (M + bM - 1) / bM   ->   (M + 127) / 128 */
#include "frontend/sema.h"

#include <stdlib.h>
#include <string.h>

static Value out_of_range(Sema *s, Loc loc)
{
	diag(s->ctx, loc, D_E0207, "this does not fit 64 bits");
	return value_bad();
}

static bool fold(const char *op, int64_t a, int64_t b, int64_t *out)
{
	switch (*op) {
	case '+':
		return !__builtin_add_overflow(a, b, out);
	case '-':
		return !__builtin_sub_overflow(a, b, out);
	default:
		return !__builtin_mul_overflow(a, b, out);
	}
}

static bool divisor_is_right(Sema *s, Loc loc, const Ix *b)
{
	int64_t v;
	if (!ix_is_const(b, &v))
		diag(s->ctx, loc, D_E0207, "the divisor is known only at run time");
	else if (v == 0)
		diag(s->ctx, loc, D_E0207, "division by zero");
	else if (v < 0)
		diag(s->ctx, loc, D_E0207,
		     "the divisor is negative; / and %% floor, and take "
		     "divisors above 0");
	else
		return true;
	return false;
}

/* a > b is b < a */
static const struct {
	const char *op;
	IxKind kind;
	bool swap;
} kinds[] = {
	{"+", IX_ADD, false},   {"*", IX_MUL, false},   {"/", IX_DIV, false},  {"%", IX_MOD, false},
	{"<", IX_LT, false},    {"<=", IX_LE, false},   {">", IX_LT, true},    {">=", IX_LE, true},
	{"==", IX_EQ, false},   {"!=", IX_NE, false},   {"&&", IX_AND, false}, {"||", IX_OR, false},
	{"min", IX_MIN, false}, {"max", IX_MAX, false},
};

Value int_binary(Sema *s, Loc loc, const char *op, const Value *a, const Value *b)
{
	int64_t x, y, r;
	bool both = ix_is_const(a->ix, &x) && ix_is_const(b->ix, &y);
	if (both && strchr("+-*", *op))
		return fold(op, x, y, &r) ? value_int(s, r) : out_of_range(s, loc);
	if ((*op == '/' || *op == '%') && !divisor_is_right(s, b->loc, b->ix))
		return value_bad();
	if (!strcmp(op, "-")) {
		if (ix_is_const(b->ix, &y) && y == INT64_MIN)
			return out_of_range(s, loc);
		return value_ix(ix_sub(s->ctx, a->ix, b->ix));
	}
	for (size_t i = 0; i < COUNTOF(kinds); i++)
		if (!strcmp(op, kinds[i].op))
			return value_ix(ix_new(s->ctx, kinds[i].kind, kinds[i].swap ? b->ix : a->ix,
					       kinds[i].swap ? a->ix : b->ix));
	panic("no integer operator %s", op);
}
