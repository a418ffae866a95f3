/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* target.c - rows of targets.def, and which of them has an operation or converts a type: the first
 * one does, and all behind it.
 *     OP_WGMMA   ->   sm_90a
 *     EL_E4M3    ->   sm_89 */
#include "ir/ir.h"

#include <string.h>

typedef enum {
#define TARGET(id, ...) id,
#include "ir/targets.def"
	TARGET_COUNT
} TargetId;

static const Target targets[TARGET_COUNT] = {
#define TARGET(id, name, ptx, smem, regs, most, threads, box, cluster, sms, of_sm) \
	[id] = {name, ptx, smem, regs, most, threads, box, cluster, sms, of_sm},
#include "ir/targets.def"
};

static const int held[][2] = {
#define HELD(ctas, one, two) [ctas] = {one, two},
#include "ir/targets.def"
};

static const struct {
	Elem elem;
	TargetId first;
} converted[] = {
#define CONVERTED(elem, first) {EL_##elem, first},
#include "ir/targets.def"
};

static const struct {
	Elem elem;
	TargetId first;
} paired[] = {
#define PAIRED(elem, first) {EL_##elem, first},
#include "ir/halves.def"
};

const Target *target_by_name(const char *name)
{
	for (int id = 0; id < TARGET_COUNT; id++)
		if (!strcmp(targets[id].name, name))
			return &targets[id];
	return NULL;
}

const Target *target_of_op(OpKind kind)
{
	int flags = op_rows[kind].flags;
	return &targets[flags & OPF_SM90A ? SM90A : flags & OPF_SM90 ? SM90 : 0];
}

const Target *target_of_elem(Elem e)
{
	for (size_t i = 0; i < COUNTOF(converted); i++)
		if (converted[i].elem == e)
			return &targets[converted[i].first];
	return &targets[0];
}

bool target_has(const char *name, OpKind kind)
{
	return target_by_name(name) >= target_of_op(kind);
}

bool target_converts(const char *name, Elem e)
{
	return target_by_name(name) >= target_of_elem(e);
}

bool target_pairs(const char *name, Elem e)
{
	return elem_pairs(e) && target_computes(name, e);
}

const Target *target_of_computed(Elem e)
{
	for (size_t i = 0; i < COUNTOF(paired); i++)
		if (paired[i].elem == e)
			return &targets[paired[i].first];
	return &targets[0];
}

bool target_computes(const char *name, Elem e)
{
	return target_by_name(name) >= target_of_computed(e);
}

void target_names(Buf *out)
{
	for (int id = 0; id < TARGET_COUNT; id++)
		buf_printf(out, "%s%s",
			   !id                     ? ""
			   : id + 1 < TARGET_COUNT ? ", "
						   : " or ",
			   targets[id].name);
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
