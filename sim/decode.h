/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* decode.h - what the files of the decoder share: scopes of names, slots, one function at a time.
 */
#ifndef DSL_SIM_DECODE_H
#define DSL_SIM_DECODE_H

#include "sim/code.h"

enum { CALL_DEPTH = 24 };
typedef enum { D_REG, D_FAMILY, D_CONST, D_PARAM, D_BODY_PARAM } DefKind;

/* What a name stands for. */
typedef struct {
	DefKind kind;
	u8 width;  /* of a register */
	u32 slot;  /* of a register */
	s64 count; /* of a family */
	s64 value; /* of D_CONST: an address; of a parameter: its offset */
} Def;

typedef struct Scope Scope;
struct Scope {
	Scope *parent;
	Map names;  /* to index in defs */
	Map labels; /* to an instruction */
};

typedef struct {
	u32 ins, arg; /* the instruction and its label operand */
	Scope *scope;
	const char *name;
	int line;
} Fixup;

typedef struct {
	SimModule *m;
	Pool *a;
	Code *c;
	Scope *scope;
	Def *defs;
	u32 ndefs, defs_cap;
	Fixup *fixups;
	u32 nfixups, fixups_cap;
	u32 used; /* bytes of slots so far */
	u32 init_cap;
	Map consts; /* "4:deadbeef" to slot */
	s64 sreg_slot[SR_COUNT];
	u32 sink;  /* slot + 1 that results nobody wants go to */
	int depth; /* of inlined calls */
	const struct PtxFunc *calls[CALL_DEPTH];
	const char *no_sreg; /* a special register that is not simulated */
	const char *ret;     /* label that ret goes to in an inlined function */
	u32 inlined;         /* counts them, for that label's name */
} Dec;

/* names.c */
u32 slot_new(Dec *d, u32 width);
u32 slot_const(Dec *d, u32 width, u64 bits);
Scope *scope_push(Dec *d, Scope *parent);
void scope_define(Dec *d, const char *name, Def def);
Def *scope_look(Dec *d, const char *name);
void declare(Dec *d, const PtxVar *v);
void declare_params(Dec *d, const PtxFunc *f);
void shared_layout(Dec *d, const PtxFunc *f);
u64 var_bytes(Pool *a, const PtxVar *v);
bool func_names(const PtxFunc *f, const char *name); /* in an operand */
/* operands.c: false and *why when the operand is not of that class. */
bool operands_decode(Dec *d, Ins *in, const char *classes, const PtxOperand *list,
		     const char **why);

#endif
