/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* interp_join.c - values that are joined to what a tensor holds, tile after tile, in an order that
 * nobody knows: red.global adds one after the other, rounds each time and takes subnormal numbers
 * for 0 (PTX ISA, red).
 *     S[m] 3; 0.1, 0.2 are added  ->  3.3, from 3.2999997 to 3.3000007 */
#include "ir/interp.h"

#include <float.h>
#include <math.h>

/* What an element was joined from: where the exact result lies, how many, the sum of their sizes.
 */
typedef struct {
	double lo, hi, amount;
	double unit; /* of all of them, what was there before among them */
	int64_t n;
} Joined;

static const double tiny = FLT_MIN; /* of bf16, too */

static Joined *joined_of(const Joining *j, const Tensor *t, int64_t at)
{
	const char *key = (const char *)t->data + at * (elem_rows[t->elem].bits / 8);
	Joined *e = ptrmap_get(j->seen, key);
	if (e)
		return e;
	double v = elem_get(t->elem, t->data, at);
	e = NEW(j->seen->arena, Joined);
	*e = (Joined){.lo = v,
		      .hi = v,
		      .amount = fabs(v),
		      .unit = element_unit(&(Elements){&v, &v, &v}, 0)};
	ptrmap_set(j->seen, key, e);
	return e;
}

/* In whatever order: each of n sums is rounded, and none on the way is larger than all sizes
 * together and what rounding has made of them. */
static double sum_error(const Joining *j, Elem elem, const Joined *e)
{
	int digits = elem_rows[elem].mantissa + 1;
	double each = ldexp(1, -digits), all = (double)e->n * each;
	if (!elem_is_float(elem) || !elt_by_op(j->by->op)->error.rounds ||
	    (e->unit >= tiny && e->amount <= ldexp(e->unit, digits)))
		return 0;
	return all < 1 ? (double)e->n * (each * e->amount / (1 - all) + tiny) : INFINITY;
}

/* Integers wrap. */
static void element_set(const Tensor *t, void *data, int64_t at, double v)
{
	if (t->elem == EL_I32)
		v = (double)(int32_t)(uint32_t)(int64_t)v;
	elem_put(t->elem, data, at, v);
}

void element_join(const Joining *j, const Tensor *t, int64_t at, const Elements *from, int64_t i)
{
	bool bounds = t->lo && from->lo;
	Joined *e = bounds ? joined_of(j, t, at) : NULL;
	double v = elem_get(t->elem, t->data, at);
	element_set(t, t->data, at, combined(j->by, v, from->f[i]));
	if (t->wrote)
		t->wrote[at] = true;
	if (!bounds)
		return;
	e->lo = combined(j->by, e->lo, from->lo[i]);
	e->hi = combined(j->by, e->hi, from->hi[i]);
	e->amount += fmax(fabs(from->lo[i]), fabs(from->hi[i]));
	e->unit = fmin(e->unit, element_unit(from, i));
	e->n++;
	double error = sum_error(j, t->elem, e);
	element_set(t, t->lo, at, moved(e->lo, -error));
	element_set(t, t->hi, at, moved(e->hi, error));
}
