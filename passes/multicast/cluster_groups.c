/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cluster_groups.c - the analysis of cluster_groups.h. The rank is a number below 16, so it is
 * replaced by each in turn, and of two ranks each coordinate is one equation, which the simplifier
 * decides or leaves open:
 *     (u * 4 + rank) / 2 * 64, ranks 2 and 3  ->  u * 2 + 1 == u * 2 + 1  ->  1 */
#include "passes/multicast/cluster_groups.h"

typedef enum { DIFFERENT, ALIKE, OPEN } Verdict;

/* The hardware's other names of a CTA are functions of the rank. */
static const Ix *of_rank(const SameFrame *f, const Ix *x)
{
	Ctx *c = f->ctx;
	const Ix *ranks = ix_const(c, f->ranks);
	const Ix *cta = ix_add(c, ix_mul(c, ix_sym(c, "cluster"), ranks), ix_sym(c, "rank"));
	x = ix_subst(c, x, "cta", cta);
	return ix_subst(c, x, "ctas", ix_mul(c, ix_sym(c, "clusters"), ranks));
}

static const Ix *at_rank(Ctx *c, const Ix *x, int rank)
{
	return ix_subst(c, x, "rank", ix_const(c, rank));
}

static Verdict pair_decide(const SameFrame *f, Same *s, const Ix *const *at, int n, int r, int q)
{
	Verdict all = ALIKE;
	for (int i = 0; i < n; i++) {
		int64_t alike;
		const Ix *x =
			ix_new(f->ctx, IX_EQ, at_rank(f->ctx, at[i], r), at_rank(f->ctx, at[i], q));
		if (!ix_is_const(ix_simplify_by(f->ctx, x, f->facts, &s->rules), &alike))
			all = OPEN;
		else if (!alike)
			return DIFFERENT;
	}
	return all;
}

/* The lowest rank of each group stands for it. */
static void groups_find(const SameFrame *f, Same *s, const Ix *const *at, int n)
{
	int lowest[CLUSTER_CTAS];
	for (int r = 0; r < s->ranks; r++) {
		bool open = false;
		lowest[r] = r;
		for (int q = 0; q < r && lowest[r] == r; q++) {
			Verdict v = lowest[q] == q ? pair_decide(f, s, at, n, r, q) : DIFFERENT;
			lowest[r] = v == ALIKE ? q : r;
			open |= v == OPEN;
		}
		s->narrowed |= open && lowest[r] == r;
	}
	for (int r = 0; r < s->ranks; r++)
		for (int q = 0; q < s->ranks; q++)
			if (lowest[q] == lowest[r])
				s->with[r] |= (uint16_t)(1u << q);
}

Same same_bulk(const SameFrame *f, const Ix *const *origin, int n)
{
	Same s = {.ranks = f->ranks};
	const Ix **at = NEWN(ctx_arena(f->ctx), const Ix *, n);
	if (f->ranks < 1 || f->ranks > CLUSTER_CTAS)
		panic("a cluster of %d CTAs", f->ranks);
	for (int i = 0; i < n; i++)
		at[i] = of_rank(f, origin[i]);
	groups_find(f, &s, at, n);
	return s;
}

/* ------------------------------------------------------------------ lets */
static const Op *op_ahead(const Op *op)
{
	return op->prev ? op->prev : op_parent(op);
}

/* What a number from memory is read by: two that agree in each part are one number. */
static const Ix *read_by(const Kernel *k, const Op *op)
{
	const Ix *all = ix_const(k->ctx, 0);
	for (int i = 0; i < op->nix; i++) {
		const Ix *any = ix_sym(k->ctx, ctx_strf(k->ctx, "%s part %d", op->sym[0], i));
		const Ix *part = same_resolve(k, op_ahead(op), op->ix[i]);
		all = ix_add(k->ctx, all, ix_mod(k->ctx, part, any));
	}
	return all;
}

const Ix *same_resolve(const Kernel *k, const Op *at, const Ix *x)
{
	for (const Op *op = at; op; op = op_ahead(op)) {
		bool names = op->kind == OP_LET || op->kind == OP_NUMBER;
		if (!names || !ix_uses(x, op->sym[0]))
			continue;
		const Ix *v = op->kind == OP_NUMBER ? read_by(k, op)
						    : same_resolve(k, op_ahead(op), IX(op, VALUE));
		if (ix_uses(v, "rank") || ix_uses(v, "cta"))
			x = ix_subst(k->ctx, x, op->sym[0], v);
	}
	return x;
}
