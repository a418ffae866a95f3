/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* interp_elt.c - elementwise operations, conversions and reductions of whole values, and between
 * which bounds what a kernel computes in their place may lie: an operation is looked at where its
 * operands' bounds are, and its row says what it may itself be off by.
 *     x in 3.9 .. 4.1  ->  sqrt(x) in 1.9748 .. 2.0249 */
#include "ir/interp.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { OPERANDS = 3, POINTS = 5 }; /* bounds, and places between them */

/* ------------------------------------------------------------------ bounds of one element */
typedef struct {
	double v, lo, hi;
} Range;

static const Range anything = {NAN, -INFINITY, INFINITY};

/* A NaN changes nothing. */
static void take(Range *r, double v)
{
	r->lo = v < r->lo ? v : r->lo;
	r->hi = v > r->hi ? v : r->hi;
}

/* An operation as a type has it. */
typedef struct {
	const EltRow *row;
	Elem elem;
	bool fuses; /* a product in a loop: may be added without being rounded first */
} Work;

/* A point of x: its bounds, and between them. */
static double point(Range x, int i)
{
	return i == 0   ? x.lo
	       : i == 1 ? x.hi
			: x.lo + (x.hi - x.lo) * (double)(i - 1) / (double)(POINTS - 1);
}

/* x y + z, the product exact: where f64 has no place for all of the sum, its last bit says so by
 * being 1. So rounding it again, to 16 bits, is rounding once. */
static double sum_to_odd(double x, double y, double z)
{
	double p = x * y, sum = p + z, back = sum - p;
	double rest = (p - (sum - back)) + (z - back);
	uint64_t bits;
	memcpy(&bits, &sum, sizeof bits);
	if (!isfinite(sum) || rest == 0 || (bits & 1))
		return sum;
	return nextafter(sum, rest > 0 ? INFINITY : -INFINITY);
}

static double computed(const Work *w, double x, double y, double z)
{
	const EltRow *row = w->row;
	if (elem_is_word(w->elem))
		return row->whole ? row->whole(w->elem, x, y, z) : NAN;
	if (w->elem == EL_F32)
		return (double)row->value((float)x, (float)y, (float)z);
	if (!row->wide)
		return NAN;
	bool half = elem_pairs(w->elem);
	return elem_round(w->elem,
			  half && row->op == OP_FMA ? sum_to_odd(x, y, z) : row->wide(x, y, z));
}

/* False where the row has no value there. */
static bool look_at(const Work *w, Range *r, double x, double y, double z)
{
	double v = computed(w, x, y, z);
	take(r, v);
	return !isnan(v);
}

/* A bit for each operand whose bounds are one point. */
static int exact_ones(const Range *x)
{
	int exact = 0;
	for (int o = 0; o < OPERANDS; o++)
		exact |= (x[o].lo < x[o].hi ? 0 : 1) << o;
	return exact;
}

/* At the corners of what the operands may be. A function may turn between them, as its first
 * operand grows: so a few places more, and as much as it may turn between those. */
static bool look_around(const Work *w, Range *r, const Range *x)
{
	const EltRow *row = w->row;
	bool ok = true;
	int exact = exact_ones(x), second = exact >> 1 & 1 ? 1 : 2;
	for (int i = 0; i < 1 << row->arity && ok; i++)
		ok = (i & exact) || look_at(w, r, point(x[0], i & 1), point(x[1], i >> 1 & 1),
					    point(x[2], i >> 2 & 1));
	bool between = (row->arity == 1 || row->turns) && !(exact & 1);
	for (int i = 0; i < second * (POINTS - 2) && ok && between; i++)
		ok = look_at(w, r, point(x[0], 2 + i / second), point(x[1], i % second), 0);
	double turn = row->turns ? (r->hi - r->lo) / (double)POINTS : 0;
	r->lo -= turn;
	r->hi += turn;
	return ok;
}

double moved(double v, double by)
{
	return isfinite(v) && isfinite(by) && by != 0 ? v + by : v;
}

/* Of a normal power. */
static double two_to(int power)
{
	uint64_t bits = (uint64_t)(power + DBL_MAX_EXP - 1) << (DBL_MANT_DIG - 1);
	double v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

double element_unit(const Elements *e, int64_t i)
{
	uint64_t bits;
	double v = e->lo[i];
	memcpy(&bits, &v, sizeof bits);
	if (v != e->hi[i] && !(isnan(v) && isnan(e->hi[i])))
		return 0;
	if (v == 0 || !isfinite(v))
		return INFINITY;
	int bit = __builtin_ctzll(bits | UINT64_C(1) << (DBL_MANT_DIG - 1));
	int power =
		(int)(bits >> (DBL_MANT_DIG - 1) & 0x7ff) - DBL_MAX_EXP - DBL_MANT_DIG + 2 + bit;
	return power < DBL_MIN_EXP ? 0 : two_to(power);
}

static double ulp_of(Elem e, double v)
{
	const uint64_t exponent = (uint64_t)0x7ff << (DBL_MANT_DIG - 1);
	double least = two_to(elem_rows[e].exponent);
	uint64_t bits;
	v = fabs(v) > least ? fabs(v) : least;
	memcpy(&bits, &v, sizeof v);
	bits &= exponent;
	memcpy(&v, &bits, sizeof v);
	return v * two_to(-elem_rows[e].mantissa);
}

/* In units of the last place of 1. */
static double size_of(Range x)
{
	return fmax(fabs(x.lo), fabs(x.hi)) * two_to(1 - FLT_MANT_DIG);
}

/* Operations of exact operands that round once have one result, but for a product that goes into a
 * sum of a loop (fma). */
static double ulps_of(const Work *w, const Range *x, double v, bool points)
{
	if (w->row->error.ulps > 0 || !w->row->error.rounds)
		return w->row->error.ulps;
	return !points || (w->fuses && fma(x[0].v, x[1].v, -v) != 0) ? 1 : 0;
}

/* By the operation's own error; pairs of 16 bits are rounded where the program says so. */
static void widen(const Work *w, Range *r, Range x, double ulps)
{
	const EltRow *row = w->row;
	double of_x = row->error.of_x > 0 ? row->error.of_x * size_of(x) : 0; /* 0 * inf is NaN */
	if (elem_pairs(w->elem))
		return;
	r->lo = moved(r->lo, -(ulps * ulp_of(w->elem, r->lo) + of_x));
	r->hi = moved(r->hi, ulps * ulp_of(w->elem, r->hi) + of_x);
	if (row->flushes && r->lo > 0 && r->lo < (double)FLT_MIN)
		r->lo = 0;
	if (row->flushes && r->hi < 0 && r->hi > -(double)FLT_MIN)
		r->hi = 0;
}

static Range bounds_of(const Work *w, double v, const Range *x)
{
	const EltRow *row = w->row;
	Range r = {v, v, v};
	for (int i = 0; i < row->arity; i++)
		if (isinf(x[i].lo) && isinf(x[i].hi) && x[i].lo < x[i].hi)
			return anything;
	bool points = true;
	for (int i = 0; i < row->arity; i++)
		points &= !(x[i].lo < x[i].hi);
	if (isnan(v) || (!points && elem_is_word(w->elem))) /* which wrap */
		return points ? r : anything;
	if (!points && !look_around(w, &r, x))
		return anything;
	widen(w, &r, x[0], ulps_of(w, x, v, points));
	return r;
}

/* ------------------------------------------------------------------ elementwise */
/* Where an operand's elements lie along each mode of the result: so far apart, each for so many
 * neighbours of the result; a scalar is one for all. */
typedef struct {
	int64_t step[MAX_RANK], share[MAX_RANK];
} Steps;

static void steps_of(const Slot *s, const Slot *out, Steps *to)
{
	int64_t before = 1;
	for (int m = out->rank; m-- > 0;) {
		int64_t n = s->type->kind == TY_TILE ? s->dim[m] : 1;
		to->step[m] = before;
		to->share[m] = out->dim[m] / n;
		before *= n;
	}
}

/* The next place of the result, last mode fastest; at[] are the operands' elements there. */
static void step_on(const Slot *out, int64_t *x, const Steps *steps, int64_t *at, int n)
{
	for (int m = out->rank; m-- > 0;) {
		int64_t next = x[m] + 1 == out->dim[m] ? 0 : x[m] + 1;
		for (int i = 0; i < n; i++) {
			int64_t share = steps[i].share[m];
			int64_t on = share == 1 ? next - x[m] : next / share - x[m] / share;
			at[i] += on * steps[i].step[m];
		}
		x[m] = next;
		if (next)
			return;
	}
}

static void put(const Elements *out, int64_t i, const Work *w, Slot *const *in, const int64_t *at)
{
	Range x[OPERANDS] = {{0, 0, 0}};
	for (int o = 0; o < w->row->arity; o++) {
		const Elements *e = &in[o]->at;
		double v = e->f[at[o]];
		x[o] = e->lo ? (Range){v, e->lo[at[o]], e->hi[at[o]]} : (Range){v, v, v};
	}
	double v = computed(w, x[0].v, x[1].v, x[2].v);
	out->f[i] = v;
	if (!out->lo)
		return;
	Range r = bounds_of(w, v, x);
	out->lo[i] = r.lo;
	out->hi[i] = r.hi;
}

/* A scalar operand stands for a tile of equal elements, a row vector for one of equal columns, a
 * tile of fewer columns for one in which neighbours are equal. */
void elt_run(const Op *op, const Slot *out, Slot *const *in)
{
	const Op *up = op_parent(op);
	const Work w = {elt_by_op(op->kind), out->type->elem,
			op->kind == OP_MUL && up && up->kind == OP_FOR};
	int n = op->nin;
	Steps steps[OPERANDS];
	int64_t at[OPERANDS] = {0}, x[MAX_RANK] = {0};
	for (int i = 0; i < n; i++)
		steps_of(in[i], out, &steps[i]);
	for (int64_t i = 0; i < out->n; i++) {
		put(&out->at, i, &w, in, at);
		step_on(out, x, steps, at, n);
	}
}

/* ------------------------------------------------------------------ conversions, reductions */
double combined(const CombineRow *by, double x, double y)
{
	return elt_by_op(by->op)->wide(x, y, 0);
}

static void round_all(Elem e, double *to, const double *from, int64_t n)
{
	for (int64_t i = 0; i < n && to; i++)
		to[i] = elem_round(e, from[i]);
}

/* Integers keep their low bits in 32. */
static void wrap_all(Elem e, double *to, const double *from, int64_t n)
{
	for (int64_t i = 0; i < n && to; i++)
		to[i] = elem_wrap(e, from[i]);
}

/* Bounds beyond a type of 32 bits may be any of its numbers. */
static void bounds_wrap(const Elements *to, const Elements *from, int64_t n)
{
	for (int64_t i = 0; i < n && to->lo; i++)
		if (from->lo[i] < from->hi[i]) {
			to->lo[i] = -INFINITY;
			to->hi[i] = INFINITY;
		}
}

/* Rounding keeps order, so bounds stay bounds. */
void cvt_run(const Slot *out, const Slot *in)
{
	Elem e = out->type->elem;
	bool wraps = elem_is_word(e) && !elem_is_float(in->type->elem);
	void (*each)(Elem, double *, const double *, int64_t) = wraps ? wrap_all : round_all;
	each(e, out->at.f, in->at.f, out->n);
	each(e, out->at.lo, in->at.lo, out->n);
	each(e, out->at.hi, in->at.hi, out->n);
	if (wraps)
		bounds_wrap(&out->at, &in->at, out->n);
}

/* The elements of a tile that element i of a part is made of, rows x cols of them. */
typedef struct {
	int64_t first, rows, cols;
} Group;

static Group group_of(const Slot *out, const Slot *in, int64_t i)
{
	Group g = {.rows = in->dim[0] / out->dim[0], .cols = in->dim[1] / out->dim[1]};
	g.first = i / out->dim[1] * g.rows * in->dim[1] + i % out->dim[1] * g.cols;
	return g;
}

/* The j-th of them, row by row. */
static int64_t member(const Group *g, const Slot *in, int64_t j)
{
	return g->first + j / g->cols * in->dim[1] + j % g->cols;
}

static void join(const CombineRow *row, double *to, const double *of, const Slot *out,
		 const Slot *in)
{
	for (int64_t i = 0; i < out->n && to; i++) {
		Group g = group_of(out, in, i);
		double sum = of[g.first];
		for (int64_t j = 1; j < g.rows * g.cols; j++)
			sum = combined(row, sum, of[member(&g, in, j)]);
		to[i] = sum;
	}
}

/* What sums of a group in any order may be off by, rounded at each step. */
static double group_error(const Group *g, const Slot *in)
{
	double size = 0, unit = INFINITY;
	for (int64_t j = 0; j < g->rows * g->cols; j++) {
		int64_t i = member(g, in, j);
		size += fmax(fabs(in->at.lo[i]), fabs(in->at.hi[i]));
		unit = fmin(unit, element_unit(&in->at, i));
	}
	bool exact = size <= ldexp(unit, FLT_MANT_DIG);
	return exact ? 0 : (double)(g->rows * g->cols) * ldexp(size, -FLT_MANT_DIG);
}

/* Each row by itself, or each column of a few; nothing is rounded before its end. */
void reduce_run(const CombineRow *row, const Slot *out, const Slot *in)
{
	const Elements *o = &out->at;
	join(row, o->f, in->at.f, out, in);
	join(row, o->lo, in->at.lo, out, in);
	join(row, o->hi, in->at.hi, out, in);
	for (int64_t i = 0; i < out->n && o->lo && elt_by_op(row->op)->error.rounds; i++) {
		Group g = group_of(out, in, i);
		double error = group_error(&g, in);
		o->lo[i] = moved(o->lo[i], -error);
		o->hi[i] = moved(o->hi[i], error);
	}
	cvt_run(out, out);
}

/* What sums along a row may be off by so far, added in any order: exact as long as each is a
 * multiple of the least unit that 24 bits hold. */
static double scan_error(double *size, double *unit, const Elements *x, int64_t i, int64_t terms)
{
	*size += fmax(fabs(x->lo[i]), fabs(x->hi[i]));
	*unit = fmin(*unit, element_unit(x, i));
	bool exact = *size <= ldexp(*unit, FLT_MANT_DIG);
	return exact ? 0 : (double)terms * ldexp(*size, -FLT_MANT_DIG);
}

static void scan_row(const Slot *to, const Slot *from, int64_t first, int64_t cols)
{
	const Elements *out = &to->at, *in = &from->at;
	bool exact = elem_is_word(to->type->elem);
	double sum[3] = {0}, size = 0, unit = INFINITY;
	for (int64_t i = first; i < first + cols; i++) {
		sum[0] = i == first ? in->f[i] : sum[0] + in->f[i];
		out->f[i] = sum[0];
		if (!out->lo)
			continue;
		double error = exact ? 0 : scan_error(&size, &unit, in, i, i - first + 1);
		sum[1] += in->lo[i];
		sum[2] += in->hi[i];
		out->lo[i] = moved(sum[1], -error);
		out->hi[i] = moved(sum[2], error);
	}
}

/* Of each row the sum of an element and of those before it; nothing is rounded before the end. */
void scan_run(const Slot *out, const Slot *in)
{
	for (int64_t r = 0; r < out->dim[0]; r++)
		scan_row(out, in, r * out->dim[1], out->dim[1]);
	cvt_run(out, out);
}
