/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* codegen.h - spellings: a frozen ptx-stage module to LLVM IR, PTX, cubin and kernel description.
 * Decides nothing. No files are left behind but what `keep` asks for. */
#ifndef DSL_CODEGEN_H
#define DSL_CODEGEN_H

#include "codegen/spawn.h"
#include "ir/ir.h"
#include "runtime/kdesc.h"

typedef struct {
	const char *source_name;       /* as the user gave it, after -ffile-prefix-map */
	const KCost *costs;            /* of each kernel of the module in order, or NULL */
	int opt_level;                 /* 0..3 */
	bool lineinfo;                 /* .loc is always emitted; this asks ptxas for -lineinfo */
	const char *ptxas_path;        /* NULL: --ptxas-path was not given; searched */
	const char *const *ptxas_args; /* -Xptxas */
	int nptxas_args;
	int ptxas_timeout_s;   /* 0: 120 */
	bool verbose, dry_run; /* -v, -###: commands go to `log` */
	bool allow_spills;
	bool unassembled; /* a cubin without machine code, which the simulator runs; no ptxas */
	Buf *log;
	Litter *litter;     /* spawn.h; NULL: no handler of signals looks */
	const char *tmpdir; /* where ptxas reads and writes; NULL: $TMPDIR or /tmp */
	const char
		*c_name; /* C identifier: of CG_C's array and, upper case, of CG_HEADER's guard */
} CgOpt;

typedef struct {
	Buf llvm, ptx, cubin, manifest; /* cubin: with manifest and PTX inside; n bytes */
	Buf header, c;                  /* typed launchers; the cubin as a C array (artifact.h) */
	double llvm_s, ptxas_s;
	int regs;          /* of the first kernel, as ptxas says; -1 unknown */
	bool ptxas_failed; /* tells exit code 3 from 1 */
	int spilled;       /* a kernel that spills, beyond what is allowed; -1: none */
	bool timed_out;    /* it was ptxas_timeout_s that failed it: exit code 124 */
} CgOut;
void cg_out_free(CgOut *o);

/* Fills the parts of `out` that `parts` asks for. False after a diagnostic. */
enum { CG_LLVM = 1, CG_PTX = 2, CG_CUBIN = 4, CG_MANIFEST = 8, CG_HEADER = 16, CG_C = 32 };
bool codegen_module(const Module *m, unsigned parts, const CgOpt *opt, CgOut *out);

/* ptxas.c: where ptxas is; NULL if nowhere. In the ctx's arena. */
const char *ptxas_find(Ctx *c, const char *given);
/* A program of the toolkit in $CUDA_HOME/bin, PATH or /usr/local/cuda*; NULL: none has it. */
const char *toolkit_find(Ctx *c, const char *name);
/* Nobody named one, and there is none: $DSLC_PTXAS is the word none, or not set and none is
 * found. */
bool ptxas_is_spared(Ctx *c, const char *given);
const char *ptxas_version(Ctx *c, const char *path, Litter *litter);
const char *codegen_llvm_version(Ctx *c);

#endif
