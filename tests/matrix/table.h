/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* table.h - factors (the program, roles, a cluster, ...) and the values of each; a row has one
 * value of each factor. Factor 0 is the program. */
#ifndef DSL_TESTS_MATRIX_TABLE_H
#define DSL_TESTS_MATRIX_TABLE_H

#include "base/base.h"

enum { FACTORS_MOST = 16, VALUES_MOST = 512, TEXTS_MOST = 16 };

typedef struct {
	const char *name, *factor;
	const char *word[TEXTS_MOST], *class[TEXTS_MOST], *sizes[TEXTS_MOST];
	const char *from[TEXTS_MOST], *to[TEXTS_MOST], *file;
	int at, nwords, nclasses, nsizes, nedits; /* at: which factor */
} Value;

/* "no CODES NAME VALUES": no value that NAME names goes with one that a word of VALUES names. */
typedef struct {
	const char *codes, *name, *values;
} Rule;

typedef struct {
	int nfactors, nvalues, nrules, ninstead;
	Value value[VALUES_MOST];
	Rule rule[VALUES_MOST];
	bool apart[VALUES_MOST][VALUES_MOST]; /* a rule keeps these two apart */
	Rule instead;                         /* "instead CODES VALUE" */
} Table;

typedef struct {
	int at[FACTORS_MOST]; /* a value of each factor */
} Row;
typedef VEC(Row) Rows;

/* table.c: "name" is that of a value, or of one of its classes. Exits with 2 at a wrong line. */
void table_read(Ctx *c, Table *t, const char *file);
void table_join(Table *t); /* after all files: what the rules keep apart */
bool value_is(const Value *v, const char *name);
/* cover.c: rows in which each two values meet that no rule keeps apart. */
bool rows_cover(Arena *a, const Table *t, Rows *rows);
bool row_fits(const Table *t, const Row *r, int v);

#endif
