/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ix_simplify.c - index expressions made smaller with what is known of their names.
 *     with 0 <= i < 64:  (m * 64 + i) / 64  ->  m        (m * 64 + i) % 64  ->  i
 * The rules are the rows of rules.def: one function each, tried in that order on a node whose
 * operands are simple already. A rule gives NULL when it does not apply. */
#include "layout/ixp.h"
#include "base/ptrmap.h"

enum { FUEL = 2000 };

typedef struct {
	const Ix *from, *to;
} Memo;
typedef struct {
	Ctx *c;
	IxFacts facts;
	Memo *memo;
	size_t n, cap;
	int fuel;
	uint64_t applied;
} Simplify;

/* A rule that looks at a derived expression simplifies it with the same memo and fuel. */
static const Ix *simplify(Simplify *s, const Ix *x);

/* ------------------------------------------------------------------ questions */
/* x / b where b surely divides x, without a division left over; NULL otherwise */
static const Ix *quotient_exact(Ctx *c, const Ix *x, const Ix *b)
{
	IxList fs = {0}, by = {0};
	int64_t k = 1;
	ix_factors(c, x, &fs);
	ix_factors(c, b, &by);
	for (int i = 0; i < by.n; i++) {
		int j = 0;
		if (by.at[i]->kind == IX_CONST) {
			k = by.at[i]->value;
			continue;
		}
		while (j < fs.n && fs.at[j] != by.at[i])
			j++;
		if (j == fs.n)
			return NULL;
		fs.at[j] = ix_const(c, 1);
	}
	const Ix *q = ix_const(c, 1);
	for (int i = 0; i < fs.n; i++) {
		int64_t v;
		if (k > 1 && ix_is_const(fs.at[i], &v) && v % k == 0) {
			fs.at[i] = ix_const(c, v / k);
			k = 1;
		}
		q = ix_mul(c, q, fs.at[i]);
	}
	return k == 1 ? q : NULL;
}

static bool is_multiple(const Ix *x, IxFacts facts, int64_t k)
{
	return k > 0 && ix_divisor(x, facts) % k == 0;
}

/* The quotient by b if it is one number over the whole range of a. */
static bool quotient_known(const Ix *a, const Ix *b, IxFacts facts, int64_t *q)
{
	int64_t lo, hi, blo, bhi, last;
	ix_range(a, facts, &lo, &hi);
	ix_range(b, facts, &blo, &bhi);
	if (lo == INT64_MIN || hi == INT64_MAX || blo < 1)
		return false;
	if (lo >= 0 && hi < blo)
		return *q = 0, true;
	return blo == bhi && ix_fold(IX_DIV, lo, blo, q) && ix_fold(IX_DIV, hi, blo, &last) &&
	       *q == last;
}

/* Splits a sum: what `in` accepts, and the rest. False unless both are there. */
static bool split(Ctx *c, const Ix *x, IxFacts facts, int64_t k, const Ix **in, const Ix **rest)
{
	IxTerms ts = {0}, yes = {0}, no = {0};
	ix_terms(c, x, &ts);
	for (int i = 0; i < ts.n; i++) {
		if (is_multiple(ts.at[i].x, facts, k))
			vec_push(ctx_tmp(c), &yes, ts.at[i]);
		else
			vec_push(ctx_tmp(c), &no, ts.at[i]);
	}
	*in = ix_sum(c, &yes);
	*rest = ix_sum(c, &no);
	return yes.n && no.n;
}

/* A common divisor g of k and some terms of x, such that the other terms together are in [0, g). */
static bool split_small(Ctx *c, const Ix *x, IxFacts facts, int64_t k, const Ix **big,
			const Ix **small)
{
	IxTerms ts = {0};
	ix_terms(c, x, &ts);
	for (int i = 0; i < ts.n; i++) {
		int64_t g = gcd64(ix_divisor(ts.at[i].x, facts), k);
		if (g > 1 && split(c, x, facts, g, big, small) &&
		    ix_within(*small, facts, 0, g - 1))
			return true;
	}
	return false;
}

/* The multiples of b in the sum x, divided by b, and the rest. False if there are none. */
static bool split_exact(Ctx *c, const Ix *x, const Ix *b, const Ix **q, const Ix **rest)
{
	IxTerms ts = {0};
	int64_t k, v, w;
	bool any = false;
	*q = *rest = ix_const(c, 0);
	ix_terms(c, x, &ts);
	for (int i = 0; i < ts.n; i++) {
		const Ix *t = ts.at[i].x, *part = quotient_exact(c, t, b);
		if (!part && ix_is_const(t, &v) && ix_is_const(b, &k) &&
		    ix_fold(IX_DIV, v, k, &w) && w != 0) {
			part = ix_const(c, w);
			ix_fold(IX_MOD, v, k, &v);
			*rest = ix_add(c, *rest, ix_const(c, v));
		} else if (!part) {
			*rest = ix_add(c, *rest, t);
		}
		*q = part ? ix_add(c, *q, part) : *q;
		any |= part != NULL;
	}
	return any;
}

/* ------------------------------------------------------------------ quotients */
static const Ix *rule_DIV_RANGE(Simplify *s, const Ix *x)
{
	int64_t q;
	return quotient_known(x->a, x->b, s->facts, &q) ? ix_const(s->c, q) : NULL;
}

static const Ix *rule_DIV_EXACT(Simplify *s, const Ix *x)
{
	const Ix *q, *rest;
	return split_exact(s->c, x->a, x->b, &q, &rest)
		       ? ix_add(s->c, q, ix_new(s->c, IX_DIV, rest, x->b))
		       : NULL;
}

static const Ix *rule_DIV_SPLIT(Simplify *s, const Ix *x)
{
	const Ix *in, *rest;
	int64_t k;
	if (!ix_is_const(x->b, &k) || !split(s->c, x->a, s->facts, k, &in, &rest))
		return NULL;
	return ix_add(s->c, ix_new(s->c, IX_DIV, in, x->b), ix_new(s->c, IX_DIV, rest, x->b));
}

static const Ix *rule_DIV_FACTOR(Simplify *s, const Ix *x)
{
	IxList fs = {0};
	const Ix *q = ix_const(s->c, 1);
	int64_t k;
	bool found = false;
	if (x->a->kind != IX_MUL || !ix_is_const(x->b, &k))
		return NULL;
	ix_factors(s->c, x->a, &fs);
	for (int i = 0; i < fs.n; i++) {
		const Ix *f = fs.at[i];
		if (!found && f->kind != IX_CONST && is_multiple(f, s->facts, k)) {
			f = ix_new(s->c, IX_DIV, f, x->b);
			found = true;
		}
		q = ix_mul(s->c, q, f);
	}
	return found ? q : NULL;
}

static const Ix *rule_DIV_SMALL(Simplify *s, const Ix *x)
{
	const Ix *big, *small;
	int64_t k;
	if (!ix_is_const(x->b, &k) || !split_small(s->c, x->a, s->facts, k, &big, &small))
		return NULL;
	return ix_new(s->c, IX_DIV, big, x->b);
}

/* The greatest number that divides k and every coefficient of x. */
static int64_t common_coef(Ctx *c, const Ix *x, int64_t k)
{
	IxTerms ts = {0};
	ix_terms(c, x, &ts);
	for (int i = 0; i < ts.n; i++)
		k = gcd64(k, ts.at[i].coef);
	return k;
}

static const Ix *rule_DIV_COMMON(Simplify *s, const Ix *x)
{
	int64_t k, g;
	if (!ix_is_const(x->b, &k) || k <= 0 || (g = common_coef(s->c, x->a, k)) <= 1)
		return NULL;
	const Ix *a = quotient_exact(s->c, x->a, ix_const(s->c, g)), *q, *rest;
	if (!a && split_exact(s->c, x->a, ix_const(s->c, g), &q, &rest) && ix_is(rest, 0))
		a = q;
	return a ? ix_new(s->c, IX_DIV, a, ix_const(s->c, k / g)) : NULL;
}

static const Ix *rule_DIV_DIV(Simplify *s, const Ix *x)
{
	int64_t v;
	if (x->a->kind != IX_DIV || ix_is(x->a->b, 0))
		return NULL;
	if (x->a->b->kind == IX_CONST && x->b->kind == IX_CONST &&
	    !ix_fold(IX_MUL, x->a->b->value, x->b->value, &v))
		return NULL;
	return ix_new(s->c, IX_DIV, x->a->a, ix_mul(s->c, x->a->b, x->b));
}

static const Ix *rule_DIV_MOD(Simplify *s, const Ix *x)
{
	if (x->a->kind != IX_MOD)
		return NULL;
	const Ix *b = quotient_exact(s->c, x->a->b, x->b);
	return b && !ix_is(b, 0) ? ix_new(s->c, IX_MOD, ix_new(s->c, IX_DIV, x->a->a, x->b), b)
				 : NULL;
}

/* ------------------------------------------------------------------ remainders */
static const Ix *rule_MOD_RANGE(Simplify *s, const Ix *x)
{
	int64_t q;
	if (!quotient_known(x->a, x->b, s->facts, &q))
		return NULL;
	return ix_sub(s->c, x->a, ix_mul(s->c, x->b, ix_const(s->c, q)));
}

static const Ix *rule_MOD_EXACT(Simplify *s, const Ix *x)
{
	const Ix *q, *rest;
	return split_exact(s->c, x->a, x->b, &q, &rest) ? ix_new(s->c, IX_MOD, rest, x->b) : NULL;
}

static const Ix *rule_MOD_SPLIT(Simplify *s, const Ix *x)
{
	const Ix *in, *rest;
	int64_t k;
	if (!ix_is_const(x->b, &k) || k <= 0)
		return NULL;
	if (is_multiple(x->a, s->facts, k))
		return ix_const(s->c, 0);
	return split(s->c, x->a, s->facts, k, &in, &rest) ? ix_new(s->c, IX_MOD, rest, x->b) : NULL;
}

static const Ix *rule_MOD_SMALL(Simplify *s, const Ix *x)
{
	const Ix *big, *small;
	int64_t k;
	if (!ix_is_const(x->b, &k) || !split_small(s->c, x->a, s->facts, k, &big, &small))
		return NULL;
	return ix_add(s->c, ix_new(s->c, IX_MOD, big, x->b), small);
}

static const Ix *rule_MOD_COMMON(Simplify *s, const Ix *x)
{
	int64_t k, g;
	const Ix *q, *rest;
	if (!ix_is_const(x->b, &k) || k <= 0 || (g = common_coef(s->c, x->a, k)) <= 1)
		return NULL;
	if (!split_exact(s->c, x->a, ix_const(s->c, g), &q, &rest) || !ix_is(rest, 0))
		return NULL;
	return ix_mul(s->c, ix_new(s->c, IX_MOD, q, ix_const(s->c, k / g)), ix_const(s->c, g));
}

static const Ix *rule_MOD_MOD(Simplify *s, const Ix *x)
{
	IxTerms ts = {0};
	const Ix *sum = ix_const(s->c, 0);
	bool any = false;
	ix_terms(s->c, x->a, &ts);
	for (int i = 0; i < ts.n; i++) {
		const Ix *t = ts.at[i].x, *base = ts.at[i].base;
		if (base && base->kind == IX_MOD && quotient_exact(s->c, base->b, x->b)) {
			t = ix_mul(s->c, base->a, ix_const(s->c, ts.at[i].coef));
			any = true;
		}
		sum = ix_add(s->c, sum, t);
	}
	return any ? ix_new(s->c, IX_MOD, sum, x->b) : NULL;
}

static const Ix *rule_MOD_COEF(Simplify *s, const Ix *x)
{
	IxTerms ts = {0};
	const Ix *sum = ix_const(s->c, 0);
	int64_t k, coef;
	if (!ix_is_const(x->b, &k))
		return NULL;
	ix_terms(s->c, x->a, &ts);
	for (int i = 0; i < ts.n; i++) {
		const Ix *t = ts.at[i].x, *base = ts.at[i].base;
		coef = ts.at[i].coef;
		if (base && (coef >= k || coef <= -k) && ix_fold(IX_MOD, coef, k, &coef))
			t = ix_mul(s->c, base, ix_const(s->c, coef));
		sum = ix_add(s->c, sum, t);
	}
	return sum == x->a ? NULL : ix_new(s->c, IX_MOD, sum, x->b);
}

/* ------------------------------------------------------------------ products and sums */
static const Ix *rule_MUL_DIV(Simplify *s, const Ix *x)
{
	int64_t k, v;
	if (x->a->kind != IX_DIV || !ix_is_const(x->b, &k) || !ix_is_const(x->a->b, &v))
		return NULL;
	if (v <= 0 || k % v || !is_multiple(x->a->a, s->facts, v))
		return NULL;
	return ix_mul(s->c, x->a->a, ix_const(s->c, k / v));
}

static int term_find(const IxTerms *ts, const Ix *x)
{
	for (int i = 0; i < ts->n; i++)
		if (ts->at[i].x == x)
			return i;
	return -1;
}

/* x without its terms i and j, plus y */
static const Ix *sum_exchange(Ctx *c, const IxTerms *ts, int i, int j, const Ix *y)
{
	for (int n = 0; n < ts->n; n++)
		if (n != i && n != j)
			y = ix_add(c, y, ts->at[n].x);
	return y;
}

static const Ix *rule_ADD_REST(Simplify *s, const Ix *x)
{
	IxTerms ts = {0};
	ix_terms(s->c, x, &ts);
	for (int i = 0; i < ts.n; i++) {
		const Ix *base = ts.at[i].base, *k = ix_const(s->c, ts.at[i].coef);
		if (!base || base->kind != IX_MOD)
			continue;
		const Ix *q = simplify(s, ix_new(s->c, IX_DIV, base->a, base->b));
		int j = term_find(&ts, ix_mul(s->c, ix_mul(s->c, q, base->b), k));
		if (j >= 0 && j != i)
			return sum_exchange(s->c, &ts, i, j, ix_mul(s->c, base->a, k));
	}
	return NULL;
}

/* The divisor b of a term (q % b) * c * k, if it is one. */
static const Ix *carry_of(Ctx *c, const IxTerm *t, const Ix *q, const Ix *by)
{
	IxList fs = {0};
	ix_factors(c, t->x, &fs);
	for (int i = 0; i < fs.n; i++)
		if (fs.at[i]->kind == IX_MOD && fs.at[i]->a == q && t->x == ix_mul(c, fs.at[i], by))
			return fs.at[i]->b;
	return NULL;
}

static const Ix *rule_ADD_CARRY(Simplify *s, const Ix *x)
{
	IxTerms ts = {0};
	ix_terms(s->c, x, &ts);
	for (int i = 0; i < ts.n; i++) {
		const Ix *base = ts.at[i].base, *k = ix_const(s->c, ts.at[i].coef), *b;
		if (!base || base->kind != IX_MOD)
			continue;
		const Ix *q = simplify(s, ix_new(s->c, IX_DIV, base->a, base->b));
		for (int j = 0; j < ts.n; j++) {
			if (j == i || !(b = carry_of(s->c, &ts.at[j], q, ix_mul(s->c, base->b, k))))
				continue;
			b = ix_new(s->c, IX_MOD, base->a, ix_mul(s->c, b, base->b));
			return sum_exchange(s->c, &ts, i, j, ix_mul(s->c, b, k));
		}
	}
	return NULL;
}

/* ------------------------------------------------------------------ order */
static void difference(Simplify *s, const Ix *x, int64_t *lo, int64_t *hi)
{
	ix_range(simplify(s, ix_sub(s->c, x->b, x->a)), s->facts, lo, hi);
}

static const Ix *pick_extreme(Simplify *s, const Ix *x, const Ix *low, const Ix *high)
{
	int64_t lo, hi;
	difference(s, x, &lo, &hi);
	if (lo >= 0)
		return low;
	return hi <= 0 ? high : NULL;
}

static const Ix *rule_MIN_RANGE(Simplify *s, const Ix *x)
{
	return pick_extreme(s, x, x->a, x->b);
}

static const Ix *rule_MAX_RANGE(Simplify *s, const Ix *x)
{
	return pick_extreme(s, x, x->b, x->a);
}

static const Ix *rule_LT_RANGE(Simplify *s, const Ix *x)
{
	int64_t lo, hi;
	difference(s, x, &lo, &hi);
	return lo > 0 || hi <= 0 ? ix_const(s->c, lo > 0) : NULL;
}

static const Ix *rule_LE_RANGE(Simplify *s, const Ix *x)
{
	int64_t lo, hi;
	difference(s, x, &lo, &hi);
	return lo >= 0 || hi < 0 ? ix_const(s->c, lo >= 0) : NULL;
}

static const Ix *rule_LT_DIV(Simplify *s, const Ix *x)
{
	if (x->a->kind != IX_DIV)
		return NULL;
	return ix_new(s->c, IX_LT, x->a->a, ix_mul(s->c, x->b, x->a->b));
}

static const Ix *rule_LE_DIV(Simplify *s, const Ix *x)
{
	if (x->b->kind != IX_DIV)
		return NULL;
	return ix_new(s->c, IX_LE, ix_mul(s->c, x->a, x->b->b), x->b->a);
}

/* Whether a sum is never 0: by its range, or because its constant misses the divisor of the
 * rest. */
static bool never_zero(Ctx *c, const Ix *d, IxFacts facts)
{
	int64_t lo, hi, k;
	ix_range(d, facts, &lo, &hi);
	if (lo > 0 || hi < 0)
		return true;
	if (d->kind != IX_ADD || !ix_is_const(d->b, &k))
		return false;
	int64_t g = ix_divisor(d->a, facts);
	(void)c;
	return g != 0 && k % g != 0;
}

static const Ix *equality(Simplify *s, const Ix *x, bool equal)
{
	const Ix *d = simplify(s, ix_sub(s->c, x->b, x->a));
	if (ix_is(d, 0))
		return ix_const(s->c, equal);
	return never_zero(s->c, d, s->facts) ? ix_const(s->c, !equal) : NULL;
}

static const Ix *rule_EQ_RANGE(Simplify *s, const Ix *x)
{
	return equality(s, x, true);
}

static const Ix *rule_NE_RANGE(Simplify *s, const Ix *x)
{
	return equality(s, x, false);
}

/* ------------------------------------------------------------------ the engine */
static const struct {
	IxKind kind;
	const Ix *(*apply)(Simplify *s, const Ix *x);
} rules[RULE_COUNT] = {
#define RULE(id, root, law, when, theorem) [RULE_##id] = {IX_##root, rule_##id},
#include "layout/rules.def"
};

/* No rule reads a division by a constant that is not positive: it has no value. */
static bool divides_well(const Ix *x)
{
	bool quotient = x->kind == IX_DIV || x->kind == IX_MOD;
	return !quotient || x->b->kind != IX_CONST || x->b->value > 0;
}

static const Ix *apply(Simplify *s, IxRule rule, const Ix *x)
{
	if (x->kind != rules[rule].kind || !divides_well(x))
		return NULL;
	const Ix *y = rules[rule].apply(s, x);
	return y == x ? NULL : y;
}

const Ix *ix_rule_apply(Ctx *c, IxRule rule, const Ix *x, IxFacts facts)
{
	Simplify s = {.c = c, .facts = facts, .fuel = FUEL};
	return apply(&s, rule, x);
}

static Memo *memo_at(Simplify *s, const Ix *x)
{
	size_t i = hash_mix(0, x->id) & (s->cap - 1);
	while (s->memo[i].from && s->memo[i].from != x)
		i = (i + 1) & (s->cap - 1);
	return &s->memo[i];
}

static void memo_put(Simplify *s, const Ix *from, const Ix *to)
{
	if (2 * s->n >= s->cap) {
		Memo *old = s->memo;
		size_t cap = s->cap;
		s->cap = cap ? 2 * cap : 32;
		s->memo = NEWN(ctx_tmp(s->c), Memo, s->cap);
		for (size_t i = 0; i < cap; i++)
			if (old[i].from)
				*memo_at(s, old[i].from) = old[i];
	}
	Memo *m = memo_at(s, from);
	s->n += !m->from;
	*m = (Memo){from, to};
}

static const Ix *rewrite(Simplify *s, const Ix *x)
{
	for (int rule = 0; rule < RULE_COUNT && s->fuel > 0; rule++) {
		const Ix *y = apply(s, (IxRule)rule, x);
		if (y) {
			s->fuel--;
			s->applied |= UINT64_C(1) << rule;
			return y;
		}
	}
	return NULL;
}

/* One step: an operand made simpler (the normal form may then move others), or a rule at the
 * root. */
static const Ix *step(Simplify *s, const Ix *x)
{
	const Ix *a = simplify(s, x->a), *b = simplify(s, x->b);
	if (a == x->a && b == x->b)
		return rewrite(s, x);
	s->fuel--;
	return ix_new(s->c, x->kind, a, b);
}

static const Ix *simplify(Simplify *s, const Ix *x)
{
	int64_t lo, hi;
	const Ix *from = x, *y;
	if (x->kind == IX_CONST)
		return x;
	if (x->kind == IX_SYM) {
		ix_range(x, s->facts, &lo, &hi);
		return lo == hi ? ix_const(s->c, lo) : x;
	}
	if (s->n && memo_at(s, x)->from)
		return memo_at(s, x)->to;
	if (s->fuel > 0 && (y = step(s, x)) && y != x)
		x = simplify(s, y);
	memo_put(s, from, x);
	return x;
}

const Ix *ix_simplify_by(Ctx *c, const Ix *x, IxFacts facts, uint64_t *applied)
{
	PtrMap bounds = {.arena = ctx_tmp(c)};
	Simplify s = {.c = c, .facts = facts, .fuel = FUEL};
	s.facts.bounds = &bounds;
	if (x->kind == IX_CONST)
		return x;
	ArenaMark mark = arena_mark(ctx_tmp(c));
	x = simplify(&s, x);
	arena_release(ctx_tmp(c), mark);
	*applied |= s.applied;
	return x;
}

const Ix *ix_simplify(Ctx *c, const Ix *x, IxFacts facts)
{
	uint64_t applied = 0;
	return ix_simplify_by(c, x, facts, &applied);
}

_Static_assert(RULE_COUNT <= 64, "a set of rules is a word");

const char *ix_rule_theorem(int rule)
{
	static const char *const theorems[RULE_COUNT] = {
#define RULE(id, root, law, when, theorem) [RULE_##id] = theorem,
#include "layout/rules.def"
	};
	return rule >= 0 && rule < RULE_COUNT ? theorems[rule] : NULL;
}
