/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ix.h - index expressions: 64-bit integers made of constants, names and + * / % min max and
 * comparisons. Interned in a Ctx: equal expressions are one pointer, and constructors keep a normal
 * form (constants folded; sums and products ordered by structure, constants last), so that == is a
 * useful first test of equality.
 * `/` and `%` floor; divisors are positive. a - b is a + -1*b. Comparisons give 0 or 1. */
#ifndef DSL_IX_H
#define DSL_IX_H

#include "base/base.h"

typedef enum {
#define IX(id, text, post, prec) IX_##id,
#include "ix.def"
	IX_COUNT
} IxKind;

typedef struct Ix Ix;
struct Ix {
	IxKind kind;
	int64_t value;    /* IX_CONST */
	const char *name; /* IX_SYM, interned */
	const Ix *a, *b;
	uint32_t id; /* order of creation; normal forms order by structure and name instead */
};

/* What is known of the names: a range, a divisor. Unknown names have the full range. */
typedef struct {
	const char *name;
	int64_t lo, hi; /* inclusive; INT64_MIN / INT64_MAX when open */
	int64_t div;    /* always a multiple of this; 1 when nothing is known */
} IxFact;
typedef struct {
	const IxFact *at;
	int n;
	struct PtrMap *bounds; /* scratch: what was found with these facts; NULL: none is kept */
	const struct PtrMap
		*places; /* of each name, from 1; NULL: not known, a name may be there twice */
} IxFacts;

const Ix *ix_const(Ctx *c, int64_t v);
const Ix *ix_sym(Ctx *c, const char *name);
const Ix *ix_new(Ctx *c, IxKind kind, const Ix *a, const Ix *b); /* any binary kind; folds */
const Ix *ix_add(Ctx *c, const Ix *a, const Ix *b);
const Ix *ix_sub(Ctx *c, const Ix *a, const Ix *b);
const Ix *ix_mul(Ctx *c, const Ix *a, const Ix *b);
const Ix *ix_div(Ctx *c, const Ix *a, const Ix *b); /* b const 0 is a panic: check first */
const Ix *ix_mod(Ctx *c, const Ix *a, const Ix *b);
const Ix *ix_ceil_div(Ctx *c, const Ix *a, const Ix *b); /* (a + b - 1) / b */
bool ix_is(const Ix *x, int64_t v);
bool ix_is_const(const Ix *x, int64_t *v); /* v may be NULL */

/* ix_simplify.c: rules of rules.def, with facts; value is the same for every assignment that the
 * facts allow */
const Ix *ix_simplify(Ctx *c, const Ix *x, IxFacts facts);
/* The same, and adds to the set of rules that were applied, bit by bit; the theorem of a rule, NULL
 * after the last. */
const Ix *ix_simplify_by(Ctx *c, const Ix *x, IxFacts facts, uint64_t *applied);
const char *ix_rule_theorem(int rule);
void ix_range(const Ix *x, IxFacts facts, int64_t *lo, int64_t *hi); /* sound, saturating */
int64_t ix_least(const Ix *x, IxFacts facts);                        /* its two ends */
int64_t ix_most(const Ix *x, IxFacts facts);
bool ix_within(const Ix *x, IxFacts facts, int64_t lo, int64_t hi);
int64_t ix_divisor(const Ix *x, IxFacts facts); /* 0 for the constant 0 */

const Ix *ix_subst(Ctx *c, const Ix *x, const char *name, const Ix *by);
bool ix_uses(const Ix *x, const char *name);
/* Visits every name in x (repeats possible). */
void ix_names(const Ix *x, void (*visit)(void *user, const char *name), void *user);

/* Value of x; `get` says what a name stands for and returns false if it does not know. False as
 * well on overflow and on division by zero or less. */
bool ix_eval(const Ix *x, bool (*get)(void *user, const char *name, int64_t *v), void *user,
	     int64_t *out);
/* Of one operation on numbers; false on overflow and where a divisor is zero or less. */
bool ix_fold(IxKind kind, int64_t a, int64_t b, int64_t *out);
/* ix_subst by a number; false if what comes of it is no number. */
bool ix_value_at(Ctx *c, const Ix *x, const char *name, int64_t at, int64_t *out);

/* Text as in the language, least parentheses; ix_postfix is what the manifest carries. */
void ix_print(const Ix *x, Buf *out);
void ix_postfix(const Ix *x, Buf *out);
/* Reads one expression from *s, which it moves; NULL and a message (in ctx's arena) if it is
 * none. */
const Ix *ix_parse(Ctx *c, const char **s, const char **why);

#endif
