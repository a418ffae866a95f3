/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fmt.h - private to the formatter: a source as the pieces that its lines are made of. */
#ifndef DSL_FMT_H
#define DSL_FMT_H

#include "frontend/ast.h"
#include "frontend/lex.h"

typedef enum { LOOK_TIGHT, LOOK_SPACE, LOOK_LINE, LOOK_HALF, LOOK_GLUE, LOOK_OPEN } Look;

/* What stands between a piece and the one before it: WRAP goes on with the same statement. */
typedef enum { GAP_NONE, GAP_SPACE, GAP_WRAP, GAP_LINE } Gap;

/* A token or a comment. */
typedef struct {
	Loc loc;
	bool is_comment, is_line; /* is_line: a comment that ends with its line */
	int newlines;             /* in the source, between the piece before and this one */
	const Node *owner;        /* of a token: the node that it is of */
	NodeKind kind;            /* whose look it has */
	Look before, after;
	Gap gap;
	bool blank;      /* an empty line stands before it */
	int indent;      /* of its line, in levels */
	int open, depth; /* the innermost bracket around it on its line, or -1; how many */
	int column;      /* where it was put */
} Piece;

typedef struct {
	Ctx *ctx;
	Arena *arena;
	const Src *src;
	VEC(Piece) pieces;
} Fmt;

enum { FMT_WIDTH = 100, FMT_INDENT = 4 };

/* fmt.c */
bool piece_is(const Fmt *f, const Piece *p, const char *text);
int piece_width(const Fmt *f, const Piece *p); /* of its last line */
bool piece_has_lines(const Fmt *f, const Piece *p);

/* fmt_gaps.c: what stands before each piece, and in which block its line is */
void fmt_gaps(Fmt *f);

/* fmt_lines.c: from pieces with gaps to text */
void fmt_lines(Fmt *f, Buf *out);

#endif
