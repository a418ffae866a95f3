/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* check.h - the pipeline verifier: whether a kernel at the ptx stage can hang, race or miscount
 * bytes, for all sizes. It reads the IR and knows nothing of how the passes before it decided.
 *     consumer's mbar.wait removed  ->  CHECK_REFUTED, E0411 with a timeline
 */
#ifndef DSL_VERIFY_H
#define DSL_VERIFY_H

#include "ir/ir.h"

typedef enum { CHECK_PROVED, CHECK_REFUTED, CHECK_UNKNOWN } CheckVerdict;
typedef enum { VERIFY_FAST, VERIFY_FULL, VERIFY_OFF } CheckLevel;

typedef struct {
	CheckLevel level; /* how many states may be explored; VERIFY_OFF is the caller's affair */
	bool unproved;    /* what is unknown is a warning */
} CheckOpt;

typedef struct {
	CheckVerdict verdict;
	bool unproved; /* as asked for */
	int states;    /* distinct states that were explored */
	double seconds;
	Loc at;          /* unknown: what is not followed */
	bool limited;    /* unknown, as a limit was met */
	const char *why; /* refuted, unknown: what is wrong, in the Ctx; else NULL */
} CheckResult;

/* Reports what it finds as a diagnostic: E0411.. for what is refuted; for what is unknown E0415,
 * or E0416 where a limit was met; where that is allowed, the warnings W0411 and W0412. */
CheckVerdict check_kernel(const Kernel *k, const CheckOpt *opt, CheckResult *out);

#endif
