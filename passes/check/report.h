/* report.h - private to passes/check/: a refutation as a timeline and a sentence. */
#ifndef DSL_CHECK_REPORT_H
#define DSL_CHECK_REPORT_H

#include "passes/check/check.h"
#include "passes/check/extract.h"

/* Finds the shortest run that shows what is wrong and reports it; false: none does. */
const char *report_why(const Program *p, const Why *w); /* in a sentence */
bool report_refuted(Program *p, const WordsResult *w, CheckResult *out);

#endif
