/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* num.c - index expressions over ranges and residues; see num.h. */
#include "verify/sums/num.h"

enum { FAR = 1 << 30 }; /* as good as infinite: nothing here counts so far */

int64_t num_gcd(int64_t a, int64_t b)
{
	a = a < 0 ? -a : a;
	b = b < 0 ? -b : b;
	while (b) {
		int64_t r = a % b;
		a = b;
		b = r;
	}
	return a;
}

int64_t lcm(int64_t a, int64_t b)
{
	if (!a || !b)
		return 0;
	int64_t q = a / num_gcd(a, b);
	return q > FAR / b ? FAR : q * b;
}

static int64_t floor_mod(int64_t a, int64_t m)
{
	int64_t r = a % m;
	return r < 0 ? r + m : r;
}

static int64_t floor_div(int64_t a, int64_t d)
{
	return (a - floor_mod(a, d)) / d;
}

static int64_t clamp(int64_t x)
{
	return x < -FAR ? -FAR : x > FAR ? FAR : x;
}

static Num make(int64_t lo, int64_t hi, int64_t mod, int64_t res)
{
	Num n = {clamp(lo), clamp(hi), mod, mod > 0 ? floor_mod(res, mod) : res};
	if (lo == hi && lo > -FAR && lo < FAR)
		n = (Num){lo, lo, 0, lo};
	return n;
}

static Num anything(void)
{
	return (Num){-FAR, FAR, 1, 0};
}

Num num_exact(int64_t v)
{
	return (Num){v, v, 0, v};
}

Num num_from(int64_t lo, int64_t mod, int64_t value)
{
	return make(lo, FAR, mod, value);
}

Num num_within(int64_t lo, int64_t hi, int64_t mod, int64_t value)
{
	return make(lo, hi, mod, value);
}

bool num_is_exact(Num x, int64_t *v)
{
	*v = x.lo;
	return x.lo == x.hi && x.lo > -FAR && x.lo < FAR;
}

void env_put(Env *e, const char *name, Num v)
{
	if (e->n == NUM_NAMES)
		panic("more than %d names", NUM_NAMES);
	e->name[e->n] = name;
	e->value[e->n++] = v;
}

/* ------------------------------------------------------------------ arithmetic */
static Num num_add(Num a, Num b)
{
	bool low = a.lo == -FAR || b.lo == -FAR, high = a.hi == FAR || b.hi == FAR;
	return make(low ? -FAR : a.lo + b.lo, high ? FAR : a.hi + b.hi, num_gcd(a.mod, b.mod),
		    a.res + b.res);
}

static Num mul_by(Num a, int64_t c)
{
	int64_t x = a.lo == -FAR ? (c < 0 ? FAR : -FAR) : clamp(a.lo) * c;
	int64_t y = a.hi == FAR ? (c < 0 ? -FAR : FAR) : clamp(a.hi) * c;
	if (!c)
		return num_exact(0);
	return make(c < 0 ? y : x, c < 0 ? x : y, a.mod * (c < 0 ? -c : c), a.res * c);
}

static Num mul(Num a, Num b)
{
	int64_t c;
	if (num_is_exact(b, &c) && c > -FAR && c < FAR)
		return mul_by(a, c);
	if (num_is_exact(a, &c))
		return mul_by(b, c);
	int64_t mod = num_gcd(a.mod, b.mod);
	if (a.lo < 0 || b.lo < 0)
		return make(-FAR, FAR, mod, a.res * b.res);
	bool far = a.hi == FAR || b.hi == FAR;
	return make(a.lo * b.lo, far ? FAR : a.hi * b.hi, mod, a.res * b.res);
}

static Num num_div(Num a, int64_t d)
{
	int64_t lo = a.lo == -FAR ? -FAR : floor_div(a.lo, d);
	int64_t hi = a.hi == FAR ? FAR : floor_div(a.hi, d);
	if (a.mod == 0)
		return num_exact(floor_div(a.res, d));
	if (a.mod % d == 0)
		return make(lo, hi, a.mod / d, floor_div(a.res, d));
	return make(lo, hi, 1, 0);
}

/* m > 0 */
static Num num_mod(Num a, int64_t m)
{
	if (a.mod == 0 || a.mod % m == 0)
		return num_exact(floor_mod(a.res, m));
	if (a.lo != -FAR && a.hi != FAR && floor_div(a.lo, m) == floor_div(a.hi, m))
		return make(floor_mod(a.lo, m), floor_mod(a.hi, m), 1, 0);
	return make(0, m - 1, num_gcd(a.mod, m), a.res);
}

static Num extreme(Num a, Num b, bool least)
{
	if (least ? a.hi <= b.lo : a.lo >= b.hi)
		return a;
	if (least ? b.hi <= a.lo : b.lo >= a.hi)
		return b;
	int64_t lo = least == (a.lo < b.lo) ? a.lo : b.lo;
	int64_t hi = least == (a.hi < b.hi) ? a.hi : b.hi;
	return make(lo, hi, num_gcd(num_gcd(a.mod, b.mod), a.res - b.res), a.res);
}

static Num truth(bool yes, bool no)
{
	return yes ? num_exact(1) : no ? num_exact(0) : make(0, 1, 1, 0);
}

static Num equal(Num a, Num b)
{
	int64_t x, y, m = num_gcd(a.mod, b.mod);
	bool both = num_is_exact(a, &x) && num_is_exact(b, &y);
	bool apart = a.hi < b.lo || b.hi < a.lo || (m && floor_mod(a.res - b.res, m));
	return truth(both && x == y, apart || (both && x != y));
}

static Num compare(IxKind kind, Num a, Num b)
{
	Num e;
	switch (kind) {
	case IX_LT:
		return truth(a.hi < b.lo, a.lo >= b.hi);
	case IX_LE:
		return truth(a.hi <= b.lo, a.lo > b.hi);
	case IX_NE:
		e = equal(a, b);
		return truth(e.hi == 0, e.lo == 1);
	case IX_AND:
		return truth((a.lo > 0 || a.hi < 0) && (b.lo > 0 || b.hi < 0),
			     (!a.lo && !a.hi) || (!b.lo && !b.hi));
	case IX_OR:
		return truth(a.lo > 0 || a.hi < 0 || b.lo > 0 || b.hi < 0,
			     !a.lo && !a.hi && !b.lo && !b.hi);
	default:
		return equal(a, b);
	}
}

static Num shift(IxKind kind, Num a, Num b)
{
	int64_t n;
	if (!num_is_exact(b, &n) || n < 0 || n > 40)
		return anything();
	return kind == IX_SHL ? mul_by(a, (int64_t)1 << n) : num_div(a, (int64_t)1 << n);
}

static Num lookup(const Env *e, const char *name)
{
	for (int i = e->n - 1; i >= 0; i--)
		if (e->name[i] == name)
			return e->value[i];
	return anything();
}

Num num_eval(const Ix *x, const Env *e)
{
	int64_t d;
	if (x->kind == IX_CONST)
		return x->value > -FAR && x->value < FAR ? num_exact(x->value) : anything();
	if (x->kind == IX_SYM)
		return lookup(e, x->name);
	Num a = num_eval(x->a, e), b = num_eval(x->b, e);
	switch (x->kind) {
	case IX_ADD:
		return num_add(a, b);
	case IX_MUL:
		return mul(a, b);
	case IX_DIV:
		return num_is_exact(b, &d) && d > 0 ? num_div(a, d) : anything();
	case IX_MOD:
		return num_is_exact(b, &d) && d > 0 ? num_mod(a, d) : anything();
	case IX_MIN:
	case IX_MAX:
		return extreme(a, b, x->kind == IX_MIN);
	case IX_SHL:
	case IX_SHR:
		return shift(x->kind, a, b);
	case IX_XOR:
		return a.mod || b.mod ? anything() : num_exact(a.res ^ b.res);
	default:
		return compare(x->kind, a, b);
	}
}

/* ------------------------------------------------------------------ what must be known */
void ix_needs(const Ix *x, int64_t q, void (*needs)(void *user, const char *name, int64_t q),
	      void *user)
{
	int64_t c;
	if (x->kind == IX_CONST)
		return;
	if (x->kind == IX_SYM) {
		needs(user, x->name, q);
		return;
	}
	if (x->kind == IX_SHR) { /* never decided but by exact numbers */
		ix_needs(x->a, FAR / 2, needs, user);
		ix_needs(x->b, FAR / 2, needs, user);
	} else if (x->kind == IX_DIV && ix_is_const(x->b, &c) && c > 0 && c < FAR / q) {
		ix_needs(x->a, q * c, needs, user);
	} else if (x->kind == IX_MOD && ix_is_const(x->b, &c) && c > 0) {
		ix_needs(x->a, c, needs, user);
	} else if (x->kind == IX_MUL && ix_is_const(x->b, &c) && c) {
		ix_needs(x->a, q / num_gcd(q, c), needs, user);
	} else {
		bool same = x->kind == IX_ADD || x->kind == IX_MUL || x->kind == IX_MIN ||
			    x->kind == IX_MAX;
		ix_needs(x->a, same ? q : 1, needs, user);
		ix_needs(x->b, same ? q : 1, needs, user);
	}
}
