/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* indices.c - what a kernel that checks indices has noted since it was last asked.
 *     rows[37] = 70000, A of 65536 rows  ->  "rows[37] is 70000, and A has 65536 along mode 0" */
#include "runtime/rt.h"

#include <stdio.h>

static const char *arg_name(const KDesc *k, uint32_t i)
{
	return i < (uint32_t)k->nargs ? k->args[i].name : "?";
}

/* "ends[3] is 300, and an end before it 310: ..." */
static dsl_status tell_group(const KDesc *k, const KIndexNote *n, const char *list)
{
	static const char *const words[] = {[KI_SHRINKS] = "an end before it is",
					    [KI_BEYOND] = "the rows of all groups are",
					    [KI_NEGATIVE] = "the fewest rows of a group are",
					    [KI_CAPACITY] = "the rows that a group has are"};
	return detail_fail(DSL_ERR_INDEX,
			   "%s[%lld] is %d, and %s %lld: the first of %u that kernel %s found",
			   list, (long long)n->at, n->index,
			   n->kind <= KI_CAPACITY ? words[n->kind] : "the limit is",
			   (long long)n->extent, n->count, k->name);
}

static dsl_status tell(const KDesc *k, const KIndexNote *n)
{
	const char *list = arg_name(k, n->list), *tensor = arg_name(k, n->tensor);
	bool vector = n->list < (uint32_t)k->nargs && k->args[n->list].rank == 1;
	char at[64];
	snprintf(at, sizeof at, vector ? "[%lld]" : ", element %lld from its address on,",
		 (long long)n->at);
	if (n->kind)
		return tell_group(k, n, list);
	return detail_fail(
		DSL_ERR_INDEX,
		"%s%s is %d, and %s has %lld along mode %u: the first of %u that threads "
		"of kernel %s found",
		list, at, n->index, tensor, (long long)n->extent, n->mode, n->count, k->name);
}

static dsl_status take_note(dsl_module *mod, const KDesc *k, KIndexNote *note)
{
	char name[256];
	dsl_addr at;
	snprintf(name, sizeof name, "%.200s" KD_INDICES, k->symbol);
	dsl_status st = dsl_sync(mod->dev);
	st = st ? st : dsl_module_global(mod, name, &at, NULL);
	if (st == DSL_ERR_GLOBAL_NAME)
		return detail_fail(st,
				   "kernel %s notes no indices: it has none, or was compiled "
				   "without --check-indices",
				   k->name);
	st = st ? st : dsl_copy_out(mod->dev, note, at, sizeof *note);
	return st || !note->count ? st : dsl_mem_set(mod->dev, at, 0, sizeof *note);
}

dsl_status dsl_status_of(dsl_module *mod, const char *kernel)
{
	KIndexNote note = {.count = 0};
	if (!mod || !kernel)
		return detail_null("dsl_status_of", mod ? "kernel" : "mod");
	Variants v;
	dsl_status st = variants_of(mod, kernel, &v);
	for (int i = 0; !st && i < v.n; i++) {
		st = take_note(mod, v.first[i].k, &note);
		if (!st && note.count)
			st = tell(v.first[i].k, &note);
	}
	return st;
}
