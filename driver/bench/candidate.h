/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* candidate.h - private to driver/: one file, compiled in several ways.
 *     ping128: -DbN=128 schedule { roles pingpong; persistent group(8); }
 *  -> the file with that const and that block in place of its own, as a cubin */
#ifndef DSL_DRIVER_CANDIDATE_H
#define DSL_DRIVER_CANDIDATE_H

#include "driver/options/options.h"

/* lines.c: a line of the schedules file */
typedef struct {
	const char *name;  /* "line 3" where it has none */
	StrVec defines;    /* "bN=128" */
	const char *block; /* "{ .. }"; NULL: the file's own */
	const char *text;  /* all of it but the name */
	int number;        /* from 1; 0: the file as it is, of no schedules file */
	Loc loc;
} BenchLine;
typedef VEC(BenchLine) BenchLines;
/* The lines that can be read; a message in c for each other one, and where there is none at all. */
void bench_lines(Ctx *c, int src, BenchLines *out);

/* candidate.c */
typedef struct {
	const Options *o;
	Source source;     /* as it was read */
	const char *lines; /* the schedules file's text; NULL: none */
	const char *lines_name;
} BenchSource;
typedef struct {
	const BenchSource *source;
	const BenchLine *line;
	Ctx *ctx;              /* its messages */
	CompileOut out;        /* the cubin, the manifest and the reference */
	const char *signature; /* its arguments and sizes, as text; NULL: no such kernel */
	bool ok;
} Candidate;
void candidate_compile(Candidate *x, const BenchSource *s, const BenchLine *line);
/* It is not timed, because of what was said before; where it stands in the schedules file. */
void candidate_drop(Candidate *x, const char *why);
void candidate_free(Candidate *x);

#endif
