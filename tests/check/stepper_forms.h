/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_forms.h - private to stepper_change.c and stepper_forms.c: changes of several ops, and
 * what each is about. False: they cannot be made there. */
#ifndef DSL_TESTS_CHECK_STEPPER_FORMS_H
#define DSL_TESTS_CHECK_STEPPER_FORMS_H

#include "stepper_place.h"

bool sets_registers(const Op *op);
bool registers_apart(Change *c, Op *op);
bool registers_alike(Change *c, Op *op);
bool is_proxy_fence(const Op *op);
bool half_a_fence(Change *c, Op *op);
bool is_read_of_lanes(const Op *op);
bool one_reads_first(Change *c, Op *op);
bool is_role_of_warps(const Op *op);
bool two_loops(Change *c, Op *op);
bool is_load(const Op *op);
bool read_by_threads(Change *c, Op *load);

#endif
