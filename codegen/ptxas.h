/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ptxas.h - private to codegen: PTX to an ELF by NVIDIA's assembler, and its messages to ours. */
#ifndef DSL_CODEGEN_PTXAS_H
#define DSL_CODEGEN_PTXAS_H

#include "codegen/codegen.h"

typedef struct {
	Buf elf;
	const char *ptxas; /* the program; NULL: none was found */
	int *regs;         /* a kernel of the module each; 0 unknown; in the ctx's arena */
	int spilled;       /* a kernel that spills; -1: none */
	bool failed;       /* ptxas itself said no: exit code 3 */
	bool timed_out;    /* it ran into the time limit: exit code 124 */
} Assembled;

/* False after a diagnostic; true with an empty elf where opt->dry_run. The caller frees elf. */
bool ptxas_run(const Module *m, const CgOpt *opt, const Buf *ptx, Assembled *out);

/* ptxas_log.c: what ptxas said, as diagnostics and in out. False if one was an error. */
bool ptxas_read(const Module *m, const CgOpt *opt, const Buf *ptx, const Buf *said, Assembled *out);

#endif
