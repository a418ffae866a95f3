/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* problem_indices.c - what dslc run puts into a tensor of indices: rows of the tensor that is read
 * or written by them. Of normal numbers each is one; among integers, one in sixteen is none; where
 * the kernel checks them that is said by -1 alone.
 *     sA <- gA[rows[m], k], A of 300 rows   ->   rows: 17, 204, -1, 96, 300, ... */
#include "check/problem.h"

/* What writes the tile; NULL: nothing. */
static const Op *writer_of(const Problem *p, const Val *tile)
{
	for (const Op *op = kernel_first(p->k); op; op = op_next(op))
		if (op->kind == OP_COPY && IN(op, TO).val == tile)
			return op;
	return NULL;
}

/* Whether an index may stand there only once: rows that are joined to may repeat. */
static bool is_written_once(const Problem *p, const Val *tile)
{
	const Op *writer = writer_of(p, tile);
	return writer && !combine_of(writer);
}

static const Val *argument_of(const Val *v)
{
	while (v->def)
		v = IN(v->def, OF).val;
	return v;
}

bool indices_write(const Problem *p, const Val *arg)
{
	for (const Op *op = kernel_first(p->k); op; op = op_next(op))
		if (op->kind == OP_TILE && HAS_IN(op, INDEX) &&
		    argument_of(IN(op, OF).val) == arg && writer_of(p, op->out))
			return true;
	return false;
}

bool indices_any(const Problem *p)
{
	for (const Op *op = kernel_first(p->k); op; op = op_next(op))
		if (op->kind == OP_NUMBER || (op->kind == OP_TILE && HAS_IN(op, INDEX)))
			return true;
	return false;
}

bool indices_find(const Problem *p, const Val *arg, Indices *of)
{
	for (const Op *op = kernel_first(p->k); op; op = op_next(op)) {
		if (op->kind != OP_TILE || !HAS_IN(op, INDEX) ||
		    argument_of(IN(op, INDEX).val) != arg)
			continue;
		const Layout *l = IN(op, OF).val->type->layout;
		int mode = (int)attrs_int(&op->attrs, A_GATHER, 0);
		of->extent = problem_eval(p, layout_size(p->ctx, layout_mode(p->ctx, l, mode)));
		of->once = is_written_once(p, op->out);
		of->checked = p->check_indices;
		return true;
	}
	return false;
}

/* A number that shares no divisor with n, so that its multiples are all different below n. */
static int64_t coprime(int64_t n, uint64_t seed)
{
	int64_t x = n > 2 ? (int64_t)(seed % (uint64_t)n) : 1;
	for (;; x++) {
		int64_t a = x, b = n;
		while (b) {
			int64_t rest = a % b;
			a = b;
			b = rest;
		}
		if (a == 1)
			return x;
	}
}

void indices_fill(const Indices *of, const Tensor *t, void *data, bool all, uint64_t seed)
{
	int64_t n = of->extent, step = n > 0 ? coprime(n, seed) : 0;
	for (int64_t i = 0; i < t->count; i++) {
		uint64_t draw = problem_mix(seed + (uint64_t)i);
		bool none = n <= 0 || (of->once && i >= n) || (!all && draw % 16 == 0);
		int64_t outside = draw % 32 && !of->checked ? n : -1;
		int64_t inside = none       ? outside
				 : of->once ? (i * (step % n)) % n
					    : (int64_t)(draw / 32 % (uint64_t)n);
		elem_put(t->elem, data, i, (double)inside);
	}
}
