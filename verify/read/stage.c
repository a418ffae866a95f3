/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stage.c - expressions as the verifier reads them: lets and the warp put in, trip counts and loop
 * variables replaced by names of its own, comparisons with 0 so that sums cancel.
 *     let rows ((M + 63) / 64) .. k + 3 < (K + 63) / 64   ->   0 <= rest - 4
 */
#include "verify/read/extract.h"

static const Ix *named(const View *s, const Ix *x)
{
	for (int i = s->bares.n - 1; i >= 0 && s->bare; i--)
		if (s->bares.at[i].name == x->name)
			return s->bares.at[i].by;
	for (int i = s->names.n - 1; i >= 0; i--)
		if (s->names.at[i].name == x->name)
			return s->names.at[i].by;
	return x;
}

bool stage_of_sizes(const Ix *x)
{
	if (x->kind == IX_SYM)
		return *x->name != '#';
	return x->kind != IX_CONST && (stage_of_sizes(x->a) || stage_of_sizes(x->b));
}

enum { MOST_TIMES = 4, FEW = 4 };

typedef struct {
	const char *name[FEW];
	int n;
} FewNames;

static void note_name(void *user, const char *name)
{
	FewNames *f = user;
	int i = 0;
	while (i < f->n && f->name[i] != name)
		i++;
	if (i == f->n && i < FEW)
		f->name[f->n++] = name;
}

/* Of how many names it is made, or FEW. */
static int few_names(const Ix *x)
{
	FewNames f = {.n = 0};
	ix_names(x, note_name, &f);
	return f.n;
}

/* x = e + n * core, where only names of the verifier are in e, and others in core. */
static const Ix *in_sum(const View *s, Counted of, const Ix *x)
{
	Ctx *c = s->ctx;
	if (!stage_of_sizes(of.core))
		return NULL;
	for (int64_t n = 1; n <= MOST_TIMES; n++)
		for (int64_t sign = 1; sign >= -1; sign -= 2) {
			const Ix *times = ix_const(c, n * sign);
			const Ix *less = ix_sub(c, x, ix_mul(c, of.core, times));
			if (!stage_of_sizes(less))
				return ix_add(c, less, ix_mul(c, of.by, times));
		}
	return NULL;
}

/* The same modulo d, with no remainders that d makes needless. */
const Ix *stage_modulo(Ctx *c, const Ix *x, int64_t d)
{
	int64_t q;
	if (x->kind == IX_ADD)
		return ix_add(c, stage_modulo(c, x->a, d), stage_modulo(c, x->b, d));
	if (x->kind == IX_MUL && ix_is_const(x->b, &q) && q != 0)
		return ix_mul(c, stage_modulo(c, x->a, d / num_gcd(d, q)), x->b);
	bool needless = x->kind == IX_MOD && ix_is_const(x->b, &q) && q > 0 && q % d == 0;
	return needless ? stage_modulo(c, x->a, d) : x;
}

/* x = (core + e) % d */
static const Ix *in_remainder(const View *s, Counted of, const Ix *x)
{
	Ctx *c = s->ctx;
	int64_t d;
	if (!ix_is_const(x->b, &d) || d < 1)
		return NULL;
	const Ix *less = ix_sub(c, stage_modulo(c, x->a, d), stage_modulo(c, of.core, d));
	return stage_of_sizes(less) ? NULL : ix_mod(c, ix_add(c, less, of.by), x->b);
}

/* core = X / q, x = (X + n * q) / (q * m) */
static const Ix *in_quotient(const View *s, Counted of, const Ix *x)
{
	Ctx *c = s->ctx;
	int64_t d, q, more;
	if (of.core->kind != IX_DIV || !ix_is_const(x->b, &d) || !ix_is_const(of.core->b, &q) ||
	    q < 1 || d % q || !ix_is_const(ix_sub(c, x->a, of.core->a), &more) || more % q)
		return NULL;
	return ix_div(c, ix_add(c, of.by, ix_const(c, more / q)), ix_const(c, d / q));
}

/* What is made of a count in another way than its own. */
static const Ix *in_whole(const View *s, Counted of, const Ix *x)
{
	bool sum = of.core->kind == IX_ADD || of.core->kind == IX_MUL;
	if (x->kind == IX_DIV)
		return in_quotient(s, of, x);
	if (x->kind == IX_MOD)
		return sum || of.core->kind == IX_MOD ? in_remainder(s, of, x) : NULL;
	return sum ? in_sum(s, of, x) : NULL;
}

static const Ix *uncounted(const View *s, const Ix *x)
{
	View bare = *s;
	bare.core = NULL;
	bare.before = NULL;
	bare.counts.n = 0;
	bare.bare = true;
	return stage(&bare, x);
}

/* What stands for a count of trips; NULL: it is none. */
static const Ix *counted(const View *s, const Ix *x)
{
	if (x == s->core)
		return s->core_by;
	for (int i = s->counts.n - 1; i >= 0; i--)
		if (s->counts.at[i].core == x)
			return s->counts.at[i].by;
	return NULL;
}

/* x = core + e or a remainder, before counts whose core is a part of this one are put in. */
static const Ix *as_own_sum(const View *s, const Ix *x)
{
	if ((x->kind != IX_ADD && x->kind != IX_MOD) || !s->counts.n)
		return NULL;
	x = uncounted(s, x);
	const Ix *whole = counted(s, x);
	if (whole || x->kind != IX_ADD)
		return whole;
	for (int i = s->counts.n - 1; i >= 0 && stage_of_sizes(x); i--) {
		const Ix *less = ix_sub(s->ctx, x, s->counts.at[i].core);
		if (stage_of_sizes(s->counts.at[i].core) && !stage_of_sizes(less))
			return ix_add(s->ctx, less, s->counts.at[i].by);
	}
	return NULL;
}

/* trips = X / d: of `x >= 0` with x = X + e or e - X, what it says of trips; NULL: nothing. */
static const Ix *as_count(const View *s, Counted of, const Ix *x)
{
	int64_t e, d;
	if (!of.core || of.core->kind != IX_DIV || !ix_is_const(of.core->b, &d))
		return NULL;
	if (ix_is_const(ix_sub(s->ctx, x, of.core->a), &e) && e % d == 0)
		return ix_add(s->ctx, of.by, ix_const(s->ctx, e / d));
	if (ix_is_const(ix_add(s->ctx, x, of.core->a), &e) && (e + 1) % d == 0)
		return ix_sub(s->ctx, ix_const(s->ctx, (e + 1) / d - 1), of.by);
	return NULL;
}

static const Ix *as_some_count(const View *s, const Ix *x)
{
	const Ix *y = NULL;
	for (int i = s->counts.n - 1; i >= 0 && !y; i--)
		y = as_count(s, s->counts.at[i], x);
	return y;
}

/* As it stands, or in the names of loops, as counts are that hang on these. */
static const Ix *as_trips(const View *s, const Ix *x)
{
	const Ix *y = as_some_count(s, x);
	y = y || !s->counts.n ? y : as_some_count(s, uncounted(s, x));
	for (int i = s->counts.n - 1; i >= 0 && !y && stage_of_sizes(x); i--)
		y = in_sum(s, s->counts.at[i], uncounted(s, x));
	return y;
}

typedef struct {
	const Ix *x;
	const char *rest;
	bool more; /* names than those in x and the trips to come */
} Fewer;

static void note_more(void *user, const char *name)
{
	Fewer *f = user;
	f->more |= name != f->rest && !ix_uses(f->x, name);
}

/* Of a loop whose trip count is a number, or trips of others say it: total - passed is what is
 * left. */
static const Ix *of_rest(const View *s, const Ix *x)
{
	if (!s->total || !ix_uses(x, s->passed->name))
		return x;
	const Ix *y =
		ix_sub(s->ctx, ix_add(s->ctx, ix_add(s->ctx, x, s->passed), s->rest), s->total);
	Fewer f = {x, s->rest->name, false};
	ix_names(y, note_more, &f);
	return ix_uses(y, s->passed->name) || f.more ? x : y;
}

/* Without counts, where sizes cancel and there are fewer names: i - m with i = m + own. */
static const Ix *plainer(const View *s, const Ix *x, const Ix *staged)
{
	const Ix *plain = s->counts.n ? uncounted(s, x) : staged;
	return !stage_of_sizes(plain) && few_names(plain) < few_names(staged) ? plain : staged;
}

static const Ix *compared(const View *s, const Ix *x)
{
	const Ix *one = ix_const(s->ctx, x->kind == IX_LT ? -1 : 0);
	const Ix *gap = ix_add(s->ctx, ix_sub(s->ctx, x->b, x->a), one);
	const Ix *trips = as_trips(s, gap);
	const Ix *left = trips ? trips : of_rest(s, stage(s, gap));
	return ix_new(s->ctx, IX_LE, ix_const(s->ctx, 0), plainer(s, gap, left));
}

static const Ix *staged(const View *s, const Ix *x)
{
	const Ix *from = x;
	if (s->compares && (x->kind == IX_LT || x->kind == IX_LE))
		return compared(s, x);
	const Ix *own = as_own_sum(s, x);
	if (own)
		return own;
	const Ix *a = stage(s, x->a), *b = stage(s, x->b);
	x = a == x->a && b == x->b ? x : ix_new(s->ctx, x->kind, a, b);
	const Ix *by = counted(s, x);
	bool known = x->kind == IX_ADD || x->kind == IX_MOD || x->kind == IX_DIV ||
		     (x->kind == IX_MUL && x->b->kind == IX_CONST);
	for (int i = s->counts.n - 1; i >= 0 && !by && known && stage_of_sizes(x); i--)
		by = in_whole(s, s->counts.at[i], x);
	x = by ? by : x;
	return known && x->kind == IX_ADD ? plainer(s, from, x) : x;
}

const Ix *stage(const View *s, const Ix *x)
{
	if (x->kind == IX_CONST)
		return x;
	const Ix *by = counted(s, x);
	if (by)
		return by;
	if (x->kind == IX_SYM)
		return named(s, x);
	if (!s->before)
		return staged(s, x);
	Ix *y = ptrmap_get(s->before, x);
	if (!y) {
		y = (Ix *)(uintptr_t)staged(s, x);
		ptrmap_set(s->before, x, y);
	}
	return y;
}
