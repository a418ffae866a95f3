/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layoutp.h - private to layout*.c and tup*.c: layouts as flat lists of modes, trees of basis
 * elements, and how operations refuse. Lists live in ctx_tmp: whoever is called from outside marks
 * and releases it. */
#ifndef DSL_LAYOUTP_H
#define DSL_LAYOUTP_H

#include "base/ctx.h"
#include "layout/ixp.h"
#include "layout/layout.h"

typedef struct {
	const Ix *shape, *stride;
	uint64_t basis; /* of the stride */
} Mode;
typedef VEC(Mode) Modes;

/* r: a tuple of n elements, of which i is made by `made`; NULL where that gives NULL. */
#define TUP_OF(r, c, n, i, made)                                         \
	do {                                                             \
		ArenaMark mark_ = arena_mark(ctx_tmp(c));                \
		int n_ = (n), i = 0;                                     \
		const Tup **at_ = NEWN(ctx_tmp(c), const Tup *, n_ + 1); \
		while (i < n_ && (at_[i] = (made)))                      \
			i++;                                             \
		(r) = i == n_ ? tup_new(c, at_, n_) : NULL;              \
		arena_release(ctx_tmp(c), mark_);                        \
	} while (0)

/* layout.c */
void layout_flatten(Ctx *c, const Layout *l, Modes *out);
const Layout *layout_of_modes(Ctx *c, const Modes *m); /* one mode: a leaf; none: 1:0 */
const Layout *layout_outer(Ctx *c, const Layout *l);   /* without swizzle, offset and inner */
/* `outer` after all that stands in front of l's own */
const Layout *layout_wrap(Ctx *c, const Layout *l, const Layout *outer);
const Layout *layout_shift(Ctx *c, const Layout *l, const Tup *more);
const Layout *layout_behind(Ctx *c, const Layout *inner, const Layout *l); /* l may be swizzled */
const Layout *layout_leaf(Ctx *c, const Ix *shape, const Ix *stride);
const Ix *ix_plain(Ctx *c, const Ix *x); /* simplified with what is assumed */
IxFacts layout_facts(Ctx *c);

/* basis.c: something for each basis element of a coordinate space; places between that no path
 * names are asked for too. NULL where one path is part of another, or `leaf` gives NULL. */
typedef const void *(*BasisLeaf)(Ctx *c, void *user, uint64_t basis);
typedef const void *(*BasisJoin)(Ctx *c, void *user, const void *const *at, int n);
const void *basis_tree(Ctx *c, const uint64_t *paths, int n, BasisLeaf leaf, BasisJoin join,
		       void *user);
int basis_outermost(uint64_t basis);   /* the last number after @ */
uint64_t basis_inside(uint64_t basis); /* the path without it */

/* layout_algebra.c */
const void *refuse(Ctx *c, const char **why, const char *fmt, ...) PRINTF(3, 4); /* NULL */
bool layout_usable(Ctx *c, const char *operation, const Layout *l, const char **why);
bool ix_divides(Ctx *c, const Ix *a, const Ix *b, const Ix **q); /* a = q * b, surely */
const char *text_skip_space(const char *s);
int ix_at_most(Ctx *c, const Ix *a, const Ix *b); /* 1 yes, 0 no, -1 unknown */
void modes_join(Ctx *c, Modes *out, Mode m);
void modes_join_all(Ctx *c, Modes *out, const Modes *m);
const Layout *layout_complement_in(Ctx *c, const Layout *a, const Tup *shape, const char **why);
/* with a tail that has no end: of extent 2 at least */
const Layout *layout_complement_open(Ctx *c, const Layout *a, const Ix *cotarget, const char **why);

/* A function that sorts a list by stride; false where two strides cannot be compared. */
#define SORT_BY_STRIDE(name, List, One)                                                      \
	static bool name(Ctx *c, List *m)                                                    \
	{                                                                                    \
		for (int i = 1; i < m->n; i++)                                               \
			for (int j = i; j > 0; j--) {                                        \
				One low = m->at[j - 1], high = m->at[j];                     \
				int order = ix_at_most(c, low.stride, high.stride);          \
				if (order < 0 && ix_at_most(c, high.stride, low.stride) < 0) \
					return false;                                        \
				if (order == 1)                                              \
					break;                                               \
				m->at[j - 1] = high;                                         \
				m->at[j] = low;                                              \
			}                                                                    \
		return true;                                                                 \
	}

#endif
