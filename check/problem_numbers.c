/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* problem_numbers.c - what dslc run puts into a tensor whose elements say where tiles lie or how
 * often loops run: numbers from 0 to the largest that makes a difference; among integers some are
 * below or above these, unless the kernel checks them.
 *     for j in 0 .. (len[b] + 63) / 64, 5 pages   ->   len: 130, 0, 320, 17, 321, -1 */
#include "check/problem.h"

/* The expression with a number in the place of the name. */
static int64_t value_at(const Problem *p, const Ix *x, const char *name, int64_t v)
{
	return problem_eval(p, ix_subst(p->ctx, x, name, ix_const(p->ctx, v)));
}

/* The smallest number from which on the expression is as it is for the largest of s32. */
static int64_t held_at(const Problem *p, const Ix *x, const char *name)
{
	int64_t lo = 0, hi = INT32_MAX, last = value_at(p, x, name, hi);
	while (lo < hi) {
		int64_t mid = lo + (hi - lo) / 2;
		if (value_at(p, x, name, mid) == last)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* What is above it changes nothing: of an index, which counts from 0, not even that. */
static void note_use(const Problem *p, const Ix *x, const char *name, bool index, DrawnNumbers *n)
{
	if (!x || !ix_uses(x, name))
		return;
	int64_t most = held_at(p, x, name) - index;
	n->most = most < n->most ? most : n->most;
	n->used = true;
}

static void note_uses(const Problem *p, const Op *op, const char *name, DrawnNumbers *n)
{
	bool index = op->kind == OP_TILE || op->kind == OP_NUMBER;
	bool counts = op->kind == OP_FOR;
	for (int i = op->kind == OP_NUMBER ? 1 : 0; (index || counts) && i < op->nix; i++)
		note_use(p, op->ix[i], name, index, n);
	if (op->kind == OP_TILE)
		note_use(p, IN(op, OF).at, name, false, n);
}

bool numbers_find(const Problem *p, const Val *arg, DrawnNumbers *n)
{
	*n = (DrawnNumbers){.most = INT32_MAX, .checked = p->check_indices};
	for (const Op *op = kernel_find(p->k, OP_NUMBER); op; op = op_find_next(op, OP_NUMBER))
		for (const Op *by = op; IN(op, FROM).val == arg && by; by = op_next(by))
			note_uses(p, by, op->sym[0], n);
	return n->used;
}

/* What is none of the numbers that there should be. */
static int64_t odd_number(uint64_t draw, int64_t most)
{
	const int64_t odd[] = {-1, most + 1, INT32_MIN, INT32_MAX};
	return odd[draw % COUNTOF(odd)];
}

void numbers_fill(const DrawnNumbers *n, const Tensor *t, bool all, uint64_t seed)
{
	for (int64_t i = 0; i < t->count; i++) {
		uint64_t draw = problem_mix(seed + (uint64_t)i);
		int64_t v = n->most < 0 ? 0 : (int64_t)(draw / 64 % (uint64_t)(n->most + 1));
		if (draw % 8 < 2)
			v = draw % 8 && n->most > 0 ? n->most : 0;
		if (!all && !n->checked && draw % 8 == 2)
			v = odd_number(draw / 8, n->most);
		elem_put(t->elem, t->host, i, (double)v);
	}
}
