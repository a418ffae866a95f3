/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* handlers.h - every handler and every prepare function that insn.def names. */
#ifndef DSL_SIM_HANDLERS_H
#define DSL_SIM_HANDLERS_H

#include "sim/code.h"

#define INSN(handler, op, mods, args, prepare, flags) Run handler(Warp *w, const Ins *in, u32 mask);
#include "sim/insn.def"

void prepare_arrive(Pool *a, Ins *in);
void prepare_atom(Pool *a, Ins *in);
void prepare_bulk(Pool *a, Ins *in);
void prepare_carry(Pool *a, Ins *in);
void prepare_drop(Pool *a, Ins *in);
void prepare_expect(Pool *a, Ins *in);
void prepare_ldmatrix(Pool *a, Ins *in);
void prepare_math(Pool *a, Ins *in);
void prepare_mma(Pool *a, Ins *in);
void prepare_pack(Pool *a, Ins *in);
void prepare_pred(Pool *a, Ins *in);
void prepare_setp(Pool *a, Ins *in);
void prepare_test(Pool *a, Ins *in);
void prepare_vector(Pool *a, Ins *in);
void prepare_wgmma(Pool *a, Ins *in);
void prepare_wmma(Pool *a, Ins *in);
void prepare_wmma_mma(Pool *a, Ins *in);

/* The word of the opcode at place n (0 is the first), for rows that have a modifier twice. */
bool opcode_word_is(const Ins *in, int n, const char *word);
_Noreturn void refuse(Pool *a, const Ins *in, const char *what);
/* PTX that is right and not simulated: whoever reaches it reports so. */
void lack(Ins *in, const char *what);
Run run_unknown(Warp *w, const Ins *in, u32 mask);

#endif
