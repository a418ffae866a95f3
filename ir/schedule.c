/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* schedule.c - the rows of schedule.def, and the bounds that they set for a kernel's attributes.
 *     kernel gemm tile sm_90a cluster=(32,1)   ->   'cluster' is two numbers from 1 to 16 */
#include "ir/schedule.h"

#include <string.h>

const ClauseRow clause_rows[CLAUSE_COUNT] = {
#define CLAUSE(id, word, form, attr, reason, least, most, otherwise, example) \
	[CLAUSE_##id] = {word, CF_##form, attr, reason, least, most, otherwise, example},
#include "ir/schedule.def"
};

const ClauseWord clause_words[] = {
#define WORD(clause, word, value) {CLAUSE_##clause, word, value},
#include "ir/schedule.def"
};
const int clause_words_count = COUNTOF(clause_words);

bool schedule_by_workspace(const Kernel *k)
{
	return !strcmp(attrs_str(&k->attrs, A_SUMS, "cluster"), "workspace");
}

static bool in_bounds(const ClauseRow *row, int64_t v)
{
	return v >= row->least && v <= row->most;
}

static const char *pair_rule(const Kernel *k, const ClauseRow *row, const Attr *a)
{
	bool tiled = row->attr == A_CLUSTER && a->n == 3; /* by parts of k too */
	if ((a->n == 2 || tiled) && in_bounds(row, a->i[0]) && in_bounds(row, a->i[1]))
		return NULL;
	return ctx_strf(k->ctx, "'%s' is two numbers from %lld to %lld", attr_rows[row->attr].name,
			(long long)row->least, (long long)row->most);
}

static const char *int_rule(const Kernel *k, const ClauseRow *row, const Attr *a)
{
	if (in_bounds(row, a->i[0]))
		return NULL;
	return ctx_strf(k->ctx, "'%s' is %lld to %lld", attr_rows[row->attr].name,
			(long long)row->least, (long long)row->most);
}

static const char *ctas_rule(const Kernel *k)
{
	const Attr *a = attrs_get(&k->attrs, A_CLUSTER);
	const Target *t = target_by_name(k->target);
	int64_t parts = schedule_by_workspace(k) ? 1 : attrs_int(&k->attrs, A_SPLIT_K, 1);
	int64_t ctas = (a ? a->i[0] * a->i[1] : 1) * parts;
	if (a && a->n == 3 && a->i[2] != parts)
		return "the CTAs of a cluster along k are those of 'split_k'";
	if (!t || ctas <= target_cluster_max(t))
		return NULL;
	const char *along_k = parts > 1 ? ctx_strf(k->ctx, " x %lld", (long long)parts) : "";
	return ctx_strf(k->ctx, "a cluster of %lld x %lld%s CTAs is more than the maximum of %d",
			a ? (long long)a->i[0] : 1, a ? (long long)a->i[1] : 1, along_k,
			target_cluster_max(t));
}

const char *schedule_rule(const Kernel *k)
{
	const char *why = NULL;
	for (int i = 0; i < CLAUSE_COUNT && !why; i++) {
		const ClauseRow *row = &clause_rows[i];
		const Attr *a = attrs_get(&k->attrs, row->attr);
		if (a && row->form == CF_PAIR)
			why = pair_rule(k, row, a);
		else if (a && row->form == CF_INT)
			why = int_rule(k, row, a);
	}
	return why ? why : ctas_rule(k);
}
