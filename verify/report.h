/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* report.h - private to verify/: a refutation as a timeline and a sentence. */
#ifndef DSL_CHECK_REPORT_H
#define DSL_CHECK_REPORT_H

#include "verify/check.h"
#include "verify/extract.h"

const char *report_why(const Program *p, const Why *w); /* in a sentence */
/* Finds the shortest run that shows what is wrong, with sizes that satisfy all facts, and reports
 * it as it is when the IR is stepped through with them. NULL, or why there is none. */
const char *report_refuted(Program *p, const WordsResult *w, CheckResult *out);
/* The same of a tree of loops that was not proved. */
const char *report_tree(Program *p, bool fails, CheckResult *out);
/* The same of loops whose trip counts are not known to agree, which no word stands for. */
const char *report_differ(Program *p, CheckResult *out);

#endif
