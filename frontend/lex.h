/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lex.h - where lexer and grammar meet, private to the frontend. */
#ifndef DSL_LEX_H
#define DSL_LEX_H

#include "frontend/ast.h"

typedef void *Scanner; /* flex's yyscan_t */

int dsl_yylex(Node **value, Loc *loc, Scanner scanner);
int dsl_yyparse(Scanner scanner, Parser *p);

/* Reads p's source from p->start on; fills p->result. */
void lex_run(Parser *p);

/* The places of all tokens; what is no token is reported. */
typedef VEC(Loc) TokenVec;
void lex_tokens(Ctx *c, Arena *a, int src, TokenVec *out);

#endif
