/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ixp.h - private to ix*.c: raw nodes, their order, and sums seen as lists of terms. */
#ifndef DSL_IXP_H
#define DSL_IXP_H

#include "base/ctx.h"
#include "layout/ix.h"

/* x = base * coef; base is NULL for a constant. */
typedef struct {
	const Ix *x, *base;
	int64_t coef;
} IxTerm;
typedef VEC(IxTerm) IxTerms;

/* ix.c */
const Ix *ix_node(Ctx *c, IxKind kind, const Ix *a,
		  const Ix *b);       /* interned as it is: no folding */
int ix_cmp(const Ix *a, const Ix *b); /* by structure and name; constants last; 0 only for a == b */
extern const struct IxRow {
	const char *text, *post;
	int prec;
} ix_rows[IX_COUNT];
bool ix_is_comparison(IxKind kind);

/* ix_sum.c: normal forms of + and *, min and max */
IxTerm ix_term(const Ix *x);
void ix_terms(Ctx *c, const Ix *x, IxTerms *out); /* the terms of a sum, sorted, none alike */
const Ix *ix_sum(Ctx *c, const IxTerms *ts);
const Ix *ix_product(Ctx *c, const Ix *a, const Ix *b);
const Ix *ix_extreme(Ctx *c, IxKind kind, const Ix *a, const Ix *b);
typedef VEC(const Ix *) IxList;
void ix_factors(Ctx *c, const Ix *x, IxList *out); /* the factors of a product, sorted */

/* ix_simplify.c: one rule at the root of x, whose operands are simple; NULL when it does not
 * apply */
typedef enum {
#define RULE(id, root, law, when, theorem) RULE_##id,
#include "layout/rules.def"
	RULE_COUNT
} IxRule;
const Ix *ix_rule_apply(Ctx *c, IxRule rule, const Ix *x, IxFacts facts);

/* ix_text.c: whether an infix operator stands at s; "%x" is a value and "->" an arrow. */
bool ix_infix_at(const char *s);

int64_t gcd64(int64_t a, int64_t b); /* of magnitudes; gcd64(0, b) = |b| */

#endif
