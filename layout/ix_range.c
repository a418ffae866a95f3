/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ix_range.c - what is known of an expression's values: bounds and a common divisor.
 *     with 0 <= m < 8:  m * 4 + 3  is in 3 .. 31;  m * 4 + 8  is a multiple of 4
 * INT64_MIN and INT64_MAX stand for "no bound", and stay so under every operation. */
#include "layout/ixp.h"
#include "base/ptrmap.h"

typedef struct {
	int64_t lo, hi;
} Range;

typedef struct {
	Range range;
	int64_t divisor;
	bool ranged, divided;
} Bounds;

static const Range everything = {INT64_MIN, INT64_MAX};

static bool open_end(int64_t v)
{
	return v == INT64_MIN || v == INT64_MAX;
}

static int64_t add_end(int64_t a, int64_t b)
{
	int64_t v;
	if (open_end(a))
		return a;
	if (open_end(b))
		return b;
	if (__builtin_add_overflow(a, b, &v))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return v;
}

static int64_t mul_end(int64_t a, int64_t b)
{
	int64_t v;
	if (a == 0 || b == 0)
		return 0;
	if (open_end(a) || open_end(b) || __builtin_mul_overflow(a, b, &v))
		return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
	return v;
}

static int64_t div_end(int64_t a, int64_t b)
{
	if (b == INT64_MAX)
		return open_end(a) ? a : a < 0 ? -1 : 0;
	return open_end(a) ? a : a / b - (a % b < 0);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static Range corners(int64_t (*end)(int64_t, int64_t), Range a, Range b)
{
	int64_t p = end(a.lo, b.lo), q = end(a.lo, b.hi), r = end(a.hi, b.lo), s = end(a.hi, b.hi);
	return (Range){least(least(p, q), least(r, s)), most(most(p, q), most(r, s))};
}

static Range range_mod(Range a, Range b)
{
	Range r = {0, b.hi == INT64_MAX ? INT64_MAX : b.hi - 1};
	if (a.lo >= 0)
		r.hi = least(r.hi, a.hi);
	if (b.lo != b.hi || open_end(a.lo) || open_end(a.hi))
		return r;
	if (div_end(a.lo, b.lo) != div_end(a.hi, b.lo) || !ix_fold(IX_MOD, a.lo, b.lo, &r.lo))
		return r;
	r.hi = r.lo + (a.hi - a.lo);
	return r;
}

/* No bit above the highest of either side. */
static Range range_xor(Range a, Range b)
{
	int64_t top = most(a.hi, b.hi), hi = 1;
	if (a.lo < 0 || b.lo < 0 || top >= INT64_MAX / 2)
		return everything;
	while (hi <= top)
		hi *= 2;
	return (Range){0, hi - 1};
}

/* 2^b for the counts that shift, a factor or a divisor */
static Range range_power(Range b)
{
	int64_t lo = most(b.lo, 0), hi = least(most(b.hi, 0), 62);
	return (Range){INT64_C(1) << least(lo, 62), INT64_C(1) << hi};
}

/* strcmp for names that are mostly one pointer, or differ in the first letters */
static bool is_same(const char *a, const char *b)
{
	if (a == b)
		return true;
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* The next fact of the name from i on; NULL: there is none. */
static const IxFact *fact_of(const char *name, IxFacts facts, int *i)
{
	if (facts.places) {
		int place = *i ? 0 : (int)(intptr_t)ptrmap_get(facts.places, name);
		*i = facts.n;
		return place && place <= facts.n ? &facts.at[place - 1] : NULL;
	}
	while (*i < facts.n) {
		const IxFact *f = &facts.at[(*i)++];
		if (is_same(f->name, name))
			return f;
	}
	return NULL;
}

static Range range_sym(const Ix *x, IxFacts facts)
{
	Range r = everything;
	int i = 0;
	for (const IxFact *f; (f = fact_of(x->name, facts, &i));)
		r = (Range){most(r.lo, f->lo), least(r.hi, f->hi)};
	return r.lo <= r.hi ? r : everything;
}

/* The two ends mean "no bound": a constant there is widened by one to have a bound at its other
 * side. */
static Range range_const(int64_t v)
{
	return (Range){v == INT64_MAX ? v - 1 : v, v == INT64_MIN ? v + 1 : v};
}

static Range range_of(const Ix *x, IxFacts facts);

static Range range_op(const Ix *x, IxFacts facts)
{
	Range a = range_of(x->a, facts), b = range_of(x->b, facts);
	if (x->kind == IX_DIV || x->kind == IX_MOD)
		b = (Range){most(b.lo, 1), most(b.hi, 1)};
	switch (x->kind) {
	case IX_ADD:
		return (Range){add_end(a.lo, b.lo), add_end(a.hi, b.hi)};
	case IX_MUL:
		return corners(mul_end, a, b);
	case IX_DIV:
		return corners(div_end, a, b);
	case IX_MOD:
		return range_mod(a, b);
	case IX_MIN:
		return (Range){least(a.lo, b.lo), least(a.hi, b.hi)};
	case IX_MAX:
		return (Range){most(a.lo, b.lo), most(a.hi, b.hi)};
	case IX_XOR:
		return range_xor(a, b);
	case IX_SHL:
		return corners(mul_end, a, range_power(b));
	case IX_SHR:
		return corners(div_end, a, range_power(b));
	case IX_LT:
	case IX_LE:
	case IX_EQ:
	case IX_NE:
	case IX_AND:
	case IX_OR:
		return (Range){0, 1};
	case IX_CONST:
	case IX_SYM:
	case IX_COUNT:
		break;
	}
	return everything;
}

/* What is known of x: to be filled; NULL where nothing is kept. */
static Bounds *bounds_of(const Ix *x, IxFacts facts)
{
	Bounds *b = facts.bounds ? ptrmap_get(facts.bounds, x) : NULL;
	if (facts.bounds && !b) {
		b = NEW(facts.bounds->arena, Bounds);
		ptrmap_set(facts.bounds, x, b);
	}
	return b;
}

static Range range_of(const Ix *x, IxFacts facts)
{
	if (x->kind == IX_CONST)
		return range_const(x->value);
	if (x->kind == IX_SYM)
		return range_sym(x, facts);
	Bounds *b = bounds_of(x, facts);
	if (!b)
		return range_op(x, facts);
	if (!b->ranged)
		b->range = range_op(x, facts);
	b->ranged = true;
	return b->range;
}

void ix_range(const Ix *x, IxFacts facts, int64_t *lo, int64_t *hi)
{
	Range r = range_of(x, facts);
	*lo = r.lo;
	*hi = r.hi;
}

int64_t ix_least(const Ix *x, IxFacts facts)
{
	return range_of(x, facts).lo;
}

int64_t ix_most(const Ix *x, IxFacts facts)
{
	return range_of(x, facts).hi;
}

bool ix_within(const Ix *x, IxFacts facts, int64_t lo, int64_t hi)
{
	return ix_least(x, facts) >= lo && ix_most(x, facts) <= hi;
}

/* ------------------------------------------------------------------ divisors */
static int64_t lcm_or(int64_t a, int64_t b)
{
	int64_t v;
	if (!a || !b)
		return 0;
	return __builtin_mul_overflow(a / gcd64(a, b), b, &v) ? a : v;
}

static int64_t divisor_sym(const Ix *x, IxFacts facts)
{
	int64_t d = 1;
	Range r = range_sym(x, facts);
	int i = 0;
	if (r.lo == r.hi)
		return gcd64(r.lo, 0);
	for (const IxFact *f; (f = fact_of(x->name, facts, &i));)
		if (f->div > 1)
			d = lcm_or(d, f->div);
	return d;
}

static int64_t divisor_quotient(const Ix *x, int64_t a)
{
	int64_t k;
	if (!ix_is_const(x->b, &k) || k <= 0 || a % k)
		return 1;
	return a / k;
}

static int64_t divisor_op(const Ix *x, IxFacts facts)
{
	int64_t v;
	if (x->kind >= IX_LT || x->kind == IX_SHR)
		return 1;
	if (x->kind == IX_SHL)
		return ix_divisor(x->a, facts);
	int64_t a = ix_divisor(x->a, facts), b = ix_divisor(x->b, facts);
	if (x->kind == IX_MUL)
		return __builtin_mul_overflow(a, b, &v) ? most(a, b) : v;
	if (x->kind == IX_DIV)
		return divisor_quotient(x, a);
	return gcd64(a, b);
}

int64_t ix_divisor(const Ix *x, IxFacts facts)
{
	if (x->kind == IX_CONST)
		return gcd64(x->value, 0);
	if (x->kind == IX_SYM)
		return divisor_sym(x, facts);
	Bounds *b = bounds_of(x, facts);
	if (!b)
		return divisor_op(x, facts);
	if (!b->divided)
		b->divisor = divisor_op(x, facts);
	b->divided = true;
	return b->divisor;
}
