/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* target.c - rows of targets.def, and which feature an operation or a type needs.
 *     OP_WGMMA   ->   FT_WGMMA   ->   sm_90a
 *     EL_E4M3    ->   FT_FP8     ->   sm_89, sm_90, sm_90a or sm_120 */
#include "ir/ir.h"

#include <string.h>

enum {
#define FEATURE(id, ...) id = 1 << FT_##id,
#include "ir/targets.def"
};

static const Target targets[] = {
#define TARGET(...) {__VA_ARGS__},
#include "ir/targets.def"
};

static const char *const feature_words[FT_COUNT] = {
#define FEATURE(id, words) [FT_##id] = words,
#include "ir/targets.def"
};

static const int held[][2] = {
#define HELD(ctas, one, two) [ctas] = {one, two},
#include "runtime/held.def"
};

static const Feature converts[EL_COUNT] = {
#define CONVERTED(elem, feature) [EL_##elem] = FT_##feature,
#include "ir/targets.def"
};

static const Feature computes[EL_COUNT] = {
#define PAIRED(elem, feature) [EL_##elem] = FT_##feature,
#include "ir/halves.def"
};

const Target *target_by_name(const char *name)
{
	for (size_t i = 0; i < COUNTOF(targets); i++)
		if (!strcmp(targets[i].name, name))
			return &targets[i];
	return NULL;
}

Feature feature_of_op(OpKind kind)
{
	return (Feature)(op_rows[kind].flags / OPF_FEATURE);
}

Feature feature_converts(Elem e)
{
	return converts[e];
}

Feature feature_computes(Elem e)
{
	return computes[e];
}

static bool has(const Target *t, Feature f)
{
	return t->features >> f & 1;
}

bool target_has(const char *name, Feature f)
{
	const Target *t = target_by_name(name);
	return t && has(t, f);
}

const char *target_names(Arena *a, Feature f)
{
	const char *names = NULL;
	for (size_t i = COUNTOF(targets); i-- > 0;)
		if (has(&targets[i], f))
			names = names ? arena_printf(a, "%s%s%s", targets[i].name,
						     strstr(names, " or ") ? ", " : " or ", names)
				      : targets[i].name;
	return names;
}

const char *target_lacks(Ctx *c, const char *name, Feature f)
{
	if (target_has(name, f))
		return NULL;
	return ctx_strf(c, "%s has no %s; %s has", name, feature_words[f],
			target_names(ctx_arena(c), f));
}

int target_cluster_max(const Target *t)
{
	return has(t, FT_CLUSTERS) ? (int)COUNTOF(held) - 1 : 1;
}

/* As ptxas gives them: in eights, for all threads alike. */
int target_entry_regs(const Target *t, int threads)
{
	int regs = t->regs / threads / 8 * 8;
	return regs < t->max_regs_thread ? regs : t->max_regs_thread;
}

int kernel_ctas(const Kernel *k)
{
	return (int)attrs_int(&k->attrs, A_CTAS, 1);
}

int kernel_cluster_ctas(const Kernel *k)
{
	const Attr *cluster = attrs_get(&k->attrs, A_CLUSTER);
	int64_t ctas = 1;
	for (int i = 0; cluster && i < cluster->n; i++)
		ctas *= cluster->i[i];
	return (int)ctas;
}

int kernel_entry_regs(const Kernel *k, int threads)
{
	return target_entry_regs(target_by_name(k->target), threads * kernel_ctas(k));
}

int64_t kernel_smem(const Kernel *k)
{
	return (target_by_name(k->target)->smem_bytes + SMEM_KEPT) / kernel_ctas(k) - SMEM_KEPT;
}

/* Of devices without clusters, and of SMs that hold more, what follows from the rows. */
int target_clusters(const Target *t, int ctas, int of_sm)
{
	if (ctas == 1)
		return t->sms * of_sm;
	return of_sm / 2 * held[ctas][1] + of_sm % 2 * held[ctas][0];
}
