/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* passes.h - choices and derivations: tile stage to ptx stage. The passes are the rows of
 * passes.def. */
#ifndef DSL_PASSES_H
#define DSL_PASSES_H

#include "ir/ir.h"

typedef struct {
	const char *name, *help;
	Stage stage; /* of what it takes; it leaves that of the next row */
	bool whole;  /* its result obeys all rules of the IR */
	void (*run)(Kernel *k);
} PassRow;
enum { PASSES_MOST = 63 };
extern const PassRow pass_rows[]; /* pass_count of them, and the stage after the last */
extern const int pass_count;
int pass_by_name(const char *name); /* -1 if there is none */

typedef struct {
	int stop_after; /* a row, or -1 */
	int only;       /* run this one alone, whatever was run before; or -1 */
	bool given;     /* a person wrote the IR: what a pass cannot take is a message, no panic */
	/* Called after each pass with the kernel's text form still equal to what the pass left; may
	 * be NULL. An error that it reports ends the run. */
	void (*after)(void *user, const Kernel *k, int pass, bool changed, double seconds);
	void *user;
	bool compares; /* whether a pass changed the text is found out; else it is said to have */
} PassOpt;

/* Runs the pipeline from the kernel's stage on. False after a user error (reported). Verifies after
 * every pass. */
bool passes_run(Kernel *k, const PassOpt *opt);

#endif
