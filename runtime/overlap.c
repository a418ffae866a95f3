/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* overlap.c - no other argument of a launch shares a byte with a tensor that is written, unless it
 * may be read in place; no argument shares one with the workspace or the semaphores. Needs checked
 * tensors (check.c). Most pairs differ in their byte ranges; tensors that interleave are told apart
 * by the bytes that they use of each period:
 *   D : (M,N):(2*N,1) at 0, E : (M,N):(2*N,1) at N    ->  of each 2*N, D has 0 .. N, E has N .. 2*N
 */
#include "runtime/rt.h"

#include <string.h>

static bool ranges_meet(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
	return a_bytes && b_bytes && (b - a < a_bytes || a - b < b_bytes);
}

/* The bytes from *at on that the tensor uses of each period: steps that are multiples of the period
 * lead to the same ones. */
static uint64_t band_of(const Launch *l, int i, uint64_t period, uint64_t *at)
{
	const KArg *a = &l->plan->k->args[i];
	int64_t reach = 0;
	for (int d = 0; d < a->rank; d++) {
		uint64_t step = (uint64_t)l->stride[i][d];
		bool whole = step * (uint64_t)elem_rows[a->elem].bits % 8 == 0;
		if (!whole || (uint64_t)elem_span(a->elem, (int64_t)step) % period)
			reach += (l->extent[i][d] - 1) * (int64_t)step;
	}
	*at = l->value[i] % period;
	return (uint64_t)elem_span(a->elem, reach + 1);
}

/* Whether a step of tensor i is a period of which both use different bytes. */
static bool interleave(const Launch *l, int i, int j)
{
	const KArg *a = &l->plan->k->args[i];
	for (int d = 0; d < a->rank; d++) {
		uint64_t period = (uint64_t)elem_span(a->elem, l->stride[i][d]), at_i, at_j;
		if (!period)
			continue;
		uint64_t bytes_i = band_of(l, i, period, &at_i);
		uint64_t bytes_j = band_of(l, j, period, &at_j);
		uint64_t apart = (at_j + period - at_i) % period;
		if (apart >= bytes_i && period - apart >= bytes_j)
			return true;
	}
	return false;
}

/* Whether input j may be where output i is: its tiles are read before they are written. */
static bool is_in_place(const Launch *l, int i, int j)
{
	const KArg *out = &l->plan->k->args[i], *in = &l->plan->k->args[j];
	bool same = in->in_place && l->value[i] == l->value[j] && !l->packed[j] &&
		    in->elem == out->elem && in->rank == out->rank;
	for (int d = 0; same && d < in->rank; d++)
		same = !strcmp(in->shape[d], out->shape[d]) &&
		       !strcmp(in->stride[d], out->stride[d]);
	return same;
}

static bool share(const Launch *l, int i, int j)
{
	return ranges_meet(l->value[i], l->bytes[i], l->value[j], l->bytes[j]) &&
	       !is_in_place(l, i, j) &&
	       (l->packed[j] || !(interleave(l, i, j) || interleave(l, j, i)));
}

/* what, name: of the bytes that the kernel writes, "tensor ", "D". */
static dsl_status share_fail(const Why *w, const Launch *l, const char *what, const char *name,
			     uint64_t at, uint64_t bytes, int j)
{
	const KDesc *k = l->plan->k;
	return why_fail(w, DSL_ERR_OVERLAP,
			"kernel %s writes %s%s, %llu bytes at 0x%llx, which shares memory with "
			"tensor %s, %llu bytes at 0x%llx",
			k->name, what, name, (unsigned long long)bytes, (unsigned long long)at,
			k->args[j].name, (unsigned long long)l->bytes[j],
			(unsigned long long)l->value[j]);
}

dsl_status overlap_check(const Why *w, const Launch *l)
{
	const KDesc *k = l->plan->k;
	for (int i = 0; i < k->nargs; i++)
		for (int j = 0; k->args[i].dir != KD_IN && j < k->nargs; j++)
			if (j != i && share(l, i, j))
				return share_fail(w, l, "tensor ", k->args[i].name, l->value[i],
						  l->bytes[i], j);
	return DSL_OK;
}

dsl_status overlap_check_memory(const Why *w, const Launch *l, const char *what, dsl_addr at,
				uint64_t bytes)
{
	for (int j = 0; j < l->plan->k->nargs; j++)
		if (ranges_meet(at, bytes, l->value[j], l->bytes[j]))
			return share_fail(w, l, what, "", at, bytes, j);
	return DSL_OK;
}
