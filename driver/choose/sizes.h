/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sizes.h - private to driver/choose: the sizes that a choice is made for. */
#ifndef DSL_DRIVER_SIZES_H
#define DSL_DRIVER_SIZES_H

#include "driver/choose/work.h"
#include "driver/compile.h"

typedef VEC(CostSizes) SizesVec;

/* Those that the user names, one set or the lines of a file; else what is likely: few and many
 * rows, matrices of language models. False after a message in `say`: a size is not given. */
bool sizes_counted(Ctx *say, Ctx *c, const CompileOpt *opt, const Work *w, SizesVec *out);

/* Those of one launch too. NULL, or the name of a size that is not given. */
const char *sizes_add(Ctx *c, const Work *w, const SizeArgs *given, SizesVec *out);

/* "M=16, N=4096, K=4096": names and numbers, apart by commas or blanks. The piece that is wrong, or
 * NULL. */
const char *sizes_parse(Ctx *c, const char *text, SizeArgs *out);

#endif
