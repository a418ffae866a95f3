/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify_reach.c - does what an instruction reads by a descriptor lie in its slot? The last byte is
 * that of the last row, or of the last unit that a swizzle moves, of the operand's tile.
 *     wgmma %acc[0], %sA[0], %sB[0] (0, 6144) of (64,64) bf16, N 64: its last row ends at 14336
 *     of 8192: refused */
#include "ir/verify.h"

enum { EIGHT = 8 };

static int64_t of(const Op *op, AttrId id, int i)
{
	const Attr *a = attrs_get(&op->attrs, id);
	return a ? a->i[i] : 0;
}

/* Bytes from the descriptor's first to the end of the last that it reads, mn by k elements. */
static int64_t reach(const Op *op, int i, int64_t mn, int64_t k, int64_t size)
{
	int64_t width = of(op, A_SWIZZLES, i), lbo = of(op, A_LBO, i), sbo = of(op, A_SBO, i);
	int64_t rows = of(op, A_MN_MAJOR, i) ? k : mn, row = of(op, A_MN_MAJOR, i) ? mn : k;
	int64_t last = (rows - 1) / EIGHT * sbo + (rows - 1) % EIGHT * width, span = width / size;
	if (!of(op, A_MN_MAJOR, i) || row <= span)
		return last + row * size;
	return last + (row - 1) / span * lbo + ((row - 1) % span + 1) * size;
}

static const char *operand_reach(Ctx *c, const Scope *s, const Op *op, int i)
{
	const Type *t = op->in[1 + i].val->type;
	Atom atom = attrs_get(&op->attrs, A_ATOM)->atom;
	const AtomRow *row = &atom_rows[atom.id];
	int64_t lo, hi, size = elem_span(t->elem, 1), slot = type_slot_bytes(t);
	ix_range(op->ix[i], (IxFacts){.at = s->facts.at, .n = s->facts.n}, &lo, &hi);
	int64_t n = reach(op, i, i ? atom.n : row->m, row->k, size);
	if (t->space != SP_SHARED || !of(op, A_SWIZZLES, i) || (lo >= 0 && hi <= slot - n))
		return NULL;
	return ctx_strf(c,
			"%lld bytes of %%%s are read from %lld to %lld on, and its slot has "
			"%lld",
			(long long)n, op->in[1 + i].val->name, (long long)lo, (long long)hi,
			(long long)slot);
}

const char *reach_rule(Ctx *c, const Scope *s, const Op *op)
{
	const char *why = operand_reach(c, s, op, 0);
	return why ? why : operand_reach(c, s, op, 1);
}
