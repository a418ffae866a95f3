/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* size_facts.c - what the facts of a kernel say of its sizes beyond their ranges: which two are
 * equal, and which residues they have, and so the trip counts that are made of them.
 *     where K % 256 == 64, K == L, loop (0, (L + 63) / 64)   ->   trips are 1 (mod 4)
 */
#include "verify/read/read.h"

enum { MAX_MODULUS = 1 << 16 };

/* ------------------------------------------------------------------ facts, one by one */
typedef void Saw(Reader *r, void *user, const Ix *cond);

static void each_of(Reader *r, const Ix *x, Saw *saw, void *user)
{
	if (x->kind == IX_AND) {
		each_of(r, x->a, saw, user);
		each_of(r, x->b, saw, user);
		return;
	}
	saw(r, user, x);
}

static void each_fact(Reader *r, Saw *saw, void *user)
{
	const Kernel *k = r->p->k;
	for (int i = 0; i < k->facts.n; i++)
		each_of(r, k->facts.at[i].cond, saw, user);
}

/* ------------------------------------------------------------------ what a launch says */
typedef struct {
	IxFact *at;
	int n;
	IxFacts facts; /* before */
} Least;

static bool is_natural(const Least *l, const Ix *x)
{
	return ix_least(x, l->facts) >= 0;
}

/* x is n or more, n > 0. */
static void put_least(Least *l, const Ix *x, int64_t n)
{
	int64_t v;
	bool by = x->b && ix_is_const(x->b, &v) && v > 0 && v <= MAX_MODULUS;
	for (int i = 0; i < l->n && x->kind == IX_SYM; i++)
		if (l->at[i].name == x->name && l->at[i].lo < n && n <= l->at[i].hi)
			l->at[i].lo = n;
	if (x->kind == IX_MIN ||
	    (x->kind == IX_MUL && is_natural(l, x->a) && is_natural(l, x->b))) {
		int64_t each = x->kind == IX_MIN ? n : 1;
		put_least(l, x->a, each);
		put_least(l, x->b, each);
	} else if (x->kind == IX_DIV && by) {
		put_least(l, x->a, n * v);
	} else if (x->kind == IX_ADD && by && n > v) {
		put_least(l, x->a, n - v);
	}
}

/* A multiple of 64 that is 1 or more is 64 or more. */
static IxFact rounded(IxFact f)
{
	int64_t more = f.div > 1 && f.lo > 0 && f.lo % f.div ? f.div - f.lo % f.div : 0;
	f.lo += f.lo <= INT64_MAX - more ? more : 0;
	return f;
}

/* Where a CTA runs, the grid has one: launch ((M + 63) / 64, 1, 1)   ->   M is 1 or more */
void read_facts(Reader *r, bool launched)
{
	IxFacts all = kernel_facts(r->p->k);
	Least l = {NEWN(r->p->arena, IxFact, all.n + 1), all.n, all};
	for (int i = 0; i < l.n; i++)
		l.at[i] = rounded(all.at[i]);
	for (const Op *op = kernel_first(r->p->k); launched && op; op = op_next(op))
		for (int i = 0; op->kind == OP_LAUNCH && i < op->nix; i++)
			put_least(&l, op->ix[i], 1);
	r->facts = (IxFacts){.at = l.at, .n = l.n, .places = all.places};
}

/* ------------------------------------------------------------------ equal sizes */
static const char *name_of(const Reader *r, const char *name)
{
	for (int i = 0; i < r->equals.n; i++)
		if (r->equals.at[i].name == name)
			return r->equals.at[i].by->name;
	return name;
}

static void note_equal(Reader *r, void *user, const Ix *x)
{
	(void)user;
	if (x->kind != IX_EQ || x->a->kind != IX_SYM || x->b->kind != IX_SYM)
		return;
	const char *to = name_of(r, x->a->name), *from = name_of(r, x->b->name);
	const Ix *by = ix_sym(r->p->k->ctx, to);
	if (to == from)
		return;
	for (int i = 0; i < r->equals.n; i++)
		if (r->equals.at[i].by->name == from)
			r->equals.at[i].by = by;
	vec_push(r->p->arena, &r->equals, ((Named){from, by}));
}

/* ------------------------------------------------------------------ residues */
/* Both at once; of two that exclude each other, the first. */
static Num meet(Num a, Num b)
{
	int64_t mod = lcm(a.mod, b.mod);
	if (mod > MAX_MODULUS)
		return a.mod > b.mod ? a : b;
	for (int64_t x = a.res; x < mod; x += a.mod)
		if ((x - b.res) % b.mod == 0)
			return num_from(a.lo, mod, x);
	return a;
}

typedef struct {
	const char *name;
	Num num;
} Residue;

/* name % mod == res */
static void note_residue(Reader *r, void *user, const Ix *x)
{
	Residue *of = user;
	int64_t mod, res;
	bool is = x->kind == IX_EQ && x->a->kind == IX_MOD && x->a->a->kind == IX_SYM &&
		  ix_is_const(x->b, &res) && ix_is_const(x->a->b, &mod);
	if (is && mod > 1 && res >= 0 && res < mod && mod <= MAX_MODULUS &&
	    name_of(r, x->a->a->name) == name_of(r, of->name))
		of->num = meet(of->num, num_from(0, mod, res));
}

/* What is known of a name is known of the one that stands for it. */
static Num num_of_size(Reader *r, const char *name)
{
	Residue of = {name, num_from(0, 1, 0)};
	int64_t lo = INT64_MIN, hi = INT64_MAX;
	EACH(const IxFact, f, r->facts) {
		if (name_of(r, f->name) != name_of(r, name))
			continue;
		lo = f->lo > lo ? f->lo : lo;
		hi = f->hi < hi ? f->hi : hi;
		if (f->div > 1 && f->div <= MAX_MODULUS)
			of.num = meet(of.num, num_from(0, f->div, 0));
	}
	each_fact(r, note_residue, &of);
	int64_t mod = of.num.mod > 1 ? of.num.mod : 1;
	lo += lo < 0 ? 0 : (of.num.res - lo % mod + mod) % mod;
	hi -= hi == INT64_MAX ? 0 : ((hi - of.num.res) % mod + mod) % mod;
	return lo == hi ? num_exact(lo) : num_within(lo, hi, of.num.mod, of.num.res);
}

typedef struct {
	const char *name;
	bool beside; /* a fact has it beside others, of which it says something together */
} Alone;

static void note_other(void *user, const char *name)
{
	Alone *a = user;
	a->beside |= name != a->name;
}

static void note_beside(Reader *r, void *user, const Ix *x)
{
	Alone *a = user;
	bool equal = x->kind == IX_EQ && x->a->kind == IX_SYM && x->b->kind == IX_SYM;
	(void)r;
	if (!equal && ix_uses(x, a->name))
		ix_names(x, note_other, a);
}

static bool is_alone(Reader *r, const char *name)
{
	Alone a = {name, false};
	each_fact(r, note_beside, &a);
	return !a.beside;
}

/* A size of which facts leave one value is that number, unless that takes it out of a fact. */
void read_equals(Reader *r)
{
	each_fact(r, note_equal, NULL);
	for (int i = 0; i < r->facts.n; i++) {
		const char *name = r->facts.at[i].name;
		int64_t v;
		if (num_is_exact(num_of_size(r, name), &v) && is_alone(r, name))
			vec_push(r->p->arena, &r->fixed,
				 ((Named){name, ix_const(r->p->k->ctx, v)}));
	}
}

void read_put_equals(Reader *r, View *v)
{
	for (int i = 0; i < r->equals.n; i++)
		vec_push(r->p->arena, &v->names, r->equals.at[i]);
	for (int i = 0; i < r->fixed.n; i++)
		vec_push(r->p->arena, &v->names, r->fixed.at[i]);
}

typedef struct {
	Reader *r;
	Env env;
	bool many;
} Sizes;

static void put_size(void *user, const char *name)
{
	Sizes *s = user;
	for (int i = 0; i < s->env.n; i++)
		if (s->env.name[i] == name)
			return;
	s->many |= s->env.n == NUM_NAMES;
	if (!s->many)
		env_put(&s->env, name, num_of_size(s->r, name));
}

Num read_number(Reader *r, const Ix *x)
{
	Sizes s = {.r = r};
	ix_names(x, put_size, &s);
	return s.many ? num_within(INT64_MIN, INT64_MAX, 1, 0) : num_eval(x, &s.env);
}
