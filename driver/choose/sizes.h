/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sizes.h - private to driver/choose: the sizes that a choice is made for. */
#ifndef DSL_DRIVER_SIZES_H
#define DSL_DRIVER_SIZES_H

#include "driver/choose/work.h"
#include "driver/compile.h"

typedef VEC(CostSizes) SizesVec;

/* Those that the user names, one set or the lines of a file; else what is likely: few and many
 * rows, matrices of language models. False after a message in `say`. */
bool sizes_counted(Ctx *say, Ctx *c, const CompileOpt *opt, const Work *w, SizesVec *out);

/* Those of one launch too. False after a message, for which say may be NULL: a size of the product
 * is not given, or a where clause does not hold. */
bool sizes_add(Ctx *say, Ctx *c, const Work *w, const SizeArgs *given, SizesVec *out);

/* "M=16, N=4096, K=4096": names and numbers, apart by commas or blanks. NULL, or what is wrong. */
const char *sizes_parse(Arena *a, const char *text, SizeArgs *out);

#endif
