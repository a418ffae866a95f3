/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_place.h - private to stepper_change.c and stepper_place.c: a kernel that is changed, its
 * places and what is put there. */
#ifndef DSL_TESTS_CHECK_STEPPER_PLACE_H
#define DSL_TESTS_CHECK_STEPPER_PLACE_H

#include "stepper_change.h"

typedef struct {
	Kernel *k;
	Random *r;
} Change;

typedef bool (*Wanted)(const Op *op);

Op *pick(Change *c, Wanted wanted);
bool orders(const Op *op);
bool acts(const Op *op);
bool is_statement(const Op *op);
bool has_slot(const Op *op);
bool is_wait(const Op *op);
bool is_arrive(const Op *op);
bool is_loop(const Op *op);
bool is_if(const Op *op);
bool is_branch(const Op *op);
bool is_named(const Op *op);
bool is_tma(const Op *op);
bool is_fill(const Op *op);
bool is_staged(const Op *op); /* from a staging buffer to a tensor */
bool is_read(const Op *op);
bool is_cvt(const Op *op);
bool is_mma_step(const Op *op);
bool is_meeting(const Op *op);
bool is_shared_load(const Op *op);
bool has_number(const Op *op);
const Ix *ix_num(Change *c, int64_t v);
const Ix *ix_plus(Change *c, const Ix *x, int64_t v);
const Ix *ix_name(Change *c, const char *s);
Op *copy_of(Change *c, const Op *op);
Op *statement(Op *op);
const Ix *something(Change *c, const Op *op);
const Ix *some_lanes(Change *c);
Op *branch_before(Change *c, Op *at, const Ix *cond);
void put_into(Change *c, Op *region, Op *op);

#endif
