/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* conds.h - private to verify/: conditions on names that get their values one after another. What
 * names before the last decide of a condition is evaluated once for all values of the last. */
#ifndef DSL_VERIFY_CONDS_H
#define DSL_VERIFY_CONDS_H

#include "layout/ix.h"

typedef struct Conds Conds;

/* Names have numbers from 0, in the order in which they get their values; -1: it gets none. */
typedef int NumberOf(void *user, const char *name);
enum { MAX_LEVELS = 64 };
Conds *conds_new(Ctx *c, int names, NumberOf *number, void *user);

/* A condition whose names have values once `last` has. Conditions come in the order of `last`. What
 * it costs is counted each time that it is asked. */
void conds_add(Conds *c, const Ix *x, int last, int cost);
/* An expression whose value is asked before `name` has one; false: it has none. */
void conds_want(Conds *c, const Ix *x);
bool conds_value(const Conds *c, const Ix *x, int name, int64_t *value);
uint64_t conds_names(const Conds *c, const Ix *x); /* that it has, as bits */

/* Of all that is asked from a name on, what names before it decide: so many numbers. Once. */
int conds_cut(Conds *c, int name);
/* The numbers, now that these names have values. */
void conds_cut_values(const Conds *c, int64_t *values);

/* Gives the name its value. The names of the first condition, of those that it completes, that does
 * not hold, as bits; 0: all hold. What was asked is added to *spent. */
uint64_t conds_hold(Conds *c, int name, int64_t value, int *spent);

#endif
