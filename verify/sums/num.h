/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* num.h - private to verify/: integers of which a range and a residue are known.
 *     a loop index in its steady part: 2.. and 3 (mod 8)   ->   index / 4 % 2 is 0, index < 1 is 0
 */
#ifndef DSL_VERIFY_NUM_H
#define DSL_VERIFY_NUM_H

#include "layout/ix.h"
#include "verify/limits.h"

/* lo..hi and = res (mod mod); exact when mod is 0, of any residue when it is 1. */
typedef struct {
	int64_t lo, hi, mod, res;
} Num;
enum { NUM_NAMES = MAX_NAMES };
typedef struct {
	const char *name[NUM_NAMES];
	Num value[NUM_NAMES];
	int n;
} Env;

Num num_exact(int64_t v);
Num num_from(int64_t lo, int64_t mod, int64_t value); /* lo or more, = value (mod mod) */
Num num_within(int64_t lo, int64_t hi, int64_t mod, int64_t value);
bool num_is_exact(Num x, int64_t *v);
Num num_eval(const Ix *x, const Env *e);
void env_put(Env *e, const char *name, Num v);

/* For `x` to be known modulo q, its names must be known modulo what `needs` is told. */
void ix_needs(const Ix *x, int64_t q, void (*needs)(void *user, const char *name, int64_t q),
	      void *user);
int64_t lcm(int64_t a, int64_t b); /* saturates */
int64_t num_gcd(int64_t a, int64_t b);

#endif
