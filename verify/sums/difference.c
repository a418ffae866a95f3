/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* difference.c - whether two index expressions are equal, or apart by a number: as sums of
 * products, by what facts say, and where one name decides both, by trying what recurs.
 *     (t + 1) * T against t * T + T   ->   0
 */
#include "verify/tree/tree.h"

enum { MAX_FACTORS = 4, MAX_TERMS = 48, MAX_TRIED = 1 << 13 };

typedef struct {
	const Ix *of[MAX_FACTORS];
	int n;
	int64_t times;
} Term;
typedef struct {
	Term at[MAX_TERMS];
	int n;
	bool many; /* it is not known */
} Sum;

/* ------------------------------------------------------------------ sums of products */
static bool same_factors(const Term *x, const Term *y)
{
	bool same = x->n == y->n;
	for (int i = 0; i < x->n && same; i++)
		same = x->of[i] == y->of[i];
	return same;
}

static void add_term(Sum *s, const Term *t)
{
	for (int i = 0; i < s->n; i++)
		if (same_factors(&s->at[i], t)) {
			s->many |=
				__builtin_add_overflow(s->at[i].times, t->times, &s->at[i].times);
			return;
		}
	s->many |= s->n == MAX_TERMS;
	if (!s->many)
		s->at[s->n++] = *t;
}

/* Factors in order of creation. */
static void add_factor(Sum *s, Term *t, const Ix *x)
{
	int i = t->n;
	s->many |= t->n == MAX_FACTORS;
	if (s->many)
		return;
	for (; i > 0 && t->of[i - 1]->id > x->id; i--)
		t->of[i] = t->of[i - 1];
	t->of[i] = x;
	t->n++;
}

static void add_product(Sum *to, const Sum *a, const Sum *b)
{
	for (int i = 0; i < a->n; i++)
		for (int j = 0; j < b->n && !to->many; j++) {
			Term t = a->at[i];
			to->many |= __builtin_mul_overflow(t.times, b->at[j].times, &t.times);
			for (int f = 0; f < b->at[j].n; f++)
				add_factor(to, &t, b->at[j].of[f]);
			add_term(to, &t);
		}
	to->many |= a->many || b->many;
}

static bool has_even_pair(const Ix *x, const Ix *of)
{
	int64_t by;
	if (of->kind == IX_MUL)
		return has_even_pair(x, of->a) || has_even_pair(x, of->b);
	if (of->kind == IX_MAX && ix_is(of->b, 0)) /* it is that, or 0 */
		return has_even_pair(x, of->a);
	if (x->kind == IX_MAX && ix_is(x->b, 0))
		return has_even_pair(x->a, of);
	return ix_apart(x, 1, of, 0, &by) && by % 2;
}

/* One of two numbers that follow each other is even. */
static bool is_even(const Ix *x)
{
	int64_t v;
	if (x->kind == IX_ADD)
		return is_even(x->a) && is_even(x->b);
	if (x->kind != IX_MUL)
		return ix_is_const(x, &v) && v % 2 == 0;
	return is_even(x->a) || is_even(x->b) || has_even_pair(x->b, x->a);
}

bool ix_is_half(const Ix *x)
{
	return x->kind == IX_DIV && ix_is(x->b, 2) && is_even(x->a);
}

/* n times x */
static void add_sum(Sum *s, const Ix *x, int64_t n)
{
	Term t = {.times = n};
	if (n % 2 == 0 && ix_is_half(x)) {
		add_sum(s, x->a, n / 2);
	} else if (x->kind == IX_ADD) {
		add_sum(s, x->a, n);
		add_sum(s, x->b, n);
	} else if (x->kind == IX_MUL) {
		Sum a, b;
		a.n = b.n = 0;
		a.many = b.many = false;
		add_sum(&a, x->a, n);
		add_sum(&b, x->b, 1);
		add_product(s, &a, &b);
	} else if (ix_is_const(x, &t.times)) {
		s->many |= __builtin_mul_overflow(t.times, n, &t.times);
		add_term(s, &t);
	} else {
		t.times = n;
		add_factor(s, &t, x);
		add_term(s, &t);
	}
}

/* What is a multiple of mod does not count. */
static bool is_number(const Sum *s, int64_t mod, int64_t *v)
{
	*v = 0;
	for (int i = 0; i < s->n && !s->many; i++) {
		if (!s->at[i].n)
			*v = s->at[i].times;
		else if (mod ? s->at[i].times % mod : s->at[i].times)
			return false;
	}
	return !s->many;
}

/* Whether n times that is a number; halves are whole where n is 2. */
static bool are_apart(const Ix *a, int64_t times, const Ix *b, int64_t n, int64_t mod, int64_t *by)
{
	Sum s;
	s.n = 0;
	s.many = false;
	add_sum(&s, a, n * times);
	add_sum(&s, b, -n);
	return is_number(&s, n * mod, by);
}

static bool has_half(const Ix *x)
{
	return ix_is_half(x) ||
	       ((x->kind == IX_ADD || x->kind == IX_MUL) && (has_half(x->a) || has_half(x->b)));
}

bool ix_apart(const Ix *a, int64_t times, const Ix *b, int64_t mod, int64_t *by)
{
	if (are_apart(a, times, b, 1, mod, by))
		return true;
	if ((!has_half(a) && !has_half(b)) || !are_apart(a, times, b, 2, mod, by) || *by % 2)
		return false;
	*by /= 2;
	return true;
}

bool ix_apart_by(Ctx *c, const Ix *a, const Ix *b, IxFacts facts, int64_t mod, int64_t *by)
{
	if (ix_apart(a, 1, b, mod, by))
		return true;
	return ix_apart(ix_simplify(c, ix_sub(c, a, b), facts), 1, ix_const(c, 0), mod, by);
}

/* ------------------------------------------------------------------ one name */
typedef struct {
	const char *name;
	bool many;
	int64_t value;
} Only;

static void note_name(void *user, const char *name)
{
	Only *o = user;
	o->many |= o->name && o->name != name;
	o->name = name;
}

static bool get_only(void *user, const char *name, int64_t *v)
{
	const Only *o = user;
	*v = o->value;
	return name == o->name;
}

/* A multiple of the name, and something that recurs. */
static bool is_quasilinear(const Ix *x)
{
	switch (x->kind) {
	case IX_CONST:
	case IX_SYM:
		return true;
	case IX_ADD:
		return is_quasilinear(x->a) && is_quasilinear(x->b);
	case IX_MUL:
	case IX_DIV:
	case IX_MOD:
		return x->b->kind == IX_CONST && x->b->value < MAX_TRIED && is_quasilinear(x->a);
	default:
		return false;
	}
}

static void take_period(void *user, const char *name, int64_t q)
{
	int64_t *period = user;
	(void)name;
	*period = lcm(*period, q);
}

/* That it is 0 for two periods of its name's values in a row shows that it always is. */
static bool is_zero(const Ix *x)
{
	Only o = {0};
	int64_t period = 1, v;
	ix_names(x, note_name, &o);
	if (!o.name || o.many || !is_quasilinear(x))
		return false;
	ix_needs(x, 1, take_period, &period);
	if (period > MAX_TRIED)
		return false;
	for (o.value = 0; o.value <= 2 * period; o.value++)
		if (!ix_eval(x, get_only, &o, &v) || v)
			return false;
	return true;
}

bool ix_same(Ctx *c, const Ix *a, const Ix *b, IxFacts facts)
{
	int64_t by;
	if (a == b)
		return true;
	return ix_apart_by(c, a, b, facts, 0, &by) ? !by : is_zero(ix_sub(c, a, b));
}
