/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* clauses.c - what the facts of a kernel say of its sizes beyond their ranges: which two are equal,
 * and which residues they have, and so the trip counts that are made of them.
 *     where K % 256 == 64, K == L, loop (0, (L + 63) / 64)   ->   trips are 1 (mod 4)
 */
#include "verify/read.h"

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

void read_equals(Reader *r)
{
	each_fact(r, note_equal, NULL);
}

void read_put_equals(Reader *r, View *v)
{
	for (int i = 0; r->p->equal && i < r->equals.n; i++)
		vec_push(r->p->arena, &v->names, r->equals.at[i]);
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
	for (int i = 0; i < r->facts.n; i++) {
		const IxFact *f = &r->facts.at[i];
		if (name_of(r, f->name) != name_of(r, name))
			continue;
		lo = f->lo > lo ? f->lo : lo;
		hi = f->hi < hi ? f->hi : hi;
		if (f->div > 1 && f->div <= MAX_MODULUS)
			of.num = meet(of.num, num_from(0, f->div, 0));
	}
	each_fact(r, note_residue, &of);
	return lo == hi ? num_exact(lo) : num_within(lo, hi, of.num.mod, of.num.res);
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
