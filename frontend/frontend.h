/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* frontend.h - from the text of a .gemm file to kernels at the tile stage. */
#ifndef DSL_FRONTEND_H
#define DSL_FRONTEND_H

#include "ir/ir.h"

typedef struct {
	/* -DNAME=VALUE: replaces the value of a const of the file; of one kernel where the name is
	 * kernel.NAME. `schedule` has clauses of an open schedule, or in braces all of any. */
	const char *name, *value;
	bool used;         /* set when something took it */
	const char *under; /* the value that this one took the place of; NULL: none */
} Define;

/* What the source leaves open and no define closes: a const that picks its value, the schedule of a
 * kernel that multiplies. */
typedef struct {
	const char *kernel;        /* NULL: outside of kernels */
	const char *name;          /* of the const; "schedule" */
	const char *const *values; /* as -D takes them, the one that holds first */
	int n;                     /* 0: a schedule */
	Loc loc;
} Choice;
typedef VEC(Choice) ChoiceVec;

/* What the source says and where, for who writes it out in full: rows of said.def, in the order of
 * the text. */
typedef enum {
#define SAID(id, what) SAID_##id,
#include "frontend/said.def"
	SAID_COUNT
} SaidKind;
typedef struct {
	SaidKind kind;
	const char *kernel, *name, *value; /* kernel NULL: outside; value: see said.def */
	Loc stmt, loc;                     /* the whole statement; what said.def says */
} Said;
typedef VEC(Said) SaidVec;

/* A name at a place, for editors: each declaration and each use, in the order in which they are
 * read. */
typedef struct {
	const char *name;
	Loc at;
	int decl;         /* the row of its declaration; of that, itself */
	const char *kind; /* "a tensor"; of a declaration, as what follows */
	const char *text; /* its type or value */
	Loc within;       /* the kernel that knows it; NOLOC: the file */
} Named;
typedef VEC(Named) NamedVec;

typedef struct {
	Define *defines;
	int ndefines;
	const char *target; /* "sm_90a" unless a kernel says otherwise; NULL: sm_90a */
	Buf *printed;       /* what print(...) says, a line each; may be NULL */
	Buf *ast;           /* the syntax tree as text (--emit=ast); may be NULL */
	SaidVec *said;      /* gets a row for each of said.def; may be NULL; the ctx's */
	NamedVec *names;    /* may be NULL; the ctx's */
	const char *kernel; /* the only one of the file that is compiled; NULL: all */
	ChoiceVec *choices; /* gets what is open; may be NULL; the ctx's */
	/* Are set, the file being right or not: how many kernels it has, the name of the first. */
	int kernels;
	const char *first;
	bool syntax_only; /* stop after sema: the module has no kernels */
} FrontendOpt;

/* Reports to the ctx's diagnostics; NULL when there was an error. The AST does not outlive the
 * call. */
Module *frontend_compile(Ctx *c, int src, FrontendOpt *opt);

/* The source in the one style of docs/fmt.md: the same tokens and comments, elsewhere blanks.
 * Formatted text stays as it is. Reports to the ctx's diagnostics; false when it does not parse. */
bool frontend_format(Ctx *c, int src, Buf *out);

/* One expression of the layout algebra, with `where` facts behind it: `coalesce((8,M):(1,8))`,
 * `M:1 / 128 where M % 128 == 0`. Names that nothing binds are positive numbers. An mma is its
 * accumulator's thread-value layout on a tile of rows x cols, column-major. */
typedef struct {
	Alg value;
	const char *mma; /* its name, or NULL */
	int64_t rows, cols;
} FrontendLayout;
/* Reports to the ctx's diagnostics; false when there was an error. The result is the ctx's. */
bool frontend_layout(Ctx *c, int src, FrontendLayout *out);

#endif
