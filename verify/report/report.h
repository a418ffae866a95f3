/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* report.h - private to verify/: a refutation as a timeline and a sentence. */
#ifndef DSL_VERIFY_REPORT_H
#define DSL_VERIFY_REPORT_H

#include "verify/check.h"
#include "verify/read/extract.h"

const char *report_why(const Program *p, const Why *w); /* in a sentence */
/* Finds a run that shows what is wrong, a short one if there is any, with sizes that satisfy all
 * facts, and reports it as it is when the IR is stepped through with them. NULL, or why there is
 * none; `fails`: some run does; `limited`: there are sizes that were not tried. */
const char *report_tree(Program *p, const Why *why, bool fails, bool *limited, CheckResult *out);
/* The same of loops whose trip counts are not known to agree. */
const char *report_differ(Program *p, CheckResult *out);

#endif
