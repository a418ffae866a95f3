/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* dependent_counts.c - counts that are not on their own: one that the trip of an outer loop says,
 * and one that another count says.
 *     for i (0, 3) { for j (i, 3) .. }        ->   in trip i the second runs 3 - i times
 *     m + 1 trips, and then m * 2 % 3 + 1     ->   the second is (n * 2 - 2) % 3 + 1, of the first
 */
#include "verify/tree/tree.h"

/* ------------------------------------------------------------------ by the trip */
typedef struct {
	const Branch *in;
	int agent;
	bool other; /* a name that is not of a loop that a run is in */
} Names;

static void note_name(void *user, const char *name)
{
	Names *n = user;
	bool own = false;
	for (const Branch *b = n->in; b && !own; b = b->up)
		own = b->of[n->agent] && b->of[n->agent]->turns == 1 &&
		      b->of[n->agent]->own == name;
	n->other |= !own;
}

/* How often a loop runs where the trip of its home is known and says it; NULL: it is not so. */
const Ix *scope_said(const Tree *t, const Scope *s, const Count *n)
{
	Ctx *c = t->p->k->ctx;
	View v = {.ctx = c};
	Names all = {n->home, n->agent, false};
	ix_names(n->trip, note_name, &all);
	if (!n->home || !s->u[n->home->id] || all.other)
		return NULL;
	for (const Branch *b = n->home; b; b = b->up)
		if (b->of[n->agent])
			vec_push(t->arena, &v.names,
				 ((Named){b->of[n->agent]->own, scope_trips(t, s, b)}));
	return stage(&v, n->trip);
}

/* ------------------------------------------------------------------ by another count */
static void note_any(void *user, const char *name)
{
	(void)name;
	*(bool *)user = true;
}

/* With a name for the other one. */
static const Ix *by_count(const Tree *t, const Count *n, const Count *of, const Ix *name)
{
	Ctx *c = t->p->k->ctx;
	View v = {.ctx = c};
	int64_t more;
	bool some = false;
	const Ix *core = read_core(of->trip, &more);
	if (!core || n->agent != of->agent || n->home != of->home)
		return NULL;
	vec_push(t->p->arena, &v.counts, ((Counted){core, ix_add(c, name, ix_const(c, -more))}));
	const Ix *x = ix_subst(c, stage(&v, n->trip), name->name, ix_const(c, 0));
	ix_names(x, note_any, &some);
	return some ? NULL : stage(&v, n->trip);
}

/* What says another is said by none. */
void find_said(Tree *t)
{
	for (int i = 0; i < t->ncounts; i++) {
		Count *n = &t->counts[i];
		n->of = -1;
		for (int j = 0; j < t->ncounts && n->of < 0 && !n->says; j++) {
			Count *of = &t->counts[j];
			if (i == j || n->by->kind != IX_SYM || of->by->kind != IX_SYM ||
			    (j < i && of->of >= 0))
				continue;
			n->as = by_count(t, n, of, of->by);
			n->of = n->as ? j : -1;
			of->says |= n->as != NULL;
		}
	}
}

bool counts_agree(const Tree *t, const int32_t *class)
{
	for (int i = 0; i < t->ncounts; i++) {
		const Count *n = &t->counts[i];
		Env e = {.n = 0};
		if (n->of < 0 || class[i] == CLASS_NONE || class[n->of] == CLASS_NONE)
			continue;
		const Count *of = &t->counts[n->of];
		env_put(&e, of->by->name, count_num(t, of, class[n->of]));
		Num is = num_eval(n->as, &e), all = count_num(t, n, class[i]);
		int64_t v;
		if (is.lo > all.hi || is.hi < all.lo)
			return false;
		if (num_is_exact(all, &v) && is.mod > 1 && (v - is.res) % is.mod)
			return false;
	}
	return true;
}

/* With products of sums as sums of products, also within what is none. */
static const Ix *expanded(Ctx *c, const Ix *x)
{
	if (x->kind == IX_CONST || x->kind == IX_SYM)
		return x;
	const Ix *a = expanded(c, x->a), *b = expanded(c, x->b);
	const Ix *sum = a->kind == IX_ADD ? a : b, *by = sum == a ? b : a;
	if (x->kind == IX_MUL && sum->kind == IX_ADD)
		return ix_add(c, expanded(c, ix_mul(c, sum->a, by)),
			      expanded(c, ix_mul(c, sum->b, by)));
	return a == x->a && b == x->b ? x : ix_new(c, x->kind, a, b);
}

/* Trip counts as sizes have them, in the trip that a run is in. */
static void put_sizes(const Tree *t, const Scope *s, const View *known, View *sizes)
{
	static const int32_t any[MAX_COUNTS] = {CLASS_NONE};
	for (int i = 0; i < t->ncounts; i++) {
		const Count *n = &t->counts[i];
		bool here = n->by->kind == IX_SYM && !s->gone[i] && stage(known, n->by) == n->by;
		if (!here || (n->home && !is_in_turn(n->home, s, n->agent)))
			continue;
		const Ix *is = scope_put(t, s, n->agent, n->trip);
		vec_push(t->arena, &sizes->names, ((Named){n->by->name, is}));
		vec_push(t->arena, &sizes->names, ((Named){count_is(t, any, i)->name, is}));
	}
}

/* What another count says that is a number. */
static void put_said(const Tree *t, const Scope *s, View *sizes)
{
	static const int32_t any[MAX_COUNTS] = {CLASS_NONE};
	Ctx *c = t->p->k->ctx;
	for (int i = 0; i < t->ncounts; i++) {
		const Count *n = &t->counts[i];
		int64_t v;
		if (n->of < 0 || s->count[i] != CLASS_NONE || s->gone[i] || s->gone[n->of] ||
		    s->count[n->of] < CLASS_EXACT ||
		    !ix_value_at(c, n->as, t->counts[n->of].by->name, s->count[n->of] - CLASS_EXACT,
				 &v))
			continue;
		vec_push(t->arena, &sizes->names, ((Named){n->by->name, ix_const(c, v)}));
		vec_push(t->arena, &sizes->names,
			 ((Named){count_is(t, any, i)->name, ix_const(c, v)}));
	}
}

/* What is 0 where a count is a number; NULL: it is none. */
static const Ix *zero_of(const Tree *t, const Scope *s, const View *known, const Count *n)
{
	Ctx *c = t->p->k->ctx;
	int64_t v;
	bool here = n->by->kind == IX_SYM && !s->gone[n - t->counts];
	if (!here || !ix_is_const(stage(known, n->by), &v) ||
	    (n->home && !is_in_turn(n->home, s, n->agent)))
		return NULL;
	const Ix *is = expanded(c, scope_put(t, s, n->agent, n->trip));
	const Ix *zero = ix_sub(c, is, ix_const(c, v));
	return ix_is_const(zero, NULL) ? NULL : zero;
}

static void find_zeros(const Tree *t, const Scope *s, const View *known, Zeros *z)
{
	z->n = 0;
	z->sizes = (View){.ctx = t->p->k->ctx};
	put_sizes(t, s, known, &z->sizes);
	put_said(t, s, &z->sizes);
	for (int i = 0; i < t->ncounts; i++) {
		const Ix *zero = zero_of(t, s, known, &t->counts[i]);
		if (zero)
			z->at[z->n++] = zero;
	}
}

void zeros_at(const Tree *t, const Where *at, Zeros *z)
{
	View known = {.ctx = t->p->k->ctx};
	Scope s;
	*z = (Zeros){.sizes = known};
	if (!at)
		return;
	scope_at(t, at, &s);
	for (int i = 0; i < t->ncounts; i++)
		if (at->count[i] >= CLASS_EXACT && t->counts[i].by->kind == IX_SYM)
			vec_push(t->arena, &known.names,
				 ((Named){t->counts[i].by->name, count_is(t, at->count, i)}));
	find_zeros(t, &s, &known, z);
}

typedef struct {
	bool some;
	int64_t by;
} Only;

static bool is_only(void *user, const int64_t *v)
{
	Only *o = user;
	bool same = !o->some || o->by == v[0];
	*o = (Only){true, v[0]};
	return same;
}

static bool apart_by_zeros(const Zeros *z, const Ix *x, int64_t mod, int64_t *by)
{
	Ctx *c = z->sizes.ctx;
	Only only = {false, 0};
	Residue of = {expanded(c, stage(&z->sizes, x)), mod};
	if (ix_apart(stage_modulo(c, of.x, mod), 1, ix_const(c, 0), mod, by))
		return true;
	if (!residues_try(&of, 1, z, is_only, &only))
		return false;
	*by = only.by;
	return true;
}

bool apart_by_sizes(const Tree *t, const Scope *s, const View *known, const Ix *x, int64_t mod,
		    int64_t *by)
{
	Zeros z;
	find_zeros(t, s, known, &z);
	return apart_by_zeros(&z, x, mod, by);
}

bool apart_at(const Tree *t, const Where *at, const Ix *x, int64_t mod, int64_t *by)
{
	Zeros z;
	if (!at)
		return false;
	zeros_at(t, at, &z);
	return apart_by_zeros(&z, x, mod, by);
}

/* ------------------------------------------------------------------ within bounds */
int64_t most_trip(const Branch *b)
{
	int64_t hi = b->count->hi;
	return hi == INT64_MAX ? hi : hi > 0 ? hi - 1 : 0;
}

typedef VEC(IxFact) FactRows;

/* What is known of a name beside what was known of it; each name has one row, at its place. */
static void fact_put(Arena *a, IxFact f, FactRows *all, PtrMap *places)
{
	int place = (int)(intptr_t)ptrmap_get(places, f.name);
	if (!place) {
		vec_push(a, all, f);
		ptrmap_set(places, f.name, (void *)(intptr_t)all->n);
		return;
	}
	IxFact *was = &all->at[place - 1];
	was->lo = f.lo > was->lo ? f.lo : was->lo;
	was->hi = f.hi < was->hi ? f.hi : was->hi;
	was->div = lcm(was->div, f.div);
}

/* Facts of counts, where they are above 0 and where nothing is known of them. */
void find_bounds(Tree *t)
{
	Arena *a = t->p->arena;
	FactRows all = {0};
	PtrMap *places = NEW(a, PtrMap);
	int32_t any[MAX_COUNTS] = {CLASS_NONE};
	places->arena = a;
	for (int i = 0; i < t->facts.n; i++)
		fact_put(a, t->facts.at[i], &all, places);
	for (int i = 0; i < t->ncounts; i++) {
		const Count *n = &t->counts[i];
		int64_t div = n->res ? 1 : n->mod;
		if (n->by->kind != IX_SYM)
			continue;
		fact_put(a, (IxFact){n->by->name, 1, n->hi > 0 ? n->hi : INT64_MAX, div}, &all,
			 places);
		fact_put(a, (IxFact){count_is(t, any, i)->name, n->lo, n->hi, div}, &all, places);
	}
	for (int i = 0; i < t->loops.n; i++) {
		const Branch *b = t->loops.at[i];
		fact_put(a, (IxFact){b->name, 0, most_trip(b), 1}, &all, places);
	}
	t->facts = (IxFacts){.at = all.at, .n = all.n, .places = places};
}

/* x % n, which is x; where it is not known to be that, x. */
const Ix *frame_within(const Tree *t, const Ix *x, int64_t n)
{
	if (x->kind == IX_CONST || x->kind == IX_MOD)
		return x;
	return ix_within(x, t->facts, 0, n - 1) ? ix_mod(t->p->k->ctx, x, ix_const(t->p->k->ctx, n))
						: x;
}
