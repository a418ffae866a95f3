/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compile.h - private to driver/: one source text through every room. The tool and the library
 * (dslc.h) both call compile_run; it prints nothing and leaves no file behind. */
#ifndef DSL_DRIVER_COMPILE_H
#define DSL_DRIVER_COMPILE_H

#include "check/problem.h"
#include "codegen/codegen.h"
#include "frontend/frontend.h"
#include "verify/check.h"
#include "passes/passes.h"

/* What can be written; EMIT_BIT(EMIT_CUBIN) is DSLC_CUBIN and so on. */
typedef enum {
#define EMIT(id, ...) EMIT_##id,
#include "driver/options/emits.def"
	EMIT_COUNT
} EmitId;
#define EMIT_BIT(id) (1u << (id))
typedef struct {
	const char *name, *ending;
	bool binary;
	const char *help;
} EmitRow;
extern const EmitRow emit_rows[EMIT_COUNT];

/* What the tool exits with. */
enum {
	EXIT_OK = 0,
	EXIT_DIAGS = 1,
	EXIT_USAGE = 2,
	EXIT_PTXAS = 3,
	EXIT_UNPROVED = 4, /* no other error than that a kernel is neither proved nor refuted */
	EXIT_INTERNAL = 70,
	EXIT_TIME = 124
};

enum { AFTER_LAST = -1, AFTER_FRONTEND = -2 }; /* in place of a row of pass_rows */
enum { SOURCE_MAX = 64 << 20 };

typedef struct {
	const char *name; /* as the user gave it */
	const char *text;
	size_t size;
	bool is_ir;
	const char *tuned, *tuned_name; /* text of FILE.tune; NULL: there is none; its name */
} Source;

/* A kernel of the source, closed by more defines; of several, which are a family, each has a name
 * of its own. */
typedef struct {
	const char *kernel;
	const char *const *defines;
	int ndefines;
	KCost cost; /* of what was chosen; the ctx's */
} Variant;

typedef struct {
	unsigned emit; /* EMIT_BIT of each wanted output */
	int ir_after; /* which IR EMIT_IR means: a row of pass_rows, AFTER_LAST or AFTER_FRONTEND */
	int stop_after; /* likewise: nothing runs after it, so only AST and IR can be had;
			   AFTER_LAST: run all */
	int only;       /* a row of pass_rows, run alone, or -1 */
	bool syntax_only;
	bool only_check; /* no code is made */
	CheckLevel verify;
	bool unproved;              /* what is neither proved nor refuted is no error */
	bool check_indices;         /* kernels note those that are none */
	const char *target;         /* NULL: sm_90a */
	const char *const *defines; /* "NAME=VALUE"; the last of a name counts */
	int ndefines;
	const SizeArgs *sizes; /* that choices are made for; none: what is likely */
	int nsizes;
	const char *card;        /* that they are made for, as the driver names it; NULL: an H200 */
	bool one;                /* variant of each kernel is enough */
	const char *kernel;      /* the only one of the file that is compiled; NULL: all */
	const Variant *variants; /* none: as the source is written */
	int nvariants;
	SaidVec *said;   /* what a .gemm says and where; may be NULL */
	NamedVec *names; /* and its names; may be NULL */
	CgOpt cg;        /* source_name NULL: the source's; c_name NULL: made from it */
	/* Called with what the frontend and each pass left; may be NULL. */
	void (*after)(void *user, const Kernel *k, const char *pass, bool changed);
	void *user;
	bool compares; /* changed is found out, by text before and after; else it is true */
} CompileOpt;

typedef struct {
	double frontend, passes[PASSES_MOST], check, llvm, ptxas, total; /* seconds */
	int states; /* that the pipeline verifier explored */
} CompileTimes;

typedef struct {
	Buf out[EMIT_COUNT]; /* n bytes each; empty unless asked for and made */
	Buf printed;         /* what print(...) in the source says */
	Buf verified;        /* a line for each kernel whose pipeline is proved */
	Buf reference;       /* the module as the frontend left it, as text */
	Buf manifest;        /* made whenever there is a cubin */
	Buf chosen;          /* how choices were closed, and why: lines of text */
	CompileTimes times;
	const char *spilled; /* the kernel whose registers ptxas spilled, or NULL; the Ctx's */
	int exit_code;
} CompileOut;

/* False after diagnostics in c (then exit_code tells which kind). out must be zeroed before. */
bool compile_run(Ctx *c, const Source *source, const CompileOpt *opt, CompileOut *out);
/* The same, choosing nothing: what is open has its first value. */
bool compile_closed(Ctx *c, const Source *source, const CompileOpt *opt, CompileOut *out);
/* "gemm__2" */
const char *variant_name(Ctx *c, const char *kernel, int number);
/* The defines of opt, then more. */
FrontendOpt compile_frontend(Ctx *c, const CompileOpt *opt, const char *const *more, int n);
void compile_out_free(CompileOut *out);

#endif
