/* handlers.h - every handler and every prepare function that insn.def names. */
#ifndef DSL_SIM_HANDLERS_H
#define DSL_SIM_HANDLERS_H

#include "runtime/sim/code.h"

#define INSN(handler, op, mods, args, prepare, flags) Run handler(Warp *w, const Ins *in, u32 mask);
#include "runtime/sim/insn.def"

void prepare_arrive(Arena *a, Ins *in);
void prepare_atom(Arena *a, Ins *in);
void prepare_bulk(Arena *a, Ins *in);
void prepare_carry(Arena *a, Ins *in);
void prepare_drop(Arena *a, Ins *in);
void prepare_expect(Arena *a, Ins *in);
void prepare_ldmatrix(Arena *a, Ins *in);
void prepare_math(Arena *a, Ins *in);
void prepare_mma(Arena *a, Ins *in);
void prepare_pack(Arena *a, Ins *in);
void prepare_pred(Arena *a, Ins *in);
void prepare_setp(Arena *a, Ins *in);
void prepare_test(Arena *a, Ins *in);
void prepare_vector(Arena *a, Ins *in);
void prepare_wgmma(Arena *a, Ins *in);
void prepare_wmma(Arena *a, Ins *in);
void prepare_wmma_mma(Arena *a, Ins *in);

/* The word of the opcode at place n (0 is the first), for rows that have a modifier twice. */
bool opcode_word_is(const Ins *in, int n, const char *word);
_Noreturn void refuse(Arena *a, const Ins *in, const char *what);

#endif
