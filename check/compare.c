/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compare.c - is the output right? Each element lies between the bounds that the reference
 * interpreter gives, of what sums may be rounded to (atoms.def: fraction) and of what functions may
 * be off by (elementwise.def). Where the bounds are one number, every bit is compared. An element
 * that was never written still has the poison's bits, and so have the guards. */
#include "check/problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POISON = 0xff };

static double unit_in_last_place(Elem e, double v)
{
	const ElemRow *row = &elem_rows[e];
	int exponent = v == 0 ? row->exponent : ilogb(v);
	if (!elem_is_float(e))
		return 1;
	return ldexp(1, (exponent < row->exponent ? row->exponent : exponent) - row->mantissa);
}

bool is_poison(const void *data, size_t size, int64_t i)
{
	const uint8_t *s = (const uint8_t *)data + (size_t)i * size;
	for (size_t k = 0; k < size; k++)
		if (s[k] != POISON)
			return false;
	return true;
}

static int64_t extent_of(const Problem *p, const Layout *l, int mode)
{
	return problem_eval(p, layout_size(p->ctx, layout_mode(p->ctx, l, mode)));
}

static int64_t step_of(const Problem *p, const Layout *l, int mode)
{
	return problem_eval(p, tup_get(l->stride, mode)->leaf);
}

/* What the modes with larger steps leave, in steps of this one. */
static int64_t coordinate(const Problem *p, const Layout *l, int mode, int64_t offset)
{
	int64_t step = step_of(p, l, mode), above = INT64_MAX, next = 1;
	if (step < 1 || extent_of(p, l, mode) < 2)
		return 0;
	for (; next; above = next) {
		next = 0;
		for (int i = 0; i < layout_rank(l); i++) {
			int64_t s = extent_of(p, l, i) > 1 ? step_of(p, l, i) : 0;
			next = s > step && s < above && s > next ? s : next;
		}
		offset = next ? offset % next : offset;
	}
	return offset / step;
}

/* "D[17, 3]": the coordinate of an offset in the tensor's own modes, and in parts of these. */
static void name_element(const Problem *p, const Tensor *t, int64_t offset, char *out, size_t n)
{
	const Layout *l = layout_flat(p->ctx, p->k->args.at[t - p->t].val->type->layout);
	int at = snprintf(out, n, "%s[", t->name);
	for (int i = 0; i < layout_rank(l); i++)
		at += snprintf(out + at, n - (size_t)at, "%s%lld", i ? ", " : "",
			       (long long)coordinate(p, l, i, offset));
	snprintf(out + at, n - (size_t)at, "]");
}

/* Between the rows of an output lies what is not of it. */
static void complain_beside(const Problem *p, const Tensor *t, int64_t i, Verdict *v)
{
	char name[96];
	name_element(p, t, i, name, sizeof name);
	if (t->by_index)
		snprintf(v->wrong, sizeof v->wrong, "%s was written, and no index names its row",
			 name);
	else
		snprintf(v->wrong, sizeof v->wrong,
			 "%s has no element at offset %lld, which was overwritten", t->name,
			 (long long)i);
}

static void complain(const Problem *p, const Tensor *t, int64_t i, Verdict *v)
{
	char name[96];
	name_element(p, t, i, name, sizeof name);
	if (is_poison(t->host, elem_bytes(t->elem), i))
		snprintf(v->wrong, sizeof v->wrong, "%s was never written", name);
	else if (v->lo == v->hi)
		snprintf(v->wrong, sizeof v->wrong, "%s is %.9g, should be %.9g", name,
			 elem_get(t->elem, t->host, i), elem_get(t->elem, t->ref, i));
	else
		snprintf(v->wrong, sizeof v->wrong, "%s is %.9g, should be %.9g, from %.9g to %.9g",
			 name, elem_get(t->elem, t->host, i), elem_get(t->elem, t->ref, i), v->lo,
			 v->hi);
}

/* Bounds of all that there is mean that anything is right, also what is no number. */
static bool is_within(double x, double lo, double hi)
{
	return (lo <= x && x <= hi) || (isinf(lo) && isinf(hi) && lo < hi);
}

/* Of integers the poison is -1, which may be right. */
static bool is_unwritten(const Tensor *t, int64_t i)
{
	return elem_is_float(t->elem) && is_poison(t->host, elem_bytes(t->elem), i);
}

/* Where terms cancel, a unit of the last place of what is left says nothing: r = 0 of -8 .. 8. */
static double largest_right(const Verdict *v, double r)
{
	double most = fmax(fabs(v->lo), fabs(v->hi));
	return isfinite(most) ? fmax(most, fabs(r)) : r;
}

/* The largest error, beside the one that is right there. */
static void note_error(const Tensor *t, Verdict *v, double x, double r)
{
	double unit = unit_in_last_place(t->elem, largest_right(v, r)), ulps = fabs(x - r) / unit;
	if (!isfinite(ulps) || ulps <= v->ulps)
		return;
	v->ulps = ulps;
	v->allowed = fmax(v->hi - r, r - v->lo) / unit;
}

static bool same_bits(const Tensor *t, const void *a, const void *b, int64_t i)
{
	size_t size = elem_bytes(t->elem);
	return memcmp((const char *)a + (size_t)i * size, (const char *)b + (size_t)i * size,
		      size) == 0;
}

static bool check_element(const Tensor *t, int64_t i, Verdict *v)
{
	bool open = !same_bits(t, t->lo, t->hi, i);
	v->open |= open;
	v->lo = v->hi = 0;
	if (same_bits(t, t->host, t->ref, i))
		return true;
	if (is_unwritten(t, i))
		return false;
	double x = elem_get(t->elem, t->host, i), r = elem_get(t->elem, t->ref, i);
	if (isnan(x) && isnan(r)) /* of any bits: IEEE 754 does not say which */
		return true;
	if (!open)
		return false;
	v->lo = elem_get(t->elem, t->lo, i);
	v->hi = elem_get(t->elem, t->hi, i);
	note_error(t, v, x, r);
	return is_within(x, v->lo, v->hi);
}

Verdict compare(const Problem *p, const Tensor *t)
{
	Verdict v = {0};
	size_t size = elem_bytes(t->elem);
	if (t->is_kept && p->chosen) /* of some tiles only: not what the kernel has */
		return v;
	for (int64_t i = 0; i < t->count && !v.wrong[0]; i++) {
		bool has_ref = t->wrote[i];
		bool written = t->is_kept ? !same_bits(t, t->host, t->start, i)
					  : !is_poison(t->host, size, i);
		if (has_ref ? !check_element(t, i, &v)
			    : t->dense && !t->is_kept && is_unwritten(t, i))
			complain(p, t, i, &v);
		else if (!has_ref && !t->dense && !p->chosen && written)
			complain_beside(p, t, i, &v);
		v.checked += has_ref;
	}
	return v;
}

Verdict compare_expected(const Problem *p, const Tensor *t, const void *expected)
{
	Verdict v = {0};
	char name[96];
	for (int64_t i = 0; i < t->count && !v.wrong[0]; i++) {
		double x = elem_get(t->elem, expected, i), r = elem_get(t->elem, t->ref, i);
		if (!t->wrote[i] || (isnan(x) && isnan(r)))
			continue;
		v.lo = elem_get(t->elem, t->lo, i);
		v.hi = elem_get(t->elem, t->hi, i);
		double next = elem_is_float(t->elem)
				      ? unit_in_last_place(t->elem, largest_right(&v, r))
				      : 0;
		name_element(p, t, i, name, sizeof name);
		if (!is_within(x, v.lo - next, v.hi + next))
			snprintf(v.wrong, sizeof v.wrong,
				 "%s is expected to be %.9g, and the source says %.9g", name, x, r);
		v.checked++;
	}
	return v;
}

bool guards_intact(const char *name, const uint8_t *before, const uint8_t *behind, char *wrong,
		   size_t n)
{
	for (size_t i = 0; i < GUARD; i++) {
		if (before[i] == POISON && behind[i] == POISON)
			continue;
		snprintf(wrong, n, "byte %zu %s %s was overwritten",
			 before[i] != POISON ? GUARD - i : i,
			 before[i] != POISON ? "before" : "after", name);
		return false;
	}
	return true;
}
