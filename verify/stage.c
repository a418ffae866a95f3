/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stage.c - expressions as the verifier reads them: lets and the warp put in, trip counts and loop
 * variables replaced by names of its own, comparisons with 0 so that sums cancel.
 *     let rows ((M + 63) / 64) .. k + 3 < (K + 63) / 64   ->   0 <= rest - 4
 */
#include "verify/extract.h"

static const Ix *named(const View *s, const Ix *x)
{
	for (int i = s->names.n - 1; i >= 0; i--)
		if (s->names.at[i].name == x->name)
			return s->names.at[i].by;
	return x;
}

static void note_size(void *user, const char *name)
{
	bool *some = user;
	*some |= *name != '#';
}

static bool of_sizes(const Ix *x)
{
	bool some = false;
	ix_names(x, note_size, &some);
	return some;
}

/* x = core + e or e - core, where only names of the verifier are in e, and others in core. */
static const Ix *in_sum(const View *s, Counted of, const Ix *x)
{
	if (!of_sizes(of.core))
		return NULL;
	const Ix *less = ix_sub(s->ctx, x, of.core), *more = ix_add(s->ctx, x, of.core);
	if (!of_sizes(less))
		return ix_add(s->ctx, less, of.by);
	return of_sizes(more) ? NULL : ix_sub(s->ctx, more, of.by);
}

/* The same modulo d, with no remainders that d makes needless. */
static const Ix *modulo(Ctx *c, const Ix *x, int64_t d)
{
	int64_t q;
	if (x->kind == IX_ADD)
		return ix_add(c, modulo(c, x->a, d), modulo(c, x->b, d));
	if (x->kind == IX_MUL && ix_is_const(x->b, NULL))
		return ix_mul(c, modulo(c, x->a, d), x->b);
	bool needless = x->kind == IX_MOD && ix_is_const(x->b, &q) && q > 0 && q % d == 0;
	return needless ? modulo(c, x->a, d) : x;
}

/* x = (core + e) % d */
static const Ix *in_remainder(const View *s, Counted of, const Ix *x)
{
	Ctx *c = s->ctx;
	int64_t d;
	if (!ix_is_const(x->b, &d) || d < 1)
		return NULL;
	const Ix *less = ix_sub(c, modulo(c, x->a, d), modulo(c, of.core, d));
	return of_sizes(less) ? NULL : ix_mod(c, ix_add(c, less, of.by), x->b);
}

static const Ix *as_sum(const View *s, Counted of, const Ix *x)
{
	View bare = *s;
	bare.core = bare.trips = NULL;
	bare.counts.n = 0;
	return in_sum(s, of, stage(&bare, x));
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

static const Ix *as_trips(const View *s, const Ix *x)
{
	const Ix *y = as_count(s, (Counted){s->trips, s->trips_by}, x);
	for (int i = s->counts.n - 1; i >= 0 && !y; i--)
		y = as_count(s, s->counts.at[i], x);
	for (int i = s->counts.n - 1; i >= 0 && !y && of_sizes(x); i--)
		y = as_sum(s, s->counts.at[i], x);
	return y;
}

/* What stands for a count of trips; NULL: it is none. */
static const Ix *counted(const View *s, const Ix *x)
{
	if (x == s->core)
		return s->core_by;
	if (x == s->trips)
		return s->trips_by;
	for (int i = s->counts.n - 1; i >= 0; i--)
		if (s->counts.at[i].core == x)
			return s->counts.at[i].by;
	return NULL;
}

/* Of a loop whose trip count is a number: total - passed is what is left. */
static const Ix *of_rest(const View *s, const Ix *x)
{
	if (!s->total || !ix_uses(x, s->passed->name))
		return x;
	const Ix *y =
		ix_sub(s->ctx, ix_add(s->ctx, ix_add(s->ctx, x, s->passed), s->rest), s->total);
	return ix_uses(y, s->passed->name) ? x : y;
}

static const Ix *compared(const View *s, const Ix *x)
{
	const Ix *one = ix_const(s->ctx, x->kind == IX_LT ? -1 : 0);
	const Ix *gap = ix_add(s->ctx, ix_sub(s->ctx, x->b, x->a), one);
	const Ix *trips = as_trips(s, gap);
	return ix_new(s->ctx, IX_LE, ix_const(s->ctx, 0),
		      trips ? trips : of_rest(s, stage(s, gap)));
}

static const Ix *staged(const View *s, const Ix *x)
{
	if (s->compares && (x->kind == IX_LT || x->kind == IX_LE))
		return compared(s, x);
	const Ix *a = stage(s, x->a), *b = stage(s, x->b);
	if (a == x->a && b == x->b)
		return x;
	x = ix_new(s->ctx, x->kind, a, b);
	const Ix *by = counted(s, x);
	bool sum = x->kind == IX_ADD || (x->kind == IX_MOD && x->a->kind == IX_ADD);
	for (int i = s->counts.n - 1; i >= 0 && !by && sum && of_sizes(x); i--)
		if (s->counts.at[i].core->kind == IX_ADD)
			by = x->kind == IX_ADD ? in_sum(s, s->counts.at[i], x)
					       : in_remainder(s, s->counts.at[i], x);
	return by ? by : x;
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
