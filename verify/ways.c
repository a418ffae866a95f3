/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ways.c - what the CTAs of a cluster share may differ from tile to tile: masks and conditions that
 * compare expressions of the tile. A way is the values that all of these have together in one tile.
 * The tile's number has residues that decide quotients by constants; what they leave open is open
 * to all equivalence relations of what is compared.
 *     x * 2 / 3 == (x * 2 + 1) / 3   ->   x = 0 (mod 3): 1;  1: 0;  2: 1   ->   2 ways
 */
#include "verify/read.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RESIDUES = 1024, MAX_TERMS = 64, MAX_EQUAL = 256, MAX_CHOSEN = 4096 };

/* A comparison that a residue leaves open, and the sides of all of them. */
typedef struct {
	const Ix *at[MAX_EQUAL], *terms[MAX_TERMS];
	int a[MAX_EQUAL], b[MAX_EQUAL]; /* terms */
	int family[MAX_TERMS]; /* those that are compared, by way of others too, are of one */
	int label[MAX_TERMS];  /* equal: the same in this choice */
	int n, nterms;
	bool many;
} Equals;

typedef struct {
	const Ix *x, **at; /* the same at each residue; NULL: not yet */
} Compared;

typedef struct {
	Reader *r;
	Program *p;
	Ctx *c;
	VEC(const Ix *) xs;   /* in question */
	VEC(const Ix *) here; /* the same at this residue */
	VEC(bool) open;       /* not decided by any choice */
	VEC(Compared) atoms;  /* their comparisons, by id */
	const char *cluster, *clusters;
	const Ix *unit;   /* of the tile: quotients are of its multiples; NULL: there are none */
	PtrMap with_unit; /* what put_unit makes at this residue */
	const Ix *by;     /* what stands for it: period * #unit + residue */
	VEC(IxFact) facts;
	Equals eq;
	int64_t lo, hi; /* of the unit */
	int64_t *values, tried, residue;
	bool finds; /* ways, no longer what is open */
} Finder;

/* ------------------------------------------------------------------ expressions in question */
static bool is_known(const Finder *f, const char *name)
{
	const Kernel *k = f->p->k;
	for (int i = 0; i < k->syms.n; i++)
		if (k->syms.at[i].name == name)
			return true;
	return name == f->p->tile || name == f->cluster || name == f->clusters;
}

static void check_name(void *user, const char *name)
{
	Finder *f = user;
	f->finds &= is_known(f, name);
}

/* Its names are sizes, the cluster and the tile. */
static bool of_tiles(Finder *f, const Ix *x)
{
	f->finds = true;
	ix_names(x, check_name, f);
	return f->finds && ix_uses(x, f->p->tile);
}

static bool compares(const Ix *x)
{
	return x->kind == IX_EQ ||
	       (x->kind != IX_CONST && x->kind != IX_SYM && (compares(x->a) || compares(x->b)));
}

static bool is_atom(const Ix *x)
{
	return x->kind == IX_EQ && !compares(x->a) && !compares(x->b);
}

static void add_atoms(Finder *f, const Ix *x)
{
	if (!compares(x))
		return;
	if (!is_atom(x)) {
		add_atoms(f, x->a);
		add_atoms(f, x->b);
		return;
	}
	for (int i = 0; i < f->atoms.n; i++)
		if (f->atoms.at[i].x == x)
			return;
	vec_push(f->p->arena, &f->atoms,
		 ((Compared){x, NEWN(f->p->arena, const Ix *, f->p->way_period)}));
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = ((const Compared *)a)->x->id, y = ((const Compared *)b)->x->id;
	return (x > y) - (x < y);
}

static const Compared *atom_of(const Finder *f, const Ix *x)
{
	Compared key = {x, NULL};
	return x->kind != IX_EQ ? NULL
				: bsearch(&key, f->atoms.at, (size_t)f->atoms.n, sizeof key, by_id);
}

static void find_atoms(Finder *f)
{
	f->atoms.n = 0;
	for (int i = 0; i < f->xs.n; i++)
		add_atoms(f, f->xs.at[i]);
	qsort(f->atoms.at, (size_t)f->atoms.n, sizeof *f->atoms.at, by_id);
}

static void ask(Finder *f, const Ix *x)
{
	for (int rank = 0; rank < f->p->m.ranks; rank++) {
		const Ix *y = read_seen(f->r, x, f->p->rank + rank);
		bool old = !compares(y) || !of_tiles(f, y);
		for (int i = 0; i < f->xs.n && !old; i++)
			old = f->xs.at[i] == y;
		if (!old)
			vec_push(f->p->arena, &f->xs, y);
	}
}

static void ask_all(Finder *f)
{
	for (const Op *op = kernel_first(f->p->k); op; op = op_next(op)) {
		for (int i = 0; op->kind == OP_IF && !read_only_reads(op) && i < op->nix; i++)
			ask(f, op->ix[i]);
		if (op_done_by(op, DONE_BY_BARRIER) && attrs_int(&op->attrs, A_SHARED, 0))
			ask(f, op->ix[op->nix - 1]);
	}
}

/* ------------------------------------------------------------------ residues of the tile */
static int64_t gcd(int64_t a, int64_t b)
{
	return b ? gcd(b, a % b) : a < 0 ? -a : a;
}

/* x = constant + times * leaf */
static const Ix *leaf_of(const Ix *x, int64_t *times)
{
	*times = 1;
	if (x->kind == IX_ADD && ix_is_const(x->b, NULL))
		x = x->a;
	if (x->kind == IX_MUL && ix_is_const(x->b, times))
		x = x->a;
	return x;
}

/* The first divided, innermost first. */
static void find_unit(Finder *f, const Ix *x)
{
	int64_t d, times;
	if (x->kind == IX_CONST || x->kind == IX_SYM)
		return;
	find_unit(f, x->a);
	find_unit(f, x->b);
	const Ix *by = x->b->kind == IX_MUL ? x->b->b : x->b;
	if ((x->kind != IX_DIV && x->kind != IX_MOD) || !ix_is_const(by, &d) || d < 2)
		return;
	const Ix *leaf = leaf_of(x->a, &times);
	bool fit = leaf->kind == IX_SYM || leaf->kind == IX_MIN || leaf->kind == IX_MAX;
	if (!f->unit && fit && ix_uses(leaf, f->p->tile))
		f->unit = leaf;
	if (leaf == f->unit)
		f->p->way_period = lcm(f->p->way_period, d / gcd(d, times));
}

/* x / (y * 12) is x / 12 / y, and the first is decided. */
static const Ix *put_unit(Finder *f, const Ix *x)
{
	if (x == f->unit)
		return f->by;
	if (x->kind == IX_CONST || x->kind == IX_SYM)
		return x;
	const Ix *y = ptrmap_get(&f->with_unit, x);
	if (y)
		return y;
	const Ix *a = put_unit(f, x->a), *b = put_unit(f, x->b);
	int64_t d;
	if (x->kind == IX_DIV && b->kind == IX_MUL && ix_is_const(b->b, &d) && d > 0) {
		IxFacts facts = {.at = f->facts.at, .n = f->facts.n};
		a = ix_simplify(f->c, ix_div(f->c, a, b->b), facts);
		b = b->a;
	}
	y = a == x->a && b == x->b ? x : ix_new(f->c, x->kind, a, b);
	ptrmap_set(&f->with_unit, x, (Ix *)(uintptr_t)y);
	return y;
}

static const Ix *at_residue(Finder *f, const Ix *x)
{
	x = f->unit ? put_unit(f, x) : x;
	return ix_simplify(f->c, x, (IxFacts){.at = f->facts.at, .n = f->facts.n});
}

static void find_facts(Finder *f)
{
	const IxFacts all = kernel_facts(f->p->k);
	IxFact tile = {f->p->tile, 0, INT64_MAX, 1};
	for (int i = 0; i < all.n; i++)
		if (is_known(f, all.at[i].name))
			vec_push(f->p->arena, &f->facts, all.at[i]);
	vec_push(f->p->arena, &f->facts, tile);
	f->hi = INT64_MAX;
	if (f->unit)
		ix_range(f->unit, (IxFacts){.at = f->facts.at, .n = f->facts.n}, &f->lo, &f->hi);
	int64_t least = f->lo < 0 ? INT64_MIN : 0, periods = f->hi / f->p->way_period;
	IxFact unit = {ctx_str(f->c, "#unit"), least, f->hi < INT64_MAX ? periods : f->hi, 1};
	vec_push(f->p->arena, &f->facts, unit);
}

/* ------------------------------------------------------------------ what residues leave open */
static int term_of(Equals *eq, const Ix *x)
{
	int i = 0;
	while (i < eq->nterms && eq->terms[i] != x)
		i++;
	if (i == MAX_TERMS)
		eq->many = true;
	else if (i == eq->nterms) {
		eq->family[i] = i;
		eq->terms[eq->nterms++] = x;
	}
	return i;
}

static void add_equals(Equals *eq, const Ix *x)
{
	if (x->kind == IX_CONST || x->kind == IX_SYM)
		return;
	if (!is_atom(x)) {
		add_equals(eq, x->a);
		add_equals(eq, x->b);
		return;
	}
	for (int i = 0; i < eq->n; i++)
		if (eq->at[i] == x)
			return;
	int a = term_of(eq, x->a), b = term_of(eq, x->b);
	eq->many |= eq->n == MAX_EQUAL;
	if (eq->many)
		return;
	int from = eq->family[a], to = eq->family[b];
	for (int i = 0; i < eq->nterms; i++)
		eq->family[i] = eq->family[i] == from ? to : eq->family[i];
	eq->a[eq->n] = a;
	eq->b[eq->n] = b;
	eq->at[eq->n++] = x;
}

static const Ix *put_equals(Finder *f, const Ix *x)
{
	const Equals *eq = &f->eq;
	if (x->kind == IX_CONST || x->kind == IX_SYM)
		return x;
	for (int i = 0; x->kind == IX_EQ && i < eq->n; i++)
		if (eq->at[i] == x)
			return ix_const(f->c, eq->label[eq->a[i]] == eq->label[eq->b[i]]);
	const Ix *a = put_equals(f, x->a), *b = put_equals(f, x->b);
	return a == x->a && b == x->b ? x : ix_new(f->c, x->kind, a, b);
}

/* With what the residue says of comparisons. */
static const Ix *put_atoms(Finder *f, const Ix *x)
{
	if (x->kind == IX_CONST || x->kind == IX_SYM)
		return x;
	const Compared *atom = atom_of(f, x);
	if (atom)
		return atom->at[f->residue];
	const Ix *a = put_atoms(f, x->a), *b = put_atoms(f, x->b);
	return a == x->a && b == x->b ? x : ix_new(f->c, x->kind, a, b);
}

static bool value_of(Finder *f, const Ix *x, int64_t *v)
{
	x = put_equals(f, x);
	return ix_is_const(x, v) || ix_is_const(at_residue(f, x), v);
}

/* ------------------------------------------------------------------ ways */
static int way_with(Finder *f)
{
	Program *p = f->p;
	for (int w = 0; w < p->words.ways; w++) {
		bool same = true;
		for (int i = 0; i < p->decided.n && same; i++)
			same = p->decided.at[i].value[w] == f->values[i];
		if (same)
			return w;
	}
	if (p->words.ways == MAX_WAYS) {
		f->eq.many = true;
		return -1;
	}
	for (int i = 0; i < p->decided.n; i++)
		p->decided.at[i].value[p->words.ways] = f->values[i];
	return p->words.ways++;
}

/* With a label for each term. */
static void try_choice(Finder *f)
{
	int way;
	f->eq.many |= ++f->tried > MAX_CHOSEN + MAX_RESIDUES;
	for (int i = 0, n = 0; i < f->xs.n && !f->eq.many; i++) {
		bool fixed = value_of(f, f->here.at[i], &f->values[n]);
		f->open.at[i] |= !fixed;
		n += f->finds;
	}
	if (f->finds && !f->eq.many && (way = way_with(f)) >= 0 && !f->eq.n)
		f->p->way_of[f->residue] = way;
}

static void choose_from(Finder *f, int term)
{
	Equals *eq = &f->eq;
	int fresh = 0;
	if (term == eq->nterms) {
		try_choice(f);
		return;
	}
	for (int i = 0; i < term; i++)
		if (eq->family[i] == eq->family[term] && eq->label[i] >= fresh)
			fresh = eq->label[i] + 1;
	for (int i = 0; i <= fresh && !eq->many; i++) {
		eq->label[term] = i;
		choose_from(f, term + 1);
	}
}

static void look_at_residue(Finder *f, int64_t residue)
{
	Program *p = f->p;
	const Ix *unit = ix_sym(f->c, ctx_str(f->c, "#unit"));
	f->residue = residue;
	f->by = ix_add(f->c, ix_mul(f->c, unit, ix_const(f->c, p->way_period)),
		       ix_const(f->c, residue));
	f->with_unit = (PtrMap){.arena = p->arena};
	f->eq.n = f->eq.nterms = 0;
	for (int i = 0; i < f->atoms.n; i++) {
		const Ix **here = &f->atoms.at[i].at[residue];
		*here = *here ? *here : at_residue(f, f->atoms.at[i].x);
	}
	f->here.n = 0;
	for (int i = 0; i < f->xs.n; i++) {
		vec_push(p->arena, &f->here, put_atoms(f, f->xs.at[i]));
		add_equals(&f->eq, f->here.at[i]);
	}
	if (!f->eq.many)
		choose_from(f, 0);
}

static void look_at_all(Finder *f)
{
	f->tried = 0;
	for (int64_t i = 0; i < f->p->way_period && !f->eq.many; i++)
		if (f->lo < 0 || i <= f->hi) /* else no tile has this residue */
			look_at_residue(f, i);
}

/* Without what stays open, which is not followed. */
static bool drop_open(Finder *f)
{
	int n = 0;
	for (int i = 0; i < f->xs.n; i++)
		if (!f->open.at[i])
			f->xs.at[n++] = f->xs.at[i];
	bool some = n < f->xs.n;
	f->xs.n = n;
	return some;
}

static void make_ways(Finder *f)
{
	Program *p = f->p;
	for (int i = 0; i < f->xs.n; i++)
		vec_push(p->arena, &p->decided,
			 ((Decided){f->xs.at[i], NEWN(p->arena, int64_t, MAX_WAYS)}));
	p->way_of = NEWN(p->arena, int, p->way_period);
	for (int64_t i = 0; i < p->way_period; i++)
		p->way_of[i] = -1;
	p->words.ways = 0;
	f->finds = true;
	look_at_all(f);
}

static bool too_many(Finder *f)
{
	return read_limit(f->r, LIMIT_WAYS, f->p->k->loc);
}

bool read_ways(Reader *r)
{
	Program *p = r->p;
	Finder *f = NEW(p->arena, Finder);
	*f = (Finder){.r = r, .p = p, .c = p->k->ctx};
	f->cluster = ctx_str(f->c, "cluster");
	f->clusters = ctx_str(f->c, "clusters");
	p->words.ways = 1;
	p->way_period = 1;
	if (p->m.ranks > 1) /* else nothing is shared: a run follows what its tiles decide */
		ask_all(f);
	for (int i = 0; i < f->xs.n; i++) {
		find_unit(f, f->xs.at[i]);
		vec_push(p->arena, &f->open, false);
	}
	if (!f->xs.n)
		return true;
	p->steps_freely = f->unit && ix_uses(f->unit, f->cluster) && ix_uses(f->unit, f->clusters);
	if (p->way_period > MAX_RESIDUES)
		return too_many(f);
	f->values = NEWN(p->arena, int64_t, f->xs.n);
	find_facts(f);
	find_atoms(f);
	f->finds = false;
	look_at_all(f);
	if (!f->eq.many && drop_open(f))
		find_atoms(f);
	if (f->xs.n && !f->eq.many)
		make_ways(f);
	return !f->eq.many || too_many(f);
}

/* ------------------------------------------------------------------ questions */
const int64_t *ways_value(const Program *p, const Ix *x)
{
	for (int i = 0; i < p->decided.n; i++)
		if (p->decided.at[i].x == x)
			return p->decided.at[i].value;
	return NULL;
}

void ways_all(const Program *p, WaySet set)
{
	memset(set, 0, sizeof(WaySet));
	for (int w = 0; w < p->words.ways; w++)
		way_add(set, w);
}

/* Keeps those in which x is not 0, or has a bit of `bits`. */
bool ways_keep(const Program *p, WaySet set, const Ix *x, int64_t bits)
{
	const int64_t *v = ways_value(p, x);
	for (int w = 0; v && w < p->words.ways; w++)
		if (!(v[w] & bits))
			set[w / 64] &= ~((uint64_t)1 << (w % 64));
	return v != NULL;
}

bool ways_none(const WaySet set)
{
	for (int i = 0; i < MAX_WAYS / 64; i++)
		if (set[i])
			return false;
	return true;
}

bool way_is_real(const Program *p, int way)
{
	for (int64_t i = 0; p->decided.n && i < p->way_period; i++)
		if (p->way_of[i] == way)
			return true;
	return !p->decided.n;
}

/* Runs are numbered start + period * step of the tile's residue. */
int program_way_of(void *program, int64_t run, int64_t tile)
{
	const Program *p = program;
	int64_t n = p->way_period;
	if (!p->decided.n)
		return 0;
	return p->steps_freely ? p->way_of[(run % n + run / n * tile) % n] : -1;
}
