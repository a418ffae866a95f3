/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* parse.h - private to ir/parse*.c: the text of a module while it is read, and its words.
 * What begins with line_expect says what is missing; false or NULL then. */
#ifndef DSL_IR_PARSE_H
#define DSL_IR_PARSE_H

#include "ir/ir.h"
#include "base/ptrmap.h"

enum { MAX_ERRORS = 20 };

typedef struct {
	Ctx *c;
	Module *m;
	Kernel *k;
	int src;
	const char *text, *s; /* the whole, NUL-terminated, and where we are */
	PtrMap vals;          /* name -> Val, of the kernel being read */
	int errors;
	bool ended; /* the text stopped too early: said once */
} Parser;

Loc line_place(const Parser *p, const char *begin, const char *end);
bool line_begins_word(char ch);
const char *line_token_end(const char *s);
bool line_fail(Parser *p, Loc at, DiagId id, const char *text, const char *remedy);
bool line_expected(Parser *p, const char *what);
bool line_unknown(Parser *p, const char *begin, const char *end, const char *what,
		  const char *remedy);
bool line_duplicate(Parser *p, const char *begin, const char *what, const char *name);
void line_skip_blanks(Parser *p);
void line_skip_lines(Parser *p);
bool line_accept(Parser *p, char ch);
bool line_expect(Parser *p, char ch);
bool line_expect_eol(Parser *p);
const char *line_word(Parser *p);
const char *line_expect_word(Parser *p, const char *what);
bool line_at_attr(Parser *p);
const char *line_value_name(Parser *p);
bool line_expect_int(Parser *p, int64_t *v);
const char *line_expect_quoted(Parser *p);
const Ix *line_expect_ix(Parser *p);
const Type *line_expect_type(Parser *p);

#endif
