/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* views.h - private to passes/atoms: parts of buffers, and transposes, as operands of mma. */
#ifndef DSL_VIEWS_H
#define DSL_VIEWS_H

#include "passes/smem/operand_layout.h"

/* Elements that lie side by side in the buffer, of which each reader takes whole numbers. */
int side_of_readers(const Kernel *k, const Val *buffer, int fast);
/* Whether each view begins where its mma can begin to read; else reports. */
bool views_fit(Kernel *k);

#endif
