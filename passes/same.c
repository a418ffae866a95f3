/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* same.c - the analysis of same.h. The rank is a number below 16, so it is replaced by each in
 * turn, and each pair of ranks is one equation between two expressions, which theorems, a period or
 * isl decide. What does not depend on the rank is one unknown of which only range and divisor
 * are kept:
 *     (t * clusters * 4 + cluster * 4 + rank) / 6  ->  (u + rank) / 6, u a multiple of 4
 * What depends on it and is not quasi-affine (a quotient by an extent) is equal where its operands
 * are: they become keys of their own, and the relation may be narrower than the truth. */
#include "passes/same.h"

#include <string.h>

enum { PERIOD = 1024, UNKNOWNS = 8 };

typedef struct {
	const Ix *real, *unknown;
} Hidden;

typedef struct {
	const SameFrame *f;
	Ctx *c;
	VEC(Hidden) hidden;
	VEC(IxFact) facts;                           /* of the unknowns */
	const Ix *real[SAME_KEYS], *seen[SAME_KEYS]; /* keys; the same behind unknowns */
	int nkeys, functions;                        /* hidden so far */
	bool narrowed;
} Analysis;

static bool uses_rank(const Ix *x)
{
	return ix_uses(x, "rank");
}

/* ------------------------------------------------------------------ unknowns */
static const Ix *hide(Analysis *a, const Ix *x)
{
	Arena *arena = ctx_arena(a->c);
	int64_t lo, hi, div = uses_rank(x) ? 1 : ix_divisor(x, a->f->facts);
	for (int i = 0; i < a->hidden.n; i++)
		if (a->hidden.at[i].real == x)
			return a->hidden.at[i].unknown;
	ix_range(x, a->f->facts, &lo, &hi);
	if (lo == hi)
		return ix_const(a->c, lo);
	const char *name = ctx_strf(a->c, "u%d", a->hidden.n);
	const Ix *u = ix_sym(a->c, name);
	vec_push(arena, &a->facts, ((IxFact){name, lo, hi, div > 0 ? div : 1}));
	vec_push(arena, &a->hidden, ((Hidden){x, u}));
	return u;
}

static bool key_add(Analysis *a, const Ix *x);

/* Equal where its operands are. */
static const Ix *hide_function(Analysis *a, const Ix *x)
{
	a->functions++;
	if (uses_rank(x->a))
		a->narrowed |= key_add(a, x->a);
	if (uses_rank(x->b))
		a->narrowed |= key_add(a, x->b);
	return hide(a, x);
}

static bool quasi_affine(const Ix *x)
{
	switch (x->kind) {
	case IX_ADD:
	case IX_MIN:
	case IX_MAX:
		return true;
	case IX_MUL:
		return x->b->kind == IX_CONST;
	case IX_DIV:
	case IX_MOD:
		return x->b->kind == IX_CONST && x->b->value > 0;
	default:
		return false;
	}
}

/* The terms of a sum with and without rank. */
static void sum_split(Ctx *c, const Ix *x, const Ix **with, const Ix **without)
{
	if (x->kind == IX_ADD) {
		sum_split(c, x->a, with, without);
		sum_split(c, x->b, with, without);
	} else if (uses_rank(x)) {
		*with = ix_add(c, *with, x);
	} else {
		*without = ix_add(c, *without, x);
	}
}

static const Ix *seen(Analysis *a, const Ix *x);

static const Ix *seen_sum(Analysis *a, const Ix *x)
{
	const Ix *with = ix_const(a->c, 0), *without = with;
	sum_split(a->c, x, &with, &without);
	if (!ix_is(without, 0))
		return ix_add(a->c, seen(a, with), hide(a, without));
	return ix_add(a->c, seen(a, with->a), seen(a, with->b));
}

/* x with unknowns for what does not depend on the rank, or not as isl understands it. */
static const Ix *seen(Analysis *a, const Ix *x)
{
	if (x->kind == IX_CONST)
		return x;
	if (!uses_rank(x))
		return hide(a, x);
	if (x->kind == IX_SYM)
		return x;
	if (!quasi_affine(x))
		return hide_function(a, x);
	if (x->kind == IX_ADD)
		return seen_sum(a, x);
	return ix_new(a->c, x->kind, seen(a, x->a), seen(a, x->b));
}

/* Terms that are equal on both sides need not be compared: those without rank, and those that
 * other keys make equal. */
static const Ix *compared(Analysis *a, const Ix *x)
{
	if (x->kind == IX_ADD)
		return ix_add(a->c, compared(a, x->a), compared(a, x->b));
	if (!uses_rank(x))
		return ix_const(a->c, 0);
	if (x->kind == IX_MUL && x->b->kind == IX_CONST)
		return ix_mul(a->c, compared(a, x->a), x->b);
	return x->kind == IX_SYM || quasi_affine(x) ? x : (hide_function(a, x), ix_const(a->c, 0));
}

/* What is quasi-affine is simplified; a quotient by an extent would grow together with those in it,
 * which say more: x / 6 / n as x / (n * 6) is a function of x, not of x / 6. */
static const Ix *key_simplify(Analysis *a, const Ix *x)
{
	int before = a->functions;
	x = compared(a, x);
	seen(a, x);
	if (a->functions > before)
		return x;
	x = compared(a, ix_simplify(a->c, x, a->f->facts));
	return ix_simplify(a->c, x, a->f->facts);
}

/* False if x does not depend on the rank, or not by itself. */
static bool key_add(Analysis *a, const Ix *x)
{
	const Ix *real = key_simplify(a, x);
	if (!uses_rank(real))
		return false;
	for (int i = 0; i < a->nkeys; i++)
		if (a->real[i] == real)
			return true;
	const Ix *s = seen(a, real);
	if (a->nkeys == SAME_KEYS) {
		/* The rank itself: nobody shares anything. */
		a->real[0] = a->seen[0] = ix_sym(a->c, "rank");
		return a->narrowed = true;
	}
	a->real[a->nkeys] = real;
	a->seen[a->nkeys++] = s;
	return true;
}

/* ------------------------------------------------------------------ pairs */
typedef struct {
	const Ix *at[SAME_KEYS][CLUSTER_CTAS]; /* each key at each rank, behind unknowns */
	Verdict pair[CLUSTER_CTAS][CLUSTER_CTAS];
} Pairs;

static const Ix *at_rank(Ctx *c, const Ix *x, int rank)
{
	return ix_subst(c, x, "rank", ix_const(c, rank));
}

static void keys_evaluate(Analysis *a, Same *s, Pairs *p)
{
	IxFacts facts = {.at = a->facts.at, .n = a->facts.n};
	for (int i = 0; i < a->nkeys; i++)
		for (int r = 0; r < s->ranks; r++)
			p->at[i][r] = ix_simplify_by(a->c, at_rank(a->c, a->seen[i], r), facts,
						     &s->rules);
}

typedef struct {
	const Analysis *a;
	int64_t at[UNKNOWNS];
} Sample;

static bool sample_value(void *user, const char *name, int64_t *v)
{
	const Sample *s = user;
	for (int i = 0; i < s->a->facts.n && i < UNKNOWNS; i++)
		if (!strcmp(s->a->facts.at[i].name, name))
			return *v = s->at[i], true;
	return false;
}

/* What x grows by when `name` grows by `step`, if that is the same everywhere. */
static bool growth(const Ix *x, const char *name, int64_t step, int64_t *by)
{
	int64_t a, b;
	if (x->kind == IX_CONST || x->kind == IX_SYM)
		return *by = x->kind == IX_SYM && !strcmp(x->name, name) ? step : 0, true;
	if (!growth(x->a, name, step, &a) || !growth(x->b, name, step, &b))
		return false;
	*by = 0;
	if (x->kind == IX_ADD)
		return !__builtin_add_overflow(a, b, by);
	if (x->kind == IX_MUL && x->b->kind == IX_CONST)
		return !__builtin_mul_overflow(a, x->b->value, by);
	if ((x->kind == IX_DIV || x->kind == IX_MOD) && x->b->kind == IX_CONST) {
		*by = x->kind == IX_DIV ? a / x->b->value : 0;
		return a % x->b->value == 0;
	}
	*by = a;
	if (x->kind == IX_MIN || x->kind == IX_MAX)
		return a == b;
	*by = 0;
	return x->kind == IX_EQ && a == b;
}

/* In how many steps of its divisor an unknown takes an equation through all it can be; 0: not few.
 */
static int64_t period_of(const Ix *equal, const IxFact *f)
{
	int64_t by;
	for (int64_t n = 1; n <= PERIOD; n++)
		if (growth(equal, f->name, f->div * n, &by))
			return n;
	return 0;
}

/* Where both sides grow alike over a period of each unknown, one period of each shows everything:
 * no for all, yes for all, or unknown for both seen. */
static bool decide_by_period(const Analysis *a, const Ix *equal, Verdict *v)
{
	Sample s = {.a = a};
	int64_t period[UNKNOWNS], all = 1, value;
	bool seen_value[2] = {false, false};
	for (int i = 0; i < a->facts.n; i++) {
		const IxFact *f = &a->facts.at[i];
		if (i == UNKNOWNS || f->div > PERIOD * PERIOD ||
		    !(period[i] = period_of(equal, f)) || (all *= period[i]) > PERIOD)
			return false;
	}
	for (int64_t n = 0; n < all && !(seen_value[0] && seen_value[1]); n++) {
		int64_t left = n;
		for (int i = 0; i < a->facts.n; i++) {
			s.at[i] = left % period[i] * a->facts.at[i].div;
			left /= period[i];
		}
		if (!ix_eval(equal, sample_value, &s, &value))
			return false;
		seen_value[value != 0] = true;
	}
	*v = seen_value[0] && seen_value[1] ? JUDGED_UNKNOWN
	     : seen_value[1]                ? JUDGED_YES
					    : JUDGED_NO;
	return true;
}

/* Two unknowns may have to do with each other. */
static bool decide_as_it_is(Analysis *a, Same *s, int key, int r, int q, Verdict *v)
{
	const Ix *x = at_rank(a->c, a->real[key], r), *y = at_rank(a->c, a->real[key], q);
	int64_t value;
	x = ix_simplify_by(a->c, ix_new(a->c, IX_EQ, x, y), a->f->facts, &s->rules);
	if (!ix_is_const(x, &value))
		return false;
	*v = value ? JUDGED_YES : JUDGED_NO;
	return true;
}

/* By theorems, by a period, by isl. */
static Verdict key_decide(Analysis *a, Same *s, const Pairs *p, int key, int r, int q)
{
	IxFacts facts = {.at = a->facts.at, .n = a->facts.n};
	const Ix *x = p->at[key][r], *y = p->at[key][q];
	int64_t value;
	Verdict v;
	if (x == y)
		return JUDGED_YES;
	const Ix *equal = ix_simplify_by(a->c, ix_new(a->c, IX_EQ, x, y), facts, &s->rules);
	if (ix_is_const(equal, &value))
		return value ? JUDGED_YES : JUDGED_NO;
	if (a->hidden.n > 1 && decide_as_it_is(a, s, key, r, q, &v))
		return v;
	if (decide_by_period(a, equal, &v)) {
		s->by_period |= v != JUDGED_UNKNOWN;
		return v;
	}
	v = judge_holds(a->f->judge, equal, facts);
	s->by_isl |= v != JUDGED_UNKNOWN;
	return v;
}

static Verdict pair_decide(Analysis *a, Same *s, const Pairs *p, int r, int q)
{
	Verdict all = JUDGED_YES;
	for (int i = 0; i < a->nkeys && all != JUDGED_NO; i++) {
		Verdict v = key_decide(a, s, p, i, r, q);
		if (v != JUDGED_YES)
			all = v;
	}
	return all;
}

static void pair_set(Pairs *p, int r, int q, Verdict v)
{
	p->pair[r][q] = p->pair[q][r] = v;
}

/* A rank that always loads what a lower one loads is to others as that one is. */
static void pairs_decide(Analysis *a, Same *s, Pairs *p)
{
	int like[CLUSTER_CTAS];
	for (int r = 0; r < s->ranks; r++) {
		like[r] = r;
		for (int q = 0; q < r && like[r] == r; q++)
			if (like[q] == q) {
				pair_set(p, r, q, pair_decide(a, s, p, r, q));
				like[r] = p->pair[r][q] == JUDGED_YES ? q : r;
			}
		for (int q = 0; q < r; q++)
			if (like[q] == like[r])
				pair_set(p, r, q, JUDGED_YES);
			else
				pair_set(p, r, q, p->pair[like[r]][like[q]]);
	}
}

/* "Always the same" is transitive, whether or not each pair was decided. */
static void groups_close(Same *s, const Pairs *p)
{
	for (int r = 0; r < s->ranks; r++)
		for (int q = 0; q < s->ranks; q++)
			if (r == q || p->pair[r][q] == JUDGED_YES)
				s->always[r] |= (uint16_t)(1u << q);
	for (int by = 0; by < s->ranks; by++)
		for (int r = 0; r < s->ranks; r++)
			if (s->always[r] >> by & 1)
				s->always[r] |= s->always[by];
}

static void groups_of(Same *s, const Pairs *p)
{
	groups_close(s, p);
	for (int r = 0; r < s->ranks; r++) {
		s->ever[r] = s->always[r];
		for (int q = 0; q < s->ranks; q++) {
			if (q == r || p->pair[r][q] == JUDGED_YES)
				continue;
			bool together = s->always[r] >> q & 1;
			if (together && p->pair[r][q] == JUDGED_NO)
				panic("ranks %d and %d load the same and do not", r, q);
			if (p->pair[r][q] == JUDGED_UNKNOWN)
				s->ever[r] |= (uint16_t)(1u << q);
		}
	}
}

/* ------------------------------------------------------------------ what it depends on */
typedef struct {
	const SameName *at;
	int n;
	SameDepends most;
} Names;

static void name_seen(void *user, const char *name)
{
	Names *n = user;
	SameDepends d =
		!strcmp(name, "cluster") || !strcmp(name, "cta") ? SAME_BY_CLUSTER : SAME_BY_LAUNCH;
	for (int i = 0; i < n->n; i++)
		if (!strcmp(n->at[i].name, name))
			d = n->at[i].depends;
	if (d > n->most)
		n->most = d;
}

/* The equation of a pair that is sometimes the same, with its names. */
static SameDepends depends_on(const SameFrame *f, const Same *s)
{
	Names n = {f->names, f->nnames, SAME_CONSTANT};
	for (int r = 0; r < s->ranks; r++)
		for (int q = 0; q < r; q++)
			for (int i = 0; i < s->nkeys; i++) {
				if ((s->ever[r] & (uint16_t)~s->always[r]) >> q & 1) {
					const Ix *x = at_rank(f->ctx, s->key[i], r);
					const Ix *y = at_rank(f->ctx, s->key[i], q);
					x = ix_sub(f->ctx, x, y);
					x = ix_simplify(f->ctx, x, f->facts);
					ix_names(x, name_seen, &n);
				}
			}
	return n.most;
}

/* A narrowed relation is the truth if ranks that it calls different always have an origin that
 * differs. */
static bool never_same(const SameFrame *f, const Ix *const *origin, int n, int r, int q)
{
	for (int i = 0; i < n; i++) {
		const Ix *x = ix_new(f->ctx, IX_EQ, at_rank(f->ctx, origin[i], r),
				     at_rank(f->ctx, origin[i], q));
		if (ix_is(ix_simplify(f->ctx, x, f->facts), 0))
			return true;
	}
	return false;
}

static bool is_exact(const SameFrame *f, const Same *s, const Ix *const *origin, int n)
{
	for (int r = 0; r < s->ranks; r++)
		for (int q = 0; q < r; q++)
			if (!(s->always[r] >> q & 1) && !never_same(f, origin, n, r, q))
				return false;
	return true;
}

/* ------------------------------------------------------------------ the question */
static void keys_keep(const Analysis *a, Same *s, const Pairs *p)
{
	for (int i = 0; i < a->nkeys; i++) {
		bool needed = false;
		for (int r = 1; r < s->ranks; r++)
			needed |= p->at[i][r] != p->at[i][0];
		if (needed)
			s->key[s->nkeys++] = a->real[i];
	}
}

/* The hardware's other names of a CTA are functions of the rank. */
static const Ix *of_rank(const SameFrame *f, const Ix *x)
{
	Ctx *c = f->ctx;
	const Ix *ranks = ix_const(c, f->ranks);
	const Ix *cta = ix_add(c, ix_mul(c, ix_sym(c, "cluster"), ranks), ix_sym(c, "rank"));
	x = ix_subst(c, x, "cta", cta);
	return ix_subst(c, x, "ctas", ix_mul(c, ix_sym(c, "clusters"), ranks));
}

/* The frame, in which the rank is known to be one of this cluster. */
static SameFrame with_rank(const SameFrame *f)
{
	SameFrame own = *f;
	IxFact *at = NEWN(ctx_arena(f->ctx), IxFact, f->facts.n + 1);
	if (f->facts.n)
		memcpy(at, f->facts.at, sizeof *at * (size_t)f->facts.n);
	at[f->facts.n] = (IxFact){ctx_str(f->ctx, "rank"), 0, f->ranks - 1, 1};
	own.facts = (IxFacts){.at = at, .n = f->facts.n + 1};
	return own;
}

Same same_bulk(const SameFrame *frame, const Ix *const *origin, int n)
{
	SameFrame with = with_rank(frame), *f = &with;
	Analysis a = {.f = f, .c = f->ctx};
	Same s = {.ranks = f->ranks};
	const Ix **own = NEWN(ctx_arena(f->ctx), const Ix *, n);
	Pairs *p = NEW(ctx_arena(f->ctx), Pairs);
	if (f->ranks < 1 || f->ranks > CLUSTER_CTAS)
		panic("a cluster of %d CTAs", f->ranks);
	for (int i = 0; i < n; i++) {
		own[i] = of_rank(f, origin[i]);
		key_add(&a, own[i]);
	}
	keys_evaluate(&a, &s, p);
	pairs_decide(&a, &s, p);
	groups_of(&s, p);
	keys_keep(&a, &s, p);
	s.depends = depends_on(f, &s);
	s.narrowed = a.narrowed && !is_exact(f, &s, own, n);
	return s;
}

const Ix *same_with(const SameFrame *frame, const Same *s, int other)
{
	Ctx *c = frame->ctx;
	SameFrame f = with_rank(frame);
	const Ix *all = ix_const(c, 1);
	for (int i = 0; i < s->nkeys; i++) {
		const Ix *x = ix_new(c, IX_EQ, s->key[i], at_rank(c, s->key[i], other));
		all = ix_new(c, IX_AND, all, x);
	}
	return ix_simplify(c, all, f.facts);
}

/* ------------------------------------------------------------------ lets */
static const Op *op_ahead(const Op *op)
{
	return op->prev ? op->prev : op_parent(op);
}

typedef VEC(SameName) NameVec;

/* From the outermost inwards, so that a let knows the names in its value. */
static void names_ahead(const Kernel *k, const Op *op, NameVec *v)
{
	if (!op)
		return;
	names_ahead(k, op_ahead(op), v);
	if (op->kind != OP_LET && op->kind != OP_FOR)
		return;
	Names n = {v->at, v->n, op->kind == OP_FOR ? SAME_BY_ITERATION : SAME_CONSTANT};
	for (int i = 0; op->kind == OP_LET && i < op->nix; i++)
		ix_names(op->ix[i], name_seen, &n);
	vec_push(ctx_arena(k->ctx), v, ((SameName){op->sym[0], n.most}));
}

SameFrame same_frame(const Kernel *k, const Op *at, Judge *j, int ranks)
{
	NameVec v = {0};
	names_ahead(k, at, &v);
	return (SameFrame){k->ctx, j, kernel_facts(k), ranks, v.at, v.n};
}

const Ix *same_resolve(const Kernel *k, const Op *at, const Ix *x)
{
	for (const Op *op = at; op; op = op_ahead(op)) {
		if (op->kind != OP_LET || !ix_uses(x, op->sym[0]))
			continue;
		const Ix *v = same_resolve(k, op_ahead(op), op->ix[0]);
		if (uses_rank(v) || ix_uses(v, "cta"))
			x = ix_subst(k->ctx, x, op->sym[0], v);
	}
	return x;
}
