/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ix_sum.c - the normal form of sums, products, minima and maxima.
 *     3 + b + 2*a - a   ->   a + b + 3          (2*(a + b))*n*3  ->  n * (a * 2 + b * 2) * 3
 * A sum is a left-leaning chain of terms base*coef in the order of ix_cmp, the constant last, no
 * two with the same base. A product is a chain of factors, the constant last; a constant times a
 * sum is spread over the sum. A step that would overflow is not taken, and the chain keeps both
 * parts. */
#include "layout/ixp.h"

int64_t gcd64(int64_t a, int64_t b)
{
	uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
	uint64_t y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
	while (y) {
		uint64_t r = x % y;
		x = y;
		y = r;
	}
	return x > (uint64_t)INT64_MAX ? INT64_C(1) << 62 : (int64_t)x;
}

/* ------------------------------------------------------------------ sums */
IxTerm ix_term(const Ix *x)
{
	if (x->kind == IX_CONST)
		return (IxTerm){x, NULL, x->value};
	if (x->kind == IX_MUL && x->b->kind == IX_CONST && x->a->kind != IX_CONST)
		return (IxTerm){x, x->a, x->b->value};
	return (IxTerm){x, x, 1};
}

static int term_cmp(const IxTerm *s, const IxTerm *t)
{
	if (s->base != t->base) {
		if (!s->base || !t->base)
			return s->base ? -1 : 1;
		return ix_cmp(s->base, t->base);
	}
	return s->coef < t->coef ? -1 : s->coef > t->coef;
}

static void terms_drop(IxTerms *ts, int i)
{
	for (ts->n--; i < ts->n; i++)
		ts->at[i] = ts->at[i + 1];
}

static void terms_insert(Ctx *c, IxTerms *ts, IxTerm t)
{
	int i = ts->n;
	vec_push(ctx_tmp(c), ts, t);
	for (; i > 0 && term_cmp(&t, &ts->at[i - 1]) < 0; i--)
		ts->at[i] = ts->at[i - 1];
	ts->at[i] = t;
}

static void terms_put(Ctx *c, IxTerms *ts, const Ix *x)
{
	if (x->kind == IX_ADD) {
		terms_put(c, ts, x->a);
		terms_put(c, ts, x->b);
		return;
	}
	IxTerm t = ix_term(x);
	if (ix_is(x, 0))
		return;
	for (int i = 0; i < ts->n; i++) {
		int64_t coef;
		if (ts->at[i].base != t.base ||
		    __builtin_add_overflow(ts->at[i].coef, t.coef, &coef))
			continue;
		terms_drop(ts, i);
		x = ix_const(c, coef);
		terms_put(c, ts, t.base ? ix_mul(c, t.base, x) : x);
		return;
	}
	terms_insert(c, ts, t);
}

void ix_terms(Ctx *c, const Ix *x, IxTerms *out)
{
	terms_put(c, out, x);
}

const Ix *ix_sum(Ctx *c, const IxTerms *ts)
{
	const Ix *sum = NULL;
	for (int i = 0; i < ts->n; i++)
		sum = sum ? ix_node(c, IX_ADD, sum, ts->at[i].x) : ts->at[i].x;
	return sum ? sum : ix_const(c, 0);
}

const Ix *ix_add(Ctx *c, const Ix *a, const Ix *b)
{
	IxTerms ts = {0};
	int64_t v;
	if (a->kind == IX_CONST && b->kind == IX_CONST && ix_fold(IX_ADD, a->value, b->value, &v))
		return ix_const(c, v);
	if (ix_is(a, 0))
		return b;
	if (ix_is(b, 0))
		return a;
	ArenaMark mark = arena_mark(ctx_tmp(c));
	terms_put(c, &ts, a);
	terms_put(c, &ts, b);
	a = ix_sum(c, &ts);
	arena_release(ctx_tmp(c), mark);
	return a;
}

/* ------------------------------------------------------------------ products */
static void list_insert(Ctx *c, IxList *l, const Ix *x)
{
	int i = l->n;
	vec_push(ctx_tmp(c), l, x);
	for (; i > 0 && ix_cmp(x, l->at[i - 1]) < 0; i--)
		l->at[i] = l->at[i - 1];
	l->at[i] = x;
}

static void list_drop(IxList *l, int i)
{
	for (l->n--; i < l->n; i++)
		l->at[i] = l->at[i + 1];
}

/* A constant joins one that is there already, if their product fits. */
static void factors_put(Ctx *c, IxList *fs, const Ix *x)
{
	if (x->kind == IX_MUL) {
		factors_put(c, fs, x->a);
		factors_put(c, fs, x->b);
		return;
	}
	for (int i = 0; x->kind == IX_CONST && i < fs->n; i++) {
		int64_t v;
		if (fs->at[i]->kind != IX_CONST ||
		    __builtin_mul_overflow(fs->at[i]->value, x->value, &v))
			continue;
		list_drop(fs, i);
		factors_put(c, fs, ix_const(c, v));
		return;
	}
	if (!ix_is(x, 1))
		list_insert(c, fs, x);
}

void ix_factors(Ctx *c, const Ix *x, IxList *out)
{
	factors_put(c, out, x);
}

static bool sum_scales(const IxTerms *ts, int64_t k)
{
	int64_t v;
	for (int i = 0; i < ts->n; i++)
		if (__builtin_mul_overflow(ts->at[i].coef, k, &v))
			return false;
	return true;
}

static const Ix *scale(Ctx *c, const Ix *x, const Ix *k)
{
	IxTerms ts = {0}, out = {0};
	if (x->kind != IX_ADD)
		return ix_node(c, IX_MUL, x, k);
	terms_put(c, &ts, x);
	if (!sum_scales(&ts, k->value))
		return ix_node(c, IX_MUL, x, k);
	for (int i = 0; i < ts.n; i++)
		terms_put(c, &out, ix_mul(c, ts.at[i].x, k));
	return ix_sum(c, &out);
}

const Ix *ix_product(Ctx *c, const Ix *a, const Ix *b)
{
	IxList fs = {0};
	const Ix *x = NULL;
	if (ix_is(a, 0) || ix_is(b, 1))
		return a;
	if (ix_is(b, 0) || ix_is(a, 1))
		return b;
	ArenaMark mark = arena_mark(ctx_tmp(c));
	factors_put(c, &fs, a);
	factors_put(c, &fs, b);
	for (int i = 0; i < fs.n && (!x || !ix_is(x, 0)); i++) {
		const Ix *f = fs.at[i];
		if (!x || ix_is(f, 0))
			x = f;
		else
			x = f->kind == IX_CONST ? scale(c, x, f) : ix_node(c, IX_MUL, x, f);
	}
	arena_release(ctx_tmp(c), mark);
	return x ? x : ix_const(c, 1);
}

/* ------------------------------------------------------------------ minima and maxima */
static void extreme_put(Ctx *c, IxKind kind, IxList *l, const Ix *x)
{
	int64_t v;
	if (x->kind == kind) {
		extreme_put(c, kind, l, x->a);
		extreme_put(c, kind, l, x->b);
		return;
	}
	for (int i = 0; i < l->n; i++) {
		if (l->at[i] == x)
			return;
		if (l->at[i]->kind == IX_CONST && x->kind == IX_CONST) {
			ix_fold(kind, l->at[i]->value, x->value, &v);
			l->at[i] = ix_const(c, v);
			return;
		}
	}
	list_insert(c, l, x);
}

const Ix *ix_extreme(Ctx *c, IxKind kind, const Ix *a, const Ix *b)
{
	IxList l = {0};
	ArenaMark mark = arena_mark(ctx_tmp(c));
	extreme_put(c, kind, &l, a);
	extreme_put(c, kind, &l, b);
	const Ix *x = l.at[0];
	for (int i = 1; i < l.n; i++)
		x = ix_node(c, kind, x, l.at[i]);
	arena_release(ctx_tmp(c), mark);
	return x;
}
