/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* arith.c - integers: constants are computed here, with every overflow reported; what the
 * arguments bind stays an index expression.
 *     (M + bM - 1) / bM   ->   (M + 127) / 128 */
#include "frontend/sema.h"

static Value out_of_range(Sema *s, Loc loc)
{
	return rejected(s, loc, D_E0207, "this does not fit 64 bits");
}

static bool divisor_is_right(Sema *s, Loc loc, const Ix *b)
{
	int64_t v, most;
	if (!ix_is_const(b, &v)) {
		ix_range(b, facts_seen(&s->facts), &v, &most);
		return v > 0 || reject(s, loc, D_E0207,
				       "this may be 0 or less, and divides\n"
				       "write max(x, 1), or that a size is above 0: where N >= 1");
	}
	if (v == 0)
		return reject(s, loc, D_E0207, "division by zero");
	if (v < 0)
		return reject(s, loc, D_E0207,
			      "the divisor is negative; / and %% floor, and take "
			      "divisors above 0");
	return true;
}

Value int_new(Sema *s, Loc loc, IxKind kind, const Value *a, const Value *b)
{
	int64_t x, y, r;
	if ((kind == IX_DIV || kind == IX_MOD) && !divisor_is_right(s, b->loc, b->ix))
		return value_bad();
	if (ix_is_const(a->ix, &x) && ix_is_const(b->ix, &y) && !ix_fold(kind, x, y, &r))
		return out_of_range(s, loc);
	return value_ix(ix_new(s->ctx, kind, a->ix, b->ix));
}

static Value int_less(Sema *s, Loc loc, const Ix *a, const Ix *b)
{
	int64_t x, y, r;
	bool known = ix_is_const(b, &y);
	if (known && ix_is_const(a, &x))
		return __builtin_sub_overflow(x, y, &r) ? out_of_range(s, loc) : value_int(s, r);
	return known && y == INT64_MIN ? out_of_range(s, loc) : value_ix(ix_sub(s->ctx, a, b));
}

Value int_binary(Sema *s, Loc loc, Operator op, const Value *a, const Value *b)
{
	const OperatorRow *row = &operator_rows[op];
	bool swap = row->order == SWAPPED;
	return row->order == LESS ? int_less(s, loc, a->ix, b->ix)
				  : int_new(s, loc, row->ix, swap ? b : a, swap ? a : b);
}
