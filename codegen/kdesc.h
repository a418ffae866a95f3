/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kdesc.h - private to codegen: the kernel description of a compiled module. */
#ifndef DSL_CODEGEN_KDESC_H
#define DSL_CODEGEN_KDESC_H

#include "codegen/codegen.h"

/* regs: what ptxas says of each kernel, or NULL. Text and arrays live in the ctx's arena. False
 * after a diagnostic: a kernel beyond a limit of runtime/kdesc.h. */
bool kdesc_fill(const Module *m, const CgOpt *opt, const int *regs, KModuleDesc *out);

#endif
