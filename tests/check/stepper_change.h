/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_change.h - random changes of a ptx-stage kernel: what a wrong pass or a hand could write.
 *     change_random(k, &r, "slot", text)
 *     ->  "another slot: mbar.arrive %ab.empty[slot - 1]"
 */
#ifndef DSL_TESTS_CHECK_STEPPER_CHANGE_H
#define DSL_TESTS_CHECK_STEPPER_CHANGE_H

#include "ir/ir.h"

typedef struct {
	uint64_t state;
} Random;
int random_under(Random *r, int n);

/* One of those whose name has `kind` in it; NULL: of all, or of those that are of several ops and
 * come up too rarely. false: there is no such place; text says what was changed. */
bool change_random(Kernel *k, Random *r, const char *kind, bool form, Buf *text);

#endif
