/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* workspace.h - private to passes/: memory of the launch in which CTAs that share the k of a tile
 * see each other's sums. */
#ifndef DSL_WORKSPACE_H
#define DSL_WORKSPACE_H

#include "passes/tile/split.h"

/* Registers of all threads, 16 bytes of each thread side by side: where each lies. */
const Layout *layout_in_units(Ctx *c, int threads, int regs);
/* Registers of all threads as a row: 16 bytes of each thread side by side. */
const Type *workspace_row(Ctx *c, Elem elem, int threads, int regs);
/* An argument of so many such rows for each CTA. */
Val *workspace_of(Kernel *k, const Type *row, int rows);
/* Row `piece` of the CTA that has part `part` of this CTA's tile. */
Val *workspace_tile(Kernel *k, Block *b, Val *workspace, const Type *row, int rows, const Ix *part,
		    int piece, Loc loc);
/* The CTAs of a tile meet before `at`. */
void workspace_meet(Kernel *k, Op *at, Val *workspace);

#endif
