/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* masked.c - a loop over products masks elements by their coordinates. The mask is computed for the
 * tiles that it cuts. In all other tiles each element keeps its value.
 *     %i = series (j * 64) ; %q = series (m * 64) ; %c = le %i, %q ; %x = select %c, %s, -inf
 * ->  %x = frag ; move %x, %s
 *     if ((j * 64 + 63 <= m * 64) == 0) { .. ; %y = select %c, %s, -inf ; move %x, %y } */
#include "passes/why.h"

typedef struct {
	Kernel *k;
	const Ix
		*fits; /* where no coordinate wraps: its 32 bits are the index expression's value */
} Mask;

/* The least and the largest element of a value; NULL: not known. */
typedef struct {
	const Ix *lo, *hi;
} Span;

static const Ix *both_of(const Kernel *k, const Ix *a, const Ix *b)
{
	return a && b ? ix_new(k->ctx, IX_AND, a, b) : NULL;
}

/* Numbers wrap, index expressions do not. */
static Span without_wrap(Mask *m, Span s)
{
	Kernel *k = m->k;
	IxFacts facts = kernel_facts(k);
	if (ix_least(s.lo, facts) < INT32_MIN)
		m->fits = both_of(k, m->fits, ix_new(k->ctx, IX_LE, ix_int(k, INT32_MIN), s.lo));
	if (ix_most(s.hi, facts) > INT32_MAX)
		m->fits = both_of(k, m->fits, ix_new(k->ctx, IX_LE, s.hi, ix_int(k, INT32_MAX)));
	return s;
}

static Span span_of(Mask *m, const Val *v);

/* Of a product one factor of which is a number of at least 0. */
static Span span_of_product(Mask *m, const Op *op)
{
	Ctx *c = m->k->ctx;
	Span a = span_of(m, IN(op, X).val), b = span_of(m, IN(op, Y).val);
	int64_t n = -1;
	if (!a.lo || !b.lo)
		return (Span){NULL, NULL};
	if (a.lo != a.hi || !ix_is_const(a.lo, &n)) {
		Span swap = a;
		a = b;
		b = swap;
	}
	if (a.lo != a.hi || !ix_is_const(a.lo, &n) || n < 0)
		return (Span){NULL, NULL};
	return without_wrap(m, (Span){ix_mul(c, b.lo, a.lo), ix_mul(c, b.hi, a.lo)});
}

static Span span_of(Mask *m, const Val *v)
{
	Kernel *k = m->k;
	Ctx *c = k->ctx;
	Span none = {NULL, NULL}, a, b;
	const Op *op = v->def;
	if (!op || v->type->elem != EL_I32)
		return none;
	switch (op->kind) {
	case OP_CONST:
		a.lo = a.hi = ix_int(k, (int64_t)attrs_get(&op->attrs, A_VALUE)->real);
		return a;
	case OP_SIZEVAL:
		return without_wrap(m, (Span){IX(op, VALUE), IX(op, VALUE)});
	case OP_SERIES:
		a.lo = IX(op, FROM);
		a.hi = ix_add(c, a.lo, ix_int(k, val_extent(v, 0) * val_extent(v, 1) - 1));
		return without_wrap(m, a);
	case OP_ADD:
	case OP_SUB:
		a = span_of(m, IN(op, X).val);
		b = span_of(m, IN(op, Y).val);
		if (!a.lo || !b.lo)
			return none;
		if (op->kind == OP_SUB)
			b = (Span){ix_mul(c, b.hi, ix_int(k, -1)), ix_mul(c, b.lo, ix_int(k, -1))};
		return without_wrap(m, (Span){ix_add(c, a.lo, b.lo), ix_add(c, a.hi, b.hi)});
	case OP_MUL:
		return span_of_product(m, op);
	default:
		return none;
	}
}

/* Each comparison as a < b or a <= b: which operand is a, and which of the two it is. */
static const struct {
	OpKind op;
	int first;
	IxKind less;
} comparisons[] = {{OP_LT, 0, IX_LT}, {OP_LE, 0, IX_LE}, {OP_GT, 1, IX_LT}, {OP_GE, 1, IX_LE}};

/* Where a < b, or a <= b, holds for each pair of elements. */
static const Ix *always_less(Mask *m, const Val *a, const Val *b, IxKind less)
{
	Span x = span_of(m, a), y = span_of(m, b);
	return x.hi && y.lo ? ix_new(m->k->ctx, less, x.hi, y.lo) : NULL;
}

static const Ix *always_compares(Mask *m, const Op *op, bool holds)
{
	for (size_t i = 0; i < COUNTOF(comparisons); i++) {
		if (comparisons[i].op != op->kind)
			continue;
		int first = comparisons[i].first;
		const Val *a = op->in[first].val, *b = op->in[1 - first].val;
		IxKind less = comparisons[i].less;
		return holds ? always_less(m, a, b, less)
			     : always_less(m, b, a, less == IX_LT ? IX_LE : IX_LT);
	}
	return NULL;
}

/* Where the condition holds for each element of the tile (holds), or for none; NULL: not known. */
static const Ix *always(Mask *m, const Val *condition, bool holds)
{
	const Op *op = condition->def;
	const Ix *a, *b;
	if (!op)
		return NULL;
	switch (op->kind) {
	case OP_NEITHER:
		return always(m, IN(op, X).val, !holds);
	case OP_BOTH:
	case OP_EITHER:
		a = always(m, IN(op, X).val, holds);
		b = always(m, IN(op, Y).val, holds);
		if ((op->kind == OP_BOTH) == holds)
			return both_of(m->k, a, b);
		return a && b ? ix_new(m->k->ctx, IX_OR, a, b) : a ? a : b;
	default:
		return always_compares(m, op, holds);
	}
}

static bool is_tile(const Val *v)
{
	return v->type->kind == TY_TILE && !val_is_vector(v);
}

static bool loop_multiplies(const Op *loop)
{
	for (const Op *op = loop ? loop->body->first : NULL; op; op = op->next)
		if (op_is_mma(op))
			return true;
	return false;
}

/* Whether only ops of the region use v. */
static bool is_private(const Kernel *k, const Val *v, const Op *region)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op_takes(op, v) && !op_inside(op, region))
			return false;
	return true;
}

/* Whether a later op would compute the same: no operand is a register that changes. */
static bool may_wait(const Op *op)
{
	bool may = op_rows[op->kind].flags & OPF_ELT;
	for (int i = 0; i < op->nin; i++)
		may &= !op->in[i].val->def ||
		       (op->in[i].val->def->kind != OP_FRAG && op->in[i].val->def->kind != OP_PART);
	return may || op->kind == OP_CONST;
}

/* Moves the ops before the region into it whose values only the region uses. */
static void bring_in(Kernel *k, Op *region)
{
	for (Op *op = region->prev, *prev; op; op = prev) {
		prev = op->prev;
		if (!may_wait(op) || !is_private(k, op->out, region))
			continue;
		Op *first = region->body->first;
		op_insert_before(first, op);
	}
}

static void mask_apart(Kernel *k, Op *select, const Val *kept, const Ix *whole)
{
	Op *copy = op_before(k, select, OP_FRAG), *move = op_before(k, select, OP_MOVE);
	Val *y = op_result(k, copy, "x", select->out->type);
	kernel_replace(k, select->out, y);
	op_ins(k, move, y, (Val *)kept);
	Op *some = op_before(k, select, OP_IF);
	op_ix(k, some, ix_new(k->ctx, IX_EQ, whole, ix_int(k, 0)));
	block_append(op_body(k, some), select);
	op_ins(k, op_append(k, some->body, OP_MOVE, select->loc), y, select->out);
	bring_in(k, some);
}

/* If the value is used again, its masked copy takes registers beside it. */
static bool is_used_after(const Op *at, const Val *v)
{
	for (const Op *op = at->next; op; op = op->next)
		for (const Op *in = op; in && op_inside(in, op); in = op_next(in))
			if (op_takes(in, v))
				return true;
	return false;
}

PASS_OF(masked)
{
	if (attrs_int(&k->attrs, A_THRIFT, 0)) /* ptxas spilled registers */
		return;
	for (Op *op = kernel_find(k, OP_SELECT), *next; op; op = next) {
		next = op_find_next(op, OP_SELECT);
		if (!is_tile(op->out) || !loop_multiplies(op_around(op, OP_FOR)))
			continue;
		const Val *yes = IN(op, Y).val, *no = IN(op, Z).val;
		bool holds = is_tile(yes);
		if (holds == is_tile(no) || is_used_after(op, holds ? yes : no))
			continue;
		Mask m = {k, ix_int(k, 1)};
		const Ix *whole = always(&m, IN(op, X).val, holds);
		if (!whole)
			continue;
		why_masked(k, op->out, whole);
		mask_apart(k, op, holds ? yes : no, ix_new(k->ctx, IX_AND, m.fits, whole));
	}
}
