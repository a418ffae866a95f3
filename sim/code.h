/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* code.h - decoded PTX: what decode.c makes of a function and exec.c runs. Registers, constants and
 * special registers are slots of one file per warp; a slot holds 32 lanes of 2, 4, 8 or 16 bytes, a
 * predicate one 32-bit mask. Everything lives in the module's pool and is read-only once loaded.
 *   add.s32 %r1, %r2, 4;  ->  run_add, args {slot of %r1, slot of %r2, slot of the constant 4} */
#ifndef DSL_SIM_CODE_H
#define DSL_SIM_CODE_H

#include "sim/ptx.h"

typedef enum {
	T_NONE,
#define TYPE(id, word, bytes, kind) T_##id,
#include "sim/types.def"
	T_COUNT
} Type;

typedef enum {
	M_NONE,
#define MOD(id, word) M_##id,
#include "sim/mods.def"
	M_COUNT
} Mod;

typedef enum {
#define SREG(id, word, bytes, value) SR_##id,
#include "sim/sregs.def"
	SR_COUNT
} Sreg;

typedef enum { A_NONE, A_SLOT, A_MEM, A_VEC, A_SINK, A_LABEL, A_IMM, A_CLOCK } ArgKind;

typedef struct Arg Arg;
struct Arg {
	u8 kind;
	u8 width;     /* bytes a lane of the slot; of A_MEM: of its base */
	bool negated; /* of a predicate */
	bool isconst; /* a constant or special register: never written */
	u16 n;        /* of list */
	u32 slot;
	s64 imm;   /* added to the base; the number of A_IMM; the instruction of A_LABEL */
	Arg *list; /* of A_VEC; of A_MEM with coordinates: what follows the base */
};

typedef struct Warp Warp;
typedef struct Ins Ins;
typedef enum { RUN_NEXT, RUN_BLOCK, RUN_JUMP, RUN_FAIL } Run;
typedef Run (*Handler)(Warp *w, const Ins *in, u32 mask);

enum { INS_TYPES = 4, INS_ARGS = 10 };
/* Flags: of a row, .aligned, ends the thread, only in clusters; of a branch, threads
 * that end are not waited for where it reconverges; touches a register of undef.c. */
enum { F_CONVERGED = 1, F_END = 2, F_SOFT = 4, F_CLUSTERED = 8, F_TRACKED = 16 };

struct Ins {
	Handler run;
	u64 mods[4];
	u8 type[INS_TYPES];
	u8 ntypes, nargs;
	u16 written; /* arguments that are results, one bit each */
	u8 flags;
	bool guarded, guard_not;
	u16 shape[3]; /* m, n, k */
	u32 guard;    /* slot of the predicate */
	s32 target, reconv;
	s32 line;
	u16 loc_file;
	s32 loc_line;
	u32 extra; /* the handler's own, computed at load */
	Arg args[INS_ARGS];
	const char *text; /* the opcode as written */
	const char
		*lacks; /* what of it is not simulated, told where it is reached; NULL: nothing */
};

static inline bool has(const Ins *in, Mod m)
{
	return in->mods[m >> 6] >> (m & 63) & 1;
}

typedef struct {
	const char *name;
	u32 offset, size, align;
} Param;

typedef struct {
	u32 slot;
	Sreg sreg;
} SregUse;

typedef struct {
	const char *name;
	u32 offset, size;
} SharedVar;

typedef struct {
	const char *name;
	u32 slot;
	u8 width;
} Reg;

typedef struct Code {
	const char *name;
	Ins *ins;
	u32 nins, ins_cap;
	u32 file_bytes;      /* of a warp's slots */
	unsigned char *init; /* constants, file_bytes long */
	SregUse *sregs;
	u32 nsregs, sregs_cap;
	Param *params;
	u32 nparams, params_cap, param_bytes;
	Reg *regs;
	u32 nregs, regs_cap;
	u8 *suspect;  /* by slot / 64: registers that undef.c follows */
	bool tracked; /* there are some */
	SharedVar *shared;
	u32 nshared, shared_cap;
	u32 shared_bytes;   /* static, from SMEM_BASE on */
	u32 dynamic_offset; /* where dynamic shared memory starts */
	u32 local_bytes;    /* of a thread */
	u32 block[3], cluster[3];
	bool block_fixed, has_cluster;
	u32 maxnreg, minctas;
	bool global_atomics, uses_wgmma;
	bool waits; /* for what other CTAs of the grid write: it acquires global memory */
	bool draws; /* takes what others of the grid have left: an atom of global memory */
} Code;

/* A global or constant variable with its address in the simulated device. */
typedef struct {
	const char *name;
	u64 addr, size;
} GlobalVar;

typedef struct SimModule {
	Pool pool;
	PtxModule ptx;
	Code **codes;
	u32 ncodes, codes_cap;
	GlobalVar *globals;
	u32 nglobals, globals_cap;
	Map global_names; /* to index */
	u64 workspace;    /* of a grid's barrier: its size and a word; 0: no kernel asks for it */
	struct Memory *memory;
} SimModule;

/* Address windows of generic addresses; shared and local addresses are offsets in them. */
#define GEN_PARAM  UINT64_C(0x0000500000000000)
#define GEN_LOCAL  UINT64_C(0x0000600000000000)
#define GEN_SHARED UINT64_C(0x0000700000000000)
#define GEN_WINDOW UINT64_C(0x0000000100000000)
/* Shared memory starts at 1 KiB, as on sm_90. An address in shared::cluster is
 * (rank + 1) << 24 | offset; without a rank it means the own CTA. */
enum { SMEM_BASE = 1024, SMEM_LIMIT = 232448, RANK_SHIFT = 24 };

extern const u8 type_bytes[T_COUNT];
extern const char *const type_words[T_COUNT];
Type type_named(const char *word, size_t n); /* T_NONE: there is none */
u32 type_width(u8 t); /* of a register: 8-bit values live in 16 bits or more; 1 means a predicate */
extern const char type_class[T_COUNT];
extern const u8 sreg_bytes[SR_COUNT];

/* decode.c: fills codes of m from m->ptx; unwinds through the pool. */
void module_decode(SimModule *m);
/* insn.c: finds the next row from *at on that the opcode fits, sets run, mods, types and shape and
 * gives the classes of its operands; *at moves past the row. NULL: no more, and *stuck is the word
 * that fits nowhere (NULL: no such opcode). */
const char *insn_next(Ins *in, u32 *at, const char *op, const char **stuck);
/* A row's own look at a decoded instruction; unwinds when it refuses it. */
typedef void (*Prepare)(Pool *a, Ins *in);
void insn_prepare(Pool *a, Ins *in, u32 row);
/* flow.c: reconvergence points of all branches, suspects. */
void code_flow(Pool *a, Code *c);
/* undef.c: registers that may be read before they are written. first, next: of each basic block,
 * its first instruction and the blocks that follow it, or -1; block n is the end. */
void undef_find(Pool *a, Code *c, const u32 *first, s32 n, s32 (*next)[2]);

#endif
