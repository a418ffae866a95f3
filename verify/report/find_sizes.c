/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* find_sizes.c - looks for concrete sizes by trying: each name has some values that could
 * matter, made of the numbers in the conditions; a condition is asked as soon as all its names
 * have values. */
#include "verify/report/find_sizes.h"

#include <stdlib.h>

#include "verify/sums/conds.h"
#include "verify/report/failed_tries.h"

enum {
	BOUND = 5,       /* names that the hardware or the launch binds */
	FOUND_SIZES = 8, /* of what an operation finds */
	MAX_CONDS = 96,
	MAX_VALUES = 48, /* of a name */
	MAX_NUMBERS = 14,
	USUAL = 8, /* extents that people have are multiples of it */
	MAX_FACTOR = 1 << 20,
	MAX_TRIED = 20000000, /* of parts of conditions */
	MAX_SPENT = 300000000,
	MAX_LOOKED = 1 << 16, /* at values of a name by itself */
	MAX_PARTS_OF = 1 << 16,
	SOME_SMS = 12,
	SOME_CTAS = 24
};

typedef struct {
	const char *name;
	int64_t lo, hi, div;
	const Ix *is; /* what it is; NULL: one of its values */
	bool few;     /* all of them are tried */
	int64_t values[MAX_VALUES];
	int n;
	int64_t value;
	bool set;
} Size;

typedef struct {
	const Kernel *k;
	Ctx *ctx;
	const Wishes *w;
	Size sizes[MAX_SIZES];
	int n;
	const Ix *conds[MAX_CONDS];
	int last[MAX_CONDS]; /* the last size that it needs */
	int parts[MAX_CONDS];
	int nconds;
	Conds *steps;                 /* the same, where they are completed */
	int64_t numbers[MAX_NUMBERS]; /* that conditions name */
	int nnumbers;
	int tail;     /* sizes from here on are one of few values, or no choice */
	int64_t *key; /* what they are asked about the sizes before them */
	Tried *in_vain;
	int tried, seen;
	uint64_t why; /* which sizes must differ for what failed last to hold, as bits */
	SizesSeen *see;
	void *user;
} Search;

void wish(Wishes *w, const Ix *cond)
{
	if (w->n < MAX_WISHES)
		w->cond[w->n++] = cond;
}

void wish_near(Wishes *w, int64_t n)
{
	if (w->nnear < MAX_WISHES && n > 1)
		w->near[w->nnear++] = n;
}

const Ix *sizes_of(const Sizes *s, const char *name)
{
	for (int i = 0; i < s->n; i++)
		if (s->at[i].name == name)
			return s->at[i].by;
	return NULL;
}

/* ------------------------------------------------------------------ names */
static Size *size_of(Search *s, const char *name)
{
	for (int i = 0; i < s->n; i++)
		if (s->sizes[i].name == name)
			return &s->sizes[i];
	return NULL;
}

static Size *add_size(Search *s, const char *name, int64_t lo, int64_t hi, int64_t div)
{
	name = ctx_str(s->ctx, name);
	Size *of = size_of(s, name);
	if (of || s->n == MAX_SIZES)
		return of ? of : &s->sizes[MAX_SIZES - 1];
	s->sizes[s->n] = (Size){.name = name, .lo = lo, .hi = hi, .div = div < 1 ? 1 : div};
	return &s->sizes[s->n++];
}

static void add_of_kernel(void *user, const char *name)
{
	Search *s = user;
	const IxFact *f = NULL;
	for (int i = 0; i < s->k->syms.n; i++)
		f = s->k->syms.at[i].name == name ? &s->k->syms.at[i] : f;
	if (f)
		add_size(s, name, f->lo, f->hi, f->div);
}

/* Lists that begin with none, one, two or three times 64, and go on otherwise: with b = 64
 *     65: 0, 65, 65   129: 64, 0, 129   128: 63, 128, 128   64: 64, 64, 64   0: none */
static void find_lists(Search *s)
{
	enum { B = 64 };
	static const int64_t begins[] = {B + 1, 2 * B + 1, 2 * B, B, 0};
	EACH_OF(const FoundBy, by, s->w->found, s->w->nfound) {
		Size *first = add_size(s, by->a[0], 0, MAX_FACTOR, 1);
		for (size_t j = 0; j < COUNTOF(begins); j++)
			first->values[first->n++] = begins[j];
		first->few = true;
		for (int j = 0; j < by->op->nsym; j++) {
			add_size(s, by->b[j], 0, MAX_FACTOR, 1)->is = ix_const(s->ctx, B);
			if (j)
				add_size(s, by->a[j], 0, MAX_FACTOR, 1)->is =
					ix_sym(s->ctx, by->a[0]);
		}
	}
}

/* What is found before the roles is one number for all: of rows, or of tiles. */
static void find_numbers_found(Search *s)
{
	static const int64_t some[] = {1, 0, 2, 3, 4, 65, 129};
	for (const Op *op = kernel_first(s->k); op; op = op->next)
		for (int i = 0; op_only_names(op) && op->kind != OP_LET && i < op->nsym; i++) {
			Size *of = add_size(s, op->sym[i], 0, MAX_FACTOR, 1);
			for (size_t j = 0; j < COUNTOF(some) && !of->few; j++)
				of->values[of->n++] = some[j];
			of->few = true;
		}
}

/* Sizes in the order in which conditions ask for them, then what the launch makes of them. */
static void find_sizes(Search *s, int ctas)
{
	Ctx *c = s->ctx;
	const Op *launch = kernel_find(s->k, OP_LAUNCH);
	const Ix *each = ix_const(c, ctas), *all = ix_sym(c, "ctas");
	for (int i = 0; i < s->w->n; i++)
		ix_names(s->w->cond[i], add_of_kernel, s);
	for (int i = 0; i < s->k->facts.n; i++)
		ix_names(s->k->facts.at[i].cond, add_of_kernel, s);
	for (int i = 0; i < s->k->syms.n; i++)
		add_of_kernel(s, s->k->syms.at[i].name);
	add_size(s, "sms", 1, SOME_SMS * ctas, 1)->few = true;
	Size *of = add_size(s, "ctas", ctas, launch ? INT32_MAX : SOME_CTAS * ctas, ctas);
	of->is = launch ? IX(launch, X) : NULL;
	of->few = true;
	add_size(s, "clusters", 1, INT32_MAX, 1)->is = ix_div(c, all, each);
	if (s->w->cluster)
		add_size(s, SIZES_GROUP, 0, SOME_CTAS, 1)->few = true;
	of = add_size(s, "cluster", 0, s->w->cluster ? INT32_MAX : SOME_CTAS, 1);
	of->is = s->w->cluster;
	of->few = true;
	if (ctas == 1)
		add_size(s, "cta", 0, INT32_MAX, 1)->is = ix_sym(c, "cluster");
	find_numbers_found(s);
	find_lists(s);
}

/* ------------------------------------------------------------------ conditions */
static bool get(void *user, const char *name, int64_t *v)
{
	const Size *of = size_of(user, name);
	if (!of || !of->set)
		return false;
	*v = of->value;
	return true;
}

typedef struct {
	Search *s;
	int last;
} Last;

static void note_last(void *user, const char *name)
{
	Last *l = user;
	const Size *of = size_of(l->s, name);
	int at = of ? (int)(of - l->s->sizes) : MAX_SIZES;
	l->last = at > l->last ? at : l->last;
}

static void add_number(Search *s, int64_t v)
{
	v = v < 0 ? -v : v;
	if (v < 1 || v > MAX_FACTOR || s->nnumbers == MAX_NUMBERS)
		return;
	for (int i = 0; i < s->nnumbers; i++)
		if (s->numbers[i] == v)
			return;
	s->numbers[s->nnumbers++] = v;
}

/* What is divided by, or all. */
static void add_numbers(Search *s, const Ix *x, bool divisors)
{
	if (x->kind == IX_CONST || x->kind == IX_SYM)
		return;
	bool divides = x->kind == IX_DIV || x->kind == IX_MOD;
	if (x->b->kind == IX_CONST && (divides || !divisors))
		add_number(s, x->b->value);
	add_numbers(s, x->a, divisors);
	add_numbers(s, x->b, divisors);
}

/* As often as they are evaluated. */
static int parts_of(const Ix *x, int most)
{
	if (!x->a || most <= 0)
		return 1;
	int n = parts_of(x->a, most);
	return 1 + n + parts_of(x->b, most - n);
}

/* One that names what is no size is left out: it is about a thread. */
static void add_cond(Search *s, const Ix *x)
{
	Last l = {s, 0};
	ix_names(x, note_last, &l);
	if (l.last == MAX_SIZES || s->nconds == MAX_CONDS)
		return;
	s->conds[s->nconds] = x;
	s->parts[s->nconds] = parts_of(x, MAX_PARTS_OF);
	s->last[s->nconds++] = l.last;
}

static void find_conds(Search *s)
{
	Ctx *c = s->ctx;
	const Op *launch = kernel_find(s->k, OP_LAUNCH);
	const Ix *one = ix_const(c, 1);
	for (int i = 0; i < s->w->n; i++)
		add_cond(s, s->w->cond[i]);
	for (int i = 0; i < s->k->facts.n; i++)
		add_cond(s, s->k->facts.at[i].cond);
	for (int i = 0; launch && i < launch->nix; i++)
		add_cond(s, ix_new(c, IX_LE, one, launch->ix[i]));
	add_cond(s, ix_new(c, IX_LT, ix_sym(c, "cluster"), ix_sym(c, "clusters")));
	for (int i = 0; i < s->nconds; i++)
		add_numbers(s, s->conds[i], true);
	for (int i = 0; i < s->nconds; i++)
		add_numbers(s, s->conds[i], false);
}

static int number_of(void *user, const char *name)
{
	const Search *s = user;
	const Size *of = size_of(user, name);
	return of ? (int)(of - s->sizes) : -1;
}

static void order_conds(Search *s)
{
	s->steps = conds_new(s->ctx, s->n, number_of, s);
	for (int at = 0; at < s->n; at++) {
		if (s->sizes[at].is)
			conds_want(s->steps, s->sizes[at].is);
		for (int i = 0; i < s->nconds; i++)
			if (s->last[i] == at)
				conds_add(s->steps, s->conds[i], at, s->parts[i]);
	}
}

/* The tail takes values of other sizes for none of its own: what is tried there in vain is in vain
 * wherever the conditions get the same numbers of the sizes before. */
static void find_tail(Search *s)
{
	s->tail = s->n;
	while (s->tail > 0 && (s->sizes[s->tail - 1].is || s->sizes[s->tail - 1].few))
		s->tail--;
	int numbers = conds_cut(s->steps, s->tail);
	s->key = NEWN(ctx_arena(s->ctx), int64_t, numbers + 1);
	s->in_vain = tried_new(ctx_arena(s->ctx), numbers);
}

static void spend(Search *s, int spent)
{
	s->tried += spent;
	*s->w->spent += spent;
}

static bool holds(Search *s, int at)
{
	int spent = 0;
	s->why = conds_hold(s->steps, at, s->sizes[at].value, &spent);
	spend(s, spent);
	return !s->why;
}

/* ------------------------------------------------------------------ values */
static void add_value(Size *of, int64_t v)
{
	v = v < of->lo ? of->lo : v;
	v = (v + of->div - 1) / of->div * of->div;
	if (of->n == MAX_VALUES || v > of->hi || v < of->lo)
		return;
	for (int i = 0; i < of->n; i++)
		if (of->values[i] == v)
			return;
	of->values[of->n++] = v;
}

/* Conditions on this name alone. */
static bool alone(Search *s, Size *of, int64_t v)
{
	bool ok = true;
	of->value = v;
	of->set = true;
	for (int i = 0; i < s->nconds && ok; i++) {
		int64_t holds;
		if (s->last[i] == of - s->sizes && ix_eval(s->conds[i], get, s, &holds))
			ok = holds != 0;
	}
	of->set = false;
	return ok;
}

static void try_value(Search *s, Size *of, int64_t v)
{
	int n = of->n;
	add_value(of, v);
	if (of->n > n && !alone(s, of, of->values[n]))
		of->n = n;
}

static void try_multiples(Search *s, Size *of, int64_t by, int64_t more)
{
	for (int i = 0; i < s->nnumbers; i++)
		try_value(s, of, s->numbers[i] * by + more);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Multiples of what conditions divide by, in order; a little more or less, and sums of such. */
static void find_values(Search *s, Size *of)
{
	int64_t near[MAX_WISHES + 3] = {1, 2, 3};
	int n = 3;
	for (int i = 0; i < s->w->nnear; i++)
		near[n++] = s->w->near[i];
	for (int j = 0; j < s->nnumbers; j++)
		for (int i = 0; i < n && s->numbers[j] % USUAL == 0; i++)
			try_value(s, of, s->numbers[j] * near[i]);
	qsort(of->values, (size_t)of->n, sizeof *of->values, by_value);
	try_value(s, of, of->lo > 0 ? of->lo : 1);
	try_value(s, of, 0);
	for (int i = 0; i < n; i++) {
		try_multiples(s, of, near[i], 0);
		try_multiples(s, of, near[i], -1);
		try_multiples(s, of, near[i], 1);
	}
	for (int j = 0; j < s->nnumbers; j++)
		for (int i = 0; i < n; i++)
			try_multiples(s, of, near[i], s->numbers[j]);
	if (of->hi < MAX_FACTOR)
		try_value(s, of, of->hi);
}

/* All, from the least on; of what nothing asks for, one. What never holds is not asked for ever. */
static void find_few(Search *s, Size *of, int most)
{
	int64_t v = (of->lo + of->div - 1) / of->div * of->div;
	v = !v && most == 1 ? of->div : v;
	for (int i = 0; i < MAX_LOOKED && v <= of->hi && of->n < most; i++, v += of->div)
		if (alone(s, of, v))
			of->values[of->n++] = v;
}

/* ------------------------------------------------------------------ search */
static bool found(Search *s)
{
	Sizes all = {.n = s->n};
	for (int i = 0; i < s->n; i++)
		all.at[i] = (Named){s->sizes[i].name, ix_const(s->ctx, s->sizes[i].value)};
	s->seen++;
	s->why = UINT64_MAX;
	return s->see(s->user, &all);
}

static bool search(Search *s, int at);

static uint64_t bit(int at)
{
	return UINT64_C(1) << at;
}

static bool fits(const Size *of, int64_t v)
{
	return v >= of->lo && v <= of->hi && (of->div == 1 || v % of->div == 0);
}

static bool with(Search *s, int at, int64_t v)
{
	Size *of = &s->sizes[at];
	s->why = bit(at);
	if (!fits(of, v))
		return false;
	of->value = v;
	return holds(s, at) && search(s, at + 1);
}

static bool is_over(const Search *s)
{
	return s->tried > MAX_TRIED || *s->w->spent > MAX_SPENT || s->seen >= s->w->most;
}

static bool is_value(const Size *of, int64_t v)
{
	for (int i = 0; i < of->n; i++)
		if (of->values[i] == v)
			return true;
	return false;
}

/* One value after another, until what fails does not depend on it: then no other helps. */
typedef struct {
	Search *s;
	int at;
	uint64_t why; /* the values that failed so far */
	bool taken;
} Trial;

/* Whether the search at this size goes on. */
static bool goes_on(Trial *t, int64_t v)
{
	t->taken = with(t->s, t->at, v);
	bool helps = (t->s->why & bit(t->at)) != 0;
	t->why = helps ? t->why | (t->s->why & ~bit(t->at)) : t->s->why;
	return !t->taken && helps && !is_over(t->s);
}

/* Another size's value may be the one: of two that are equal, of a stride that is an extent. */
static void search_others(Trial *t)
{
	Search *s = t->s;
	bool on = true;
	for (int i = 0; i < t->at && on; i++)
		on = is_value(&s->sizes[t->at], s->sizes[i].value) || goes_on(t, s->sizes[i].value);
	if (on)
		t->why |= bit(t->at) - 1;
}

/* The only value, or the values of its own. Whether the search at this size goes on. */
static bool search_own(Trial *t)
{
	Search *s = t->s;
	const Size *of = &s->sizes[t->at];
	int64_t v;
	int seen = s->seen;
	bool on = true;
	if (of->is) {
		t->why = conds_names(s->steps, of->is);
		if (conds_value(s->steps, of->is, t->at, &v))
			goes_on(t, v);
		return false;
	}
	for (int i = 0; i < of->n && on; i++)
		on = !(of->few && s->w->apart && s->seen > seen) && goes_on(t, of->values[i]);
	return on && !of->few;
}

static bool search_level(Search *s, int at)
{
	Trial t = {.s = s, .at = at};
	if (search_own(&t))
		search_others(&t);
	s->why = t.why;
	return t.taken;
}

/* It counts as spent what was spent when it was tried first: so a limit is met where it was. */
static bool search_tail(Search *s)
{
	int tried = s->tried, seen = s->seen;
	conds_cut_values(s->steps, s->key);
	const InVain *before = tried_find(s->in_vain, s->key);
	if (before) {
		s->why = before->why;
		spend(s, before->spent);
		return false;
	}
	bool taken = search_level(s, s->tail);
	if (s->seen == seen && !is_over(s)) {
		conds_cut_values(s->steps, s->key);
		tried_add(s->in_vain, s->key, (InVain){s->why, s->tried - tried});
	}
	return taken;
}

static bool search(Search *s, int at)
{
	if (at == s->n)
		return found(s);
	if (is_over(s))
		return false;
	return at == s->tail ? search_tail(s) : search_level(s, at);
}

static void find_all_values(Search *s)
{
	EACH_OF(Size, of, s->sizes, s->n) {
		bool asked = false;
		if (of->is || of->n)
			continue;
		for (int j = 0; j < s->nconds; j++)
			asked |= ix_uses(s->conds[j], of->name);
		if (of->few || !asked)
			find_few(s, of, asked ? MAX_VALUES : 1);
		else
			find_values(s, of);
		of->few |= !asked;
	}
}

bool sizes_find(const Kernel *k, int ctas, const Wishes *w, SizesSeen *seen, void *user)
{
	if (k->syms.n + (1 + w->nfound) * FOUND_SIZES > MAX_SIZES - BOUND || ctas < 1)
		return false;
	Search *s = NEW(ctx_arena(k->ctx), Search);
	*s = (Search){.k = k, .ctx = k->ctx, .w = w, .see = seen, .user = user};
	find_sizes(s, ctas);
	find_conds(s);
	find_all_values(s);
	order_conds(s);
	find_tail(s);
	return search(s, 0);
}
