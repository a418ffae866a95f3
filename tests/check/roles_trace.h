/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* roles_trace.h - a random role program for the stepper, move by move from its source; nothing of
 * what random_build.c makes of it for the verifier has a part in it.
 *     role 1: wait full 0, read 0, arrive empty 0; 2 trips  ->  the six steps of warp 1
 */
#ifndef DSL_TESTS_CHECK_ROLES_TRACE_H
#define DSL_TESTS_CHECK_ROLES_TRACE_H

#include "random.h"
#include "stepper.h"

PtxTrace *roles_trace(Ctx *c, const Source *s, int trips);

#endif
