/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* together.c - launches whose CTAs wait for each other: all of them must run at one time, and they
 * need memory, and semaphores that such launches before have left as they found them. Semaphores
 * are not workspace, where copies of operands and sums of other kernels use the same bytes. CTAs
 * that wait for each other are neighbours, which start together.
 *     128 CTAs of 64 KiB, 132 run at one time  ->  8 MiB of workspace, epoch 7 * 65536 */
#include "runtime/rt.h"

#include <stdatomic.h>

static _Atomic uint64_t launches; /* of the process, that had semaphores */

dsl_status together_check(const Why *w, Launch *l)
{
	const KDesc *k = l->plan->k;
	uint64_t ctas = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
	if (k->together && l->plan->held && ctas > (uint64_t)l->plan->held)
		return why_fail(w, DSL_ERR_TOGETHER,
				"kernel %s: its %llu CTAs wait for each other, and %d run at one "
				"time",
				k->name, (unsigned long long)ctas, l->plan->held);
	for (int i = 0; i < k->nworks; i++) {
		int64_t bytes = 0;
		if (expr_eval(l->plan->works[i], l->env, &bytes) || bytes < 0 ||
		    bytes >= INT64_C(1) << 40)
			return why_fail(w, DSL_ERR_OVERFLOW,
					"kernel %s: its workspace is no number below 2^40",
					k->name);
		l->works[i] = l->workspace;
		l->workspace +=
			((uint64_t)bytes + WORKSPACE_ALIGN - 1) / WORKSPACE_ALIGN * WORKSPACE_ALIGN;
	}
	return DSL_OK;
}

dsl_status together_bind(const Why *w, Launch *l, const dsl_launch_opts *opts)
{
	const KDesc *k = l->plan->k;
	if (!opts->semaphores || opts->semaphores % WORKSPACE_ALIGN ||
	    opts->semaphores_size < DSL_SEMAPHORES)
		return why_fail(w, DSL_ERR_SEMAPHORES,
				"kernel %s: %d bytes of semaphores at a multiple of %d are needed; "
				"%zu at 0x%llx were given",
				k->name, DSL_SEMAPHORES, WORKSPACE_ALIGN, opts->semaphores_size,
				(unsigned long long)opts->semaphores);
	l->semaphores = opts->semaphores;
	l->epoch = (atomic_fetch_add(&launches, 1) + 1) * KD_EPOCH;
	for (int i = 0; i < k->nworks; i++)
		l->works[i] += opts->workspace;
	return overlap_check_memory(w, l, "the semaphores", l->semaphores, DSL_SEMAPHORES);
}
