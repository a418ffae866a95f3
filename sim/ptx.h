/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ptx.h - PTX as it was written: what ptx.y builds and decode.c reads. Text and nodes live in the
 * module's pool. (PTX ISA: Syntax, Directives.)
 *   @%p1 add.s32 %r1, %r2, 4;  ->  {op "add.s32", guard "%p1", args {NAME %r1, NAME %r2, INT 4}} */
#ifndef DSL_SIM_PTX_H
#define DSL_SIM_PTX_H

#include "sim/base.h"

typedef enum {
	PO_NAME,  /* %r1, sym, sym+16, !%p1 */
	PO_INT,   /* 7 */
	PO_F32,   /* 0f3F800000: bits in imm */
	PO_F64,   /* 0d3FF0000000000000 or 1.5: bits in imm */
	PO_MEM,   /* [a+16], [map, {x, y}] : inside in list */
	PO_VEC,   /* {a, b} */
	PO_PAIR,  /* a|b */
	PO_PAREN, /* (a, b), of calls */
	PO_SINK   /* _ */
} PtxOperandKind;

typedef struct PtxOperand PtxOperand;
struct PtxOperand {
	PtxOperandKind kind;
	bool negated; /* !p */
	const char *name;
	s64 imm; /* value; or what is added to name */
	PtxOperand *list, *next;
	PtxOperand *last; /* of the list whose first this is; NULL: itself */
	int n;            /* of list */
};

typedef enum { PS_INSN, PS_LABEL, PS_VAR, PS_REG, PS_OPEN, PS_CLOSE } PtxStmtKind;

/* A declaration: .shared .align 16 .b8 name[64], .reg .b32 %r<9>, .param .u64 name. */
typedef struct PtxVar PtxVar;
struct PtxVar {
	PtxVar *next;
	const char *space; /* ".shared", ".reg", ... */
	const char *type;  /* ".b8" */
	const char *name;
	s64 align, count; /* count: elements, or registers of the family; -1 when [] */
	bool external, family, vector2, vector4;
	PtxOperand *init; /* of .global and .const; NULL for zeros */
	int line;
};

/* Of .loc; and where it was inlined, as far out as the text says: the line the author wrote. */
typedef struct {
	int file, line, column;
} PtxPlace;
typedef struct {
	PtxPlace at, outer;
} PtxInlined;

typedef struct PtxStmt PtxStmt;
struct PtxStmt {
	PtxStmt *next;
	PtxStmtKind kind;
	int line;
	PtxPlace loc;
	const char *op, *guard; /* op: also a label's name */
	bool guard_not;
	PtxOperand *args;
	PtxVar *var;
};

typedef struct PtxFunc PtxFunc;
struct PtxFunc {
	PtxFunc *next;
	const char *name;
	bool entry;
	bool has_body;
	PtxVar *params, *results;
	PtxStmt *body;
	int line;
	s64 maxntid[3], reqntid[3], cluster[3];
	s64 maxnreg, minctas;
	bool has_cluster;
};

typedef struct PtxModule {
	Pool *pool;
	const char *target;
	PtxVar *vars;
	PtxFunc *funcs;
	const char **files; /* by number of .file */
	int nfiles;
	/* of the parse */
	void *scanner;
	PtxVar **var_end;
	PtxFunc **func_end;
	PtxStmt **stmt_end;
	PtxPlace loc;
	PtxInlined inlined[64]; /* the last ones, in turn */
	u32 ninlined;
	int depth;
} PtxModule;

/* Parses text[0..size) into m, whose pool is set; unwinds through the pool on a mistake. */
void ptx_parse(PtxModule *m, const char *text, size_t size);
/* Actions of the grammar (ptx_tree.c). */
PtxOperand *ptx_operand(PtxModule *m, PtxOperandKind kind, const char *name, s64 imm);
PtxOperand *ptx_list(PtxModule *m, PtxOperandKind kind, PtxOperand *list);
PtxOperand *ptx_append(PtxOperand *list, PtxOperand *more);
PtxVar *ptx_var(PtxModule *m, int line, const char *name);
void ptx_stmt(PtxModule *m, PtxStmtKind kind, int line, const char *op, PtxOperand *args);
void ptx_guarded(PtxModule *m, int line, const char *guard, bool negated, const char *op,
		 PtxOperand *args);
void ptx_file(PtxModule *m, s64 number, const char *name);
void ptx_loc(PtxModule *m, PtxPlace at, const PtxPlace *inlined_at);
PtxFunc *ptx_func(PtxModule *m, int line, const char *name, bool entry);
void ptx_target(PtxModule *m, int line, PtxOperand *list);
void ptx_bound(PtxModule *m, PtxFunc *f, int line, const char *directive, PtxOperand *list);

#endif
