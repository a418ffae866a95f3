/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* loaders.h - private to passes/: what of a program loads, and who does. */
#ifndef DSL_LOADERS_H
#define DSL_LOADERS_H

#include "passes/pass.h"

/* Warps that put_loaders will give work, of a program that is not split into roles yet. */
int loading_warps(Kernel *k);
/* The loads of the body, by warps of the producer's. */
void put_loaders(Kernel *k, Op *producer, const Block *body);
/* Those that all lanes issue, by all warps of a role; an error where they do not divide. */
void load_by_all(Kernel *k, Op *role, int warps);

#endif
