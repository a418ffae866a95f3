/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ptx.h - random PTX programs: made as a tree, printed as PTX, evaluated in C without a look at the
 * simulator. A thread has 8 registers of 32 bits, 4 of 64, 4 of f32 and 4 predicates; what it
 * stores at the end does not depend on the order in which warps run.
 *   Program *p = program_make(seed);  program_print(p, f);  program_eval(p, data); */
#ifndef RANDOM_PTX_H
#define RANDOM_PTX_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { KINDS = 4, REGS = 8, ACCUMULATORS = 8, PRIVATE = 64, MOST_THREADS = 256, MODS = 160 };
typedef enum { KIND_R, KIND_D, KIND_F, KIND_P } Kind;
extern const int kind_regs[KINDS];
extern const char kind_letters[]; /* "rdfp" */

/* What a thread begins with and ends with. */
typedef struct {
	uint32_t r[8];
	uint64_t d[4];
	uint32_t f[4], p[4];
} State;

/* Everything outside: as the kernel's parameters point to it. */
typedef struct {
	State in[MOST_THREADS], out[MOST_THREADS];
	uint8_t memory[MOST_THREADS][PRIVATE]; /* of each thread */
	uint64_t sums[ACCUMULATORS];
} Data;

typedef enum { ST_OP, ST_IF, ST_MEET, ST_LOOP, ST_SHARED, ST_WARP, ST_SUM, ST_MEMORY } StmtKind;
typedef enum { SPACE_GLOBAL, SPACE_GENERIC, SPACE_LOCAL, SPACE_SHARED } MemSpace;
typedef enum {
	WARP_BALLOT,
	WARP_ALL,
	WARP_ANY,
	WARP_UNI,
	WARP_MATCH,
	WARP_ADD,
	WARP_MIN,
	WARP_MAX,
	WARP_AND,
	WARP_OR,
	WARP_XOR,
	WARP_LEADER,
	WARP_IDX, /* from here on all lanes of the warp have to be there */
	WARP_UP,
	WARP_DOWN,
	WARP_BFLY,
	WARP_KINDS
} WarpKind;

typedef struct Stmt Stmt;
struct Stmt {
	Stmt *next;
	StmtKind kind;
	int number; /* of labels and of registers that only this statement has */
	int row;    /* ST_OP: of ptx_ops.def; ST_WARP: a WarpKind; ST_SUM: the accumulator */
	int to, from[3];
	int guard; /* a predicate, or -1 */
	bool guard_not;
	Stmt *body, *other;  /* ST_IF, ST_LOOP, ST_MEET */
	Stmt *meet;          /* ST_MEET: both sides do it together, */
	Stmt *then, *or;     /* and go on with these */
	bool twice;          /* ST_MEET: as two branches, one after the other */
	const char *never;   /* ST_IF: ends a thread, and never does; or NULL */
	int turns;           /* ST_LOOP; -1: the low two bits of register from[0] */
	int width;           /* ST_WARP: lanes of a group that votes alone */
	int lanes, clamp;    /* shfl */
	char mods[MODS];     /* of what touches memory, in some order */
	MemSpace space;      /* ST_MEMORY */
	bool store, sign;    /* a load extends the sign */
	int size, count, at; /* bytes of an element, elements, byte */
};

typedef struct {
	int threads, ctas;
	Stmt *body;
} Program;

typedef struct {
	const char *op, *form;
} OpRow;
extern const OpRow op_rows[];
extern const int op_count;
/* What row makes of three sources. */
uint64_t op_value(int row, const uint64_t in[3]);

uint64_t random_next(uint64_t *s);
int random_below(uint64_t *s, int n);

/* ptx_make.c */
Program *program_make(uint64_t seed);
void program_free(Program *p);
/* ptx_print.c: one .entry */
void program_print(const Program *p, const char *name, FILE *f);
/* ptx_eval.c: fills out, memory and sums */
void program_eval(const Program *p, Data *data);

#endif
