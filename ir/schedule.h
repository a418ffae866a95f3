/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* schedule.h - what a schedule may say, from schedule.def: the frontend reads clauses by it, the IR
 * holds their attributes to its bounds, explain writes them as they would be written. */
#ifndef DSL_SCHEDULE_H
#define DSL_SCHEDULE_H

#include "ir.h"

typedef enum { CF_INT, CF_PAIR, CF_SWITCH, CF_WORD, CF_OWN } ClauseForm;

typedef enum {
#define CLAUSE(id, ...) CLAUSE_##id,
#include "schedule.def"
	CLAUSE_COUNT
} ClauseId;

typedef struct {
	const char *word;
	ClauseForm form;
	AttrId attr;
	ReasonId reason; /* REASON_COUNT: no pass decides it */
	int64_t least, most, otherwise;
	const char *example; /* ends in ; */
} ClauseRow;
extern const ClauseRow clause_rows[CLAUSE_COUNT];

typedef struct {
	ClauseId clause;
	const char *word;
	int value; /* of the attribute, where that is a number */
} ClauseWord;
extern const ClauseWord clause_words[];
extern const int clause_words_count;

/* NULL, or the rule that an attribute of the kernel's schedule breaks; of the context. */
const char *schedule_rule(const Kernel *k);
/* CTAs that share the k of a tile see each other's sums in the launch's workspace. */
bool schedule_by_workspace(const Kernel *k);

#endif
