/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pingpong.h - private to passes/: a loop over tiles that warpgroups go through in turn. */
#ifndef DSL_TURNS_H
#define DSL_TURNS_H

#include "passes/pass.h"

void take_turns(Kernel *k, Op *tiles);

#endif
